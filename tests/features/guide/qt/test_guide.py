"""The user guide: the pages that open, and the message if no page can open."""

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
from subflow_app.foundation.jobs.job import Job


class Desktop:
    """Records the pages that a browser would open."""

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
    """A built guide with a few pages."""
    made = tmp_path / "guide"
    for page in ("index", "views/history", "algorithms/lia", "algorithms/olia", "schedulers/minrtt", "command-line"):
        (made / page).parent.mkdir(parents=True, exist_ok=True)
        (made / f"{page}.html").write_text("a page")
    monkeypatch.setattr(guide, "guide_folder", lambda: made if (made / "index.html").exists() else None)
    return made


@pytest.fixture
def desk(make_desk: MakeDesk) -> Desk:
    """A desk with the guide, and with the decisions and scripts that open it."""
    return make_desk(PlayheadFeature, ExplainFeature, GuideFeature, ScriptFeature)


def test_the_guide_opens_at_the_panel_that_has_the_keyboard(desk: Desk, desktop: Desktop, folder: Path) -> None:
    desk.docks.go_to("history")
    desk.bar.trigger("help.guide_here")
    desk.bar.trigger("help.guide")
    desk.features[GuideFeature].show("command/run")
    # Short help leads to the full page.
    for page in ("history", "help"):
        desk.help.show_page(page)
        desk.help.more.click()

    history, start, command = (folder / f"{name}.html" for name in ("views/history", "index", "command-line"))
    assert desktop.opened[:3] == [history.as_uri(), start.as_uri(), f"{command.as_uri()}#command-run"]
    assert (desktop.opened[3], len(desktop.opened)) == (history.as_uri(), 5)
    with pytest.raises(InputError, match="no topic"):
        desk.features[GuideFeature].show("nonsense")
    # Without a browser, a banner shows the path of the page.
    desktop.has_browser = False
    desk.features[GuideFeature].show("controller/olia")
    assert str(folder / "algorithms/olia.html") in desk.banners.text("guide")


def test_the_field_of_an_algorithm_opens_its_page(desk: Desk, desktop: Desktop, folder: Path) -> None:
    controller = choice_editor(desk.inspector, "flows.download.controller")
    assert topic_of(desk, controller) == "controller/lia"
    assert topic_of(desk, choice_editor(desk.inspector, "flows.download.scheduler")) == "scheduler/minrtt"
    assert topic_of(desk, desk.inspector.outline_button) == "panel/inspector"
    assert topic_of(desk, desk) == ""
    assert topic_of(desk, desk.plots.stack) == "panel/plots"

    controller.setFocus()
    QTest.keyClick(controller, Qt.Key.Key_F1, Qt.KeyboardModifier.ShiftModifier)

    assert desktop.opened == [(folder / "algorithms/lia.html").as_uri()]
    # The field of a script leads to the section on scripts.
    text = add_script(desk.documents.doc.text, "controller", "mine", content=CONTROLLER).text
    desk.documents.open_text(text.replace('controller = "lia"', 'controller = "mine"'), "own")
    assert topic_of(desk, choice_editor(desk.inspector, "flows.download.controller")) == "section/script"


def test_without_a_guide_it_says_how(
    desk: Desk, desktop: Desktop, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "index.html").unlink()
    monkeypatch.setattr(guide, "can_build_guide", lambda: False)

    desk.bar.trigger("help.guide")

    assert guide.BUILD_COMMAND in desk.banners.text("action")
    assert desktop.opened == []


class FakeBuild(Job):
    """Builds when the test permits, or fails."""

    def __init__(self, folder: Path, problem: str = "") -> None:
        super().__init__()
        self.folder, self.problem = folder, problem
        self.may_end = threading.Event()
        self._tell(share=0.4)

    def _work(self) -> None:
        self.may_end.wait(20)
        if self.problem:
            raise GuideError(self.problem)
        (self.folder / "index.html").write_text("built")
        self._tell(share=1.0)


def test_a_guide_that_is_not_built_is_built_in_the_background_and_opened(
    desk: Desk, qtbot: QtBot, desktop: Desktop, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "index.html").unlink()
    monkeypatch.setattr(guide, "can_build_guide", lambda: True)
    failing, build = FakeBuild(folder, "no room"), FakeBuild(folder)
    builds = iter((failing, build))
    monkeypatch.setattr(guide, "GuideBuild", lambda: next(builds))
    failing.may_end.set()
    feature = desk.features[GuideFeature]
    desk.bar.trigger("help.guide")
    qtbot.waitUntil(lambda: "no room" in desk.banners.text("action"))
    assert desktop.opened == []

    feature.show("panel/history")
    assert desk.statusBar().currentMessage() == "Building the user guide: 40 %"
    feature.show("controller/lia")  # the page requested last opens
    build.may_end.set()

    qtbot.waitUntil(lambda: bool(desktop.opened))
    assert desktop.opened == [(folder / "algorithms/lia.html").as_uri()]
    assert desk.statusBar().currentMessage() == ""
