"""A line of text that takes the room there is: what does not fit is left out, and stands in the tool tip."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QWidget

from subflow_app.toolkit.plain_text import Label, as_written


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
