"""A strip across the window with a message and buttons for remedies; it never takes the keyboard focus."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from PySide6.QtCore import QEvent, QObject, QRect, QSize, Qt
from PySide6.QtGui import QAccessible, QAccessibleEvent
from PySide6.QtWidgets import QFrame, QLabel, QPushButton, QToolButton, QWidget

from subflow_app.toolkit.icons import icon
from subflow_app.toolkit.theme import set_style
from subflow_app.toolkit.widgets.labels import IconLabel
from subflow_app.toolkit.widgets.shorthand import Label, h_box, named, timer, v_box
from subflow_app.vocabulary.language import tr

Kind = Literal["info", "warning", "error"]

# Colours of background and edge.
_COLOURS = {"info": ("info_fill", "accent"), "warning": ("warning_fill", "warning"), "error": ("error_fill", "error")}
# Long enough to read a sentence and to click "Undo".
INFO_SHOWN_MS = 10_000


@dataclass(frozen=True, slots=True)
class Way:
    """A button of a banner for a remedy or a next action."""

    text: str
    go: Callable[[], object]


class Banners(QWidget):
    """The banners of a window, newest on top, drawn over the lower end of an area, so that no widget moves."""

    def __init__(self, parent: QWidget | None = None) -> None:
        """Start without banners."""
        super().__init__(parent)
        self.setObjectName("banners")
        self._layout = v_box(self, margins=0, spacing=1)
        self._shown: dict[str, _Banner] = {}
        self._area: QWidget | None = None
        self._column: Callable[[], QRect] | None = None
        self._is_held_back = False
        self.hide()

    def lie_over(self, area: QWidget, column: Callable[[], QRect], followed: QWidget) -> None:
        """Show all banners over the lower end of an area.

        Args:
            area: a sibling widget.
            column: returns the rectangle whose width the banners take, so that forms beside it remain usable.
            followed: a widget that is resized together with that rectangle.
        """
        self._area, self._column = area, column
        for widget in (area, followed):
            widget.installEventFilter(self)
        self._lay()

    def show_banner(self, topic: str, kind: Kind, text: str, ways: Sequence[Way] = ()) -> None:
        """Show a banner; it replaces an earlier one on the same topic.

        Args:
            topic: topic and object name of the banner.
            kind: an ``"info"`` closes after a while; other kinds remain until the user or the program closes them.
            text: the message in complete sentences.
            ways: buttons; pressing a button first closes the banner.
        """
        self.close_banner(topic)
        banner = _Banner(topic, kind, text, ways, self)
        self._shown[topic] = banner
        self._layout.insertWidget(0, banner)
        banner.show()
        self._lay()

    def set_held_back(self, is_held_back: bool) -> None:
        """Hide all banners, or show them again."""
        self._is_held_back = is_held_back
        self._lay()

    def close_banner(self, topic: str) -> None:
        """Close the banner on this topic, if any."""
        banner = self._shown.pop(topic, None)
        if banner is not None:
            self._layout.removeWidget(banner)
            banner.hide()
            banner.deleteLater()
            self._lay()

    def text(self, topic: str) -> str:
        """Text of the banner on this topic; empty if no such banner is shown."""
        return self._shown[topic].text if topic in self._shown else ""

    def topics(self) -> tuple[str, ...]:
        """Topics of all current banners."""
        return tuple(self._shown)

    def press(self, topic: str, way_text: str) -> None:
        """Press a button of a banner.

        Raises:
            KeyError: if the banner or button does not exist.
        """
        self._shown[topic].buttons[way_text].click()

    def event(self, event: QEvent) -> bool:
        """Adapt the height when the layout changes."""
        done = super().event(event)
        if event.type() == QEvent.Type.LayoutRequest:
            self._lay()
        return done

    def eventFilter(self, _watched: QObject, event: QEvent) -> bool:
        """Keep the banners at the lower end of the area when it changes."""
        if event.type() in (QEvent.Type.Resize, QEvent.Type.Move, QEvent.Type.Show):
            self._lay()
        return False

    def _lay(self) -> None:
        is_seen = bool(self._shown) and not self._is_held_back
        self.setVisible(is_seen)
        if self._area is None or self._column is None or not is_seen:
            return
        room, column = self._area.geometry(), self._column()
        # If the buttons do not fit a narrow column, the banners may become as wide as the whole area.
        width = min(max(column.width(), self._layout.totalMinimumSize().width()), room.width())
        left = min(max(column.left(), room.left()), room.right() + 1 - width)
        height = min(self._layout.totalHeightForWidth(width), room.height())
        self.setGeometry(left, room.bottom() + 1 - height, width, height)
        self.raise_()


_MESSAGE_MS = 8000


class MessageLine(QLabel):
    """A short message over the lower left corner of an area, which goes after some seconds; the mouse ignores it."""

    def __init__(self, parent: QWidget | None = None) -> None:
        """Start without a message."""
        super().__init__(parent)
        named(self, "message_line")
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setWordWrap(True)
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self._area: QWidget | None = None
        self._timer = timer(self, self.clear_message, _MESSAGE_MS, is_single=True)
        set_style(
            self,
            lambda t: (
                f"#message_line {{ background: {t.text}; color: {t.base}; border-radius: 4px; padding: 4px 10px; }}"
            ),
        )
        self.hide()

    def lie_over(self, area: QWidget) -> None:
        """Show messages over an area, a sibling widget."""
        self._area = area
        area.installEventFilter(self)

    def show_message(self, text: str) -> None:
        """Show a message for some seconds; an empty text hides the message before."""
        if not text:
            self.clear_message()
            return
        self.setText(text)
        self._lay()
        self.show()
        self.raise_()
        self._timer.start()
        QAccessible.updateAccessibility(QAccessibleEvent(self, QAccessible.Event.Alert))

    def clear_message(self) -> None:
        """Hide the message."""
        self._timer.stop()
        self.hide()
        self.clear()

    def eventFilter(self, _watched: QObject, event: QEvent) -> bool:
        """Follow the area."""
        if event.type() in (QEvent.Type.Resize, QEvent.Type.Move) and self.isVisible():
            self._lay()
        return False

    def _lay(self) -> None:
        if self._area is None:
            return
        room = self._area.geometry()
        width = min(self.fontMetrics().horizontalAdvance(self.text()) + 28, room.width() - 16)
        height = self.heightForWidth(width)
        self.setGeometry(room.left() + 8, room.bottom() - height - 7, width, height)


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
