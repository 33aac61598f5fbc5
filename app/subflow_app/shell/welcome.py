"""The welcome of the first start: three doors into the program, and the files that were opened last."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtWidgets import (
    QDialog,
    QFrame,
    QGridLayout,
    QPushButton,
    QWidget,
)

from subflow_app.toolkit.icons import icon
from subflow_app.toolkit.plain_text import Label
from subflow_app.toolkit.theme import current_tokens
from subflow_app.toolkit.widgets.shorthand import close_button, heading, named, v_box
from subflow_app.vocabulary.language import tr, translatable
from subflow_sim.gate import is_there

_FILES_SHOWN = 4
_WIDTH, _ICON = 500, 26

# Name -> (title, what is behind it, icon).
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
}


class WelcomeDialog(QDialog):
    """Three doors; Escape leaves what is open as it is."""

    door_chosen = Signal(str)
    file_chosen = Signal(str)

    def __init__(self, recent_files: Sequence[str], parent: QWidget | None = None) -> None:
        """Offers the doors and these files, those that are still there."""
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
    """A wide button with an icon, a title and what is behind it."""

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
        """As wide as a line of text is comfortable."""
        return QSize(_WIDTH, self.height())
