"""A list with its buttons and its progress, and beside it what is selected in it."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtGui import QAction, QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QProgressBar, QSplitter, QVBoxLayout, QWidget

from subflow_app.qt.theme import muted
from subflow_app.qt.widgets.action_buttons import add_buttons

_STEPS = 1000
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
        self.bar = QProgressBar()
        self.bar.setObjectName(f"{name}_progress")
        self.bar.setRange(0, _STEPS)
        self.bar.setTextVisible(False)
        self.bar.setMaximumHeight(_BAR_HEIGHT)
        self.text = muted(QLabel())
        self.text.setObjectName(f"{name}_text")
        self.text.setContentsMargins(8, 0, 8, 3)
        top = QHBoxLayout()
        top.setContentsMargins(6, 4, 6, 4)
        add_buttons(top, actions)
        top.addWidget(self.bar, 1)
        left = QWidget()
        layout = QVBoxLayout(left)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addLayout(top)
        layout.addWidget(self.text)
        layout.addWidget(rows, 1)
        self.addWidget(left)
        self.addWidget(page)
        self.setStretchFactor(0, 0)
        self.setStretchFactor(1, 1)
        self.splitterMoved.connect(self._on_moved)

    def show_progress(self, fraction: float, text: str) -> None:
        """Shows how far it is, 0 to 1, and says so."""
        self.bar.setValue(round(_STEPS * fraction))
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
