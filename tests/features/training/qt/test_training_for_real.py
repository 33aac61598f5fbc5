"""A real training: its process, its curves, and its policy as a picture and in the library."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest
from pytestqt.qtbot import QtBot
from tests.helpers.desk import MakeDesk
from tests.helpers.present import present
from tests.helpers.window import ScriptedDialogs

from subflow_app.features.training.core.training_draft import DOCUMENT, NO_RECIPE
from subflow_app.features.training.qt.promote_dialog import Promotion
from subflow_app.features.training.qt.session import TrainingSession
from subflow_app.foundation.jobs.progress import JobState
from subflow_sim.policy import Policy

# Most of the time is the start of PyTorch in the training process.
PATIENCE_MS = 200_000


@pytest.mark.timeout(400)
@pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="PyTorch is not installed")
def test_an_agent_learns_a_policy(qtbot: QtBot, make_desk: MakeDesk, tmp_path: Path, dialogs: ScriptedDialogs) -> None:
    was_there = "torch" in sys.modules
    desk = make_desk(TrainingSession)
    page = desk.features[TrainingSession].content
    desk.docks.set_open("train", True)
    qtbot.waitUntil(lambda: page.form is not None, timeout=PATIENCE_MS)
    form = present(page.form)
    for key, value in (
        ("agent", "drl-cc"),
        ("recipe", NO_RECIPE),
        ("scenario", DOCUMENT),
        ("steps", 100),
        ("num_envs", 2),
        ("evaluation_every", 0),
    ):
        form.draft.set_value(key, value)

    desk.bar.trigger("train.start")

    (training,) = page.selected()
    qtbot.waitUntil(lambda: training.state.is_over, timeout=PATIENCE_MS)
    assert (training.state, training.message) == (JobState.FINISHED, "")
    assert training.log.latest("step") >= 100
    assert training.fraction >= 1.0
    assert training.log.has("return_mean")

    page.tabs.setCurrentWidget(page.policy)
    view = page.policy
    qtbot.waitUntil(lambda: view.picture is not None and view.picture.panel is not None, timeout=PATIENCE_MS)
    qtbot.waitUntil(lambda: not desk.workers.is_busy, timeout=PATIENCE_MS)
    assert abs(np.stack(present(present(view.picture).panel).cells)).max() <= 1.0

    dialogs.answer("PromoteDialog", Promotion("mine", "A first try"))
    desk.bar.trigger("train.promote")
    promoted = Policy.load(next((tmp_path / "user").rglob("mine.safetensors")))
    assert (promoted.controller, promoted.card["note"]) == ("drl-cc", "A first try")
    # Another process trains: this process does not load PyTorch.
    assert ("torch" in sys.modules) == was_there
