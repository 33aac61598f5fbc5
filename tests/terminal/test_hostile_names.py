"""Names from outside are data: any name passes import, history, figures, report, CSV and JSON."""

from __future__ import annotations

import csv
import json
import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest
from tests.helpers.changed_rows import changing_rows
from tests.helpers.command_line import Subflow
from tests.helpers.hostile import HOSTILE_NAMES

_STEERING = re.compile("[\x00-\x08\x0b-\x1f\x7f\u202a-\u202e\u2066-\u2069]")
_TRACES = ("throughput_bps", "srtt_s", "cwnd_pkts", "losses_pkts")


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table with two subflows, a total and a link of each name."""
    path = tmp_path_factory.mktemp("hostile") / "m \u202e.csv"
    names = [
        *(f"{name}/{number}:{trace}" for name in HOSTILE_NAMES for number in (1, 2) for trace in _TRACES),
        # A number after a slash identifies a subflow.
        *(f"{name}:goodput_bps" for name in HOSTILE_NAMES if not name[-1].isdecimal() or "/" not in name),
        *(f"{name}/forward:queue_pkts" for name in HOSTILE_NAMES),
    ]
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([["time_s", *names], *([t, *[t + 1] * len(names)] for t in range(5))])
    return path


def test_names_of_a_measurement_pass_all_that_shows_a_run(
    subflow: Subflow, measured: Path, database: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("first", "second\nrun \u202e 9"):
        assert subflow("import-trace", measured, "--db", database, "--name", name).code == 0
    document = subflow("show", 1, "--db", database, "--json").document
    assert [flow["name"] for flow in document["flows"]] == list(HOSTILE_NAMES)
    assert all(len(flow["subflows"]) == 2 for flow in document["flows"])
    assert [link["name"] for link in document["links"]] == list(HOSTILE_NAMES)

    for words in (("show", 1), ("runs",), ("compare", 1, 2), ("compare", 1, 2, "--json")):
        answer = subflow(*words, "--db", database)
        assert answer.code == 0, words
        assert not _STEERING.search(answer.out + answer.err), words

    figures = "throughput,cwnd,queue,phase,goodput_bars,jain"
    exported = subflow(
        "export", 1, 2, "--db", database, "--format", "svg,csv", "--figure", figures, "--run-data", "--out", "out"
    )
    assert exported.code == 0, exported.err
    assert subflow("export", 1, "--db", database, "--format", "csv-long,parquet", "--out", "long").code == 0
    assert subflow("report", 1, "--db", database, "--figure", "cwnd", "-o", "r.html").code == 0
    for path in (*tmp_path.rglob("*.svg"), *tmp_path.rglob("*.csv"), tmp_path / "r.html"):
        assert not _STEERING.search(path.read_text().replace("\r", "")), path
    for path in tmp_path.rglob("*.svg"):
        ElementTree.parse(path)  # raises if it is not well-formed
    assert "default-src 'none'" in (tmp_path / "r.html").read_text()
    for path in tmp_path.rglob("summary.json"):
        assert {flow["name"] for flow in json.loads(path.read_text())["flows"]} == set(HOSTILE_NAMES)

    # The exported table is read back with the same flows, except for names that were written out.
    table = next(tmp_path.rglob("subflows.csv"))
    again = subflow("import-trace", table, "--db", tmp_path / "again.db", "--json").document
    plain = [name for name in HOSTILE_NAMES if not _STEERING.search(name)]
    assert set(plain) <= {flow["name"].removeprefix("'") for flow in again["flows"]}


@pytest.mark.parametrize(
    ("headings", "flows"),
    [
        ("10.0.0.1/1:cwnd_pkts,fe80::1.eth0/1:cwnd_pkts,web.v2/1:cwnd_pkts", ["10.0.0.1", "fe80::1.eth0", "web.v2"]),
        ("down.load/1:cwnd_pkts,srtt_ms,web.v2/1:cwnd_pkts", ["down.load", "measured", "web.v2"]),
    ],
)
def test_addresses_are_names(subflow: Subflow, database: Path, tmp_path: Path, headings: str, flows: list[str]) -> None:
    table = tmp_path / "ip.csv"
    table.write_text(f"time_s,{headings}\n0,1,2,3\n1,2,3,4\n2,3,4,5\n")
    assert subflow("import-trace", table, "--db", database).code == 0
    assert [flow["name"] for flow in subflow("show", 1, "--db", database, "--json").document["flows"]] == flows
    assert subflow("export", 1, "--db", database, "--format", "svg", "--out", tmp_path / "out").code == 0
    assert subflow("report", 1, "--db", database, "-o", tmp_path / "r.html").code == 0
    assert flows[0] in (tmp_path / "r.html").read_text()


def test_changed_owners_are_drawn_and_told(
    subflow: Subflow, stored_run: object, database: Path, tmp_path: Path
) -> None:
    with changing_rows(database) as connection:
        connection.execute("UPDATE series SET owner = replace(owner, 'download', '10.0.0.1/x')")
        connection.execute("UPDATE run SET name = '<b>' || char(27) || '[31m' || char(8238)")
    assert subflow("report", 1, "--db", database, "-o", tmp_path / "r.html").code == 0
    subflow("export", 1, "--db", database, "--format", "svg,csv", "--run-data", "--out", tmp_path / "out").check()
    for path in (*tmp_path.rglob("*.svg"), *tmp_path.rglob("*.csv"), tmp_path / "r.html"):
        assert not _STEERING.search(path.read_text()), path
