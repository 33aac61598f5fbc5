"""Every command gives the same for a run without stored traces as for the run with its traces."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.helpers.command_line import SCENARIO, Subflow, call_subflow
from tests.helpers.members import for_each

from subflow_store import open_store
from subflow_store.copies import Changes
from subflow_store.values import Records

NOTE = re.compile(r"(1 run|2 runs) simulated again, identical\n")


@pytest.fixture(scope="module")
def databases(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Two runs with decisions, and the same runs without their traces."""
    folder = tmp_path_factory.mktemp("light")
    scenario, whole, light = folder / "two-paths.toml", folder / "whole.db", folder / "light.db"
    scenario.write_text(SCENARIO)
    for seed in (1, 2):
        made = call_subflow("run", scenario, "--decisions", "--seed", seed, "--db", whole)
        assert made.code == 0, made.err
    with open_store(whole) as source, open_store(light) as store:
        store.copies.take(source.copies, Records((1, 2)), Changes(is_light=True))
    assert light.stat().st_size < whole.stat().st_size
    return whole, light


@for_each(
    ("words", "needs_traces"),
    [
        (("show", "1", "--json"), True),
        (("explain", "1", "download/1", "--at", "5s", "--json"), True),
        (("replay", "1", "--at", "5s", "--json"), False),
        (("fairness", "1", "--json"), True),
        (("compare", "1", "2", "--json"), False),
    ],
)
def test_what_is_printed_is_the_same(
    subflow: Subflow, databases: tuple[Path, Path], words: tuple[str, ...], needs_traces: bool
) -> None:
    whole, light = (subflow(*words, "--db", database) for database in databases)
    assert (whole.code, light.code) == (0, 0), light.err
    assert light.out == whole.out
    assert bool(NOTE.search(light.err)) == needs_traces
    assert "simulated again, identical" not in whole.err


@for_each(
    "words",
    [
        ("export", "1", "--run-data", "--figure", "throughput", "--format", "csv,svg,csv-long,bundle"),
        ("export", "1", "--page"),
    ],
)
def test_what_is_written_is_the_same(
    subflow: Subflow, databases: tuple[Path, Path], words: tuple[str, ...], tmp_path: Path
) -> None:
    found = []
    for name, database in zip(("whole", "light"), databases, strict=True):
        answer = subflow(*words, "--out", tmp_path / name, "--db", database)
        assert answer.code == 0, answer.err
        assert bool(NOTE.search(answer.err)) == (name == "light")
        files = sorted(path for path in (tmp_path / name).rglob("*") if path.is_file())
        found.append({path.name: path.read_bytes() for path in files if path.suffix != ".html"})
        assert files
    whole, light = found
    assert light.keys() == whole.keys()
    for name, content in light.items():
        if not name.endswith((".zip", ".json")):  # these name the time of the run
            assert content == whole[name], name


def test_a_report_and_a_fork_need_the_traces_as_well(
    subflow: Subflow, databases: tuple[Path, Path], tmp_path: Path
) -> None:
    light = databases[1]
    report = subflow("report", "1", "2", "-o", tmp_path / "report.html", "--db", light)
    assert (report.code, bool(NOTE.search(report.err))) == (0, True), report.err
    own = tmp_path / "own.db"
    own.write_bytes(light.read_bytes())
    fork = subflow("fork", "1", "--at", "5s", "--set", "links.wifi.loss=5%", "--db", own)
    assert fork.code == 0, fork.err
    assert "differ" not in fork.err
    assert len(subflow("runs", "--db", own, "--json").document) == 3
