"""A strip across the window: what happened, and what to do about it; it never takes the keyboard away."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from PySide6.QtCore import QEvent, QObject, QRect, QSize, Qt
from PySide6.QtWidgets import QFrame, QPushButton, QToolButton, QWidget

from subflow_app.toolkit.icons import icon
from subflow_app.toolkit.theme import set_style
from subflow_app.toolkit.widgets.labels import IconLabel
from subflow_app.toolkit.widgets.shorthand import Label, h_box, named, timer, v_box
from subflow_app.vocabulary.language import tr

Kind = Literal["info", "warning", "error"]

# Colours of ground and edge.
_COLOURS = {"info": ("info_fill", "accent"), "warning": ("warning_fill", "warning"), "error": ("error_fill", "error")}
# Long enough to read a sentence and reach for "Undo".
INFO_SHOWN_MS = 10_000


@dataclass(frozen=True, slots=True)
class Way:
    """A way on: a button of a banner."""

    text: str
    go: Callable[[], object]


class Banners(QWidget):
    """The banners of a window, newest on top: over the lower end of what is there, so that nothing moves."""

    def __init__(self, parent: QWidget | None = None) -> None:
        """No banner yet."""
        super().__init__(parent)
        self.setObjectName("banners")
        self._layout = v_box(self, margins=0, spacing=1)
        self._shown: dict[str, _Banner] = {}
        self._area: QWidget | None = None
        self._column: Callable[[], QRect] | None = None
        self._is_held_back = False
        self.hide()

    def lie_over(self, area: QWidget, column: Callable[[], QRect], followed: QWidget) -> None:
        """Shows all banners over the lower end of an area.

        Args:
            area: a sibling.
            column: the part of it whose width they take: forms beside it stay as they are while somebody types.
            followed: is resized with that part.
        """
        self._area, self._column = area, column
        for widget in (area, followed):
            widget.installEventFilter(self)
        self._lay()

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
        self._lay()

    def set_held_back(self, is_held_back: bool) -> None:
        """Keeps banners out of sight, until they may be seen again."""
        self._is_held_back = is_held_back
        self._lay()

    def close_banner(self, topic: str) -> None:
        """Takes the banner on this topic away, if there is one."""
        banner = self._shown.pop(topic, None)
        if banner is not None:
            self._layout.removeWidget(banner)
            banner.hide()
            banner.deleteLater()
            self._lay()

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

    def event(self, event: QEvent) -> bool:
        """Takes the height that banners need now."""
        done = super().event(event)
        if event.type() == QEvent.Type.LayoutRequest:
            self._lay()
        return done

    def eventFilter(self, _watched: QObject, event: QEvent) -> bool:
        """Stays at the lower end."""
        if event.type() in (QEvent.Type.Resize, QEvent.Type.Move, QEvent.Type.Show):
            self._lay()
        return False

    def _lay(self) -> None:
        is_seen = bool(self._shown) and not self._is_held_back
        self.setVisible(is_seen)
        if self._area is None or self._column is None or not is_seen:
            return
        room, column = self._area.geometry(), self._column()
        # Buttons in a narrow column: as wide as they need, but no wider than all.
        width = min(max(column.width(), self._layout.totalMinimumSize().width()), room.width())
        left = min(max(column.left(), room.left()), room.right() + 1 - width)
        height = min(self._layout.totalHeightForWidth(width), room.height())
        self.setGeometry(left, room.bottom() + 1 - height, width, height)
        self.raise_()


class _Banner(QFrame):
    def __init__(self, topic: str, kind: Kind, text: str, ways: Sequence[Way], owner: Banners) -> None:
        super().__init__(owner)
        named(self, f"banner_{topic}", text)
        self.text = text
        self._topic = topic
        self._owner = owner
        fill, edge = _COLOURS[kind]
        set_style(
            self,
            lambda t: (
                f"#banner_{topic} {{ background: {getattr(t, fill)}; border-left: 4px solid {getattr(t, edge)};"
                f" border-bottom: 1px solid {t.border}; }}"
            ),
        )
        label = Label(text, self, wordWrap=True)
        label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.buttons: dict[str, QPushButton] = {}
        for way in ways:
            button = QPushButton(way.text, self)
            button.clicked.connect(lambda _checked=False, way=way: self._take(way))
            self.buttons[way.text] = button
        close = QToolButton(self, autoRaise=True)
        close.setIcon(icon("close"))
        close.setAccessibleName(tr("Dismiss"))
        close.setToolTip(tr("Dismiss"))
        close.setIconSize(QSize(14, 14))
        close.clicked.connect(self._dismiss)
        sign = IconLabel(kind, edge, 18, self)
        h_box(self, sign, (label, 1), *self.buttons.values(), close, margins=(12, 6, 8, 6), spacing=8)
        if kind == "info":
            timer(self, self._dismiss, INFO_SHOWN_MS, is_single=True).start()

    def _take(self, way: Way) -> None:
        self._dismiss()
        way.go()

    def _dismiss(self) -> None:
        self._owner.close_banner(self._topic)
