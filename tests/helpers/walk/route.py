"""The route of the walk: every menu, drop-down, context menu, dialog, panel and workspace, and the command palette."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QApplication,
    QComboBox,
    QHeaderView,
    QLineEdit,
    QMenu,
    QMenuBar,
    QPushButton,
    QTabBar,
    QToolButton,
    QToolTip,
    QWidget,
)
from shiboken6 import isValid
from tests.helpers.walk.eyes import faults, is_inner, path_of
from tests.helpers.walk.hands import Hands, front_dialog

from subflow_app.shell.selftest.check import CheckError, require
from subflow_app.shell.selftest.window_story import Until, play
from subflow_app.toolkit.workspaces import PANELS, WORKSPACES

if TYPE_CHECKING:
    from subflow_app.shell.main_window import MainWindow

SCENARIO = """\
format = 1
name = "Two paths"
duration = "2s"
seed = 7

[nodes.client]
[nodes.hub]
kind = "router"
[nodes.server]

[links.wifi]
ends = ["client", "hub"]
rate = "8Mbit/s"
delay = "10ms"
queue = "20pkt"
loss = "1%"

[links.wire]
ends = ["hub", "server"]
rate = "100Mbit/s"
delay = "1ms"
queue = "100pkt"

[links.lte]
ends = ["client", "server"]
rate = "4Mbit/s"
delay = "30ms"
queue = "40pkt"

[flows.download]
kind = "mptcp"
from = "server"
to = "client"
controller = "lia"
paths = [["wire", "wifi"], ["lte"]]

[[events]]
at = "1s"
link = "wifi"
rate = "2Mbit/s"

[[notes]]
at = [0, -160]
text = "A short scenario."
"""
"""One part of each kind, because each kind has a separate menu on the canvas."""

# A dialog or tooltip that has not opened after this time will not open.
_OPENS_S = 1.0


Depth = Literal["whole", "texts"]
"""Everything; or all texts, except those in panels that take seconds to fill."""
_SLOW_PANELS = ("gallery", "arena")


class Walk:
    """One walk; `story` is for `window_story.play`.

    Attributes:
        found: the faults, each with the place of its first occurrence.
        place: the current place.
        seen: number of places checked.
    """

    def __init__(self, depth: Depth = "whole", *, strings: int = 200, pictures: Path | None = None) -> None:
        """Prepares a walk.

        Args:
            depth: extent of the walk.
            strings: number of texts typed into the palette on the whole walk.
            pictures: a folder for a picture of the screen at each place.
        """
        self.found: dict[str, str] = {}
        self.place = "the start"
        self.seen = 0
        self.hands = Hands()
        self._depth, self._strings, self._pictures = depth, strings, pictures
        self._gone_through: set[str] = set()
        self._hovered: set[str] = set()
        self._questions: set[str] = set()

    def told(self) -> list[str]:
        """The faults, one per line."""
        return [f"{fault} ({place})" for fault, place in self.found.items()]

    def story(self, window: MainWindow) -> Iterator[Until]:
        """The whole walk."""
        self.window = window
        try:
            yield from self._all()
        except Exception as error:
            error.add_note("\n".join((f"on the walk at: {self.place}", *self.told())))
            raise

    def _all(self) -> Iterator[Until]:
        window = self.window
        yield from self.hands.settle()
        yield from self._look("the first start", window)
        yield from self._menus("before a run")
        yield from self._run(1)
        for name in WORKSPACES:
            yield from self._choose(f"view.workspace_{name}")
            yield from self._at(f"workspace {name}")
        yield from self._panels()
        yield from self._canvas()
        yield from self._history()
        if self._depth == "whole":
            yield from self._menus("with runs")
            yield from self._palette()
            yield from self._training()
            for mode in ("dark", "contrast", "system", "light"):
                yield from self._choose(f"view.theme_{mode}")
                yield from self._look(f"theme {mode}", window)
        yield from self._dialogs()
        yield from self._settings()

    # ---- ways ----

    def _choose(self, action_id: str) -> Iterator[Until]:
        yield from choose(self.hands, self.window, action_id)

    def _menus(self, when: str) -> Iterator[Until]:
        bar = self.window.menuBar()
        for title in bar.actions():
            menu = _menu_of(title)
            assert menu is not None
            yield from self.hands.click(bar, bar.actionGeometry(title).center())
            yield Until(f"the menu {menu.title()}", menu.isVisible)
            yield from self._through(menu, f"menu {menu.title().replace('&', '')} {when}")
            yield from self._close_popups()

    def _through(self, menu: QMenu, name: str) -> Iterator[Until]:
        yield from self._look(name, menu)
        for action in menu.actions():
            if action.isSeparator() or not action.isVisible():
                continue
            place = menu.actionGeometry(action).center()
            below = _menu_of(action)
            yield from self.hands.hover(menu, place)
            if below is None or not action.isEnabled() or below.isEmpty():
                continue
            if not below.isVisible():
                yield from self.hands.click(menu, place)
            yield Until(f"the menu {below.title()}", below.isVisible)
            yield from self._through(below, f"{name} › {below.title().replace('&', '')}")
            yield from self.hands.press("Left")

    def _at(self, place: str) -> Iterator[Until]:
        """Checks the window and everything that can be opened or hovered over there."""
        yield from self._look(place, self.window)
        yield from self._hovers(place, self.window)
        yield from self._drop_downs(place, self.window)
        yield from self._right_clicks(place)

    def _hovers(self, place: str, root: QWidget) -> Iterator[Until]:
        for button in filter(isValid, _shown(root, QToolButton)):
            name = path_of(button)
            if name in self._hovered or is_inner(button) or not _is_whole_to_see(button):
                continue
            self._hovered.add(name)
            if not button.toolTip():
                if not button.text():
                    self._fault(f"has neither text nor tool tip: {name}", place)
                continue
            if self._depth != "whole":
                continue
            QToolTip.hideText()
            yield from self.hands.hover(button, QPoint(3, 3))
            yield from self.hands.hover(button)
            yield from self._wait_for(QToolTip.isVisible)
            tip = next((top for top in QApplication.topLevelWidgets() if top.inherits("QTipLabel")), None)
            if tip is None or not tip.isVisible():
                self._fault(f"shows no tool tip: {name}", place)
                continue
            # At once, because the tooltip disappears by itself.
            self._note(f"tool tip of {name}", tip)
        QToolTip.hideText()

    def _drop_downs(self, place: str, root: QWidget) -> Iterator[Until]:
        if self._depth != "whole":
            return
        shown: list[QAbstractButton | QComboBox] = [
            *(button for kind in (QToolButton, QPushButton) for button in _shown(root, kind) if button.menu()),
            *_shown(root, QComboBox),
        ]
        for part in filter(isValid, shown):
            name = path_of(part)
            if name in self._gone_through or not part.isEnabled() or not _is_whole_to_see(part):
                continue
            self._gone_through.add(name)
            at = QPoint(part.width() - 8, part.height() // 2)
            yield from self.hands.click(part, at)
            yield from self._popup(f"drop-down {name} in {place}")

    def _right_clicks(self, place: str) -> Iterator[Until]:
        if self._depth != "whole":
            return
        for view in filter(isValid, _shown(self.window, QAbstractItemView)):
            name = path_of(view)
            if f"menu of {name}" in self._gone_through or not view.isEnabled():
                continue
            self._gone_through.add(f"menu of {name}")
            if isinstance(view, QHeaderView):
                at = QPoint(view.viewport().width() // 4, view.viewport().height() // 2)
            else:
                at = view.visualRect(view.model().index(0, 0)).center() if view.model() is not None else QPoint(9, 9)
            yield from self._right_click(f"{name} in {place}", view.viewport(), at)
        stack = self.window.plots.stack
        for plot in stack.plots if stack.isVisible() else ():
            at = stack.mapFromScene(plot.item.sceneBoundingRect().center())
            yield from self._right_click(f"a plot in {place}", stack.viewport(), at)

    def _right_click(self, name: str, widget: QWidget, at: QPoint) -> Iterator[Until]:
        if not widget.rect().contains(at) or not widget.visibleRegion().contains(at):
            return
        yield from self.hands.click(widget, at, button=Qt.MouseButton.RightButton)
        yield from self._popup(f"context menu of {name}")

    def _popup(self, name: str) -> Iterator[Until]:
        """Checks the menu or list that has opened, if any, and closes it."""
        popup = QApplication.activePopupWidget()
        if popup is None:
            return
        if not isinstance(popup, QMenu):
            # At once, because a list closes when the widget behind it is filled anew.
            self._note(name, popup)
            yield from self._close_popups()
            return
        yield from self._through(popup, name)
        # Entries with dots open a question; those of commands in the menu bar are opened there.
        own = [action for action in popup.actions() if action.objectName() not in self.window.bar.ids()]
        question = next((a for a in own if a.text().endswith("…") and a.text() not in self._questions), None)
        if question is None or self._depth != "whole" or not question.isEnabled():
            yield from self._close_popups()
            return
        text = question.text()
        self._questions.add(text)
        yield from self.hands.click(popup, popup.actionGeometry(question).center())
        yield from self._asked(f"{text} of {name}")

    def _canvas(self) -> Iterator[Until]:
        topology = self.window.topology
        canvas = topology.canvas
        yield from self._choose("view.workspace_design")
        yield from self.hands.settle()
        note = next(key for key in topology.scene.keys_in_reading_order() if key.startswith("notes."))
        for key in ("nodes.client", "nodes.hub", "links.wifi", "links.lte", note):
            centre = topology.scene.centre_of(key)
            assert centre is not None
            at = canvas.mapFromScene(centre)
            yield from self.hands.click(canvas.viewport(), at)
            yield from self._at(f"the canvas with {key}")
            yield from self._right_click(f"{key} on the canvas", canvas.viewport(), at)
        topology.select("flows.download")
        yield from self._at("the flow in the inspector")
        yield from self._right_click("the canvas", canvas.viewport(), QPoint(6, 6))
        yield from self.hands.click(canvas.viewport(), QPoint(6, 6))
        yield from self._at("the scenario in the inspector")
        yield from self.hands.press("Esc")
        yield from self._choose("view.workspace_run")

    def _run(self, count: int) -> Iterator[Until]:
        window = self.window
        yield from self._choose("run.speed_express")
        yield from self.hands.press("F5")
        yield Until("the run to end", lambda: len(window.history.runs()) == count and not window.runs.is_running)

    def _panels(self) -> Iterator[Until]:
        window = self.window
        yield from self._choose("view.workspace_run")
        for name in PANELS:
            if name in _SLOW_PANELS and self._depth != "whole":
                continue
            if not window.docks.is_open(name):
                yield from self._choose(f"view.{name}")
            window.docks.raise_panel(name)
            yield Until(f"the panel {name} to be filled", lambda: not window.workers.is_busy)
            yield from self._at(f"panel {name}")
        yield from self._choose("view.reset_layout")

    def _history(self) -> Iterator[Until]:
        """Adds a second run and selects both, which enables comparisons."""
        yield from self._run(2)
        yield from self._choose("view.workspace_analyse")
        # In a low window the history is folded, and a search unfolds it.
        yield from self._choose("edit.find_run")
        table = self.window.history.table
        yield from self.hands.click(table.viewport(), table.visualRect(table.model().index(0, 0)).center())
        yield from self.hands.press("Ctrl+A")
        yield from self._at("two runs in the history")

    def _dialogs(self) -> Iterator[Until]:
        """Opens the dialog of each command with three dots, and closes it without an answer."""
        window = self.window
        commands = [id_ for id_ in window.bar.ids() if window.bar[id_].text().endswith("…")]
        commands += ["help.welcome", "help.shortcuts", "help.about"]
        for action_id in commands:
            if not window.bar[action_id].isEnabled() or _way_to(window.menuBar(), window.bar[action_id]) == []:
                continue
            yield from self._choose(action_id)
            yield from self._asked(f"dialog of {action_id}")

    def _asked(self, name: str) -> Iterator[Until]:
        """Walks through the opened dialog, unless the question appears in a panel."""
        yield Until("what a dialog reads", lambda: front_dialog() is not None or not self.window.workers.is_busy)
        yield from self._wait_for(lambda: front_dialog() is not None)
        dialog = front_dialog()
        if dialog is None:
            yield from self._look(name, self.window)
            return
        yield Until("what the dialog reads", lambda: not self.window.workers.is_busy)
        yield from self._look(name, dialog)
        if self._depth == "whole" and not dialog.inherits("QFileDialog"):
            for bar in filter(isValid, _shown(dialog, QTabBar)):
                for tab in range(1, bar.count()):
                    yield from self.hands.click(bar, bar.tabRect(tab).center())
                    yield from self._look(f"{name}, {bar.tabText(tab)}", dialog)
            yield from self._hovers(name, dialog)
            yield from self._drop_downs(name, dialog)
        # In a field, Escape may first undo the typed text.
        for _ in range(3):
            if front_dialog() is dialog:
                yield from self.hands.press("Esc")
        require(front_dialog() is not dialog, f"{name} cannot be closed by Escape")

    def _palette(self) -> Iterator[Until]:
        """Types parts of the names of commands, and texts that match no command."""
        yield from self.hands.press("Ctrl+K")
        yield Until("the command palette", lambda: front_dialog() is not None)
        palette = front_dialog()
        assert palette is not None
        yield from self._look("command palette", palette)
        field = palette.findChild(QLineEdit)
        assert isinstance(field, QLineEdit)
        for text in _palette_texts(self.window)[: self._strings]:
            yield from self.hands.press("Ctrl+A")
            yield from self.hands.type(text)
            require(field.text() == text, f"{text!r} was typed into the palette, which has {field.text()!r}")
            self.place = f"command palette with {text!r}"
        yield from self._look("command palette", palette)
        yield from self.hands.press("Esc")

    def _settings(self) -> Iterator[Until]:
        """Sets another language and another scale for the next start, which is a separate walk."""
        yield from self._choose("file.settings")
        yield Until("the settings", lambda: front_dialog() is not None)
        dialog = front_dialog()
        assert dialog is not None
        language = dialog.findChild(QComboBox, "setting_language")
        scale = dialog.findChild(QWidget, "setting_scale_percent")
        assert isinstance(language, QComboBox)
        assert scale is not None
        yield from self.hands.click(language)
        yield from self.hands.press("End", "Return")
        yield from self.hands.write(scale, "150")
        yield from self._look("changed settings", dialog)
        yield from self.hands.press("Return")
        yield Until("the settings to close", lambda: front_dialog() is None)
        chosen = self.window.preferences.settings
        require(chosen.scale_percent == 150, f"150 % were typed, {chosen.scale_percent} are kept")
        yield from self._look("settings for the next start", self.window)

    def _training(self) -> Iterator[Until]:
        """Starts and stops a training, which enables the actions on trainings."""
        window = self.window
        window.docks.set_open("train", True)
        window.docks.raise_panel("train")
        page = window.training_session.content
        yield Until("the form of a training", lambda: page.form is not None)
        yield from self._choose("train.start")
        yield Until("a training", lambda: bool(page.trainings))
        yield from self._at("a training under way")
        yield from self._choose("train.stop")
        yield Until("the training to stop", lambda: all(each.state.is_over for each in page.trainings))
        yield from self._at("a training that was stopped")

    # ---- inside ----

    def _look(self, place: str, root: QWidget) -> Iterator[Until]:
        yield from self.hands.settle()
        self._note(place, root)

    def _note(self, place: str, root: QWidget) -> None:
        self.place = place
        self.seen += 1
        bug = next((top for top in QApplication.topLevelWidgets() if top.objectName() == "bug"), None)
        if bug is not None:
            raise CheckError(f"Subflow has a bug: {bug.property('detailedText')}")
        require(root.isVisible(), f"{place} is not shown")
        for fault in faults(root):
            self._fault(fault, place)
        if self._pictures is not None:
            name = "".join(letter if letter.isalnum() else "-" for letter in place)
            root.screen().grabWindow(0).save(str(self._pictures / f"{self.seen:03}-{name[:80]}.png"))

    def _fault(self, fault: str, place: str) -> None:
        self.found.setdefault(fault, place)

    def _close_popups(self) -> Iterator[Until]:
        while (popup := QApplication.activePopupWidget()) is not None:
            name = path_of(popup)
            yield from self.hands.leave(popup)
            yield Until(f"{name} to close", lambda popup=popup: QApplication.activePopupWidget() is not popup)  # type: ignore[misc]

    def _wait_for(self, holds: Callable[[], bool], patience_s: float = _OPENS_S) -> Iterator[Until]:
        """Waits until the condition holds or the patience ends."""
        end = time.monotonic() + patience_s
        yield Until("what may come", lambda: holds() or time.monotonic() > end)


def _shown(root: QWidget, kind: type[QWidget]) -> list:
    """The visible parts of this kind; the caller checks again later, because they may disappear during the walk."""
    return [
        part
        for part in root.findChildren(kind)
        if part.isVisible() and part.window() is root.window() and not part.visibleRegion().isEmpty()
    ]


def _is_whole_to_see(part: QWidget) -> bool:
    return part.visibleRegion().boundingRect() == part.rect()


def _menu_of(action: QAction) -> QMenu | None:
    menu = action.menu()
    return menu if isinstance(menu, QMenu) else None


def _way_to(top: QMenuBar | QMenu, wanted: QAction) -> list[QAction]:
    """The entries to click, one after the other, to choose an action; empty if the menu does not contain it."""
    for entry in top.actions():
        if entry is wanted:
            return [entry]
        below = _menu_of(entry)
        if below is not None and (way := _way_to(below, wanted)):
            return [entry, *way]
    return []


def _palette_texts(window: MainWindow) -> list[str]:
    """Beginnings of words of the commands, panels and examples, in turn, and then texts that match none of them."""
    from subflow_app.shell.command_palette import entries_of

    titles = ["".join(letter for letter in entry.title if letter.isascii()) for entry in entries_of(window)]
    words = [word for title in titles for word in title.lower().split() if word.isalnum()]
    pieces = [word[:length] for length in (3, 4, 2, 6) for word in dict.fromkeys(words) if len(word) >= length]
    return ["tra", "zzz", "12", "%", *dict.fromkeys(pieces)]


def choose(hands: Hands, window: MainWindow, action_id: str) -> Iterator[Until]:
    """Chooses a command in the menu bar, submenu by submenu, with the mouse."""
    way = _way_to(window.menuBar(), window.bar[action_id])
    require(way, f"the command {action_id} stands in no menu")
    opened: QMenu | QMenuBar = window.menuBar()
    for step in way:
        yield from hands.click(opened, opened.actionGeometry(step).center())
        menu = _menu_of(step)
        if menu is not None:
            yield Until(f"the menu {menu.title()}", menu.isVisible)
            opened = menu


def take_walk(
    folder: Path,
    *,
    language: str = "en",
    theme: str = "light",
    scale_percent: int = 100,
    strings: int = 200,
    depth: Depth = "whole",
    pictures: Path | None = None,
) -> Walk:
    """Opens the window like the program, and takes the walk.

    Args:
        folder: an empty folder.
        language: language of the window.
        theme: theme at the start.
        scale_percent: scale of the whole window.
        strings: as in `Walk`.
        depth: as in `Walk`.
        pictures: as in `Walk`.

    Raises:
        CheckError: if an expected window does not open, or a warning is logged; errors of the program propagate.
    """
    scenario = folder / "two-paths.toml"
    scenario.write_text(SCENARIO, encoding="utf-8")
    settings = {"language": language, "theme": theme, "scale_percent": scale_percent, "is_welcomed": True}
    walk = Walk(depth, strings=strings, pictures=pictures)
    play(walk.story, file=scenario, settings=settings)
    return walk
