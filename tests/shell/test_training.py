"""Trainings and agents in the window: a page that was left open, and the plots requested by a panel."""

from __future__ import annotations

from pathlib import Path

from pytestqt.qtbot import QtBot
from tests.helpers.fake_runs import LEARNING, finished_traces
from tests.helpers.fake_trainings import FakeDesk
from tests.helpers.qt_fixtures import OpenWindow
from tests.helpers.window import ScriptedDialogs
from tests.helpers.worn_window import close_window

from subflow_app.foundation.jobs.progress import JobState
from subflow_app.shell.main_window import MainWindow


def test_an_open_page_is_filled(
    qtbot: QtBot, open_window: OpenWindow, tmp_path: Path, dialogs: ScriptedDialogs
) -> None:
    desk = FakeDesk(tmp_path / "trainings")
    first = open_window(dialogs=dialogs, desk_maker=lambda _store: desk)
    first.docks.set_open("train", True)
    close_window(qtbot, first)
    training = desk.add(JobState.RUNNING)

    second = open_window(dialogs=dialogs, desk_maker=lambda _store: desk)

    page = second.training_session.content
    assert page.isVisible()
    second.load()
    qtbot.waitUntil(lambda: page.form is not None)
    assert page.trainings == [training]


def test_a_plot_that_the_agent_panel_asks_for_is_checked_in_the_menu(window: MainWindow) -> None:
    window.plots.show_runs([finished_traces(LEARNING)])
    window.agent.content.number_chosen.emit("observation", "rtt")
    assert window.bar["view.plot_agent_observation"].isChecked()
    window.plots.show_runs([])
