"""The table shown during a training."""

from __future__ import annotations

import io
from typing import Any, cast

import pytest
from rich.console import Console

from subflow_agents import TrainingConfig
from subflow_app.features.training.cli import training_display
from subflow_app.features.training.cli.training_display import LiveTable
from subflow_app.features.training.core.training import TrainingJob
from subflow_app.foundation.jobs.progress import JobState


class ShownJob:
    """The parts of a training that the table shows."""

    config = TrainingConfig(agent="drl-cc", scenario="s", steps=100, folder="/nowhere")
    state = JobState.RUNNING
    metrics: dict[str, Any] = {"step": 50, "elapsed_s": 2.0, "return_mean": 1.5, "actor_saturation": 0.7}  # noqa: RUF012


@pytest.fixture
def screen(monkeypatch: pytest.MonkeyPatch) -> io.StringIO:
    stream = io.StringIO()
    console = Console(
        file=stream, force_terminal=True, width=100, highlight=False, color_system="standard", no_color=False
    )
    monkeypatch.setattr(training_display, "stderr_console", lambda: console)
    return stream


def test_the_table_shows_state_metrics_and_what_happened(screen: io.StringIO) -> None:
    live = LiveTable(cast(TrainingJob, ShownJob()), "training 3, drl-cc")
    evaluation = {"kind": "evaluation", "values": {"step": 40, "controllers": [], "is_best": True}}
    failed = {"kind": "checkpoint", "values": {"step": 45, "path": None, "error": "No space left on device"}}
    live.show([evaluation, failed, {"kind": "metrics", "values": {}}])
    live.close()
    shown = screen.getvalue()
    for text in (
        "training 3, drl-cc: running",
        "step 50 in 2 s",
        "Return",
        "1.5",
        "70.0",
        "evaluated at step 40",
        "a checkpoint could not be written: No space left on device",
    ):
        assert text in shown
    assert "\x1b[1;31m70.0" in shown  # more than half of the actions are at their bounds: a warning


def test_before_the_first_report_it_says_that_the_trainer_starts(screen: io.StringIO) -> None:
    job = ShownJob()
    job.metrics = {}
    LiveTable(cast(TrainingJob, job), "drl-cc").close()
    assert "the trainer is starting" in screen.getvalue()
