"""The skeleton panel of the page on extending belongs to the window after the steps of that page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from PySide6.QtWidgets import QTableView
from pytestqt.qtbot import QtBot
from tests.helpers.skeletons import loaded_skeleton

from subflow_app.shell import main_window, menus
from subflow_app.shell.actions import ACTIONS, view
from subflow_app.shell.features import KINDS
from subflow_app.shell.main_window import MainWindow
from subflow_app.toolkit import workspaces
from subflow_app.toolkit.action_bar import ActionSpec
from subflow_app.toolkit.docks import Side
from subflow_app.toolkit.feature import Feature


@pytest.fixture
def tally(monkeypatch: pytest.MonkeyPatch) -> type[Feature]:
    """The feature of the page, with its lines in the lists."""
    kind: type[Feature] = loaded_skeleton("panel.py", "subflow_app.features.tally.qt.feature").TallyFeature
    monkeypatch.setattr(main_window, "KINDS", (*KINDS, kind))
    monkeypatch.setitem(workspaces.PANELS, kind.panel_name, ("Tally", "events", "Ctrl+Alt+Shift+F9"))
    monkeypatch.setitem(menus.SUBMENUS, "Panels", (*menus.SUBMENUS["Panels"], "view.tally"))
    run = workspaces.ARRANGEMENTS["run"]
    place = workspaces.Place(kind.panel_name, Side.TAB, "history")
    arrangements = {**workspaces.ARRANGEMENTS, "run": replace(run, places=(*run.places, place))}
    monkeypatch.setattr(workspaces, "ARRANGEMENTS", arrangements)
    return kind


@pytest.fixture
def actions(tally: type[Feature]) -> Sequence[ActionSpec[MainWindow]]:
    """Adds the action made from the line in the list of panels."""
    return (*ACTIONS, next(row for row in view.view_rows() if row.id == f"view.{tally.panel_name}"))


@pytest.mark.own_window
def test_a_panel_is_a_file_and_a_line_in_three_lists(tally: type[Feature], window: MainWindow, qtbot: QtBot) -> None:
    assert window.docks.is_open("tally")
    window.bar.trigger("run.toggle")
    qtbot.waitUntil(lambda: window.plots.runs != () and not window.runs.is_running)
    window.docks.raise_panel("tally")
    table = window.features[tally].panel.findChild(QTableView, "tally_table")  # type: ignore[union-attr] # it has one
    assert isinstance(table, QTableView)
    marks = [mark.kind for traces in window.plots.runs for mark in traces.marks()]
    assert marks
    model = table.model()
    shown = {model.index(row, 0).data(): model.index(row, 1).data() for row in range(model.rowCount())}
    assert shown == {kind: str(marks.count(kind)) for kind in marks}
    window.bar.trigger("view.tally")
    assert not window.docks.is_open("tally")
