"""Watches of scripts: expressions plotted as curves, computed by a replay of the shown runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from subflow_app.features.plots.core.spec import Curve, PlotSpec, transport_colours
from subflow_app.features.traces.core.traces import FLOW, SUBFLOW, Traces
from subflow_app.foundation.errors import InputError
from subflow_app.foundation.problem_texts import error_text
from subflow_app.toolkit.widgets.shorthand import timer
from subflow_app.toolkit.workers import LatestReader, Workers
from subflow_app.vocabulary.language import tr, translatable

if TYPE_CHECKING:
    from subflow_app.features.explain.core.replay import Replay
    from subflow_app.features.explain.core.watches import Series, Watch
    from subflow_app.features.plots.qt.plot_view import PlotView

MOST_WATCHES = 8
_PROGRESS_MS = 200
_WATCHED = translatable("Watched")

_Found = Mapping[int, Mapping[str, "Series"]]
"""Values by run, identified by the `id` of its traces, and by subflow or flow."""


class Watching(QObject):
    """Plots watches for all shown runs that use the script of the watch.

    Attributes:
        watches: the watches, in the order in which they were added.
    """

    changed = Signal()  # the watches, or the progress of their computation, changed

    told = Signal(str)  # reason why a watch has no values

    def __init__(self, workers: Workers, plots: PlotView, replay: Callable[[int], Replay], parent: QObject) -> None:
        """Start without watches.

        Args:
            workers: threads for the replays.
            plots: plots that show the runs and the curves of the watches.
            replay: creates the replay of a run, given its position among the shown runs.
            parent: Qt parent.
        """
        super().__init__(parent)
        self._plots = plots
        self._replay = replay
        self.watches: list[Watch] = []
        self._numbers: dict[Watch, int] = {}  # number in the id of the watch's plot
        self._count = 0
        self._found: dict[Watch, dict[int, Mapping[str, Series]]] = {}
        # The shown runs, kept alive so that no other run receives the same `id`.
        self._runs: tuple[Traces, ...] = ()
        self._share = 0.0
        self._reader = LatestReader(workers, self, "watch")
        self._reader.read.connect(self._on_read)
        self._reader.failed.connect(self._on_failed)
        self._timer = timer(self, self._say_progress, _PROGRESS_MS)
        # Computing waits until all parts of the window have handled the change of runs.
        self._soon = timer(self, self._compute, is_single=True)

    @property
    def is_busy(self) -> bool:
        """True during a replay, and just before it starts."""
        return self._soon.isActive() or self._reader.is_busy

    @property
    def progress(self) -> float | None:
        """Completed fraction of the replays, 0 to 1; None while nothing is replayed."""
        return self._share if self.is_busy else None

    def add(self, watch: Watch) -> None:
        """Plot a watch.

        Raises:
            InputError: if the expression is watched already, or the maximum number of watches is reached.
        """
        if any((each.text, each.script) == (watch.text, watch.script) for each in self.watches):
            raise InputError(tr("{expression} is watched already", expression=watch.text))
        if len(self.watches) >= MOST_WATCHES:
            raise InputError(tr("{count} expressions are watched: remove one first", count=MOST_WATCHES))
        self.watches.append(watch)
        self._count += 1
        self._numbers[watch] = self._count
        self.compute()

    def remove(self, watch: Watch) -> None:
        """Remove a watch and its curve."""
        self.watches.remove(watch)
        self._found.pop(watch, None)
        del self._numbers[watch]
        self._show()

    def compute(self) -> None:
        """Compute the missing values of all watches for those shown runs that have ended."""
        if self.watches:
            self._soon.start()

    def close(self) -> None:
        """Cancel the computation."""
        self._soon.stop()
        self._timer.stop()
        self._reader.forget()

    # ---- internals ----

    def _compute(self) -> None:
        runs = self._plots.runs
        shown = {id(traces) for traces in self._runs} & {id(traces) for traces in runs}
        self._runs = runs
        self._found = {
            watch: {run: each for run, each in self._found.get(watch, {}).items() if run in shown}
            for watch in self.watches
        }
        wanted = [
            (position, id(traces), missing)
            for position, traces in enumerate(runs)
            if traces.row is not None
            and (missing := [watch for watch in self.watches if id(traces) not in self._found[watch]])
        ]
        if not wanted:
            self._reader.forget()
            self._show()
            return
        self._share = 0.0

        def work(is_given_up: Callable[[], bool]) -> list[tuple[Watch, int, Mapping[str, Series]]]:
            from subflow_app.features.explain.core.watches import watched

            read: list[tuple[Watch, int, Mapping[str, Series]]] = []
            for number, (position, run, watches) in enumerate(wanted):

                def progress(share: float, number: int = number) -> None:
                    self._share = (number + share) / len(wanted)

                values = watched(self._replay(position), watches, is_given_up, progress)
                read += [(watch, run, own) for watch, own in zip(watches, values, strict=True)]
            return read

        self._reader.ask(work, is_other=True)
        self._timer.start()
        self._show()

    def _say_progress(self) -> None:
        if not self.is_busy:
            self._timer.stop()
        self.changed.emit()

    def _on_read(self, read: list[tuple[Watch, int, Mapping[str, Series]]]) -> None:
        for watch, run, values in read:
            if watch in self._found:
                self._found[watch][run] = values
        is_new = {watch for watch, _run, _values in read if watch in self._found and len(self._found[watch]) == 1}
        self._show()
        for watch in self.watches:
            if watch in is_new:
                self._plots.scroll_to(_plot_id(self._numbers[watch]))
        for watch in {watch for watch, _run, _values in read if watch in self._found}:
            if not any(self._found[watch].values()):
                text = tr(
                    "{expression}: no decision of {script} has all of {names}",
                    expression=watch.text,
                    script=watch.script.name,
                    names=", ".join(watch.names),
                )
                self.told.emit(text)

    def _on_failed(self, error: Exception) -> None:
        self.told.emit(error_text(error))
        self._show()

    def _show(self) -> None:
        """Show the known values as plots, and emit `changed`."""
        self._plots.set_more([_plot(self._numbers[watch], watch, self._found.get(watch, {})) for watch in self.watches])
        self.changed.emit()


def _plot_id(number: int) -> str:
    return f"watch_{number}"


def _plot(number: int, watch: Watch, found: _Found) -> PlotSpec:
    return PlotSpec(
        id=_plot_id(number),
        title=f"{_WATCHED}: {watch.text}",
        y_label=f"{_WATCHED}: {watch.text}",
        unit="",
        scale=1.0,
        columns=(),
        curves=partial(_curves, found=dict(found)),
        from_zero=False,
        is_signed=True,
        number=watch.text,
    )


def _curves(traces: Traces, found: _Found) -> list[Curve]:
    """A curve for each subflow or flow whose script has values."""
    colours = transport_colours(traces)
    return [
        Curve(traces.labels[owner], owner, SUBFLOW if "/" in owner else FLOW, colours[owner], time_s, values)
        for owner, (time_s, values) in found.get(id(traces), {}).items()
        if owner in colours
    ]
