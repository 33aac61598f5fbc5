"""The command ``subflow evaluate``: the same seeds for all contenders, means with intervals, and refused contenders."""

from __future__ import annotations

import math
import shutil
import signal
import statistics
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from tests.helpers.command_line import Subflow
from tests.helpers.members import for_each

from subflow_app.features.editor.core.scenario_source import open_scenario
from subflow_app.features.training.core import evaluations
from subflow_app.features.training.core.evaluations import EvaluationJob
from subflow_app.foundation.jobs.progress import JobState
from subflow_sim.policy_library import PolicyLibrary, shipped_policies


def test_means_and_intervals_are_those_of_the_single_runs(subflow: Subflow, scenario: Path, database: Path) -> None:
    answer = subflow(
        "evaluate", "olia", "--scenario", scenario, "--seeds", "1-3", "--baselines", "lia,ewtcp", "--json"
    ).check()
    document = answer.document
    assert document["seeds"] == [1, 2, 3]
    assert [each["label"] for each in document["controllers"]] == ["olia", "lia", "ewtcp"]
    assert [each["is_baseline"] for each in document["controllers"]] == [False, True, True]
    goodputs = []
    for seed in (1, 2, 3):
        words = ("--set", "flows.download.controller=olia", "--seed", seed, "--db", database, "--json")
        summary = subflow("run", scenario, *words).document
        goodputs.append(next(flow for flow in summary["flows"] if flow["name"] == "download")["goodput_bps"])
    mine = document["controllers"][0]["goodput_bps"]
    assert mine["values"] == pytest.approx(goodputs)
    assert mine["mean"] == pytest.approx(statistics.mean(goodputs))
    # Student's t for 2 degrees of freedom: 4.3027.
    assert mine["ci95"] == pytest.approx(4.3027 * statistics.stdev(goodputs) / math.sqrt(3), rel=1e-4)
    best = max(document["controllers"][1:], key=lambda each: each["goodput_bps"]["mean"])
    assert document["best_baseline"] == best["label"]
    assert document["controllers"][0]["ratio_to_best_baseline"] == pytest.approx(
        mine["mean"] / best["goodput_bps"]["mean"]
    )


def test_threads_change_nothing(subflow: Subflow, scenario: Path) -> None:
    words = ("evaluate", "lia", "--scenario", scenario, "--seeds", "1,5", "--baselines", "olia", "--json", "--threads")
    one, four = (subflow(*words, threads).document for threads in (1, 4))
    assert one.pop("wall_s") > 0
    assert four.pop("wall_s") > 0
    assert one == four


def test_people_get_a_table_with_the_ratio_to_the_best_classic(subflow: Subflow, scenario: Path) -> None:
    answer = subflow("evaluate", "lia", "--scenario", scenario, "--seeds", "1-2", "--baselines", "olia").check()
    assert "Two paths, 2 seeds, mean ± 95 % confidence" in answer.out
    assert "olia *" in answer.out
    assert "× best" in answer.out
    assert "Others" in answer.out  # the TCP flow keeps its controller
    assert "4 runs in" in answer.out


def test_a_controller_may_come_with_options_and_a_scenario_with_changes(subflow: Subflow, scenario: Path) -> None:
    contender = '{ name = "uncoupled", base = "cubic" }'
    words = ("--seeds", "1", "--baselines", "", "--set", "links.wifi.loss=0%", "--json")
    answer = subflow("evaluate", contender, "--scenario", scenario, *words).check()
    assert answer.document["best_baseline"] is None
    assert answer.document["controllers"][0]["loss_ratio"]["ci95"] is None  # one seed allows no interval


def test_a_policy_is_found_by_name(
    subflow: Subflow, scenario: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    library = PolicyLibrary((tmp_path / "library",))
    monkeypatch.setattr(evaluations, "policy_library", lambda: library)
    (tmp_path / "library").mkdir()
    shutil.copy(shipped_policies() / "drl-cc.safetensors", tmp_path / "library" / "mine.safetensors")
    answer = subflow("evaluate", "mine", "--scenario", scenario, "--seeds", 1, "--baselines", "", "--json").check()
    assert answer.document["controllers"][0]["controller"] == "drl-cc"
    assert answer.document["controllers"][0]["label"].endswith("library/mine.safetensors")


@for_each(
    ("words", "problem"),
    [
        (["nobody"], "unknown contender 'nobody'"),
        (["none.safetensors"], "none.safetensors"),
        (["lia", "--seeds", "x"], '"x" are not seeds'),
        (["lia", "--baselines", "nobody"], "unknown contender 'nobody'"),
        (["lia", "--set", "links.wifi.rate=0bit/s"], "links.wifi.rate"),
        (['{ name = "lia", wrong = 1 }'], "wrong"),
    ],
)
def test_bad_input_is_refused_at_once(subflow: Subflow, scenario: Path, words: list[str], problem: str) -> None:
    subflow("evaluate", *words, "--scenario", scenario).check_refusal(problem)


def test_a_stopped_evaluation_has_no_result(scenario: Path) -> None:
    source = open_scenario(str(scenario))
    job = EvaluationJob(["lia"], source, range(50), threads=2)
    assert job.progress.runs == 50 * 5 - 50  # LIA itself is one of the four classics
    worker = threading.Thread(target=job.run)
    worker.start()
    while not job.progress.finished:
        worker.join(0.01)
    job.stop()
    worker.join()
    assert job.progress.state is JobState.STOPPED
    assert job.result is None


def test_ctrl_c_ends_it(scenario: Path) -> None:
    program = [sys.executable, "-m", "subflow_app", "evaluate", "lia", "--scenario", str(scenario), "--json"]
    words = ["--seeds", "1-900", "--set", "duration=100s"]
    with subprocess.Popen([*program, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        while len(list(Path(f"/proc/{process.pid}/task").iterdir())) < 3:  # until it runs in threads
            assert process.poll() is None
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        out, errors = process.communicate(timeout=30)
    assert process.returncode == 130, errors
    assert (out, errors) == ("", "stopped\n")
