"""Unsaved changes are kept beside their scenario, and changes of an ended process are offered."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot
from tests.helpers.desk import Desk, MakeDesk
from tests.helpers.present import present
from tests.helpers.window import TWO_PATHS, ScriptedDialogs

from subflow_app.features.editor.core.recovery import find_orphans
from subflow_app.features.editor.qt import documents
from subflow_app.features.editor.qt.recovery import DifferencesDialog
from subflow_store.liveness import this_process


def edit(desk: Desk, rate: str = "9Mbit/s") -> None:
    documents.set_value(desk.document_stack, desk.documents.doc, "links.wifi.rate", rate)
    desk.recovery.settle()


def offers(desk: Desk) -> list[str]:
    return [topic for topic in desk.banners.topics() if topic.startswith("recovery_")]


def folder_of(desk: Desk) -> Path:
    return desk.recovery.file.file.parent


def die(folder: Path) -> None:
    """Makes the recovery files in a folder belong to an ended process."""
    for file in folder.glob("*.json"):
        entries = json.loads(file.read_text())
        entries["process"] = dataclasses.asdict(dataclasses.replace(this_process(), started="1"))
        file.write_text(json.dumps(entries))


@pytest.fixture
def desk(make_desk: MakeDesk) -> Desk:
    """A desk that keeps unsaved changes."""
    made = make_desk()
    assert not made.recovery.file.file.exists()
    return made


@pytest.fixture
def crashed(qtbot: QtBot, desk: Desk, tmp_path: Path) -> Iterator[Desk]:
    """A desk that offers the unsaved change of `mine.toml` from another desk that ended without saving."""
    folder = folder_of(desk)
    path = tmp_path / "mine.toml"
    path.write_text(TWO_PATHS)
    desk.documents.open(path)
    edit(desk)
    dead = folder / "dead.json"
    desk.recovery.file.file.rename(dead)
    die(folder)
    desk.document_stack.undo()
    desk.recovery.offer()
    qtbot.waitUntil(lambda: bool(offers(desk)))
    yield desk
    dead.unlink(missing_ok=True)


def test_recovery_file_follows_the_edits(desk: Desk) -> None:
    edit(desk)
    assert "9Mbit/s" in desk.recovery.file.file.read_text()

    desk.document_stack.undo()
    desk.recovery.settle()

    assert not desk.recovery.file.file.exists()


def test_saving_removes_the_recovery_file(desk: Desk, dialogs: ScriptedDialogs, tmp_path: Path) -> None:
    edit(desk)
    dialogs.answer("save_path", tmp_path / "mine.toml")
    desk.documents.save()
    desk.recovery.settle()

    assert not desk.recovery.file.file.exists()


def test_two_windows_do_not_disturb_each_other(desk: Desk, make_desk: MakeDesk) -> None:
    edit(desk)
    other = make_desk()
    other.recovery.offer()
    other.wait_for_workers()
    other.documents.open_text(TWO_PATHS, "other")
    edit(other, "11Mbit/s")

    assert offers(other) == []
    assert "11Mbit/s" in other.recovery.file.file.read_text()
    assert "9Mbit/s" in desk.recovery.file.file.read_text()
    other.document_stack.undo()
    other.close_at_once()
    assert desk.recovery.file.file.exists()


def test_discarded_changes_are_not_offered_again(crashed: Desk) -> None:
    crashed.banners.press(offers(crashed)[0], "Discard")

    assert find_orphans(folder_of(crashed)) == ()
    assert offers(crashed) == []


def test_differences_are_shown_and_recovered_from_there(crashed: Desk) -> None:
    crashed.banners.press(offers(crashed)[0], "Show differences…")
    dialog = present(crashed.findChild(DifferencesDialog))
    assert '+rate = "9Mbit/s"' in dialog.text.toPlainText()

    dialog.reject()
    assert len(offers(crashed)) == 1
    crashed.banners.press(offers(crashed)[0], "Show differences…")
    (dialog,) = (found for found in crashed.findChildren(DifferencesDialog) if found.isVisible())
    dialog.accept()

    assert crashed.documents.doc.value("links.wifi.rate") == "9Mbit/s"
    assert find_orphans(folder_of(crashed)) == ()


def test_keeping_the_present_scenario_keeps_the_offer(crashed: Desk, dialogs: ScriptedDialogs) -> None:
    edit(crashed, "3Mbit/s")
    dialogs.answer("ask_save_changes", "cancel")

    crashed.banners.press(offers(crashed)[0], "Recover")

    assert crashed.documents.doc.value("links.wifi.rate") == "3Mbit/s"
    assert len(offers(crashed)) == 1


def test_unwritable_folder_is_said_and_work_goes_on(qtbot: QtBot, make_desk: MakeDesk, tmp_path: Path) -> None:
    (tmp_path / "recovery").write_text("a file where the folder should be")
    desk = make_desk()
    edit(desk)
    qtbot.waitUntil(lambda: "recovery" in desk.banners.topics())
    desk.banners.close_banner("recovery")
    edit(desk, "10Mbit/s")
    QApplication.processEvents()

    assert desk.documents.doc.value("links.wifi.rate") == "10Mbit/s"
    assert desk.banners.text("recovery") == ""


def test_autosave_can_be_switched_off(desk: Desk) -> None:
    edit(desk)
    desk.preferences.change(dataclasses.replace(desk.preferences.settings, autosave=False))
    desk.recovery.settle()

    assert not desk.recovery.file.file.exists()
