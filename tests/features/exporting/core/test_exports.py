"""Exports: CSV that reads back to the same numbers, in files whose names and headings say what they hold."""

from __future__ import annotations

import csv
import json
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
from subflow_app.features.traces.core.traces import SUBFLOW, SeriesKey, Traces, select_keys
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
    written = export_run(
        finished_traces(RICH), tmp_path / "new", DATA_ONLY, summary={"a": 1}, scenario_text="format = 1\n"
    )

    assert [path.name for path in written] == [
        "subflows.csv",
        "flows.csv",
        "links.csv",
        "marks.csv",
        "intervals.csv",
        "decisions.csv",
        "decision_rules.json",
        "summary.json",
        "scenario.toml",
    ]
    assert json.loads((tmp_path / "new" / "summary.json").read_text()) == {"a": 1}
    assert (tmp_path / "new" / "scenario.toml").read_text() == "format = 1\n"


def test_values_read_back_as_the_same_float32(tmp_path: Path) -> None:
    traces = finished_traces()
    columns = table(export_csv(traces, tmp_path / "all.csv"))

    for key in traces.keys():  # noqa: SIM118
        texts = columns[f"{key.owner}:{key.name}"]
        values = np.array([float(text or "nan") for text in texts], dtype=np.float32)
        np.testing.assert_array_equal(values, traces.read(key)[1])


def test_times_are_written_without_binary_rounding(tmp_path: Path) -> None:
    times = table(export_csv(finished_traces(), tmp_path / "all.csv"))["time_s"]

    # 0.1 × 3 is 0.30000000000000004 in binary; the sample is at 0.3 s.
    assert times[:4] == ["0.1", "0.2", "0.3", "0.4"]
    assert times[-1] == "10"


def test_unknown_value_is_an_empty_cell(tmp_path: Path) -> None:
    traces = finished_traces()
    columns = table(export_csv(traces, tmp_path / "rtt.csv", [select_keys(traces, SUBFLOW, "srtt_s", "download/1")[0]]))

    assert columns["download/1:srtt_s"][:2] == ["", ""]
    assert columns["download/1:srtt_s"][2] != ""


def test_chosen_traces_only(tmp_path: Path) -> None:
    traces = finished_traces()
    columns = table(export_csv(traces, tmp_path / "cwnd.csv", select_keys(traces, SUBFLOW, "cwnd_pkts")))

    assert list(columns) == ["time_s", "download/1:cwnd_pkts", "download/2:cwnd_pkts"]


def test_trace_that_the_run_lacks_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="charm_pkts of subflow download/1"):
        export_csv(finished_traces(), tmp_path / "x.csv", [SeriesKey("subflow", "download/1", "charm_pkts", "pkt")])


def test_run_without_samples_gives_headings_only(tmp_path: Path) -> None:
    path = export_csv(finished_traces(until_s=0.0), tmp_path / "x.csv")

    assert path.read_text().count("\n") == 1


def test_figure_data_holds_what_is_drawn_totals_included(tmp_path: Path) -> None:
    plot = PLOTS_BY_ID["throughput"]
    curves = plot.curves(finished_traces())
    columns = table(export_curves(curves, tmp_path / "t.csv", plot))

    assert list(columns) == [
        "time_s",
        "download/1:throughput_bps",
        "download/2:throughput_bps",
        "download/total:throughput_bps",
    ]
    values = np.array(columns["download/total:throughput_bps"], dtype=np.float32)
    np.testing.assert_array_equal(values, curves[2].values)


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


def test_data_of_several_plots_goes_into_one_table(tmp_path: Path) -> None:
    traces = finished_traces()
    plots = [(plot, plot.curves(traces)) for plot in (PLOTS_BY_ID["cwnd"], PLOTS_BY_ID["rtt"])]
    columns = table(export_plots(plots, tmp_path / "visible.csv"))

    assert list(columns) == [
        "time_s",
        "download/1:cwnd_pkts",
        "download/2:cwnd_pkts",
        "download/1:srtt_s",
        "download/2:srtt_s",
    ]


@pytest.mark.parametrize("plots", [[], [(PLOTS_BY_ID["cwnd"], [])]])
def test_data_of_nothing_visible_is_said(plots: list, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no curve is visible"):
        export_plots(plots, tmp_path / "visible.csv")


def test_marks_are_listed_in_order_of_time(tmp_path: Path) -> None:
    columns = table(export_marks(finished_traces(), tmp_path / "marks.csv"))

    # The fake marks a loss each full second of its 10 s.
    assert columns["time_s"] == [str(second) for second in range(1, 11)]
    assert set(columns["kind"]) == {"loss"}
    assert set(columns["owner"]) == {"download/1"}


def test_intervals_have_a_row_each(tmp_path: Path) -> None:
    columns = table(export_intervals(finished_traces(RICH).events("interval"), tmp_path / "intervals.csv"))

    # The fake finishes one per second and subflow: the first from 0 s to 0.9 s.
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
    assert rows["download/1"] == dict.fromkeys(columns, "") | {
        "time_s": "10",
        "owner": "download/1",
        "cause": "ack",
        "rule": "growth",
        "cwnd_before_pkts": "10",
        "cwnd_after_pkts": "11",
        "rate_before_bps": "0",
        "rate_after_bps": "0",
        "number_1": "10",
    }
    # Of the flow: packet 10 went to the first of two subflows.
    assert rows["download"] == dict.fromkeys(columns, "") | {
        "time_s": "9.5",
        "owner": "download",
        "cause": "schedule",
        "rule": "turns",
        "data_seq": "10",
        "chosen": "1",
        "available": "1 2",
        "usable": "1 2",
        "number_1": "10",
    }
    rules = json.loads(written[1].read_text())
    assert {rule["name"]: rule["numbers"] for rule in rules} == {"growth": ["acked_pkts"], "turns": ["round"]}


def test_what_agents_saw_has_a_row_per_subflow_and_their_descriptions_a_file(tmp_path: Path) -> None:
    steps = finished_traces(LEARNING).events("agent")
    written = export_agent_steps(steps, tmp_path / "agent_steps.csv", tmp_path / "agents.json")
    columns = table(written[0])
    first = {name: column[0] for name, column in columns.items()}
    last = {name: column[-1] for name, column in columns.items()}

    # 10 s of the download's agent, which sees two subflows, and of the probe's.
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


def test_run_data_has_the_steps_of_agents_if_there_are_any(tmp_path: Path) -> None:
    names = {path.name for path in export_run(finished_traces(LEARNING), tmp_path / "a", DATA_ONLY)}

    assert {"agent_steps.csv", "agents.json"} <= names
    assert not {path.name for path in export_run(finished_traces(RICH), tmp_path / "b", DATA_ONLY)} & {"agents.json"}


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

    # The time, the columns of each of the 5 × 2 + 5 subflows, and the share of those that have siblings.
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


def test_rescue_goes_elsewhere_when_the_disk_of_the_first_place_is_full(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    full = paths.rescue_places()[0]
    written = exports.export_csv

    def export_csv(traces: Traces, path: Path, *more: Any) -> Path:
        if path.is_relative_to(full):
            raise ExportError(f"{path} cannot be written: No space left on device; choose another folder")
        return written(traces, path, *more)

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(exports, "export_csv", export_csv)

    directory = save_rescue_copy(finished_traces(), {"seed": 1}, "format = 1\n")

    assert directory.is_relative_to(tmp_path / "subflow-rescued")
    assert (directory / "subflows.csv").stat().st_size > 0
    assert not any(full.iterdir())


def test_rescue_that_finds_no_room_says_what_was_tried(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def export_csv(_traces: Traces, path: Path, *_more: Any) -> Path:
        raise ExportError(f"{path} cannot be written: No space left on device; choose another folder")

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(exports, "export_csv", export_csv)

    with pytest.raises(ExportError, match=r"to save the run in is writable: tried .*subflow-rescued.*No space left"):
        save_rescue_copy(finished_traces(), {"seed": 1}, "format = 1\n")
