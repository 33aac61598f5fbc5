"""Drawing time of the plots, with Subflow's settings and with pyqtgraph's defaults."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtWidgets import QApplication

from subflow_app.features.plots.core import Curve, PlotSpec
from subflow_app.features.plots.core.drawing import RAW_S, CurveChoices
from subflow_app.features.plots.qt.plot_stack import PlotStack
from subflow_app.features.plots.qt.time_plot import TimePlot
from subflow_app.features.traces.core.events import AGENT, DECISION, INTERVAL, EventLog
from subflow_app.features.traces.core.traces import SUBFLOW, SeriesKey, TraceMark, sample_times
from subflow_app.vocabulary import palette
from subflow_store.values import EventTable

CURVES = 10
SAMPLES = 100_000
WIDTH, HEIGHT = 1200, 600
TARGET_MS = 1000 / 60
"""Duration of a frame at 60 frames per second."""

_INTERVAL_S = 0.01
_FRAMES = 30
_WARM_UP = 5
_APPENDED = 33  # samples per frame: one second of simulation at 30 frames
VIEWS: Mapping[str, float] = {"full view": 1.0, "zoom to 10 %": 0.1, "zoom to 0.5 %": 0.005}
LIVE = "live, samples appended"


@dataclass(frozen=True, slots=True)
class FrameTimes:
    """Median processor time of the GUI thread per frame, ms, with our settings and with pyqtgraph's defaults."""

    ours_ms: float
    plain_ms: float


class _MadeRun:
    """A running simulation with a noisy saw-tooth per subflow; `count` samples are available so far."""

    title = "Saw-teeth"
    warmup_s = 0.0
    condition = ""
    row = None
    mss_bytes = 1448
    duration_s = SAMPLES * _INTERVAL_S

    def __init__(self) -> None:
        random = np.random.default_rng(1)
        self.count = SAMPLES
        self.labels = {f"flow/{number}": f"flow · path {number}" for number in range(1, CURVES + 1)}
        self.controllers = {"flow": "lia"}
        self.versions: dict[str, str] = {}
        self._times = sample_times(_INTERVAL_S, _INTERVAL_S, SAMPLES)
        self._values = {
            owner: (20 + 5 * rank + (self._times * (1 + rank / 7)) % 20 + random.normal(0, 1, SAMPLES)).astype(
                np.float32
            )
            for rank, owner in enumerate(self.labels)
        }

    def keys(self) -> Sequence[SeriesKey]:
        """A column per subflow."""
        return tuple(SeriesKey(SUBFLOW, owner, "cwnd_pkts", "pkt") for owner in self.labels)

    def read(self, key: SeriesKey) -> tuple[NDArray[np.float64], NDArray[np.float32]]:
        """The samples so far."""
        return self._times[: self.count], self._values[key.owner][: self.count]

    def marks(self) -> Sequence[TraceMark]:
        """None."""
        return ()

    def events(self, stream: str) -> EventTable:
        """None."""
        return EventLog({spec.name: spec for spec in (AGENT, DECISION, INTERVAL)}[stream]).table()

    def curves(self, _traces: object) -> list[Curve]:
        """Curves of the plot, each in a different hue."""
        return [
            Curve(self.labels[key.owner], key.owner, SUBFLOW, palette.ColourKey(rank, 0), *self.read(key))
            for rank, key in enumerate(self.keys())
        ]


def document() -> dict[str, Any]:
    """Measures every view."""
    frames = {view: asdict(times) for view, times in measure_plots().items()}
    return {"curves": CURVES, "samples": SAMPLES, "target_ms": TARGET_MS, "frames": frames}


def measure_plots() -> dict[str, FrameTimes]:
    """Draws ten curves of 100,000 samples in one plot, off screen and repeatedly; returns the times by view.

    Off screen, the figures contain only processor time; a real screen would add waiting for its refresh.
    """
    application = QApplication.instance() or QApplication([])
    assert isinstance(application, QApplication)
    ours, plain = (_measure(application, is_plain=is_plain) for is_plain in (False, True))
    return {view: FrameTimes(ours[view], plain[view]) for view in ours}


def _measure(application: QApplication, *, is_plain: bool) -> dict[str, float]:
    run = _MadeRun()
    spec = PlotSpec("bench", "Bench", "Window", "packets", 1.0, ((SUBFLOW, "cwnd_pkts"),), run.curves)
    stack = PlotStack([spec])
    stack.resize(WIDTH, HEIGHT)
    stack.show()
    if is_plain:
        stack.set_choices(CurveChoices(bin_s=RAW_S))
    stack.show_runs([run])
    if is_plain:
        _take_settings_away(stack.time_plots[0])
    times = {view: _frames(application, _panned(stack, share)) for view, share in VIEWS.items()}
    stack.fit()
    run.count = SAMPLES // 2

    def append() -> None:
        run.count += _APPENDED
        stack.refresh()

    times[LIVE] = _frames(application, append)
    stack.close()
    stack.deleteLater()
    application.processEvents()
    return times


def _take_settings_away(plot: TimePlot) -> None:
    """Restores pyqtgraph's defaults: every sample is drawn, without antialiasing."""
    plot.set_antialiased(False)
    for curve in plot.curves.values():
        curve.setDownsampling(ds=1, auto=False)
        curve.setClipToView(False)
        curve.opts["autoDownsampleFactor"] = 5.0


def _panned(stack: PlotStack, share: float) -> Callable[[], None]:
    """Shows this share of the time and moves it a little in each frame, as a drag does."""
    frame = 0

    def pan() -> None:
        nonlocal frame
        frame += 1
        width = share * _MadeRun.duration_s
        start = (_MadeRun.duration_s - width) / 2 + frame * 0.001 * width
        stack.set_time_range(start, start + width)

    return pan


def _frames(application: QApplication, change: Callable[[], None]) -> float:
    """Median processor time of the GUI thread for a change and the frame that shows it, ms."""
    spent = []
    for _ in range(_WARM_UP + _FRAMES):
        before = time.thread_time()
        change()
        # The frame itself: processing the events paints all changes.
        application.processEvents()
        spent.append(time.thread_time() - before)
    return 1e3 * statistics.median(spent[_WARM_UP:])
