"""The bar left of the canvas: tools to hold, and a palette of parts to drag onto the canvas."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QMimeData, QPoint, QSize, Qt
from PySide6.QtGui import QAction, QDrag, QMouseEvent, QResizeEvent
from PySide6.QtWidgets import QApplication, QFrame, QGridLayout, QToolButton, QWidget

from subflow_app.toolkit.theme import Tokens, set_style
from subflow_app.toolkit.widgets.shorthand import named
from subflow_app.vocabulary.language import tr

PART_MIME = "application/x-subflow-part"
"""What is dragged from the palette: the name of its tool as data."""

PALETTE = ("host", "router", "note")
"""Tools whose buttons can be dragged onto the canvas."""

_ICON = 18
_LEAST_HEIGHT = 26  # of a button, px
_LEAST_ROWS = 3  # of buttons: a lower strip is cut off


class ToolStrip(QFrame):
    """Buttons in one column, in more where it is low; empty and hidden until it gets its actions."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        named(self, "topologyTools", tr("Drawing tools"))
        self._layout = QGridLayout(self)
        self._layout.setContentsMargins(3, 4, 3, 4)
        self._layout.setSpacing(2)
        self._layout.setSizeConstraint(QGridLayout.SizeConstraint.SetNoConstraint)
        self._buttons: list[QToolButton] = []
        self._rows = 0
        set_style(self, _style)
        self.hide()

    def set_actions(self, actions: Sequence[QAction]) -> None:
        """Show a button for each; those named as in `PALETTE` can be dragged."""
        for action in actions:
            name = action.objectName().rpartition("_")[2]
            button = PaletteButton(name, self) if name in PALETTE else QToolButton(self)
            button.setDefaultAction(action)
            named(button, f"tool_{name}", action.text().replace("&", ""))
            button.setAutoRaise(True)
            button.setIconSize(QSize(_ICON, _ICON))
            # Every tool has a key and a menu entry: Tab should not stop here on the way.
            button.setFocusPolicy(Qt.FocusPolicy.NoFocus)
            button.setMinimumHeight(_LEAST_HEIGHT)
            self._buttons.append(button)
        self._arrange()
        self.setVisible(bool(actions))

    def sizeHint(self) -> QSize:
        """One column of all buttons."""
        return self._size_of(len(self._buttons), self._buttons[0].sizeHint().height() if self._buttons else 0)

    def minimumSizeHint(self) -> QSize:
        """As many columns as leave the least number of rows."""
        return QSize(self._size_of(self._rows).width(), self._size_of(_LEAST_ROWS).height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Uses the height there is."""
        super().resizeEvent(event)
        self._arrange()

    def _arrange(self) -> None:
        count = len(self._buttons)
        rows = next((rows for rows in range(count, _LEAST_ROWS, -1) if self._fits(rows)), min(count, _LEAST_ROWS))
        if rows == self._rows:
            return
        self._layout.setRowStretch(self._rows, 0)
        self._rows = rows
        for position, button in enumerate(self._buttons):
            self._layout.addWidget(button, position % rows, position // rows)
        self._layout.setRowStretch(rows, 1)
        self.setFixedWidth(self._size_of(rows).width())

    def _fits(self, rows: int) -> bool:
        return self._size_of(rows).height() <= self.height()

    def _size_of(self, rows: int, height: int = _LEAST_HEIGHT) -> QSize:
        """Of the strip with that many rows of buttons of this height."""
        if not self._buttons:
            return QSize()
        width, gap = self._buttons[0].sizeHint().width(), self._layout.spacing()
        margins = self._layout.contentsMargins()
        columns = -(-len(self._buttons) // max(rows, 1))
        return QSize(
            columns * (width + gap) - gap + margins.left() + margins.right() + 2 * self.frameWidth() + 1,
            rows * (height + gap) - gap + margins.top() + margins.bottom(),
        )


def _style(t: Tokens) -> str:
    return (
        f"#topologyTools {{ background: {t.base}; border: none; border-right: 1px solid {t.border}; }}"
        "QToolButton { border: 1px solid transparent; border-radius: 4px; padding: 4px; }"
        f"QToolButton:hover {{ background: {t.button_hover}; }}"
        f"QToolButton:checked {{ background: {t.button_hover}; border-color: {t.accent}; }}"
    )


class PaletteButton(QToolButton):
    """A tool that can also be dragged onto the canvas."""

    def __init__(self, part: str, parent: QWidget) -> None:
        super().__init__(parent)
        self._part = part
        self._press: QPoint | None = None

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Remember where a drag would begin."""
        self._press = event.position().toPoint()
        super().mousePressEvent(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """A click after all."""
        self._press = None
        super().mouseReleaseEvent(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Begin a drag once the mouse has really moved."""
        position = event.position().toPoint()
        if self._press is None or not self.isEnabled():
            return
        if (position - self._press).manhattanLength() < QApplication.startDragDistance():
            return
        self._press = None
        self.setDown(False)
        drag = QDrag(self)
        data = QMimeData()
        data.setData(PART_MIME, self._part.encode())
        drag.setMimeData(data)
        drag.setPixmap(self.icon().pixmap(QSize(2 * _ICON, 2 * _ICON)))
        drag.exec(Qt.DropAction.CopyAction)
