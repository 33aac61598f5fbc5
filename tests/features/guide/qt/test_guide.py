"""The user guide from the window: which page opens, and what happens where none can."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QDesktopServices
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot
from tests.helpers.inspector import choice_editor
from tests.helpers.scripts import CONTROLLER

from subflow_app.features.editor.core.scripts import add_script
from subflow_app.features.guide import core as guide
from subflow_app.features.guide.qt import GuideFeature, topic_of
from subflow_app.foundation.errors import GuideError, InputError
from subflow_app.shell.main_window import MainWindow


class Desktop:
    """Where the guide would open."""

    def __init__(self) -> None:
        self.opened: list[str] = []
        self.has_browser = True

    def open(self, url) -> bool:
        self.opened.append(url.toString())
        return self.has_browser


@pytest.fixture
def desktop(monkeypatch: pytest.MonkeyPatch) -> Desktop:
    made = Desktop()
    monkeypatch.setattr(QDesktopServices, "openUrl", made.open)
    return made


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A guide that is built, with a page or two."""
    made = tmp_path / "guide"
    for page in ("index", "views/history", "algorithms/lia", "algorithms/olia", "schedulers/minrtt", "command-line"):
        (made / page).parent.mkdir(parents=True, exist_ok=True)
        (made / f"{page}.html").write_text("a page")
    monkeypatch.setattr(guide, "guide_folder", lambda: made if (made / "index.html").exists() else None)
    return made


def test_the_guide_opens_at_the_panel_that_has_the_keyboard(window: MainWindow, desktop: Desktop, folder: Path) -> None:
    window.docks.go_to("history")
    window.bar.trigger("help.guide_here")
    window.bar.trigger("help.guide")

    assert desktop.opened == [(folder / "views/history.html").as_uri(), (folder / "index.html").as_uri()]


def test_the_field_of_an_algorithm_opens_its_page(window: MainWindow, desktop: Desktop, folder: Path) -> None:
    window.bar.trigger("view.workspace_design")
    controller = choice_editor(window.inspector, "flows.download.controller")
    assert topic_of(window, controller) == "controller/lia"
    assert topic_of(window, choice_editor(window.inspector, "flows.download.scheduler")) == "scheduler/minrtt"
    assert topic_of(window, window.inspector.outline_view) == "panel/inspector"
    assert topic_of(window, window) == ""
    assert topic_of(window, window.plots.stack) == "panel/plots"

    controller.setFocus()
    QTest.keyClick(controller, Qt.Key.Key_F1, Qt.KeyboardModifier.ShiftModifier)

    assert desktop.opened == [(folder / "algorithms/lia.html").as_uri()]


def test_the_field_of_a_script_opens_what_is_said_of_scripts(window: MainWindow) -> None:
    text = add_script(window.documents.doc.text, "controller", "mine", content=CONTROLLER).text
    window.documents.open_text(text.replace('controller = "lia"', 'controller = "mine"'), "own")
    window.bar.trigger("view.workspace_design")
    controller = choice_editor(window.inspector, "flows.download.controller")
    assert controller.currentText() == "mine"
    assert topic_of(window, controller) == "section/script"


def test_an_anchor_is_part_of_the_address(window: MainWindow, desktop: Desktop, folder: Path) -> None:
    window.features[GuideFeature].show("command/run")
    assert desktop.opened == [f"{(folder / 'command-line.html').as_uri()}#command-run"]


def test_short_help_leads_to_the_page_with_more(window: MainWindow, desktop: Desktop, folder: Path) -> None:
    window.help.show_page("history")
    window.help.more.click()
    window.help.show_page("help")
    window.help.more.click()

    assert desktop.opened[0] == (folder / "views/history.html").as_uri()
    assert len(desktop.opened) == 2


def test_without_a_browser_it_says_where_the_page_is(window: MainWindow, desktop: Desktop, folder: Path) -> None:
    desktop.has_browser = False
    window.features[GuideFeature].show("controller/olia")
    assert str(folder / "algorithms/olia.html") in window.banners.text("guide")


def test_a_guide_that_cannot_be_built_here_says_how_it_comes_to_be(
    window: MainWindow, desktop: Desktop, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "index.html").unlink()
    monkeypatch.setattr(guide, "can_build_guide", lambda: False)

    window.bar.trigger("help.guide")

    assert guide.BUILD_COMMAND in window.banners.text("action")
    assert desktop.opened == []


class FakeBuild:
    """Builds what is needed as soon as it may, or fails."""

    progress = 0.4

    def __init__(self, folder: Path, problem: str = "") -> None:
        self.folder, self.problem = folder, problem
        self.may_end = threading.Event()

    def run(self) -> Path:
        self.may_end.wait(20)
        if self.problem:
            raise GuideError(self.problem)
        (self.folder / "index.html").write_text("built")
        return self.folder

    def stop(self) -> None:
        """There is nothing to stop."""


def test_a_guide_that_is_not_built_is_built_in_the_background_and_opened(
    window: MainWindow, qtbot: QtBot, desktop: Desktop, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "index.html").unlink()
    monkeypatch.setattr(guide, "can_build_guide", lambda: True)
    build = FakeBuild(folder)
    monkeypatch.setattr(guide, "GuideBuild", lambda: build)
    feature = window.features[GuideFeature]

    feature.show("panel/history")
    assert window.statusBar().currentMessage() == "Building the user guide: 40 %"
    feature.show("controller/lia")  # the page asked for last is opened
    build.may_end.set()

    qtbot.waitUntil(lambda: bool(desktop.opened))
    assert desktop.opened == [(folder / "algorithms/lia.html").as_uri()]
    assert window.statusBar().currentMessage() == ""


def test_a_build_that_fails_is_told(
    window: MainWindow, qtbot: QtBot, desktop: Desktop, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "index.html").unlink()
    monkeypatch.setattr(guide, "can_build_guide", lambda: True)
    build = FakeBuild(folder, "the guide cannot be built: no room")
    build.may_end.set()
    monkeypatch.setattr(guide, "GuideBuild", lambda: build)

    window.bar.trigger("help.guide")

    qtbot.waitUntil(lambda: "no room" in window.banners.text("action"))
    assert desktop.opened == []


def test_an_unknown_topic_is_no_page(window: MainWindow, folder: Path) -> None:
    with pytest.raises(InputError, match="no topic"):
        window.features[GuideFeature].show("nonsense")
