"""Labels for elided text, icons, and lines that appear only when needed, and a function that delays moves of widgets.

An elided text takes the available width, and its tool tip shows the full text. Widgets do not move while a mouse button
is pressed, because the click would otherwise hit the wrong widget.
"""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, QSize, Qt, QTimer
from PySide6.QtGui import QGuiApplication, QPainter, QPaintEvent, QPalette, QResizeEvent
from PySide6.QtWidgets import QWidget

from subflow_app.toolkit.icons import icon
from subflow_app.toolkit.widgets.shorthand import Label, as_written


class ElidedLabel(Label):
    """A label that requests no width and elides its text."""

    def __init__(self, parent: QWidget | None = None, mode: Qt.TextElideMode = Qt.TextElideMode.ElideMiddle) -> None:
        """Start without text; ``mode`` selects the position of the ellipsis."""
        super().__init__(parent)
        self._mode = mode

    def setText(self, text: str) -> None:
        """Replace the text."""
        super().setText(text)
        self._tell()

    def minimumSizeHint(self) -> QSize:
        """The height of the text, and no minimum width."""
        return QSize(0, super().minimumSizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Update the tool tip, which shows an elided text in full."""
        super().resizeEvent(event)
        self._tell()

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw the elided text."""
        painter = QPainter(self)
        painter.setPen(self.palette().color(self.foregroundRole()))
        painter.drawText(self.contentsRect(), int(self.alignment()), self._shown)

    @property
    def _shown(self) -> str:
        return self.fontMetrics().elidedText(self.text(), self._mode, self.contentsRect().width())

    def _tell(self) -> None:
        self.setToolTip("" if self._shown == self.text() else as_written(self.text()))


class IconLabel(QWidget):
    """Draws an icon in the current colours of the theme."""

    def __init__(self, name: str, colour: str, size: int, parent: QWidget | None = None) -> None:
        """Show the icon with this name and colour, as in `icon`, ``size`` px wide and high."""
        super().__init__(parent)
        self._icon = icon(name, colour)
        self.setFixedSize(size, size)

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw the icon."""
        self._icon.paint(QPainter(self), self.rect())


class SaidLine(Label):
    """A line of text that is hidden while empty."""

    def __init__(self, name: str, parent: QWidget) -> None:
        """Make an empty line with this object name."""
        super().__init__(parent)
        self.setObjectName(name)
        self.setWordWrap(True)
        self.setContentsMargins(8, 3, 8, 3)
        self.hide()

    def say(self, text: str) -> None:
        """Show a text; an empty text hides the line."""
        self.setText(text)
        self.setVisible(bool(text))


_AGAIN_MS = 20


def when_released(owner: QObject, move: Callable[[], object]) -> None:
    """Call ``move``, which moves widgets, as soon as no mouse button is pressed, unless ``owner`` is deleted first."""
    if QGuiApplication.mouseButtons() == Qt.MouseButton.NoButton:
        move()
        return
    timer = QTimer(owner)
    timer.setInterval(_AGAIN_MS)

    def look() -> None:
        if QGuiApplication.mouseButtons() == Qt.MouseButton.NoButton:
            timer.stop()
            timer.deleteLater()
            move()

    timer.timeout.connect(look)
    timer.start()


class ProblemLabel(Label):
    """A label for an error message, which is as high as its text and hidden while empty."""

    def __init__(
        self, name: str, least_width: int = 0, parent: QWidget | None = None, *, keeps_line: bool = False
    ) -> None:
        """Start hidden.

        Args:
            name: object name.
            least_width: expected width, px, used before the first layout.
            parent: owner of the label.
            keeps_line: whether the space of one line is reserved while the label is hidden, so that other widgets do
                not move.
        """
        super().__init__(parent)
        self.setObjectName(name)
        self.setWordWrap(True)
        self.setForegroundRole(QPalette.ColorRole.BrightText)
        self._least_width = least_width
        self._problem = ""
        self._least_height = self.fontMetrics().lineSpacing() if keeps_line else 0
        if keeps_line:
            policy = self.sizePolicy()
            policy.setRetainSizeWhenHidden(True)
            self.setSizePolicy(policy)
            self.setMinimumHeight(self._least_height)
        self.hide()

    def say(self, text: str) -> None:
        """Show a problem; an empty text hides the label."""
        self._problem = text
        when_released(self, self._show_problem)

    def _show_problem(self) -> None:
        """Adapt the height to the text; widgets below move unless a line was reserved."""
        text = self._problem
        self.setText(text)
        self.setVisible(bool(text))
        width = max(self.width(), self._least_width)
        self.setMinimumHeight(max(self.heightForWidth(width) if text else 0, self._least_height))
