"""The line above a comparison that tells how far the kernel's run is, with the button that stops it."""

from __future__ import annotations

import math

from PySide6.QtCore import QTimer, Signal
from PySide6.QtWidgets import QHBoxLayout, QLabel, QProgressBar, QPushButton, QWidget

from subflow_app.core.language import tr
from subflow_app.kernel.study import KernelStudy
from subflow_app.qt import format as fmt

_FOLLOW_MS = 250
_STEPS = 1000


class KernelStrip(QWidget):
    """Follows one study; hidden while there is none."""

    stop_requested = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        """Hidden."""
        super().__init__(parent)
        self.setObjectName("kernel_strip")
        self._study: KernelStudy | None = None
        self.text = QLabel(self)
        self.text.setObjectName("kernel_text")
        self.bar = QProgressBar(self)
        self.bar.setObjectName("kernel_progress")
        self.bar.setAccessibleName(tr("How far the kernel's run is"))
        self.bar.setRange(0, _STEPS)
        self.bar.setTextVisible(False)
        self.stop = QPushButton(tr("S&top"), self)
        self.stop.setObjectName("kernel_stop")
        self.stop.clicked.connect(self.stop_requested)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(8, 4, 8, 4)
        layout.addWidget(self.text)
        layout.addWidget(self.bar, 1)
        layout.addWidget(self.stop)
        self._timer = QTimer(self)
        self._timer.setInterval(_FOLLOW_MS)
        self._timer.timeout.connect(self._draw)
        self.hide()

    def follow(self, study: KernelStudy | None) -> None:
        """Follows this study; None hides the line."""
        self._study = study
        self.setVisible(study is not None)
        self.stop.setEnabled(study is not None)
        if study is None:
            self._timer.stop()
        else:
            self._draw()
            self._timer.start()

    def _draw(self) -> None:
        if self._study is None:
            return
        progress = self._study.progress
        self.bar.setValue(round(_STEPS * progress.fraction))
        has_begun = math.isfinite(progress.eta_s)
        left = tr("{time} to go", time=fmt.duration(progress.eta_s)) if has_begun else tr("starting")
        self.text.setText(tr("{scenario} on the kernel, in real time: {left}", scenario=self._study.name, left=left))
