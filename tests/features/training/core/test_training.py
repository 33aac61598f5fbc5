"""A training as a child process: its reports, its commands, and all the ways in which it can end."""

from __future__ import annotations

import json
import os
import signal
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.helpers.fake_agent import TRAINER, fake_config
from tests.helpers.present import present

from subflow_agents import Command, ReportKind
from subflow_app.features.training.core.training import TrainingJob
from subflow_app.features.training.core.training_folder import (
    PROCESS,
    REPORTS,
    living_process,
    read_config,
    read_reports,
)
from subflow_app.foundation.errors import TrainingError
from subflow_app.foundation.jobs.progress import JobState

PATIENCE_S = 30.0

Start = Callable[..., TrainingJob]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "trained"


@pytest.fixture
def start(folder: Path) -> Iterator[Start]:
    """Starts a training in `folder` and ends its remaining processes after the test."""
    jobs: list[TrainingJob] = []

    def start_one(*, detached: bool = False, wait: bool = True, **options: Any) -> TrainingJob:
        job = TrainingJob(fake_config(folder, **options), trainer=TRAINER, detached=detached)
        jobs.append(job)
        job.start()
        if wait:
            assert job.wait(PATIENCE_S, until=lambda: bool(job.metrics)), job.message
        return job

    yield start_one
    for job in jobs:
        job.kill()
        assert job.wait(PATIENCE_S)


def steps(job: TrainingJob) -> int:
    return int(job.metrics["step"])


def test_a_training_runs_to_the_end_of_its_budget_and_tells_all_the_way(start: Start, folder: Path) -> None:
    job = start(steps=100, noise=True)  # printed text does not mix with reports
    assert job.wait(PATIENCE_S)
    assert (job.state, job.message, job.pid) == (JobState.FINISHED, "", 0)
    assert job.exit_code == 0
    assert [line for line in (folder / "log.txt").read_text().splitlines() if "kind" not in line] == []
    reports = job.take_reports()
    assert job.take_reports() == []
    states = [report["values"]["state"] for report in reports if report["kind"] == "state"]
    assert states == ["starting", "running", "finished"]
    metrics = [report["values"] for report in reports if report["kind"] == "metrics"]
    assert [values["step"] for values in metrics] == list(range(1, 101))
    assert {values["q_mean"] for values in metrics} == {None}  # JSON has no NaN
    assert "q_mean" not in job.metrics
    # The folder has the same reports, in which NaN is allowed.
    kept = [report["values"] for report in read_reports(folder).reports if report["kind"] == "metrics"]
    assert [values["return_mean"] for values in kept] == [values["return_mean"] for values in metrics]
    assert read_config(folder) == job.config
    assert not (folder / PROCESS).exists()


def test_a_pause_is_obeyed_within_100_ms_and_learning_goes_on_where_it_was(start: Start) -> None:
    job = start()
    took_s = []
    for _ in range(5):
        asked = time.perf_counter()
        job.tell(Command.PAUSE)
        assert job.wait(PATIENCE_S, until=lambda: job.state is JobState.PAUSED)
        took_s.append(time.perf_counter() - asked)
        reached = steps(job)
        time.sleep(0.03)
        assert steps(job) == reached
        job.tell(Command.RESUME)
        assert job.wait(PATIENCE_S, until=lambda: steps(job) > reached)  # noqa: B023 - called at once
        assert job.state is JobState.RUNNING
    assert statistics.median(took_s) < 0.1


def test_a_checkpoint_is_there_within_200_ms_also_in_a_pause(start: Start) -> None:
    job = start(checkpoint_every=10**9)
    took_s = []
    for pause in (False, False, True):
        if pause:
            job.tell(Command.PAUSE)
        asked, before = time.perf_counter(), job.last(ReportKind.CHECKPOINT)
        job.tell(Command.CHECKPOINT)
        assert job.wait(PATIENCE_S, until=lambda: job.last(ReportKind.CHECKPOINT) != before)  # noqa: B023
        took_s.append(time.perf_counter() - asked)
    assert statistics.median(took_s) < 0.2


@pytest.mark.parametrize("paused", [False, True])
def test_a_stop_ends_it_with_a_checkpoint_from_which_it_goes_on(start: Start, paused: bool) -> None:
    job = start(checkpoint_every=10**9)
    if paused:
        job.tell(Command.PAUSE)
        assert job.wait(PATIENCE_S, until=lambda: job.state is JobState.PAUSED)
    job.stop()
    assert job.state in (JobState.STOPPING, JobState.STOPPED)
    assert job.wait(PATIENCE_S)
    assert (job.state, job.state.can_be_resumed, job.exit_code) == (JobState.STOPPED, True, 0)
    checkpoint = present(job.last(ReportKind.CHECKPOINT))
    assert checkpoint["step"] == steps(job)
    again = start(resume=True)
    first = next(report for report in again.take_reports() if report["kind"] == "metrics")
    assert first["values"]["step"] == checkpoint["step"] + 1


def test_the_two_ends_of_a_training_that_has_not_started(folder: Path) -> None:
    job = TrainingJob(fake_config(folder), trainer=TRAINER)
    with pytest.raises(TrainingError, match="has not started"):
        job.tell(Command.PAUSE)
    job.stop()
    assert job.state is JobState.STOPPED
    with pytest.raises(TrainingError, match="was started before"):
        job.start()
    assert not folder.exists()


_full = pytest.mark.full("a kill at any other moment")


@pytest.mark.parametrize("after_s", [pytest.param(0.0, marks=_full), 0.15, pytest.param(0.4, marks=_full)])
def test_killed_at_any_moment_it_goes_on_from_its_last_checkpoint(start: Start, folder: Path, after_s: float) -> None:
    job = start(wait=False, checkpoint_every=20)
    time.sleep(after_s)
    assert job.pid > 0  # 0 would mean all processes of the group
    os.kill(job.pid, signal.SIGKILL)
    assert job.wait(PATIENCE_S)
    assert job.state is JobState.INTERRUPTED
    assert "SIGKILL" in job.message
    assert f"subflow train --resume {folder}" in job.message
    assert living_process(folder) is None
    kept = max((int(path.stem.partition("-")[2]) for path in folder.glob("checkpoint-*.json")), default=0)
    again = start(resume=kept > 0, steps=kept + 30)
    assert again.wait(PATIENCE_S)
    assert again.state is JobState.FINISHED
    told = [report["values"]["step"] for report in again.take_reports() if report["kind"] == "metrics"]
    assert told == list(range(kept + 1, kept + 31))
    # The folder still has the reports sent before the kill, and an incomplete line has cost no report.
    in_file = [r["values"]["step"] for r in read_reports(folder).reports if r["kind"] == "metrics"]
    assert in_file[-30:] == told


def test_a_half_line_of_a_killed_process_costs_that_line_alone(start: Start, folder: Path) -> None:
    start(steps=5).wait(PATIENCE_S)
    before = read_reports(folder).end
    with (folder / REPORTS).open("a") as file:
        file.write('{"kind": "metr')
    assert read_reports(folder).end == before  # the line is incomplete
    start(resume=True, steps=10).wait(PATIENCE_S)
    after = read_reports(folder, before).reports
    assert [r["values"]["step"] for r in after if r["kind"] == "metrics"] == [6, 7, 8, 9, 10]


@pytest.mark.parametrize(
    ("error", "message"),
    [
        ("divergence", "q_mean is no longer a finite number at step 7"),
        ("agent", "nothing to learn"),
        ("bug", "a bug"),
        ("memory", "MemoryError"),
    ],
)
def test_a_training_that_fails_says_why(start: Start, folder: Path, error: str, message: str) -> None:
    job = start(fail_at=7, error=error)
    assert job.wait(PATIENCE_S)
    assert (job.state, job.message) == (JobState.FAILED, message)
    assert TrainingJob.attach(folder).message == message  # also for a later observer
    assert job.exit_code == 1
    traceback = (folder / "log.txt").read_text()
    assert ("Traceback" in traceback) == (error in ("bug", "memory"))  # the others are not bugs of the program


def test_a_process_that_ends_without_a_word_is_told_with_its_exit_code(start: Start) -> None:
    job = start(exit_at=5, wait=False)
    assert job.wait(PATIENCE_S)
    assert job.state is JobState.FAILED
    assert "exit code 3" in job.message


def test_a_full_disk_costs_the_new_checkpoint_and_not_the_old_one_or_the_training(start: Start, folder: Path) -> None:
    job = start(checkpoint_every=10**9, steps=300, full_at=200)
    job.tell(Command.CHECKPOINT)
    assert job.wait(PATIENCE_S, until=lambda: job.last(ReportKind.CHECKPOINT) is not None)
    assert job.wait(PATIENCE_S)
    assert job.state is JobState.FINISHED
    last = present(job.last(ReportKind.CHECKPOINT))
    assert (last["step"], last["error"]) == (300, "No space left on device")
    kept = [json.loads(path.read_text())["step"] for path in folder.glob("checkpoint-*.json")]
    assert len(kept) == 1
    assert kept[0] < 200


def test_reports_reach_the_parent_when_the_disk_takes_none(folder: Path, start: Start) -> None:
    folder.mkdir()
    (folder / REPORTS).symlink_to("/dev/full")  # every write there meets a full disk
    job = start(steps=50)
    assert job.wait(PATIENCE_S)
    assert job.state is JobState.FINISHED
    assert len([report for report in job.take_reports() if report["kind"] == "metrics"]) == 50


def test_a_second_training_in_a_folder_is_refused(start: Start, folder: Path) -> None:
    job = start()
    with pytest.raises(TrainingError, match=rf"process {job.pid} is training in .* already"):
        TrainingJob(fake_config(folder, resume=True), trainer=TRAINER).start()
    job.stop()
    assert job.wait(PATIENCE_S)
    with pytest.raises(TrainingError, match=r"holds a training already: continue it with `subflow train --resume"):
        TrainingJob(fake_config(folder), trainer=TRAINER).start()


def test_a_folder_that_cannot_be_made_is_told_and_nothing_is_started(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    job = TrainingJob(fake_config(tmp_path / "file" / "inside"), trainer=TRAINER)
    with pytest.raises(TrainingError, match="cannot be used: Not a directory"):
        job.start()
    assert (job.state, job.pid) == (JobState.FAILED, 0)


# Without the parent process

PARENT = """
import sys, time
from pathlib import Path
from subflow_agents import TrainingConfig
from subflow_app.features.training.core.training import TrainingJob
job = TrainingJob(TrainingConfig(agent="fake", scenario="s", steps=100000, folder=sys.argv[1]),
                  detached=sys.argv[2] == "detached", trainer="tests.helpers.fake_training")
job.start()
job.wait(30, until=lambda: bool(job.metrics))
if sys.argv[2] == "detach":
    job.detach()
print(job.pid, flush=True)
time.sleep(60)
"""


@pytest.fixture
def orphan(folder: Path) -> Iterator[Callable[[str], int]]:
    """Lets another program start a training, kills that program, and returns the process id of the training."""
    made: list[int] = []

    def leave(how: str) -> int:
        with subprocess.Popen([sys.executable, "-c", PARENT, str(folder), how], stdout=subprocess.PIPE) as parent:
            made.append(int(present(parent.stdout).readline()))
            parent.kill()
        return made[0]

    yield leave
    process = living_process(folder)
    if process is not None and process.pid in made:
        os.kill(process.pid, signal.SIGKILL)


def test_a_training_whose_program_is_killed_stops_with_a_checkpoint(orphan: Callable[[str], int], folder: Path) -> None:
    orphan("attached")
    job = TrainingJob.attach(folder)
    assert job.wait(PATIENCE_S)
    assert job.state is JobState.STOPPED
    assert list(folder.glob("checkpoint-*.json"))


@pytest.mark.parametrize("how", ["detached", "detach"])
def test_a_detached_training_outlives_its_program(orphan: Callable[[str], int], folder: Path, how: str) -> None:
    pid = orphan(how)
    job = TrainingJob.attach(folder)
    assert job.pid == pid
    reached = steps(job)
    assert job.wait(PATIENCE_S, until=lambda: steps(job) > reached + 20)
    job.tell(Command.PAUSE)
    assert job.wait(PATIENCE_S, until=lambda: job.state is JobState.PAUSED)
    job.tell(Command.RESUME)
    assert job.wait(PATIENCE_S, until=lambda: job.state is JobState.RUNNING)
    job.tell(Command.CHECKPOINT)
    os.kill(pid, signal.SIGTERM)  # like a shutdown of the machine
    assert job.wait(PATIENCE_S)
    assert job.state is JobState.STOPPED
    with pytest.raises(TrainingError, match="no process is training"):
        TrainingJob.attach(folder)._send("pause")


def test_attaching_to_a_training_that_is_over_or_was_never_there(start: Start, folder: Path, tmp_path: Path) -> None:
    with pytest.raises(TrainingError, match="not a folder of a training"):
        TrainingJob.attach(tmp_path)
    start(steps=20).wait(PATIENCE_S)
    job = TrainingJob.attach(folder)
    assert job.wait(PATIENCE_S)
    assert (job.state, steps(job)) == (JobState.FINISHED, 20)


def test_a_command_for_an_earlier_process_is_not_obeyed_by_the_next(start: Start, folder: Path) -> None:
    job = start()
    job.tell(Command.CHECKPOINT)
    assert job.wait(PATIENCE_S, until=lambda: job.last(ReportKind.CHECKPOINT) is not None)
    job.kill()
    assert job.wait(PATIENCE_S)
    (folder / "commands.jsonl").write_text('{"command": "stop"}\n')
    again = start(resume=True)
    assert again.wait(PATIENCE_S, until=lambda: steps(again) > 100)
    (folder / "commands.jsonl").write_text('nonsense\n{"command": 7}\n[]\n{"command": "dance"}\n{"command": "pause"}\n')
    assert again.wait(PATIENCE_S, until=lambda: again.state is JobState.PAUSED)
