"""The panel of sweeps as the window has it from the start: empty, for most sessions never sweep."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QVBoxLayout, QWidget

from subflow_app.core.language import tr


class LazySweepPanel(QWidget):
    """Says when it is first shown, and is filled then."""

    woken = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        """Nothing in it yet."""
        super().__init__(parent)
        self.setObjectName("sweep_panel")
        self.setAccessibleName(tr("Sweeps"))
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        self._is_awake = False

    def put_in(self, content: QWidget) -> None:
        """Fills it."""
        layout = self.layout()
        assert layout is not None
        layout.addWidget(content)
        self.setFocusProxy(content)

    def showEvent(self, event: QShowEvent) -> None:
        """Wakes."""
        super().showEvent(event)
        if not self._is_awake:
            self._is_awake = True
            self.woken.emit()
