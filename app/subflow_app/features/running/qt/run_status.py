"""The progress of the run in the status bar, and the slider that sets its speed.

The right end of the status bar shows the progress, simulated time, speed and remaining time. The slider has a
logarithmic scale, from slow motion to the highest possible speed.
"""

from __future__ import annotations

import math

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QLabel, QSlider, QWidget

from subflow_app.features.running.core.runs import MOST_SPEED_STEPS, RunProgress, position_of, speed_at, speed_text
from subflow_app.foundation.jobs.progress import JobState
from subflow_app.toolkit import format as fmt
from subflow_app.toolkit.theme import muted
from subflow_app.toolkit.widgets.list_beside import ShareBar
from subflow_app.toolkit.widgets.shorthand import Label, h_box, named
from subflow_app.vocabulary.language import tr


class RunStatus(QWidget):
    """Progress of the latest run; hidden before the first run, and after a different scenario has been opened."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("run_status")
        self._bar = named(ShareBar(self), "run_progress", tr("Progress of the run"))
        self._bar.setFixedWidth(140)
        self._time = self._label("run_time", fmt.progress(8888.8, 8888.0))
        self._speed = self._label("run_speed", fmt.speed(88_000.0))
        self._left = self._label("run_left", tr("{time} left", time=fmt.duration(50 * 60.0 + 50)))
        bar = (self._bar, 0, Qt.AlignmentFlag.AlignVCenter)
        h_box(self, bar, self._time, self._speed, self._left, margins=(4, 0, 4, 0), spacing=10)
        self.hide()

    def show_progress(self, progress: RunProgress) -> None:
        """Shows this widget with the progress of a run."""
        self._bar.show_share(progress.fraction)
        self._time.setText(fmt.progress(progress.sim_time_s, progress.duration_s))
        self._speed.setText(fmt.speed(progress.speed) if progress.speed > 0 else "")
        if progress.state.is_over or progress.state is JobState.PAUSED:
            self._left.setText(tr(progress.state.value))
        else:
            self._left.setText(
                "" if math.isnan(progress.eta_s) else tr("{time} left", time=fmt.duration(progress.eta_s))
            )
        self.show()

    def text(self) -> str:
        """The texts of all labels that are not empty, in one line."""
        return " · ".join(label.text() for label in (self._time, self._speed, self._left) if label.text())

    def _label(self, name: str, widest: str) -> QLabel:
        label = named(muted(Label(self)), name)
        # The width of a changing number varies. A minimum width keeps the adjacent labels in place.
        label.setMinimumWidth(label.fontMetrics().horizontalAdvance(widest))
        return label


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
        said = speed_text(limit) or tr("as fast as possible")
        self.setToolTip(tr("Speed of the run: {speed}", speed=said))
        self.setAccessibleName(tr("Speed of the run"))
        self.setAccessibleDescription(said)

    def _on_moved(self, position: int) -> None:
        self.limit_chosen.emit(speed_at(position))
