"""The state of the run in the time bar, and the slider that sets its speed.

The time bar shows the speed and the remaining time of a run in progress, or its state. The slider has a logarithmic
scale, from slow motion to the highest possible speed.
"""

from __future__ import annotations

import math

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QSlider, QWidget

from subflow_app.features.running.core.runs import MOST_SPEED_STEPS, RunProgress, position_of, speed_at, speed_text
from subflow_app.foundation.jobs.progress import JobState
from subflow_app.toolkit import format as fmt
from subflow_app.toolkit.theme import muted
from subflow_app.toolkit.widgets.labels import ElidedLabel
from subflow_app.toolkit.widgets.shorthand import named
from subflow_app.vocabulary.language import tr


class RunStatus(ElidedLabel):
    """State of the current run; hidden while no run is in progress."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent, Qt.TextElideMode.ElideRight)
        named(muted(self), "run_status", tr("State of the run"))
        # The width of a changing number varies. A minimum width keeps the adjacent widgets in place.
        self.setMinimumWidth(self.fontMetrics().horizontalAdvance("888×, 88 s"))
        self.hide()

    def show_progress(self, progress: RunProgress) -> None:
        """Shows the speed and the remaining time of a run, or that it is paused; hidden once the run is over."""
        if progress.state.is_over or progress.state is JobState.PAUSED:
            words = [tr(progress.state.value)]
        else:
            words = [f"{fmt.number(progress.speed)}×" if progress.speed > 0 else ""]
            if not math.isnan(progress.eta_s):
                words.append(tr("{time} left", time=fmt.duration(progress.eta_s)))
        self.setText(", ".join(filter(None, words)))
        self.setAccessibleDescription(f"{fmt.progress(progress.sim_time_s, progress.duration_s)}, {self.text()}")
        self.setVisible(not progress.state.is_over)


_WIDTH = 110


class SpeedSlider(QSlider):
    """Toolbar slider for the speed limit. Arrow keys move it by a tenth of a decade, and page keys by a decade."""

    limit_chosen = Signal(object)  # float, maximum number of simulated seconds per second; None: no limit

    def __init__(self, parent: QWidget | None = None) -> None:
        """Starts without a limit."""
        super().__init__(Qt.Orientation.Horizontal, parent)
        self.setObjectName("speed_slider")
        self.setRange(0, MOST_SPEED_STEPS)
        self.setPageStep(10)
        self.setFixedWidth(_WIDTH)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.show_limit(None)
        self.valueChanged.connect(self._on_moved)

    def show_limit(self, limit: float | None) -> None:
        """Shows a limit without emitting `limit_chosen`; None: no limit."""
        blocked = self.blockSignals(True)
        self.setValue(position_of(limit))
        self.blockSignals(blocked)
        speed = speed_text(limit) or tr("as fast as possible")
        self.setToolTip(tr("Speed of the run: {speed}", speed=speed))
        self.setAccessibleName(tr("Speed of the run"))
        self.setAccessibleDescription(speed)

    def _on_moved(self, position: int) -> None:
        self.limit_chosen.emit(speed_at(position))
