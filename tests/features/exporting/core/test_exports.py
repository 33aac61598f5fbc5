"""Exports: CSV files that read back to the same numbers, with names and headings that describe their content."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.helpers.fake_runs import LEARNING, RICH, finished_traces
from tests.helpers.fake_simulation import SUBFLOW_COLUMNS, make_flow, make_scenario

from subflow_app.features.exporting.core import exports
from subflow_app.features.exporting.core.exports import (
    ExportPlan,
    export_agent_steps,
    export_csv,
    export_curves,
    export_decisions,
    export_intervals,
    export_marks,
    export_plots,
    export_run,
    export_shown,
    require_numbers,
    save_rescue_copy,
)
from subflow_app.features.plots.core import PLOTS_BY_ID
from subflow_app.features.traces.core.traces import SeriesKey, Traces
from subflow_app.foundation import paths
from subflow_app.foundation.errors import ExportError, InputError

DATA_ONLY = ExportPlan(run_data=True, figures=(), figure_formats=())
SEEN, DONE = PLOTS_BY_ID["agent_observation"], PLOTS_BY_ID["agent_action"]


def table(path: Path) -> dict[str, list[str]]:
    """Columns of a CSV file by heading."""
    with path.open(encoding="utf-8", newline="") as file:
        heading, *rows = csv.reader(file)
    assert len(heading) == len(set(heading))
    return dict(zip(heading, map(list, zip(*rows, strict=True)), strict=True))


def test_run_data_is_one_file_per_table_with_summary_and_scenario(tmp_path: Path) -> None:
    folder = tmp_path / "new"
    written = export_run(finished_traces(RICH), folder, DATA_ONLY, summary={"a": 1}, scenario_text="format = 1\n")

    tables = ["subflows.csv", "flows.csv", "links.csv", "marks.csv", "intervals.csv", "decisions.csv"]
    assert [path.name for path in written] == [*tables, "decision_rules.json", "summary.json", "scenario.toml"]
    assert json.loads((folder / "summary.json").read_text()) == {"a": 1}
    assert (folder / "scenario.toml").read_text() == "format = 1\n"
    names = {path.name for path in export_run(finished_traces(LEARNING), tmp_path / "learning", DATA_ONLY)}
    assert {"agent_steps.csv", "agents.json"} <= names


def test_values_read_back_as_the_same_float32_and_unknown_ones_are_empty_cells(tmp_path: Path) -> None:
    traces = finished_traces()
    columns = table(export_csv(traces, tmp_path / "all.csv"))

    for key in traces.keys():  # noqa: SIM118
        texts = columns[f"{key.owner}:{key.name}"]
        values = np.array([float(text or "nan") for text in texts], dtype=np.float32)
        np.testing.assert_array_equal(values, traces.read(key)[1])
    assert [text == "" for text in columns["download/1:srtt_s"][:3]] == [True, True, False]
    # 0.1 × 3 is 0.30000000000000004 in binary; the sample is at 0.3 s.
    assert columns["time_s"][:4] == ["0.1", "0.2", "0.3", "0.4"]
    assert columns["time_s"][-1] == "10"


def test_trace_that_the_run_lacks_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="charm_pkts of subflow download/1"):
        export_csv(finished_traces(), tmp_path / "x.csv", [SeriesKey("subflow", "download/1", "charm_pkts", "pkt")])


def test_run_without_samples_gives_headings_only(tmp_path: Path) -> None:
    path = export_csv(finished_traces(until_s=0.0), tmp_path / "x.csv")

    assert path.read_text().count("\n") == 1


def test_figure_data_holds_what_is_drawn_totals_included_in_one_table(tmp_path: Path) -> None:
    traces = finished_traces()
    plots = [(plot, plot.curves(traces)) for plot in (PLOTS_BY_ID["throughput"], PLOTS_BY_ID["cwnd"])]
    columns = table(export_plots(plots, tmp_path / "visible.csv"))

    owners = ("download/1", "download/2", "download/total")
    rates = [f"{owner}:throughput_bps" for owner in owners]
    assert list(columns) == ["time_s", *rates, "download/1:cwnd_pkts", "download/2:cwnd_pkts"]
    values = np.array(columns["download/total:throughput_bps"], dtype=np.float32)
    np.testing.assert_array_equal(values, plots[0][1][2].values)


def test_figure_data_of_runs_with_different_intervals_shares_one_time_column(tmp_path: Path) -> None:
    plot = PLOTS_BY_ID["cwnd"]
    runs = [finished_traces(interval_s=0.5), finished_traces(interval_s=0.25)]
    columns = table(export_curves(plot.overlay(runs), tmp_path / "c.csv", plot))

    # 10 s at 0.25 s are 40 samples; every second one is also a sample of the first run.
    assert len(columns["time_s"]) == 40
    assert [text == "" for text in columns["run 1:download/1:cwnd_pkts"][:4]] == [True, False, True, False]
    assert all(columns["run 2:download/1:cwnd_pkts"])


def test_what_tables_call_run_1_and_run_2_is_told_beside_them(tmp_path: Path) -> None:
    plot = PLOTS_BY_ID["cwnd"]
    runs = [finished_traces(), finished_traces()]
    written = export_shown([(plot, plot.overlay(runs), [])], tmp_path / "shown.csv", runs)
    assert [path.name for path in written] == ["shown.csv", "shown-runs.csv"]
    columns = table(written[1])
    assert list(columns) == ["run", "id", "name", "controllers", "seed"]
    assert columns["run"] == ["1", "2"]
    assert len(set(columns["name"])) == 2
    assert len(export_shown([(plot, plot.overlay(runs[:1]), [])], tmp_path / "one.csv", runs[:1])) == 1


@pytest.mark.parametrize("plots", [[], [(PLOTS_BY_ID["cwnd"], [])]])
def test_data_of_nothing_visible_is_said(plots: list, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no curve is visible"):
        export_plots(plots, tmp_path / "visible.csv")


def test_marks_are_listed_in_order_of_time(tmp_path: Path) -> None:
    columns = table(export_marks(finished_traces(), tmp_path / "marks.csv"))

    # The fake marks a loss at each full second of its 10 s.
    assert columns["time_s"] == [str(second) for second in range(1, 11)]
    assert set(columns["kind"]) == {"loss"}
    assert set(columns["owner"]) == {"download/1"}


def test_intervals_have_a_row_each(tmp_path: Path) -> None:
    columns = table(export_intervals(finished_traces(RICH).events("interval"), tmp_path / "intervals.csv"))

    # The fake finishes one monitor interval per second and subflow: the first from 0 s to 0.9 s.
    assert columns["time_s"] == [str(second) for second in range(1, 11) for _ in range(2)]
    assert columns["owner"] == ["download/1", "download/2"] * 10
    assert (columns["begin_s"][0], columns["end_s"][0], columns["sent_pkts"][0]) == ("0", "0.9", "100")
    assert columns["rtt_gradient"][2] == "2"
    assert columns["is_app_limited"][0] == "0"
    assert columns.keys() >= {"number", "tag", "rate_bps", "utility", "rtt_gradient_error"}


def test_decisions_have_a_row_each_and_their_rules_a_file(tmp_path: Path) -> None:
    decisions = finished_traces(RICH).events("decision")
    written = export_decisions(decisions, tmp_path / "decisions.csv", tmp_path / "rules.json")
    columns = table(written[0])
    rows = {
        name: dict(zip(columns, row, strict=True))
        for name, *row in zip(columns["owner"], *columns.values(), strict=True)
    }

    assert [path.name for path in written] == ["decisions.csv", "rules.json"]
    assert len(columns["time_s"]) == 30
    told = {owner: {name: value for name, value in row.items() if value} for owner, row in rows.items()}
    changes = {"cwnd_before_pkts": "10", "cwnd_after_pkts": "11", "rate_before_bps": "0", "rate_after_bps": "0"}
    made = {"time_s": "10", "owner": "download/1", "cause": "ack", "rule": "growth", "number_1": "10"}
    assert told["download/1"] == made | changes
    # The scheduler's decision of the flow: packet 10 went to the first of two subflows.
    made = {"time_s": "9.5", "owner": "download", "cause": "schedule", "rule": "turns", "number_1": "10"}
    assert told["download"] == made | {"data_seq": "10", "chosen": "1", "available": "1 2", "usable": "1 2"}
    rules = json.loads(written[1].read_text())
    assert {rule["name"]: rule["numbers"] for rule in rules} == {"growth": ["acked_pkts"], "turns": ["round"]}


def test_what_agents_saw_has_a_row_per_subflow_and_their_descriptions_a_file(tmp_path: Path) -> None:
    steps = finished_traces(LEARNING).events("agent")
    written = export_agent_steps(steps, tmp_path / "agent_steps.csv", tmp_path / "agents.json")
    columns = table(written[0])
    first = {name: column[0] for name, column in columns.items()}
    last = {name: column[-1] for name, column in columns.items()}

    # 10 s of the download's agent, which observes two subflows, and of the probe's agent.
    assert len(columns["time_s"]) == 30
    assert columns["owner"][:3] == ["download", "download", "probe/1"]
    assert (first["subflow"], first["decision"], first["is_acting"], first["reward"]) == ("download/1", "0", "1", "")
    assert (first["see:goodput"], first["see:rtt"], first["see:goodput[1]"]) == ("1", "1.25", "")
    assert float(first["do:window_change"]) == pytest.approx(0.8414710, rel=1e-6)
    assert first["do:choice"] == last["do:window_change"] == ""
    assert (last["see:rtt"], last["see:goodput[1]"], last["see:rtt[1]"]) == ("10.25", "10.5", "10.75")
    assert (last["reward"], last["value"], last["cwnd_after_pkts"]) == ("5", "-10", "10")
    agents = json.loads(written[1].read_text())
    assert [(agent["name"], agent["policy"], agent["history"]) for agent in agents] == [
        ("download", "random", 1),
        ("probe/1", "explorer", 2),
    ]
    assert agents[1]["choices"] == ["decrease", "keep", "increase"]


def test_a_figure_of_a_number_that_no_agent_has_is_refused() -> None:
    runs = [finished_traces(LEARNING), finished_traces(RICH)]
    require_numbers([SEEN.of_number("rtt"), DONE.of_number("choice"), *PLOTS_BY_ID.values()], runs)

    with pytest.raises(InputError, match='"cwnd" is not an observation of the agents; available: goodput, rtt'):
        require_numbers([SEEN.of_number("cwnd")], runs)
    with pytest.raises(InputError, match="no agent decided in these runs"):
        require_numbers([DONE.of_number("choice")], runs[1:])


def test_owner_names_come_from_the_run_so_files_of_many_flows_stay_wide_tables(tmp_path: Path) -> None:
    scenario = make_scenario(make_flow("mp", count=5), make_flow("tcp", "tcp", ("wifi",), count=5))
    export_run(finished_traces(scenario), tmp_path, DATA_ONLY)

    # The time, the columns of each of the 5 × 2 + 5 subflows, and the share of those with siblings.
    assert len(table(tmp_path / "subflows.csv")) == 1 + len(SUBFLOW_COLUMNS) * 15 + 5 * 2
    assert "mp.5/2:cwnd_pkts" in table(tmp_path / "subflows.csv")


def test_figures_are_written_beside_the_data(tmp_path: Path) -> None:
    plan = ExportPlan(run_data=False, figures=(PLOTS_BY_ID["cwnd"],), figure_formats=("svg", "png"), figure_data=True)

    assert [path.name for path in export_run(finished_traces(), tmp_path, plan)] == ["cwnd.csv", "cwnd.svg", "cwnd.png"]


def test_place_that_cannot_be_written_is_said_with_a_way_on(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")

    with pytest.raises(ExportError, match=r"file.* cannot be written: .*choose another folder"):
        export_run(finished_traces(), blocked / "x", DATA_ONLY)


def test_rescue_copy_holds_data_summary_and_scenario(tmp_path: Path) -> None:
    directory = save_rescue_copy(finished_traces(RICH, title="My run"), {"seed": 1}, "format = 1\n")

    assert directory.name.startswith("my-run-")
    assert {path.name for path in directory.iterdir()} >= {
        *("subflows.csv", "flows.csv", "intervals.csv", "decisions.csv", "summary.json", "scenario.toml")
    }


@pytest.fixture
def fill_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[Path], None]:
    """Makes writing tables into a folder fail as on a full disk, in an empty working folder."""
    written = exports.export_csv

    def fill(full: Path) -> None:
        def export_csv(traces: Traces, path: Path, *more: Any) -> Path:
            if path.is_relative_to(full):
                raise ExportError(f"{path} cannot be written: No space left on device; choose another folder")
            return written(traces, path, *more)

        monkeypatch.setattr(exports, "export_csv", export_csv)

    monkeypatch.chdir(tmp_path)
    return fill


def test_rescue_goes_elsewhere_when_the_first_disk_is_full(tmp_path: Path, fill_disk: Callable[[Path], None]) -> None:
    full = paths.rescue_places()[0]
    fill_disk(full)

    directory = save_rescue_copy(finished_traces(), {"seed": 1}, "format = 1\n")

    assert directory.is_relative_to(tmp_path / "subflow-rescued")
    assert (directory / "subflows.csv").stat().st_size > 0
    assert not any(full.iterdir())


def test_rescue_that_finds_no_room_says_what_was_tried(fill_disk: Callable[[Path], None]) -> None:
    fill_disk(Path("/"))
    with pytest.raises(ExportError, match=r"to save the run in is writable: tried .*subflow-rescued.*No space left"):
        save_rescue_copy(finished_traces(), {"seed": 1}, "format = 1\n")
