"""The figure of an experiment, drawn for the room and the theme there are, by the process that draws for paper."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QPixmap, QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from subflow_app.toolkit.plain_text import Label
from subflow_app.vocabulary.language import tr


class FigureView(Label):
    """Shows a picture as large as it fits; `resized` asks for one of another size."""

    resized = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        """Nothing yet."""
        super().__init__(parent)
        self.setObjectName("gallery_figure")
        self.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.setMinimumSize(QSize(240, 140))
        # The picture follows the room there is, not the other way round.
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Expanding)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setWordWrap(True)
        self.content = QPixmap()  # what is shown, before it is scaled

    def show_picture(self, content: bytes, words: str) -> None:
        """Shows a PNG; ``words`` say what is seen."""
        self.content = QPixmap()
        self.content.loadFromData(content)
        self.setAccessibleName(tr("Figure"))
        self.setAccessibleDescription(words)
        self._fit()

    def show_words(self, text: str) -> None:
        """Says why there is no figure."""
        self.content = QPixmap()
        self.setText(text)
        self.setAccessibleName(tr("Figure"))
        self.setAccessibleDescription(text)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Scales, and asks for a sharper one."""
        super().resizeEvent(event)
        self._fit()
        self.resized.emit()

    def _fit(self) -> None:
        if self.content.isNull():
            return
        ratio = self.devicePixelRatioF()
        scaled = self.content.scaled(
            self.size() * ratio, Qt.AspectRatioMode.KeepAspectRatio, Qt.TransformationMode.SmoothTransformation
        )
        scaled.setDevicePixelRatio(ratio)
        self.setPixmap(scaled)
