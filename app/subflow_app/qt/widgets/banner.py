"""A strip across the top of the window: what happened, and what to do about it; it never takes the keyboard away."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from PySide6.QtCore import QSize, Qt, QTimer
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QSizePolicy, QToolButton, QVBoxLayout, QWidget

from subflow_app.core.language import tr
from subflow_app.qt.icons import icon
from subflow_app.qt.theme import Tokens, current_tokens

Kind = Literal["info", "warning", "error"]

# Long enough to read a sentence and reach for "Undo".
INFO_SHOWN_MS = 10_000


@dataclass(frozen=True, slots=True)
class Way:
    """A way on: a button of a banner."""

    text: str
    go: Callable[[], object]


class Banners(QWidget):
    """The banners of a window, newest on top; takes no room while there is none."""

    def __init__(self, parent: QWidget | None = None) -> None:
        """No banner yet."""
        super().__init__(parent)
        self.setObjectName("banners")
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Maximum)
        self._layout = QVBoxLayout(self)
        self._layout.setContentsMargins(0, 0, 0, 0)
        self._layout.setSpacing(1)
        self._shown: dict[str, _Banner] = {}

    def show_banner(self, topic: str, kind: Kind, text: str, ways: Sequence[Way] = ()) -> None:
        """Shows a banner; another one on the same topic goes.

        Args:
            topic: what it is about; object name of the banner.
            kind: an ``"info"`` goes by itself after a while, the others stay until they are closed.
            text: what happened, in whole sentences.
            ways: buttons; pressing one closes the banner first.
        """
        self.close_banner(topic)
        banner = _Banner(topic, kind, text, ways, self)
        self._shown[topic] = banner
        self._layout.insertWidget(0, banner)
        banner.show()

    def close_banner(self, topic: str) -> None:
        """Takes the banner on this topic away, if there is one."""
        banner = self._shown.pop(topic, None)
        if banner is not None:
            self._layout.removeWidget(banner)
            banner.hide()
            banner.deleteLater()

    def text(self, topic: str) -> str:
        """What the banner on this topic says; empty if there is none."""
        return self._shown[topic].text if topic in self._shown else ""

    def topics(self) -> tuple[str, ...]:
        """Topics of all banners shown."""
        return tuple(self._shown)

    def press(self, topic: str, way_text: str) -> None:
        """Presses a button of a banner.

        Raises:
            KeyError: if there is no such banner or button.
        """
        self._shown[topic].buttons[way_text].click()

    def apply_tokens(self, tokens: Tokens) -> None:
        """Recolours all banners."""
        for banner in self._shown.values():
            banner.apply_tokens(tokens)


class _Banner(QFrame):
    def __init__(self, topic: str, kind: Kind, text: str, ways: Sequence[Way], owner: Banners) -> None:
        super().__init__(owner)
        self.setObjectName(f"banner_{topic}")
        self.setAccessibleName(text)
        self.text = text
        self._kind = kind
        self._topic = topic
        self._owner = owner
        self._icon = QLabel(self)
        label = QLabel(text, self)
        label.setWordWrap(True)
        label.setTextFormat(Qt.TextFormat.PlainText)
        label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.buttons: dict[str, QPushButton] = {}
        layout = QHBoxLayout(self)
        layout.setContentsMargins(12, 6, 8, 6)
        layout.setSpacing(8)
        layout.addWidget(self._icon)
        layout.addWidget(label, 1)
        for way in ways:
            button = QPushButton(way.text, self)
            button.clicked.connect(lambda _checked=False, way=way: self._take(way))
            self.buttons[way.text] = button
            layout.addWidget(button)
        self._close = QToolButton(self)
        self._close.setAccessibleName(tr("Dismiss"))
        self._close.setToolTip(tr("Dismiss"))
        self._close.setAutoRaise(True)
        self._close.setIconSize(QSize(14, 14))
        self._close.clicked.connect(self._dismiss)
        layout.addWidget(self._close)
        self.apply_tokens(current_tokens())
        if kind == "info":
            timer = QTimer(self)
            timer.setSingleShot(True)
            timer.timeout.connect(self._dismiss)
            timer.start(INFO_SHOWN_MS)

    def apply_tokens(self, tokens: Tokens) -> None:
        fill, edge = {
            "info": (tokens.info_fill, tokens.accent),
            "warning": (tokens.warning_fill, tokens.warning),
            "error": (tokens.error_fill, tokens.error),
        }[self._kind]
        self.setStyleSheet(
            f"#{self.objectName()} {{ background: {fill}; border-left: 4px solid {edge};"
            f" border-bottom: 1px solid {tokens.border}; }}"
        )
        self._icon.setPixmap(icon(self._kind, edge).pixmap(18, 18))
        self._close.setIcon(icon("close"))

    def _take(self, way: Way) -> None:
        self._dismiss()
        way.go()

    def _dismiss(self) -> None:
        self._owner.close_banner(self._topic)
