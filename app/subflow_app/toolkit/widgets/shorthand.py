"""Short functions for common needs of widgets: labels, names, layouts, pages, choices, dialog buttons, timers.

Qt interprets text that looks like HTML; `Label` and `as_written` show text from outside verbatim. `WrapLayout` places
widgets in rows and wraps them like words.
"""

from __future__ import annotations

import html
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeAlias, TypeVar

from PySide6 import QtGui
from PySide6.QtCore import QObject, QPoint, QRect, QSize, QStringListModel, Qt, QTimer
from PySide6.QtGui import QFont, QPalette
from PySide6.QtWidgets import (
    QBoxLayout,
    QComboBox,
    QCompleter,
    QDialog,
    QDialogButtonBox,
    QHBoxLayout,
    QLabel,
    QLayout,
    QLayoutItem,
    QLineEdit,
    QPushButton,
    QSplitter,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)


class Label(QLabel):
    """A label that shows its text verbatim, unless a different ``textFormat`` is given."""

    def __init__(self, *parts: Any, **properties: Any) -> None:
        """Make a label with the arguments of QLabel: text, parent, and any property."""
        super().__init__(*parts, **({"textFormat": Qt.TextFormat.PlainText} | properties))


def as_written(text: str) -> str:
    """The text, escaped where needed, for tool tips and Qt's dialogs, whose text format cannot be set."""
    if not QtGui.Qt.mightBeRichText(text):
        return text
    return f"<span style='white-space: pre-wrap'>{html.escape(text)}</span>"


W = TypeVar("W", bound=QWidget)
B = TypeVar("B", bound=QBoxLayout)
S = TypeVar("S", bound=QSplitter)

_Part: TypeAlias = QWidget | QLayout | None
Item: TypeAlias = _Part | int | tuple[_Part, int] | tuple[_Part, int, Any]
"""A widget or layout, optionally with its stretch factor and alignment; None: a stretch; a number: spacing in px."""
Margins: TypeAlias = int | tuple[int, int, int, int] | None


def named(part: W, name: str, spoken: str = "", tip: str = "") -> W:
    """Name a widget for tests and style sheets; ``spoken`` is its name for screen readers, ``tip`` its tool tip."""
    part.setObjectName(name)
    if spoken:
        part.setAccessibleName(spoken)
    if tip:
        part.setToolTip(tip)
    return part


def sized(font: QFont, by: float = 1.0, *, is_bold: bool = False) -> QFont:
    """A copy of a font, scaled by a factor, and optionally bold."""
    made = QFont(font)
    if by != 1.0:
        made.setPointSizeF(font.pointSizeF() * by)
    if is_bold:
        made.setBold(True)
    return made


def heading(part: W, by: float = 1.0, *, is_demi: bool = False) -> W:
    """Make the text of a widget bold or semi-bold, and scale it by a factor."""
    font = sized(part.font(), by)
    font.setWeight(QFont.Weight.DemiBold if is_demi else QFont.Weight.Bold)
    part.setFont(font)
    return part


def captioned(text: str, part: QWidget, share: int = 0) -> tuple[QLabel, tuple[QWidget, int]]:
    """A caption and a widget as items for `h_box` or `v_box`; the mnemonic of the caption focuses the widget."""
    label = Label(text)
    label.setBuddy(part)
    return label, (part, share)


def h_box(parent: QWidget | None, *items: Item, margins: Margins = None, spacing: int | None = None) -> QHBoxLayout:
    """A horizontal box; margins and spacing are in px, and by default those of the style."""
    return _filled(QHBoxLayout() if parent is None else QHBoxLayout(parent), items, margins, spacing)


def v_box(parent: QWidget | None, *items: Item, margins: Margins = None, spacing: int | None = None) -> QVBoxLayout:
    """A vertical box; margins and spacing are in px, and by default those of the style."""
    return _filled(QVBoxLayout() if parent is None else QVBoxLayout(parent), items, margins, spacing)


def _filled(box: B, items: tuple[Item, ...], margins: Margins, spacing: int | None) -> B:
    if margins is not None:
        box.setContentsMargins(*((margins,) * 4 if isinstance(margins, int) else margins))
    if spacing is not None:
        box.setSpacing(spacing)
    for item in items:
        part, *how = item if isinstance(item, tuple) else (item,)
        if isinstance(part, QWidget):
            box.addWidget(part, *how)
        elif isinstance(part, QLayout):
            box.addLayout(part, *how)
        elif part is None:
            box.addStretch(*how or (1,))
        else:
            box.addSpacing(part)
    return box


def pages(parent: QWidget | None, *parts: QWidget, fills: bool = False) -> QStackedWidget:
    """A stack of widgets, one of which is visible; ``fills`` gives it the background colour of tables."""
    made = QStackedWidget(parent)
    if fills:
        made.setBackgroundRole(QPalette.ColorRole.Base)
        made.setAutoFillBackground(True)
    for part in parts:
        made.addWidget(part)
    return made


def split(
    border: S, first: QWidget, second: QWidget, *, shares: tuple[int, int] = (0, 1), sizes: Sequence[int] = ()
) -> S:
    """Add two widgets to a splitter, with stretch factors and initial sizes, px; returns the splitter."""
    for place, part in enumerate((first, second)):
        border.addWidget(part)
        border.setStretchFactor(place, shares[place])
    if sizes:
        border.setSizes(sizes)
    return border


def accept_buttons(
    dialog: QDialog, text: str, accept: Callable[[], object] | None = None
) -> tuple[QDialogButtonBox, QPushButton]:
    """Buttons to accept (default) and to cancel a dialog; also returns the accept button."""
    box = QDialogButtonBox(QDialogButtonBox.StandardButton.Cancel, dialog)
    button = box.addButton(text, QDialogButtonBox.ButtonRole.AcceptRole)
    button.setDefault(True)
    box.accepted.connect(accept or dialog.accept)
    box.rejected.connect(dialog.reject)
    return box, button


def close_button(dialog: QDialog) -> QDialogButtonBox:
    """The close button of a dialog without choices."""
    box = QDialogButtonBox(QDialogButtonBox.StandardButton.Close, dialog)
    box.rejected.connect(dialog.reject)
    return box


def timer(parent: QObject, act: Callable[[], object], interval_ms: int = 0, *, is_single: bool = False) -> QTimer:
    """A timer that calls ``act`` repeatedly, or once, after it is started."""
    made = QTimer(parent, interval=interval_ms, singleShot=is_single)
    made.timeout.connect(act)
    return made


class WrapLayout(QLayout):
    """A layout that places items in rows; its height depends on its width."""

    def __init__(self, parent: QWidget | None = None, spacing: int = 6) -> None:
        """Make an empty layout."""
        super().__init__(parent)
        self._items: list[QLayoutItem] = []
        self._gap = spacing

    def addItem(self, item: QLayoutItem) -> None:
        """Append an item."""
        self._items.append(item)

    def count(self) -> int:
        """Number of items."""
        return len(self._items)

    def itemAt(self, index: int) -> QLayoutItem | None:
        """The item at an index; None past the end."""
        return self._items[index] if 0 <= index < len(self._items) else None

    def takeAt(self, index: int) -> QLayoutItem | None:
        """Remove and return an item."""
        return self._items.pop(index) if 0 <= index < len(self._items) else None

    def expandingDirections(self) -> Qt.Orientation:
        """No direction, because the layout never needs extra space."""
        return Qt.Orientation(0)

    def hasHeightForWidth(self) -> bool:
        """True, because items wrap."""
        return True

    def heightForWidth(self, width: int) -> int:
        """Height of all rows."""
        return self._arranged(QRect(0, 0, width, 0), is_trial=True)

    def setGeometry(self, area: QRect) -> None:
        """Place all items."""
        super().setGeometry(area)
        self._arranged(area, is_trial=False)

    def sizeHint(self) -> QSize:
        """The minimum size."""
        return self.minimumSize()

    def minimumSize(self) -> QSize:
        """Size of the largest item, with the margins."""
        size = QSize()
        for item in self._items:
            if not item.isEmpty():
                size = size.expandedTo(item.minimumSize())
        margins = self.contentsMargins()
        return size + QSize(margins.left() + margins.right(), margins.top() + margins.bottom())

    def _arranged(self, area: QRect, *, is_trial: bool) -> int:
        margins = self.contentsMargins()
        inside = area.adjusted(margins.left(), margins.top(), -margins.right(), -margins.bottom())
        x, y, row = inside.x(), inside.y(), 0
        for item in self._items:
            if item.isEmpty():
                continue
            size = item.sizeHint().expandedTo(item.minimumSize())
            if x > inside.x() and x + size.width() > inside.right() + 1:
                x, y, row = inside.x(), y + row + self._gap, 0
            if not is_trial:
                item.setGeometry(QRect(QPoint(x, y), size))
            x += size.width() + self._gap
            row = max(row, size.height())
        return y + row - area.y() + margins.bottom()


class Choice(QComboBox):
    """A combo box whose entries have values, which `currentData` returns."""

    def __init__(
        self,
        name: str,
        choices: Iterable[tuple[object, str]] = (),
        parent: QWidget | None = None,
        *,
        text: str = "",
        letters: int = 0,
    ) -> None:
        """Fill the combo box; the first entry is selected.

        Args:
            name: object name.
            choices: value and text of each entry.
            parent: owner of the combo box.
            text: accessible name; not needed if a label names the combo box.
            letters: width in characters; 0: the width of the longest entry.
        """
        super().__init__(parent)
        named(self, name, text)
        if letters:
            self.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
            self.setMinimumContentsLength(letters)
        for value, shown in choices:
            self.addItem(shown, value)

    def choose(self, value: object) -> None:
        """Select the entry with this value, or else the first one."""
        self.setCurrentIndex(max(0, self.findData(value)))


class TagLine(QObject):
    """Completes the tag after the last comma of a line edit."""

    def __init__(self, line: QLineEdit, known: Sequence[str]) -> None:
        """Complete tags in ``line``."""
        super().__init__(line)
        self._line = line
        self._known = known
        self._offered = QStringListModel(self)
        self._completer = QCompleter(self._offered, self)
        self._completer.setWidget(line)
        popup = self._completer.popup()
        assert popup is not None
        self._popup = popup
        self._completer.setCompletionMode(QCompleter.CompletionMode.UnfilteredPopupCompletion)
        self._completer.activated[str].connect(self._take)  # type: ignore[index] # overloaded signal
        line.textEdited.connect(self._offer)

    def offers(self, text: str) -> list[str]:
        """Known tags that begin with the last part of a text and do not occur in it already."""
        *before, begun = (part.strip().lower() for part in text.split(","))
        return [tag for tag in self._known if begun and tag.lower().startswith(begun) and tag.lower() not in before]

    def _offer(self, text: str) -> None:
        offered = self.offers(text)
        self._offered.setStringList(offered)
        if offered:
            self._completer.complete()
        else:
            self._popup.hide()

    def _take(self, tag: str) -> None:
        before = self._line.text().rpartition(",")[0]
        self._line.setText(f"{before}, {tag}" if before else tag)
