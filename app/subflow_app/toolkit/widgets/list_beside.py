"""A list beside the details of the selected entry, with its buttons and a progress bar.

The bar shows a share as finely as a screen can. The buttons of actions form a row.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from PySide6.QtGui import QAction, QResizeEvent
from PySide6.QtWidgets import QProgressBar, QSplitter, QToolButton, QWidget

from subflow_app.toolkit.theme import muted
from subflow_app.toolkit.widgets.shorthand import Label, h_box, named, split, v_box


def action_buttons(actions: Iterable[QAction]) -> list[QToolButton]:
    """An icon to press for each."""
    buttons = []
    for action in actions:
        button = QToolButton(autoRaise=True)
        button.setDefaultAction(action)
        buttons.append(button)
    return buttons


_STEPS = 1000


class ShareBar(QProgressBar):
    """Without a number in it: what it says stands beside it."""

    def __init__(self, parent: QWidget | None = None) -> None:
        """Nothing is done yet."""
        super().__init__(parent, maximum=_STEPS, textVisible=False)

    def show_share(self, share: float) -> None:
        """Shows how much is done, 0 to 1."""
        self.setValue(round(_STEPS * share))


class ToldBar(ShareBar):
    """With what goes on as a text in it; there only while something does."""

    def __init__(self, parent: QWidget | None = None) -> None:
        """Nothing goes on."""
        super().__init__(parent)
        self.setTextVisible(True)
        self.hide()

    def show_told(self, share: float, text: str) -> None:
        """Shows how much is done, 0 to 1, and what goes on."""
        self.show_share(share)
        self.setFormat(text)
        self.show()


_BAR_HEIGHT = 6


class ListBeside(QSplitter):
    """The list has the width that it needs, and never more than its share; who has moved the border is left alone."""

    def __init__(
        self, name: str, rows: QWidget, page: QWidget, actions: Sequence[QAction], widths: tuple[int, float, int]
    ) -> None:
        """No progress yet.

        Args:
            name: object names of bar and text begin with it.
            rows: the list.
            page: what stands beside it.
            actions: become buttons above the list.
            widths: of the list: the most, px, its share, and the least, px.
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
        """Shows how far it is, 0 to 1, and says so."""
        self.bar.show_share(fraction)
        self.text.setText(text)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Shares out the width."""
        super().resizeEvent(event)
        if not self._has_moved:
            most, share, least = self._widths
            width = min(most, max(least, round(share * self.width())))
            self.setSizes([width, self.width() - width])

    def _on_moved(self) -> None:
        self._has_moved = True
