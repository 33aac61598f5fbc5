"""The command ``subflow export``: CSVs that agree with the JSON, figures in every format."""

from __future__ import annotations

import csv
import functools
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.helpers.command_line import Answer, Subflow
from tests.helpers.members import for_each

from subflow_app.features.plots.core import PLOTS
from subflow_app.features.traces.core.traces import StoredTraces
from subflow_store import open_store


def columns(path: Path) -> dict[str, np.ndarray]:
    with path.open(encoding="utf-8", newline="") as file:
        heading, *rows = csv.reader(file)
    values = np.array([[float(cell or "nan") for cell in row] for row in rows])
    return dict(zip(heading, values.T, strict=True))


Export = Callable[..., Answer]
DATA = ("subflows.csv", "flows.csv", "links.csv", "marks.csv", "summary.json", "scenario.toml")


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "out"


@pytest.fixture
def export(subflow: Subflow, stored_run: dict[str, Any], database: Path, out: Path) -> Export:
    """Exports the stored run into `out`."""
    return functools.partial(subflow, "export", stored_run["run_id"], "--db", database, "--out", out)


def names_in(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def test_totals_of_the_csv_equal_the_goodput_of_the_json(export: Export, stored_run: dict[str, Any], out: Path) -> None:
    export()
    flows, subflows = columns(out / "flows.csv"), columns(out / "subflows.csv")

    # Sample k is the mean over the preceding 0.1 s; the 80 samples after 2 s of warm-up cover all of the 8 s.
    counted = flows["time_s"] > 2 + 0.1 / 2
    assert counted.sum() == 80
    for flow in stored_run["flows"]:
        total = [(flows[f"{flow['name']}:goodput_bps"], flow["goodput_bps"])]
        total += [
            (subflows[f"{flow['name']}/{ordinal}:{name}"], part[name])
            for ordinal, part in enumerate(flow["subflows"], start=1)
            for name in ("goodput_bps", "throughput_bps")
        ]
        for rates_bps, expected_bps in total:
            # float32 keeps 24 bits: 1 part in 10^7 per sample.
            assert rates_bps[counted].mean() == pytest.approx(expected_bps, rel=1e-6)

    both = subflows["download/1:goodput_bps"] + subflows["download/2:goodput_bps"]
    np.testing.assert_allclose(both, flows["download:goodput_bps"], rtol=1e-6)


def test_default_is_all_the_data_in_a_folder_of_the_runs_number(
    subflow: Subflow, stored_run: dict[str, Any], database: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    answer = subflow("export", "last", "--db", database)

    assert answer.code == 0
    assert answer.out.splitlines() == [f"wrote run-1/{name}" for name in DATA]
    summary = json.loads((tmp_path / "run-1" / "summary.json").read_text())
    assert {key: summary[key] for key in stored_run} == stored_run


@for_each(("words", "suffix"), [(("--format", "svg"), "svg"), (("--figure", "all"), "csv")])
def test_all_figures_are_those_that_the_run_has(
    export: Export, database: Path, tmp_path: Path, words: tuple[str, str], suffix: str
) -> None:
    assert export("--out", tmp_path, *words).code == 0
    with open_store(database, read_only=True) as store:
        traces = StoredTraces(store, 1)
        expected = {f"{plot.id}.{suffix}" for plot in PLOTS if plot.series(traces)}

    assert names_in(tmp_path) == expected
    assert {f"{name}.{suffix}" for name in ("throughput", "cwnd", "rtt", "queue", "recv_buffer")} <= expected
    assert f"utility.{suffix}" not in expected


@for_each(
    ("words", "files"),
    [
        (("--format", "svg,pdf,png", "--figure", "cwnd"), {"cwnd.svg", "cwnd.pdf", "cwnd.png"}),
        (("--figure", "cwnd,rtt"), {"cwnd.csv", "rtt.csv"}),
        (("--figure", "rtt", "--format", "png", "--run-data"), {"rtt.png", *DATA}),
    ],
)
def test_options_choose_what_is_written(
    export: Export, tmp_path: Path, words: tuple[str, ...], files: set[str]
) -> None:
    answer = export("--out", tmp_path, "--json", *words)

    assert answer.code == 0
    assert names_in(tmp_path) == {Path(path).name for path in answer.document["files"]} == files


def test_several_runs_are_overlaid_in_figures_and_apart_in_data(
    subflow: Subflow, scenario: Path, database: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, controller in (("LIA", "lia"), ("apart", "uncoupled")):
        subflow("run", scenario, "--db", database, "--name", name, "--set", f"flows.download.controller={controller}")
    words = ("export", 1, 2, "--db", database)

    answer = subflow(*words, "--format", "svg,csv", "--figure", "cwnd", "--run-data", "--json")

    assert answer.document["run_ids"] == [1, 2]
    folder = tmp_path / "runs-1-2"
    assert {path.relative_to(folder).as_posix() for path in folder.glob("*/flows.csv")} == {
        *("run-1/flows.csv", "run-2/flows.csv")
    }
    text = (folder / "cwnd.svg").read_text(encoding="utf-8")
    for label in ("LIA", "apart", "download · wifi"):
        assert f">{label}<" in text
    heading = (folder / "cwnd.csv").read_text(encoding="utf-8").splitlines()[0].split(",")
    assert (heading[1], heading[-1]) == ("run 1:download/1:cwnd_pkts", "run 2:cross/1:cwnd_pkts")
    subflow(*words, "--figure", "rtt", "--out", tmp_path / "out")
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["rtt.csv"]  # no folders for data of the runs


def test_exported_figure_has_the_paths_as_labels(export: Export, out: Path) -> None:
    export("--format", "svg", "--figure", "throughput")

    text = (out / "throughput.svg").read_text(encoding="utf-8")
    for label in ("download · wifi", "download · total", "cross · lte", "noise", "Throughput (Mbit/s)"):
        assert f">{label}<" in text


def test_unwritable_folder_is_exit_code_1(export: Export, scenario: Path) -> None:
    answer = export("--out", scenario)

    assert answer.code == 1
    assert "choose another folder" in answer.err


def test_figures_for_papers_have_the_size_and_place_that_was_asked_for(export: Export, out: Path) -> None:
    words = ("--format", "pdf,csv", "--figure", "throughput,cwnd", "--style", "ieee", "--stacked", "--legend", "above")
    assert export(*words).code == 0
    assert names_in(out) == {"cwnd.csv", "throughput-cwnd.pdf", "throughput.csv"}
    # 88.9 mm are 252 pt.
    assert b"/MediaBox [ 0 0 252 " in (out / "throughput-cwnd.pdf").read_bytes()


def test_tables_captures_and_bundles_are_written(subflow: Subflow, export: Export, database: Path, out: Path) -> None:
    words = (
        "--format",
        "csv-long,parquet,pcapng,qlog,bundle,bundle-light",
        "--flow",
        "cross",
        "--at",
        "receiver",
        "--until",
        "1s",
    )
    answer = export("--json", *words)
    assert answer.code == 0, answer.err
    names = ["samples.csv", *(f"{scope}.parquet" for scope in ("subflows", "flows", "links"))]
    assert [Path(file).name for file in answer.document["files"]] == [
        *(*names, "cross.pcapng", "cross.sqlog", "run-1.subflow.zip", "run-1.light.subflow.zip"),
    ]

    verified = subflow("verify", out / "run-1.subflow.zip", "--json")
    assert verified.code == 0
    assert verified.document["holds"] is True
    assert [check["what"] for check in verified.document["checks"] if check["verdict"] != "same"] == ["name of the run"]

    # The import reads measured files and exported files alike.
    for name in ("cross.pcapng", "cross.sqlog"):
        read = subflow("import-trace", out / name, "--db", database, "--json")
        assert read.code == 0, read.err


@for_each(
    ("words", "told"),
    [
        (("--format", "docx"), "csv-long, parquet, parquet-long, pcapng, qlog, bundle, bundle-light"),
        (("--figure", "cwn"), '"cwn": must be one of'),
        (("--format", "pcapng", "--flow", "upload"), "download, cross, noise"),
        (("--format", "pcapng", "--at", "cable"), "sender, receiver, both"),
        (("--format", "pcapng", "--since", "soon"), "--since"),
        (("--format", "qlog", "--flow", "upload"), "download, cross, noise"),
        (("--format", "pdf", "--style", "nature"), 'figure style "nature": must be one of ieee, ieee-double,'),
        (("--format", "pdf", "--legend", "left"), '--legend = "left": must be one of below, above, inside, none'),
        (("--format", "pdf", "--width", "5"), "width of a figure is 40 to 600 mm, not 5 mm"),
        (("--format", "pdf", "--height", "5000"), "not 5000 mm"),
        (("--format", "pdf", "--dpi", "7"), "not 7"),
    ],
)
def test_what_cannot_be_exported_is_named(export: Export, out: Path, words: tuple[str, ...], told: str) -> None:
    answer = export(*words)

    assert answer.code == 2
    assert told in answer.err
    assert not list(out.glob("*")), "nothing is written before"


def test_a_file_that_is_no_bundle_is_refused(subflow: Subflow, tmp_path: Path) -> None:
    (tmp_path / "notes.zip").write_text("no archive")
    answer = subflow("verify", tmp_path / "notes.zip")
    assert answer.code == 2
    assert "not a bundle of a run" in answer.err
