"""What is said of nearly every part, in one call each: its names, its layout, its timers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias, TypeVar

from PySide6.QtCore import QObject, QTimer
from PySide6.QtGui import QFont
from PySide6.QtWidgets import QBoxLayout, QHBoxLayout, QLabel, QLayout, QVBoxLayout, QWidget

W = TypeVar("W", bound=QWidget)
B = TypeVar("B", bound=QBoxLayout)

_Part: TypeAlias = QWidget | QLayout | None
Item: TypeAlias = _Part | int | tuple[_Part, int] | tuple[_Part, int, Any]
"""A widget or layout, perhaps with its share of the room and its alignment; None: room alone; a number: so many px."""
Margins: TypeAlias = int | tuple[int, int, int, int] | None


def named(part: W, name: str, spoken: str = "", tip: str = "") -> W:
    """Names a part for tests and style sheets; ``spoken`` is for screen readers, ``tip`` for who points at it."""
    part.setObjectName(name)
    if spoken:
        part.setAccessibleName(spoken)
    if tip:
        part.setToolTip(tip)
    return part


def sized(font: QFont, by: float = 1.0, *, is_bold: bool = False) -> QFont:
    """A font so many times as large, perhaps bold."""
    made = QFont(font)
    if by != 1.0:
        made.setPointSizeF(font.pointSizeF() * by)
    if is_bold:
        made.setBold(True)
    return made


def heading(part: W, by: float = 1.0, *, is_demi: bool = False) -> W:
    """Writes a part in bold, or a little less than that, and so many times as large."""
    font = sized(part.font(), by)
    font.setWeight(QFont.Weight.DemiBold if is_demi else QFont.Weight.Bold)
    part.setFont(font)
    return part


def captioned(text: str, part: QWidget, share: int = 0) -> tuple[QLabel, tuple[QWidget, int]]:
    """A part for a box, with the caption before it whose letter goes to it."""
    label = QLabel(text)
    label.setBuddy(part)
    return label, (part, share)


def h_box(parent: QWidget | None, *items: Item, margins: Margins = None, spacing: int | None = None) -> QHBoxLayout:
    """Parts beside each other; margins and spacing, px, are those of the style unless they are given."""
    return _filled(QHBoxLayout() if parent is None else QHBoxLayout(parent), items, margins, spacing)


def v_box(parent: QWidget | None, *items: Item, margins: Margins = None, spacing: int | None = None) -> QVBoxLayout:
    """Parts below each other; margins and spacing, px, are those of the style unless they are given."""
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


def timer(parent: QObject, act: Callable[[], object], interval_ms: int = 0, *, is_single: bool = False) -> QTimer:
    """Calls ``act`` again and again once it is started, or a single time."""
    made = QTimer(parent, interval=interval_ms, singleShot=is_single)
    made.timeout.connect(act)
    return made
