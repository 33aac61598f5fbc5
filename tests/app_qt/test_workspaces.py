"""Workspaces arrange the panels for a task, and each keeps what the person has changed about it."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QSize
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot
from tests.app_qt.conftest import close_window
from tests.helpers.window import make_window

from subflow_app.qt.actions.choices import DEFAULT_WORKSPACE, PANELS, WORKSPACES
from subflow_app.qt.main_window import MainWindow
from subflow_app.qt.workspaces import ARRANGEMENTS


def opened(window: MainWindow) -> set[str]:
    return {name for name in PANELS if window.docks.is_open(name)}


def show(window: MainWindow, name: str) -> None:
    window.bar.trigger(f"view.workspace_{name}")


def test_every_workspace_is_arranged_and_every_panel_has_its_place() -> None:
    assert set(ARRANGEMENTS) == set(WORKSPACES)
    assert {place.name for arrangement in ARRANGEMENTS.values() for place in arrangement.places} == set(PANELS)
    for arrangement in ARRANGEMENTS.values():
        assert {place.name for place in arrangement.places} <= set(PANELS)


@pytest.mark.parametrize("name", WORKSPACES)
def test_workspace_opens_the_panels_of_its_task(window: MainWindow, name: str) -> None:
    show(window, name)

    assert opened(window) == {place.name for place in ARRANGEMENTS[name].places}
    assert window.bar[f"view.workspace_{name}"].isChecked()
    assert all(window.bar[f"view.{panel}"].isChecked() == window.docks.is_open(panel) for panel in PANELS)


@pytest.mark.parametrize("name", WORKSPACES)
def test_every_panel_can_be_opened_in_every_workspace(window: MainWindow, name: str) -> None:
    show(window, name)
    for panel in PANELS:
        window.docks.set_open(panel, False)
        window.docks.set_open(panel, True)

    assert opened(window) == set(PANELS)


def test_panels_that_are_not_shown_stay_asleep(window: MainWindow) -> None:
    for name in ("design", "analyse", "run", "lab"):
        show(window, name)
        window.workspaces.reset()

    # Filling the Train page costs time and threads.
    assert window.training_session._page is None


def test_workspace_is_found_as_it_was_left(window: MainWindow) -> None:
    window.bar.trigger("view.history")
    show(window, "analyse")
    assert "history" in opened(window)

    show(window, DEFAULT_WORKSPACE)

    assert "history" not in opened(window)


def test_reset_is_for_the_present_workspace_alone(window: MainWindow) -> None:
    window.bar.trigger("view.history")
    show(window, "design")
    window.bar.trigger("view.inspector")

    window.bar.trigger("view.reset_layout")

    assert "inspector" in opened(window)
    show(window, DEFAULT_WORKSPACE)
    assert "history" not in opened(window)
    window.bar.trigger("view.reset_layout")
    assert "history" in opened(window)


def test_all_workspaces_can_be_reset(window: MainWindow) -> None:
    window.bar.trigger("view.history")
    show(window, "design")
    window.bar.trigger("view.inspector")

    window.bar.trigger("view.reset_layouts")

    assert "inspector" in opened(window)
    show(window, DEFAULT_WORKSPACE)
    assert "history" in opened(window)


def test_workspaces_are_kept_between_sessions(qtbot: QtBot, qapp: QApplication, tmp_path: Path) -> None:
    first = make_window(qapp, tmp_path)
    first.show()
    first.bar.trigger("view.history")
    show(first, "design")
    first.bar.trigger("view.agent")
    close_window(qtbot, first)

    second = make_window(qapp, tmp_path)
    second.show()

    assert second.workspaces.current == "design"
    assert second.bar["view.workspace_design"].isChecked()
    assert "agent" in opened(second)
    show(second, DEFAULT_WORKSPACE)
    assert "history" not in opened(second)
    close_window(qtbot, second)


def test_tool_button_says_which_workspace_is_shown(window: MainWindow) -> None:
    show(window, "analyse")

    assert window.bar._workspace.text().startswith("Analyse")
    assert "Analyse" in window.bar._workspace.accessibleName()


@pytest.mark.parametrize("size", [(1280, 720), (1920, 1080), (3840, 2160)])
def test_workspaces_leave_room_for_their_panels(window: MainWindow, size: tuple[int, int]) -> None:
    window.resize(QSize(*size))
    for name in WORKSPACES:
        show(window, name)
        window.workspaces.reset()
        QApplication.processEvents()

        for panel in ARRANGEMENTS[name].places:
            widget = window.docks.content(panel.name)
            if widget.isVisible():
                assert widget.width() >= 300, (name, panel.name)
                assert widget.height() >= 130, (name, panel.name)
        if name not in ("train", "study"):  # where another page covers them
            assert window.plots.width() >= 300, name
            assert window.plots.height() >= 200, name
