"""Panels without content: the notice in an empty panel, and panels that are filled when first shown.

The notice gives the reason and suggests an action.

The window has all panels from the start. They begin empty, because most sessions show only a few of them.
"""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QAction, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QLayout, QScrollArea, QToolButton, QWidget

from subflow_app.toolkit.theme import call_style, muted, set_style
from subflow_app.toolkit.widgets.labels import IconLabel
from subflow_app.toolkit.widgets.shorthand import Label, heading, named, v_box

_ICON_SIZE = 36
_TEXT_WIDTH = 400  # a comfortable line length
_LEAST_TEXT_WIDTH = 250
_MARGIN = 24


class EmptyState(QWidget):
    """An icon, a title, a sentence and at most two actions, in the middle of the panel."""

    def __init__(
        self,
        icon_name: str,
        title: str,
        text: str,
        action: QAction | None = None,
        parent: QWidget | None = None,
        text_width: int = _TEXT_WIDTH,
    ) -> None:
        """Show ``title`` and ``text``, with ``action`` as a button. In a narrow panel, the text wraps."""
        super().__init__(parent)
        self._text_width = text_width
        self._title = heading(named(Label(title, self), "empty_title"), 1.25)
        self._text = muted(Label(text, self, wordWrap=True))
        parts: list[QWidget | int] = [IconLabel(icon_name, "muted_text", _ICON_SIZE, self), self._title, self._text]
        for label in (self._title, self._text):
            label.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._button = self._new_button(action)
        set_style(self._button, call_style)
        self._other = self._new_button(None)
        self._other.setAutoRaise(True)
        parts += [8, self._button, self._other]
        centred = (part if isinstance(part, int) else (part, 0, Qt.AlignmentFlag.AlignHCenter) for part in parts)
        box = v_box(self, (None, 2), *centred, (None, 3), margins=(_MARGIN, 8, _MARGIN, 8), spacing=6)
        # Without a parent, the layout would otherwise fix the width of an unwrapped text as the minimum.
        box.setSizeConstraint(QLayout.SizeConstraint.SetNoConstraint)
        self.set_text(title, text)

    def _new_button(self, action: QAction | None) -> QToolButton:
        button = QToolButton(self)
        # The action's icon has the colours of the toolbar, which do not suit these buttons.
        button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextOnly)
        _offer(button, action)
        return button

    def offer(self, action: QAction, other: QAction | None = None) -> None:
        """Replace the buttons: the action that the text suggests, and another way below it."""
        _offer(self._button, action)
        _offer(self._other, other)

    def set_text(self, title: str, text: str) -> None:
        """Replace title and text."""
        self._title.setText(title)
        self._text.setText(text)
        self._take_width()

    def minimumSizeHint(self) -> QSize:
        """The size that the text needs when it wraps in short lines."""
        least = min(self._text_width, _LEAST_TEXT_WIDTH)
        hint = super().minimumSizeHint()
        # Reserve the height of short lines even in a wide panel, so that they fit when the panel gets narrow.
        more = max(0, self._text.heightForWidth(least) - self._text.height())
        return QSize(least + 2 * _MARGIN, hint.height() + more)

    def showEvent(self, event: QShowEvent) -> None:
        """Lay the text out again, because its font may have changed."""
        super().showEvent(event)
        self._take_width()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Lay the text out for the new width."""
        super().resizeEvent(event)
        self._take_width()

    def _take_width(self) -> None:
        # Set explicitly, because a layout that centres a label ignores the height of its wrapped text.
        least = min(self._text_width, _LEAST_TEXT_WIDTH)
        width = min(self._text_width, max(least, self.width() - 2 * _MARGIN))
        self._text.setMinimumSize(0, 0)  # the height for a width is never less than the least height
        self._text.setFixedSize(width, max(0, self._text.heightForWidth(width)))


def _offer(button: QToolButton, action: QAction | None) -> None:
    for before in button.actions():
        button.removeAction(before)
    if action is not None:
        button.setDefaultAction(action)
    button.setVisible(action is not None)


class LazyPanel(QWidget):
    """A panel that emits a signal when first shown, so that it can be filled only then."""

    first_shown = Signal()

    def __init__(self, name: str, text: str, parent: QWidget | None = None, *, room: tuple[int, int] = (0, 0)) -> None:
        """Create an empty panel.

        Args:
            name: object name.
            text: accessible name.
            parent: Qt parent.
            room: minimum width and height of the later content, px. Docks use it before the content exists.
        """
        super().__init__(parent)
        self._room = QSize(*room)
        named(self, name, text)
        v_box(self, margins=0)
        self._was_shown = False

    def put_in(self, content: QWidget, *, scrolls: bool = False) -> None:
        """Fill the panel.

        Args:
            content: content of the panel.
            scrolls: whether the panel may become smaller than its content, down to `room`.
        """
        layout = self.layout()
        assert layout is not None
        outer = content
        if scrolls:
            outer = area = named(QScrollArea(self, widgetResizable=True), f"{self.objectName()}_scroll")
            area.setFrameShape(area.Shape.NoFrame)
            area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
            area.setWidget(content)
        layout.addWidget(outer)
        # The layout would show the content only in the next turn of the event loop, too late to receive the keyboard
        # focus.
        outer.show()
        content.show()
        self.setFocusProxy(content)

    def minimumSizeHint(self) -> QSize:
        """Minimum size of the content, even before it exists."""
        return super().minimumSizeHint().expandedTo(self._room)

    def showEvent(self, event: QShowEvent) -> None:
        """Emit `first_shown` the first time."""
        super().showEvent(event)
        if not self._was_shown:
            self._was_shown = True
            self.first_shown.emit()
