"""The window from opening to closing: documents, titles, layout, unusable databases, drops."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QAbstractButton, QLabel, QToolButton
from pytestqt.qtbot import QtBot
from tests.helpers.present import child
from tests.helpers.qt_fixtures import OpenWindow
from tests.helpers.window import TWO_PATHS, ScriptedDialogs
from tests.helpers.worn_window import close_window
from tests.store.examples import record

from subflow_app.features.editor.core.scenario_edits import add_node
from subflow_app.features.editor.qt import documents
from subflow_app.features.editor.qt.template_gallery import TemplateGallery
from subflow_app.features.importing.qt.import_dialog import ImportDialog
from subflow_app.features.sweeps.qt.feature import SweepFeature
from subflow_app.foundation.settings import load_settings
from subflow_app.shell.main_window import MainWindow
from subflow_app.toolkit.workspaces import ARRANGEMENTS, DEFAULT_WORKSPACE, PANELS
from subflow_store import open_store


def edit(window: MainWindow, key: str = "seed", value: object = 42) -> None:
    documents.set_value(window.document_stack, window.documents.doc, key, value)  # type: ignore[arg-type]


def database_shown(window: MainWindow) -> str:
    """The database named in the title."""
    return window.windowTitle().partition(" · ")[2].partition(" — ")[0]


def test_window_is_there_before_plots_and_database(qtbot: QtBot, open_window: OpenWindow) -> None:
    window = open_window()
    assert window.database.store is None
    assert window.plots._stack is None

    with qtbot.waitSignal(window.loaded):
        window.load()
    qtbot.waitUntil(lambda: window.database.store is not None)
    assert window.plots._stack is not None


def test_title_marks_changes_and_undo_takes_the_mark_back(window: MainWindow) -> None:
    before = window.documents.doc.text
    assert not window.isWindowModified()
    assert window.windowTitle() == "two-paths[*] · runs.db — Subflow"

    edit(window)
    assert window.isWindowModified()

    window.bar.trigger("edit.undo")
    assert not window.isWindowModified()
    assert window.documents.doc.text == before


def test_another_document_begins_without_changes(window: MainWindow, dialogs: ScriptedDialogs, tmp_path: Path) -> None:
    edit(window, "links.wifi.rate", "9Mbit/s")
    dialogs.answer("save_path", tmp_path / "mine.toml")
    window.bar.trigger("file.save")
    window.bar.trigger("edit.undo")
    edit(window, "links.wifi.rate", "8Mbit/s")  # the same value as before: no undo step, but redo is cleared
    assert window.isWindowModified()
    assert window.document_stack.count() == 0

    dialogs.answer("ask_save_changes", "discard")
    window.documents.open_text(TWO_PATHS, "another")

    assert not window.isWindowModified()


def test_save_as_then_save(window: MainWindow, dialogs: ScriptedDialogs, tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    dialogs.answer("save_path", path)
    window.bar.trigger("file.save")  # no file yet: asks for one
    assert path.read_text() == TWO_PATHS

    edit(window)
    window.bar.trigger("file.save")  # an unexpected question would fail the test

    assert "seed = 42" in path.read_text()
    assert not window.isWindowModified()
    assert window.windowTitle().startswith("mine.toml")
    assert window.preferences.settings.recent_files == (str(path),)


def test_what_is_typed_but_not_entered_is_saved_too(
    window: MainWindow, dialogs: ScriptedDialogs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dialogs.answer("save_path", tmp_path / "mine.toml")

    def settle() -> None:
        edit(window)

    # On `settling`, the inspector commits typed text; this slot acts like a field that contains "42".
    window.documents.settling.connect(settle)
    window.bar.trigger("file.save")
    window.documents.settling.disconnect(settle)

    assert "seed = 42" in (tmp_path / "mine.toml").read_text()
    assert not window.isWindowModified()


@pytest.mark.parametrize(
    ("answer", "is_replaced", "is_saved"), [("save", True, True), ("discard", True, False), ("cancel", False, False)]
)
def test_unsaved_changes_are_asked_about(
    window: MainWindow, dialogs: ScriptedDialogs, tmp_path: Path, answer: str, is_replaced: bool, is_saved: bool
) -> None:
    path = tmp_path / "kept.toml"
    edit(window)
    dialogs.answer("ask_save_changes", answer)
    if is_saved:
        dialogs.answer("save_path", path)

    window.bar.trigger("file.new")

    assert window.documents.doc.text.startswith('format = 1\nname = "New scenario"') is is_replaced
    assert path.exists() is is_saved
    assert dialogs.asked[0][0] == "ask_save_changes"


def test_closing_with_unsaved_changes_can_be_cancelled(window: MainWindow, dialogs: ScriptedDialogs) -> None:
    edit(window)
    dialogs.answer("ask_save_changes", "cancel")

    window.bar.trigger("file.quit")

    assert window.isVisible()


def test_file_that_cannot_be_read_is_told_and_forgotten(window: MainWindow, tmp_path: Path) -> None:
    text = window.documents.doc.text
    gone = tmp_path / "gone.toml"
    window.preferences.change(window.preferences.settings.with_recent_file(gone))

    assert not window.documents.open(gone)

    assert str(gone) in window.banners.text("file")
    assert window.documents.doc.text == text
    assert window.preferences.settings.recent_files == ()


def test_example_opens_as_a_copy(window: MainWindow, dialogs: ScriptedDialogs, tmp_path: Path) -> None:
    gallery = TemplateGallery()
    gallery.search.setText("phone wi-fi lte demo")
    dialogs.answer("TemplateGallery", gallery.answer)
    gallery.deleteLater()
    window.bar.trigger("file.new_template")

    assert window.windowTitle().startswith("demo (example)")
    assert window.documents.doc.path is None
    dialogs.answer("save_path", tmp_path / "demo.toml")
    window.bar.trigger("file.save")  # asks for a file: the shipped file stays unchanged
    assert dialogs.asked[-1][1][2].name == "demo.subflow.toml"  # a double click on it opens Subflow


def test_problems_are_counted_and_the_text_is_kept(window: MainWindow) -> None:
    broken = TWO_PATHS.replace('loss = "1%"', 'loss = "120%"').replace('rate = "4Mbit/s"', 'rate = "0"')

    window.documents.open_text(broken, "broken")

    problems = child(window, QToolButton, "problems_button")
    assert problems.text() == "2 problems"
    assert not problems.isHidden()
    assert not window.bar["run.toggle"].isEnabled()
    assert window.documents.doc.text == broken
    problems.click()
    assert window.inspector.key == "links.wifi"


def test_file_is_opened_by_dropping_it(qtbot: QtBot, window: MainWindow, tmp_path: Path) -> None:
    path = tmp_path / "dropped.toml"
    path.write_text(TWO_PATHS)
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(path))])
    buttons, keys = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    enter = QDragEnterEvent(QPoint(5, 5), Qt.DropAction.CopyAction, data, buttons, keys)
    window.dragEnterEvent(enter)
    assert enter.isAccepted()

    window.dropEvent(QDropEvent(QPointF(5, 5), Qt.DropAction.CopyAction, data, buttons, keys))

    qtbot.waitUntil(lambda: window.documents.doc.path == path)


def test_other_files_are_refused_with_what_can_be_dropped(window: MainWindow, tmp_path: Path) -> None:
    before = window.documents.doc
    (tmp_path / "folder").mkdir()

    (tmp_path / "picture.png").write_bytes(b"\x89PNG\r\n\x1a\n\0\0\0")

    window.drops.open([tmp_path / "picture.png", tmp_path / "folder"])

    assert window.documents.doc is before
    assert "picture.png is a picture; allowed: capture, qlog file" in window.banners.text("import")
    assert "folder is a folder" in window.banners.text("file")


def test_measured_trace_is_imported_by_dropping_it(qtbot: QtBot, window: MainWindow, tmp_path: Path) -> None:
    path = tmp_path / "bench.csv"
    path.write_text("t_ms;window\n100;10\n200;11\n")
    window.drops.open([path])
    qtbot.waitUntil(lambda: window.findChild(ImportDialog) is not None)
    dialog = child(window, ImportDialog)
    assert dialog.windowTitle() == "Import bench.csv"
    qtbot.waitUntil(lambda: dialog.told.text() != "Reading…")
    dialog.reject()


def test_web_page_is_imported_by_dropping_it(window: MainWindow, tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    path.write_text("a page without runs")
    window.drops.open([path])
    assert "page.html" in window.banners.text("import")


def test_database_is_opened_by_dropping_it(qtbot: QtBot, window: MainWindow, tmp_path: Path) -> None:
    window.drops.open([tmp_path / "Übung 3.subflow"])

    qtbot.waitUntil(lambda: not window.database.is_opening)
    assert window.database.path == tmp_path / "Übung 3.subflow"


def test_of_several_scenarios_one_opens_and_the_others_are_at_hand(window: MainWindow, tmp_path: Path) -> None:
    files = [tmp_path / name for name in ("one.toml", "two.toml", "three.toml")]
    for file in files:
        file.write_text(TWO_PATHS)

    window.drops.open(files)

    assert window.documents.doc.path == files[0]
    assert window.preferences.settings.recent_files == tuple(map(str, files))
    assert "2 further scenarios" in window.banners.text("file")


# ---- layout ----


@pytest.mark.own_window
def test_panels_close_by_menu_and_button_and_come_back(qtbot: QtBot, window: MainWindow) -> None:
    def is_closed(name: str) -> bool:
        return not window.docks.is_open(name)

    is_default = {name: window.docks.is_open(name) for name in PANELS}
    for name in PANELS:
        window.docks.set_open(name, True)
        window.bar.trigger(f"view.{name}")
        assert not window.docks.is_open(name)
        assert not window.bar[f"view.{name}"].isChecked()

    window.bar.trigger("view.reset_layout")

    assert {name: window.docks.is_open(name) for name in PANELS} == is_default
    assert {name: window.bar[f"view.{name}"].isChecked() for name in PANELS} == is_default

    for name in PANELS:
        tab = window.docks._panels[name].dock.tabWidget()
        close = child(tab, QAbstractButton, "tabCloseButton")
        assert not close.icon().isNull()
        assert close.width() >= 14

        close.click()

        qtbot.waitUntil(partial(is_closed, name))
        assert not window.bar[f"view.{name}"].isChecked()


def test_window_state_that_is_damaged_is_ignored(open_window: OpenWindow, tmp_path: Path) -> None:
    (tmp_path / "window.ini").write_bytes(b"[General]\nversion=1\ngeometry=nonsense\nlayout=@ByteArray(\\x1)\n")

    window = open_window()

    is_open = {name for name in PANELS if window.docks.is_open(name)}
    assert is_open == {place.name for place in ARRANGEMENTS[DEFAULT_WORKSPACE].places if place.is_open}


# ---- unusable databases ----


def load_with(open_window: OpenWindow, database: Path, **options: Any) -> MainWindow:
    window = open_window(loads=True, database=database, **options)
    window.documents.open_text(TWO_PATHS, "two-paths")
    window.bar.trigger("run.speed_express")
    return window


def damaged(path: Path) -> None:
    path.write_bytes(b"this is not a database" * 400)


def newer(path: Path) -> None:
    open_store(path).close()
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA user_version = 9999")
    connection.close()


@pytest.mark.parametrize("spoil", [damaged, newer])
def test_window_works_without_a_database(
    qtbot: QtBot, open_window: OpenWindow, dialogs: ScriptedDialogs, tmp_path: Path, spoil: Callable[[Path], None]
) -> None:
    database = tmp_path / "spoilt.db"
    spoil(database)
    before = database.read_bytes()
    window = load_with(open_window, database, dialogs=dialogs)
    assert str(database) in window.banners.text("database")

    with qtbot.waitSignal(window.runs.ended):
        window.bar.trigger("run.toggle")

    assert window.shown.count == 1
    assert len(window.plots.stack.curves) == 3
    assert window.bar["file.export_data"].isEnabled()
    assert database.read_bytes() == before
    # No database contains the run: closing writes its data to files and reports the folder.
    window.close()
    qtbot.waitUntil(lambda: not window.isVisible())
    written = {path.name for path in Path(dialogs.told[-1][2]).iterdir()}
    assert {"subflows.csv", "flows.csv", "links.csv", "summary.json", "scenario.toml"} <= written


def test_other_database_can_be_chosen_after_a_failure(
    qtbot: QtBot, open_window: OpenWindow, dialogs: ScriptedDialogs, tmp_path: Path
) -> None:
    damaged(tmp_path / "spoilt.db")
    window = load_with(open_window, tmp_path / "spoilt.db", dialogs=dialogs)
    dialogs.answer("database_path", tmp_path / "other.db")

    window.banners.press("database", "Choose another file…")
    qtbot.waitUntil(lambda: window.database.store is not None)

    assert window.banners.text("database") == ""
    assert database_shown(window) == "other.db"
    assert load_settings(tmp_path / "settings.json").database == str(tmp_path / "other.db")
    with qtbot.waitSignal(window.runs.ended):
        window.bar.trigger("run.toggle")
    assert [run.status for run in window.history.runs()] == ["finished"]
    window.close_at_once()
    assert dialogs.told == []


def test_started_on_a_database_the_usual_one_is_kept(
    qtbot: QtBot, open_window: OpenWindow, dialogs: ScriptedDialogs, tmp_path: Path
) -> None:
    def usual() -> str:
        return load_settings(tmp_path / "settings.json").database

    window = open_window(dialogs=dialogs)
    window.database.start_on(tmp_path / "Übung 4.subflow")
    window.load()
    qtbot.waitUntil(lambda: not window.database.is_opening)

    assert window.database.path == tmp_path / "Übung 4.subflow"
    assert database_shown(window) == "Übung 4.subflow"
    assert usual() == str(tmp_path / "runs.db")
    # A chosen database becomes the usual one.
    dialogs.answer("database_path", tmp_path / "Übung 4.subflow")
    with qtbot.waitSignal(window.database.opened):
        window.bar.trigger("file.open_database")
    assert usual() == str(tmp_path / "Übung 4.subflow")


def test_failed_database_keeps_the_one_before(qtbot: QtBot, window: MainWindow, dialogs, tmp_path: Path) -> None:
    damaged(tmp_path / "spoilt.db")
    dialogs.answer("database_path", tmp_path / "spoilt.db")

    window.bar.trigger("file.open_database")
    qtbot.waitUntil(lambda: "database" in window.banners.topics())

    assert window.database.store is not None
    assert window.database.path == tmp_path / "runs.db"
    assert "The database from before stays open." in window.banners.text("database")


def test_read_only_database_shows_its_runs_and_takes_none(open_window: OpenWindow, tmp_path: Path) -> None:
    database = tmp_path / "shared.db"
    with open_store(database) as store:
        record(store)
    # File permissions do not affect root, so the store is opened read-only as after a refusal.
    window = open_window()
    window.database.wanted = database
    window.database._on_opened(database, open_store(database, read_only=True), None)

    assert "cannot be written" in window.banners.text("database")
    assert len(window.history.runs()) == 1
    window.history.select([window.history.runs()[0].id])
    assert window.bar["history.open"].isEnabled()
    for action in ("history.rename", "history.tag", "history.note", "history.delete"):
        assert not window.bar[action].isEnabled()
    window.bar.trigger("history.open")
    assert window.shown.count == 1


def test_a_damaged_database_can_be_checked_and_salvaged(qtbot: QtBot, window: MainWindow, tmp_path: Path) -> None:
    path = tmp_path / "damaged.db"
    with open_store(path) as store:
        record(store)
    path.write_bytes(path.read_bytes().replace(b"CREATE TABLE run_tag", b"CREATE T\xffBLE run_tag"))

    window.database.open(path)
    qtbot.waitUntil(lambda: "database" in window.banners.topics())
    assert {"Check…", "Salvage…"} <= set(window.banners._shown["database"].buttons)


def test_copy_of_the_database(qtbot: QtBot, window: MainWindow, dialogs, run_once, tmp_path: Path) -> None:
    run_once()
    dialogs.answer("save_path", tmp_path / "copy.db")

    with qtbot.waitSignal(window.database.copied):
        window.bar.trigger("file.copy_database")

    with open_store(tmp_path / "copy.db", read_only=True) as copy:
        assert [run.name for run in copy.runs()] == ["Two paths"]
    assert str(tmp_path / "copy.db") in window.banners.text("copied")


def test_what_covers_the_plots_makes_way_for_runs(qtbot: QtBot, window: MainWindow, run_once) -> None:
    first, second = run_once(), run_once()
    window.workspaces.go_to("sweeps")
    for run, action in ((first, "history.open"), (second, "history.overlay"), (second, "run.toggle")):
        window.docks.raise_panel("sweeps")
        assert not window.plots.isVisible()
        window.history.select([run])
        window.bar.trigger(action)
        qtbot.waitUntil(window.plots.isVisible)
    qtbot.waitUntil(lambda: not window.runs.is_running)


def test_a_feature_with_unsaved_work_keeps_it_open(window: MainWindow, monkeypatch: pytest.MonkeyPatch) -> None:
    feature = next(iter(window.features))
    monkeypatch.setattr(feature, "may_close", lambda: False)
    window.close()
    assert window.isVisible()


def test_closing_during_start_up_leaves_nothing_open(qtbot: QtBot, open_window: OpenWindow, tmp_path: Path) -> None:
    window = open_window()
    window.load()
    close_window(qtbot, window)
    # The last process to close a database removes its write-ahead log.
    assert not (tmp_path / "runs.db-wal").exists()


def test_an_activity_that_changes_the_workspace_has_a_way_back(window: MainWindow) -> None:
    window.bar.trigger("view.workspace_run")
    assert not window.bar["view.back"].isEnabled()
    window.workspaces.go_to("gallery")
    assert window.workspaces.current == "study"
    window.banners.press("workspace", "Back to Simulation")
    assert window.workspaces.current == "run"
    assert not window.bar["view.back"].isEnabled()
    window.workspaces.enter("lab")
    window.bar.trigger("view.back")
    assert window.workspaces.current == "run"
    assert window.banners.text("workspace") == ""


def test_a_new_scenario_brings_the_canvas_into_view(window: MainWindow) -> None:
    window.bar.trigger("view.workspace_study")
    assert not window.topology.isVisible()
    window.bar.trigger("file.new")
    assert window.topology.isVisible()
    window.bar.trigger("view.back")
    assert window.workspaces.current == "study"


def test_a_parameter_study_says_what_it_needs_and_leads_there_and_back(
    window: MainWindow,
) -> None:
    def state() -> tuple[str, list[QToolButton]]:
        empty = window.features[SweepFeature].session.panel.empty
        buttons = [button for button in empty.findChildren(QToolButton) if not button.isHidden()]
        return child(empty, QLabel, "empty_title").text(), buttons

    window.document_stack.setClean()
    window.documents.new_empty()
    window.bar.trigger("view.workspace_study")
    window.docks.raise_panel("sweeps")
    title, (begin, back) = state()
    assert (title, begin.defaultAction().text()) == ("No scenario to vary yet", "Choose a template or an example…")
    assert back.text() == "Back to Simulation"
    back.click()
    assert window.workspaces.current == "run"

    # A network without a flow: the drawing is the next step, and a banner leads back.
    window.bar.trigger("view.workspace_study")
    documents.edit_parts(window.document_stack, window.documents.doc, "", lambda text: add_node(text, "host", (0, 0)))
    title, (draw, _back) = state()
    assert (title, draw.text()) == ("The scenario is not complete", "Show the network")
    draw.click()
    assert (window.workspaces.current, window.topology.isVisible()) == ("design", True)
    window.banners.press("workspace", "Back to Parameter study")
    assert window.workspaces.current == "study"

    # A complete scenario needs nothing else.
    window.document_stack.setClean()
    window.documents.new()
    title, buttons = state()
    assert title == "No sweeps yet"
    assert buttons[0].defaultAction() is window.bar["sweep.new"]

    # A scenario with problems.
    edit(window, "duration", "soon")
    title, buttons = state()
    assert (title, buttons[0].text()) == ("The scenario has problems", "Show the network")
