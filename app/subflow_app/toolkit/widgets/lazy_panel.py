"""A panel as the window has it from the start: empty, for most sessions never look at it."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QScrollArea, QWidget

from subflow_app.toolkit.widgets.shorthand import named, v_box


class LazyPanel(QWidget):
    """Says when it is first shown, and is filled then."""

    first_shown = Signal()

    def __init__(self, name: str, text: str, parent: QWidget | None = None, *, room: tuple[int, int] = (0, 0)) -> None:
        """Nothing in it yet.

        Args:
            name: object name.
            text: accessible name.
            parent: Qt parent.
            room: width and height, px, that the content is to have at least. Docks ask for it before there is content.
        """
        super().__init__(parent)
        self._room = QSize(*room)
        named(self, name, text)
        v_box(self, margins=0)
        self._was_shown = False

    def put_in(self, content: QWidget, *, scrolls: bool = False) -> None:
        """Fills it.

        Args:
            content: what the panel is for.
            scrolls: the panel may become smaller than its content, down to its room.
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
        # The layout would show it in the next turn of the event loop, too late for the keyboard that goes there.
        outer.show()
        content.show()
        self.setFocusProxy(content)

    def minimumSizeHint(self) -> QSize:
        """What its content needs, whether it is there yet or not."""
        return super().minimumSizeHint().expandedTo(self._room)

    def showEvent(self, event: QShowEvent) -> None:
        """Reports the first time."""
        super().showEvent(event)
        if not self._was_shown:
            self._was_shown = True
            self.first_shown.emit()
