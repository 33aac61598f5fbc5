"""Visible faults: parts without a name for screen readers, texts cut off, parts off screen, hyphens as minus signs."""

from __future__ import annotations

import re
from collections.abc import Iterator

from PySide6.QtCore import QRect, Qt
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractScrollArea,
    QCheckBox,
    QComboBox,
    QFileDialog,
    QLabel,
    QLineEdit,
    QMenu,
    QPushButton,
    QRadioButton,
    QScrollBar,
    QTabBar,
    QTableView,
    QToolButton,
    QWidget,
)

from subflow_app.features.editor.qt.inspector.editors import ChoiceEditor

# Shortened on purpose in narrow places: the tooltip shows the whole text.
_ELIDING = {"ElidedLabel", "_Line"}
_ICON_ONLY = Qt.ToolButtonStyle.ToolButtonIconOnly
# Height of the title bar of a window, at least, on known desktops.
_TITLE_BAR_PX = 24
# The hyphen of a negative number; those of words, dates, paths and options differ.
_HYPHEN = re.compile(r"(?<![\w.\-–/…'\"=])-(?=\d)")
_MOST_ROWS = 50  # rows of a table that are read


def faults(root: QWidget) -> list[str]:
    """All faults of a visible window, dialog, menu or tooltip."""
    if isinstance(root, QMenu):
        return [*outside(root), *wrapped(root)]
    if isinstance(root, QFileDialog):
        # Qt's own dialog, with its own texts.
        return outside(root)
    said = [f"has no name: {part}" for part in nameless(root)]
    hyphens = (f"has a hyphen for a minus sign: {part}" for part in hyphened(root))
    return [*said, *(f"is cut off: {part}" for part in clipped(root)), *outside(root), *hyphens]


def nameless(root: QWidget) -> list[str]:
    """Visible widgets that take the keyboard or the mouse, but have no name for a screen reader."""
    return [
        path_of(part)
        for part in _visible(root)
        if (part.focusPolicy() != Qt.FocusPolicy.NoFocus or isinstance(part, QAbstractButton))
        and not is_inner(part)
        and not _spoken_name(part, root)
    ]


def hyphened(root: QWidget) -> list[str]:
    """Visible labels and cells of tables with a negative number whose sign is a hyphen."""
    found = []
    for part in _visible(root):
        if is_inner(part):
            continue
        texts = []
        if isinstance(part, QLabel | QAbstractButton):
            texts = [part.text()]
        elif isinstance(part, QTableView) and part.model() is not None:
            model = part.model()
            rows, columns = range(min(model.rowCount(), _MOST_ROWS)), range(model.columnCount())
            texts = [str(model.index(row, column).data()) for row in rows for column in columns]
        found += [f"{path_of(part)} {text[:60]!r}" for text in texts if _HYPHEN.search(text)]
    return found


def clipped(root: QWidget) -> list[str]:
    """Labels and buttons with less room than their text needs."""
    found = []
    for part in _visible(root):
        if type(part).__name__ in _ELIDING or is_inner(part):
            continue
        if isinstance(part, QLabel):
            if not part.text() or part.pixmap().isNull() is False:
                continue
            need = part.sizeHint()
            if part.wordWrap():
                is_cut = part.heightForWidth(part.width()) > part.height() + 1
            else:
                is_cut = need.width() > part.width() + 1 or need.height() > part.height() + 2
        elif isinstance(part, QPushButton | QCheckBox | QRadioButton) or (
            isinstance(part, QToolButton) and part.text() and part.toolButtonStyle() != _ICON_ONLY
        ):
            need = part.minimumSizeHint() if isinstance(part, QPushButton) else part.sizeHint()
            is_cut = need.width() > part.width() + 1
        elif isinstance(part, QComboBox):
            shown = part.shown_text if isinstance(part, ChoiceEditor) else part.currentText()
            need = part.fontMetrics().boundingRect(shown).size()
            is_told = part.currentText() in part.toolTip() or (isinstance(part, ChoiceEditor) and not part.toolTip())
            # The arrow and the frame take about two dozen pixels.
            is_cut = need.width() + 22 > part.width() and not is_told
        else:
            continue
        if is_cut:
            text = part.currentText() if isinstance(part, QComboBox) else part.text()
            sizes = f"needs {need.width()}x{need.height()}, has {part.width()}x{part.height()}"
            found.append(f"{path_of(part)} {text[:60]!r} {sizes}")
    return found


def outside(root: QWidget) -> list[str]:
    """A window that is not completely on the screen, including its title bar."""
    screen, frame = root.screen().availableGeometry(), root.frameGeometry()
    # A frame is added here, because only a window manager draws one.
    bare = root.windowType() in (Qt.WindowType.Popup, Qt.WindowType.ToolTip) or bool(
        root.windowFlags() & Qt.WindowType.FramelessWindowHint
    )
    room = screen.height() - (0 if bare or frame != root.geometry() else _TITLE_BAR_PX)
    if screen.contains(frame) and frame.height() <= room:
        return []
    return [f"is outside the screen: {path_of(root)} {_said(frame)}, of {screen.width()}x{room}"]


def wrapped(menu: QMenu) -> list[str]:
    """A menu so long that it has a second column."""
    columns = {menu.actionGeometry(action).left() for action in menu.actions() if action.isVisible()}
    return [f"has {len(columns)} columns: {path_of(menu)}"] if len(columns) > 1 else []


def _said(rect: QRect) -> str:
    return f"{rect.width()}x{rect.height()} at {rect.x()}, {rect.y()}"


def _visible(root: QWidget) -> Iterator[QWidget]:
    for part in root.findChildren(QWidget):
        if part.isVisible() and part.window() is root.window() and not part.visibleRegion().isEmpty():
            yield part


def is_inner(part: QWidget) -> bool:
    """True for an inner part of a widget of Qt or of the docking system, whose outer widget provides the name."""
    kind = type(part).__name__
    if part.objectName().startswith("qt_") or kind in ("QHeaderView", "QWidgetResizeHandler"):
        return True
    if isinstance(part, QScrollBar | QTabBar | QMenu) or kind.startswith(("CDock", "CAutoHide")):
        return True
    parent = part.parentWidget()
    if isinstance(part, QLineEdit) and parent is not None and parent.focusProxy() is None:
        return isinstance(parent, QComboBox) or parent.inherits("QAbstractSpinBox")
    while parent is not None:
        if isinstance(parent, QScrollBar | QLineEdit) or (
            isinstance(parent, QAbstractScrollArea)
            and parent.metaObject().className() == "QTableView"
            and part.metaObject().className() == "QTableCornerButton"
        ):
            return True
        parent = parent.parentWidget()
    return False


def _spoken_name(part: QWidget, root: QWidget) -> str:
    if part.accessibleName():
        return part.accessibleName()
    if isinstance(part, QAbstractButton) and part.text().strip():
        return part.text()
    if isinstance(part, QLabel) and part.text():
        return part.text()
    proxy = part.focusProxy()
    if proxy is not None:
        return _spoken_name(proxy, root)
    return next((label.text() for label in root.findChildren(QLabel) if label.buddy() is part), "")


def path_of(part: QWidget) -> str:
    """Name of a widget, with those of its parents."""
    names: list[str] = []
    step: QWidget | None = part
    while step is not None and len(names) < 3:
        names.append(f"{type(step).__name__}#{step.objectName()}" if step.objectName() else type(step).__name__)
        step = step.parentWidget()
    return " < ".join(names)
