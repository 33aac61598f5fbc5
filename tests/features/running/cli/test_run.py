"""The command ``subflow run``: the JSON contract, determinism, exit codes, and no loss of a run."""

from __future__ import annotations

import functools
import json
import signal
import threading
from pathlib import Path
from typing import Any

import pytest
from tests.helpers.command_line import Subflow
from tests.helpers.fake_simulation import (
    FLOW_COLUMNS,
    LINK_COLUMNS,
    MULTIPATH_COLUMNS,
    SHARE_COLUMNS,
    SUBFLOW_COLUMNS,
    FakeSimulation,
)
from tests.helpers.members import for_each
from tests.helpers.raising import raising
from tests.helpers.shipped_policies import use_printed

from subflow_app.features.exporting.core import exports
from subflow_app.features.plots.core import PLOTS_BY_ID
from subflow_app.features.running.core import runs
from subflow_sim.errors import SimulationError
from subflow_store import RunWriter
from subflow_store.errors import StoreFull

RUN_KEYS = "scenario seed duration_s warmup_s signature wall_s packets run_id flows links"
FLOW_KEYS = "name kind controller goodput_bps completion_s mean_rtt_s p95_rtt_s loss_ratio retransmits subflows"
SUBFLOW_KEYS = "path throughput_bps goodput_bps mean_cwnd_pkts mean_rtt_s loss_ratio"
LINK_KEYS = "name direction utilisation drops_queue drops_random mean_queue_pkts max_queue_pkts"


def fake_simulations(monkeypatch: pytest.MonkeyPatch, act: Any, at_s: float = 4.0, duration_s: float = 1000.0) -> None:
    """Replaces simulations by formulas that act once at that simulated time. A fake's chunks grow by 4 from 1 ms."""
    done: list[bool] = []

    def on_chunk(simulation: FakeSimulation) -> None:
        if simulation.now_s >= at_s and not done:
            done.append(True)
            act()

    def make(scenario: Any, seed: int | None, interval_s: float) -> FakeSimulation:
        simulation = FakeSimulation(scenario, seed=seed, sample_interval_s=interval_s, on_chunk=on_chunk)
        simulation.duration_s = duration_s
        return simulation

    monkeypatch.setattr(runs, "make_simulation", make)


def test_json_document_has_every_key_of_the_contract(subflow: Subflow, scenario: Path, database: Path) -> None:
    answer = subflow("run", scenario, "--db", database, "--json")

    document = answer.document
    assert answer.code == 0
    assert answer.err == ""
    assert document.keys() >= set(RUN_KEYS.split())
    assert "jain" in document["fairness"]
    assert [flow["name"] for flow in document["flows"]] == ["download", "cross", "noise"]
    for flow in document["flows"]:
        assert flow.keys() >= set(FLOW_KEYS.split())
        for part in flow["subflows"]:
            assert part.keys() >= set(SUBFLOW_KEYS.split())
    assert [part["path"] for part in document["flows"][0]["subflows"]] == [["wifi"], ["lte"]]
    assert [(link["name"], link["direction"]) for link in document["links"]] == [
        (name, direction) for name in ("wifi", "lte") for direction in ("forward", "reverse")
    ]
    for link in document["links"]:
        assert link.keys() >= set(LINK_KEYS.split())
    assert document["run_id"] == 1
    assert document["duration_s"] == 10.0
    assert document["warmup_s"] == 2.0
    assert document["wall_s"] > 0
    assert len(document["signature"]) == 16


def test_delays_of_a_flow_are_shown_stored_and_exported(
    subflow: Subflow, scenario: Path, database: Path, tmp_path: Path
) -> None:
    asked = [word for name in ("download", "noise") for word in ("--set", f"flows.{name}.one_way_delay=true")]
    printed = subflow("run", scenario, *asked, "--db", database).check()
    table = printed.out.split("Delays of")[1].split("Links")[0].splitlines()
    assert [line.split()[0] for line in table[3:-1]] == ["download", "·", "·", "noise"]
    download, cross, noise = subflow("show", 1, "--db", database, "--json").document["flows"]
    for part in (download, *download["subflows"]):
        assert 0 < part["mean_one_way_delay_s"] < part["mean_rtt_s"]
        assert 0 < part["mean_ack_delay_s"] < part["mean_rtt_s"]
    assert noise["mean_one_way_delay_s"] > 0
    assert noise["mean_ack_delay_s"] is None
    assert "mean_one_way_delay_s" not in cross
    subflow("export", 1, "--db", database, "--format", "csv", "--out", tmp_path / "out").check()
    headings = {
        name for file in (tmp_path / "out").rglob("*.csv") for name in file.read_text().split("\n")[0].split(",")
    }
    assert {"one_way_delay_s", "ack_delay_s", "jitter_s", "reordered_pkts"} <= {
        name.rpartition(":")[2].split(" ")[0] for name in headings
    }


def test_set_changes_the_scenario(subflow: Subflow, scenario: Path) -> None:
    answer = subflow("run", scenario, "--no-store", "--json", "--set", "duration=4s", "--set", "links.wifi.loss=0")

    assert answer.document["duration_s"] == 4.0
    assert all(link["drops_random"] == 0 for link in answer.document["links"])


def test_stored_scenario_holds_the_overrides(subflow: Subflow, scenario: Path, database: Path, tmp_path: Path) -> None:
    first = subflow("run", scenario, "--db", database, "--json", "--seed", 5, "--set", "links.wifi.loss=1%").document
    subflow("export", 1, "--db", database, "--out", tmp_path / "out")
    again = subflow("run", tmp_path / "out" / "scenario.toml", "--no-store", "--json").document

    assert again["signature"] == first["signature"]


def test_without_store_nothing_is_kept(subflow: Subflow, scenario: Path, database: Path) -> None:
    answer = subflow("run", scenario, "--no-store", "--json", "--db", database)

    assert answer.document["run_id"] is None
    assert not database.exists()


def test_default_database_is_made_in_the_data_directory(subflow: Subflow, scenario: Path) -> None:
    assert subflow("run", scenario, "--json").document["run_id"] == 1
    assert [run["run_id"] for run in subflow("runs", "--json").document] == [1]


def test_name_and_tags_are_kept(subflow: Subflow, scenario: Path, database: Path) -> None:
    subflow("run", scenario, "--db", database, "--name", "My run", "--tag", "lab", "--tag", "week 1")

    (run,) = subflow("runs", "--db", database, "--json").document
    assert run["name"] == "My run"
    assert run["scenario"] == "Two paths"
    assert set(run["tags"]) == {"lab", "week 1"}


def test_people_get_tables_with_units_on_stdout_only(subflow: Subflow, scenario: Path, database: Path) -> None:
    answer = subflow("run", scenario, "--db", database).check()
    assert answer.err == ""
    for words in ("Two paths", "Goodput", "Mbit/s", "download", "· wifi", "queue pkt", "run 1, signature "):
        assert words in answer.out


@pytest.mark.usefixtures("no_figures")
def test_sample_interval_sets_the_distance_of_samples(subflow: Subflow, scenario: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    subflow("run", scenario, "--no-store", "--sample-interval", "500ms", "--export", out, "--set", "duration=3s")

    times = [line.split(",")[0] for line in (out / "flows.csv").read_text().splitlines()]
    assert times == ["time_s", "0.5", "1", "1.5", "2", "2.5", "3"]


def test_export_writes_data_and_figures_and_says_where(
    subflow: Subflow, scenario: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # All figures in two formats take seconds; the tests of `export` check their selection.
    few = tuple(PLOTS_BY_ID[name] for name in ("throughput", "cwnd"))
    monkeypatch.setattr(exports, "ExportPlan", functools.partial(exports.ExportPlan, figures=few))
    out = tmp_path / "out"
    answer = subflow("run", scenario, "--no-store", "--export", out)

    said = {line.removeprefix("wrote ") for line in answer.out.splitlines() if line.startswith("wrote ")}
    assert said == {str(path) for path in out.iterdir()}
    assert {path.name for path in out.iterdir()} >= {"subflows.csv", "summary.json", "throughput.svg", "cwnd.png"}


def test_all_problems_of_a_scenario_are_told_one_per_line(subflow: Subflow, scenario: Path, database: Path) -> None:
    text = scenario.read_text().replace('rate = "8Mbit/s"', "rate = 0").replace('"0.1%"', '"101%"')
    scenario.write_text(text)
    answer = subflow("run", scenario, "--db", database, "--json", "--set", "links.lte.delay=-1s")

    assert answer.code == 2
    assert answer.out == ""
    lines = answer.err.splitlines()
    assert len(lines) == 3
    # The rate is in line 11 of the file, the loss in line 14.
    assert lines[0].startswith(f"{scenario}:11: links.wifi.rate = 0: ")
    assert lines[1].startswith(f'{scenario}:14: links.wifi.loss = "101%": ')
    assert lines[2].startswith('--set: links.lte.delay = "-1s": ')
    assert all("allowed: " in line for line in lines)
    assert not database.exists()


@for_each(
    ("words", "message"),
    [
        (["run", "nowhere.toml"], "nowhere.toml: no such scenario file"),
        (["run", "{scenario}", "--set", "nonsense"], "nonsense"),
        (["run", "{scenario}", "--sample-interval", "soon"], "--sample-interval"),
        (["run", "{scenario}", "--sample-interval", "0s"], "greater than 0"),
        (["run", "{scenario}", "--sample-interval", "1ns", "--no-store"], "sample less often"),
        (["run", "{scenario}", "--max-memory", "1MB", "--no-store"], "more than the limit of 1.0 MB"),
        (["run", "{scenario}", "--max-events", "1000", "--no-store"], "more than the limit of 1e+03"),
        (["run", "{scenario}", "--max-memory", "much", "--no-store"], 'the limit of memory, "much"'),
        (["run", "{scenario}", "--seed", "-1"], "--seed"),
        (["run", "{scenario}", "--sed", "1"], "--sed"),
        (["run"], "FILE|NAME"),
        (["rnu"], "Did you mean 'run'"),
    ],
)
def test_bad_input_is_told_with_exit_code_2(subflow: Subflow, scenario: Path, words: list[str], message: str) -> None:
    subflow(*(word.format(scenario=scenario) for word in words)).check_refusal(message)


def test_a_limit_is_raised_by_an_option(subflow: Subflow, scenario: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SUBFLOW_MAX_EVENTS", "1000")
    refused = subflow("run", scenario, "--no-store")
    raised = subflow("run", scenario, "--no-store", "--max-events", "1e9")

    assert (refused.code, raised.code) == (2, 0)
    # The message contains the remedy.
    assert "--max-events" in refused.err
    assert "SUBFLOW_MAX_EVENTS" in refused.err


def test_an_estimate_is_told_without_running(subflow: Subflow, scenario: Path, database: Path) -> None:
    text = subflow("run", scenario, "--estimate", "--db", database)
    document = subflow("run", scenario, "--estimate", "--json", "--db", database).document

    assert text.code == 0
    assert "events (packets that cross a link)" in text.out
    assert "on this machine as it is now" in text.out
    assert "of memory, and" in text.out
    assert "in the database" not in subflow("run", scenario, "--estimate", "--no-store").out
    # 10 s at 100 ms; three flows, of which the datagram flow has no subflows, and four directions. The multipath flow
    # has more columns, and each of its subflows has a share.
    assert document["samples"] == 100
    own = 3 * len(FLOW_COLUMNS) + 3 * len(SUBFLOW_COLUMNS) + 4 * len(LINK_COLUMNS)
    assert document["columns"] == own + len(MULTIPATH_COLUMNS) + 2 * len(SHARE_COLUMNS)
    # The upper bound, compared with the limits, and the expected value.
    assert document["memory_bytes"] == sum(document[f"{part}_bytes"] for part in ("trace", "packet", "object"))
    assert 0 < document["expected_crossings"] < 1.25 * document["link_crossings"]
    assert 0 < document["expected_simulation_cpu_s"] < document["expected_cpu_s"] <= document["expected_wall_s"]
    assert 50e6 < document["expected_memory_bytes"] < 100e6
    assert document["expected_disk_bytes"] > 0
    assert not database.exists()


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_signal_stops_the_run_which_is_kept(
    subflow: Subflow, scenario: Path, database: Path, monkeypatch: pytest.MonkeyPatch, number: int, code: int
) -> None:
    before = signal.getsignal(number)
    stopped = threading.Event()
    stop = runs.RunJob.stop

    def stop_and_tell(job: runs.RunJob) -> None:
        stop(job)
        stopped.set()

    monkeypatch.setattr(runs.RunJob, "stop", stop_and_tell)

    def send() -> None:
        # The handler runs in the main thread; the simulation waits here in another thread until it has finished.
        signal.raise_signal(number)
        assert stopped.wait(20)

    fake_simulations(monkeypatch, send)
    answer = subflow("run", scenario, "--db", database)

    assert answer.code == code
    assert "stopped at t = " in answer.err
    assert "kept as run 1" in answer.err
    (run,) = subflow("runs", "--db", database, "--json").document
    assert run["status"] == "stopped"
    if number == signal.SIGHUP:
        assert signal.getsignal(number) is signal.SIG_IGN  # shell and system may both send it
        signal.signal(number, before)
    assert signal.getsignal(number) is before


def test_failed_run_is_kept(subflow: Subflow, scenario: Path, database: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> None:
        raise SimulationError("a queue has lost count")

    fake_simulations(monkeypatch, fail)
    subflow("run", scenario, "--db", database, "--json").check_refusal(
        "a queue has lost count", "kept as run 1", code=1
    )
    (run,) = subflow("runs", "--db", database, "--json").document
    assert run["status"] == "failed"


@pytest.mark.parametrize("step", ["append", "finish"])
def test_lost_runs_are_rescued(
    subflow: Subflow, scenario: Path, database: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    monkeypatch.setattr(
        RunWriter,
        step,
        raising(StoreFull("there is no space left on the disk", path=str(database), way_on="Free some space.")),
    )
    answer = subflow("run", scenario, "--db", database, "--json")

    assert answer.code == 1
    assert "no space left" in answer.err
    assert "Free some space" in answer.err
    # The simulation succeeded, so its document is complete, but the database contains no run.
    assert answer.document["run_id"] is None
    assert answer.document["status"] == "finished"
    rescued = Path(answer.err.rstrip().rpartition(" ")[2])
    assert json.loads((rescued / "summary.json").read_text())["signature"] == answer.document["signature"]
    assert len((rescued / "subflows.csv").read_text().splitlines()) == 1 + 100
    assert (rescued / "scenario.toml").read_text() == scenario.read_text()


def test_database_that_cannot_be_opened_is_said_before_a_run(subflow: Subflow, scenario: Path, tmp_path: Path) -> None:
    (tmp_path / "letter.txt").write_text("Dear Sir or Madam, " * 100)
    for no_database in (tmp_path / "letter.txt", scenario / "runs.db"):
        subflow("run", scenario, "--db", no_database, "--json").check_refusal(str(no_database), code=1)


def test_a_failing_export_keeps_the_run(subflow: Subflow, scenario: Path, database: Path, tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")
    answer = subflow("run", scenario, "--db", database, "--export", blocked)
    assert (answer.code, "choose another folder" in answer.err) == (1, True)
    assert [run["status"] for run in subflow("runs", "--db", database, "--json").document] == ["finished"]


def test_warnings_of_the_scenario_are_told_before_the_run_and_in_the_document(subflow: Subflow, tmp_path: Path) -> None:
    file = tmp_path / "unlike.toml"
    links = "\n".join(
        f'[links.{name}]\nends = ["a", "b"]\nrate = "{rate}"\ndelay = "10ms"'
        for name, rate in (("fast", "90Mbit/s"), ("slow", "2Mbit/s"))
    )
    flow = '[flows.d]\nkind = "mptcp"\nfrom = "a"\nto = "b"\npaths = [["fast"], ["slow"]]\n'
    flow += 'controller = "mpcc-loss"\nscheduler = "mpcc-rate"'
    file.write_text(f'format = 1\nduration = "1s"\n[nodes.a]\n[nodes.b]\n{links}\n{flow}\n', encoding="utf-8")
    told = 'flow "d": mpcc-loss tries rates 4.6Mbit/s above its own'
    answer = subflow("run", file, "--no-store", "--json")
    assert answer.err.startswith(f"warning: {told}")
    assert answer.err.count("warning: ") == 1
    assert [warning[: len(told)] for warning in answer.document["warnings"]] == [told]
    answer = subflow("run", file, "--no-store", "--json", "--set", "flows.d.controller=lia")
    assert (answer.err, answer.document.get("warnings")) == ("", None)


def test_a_name_that_means_another_policy_now_is_told_once(
    subflow: Subflow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    use_printed(monkeypatch, tmp_path / "shipped")
    command = ("run", "rlx-fixed", "--no-store", "--set", "duration=1s")
    first, second = subflow(*command), subflow(*command)
    assert (first.code, second.code) == (0, 0)
    told = [line for line in first.err.splitlines() if '"rl-explore" means the policy trained as its paper' in line]
    assert len(told) == 1
    assert 'controller = { name = "rl-explore", policy = "rl-explore-wide" }' in told[0]
    assert "as its paper" not in second.err
