"""The user guide: which page opens, and what happens where none can."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QDesktopServices
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot
from tests.helpers.desk import Desk, MakeDesk
from tests.helpers.inspector import choice_editor
from tests.helpers.scripts import CONTROLLER

from subflow_app.features.editor.core.scripts import add_script
from subflow_app.features.explain.qt.feature import ExplainFeature
from subflow_app.features.guide import core as guide
from subflow_app.features.guide.qt import GuideFeature, topic_of
from subflow_app.features.playhead.qt.feature import PlayheadFeature
from subflow_app.features.script.qt.feature import ScriptFeature
from subflow_app.foundation.errors import GuideError, InputError


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


@pytest.fixture
def desk(make_desk: MakeDesk) -> Desk:
    """The guide, with the decisions and scripts that lead to it."""
    return make_desk(PlayheadFeature, ExplainFeature, GuideFeature, ScriptFeature)


def test_the_guide_opens_at_the_panel_that_has_the_keyboard(desk: Desk, desktop: Desktop, folder: Path) -> None:
    desk.docks.go_to("history")
    desk.bar.trigger("help.guide_here")
    desk.bar.trigger("help.guide")

    assert desktop.opened == [(folder / "views/history.html").as_uri(), (folder / "index.html").as_uri()]


def test_the_field_of_an_algorithm_opens_its_page(desk: Desk, desktop: Desktop, folder: Path) -> None:
    controller = choice_editor(desk.inspector, "flows.download.controller")
    assert topic_of(desk, controller) == "controller/lia"
    assert topic_of(desk, choice_editor(desk.inspector, "flows.download.scheduler")) == "scheduler/minrtt"
    assert topic_of(desk, desk.inspector.outline_view) == "panel/inspector"
    assert topic_of(desk, desk) == ""
    assert topic_of(desk, desk.plots.stack) == "panel/plots"

    controller.setFocus()
    QTest.keyClick(controller, Qt.Key.Key_F1, Qt.KeyboardModifier.ShiftModifier)

    assert desktop.opened == [(folder / "algorithms/lia.html").as_uri()]


def test_the_field_of_a_script_opens_what_is_said_of_scripts(desk: Desk) -> None:
    text = add_script(desk.documents.doc.text, "controller", "mine", content=CONTROLLER).text
    desk.documents.open_text(text.replace('controller = "lia"', 'controller = "mine"'), "own")
    controller = choice_editor(desk.inspector, "flows.download.controller")
    assert controller.currentText() == "mine"
    assert topic_of(desk, controller) == "section/script"


def test_an_anchor_is_part_of_the_address(desk: Desk, desktop: Desktop, folder: Path) -> None:
    desk.features[GuideFeature].show("command/run")
    assert desktop.opened == [f"{(folder / 'command-line.html').as_uri()}#command-run"]


def test_short_help_leads_to_the_page_with_more(desk: Desk, desktop: Desktop, folder: Path) -> None:
    desk.help.show_page("history")
    desk.help.more.click()
    desk.help.show_page("help")
    desk.help.more.click()

    assert desktop.opened[0] == (folder / "views/history.html").as_uri()
    assert len(desktop.opened) == 2


def test_without_a_browser_it_says_where_the_page_is(desk: Desk, desktop: Desktop, folder: Path) -> None:
    desktop.has_browser = False
    desk.features[GuideFeature].show("controller/olia")
    assert str(folder / "algorithms/olia.html") in desk.banners.text("guide")


def test_a_guide_that_cannot_be_built_here_says_how_it_comes_to_be(
    desk: Desk, desktop: Desktop, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "index.html").unlink()
    monkeypatch.setattr(guide, "can_build_guide", lambda: False)

    desk.bar.trigger("help.guide")

    assert guide.BUILD_COMMAND in desk.banners.text("action")
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
    desk: Desk, qtbot: QtBot, desktop: Desktop, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "index.html").unlink()
    monkeypatch.setattr(guide, "can_build_guide", lambda: True)
    build = FakeBuild(folder)
    monkeypatch.setattr(guide, "GuideBuild", lambda: build)
    feature = desk.features[GuideFeature]

    feature.show("panel/history")
    assert desk.statusBar().currentMessage() == "Building the user guide: 40 %"
    feature.show("controller/lia")  # the page asked for last is opened
    build.may_end.set()

    qtbot.waitUntil(lambda: bool(desktop.opened))
    assert desktop.opened == [(folder / "algorithms/lia.html").as_uri()]
    assert desk.statusBar().currentMessage() == ""


def test_a_build_that_fails_is_told(
    desk: Desk, qtbot: QtBot, desktop: Desktop, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "index.html").unlink()
    monkeypatch.setattr(guide, "can_build_guide", lambda: True)
    build = FakeBuild(folder, "the guide cannot be built: no room")
    build.may_end.set()
    monkeypatch.setattr(guide, "GuideBuild", lambda: build)

    desk.bar.trigger("help.guide")

    qtbot.waitUntil(lambda: "no room" in desk.banners.text("action"))
    assert desktop.opened == []


def test_an_unknown_topic_is_no_page(desk: Desk, folder: Path) -> None:
    with pytest.raises(InputError, match="no topic"):
        desk.features[GuideFeature].show("nonsense")
