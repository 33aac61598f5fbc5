"""The line above a comparison that tells how far the kernel's run is, with the button that stops it."""

from __future__ import annotations

import math

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QPushButton, QWidget

from subflow_app.features.kernel.core.study import KernelStudy
from subflow_app.toolkit import format as fmt
from subflow_app.toolkit.plain_text import Label
from subflow_app.toolkit.widgets.share_bar import ShareBar
from subflow_app.toolkit.widgets.shorthand import h_box, named, timer
from subflow_app.vocabulary.language import tr

_FOLLOW_MS = 250


class KernelStrip(QWidget):
    """Follows one study; hidden while there is none."""

    stop_requested = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        """Hidden."""
        super().__init__(parent)
        self.setObjectName("kernel_strip")
        self._study: KernelStudy | None = None
        self.text = named(Label(self), "kernel_text")
        self.bar = named(ShareBar(self), "kernel_progress", tr("Progress of the kernel's run"))
        self.stop = named(QPushButton(tr("S&top"), self), "kernel_stop")
        self.stop.clicked.connect(self.stop_requested)
        h_box(self, self.text, (self.bar, 1), self.stop, margins=(8, 4, 8, 4))
        self._timer = timer(self, self._draw, _FOLLOW_MS)
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
        self.bar.show_share(progress.fraction)
        has_begun = math.isfinite(progress.eta_s)
        left = tr("{time} to go", time=fmt.duration(progress.eta_s)) if has_begun else tr("starting")
        self.text.setText(tr("{scenario} on the kernel, in real time: {left}", scenario=self._study.name, left=left))
