"""``subflow export``: CSVs that agree with the JSON, figures in every format."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.helpers.command_line import Subflow
from tests.helpers.members import for_each

from subflow_app.features.plots.core import PLOTS
from subflow_app.features.traces.core.traces import StoredTraces
from subflow_store import open_store


def columns(path: Path) -> dict[str, np.ndarray]:
    with path.open(encoding="utf-8", newline="") as file:
        heading, *rows = csv.reader(file)
    values = np.array([[float(cell or "nan") for cell in row] for row in rows])
    return dict(zip(heading, values.T, strict=True))


def test_totals_of_the_csv_equal_the_goodput_of_the_json(
    subflow: Subflow, stored_run: dict[str, Any], database: Path, tmp_path: Path
) -> None:
    subflow("export", 1, "--db", database, "--out", tmp_path / "out")
    flows = columns(tmp_path / "out" / "flows.csv")
    subflows = columns(tmp_path / "out" / "subflows.csv")

    # Sample k is the mean over the 0.1 s that end there; the 80 samples after 2 s of warm-up cover all of the 8 s.
    dt_s = 0.1
    counted = flows["time_s"] > stored_run["warmup_s"] + dt_s / 2
    assert counted.sum() == 80
    span_s = stored_run["duration_s"] - stored_run["warmup_s"]
    for flow in stored_run["flows"]:
        total_bits = (flows[f"{flow['name']}:goodput_bps"][counted] * dt_s).sum()
        # float32 keeps 24 bits: 1 part in 10^7 per sample.
        assert total_bits / span_s == pytest.approx(flow["goodput_bps"], rel=1e-6)
        for ordinal, part in enumerate(flow["subflows"], start=1):
            for name in ("goodput_bps", "throughput_bps"):
                total_bits = (subflows[f"{flow['name']}/{ordinal}:{name}"][counted] * dt_s).sum()
                assert total_bits / span_s == pytest.approx(part[name], rel=1e-6)


def test_goodputs_of_the_subflows_sum_to_that_of_their_flow(
    subflow: Subflow, stored_run: dict[str, Any], database: Path, tmp_path: Path
) -> None:
    subflow("export", 1, "--db", database, "--out", tmp_path / "out")
    flows = columns(tmp_path / "out" / "flows.csv")
    subflows = columns(tmp_path / "out" / "subflows.csv")

    both = subflows["download/1:goodput_bps"] + subflows["download/2:goodput_bps"]
    np.testing.assert_allclose(both, flows["download:goodput_bps"], rtol=1e-6)


def test_default_is_all_the_data_in_a_folder_of_the_runs_number(
    subflow: Subflow, stored_run: dict[str, Any], database: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    answer = subflow("export", "last", "--db", database)

    assert answer.code == 0
    names = ["subflows.csv", "flows.csv", "links.csv", "marks.csv", "summary.json", "scenario.toml"]
    assert answer.out.splitlines() == [f"wrote run-1/{name}" for name in names]
    summary = json.loads((tmp_path / "run-1" / "summary.json").read_text())
    assert {key: summary[key] for key in stored_run} == stored_run


@pytest.mark.usefixtures("stored_run")
@pytest.mark.parametrize(("words", "suffix"), [(["--format", "svg"], "svg"), (["--figure", "all"], "csv")])
def test_all_figures_are_those_that_the_run_has(
    subflow: Subflow, database: Path, tmp_path: Path, words: list[str], suffix: str
) -> None:
    answer = subflow("export", 1, "--db", database, "--out", tmp_path / "out", "--json", *words)
    with open_store(database, read_only=True) as store:
        traces = StoredTraces(store, 1)
        expected = {f"{plot.id}.{suffix}" for plot in PLOTS if plot.series(traces)}

    assert answer.code == 0
    assert {path.name for path in (tmp_path / "out").iterdir()} == expected
    assert {f"{name}.{suffix}" for name in ("throughput", "cwnd", "rtt", "queue", "recv_buffer")} <= expected
    assert f"utility.{suffix}" not in expected


@pytest.mark.usefixtures("stored_run")
@pytest.mark.parametrize(
    ("words", "files"),
    [
        (["--format", "svg,pdf,png", "--figure", "cwnd"], {"cwnd.svg", "cwnd.pdf", "cwnd.png"}),
        (["--figure", "cwnd,rtt"], {"cwnd.csv", "rtt.csv"}),
        (
            ["--figure", "rtt", "--format", "png", "--run-data"],
            {"rtt.png", "subflows.csv", "flows.csv", "links.csv", "marks.csv", "summary.json", "scenario.toml"},
        ),
    ],
)
def test_options_choose_what_is_written(
    subflow: Subflow, database: Path, tmp_path: Path, words: list[str], files: set[str]
) -> None:
    answer = subflow("export", 1, "--db", database, "--out", tmp_path / "out", "--json", *words)

    assert answer.code == 0
    assert {path.name for path in (tmp_path / "out").iterdir()} == files
    assert {Path(path).name for path in answer.document["files"]} == files


@pytest.mark.usefixtures("stored_run")
@pytest.mark.parametrize(
    ("words", "message"),
    [(["--format", "gif"], '"gif": must be one of csv, svg, pdf, png'), (["--figure", "cwn"], '"cwn": must be one of')],
)
def test_unknown_format_or_figure_is_bad_input(
    subflow: Subflow, database: Path, words: list[str], message: str
) -> None:
    answer = subflow("export", 1, "--db", database, *words)

    assert answer.code == 2
    assert message in answer.err


def test_several_runs_are_overlaid_in_figures_and_apart_in_data(
    subflow: Subflow, scenario: Path, database: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("LIA", "apart"):
        controller = "lia" if name == "LIA" else "uncoupled"
        subflow("run", scenario, "--db", database, "--name", name, "--set", f"flows.download.controller={controller}")

    answer = subflow("export", 1, 2, "--db", database, "--format", "svg", "--figure", "cwnd", "--run-data", "--json")

    assert answer.document["run_ids"] == [1, 2]
    assert {path.relative_to(tmp_path).as_posix() for path in (tmp_path / "runs-1-2").glob("*/flows.csv")} == {
        "runs-1-2/run-1/flows.csv",
        "runs-1-2/run-2/flows.csv",
    }
    text = (tmp_path / "runs-1-2" / "cwnd.svg").read_text(encoding="utf-8")
    for label in ("LIA", "apart", "download · wifi"):
        assert f">{label}<" in text


def test_data_of_overlaid_figures_names_the_runs(
    subflow: Subflow, scenario: Path, database: Path, tmp_path: Path
) -> None:
    for _ in range(2):
        subflow("run", scenario, "--db", database)
    subflow("export", 1, 2, "--db", database, "--figure", "rtt", "--out", tmp_path / "out")

    heading = (tmp_path / "out" / "rtt.csv").read_text(encoding="utf-8").splitlines()[0].split(",")
    assert heading[1] == "run 1:download/1:srtt_s"
    assert heading[-1] == "run 2:cross/1:srtt_s"
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["rtt.csv"]  # no folders for data of the runs


def test_exported_figure_has_the_paths_as_labels(
    subflow: Subflow, stored_run: dict[str, Any], database: Path, tmp_path: Path
) -> None:
    subflow("export", 1, "--db", database, "--out", tmp_path, "--format", "svg", "--figure", "throughput")

    text = (tmp_path / "throughput.svg").read_text(encoding="utf-8")
    for label in (
        "download · wifi",
        "download · lte",
        "download · total",
        "cross · lte",
        "noise",
        "Throughput (Mbit/s)",
    ):
        assert f">{label}<" in text


def test_unwritable_folder_is_exit_code_1(
    subflow: Subflow, stored_run: dict[str, Any], database: Path, scenario: Path
) -> None:
    answer = subflow("export", 1, "--db", database, "--out", scenario)

    assert answer.code == 1
    assert "choose another folder" in answer.err


def test_figures_for_papers_have_the_size_and_place_that_was_asked_for(
    subflow: Subflow, stored_run: dict[str, Any], database: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    words = ("--format", "pdf,csv", "--figure", "throughput,cwnd", "--style", "ieee", "--stacked", "--legend", "above")
    answer = subflow("export", 1, "--db", database, "--out", out, *words)

    assert answer.code == 0
    assert sorted(path.name for path in out.iterdir()) == ["cwnd.csv", "throughput-cwnd.pdf", "throughput.csv"]
    # 88.9 mm are 252 pt.
    assert b"/MediaBox [ 0 0 252 " in (out / "throughput-cwnd.pdf").read_bytes()


@for_each(
    ("words", "why"),
    [
        (("--style", "nature"), 'figure style "nature": must be one of page, ieee,'),
        (("--legend", "left"), '--legend = "left": must be one of below, above, inside, none'),
        (("--width", "5"), "width of a figure is 40 to 600 mm, not 5 mm"),
        (("--height", "5000"), "height of a figure is 20 to 400 mm, not 5000 mm"),
        (("--dpi", "7"), "72 to 1200 px per inch, not 7"),
    ],
)
def test_figures_that_cannot_be_are_refused_before_anything_is_written(
    subflow: Subflow, stored_run: dict[str, Any], database: Path, tmp_path: Path, words: tuple[str, str], why: str
) -> None:
    answer = subflow("export", 1, "--db", database, "--out", tmp_path / "out", "--format", "pdf", *words)

    assert answer.code == 2
    assert why in answer.err
    assert not (tmp_path / "out").exists()


@pytest.mark.usefixtures("stored_run")
def test_tables_captures_and_bundles_are_written_beside_each_other(
    subflow: Subflow, database: Path, tmp_path: Path
) -> None:
    words = ["--format", "csv-long,parquet,pcapng,bundle", "--flow", "cross", "--at", "receiver", "--until", "1s"]
    answer = subflow("export", 1, "--db", database, "--out", tmp_path / "out", "--json", *words)
    assert answer.code == 0, answer.err
    names = ["samples.csv", *(f"{scope}.parquet" for scope in ("subflows", "flows", "links"))]
    assert [Path(file).name for file in answer.document["files"]] == [*names, "cross.pcapng", "run-1.subflow.zip"]

    verified = subflow("verify", tmp_path / "out" / "run-1.subflow.zip", "--json")
    assert verified.code == 0
    assert verified.document["holds"] is True
    assert {check["verdict"] for check in verified.document["checks"]} == {"same"}

    # What is measured and what was exported are read alike.
    read = subflow("import-trace", tmp_path / "out" / "cross.pcapng", "--db", database, "--json")
    assert read.code == 0, read.err


@pytest.mark.usefixtures("stored_run")
@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--format", "docx"], "csv-long, parquet, parquet-long, pcapng, bundle"),
        (["--format", "pcapng", "--flow", "upload"], "download, cross, noise"),
        (["--format", "pcapng", "--at", "cable"], "sender, receiver, both"),
        (["--format", "pcapng", "--since", "soon"], "--since"),
    ],
)
def test_what_cannot_be_exported_is_named(
    subflow: Subflow, database: Path, tmp_path: Path, words: list[str], told: str
) -> None:
    answer = subflow("export", 1, "--db", database, "--out", tmp_path / "out", *words)
    assert answer.code == 2
    assert told in answer.err


def test_a_file_that_is_no_bundle_is_refused(subflow: Subflow, tmp_path: Path) -> None:
    (tmp_path / "notes.zip").write_text("no archive")
    answer = subflow("verify", tmp_path / "notes.zip")
    assert answer.code == 2
    assert "not a bundle of a run" in answer.err
