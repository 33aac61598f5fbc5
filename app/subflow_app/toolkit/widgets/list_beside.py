"""A list beside the details of the selected entry, with action buttons and a progress bar.

The progress bar has a thousand steps, so that slow progress is visible.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from PySide6.QtGui import QAction, QResizeEvent
from PySide6.QtWidgets import QProgressBar, QSplitter, QToolButton, QWidget

from subflow_app.toolkit.theme import muted
from subflow_app.toolkit.widgets.shorthand import Label, h_box, named, split, v_box


def action_buttons(actions: Iterable[QAction]) -> list[QToolButton]:
    """An icon button for each action."""
    buttons = []
    for action in actions:
        button = QToolButton(autoRaise=True)
        button.setDefaultAction(action)
        buttons.append(button)
    return buttons


_STEPS = 1000


class ShareBar(QProgressBar):
    """A progress bar without text in it; a separate label shows the number."""

    def __init__(self, parent: QWidget | None = None) -> None:
        """Start at zero."""
        super().__init__(parent, maximum=_STEPS, textVisible=False)

    def show_share(self, share: float) -> None:
        """Show the finished share, 0 to 1."""
        self.setValue(round(_STEPS * share))


class ToldBar(ShareBar):
    """A progress bar that shows the current activity as its text; hidden until the first `show_told`."""

    def __init__(self, parent: QWidget | None = None) -> None:
        """Start hidden."""
        super().__init__(parent)
        self.setTextVisible(True)
        self.hide()

    def show_told(self, share: float, text: str) -> None:
        """Show the finished share, 0 to 1, and the current activity."""
        self.show_share(share)
        self.setFormat(text)
        self.show()


_BAR_HEIGHT = 6


class ListBeside(QSplitter):
    """A splitter whose list takes a share of the whole width, within limits, until the user moves the border."""

    def __init__(
        self, name: str, rows: QWidget, page: QWidget, actions: Sequence[QAction], widths: tuple[int, float, int]
    ) -> None:
        """Start without progress.

        Args:
            name: prefix of the object names of the progress bar and its text.
            rows: the list.
            page: the widget beside the list.
            actions: actions for the buttons above the list.
            widths: maximum width of the list, px, its share of the whole, and its minimum width, px.
        """
        super().__init__()
        self._widths = widths
        self._has_moved = False
        self.bar = named(ShareBar(), f"{name}_progress")
        self.bar.setMaximumHeight(_BAR_HEIGHT)
        self.text = named(muted(Label()), f"{name}_text")
        self.text.setContentsMargins(8, 0, 8, 3)
        top = h_box(None, *action_buttons(actions), (self.bar, 1), margins=(6, 4, 6, 4))
        left = QWidget()
        v_box(left, top, self.text, (rows, 1), margins=0, spacing=0)
        split(self, left, page)
        self.splitterMoved.connect(self._on_moved)

    def show_progress(self, fraction: float, text: str) -> None:
        """Show the finished share, 0 to 1, and a text about it."""
        self.bar.show_share(fraction)
        self.text.setText(text)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Divide the width, unless the user has moved the border."""
        super().resizeEvent(event)
        if not self._has_moved:
            most, share, least = self._widths
            width = min(most, max(least, round(share * self.width())))
            self.setSizes([width, self.width() - width])

    def _on_moved(self) -> None:
        self._has_moved = True
