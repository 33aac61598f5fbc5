"""Help dialogs: the list of shortcuts from the table of actions, and the welcome dialog.

The welcome dialog offers four starting points and the recent files.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import (
    QDialog,
    QFrame,
    QGridLayout,
    QLineEdit,
    QPushButton,
    QTextBrowser,
    QWidget,
)

from subflow_app.shell.menus import MENUS, SUBMENUS
from subflow_app.toolkit.action_bar import ActionSpec, Scope
from subflow_app.toolkit.icons import icon
from subflow_app.toolkit.theme import current_tokens
from subflow_app.toolkit.widgets.shorthand import Label, close_button, heading, named, v_box
from subflow_app.vocabulary.language import tr, translatable
from subflow_sim.gate import is_there

# Gestures and keys that are not actions: (place, gesture, effect).
GESTURES = (
    ("Plots", "Wheel", "Zoom time at the cursor"),
    ("Plots", "Drag", "Move through time"),
    ("Plots", "Shift+drag", "Zoom to a rectangle"),
    ("Plots", "Right-drag", "Zoom both axes"),
    ("Plots", "Wheel over the value axis", "Zoom values"),
    ("Plots", "Double-click", "Show everything"),
    ("Plots", "← →, with Shift faster", "Move the crosshair"),
    ("Legend", "Click, Space", "Switch a curve on or off"),
    ("Legend", "Ctrl+click", "Show only this curve or flow"),
    ("Topology", "Space", "Run, pause, resume"),
    ("Topology", "Middle-drag, Space+drag", "Move the picture"),
    ("Topology", "Double-click", "Open the properties"),
    ("History", "Double-click", "Open the plots of a run"),
)


class ShortcutsDialog(QDialog):
    """All shortcuts by menu, with a filter."""

    def __init__(self, specs: Sequence[ActionSpec[Any]], parent: QWidget | None = None) -> None:
        """List the shortcuts in this table."""
        super().__init__(parent)
        self._sections = _sections(specs)
        self.setObjectName("shortcuts_dialog")
        self.setWindowTitle(tr("Keyboard shortcuts"))
        self.resize(560, 620)
        self.filter = QLineEdit(self, placeholderText=tr("Filter…"), clearButtonEnabled=True)
        self.filter.setAccessibleName(tr("Filter of the shortcuts"))
        self.list = named(QTextBrowser(self), "shortcut_list", tr("Shortcuts"))
        buttons = close_button(self)
        v_box(self, self.filter, self.list, buttons)
        self.filter.textChanged.connect(self._show)
        self._show("")

    def _show(self, words: str) -> None:
        muted = current_tokens().muted_text
        html = []
        for title, rows in self._sections:
            matching = [row for row in rows if all(w in " ".join(row).lower() for w in words.lower().split())]
            if not matching:
                continue
            lines = "".join(
                f"<tr><td width='210'><b>{keys}</b></td><td>{what}"
                f"{f' <span style=color:{muted}>({where})</span>' if where else ''}</td></tr>"
                for keys, what, where in matching
            )
            html.append(f"<h3>{title}</h3><table cellpadding='2'>{lines}</table>")
        self.list.setHtml("".join(html) or f"<p style='color:{muted}'>{tr('Nothing matches.')}</p>")


def _sections(specs: Sequence[ActionSpec[Any]]) -> list[tuple[str, list[tuple[str, str, str]]]]:
    """Title of each section, with the (keys, effect, place) of its shortcuts and gestures."""
    by_id = {spec.id: spec for spec in specs}
    sections = [
        (
            tr(title).replace("&", ""),
            [_row(by_id[entry]) for entry in entries if entry in by_id and by_id[entry].shortcuts],
        )
        for title, entries in (MENUS | SUBMENUS).items()
    ]
    mouse: dict[str, list[tuple[str, str, str]]] = {}
    for where, gesture, what in GESTURES:
        mouse.setdefault(where, []).append((tr(gesture), tr(what), ""))
    return sections + [(tr("Mouse and keys: {panel}", panel=tr(where)), rows) for where, rows in mouse.items()]


def _row(spec: ActionSpec[Any]) -> tuple[str, str, str]:
    native = QKeySequence.SequenceFormat.NativeText
    keys = tr(" or ").join(QKeySequence(shortcut).toString(native) for shortcut in spec.shortcuts)
    where = "" if spec.scope is Scope.WINDOW else tr(spec.scope.value)
    return keys.replace("<", "&lt;"), tr(spec.text).replace("&", "").rstrip("…"), where


_FILES_SHOWN = 4
_WIDTH, _ICON = 500, 26

# Name -> (title, description, icon).
DOORS = {
    "demo": (
        translatable("See the demo"),
        translatable("A phone between Wi-Fi and LTE: starts at once, and you watch two paths share one download."),
        "run",
    ),
    "lab": (
        translatable("Guided labs"),
        translatable("From the first sawtooth to trained agents: each lab explains, asks, and checks what you did."),
        "example",
    ),
    "new": (
        translatable("Draw a new topology"),
        translatable("Place hosts and links, choose a controller, and see how it does."),
        "topology",
    ),
    "import": (
        translatable("Bring your own data"),
        translatable("A log of ss or iperf3, a capture, qlog or CSV becomes a run beside simulated ones."),
        "import",
    ),
}


class WelcomeDialog(QDialog):
    """The welcome dialog with its starting points; Escape closes it and changes nothing."""

    door_chosen = Signal(str)
    file_chosen = Signal(str)

    def __init__(self, recent_files: Sequence[str], parent: QWidget | None = None) -> None:
        """Offer the starting points and the recent files that still exist."""
        super().__init__(parent)
        self.setObjectName("welcome_dialog")
        self.setWindowTitle(tr("Welcome to Subflow"))
        self.setMinimumWidth(560)
        tokens = current_tokens()
        title = heading(Label(tr("Welcome to Subflow"), self), 1.6)
        about = Label(tr("Draw a network, pick congestion controllers, run them, and read what happens."), self)
        about.setWordWrap(True)
        about.setStyleSheet(f"color: {tokens.muted_text};")
        self.doors: dict[str, _Door] = {}
        for name, (text, behind, icon_name) in DOORS.items():
            door = named(_Door(tr(text), tr(behind), icon_name, tokens.accent, self), f"door_{name}")
            door.clicked.connect(lambda _checked=False, name=name: self._choose(name))
            self.doors[name] = door
        files = [file for file in recent_files if is_there(Path(file))][:_FILES_SHOWN]
        self.files: list[_Door] = []
        above: list[QWidget] = []
        if files:
            above = [QFrame(self, frameShape=QFrame.Shape.HLine), Label(tr("Opened last"), self)]
        for file in files:
            link = _Door(Path(file).name, str(Path(file).parent), "recent", tokens.muted_text, self)
            link.clicked.connect(lambda _checked=False, file=file: self._open(file))
            self.files.append(link)
        again = Label(tr("The Help menu brings this back, and has help on every panel (F1)."), self, wordWrap=True)
        again.setStyleSheet(f"color: {tokens.muted_text};")
        buttons = close_button(self)
        parts = (*self.doors.values(), *above, *self.files)
        v_box(self, title, about, 8, *parts, None, again, buttons, margins=(24, 20, 24, 16), spacing=8)
        self.doors["demo"].setFocus(Qt.FocusReason.OtherFocusReason)

    def _choose(self, name: str) -> None:
        self.accept()
        self.door_chosen.emit(name)

    def _open(self, file: str) -> None:
        self.accept()
        self.file_chosen.emit(file)


class _Door(QPushButton):
    """A wide button with an icon, a title and a description."""

    def __init__(self, title: str, behind: str, icon_name: str, colour: str, parent: QWidget) -> None:
        super().__init__(parent)
        self.title = title
        self.setAccessibleName(title)
        self.setAccessibleDescription(behind)
        self.setAutoDefault(True)
        picture, name, about = Label(self), Label(title, self), Label(behind, self)
        picture.setPixmap(icon(icon_name, colour).pixmap(_ICON, _ICON))
        heading(name)
        about.setWordWrap(True)
        about.setStyleSheet(f"color: {current_tokens().muted_text};")
        grid = QGridLayout(self)
        grid.setContentsMargins(14, 9, 14, 9)
        grid.setHorizontalSpacing(14)
        grid.setVerticalSpacing(2)
        grid.addWidget(picture, 0, 0, 2, 1)
        grid.addWidget(name, 0, 1)
        grid.addWidget(about, 1, 1)
        grid.setColumnStretch(1, 1)
        for label in (picture, name, about):
            label.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.setFixedHeight(grid.heightForWidth(_WIDTH))

    def sizeHint(self) -> QSize:
        """A comfortable width for reading."""
        return QSize(_WIDTH, self.height())
