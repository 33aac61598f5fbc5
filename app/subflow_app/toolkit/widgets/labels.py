"""Labels: elided text, icons, problems of fields, lines that appear only when needed, and a delay for moves.

An elided text takes the free room, and its tool tip shows what does not fit. Widgets do not move while a mouse button
is held down, because the click would otherwise hit another place.
"""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, QSize, Qt, QTimer
from PySide6.QtGui import QGuiApplication, QPainter, QPaintEvent, QPalette, QResizeEvent
from PySide6.QtWidgets import QWidget

from subflow_app.toolkit.icons import icon
from subflow_app.toolkit.widgets.shorthand import Label, as_written


class ElidedLabel(Label):
    """A label that asks for no width."""

    def __init__(self, parent: QWidget | None = None, mode: Qt.TextElideMode = Qt.TextElideMode.ElideMiddle) -> None:
        """Without text; ``mode`` says where it gives way."""
        super().__init__(parent)
        self._mode = mode

    def setText(self, text: str) -> None:
        """Replaces the text."""
        super().setText(text)
        self._tell()

    def minimumSizeHint(self) -> QSize:
        """As high as its text, and of any width."""
        return QSize(0, super().minimumSizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Tells in the tool tip what does not fit any more."""
        super().resizeEvent(event)
        self._tell()

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draws what fits."""
        painter = QPainter(self)
        painter.setPen(self.palette().color(self.foregroundRole()))
        painter.drawText(self.contentsRect(), int(self.alignment()), self._shown)

    @property
    def _shown(self) -> str:
        return self.fontMetrics().elidedText(self.text(), self._mode, self.contentsRect().width())

    def _tell(self) -> None:
        self.setToolTip("" if self._shown == self.text() else as_written(self.text()))


class IconLabel(QWidget):
    """Draws an icon in the colours that the theme has when it is drawn."""

    def __init__(self, name: str, colour: str, size: int, parent: QWidget | None = None) -> None:
        """Shows an icon as `icon` makes it, ``size`` px wide and high."""
        super().__init__(parent)
        self._icon = icon(name, colour)
        self.setFixedSize(size, size)

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draws it."""
        self._icon.paint(QPainter(self), self.rect())


class SaidLine(Label):
    """Hidden while it is empty."""

    def __init__(self, name: str, parent: QWidget) -> None:
        """An empty line with this object name."""
        super().__init__(parent)
        self.setObjectName(name)
        self.setWordWrap(True)
        self.setContentsMargins(8, 3, 8, 3)
        self.hide()

    def say(self, text: str) -> None:
        """Says this, or nothing."""
        self.setText(text)
        self.setVisible(bool(text))


_AGAIN_MS = 20


def when_released(owner: QObject, move: Callable[[], object]) -> None:
    """Does what moves widgets: at once, or as soon as no mouse button is pressed; not at all once the owner is gone."""
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
    """A text in the colour of errors, as high as it has to be, and away while there is nothing to say."""

    def __init__(
        self, name: str, least_width: int = 0, parent: QWidget | None = None, *, keeps_line: bool = False
    ) -> None:
        """Says nothing yet.

        Args:
            name: object name.
            least_width: to be expected, px; before the first layout the label does not know its own.
            parent: its owner.
            keeps_line: whether it has the room of a line while it is away, so that nothing moves when it comes.
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
        """Says this; nothing if it is empty."""
        self._problem = text
        when_released(self, self._show_problem)

    def _show_problem(self) -> None:
        """As high as the text, which moves what is below unless a line was kept for it."""
        text = self._problem
        self.setText(text)
        self.setVisible(bool(text))
        width = max(self.width(), self._least_width)
        self.setMinimumHeight(max(self.heightForWidth(width) if text else 0, self._least_height))
