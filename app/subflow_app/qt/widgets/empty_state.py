"""What a panel shows while it has nothing to show: why, and what to do about it."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QAction, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QLabel, QToolButton, QVBoxLayout, QWidget

from subflow_app.qt.icons import icon
from subflow_app.qt.theme import Tokens, current_tokens

_ICON_SIZE = 36
_TEXT_WIDTH = 400  # a short line of a book
_LEAST_TEXT_WIDTH = 250
_MARGIN = 24


class EmptyState(QWidget):
    """An icon, a title, a sentence and at most one action, in the middle of the panel."""

    def __init__(
        self,
        icon_name: str,
        title: str,
        text: str,
        action: QAction | None = None,
        parent: QWidget | None = None,
        text_width: int = _TEXT_WIDTH,
    ) -> None:
        """Says ``title`` and ``text``; ``action`` becomes a button. In a narrow panel the text has more lines."""
        super().__init__(parent)
        self._text_width = text_width
        self._icon_name = icon_name
        self._icon = QLabel(self)
        self._title = QLabel(title, self)
        self._title.setObjectName("empty_title")
        font = self._title.font()
        font.setPointSizeF(font.pointSizeF() * 1.25)
        font.setBold(True)
        self._title.setFont(font)
        self._text = QLabel(text, self)
        self._text.setWordWrap(True)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(_MARGIN, 8, _MARGIN, 8)
        layout.setSpacing(6)
        layout.addStretch(2)
        for label in (self._icon, self._title, self._text):
            label.setAlignment(Qt.AlignmentFlag.AlignCenter)
            layout.addWidget(label, 0, Qt.AlignmentFlag.AlignHCenter)
        self._button: QToolButton | None = None
        if action is not None:
            self._button = QToolButton(self)
            self._button.setDefaultAction(action)
            # Its icon has the colours of the toolbar, not those of this button.
            self._button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextOnly)
            layout.addSpacing(8)
            layout.addWidget(self._button, 0, Qt.AlignmentFlag.AlignHCenter)
        layout.addStretch(3)
        self.set_text(title, text)
        self.apply_tokens(current_tokens())

    def set_text(self, title: str, text: str) -> None:
        """Says something else."""
        self._title.setText(title)
        self._text.setText(text)
        self._take_width()

    def minimumSizeHint(self) -> QSize:
        """Room for the text in short lines."""
        least = min(self._text_width, _LEAST_TEXT_WIDTH)
        hint = super().minimumSizeHint()
        # Its height too is that of short lines: as low as it is wide, there would be no room for those it gets then.
        more = max(0, self._text.heightForWidth(least) - self._text.height())
        return QSize(least + 2 * _MARGIN, hint.height() + more)

    def showEvent(self, event: QShowEvent) -> None:
        """Lays the text out in the font that it has by now."""
        super().showEvent(event)
        self._take_width()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Lays the text out for the new width."""
        super().resizeEvent(event)
        self._take_width()

    def _take_width(self) -> None:
        # A layout that centres a label does not ask it how high its wrapped text is.
        least = min(self._text_width, _LEAST_TEXT_WIDTH)
        width = min(self._text_width, max(least, self.width() - 2 * _MARGIN))
        self._text.setFixedSize(width, max(0, self._text.heightForWidth(width)))

    def apply_tokens(self, tokens: Tokens) -> None:
        """Recolours icon and text."""
        self._icon.setPixmap(icon(self._icon_name, tokens.muted_text).pixmap(_ICON_SIZE, _ICON_SIZE))
        self._text.setStyleSheet(f"color: {tokens.muted_text};")
        if self._button is not None:
            self._button.setStyleSheet(
                f"QToolButton {{ background: {tokens.accent}; color: {tokens.accent_text}; border: none;"
                " border-radius: 6px; padding: 7px 16px; }"
                f"QToolButton:disabled {{ background: {tokens.border}; color: {tokens.muted_text}; }}"
            )
