"""Which time series and events of a store its figures and verdicts are read from: no others need to be kept."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from subflow_app.features.gallery.core.figure import experiment_figure
from subflow_app.features.gallery.core.results import Results, Verdict, stored_results

if TYPE_CHECKING:
    from subflow_app.features.gallery.core.recipe import Recipe
    from subflow_store import Store
    from subflow_store.sweeps import SweepStore

# Flows, and their subflows, are those that have one.
_NAMING_FLOWS = (".goodput_bps", ".throughput_bps")
# What reads events of a run, and of which stream; None: the stream is an argument.
_EVENT_READERS = {
    "marks": "mark",
    "decisions": "decision",
    "decisions_around": "decision",
    "intervals": "interval",
    "agent_steps": "agent",
}


class ReadLog:
    """A store that remembers what was read of it; everything else is as the store has it.

    Args:
        store: the store.

    Attributes:
        read_series: numbers of the time series that were read.
        read_streams: runs and streams of events that were read.
        read_values: keys of figures that were read, by run.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self.read_series: set[int] = set()
        self.read_streams: set[tuple[int, str]] = set()
        self.read_values: dict[int, set[str]] = {}

    @property
    def as_store(self) -> Store:
        """For whoever wants a store."""
        return cast("Store", self)

    @property
    def sweeps(self) -> SweepReadLog:
        """As `Store.sweeps`."""
        return SweepReadLog(self._store.sweeps, self.read_values)

    def values(self, key: str) -> Any:
        """As `Store.values`."""
        found = self._store.values(key)
        for run_id in found:
            self.read_values.setdefault(run_id, set()).add(key)
        return found

    def read(self, series_id: int, *bounds: Any, **named: Any) -> Any:
        """As `Store.read`."""
        self.read_series.add(series_id)
        return self._store.read(series_id, *bounds, **named)

    def event_extents(self, run_id: int, stream: str) -> Any:
        """As `Store.event_extents`."""
        self.read_streams.add((run_id, stream))
        return self._store.event_extents(run_id, stream)

    def __getattr__(self, name: str) -> Any:
        """As the store has it; readers of events remember what they read."""
        found = getattr(self._store, name)
        stream = _EVENT_READERS.get(name)
        return found if stream is None else self._remembering(found, stream)

    def _remembering(self, reader: Callable[..., Any], stream: str) -> Callable[..., Any]:
        def read(run_id: int, *arguments: Any, **named: Any) -> Any:
            self.read_streams.add((run_id, stream))
            return reader(run_id, *arguments, **named)

        return read


class SweepReadLog:
    """The sweeps of a store, which remember the figures that were read of their runs.

    Args:
        sweeps: of the store.
        read: keys by run.
    """

    def __init__(self, sweeps: SweepStore, read: dict[int, set[str]]) -> None:
        self._sweeps = sweeps
        self._read = read

    def figures(self, sweep_id: int, is_wanted: Callable[[str], bool]) -> dict[tuple[int, int], tuple[int, Any]]:
        """As `SweepStore.figures`."""
        return {
            place: (run_id, _Figures(figures, self._read.setdefault(run_id, set())))
            for place, (run_id, figures) in self._sweeps.figures(sweep_id, is_wanted).items()
        }

    def __getattr__(self, name: str) -> Any:
        """As the store has it."""
        return getattr(self._sweeps, name)


class _Figures(Mapping[str, float]):
    """Figures of a run. Going through them reads the goodputs, by which the flows are known."""

    def __init__(self, figures: Mapping[str, float], read: set[str]) -> None:
        self._figures = figures
        self._read = read

    def __getitem__(self, key: str) -> float:
        value = self._figures[key]
        self._read.add(key)
        return value

    def __iter__(self) -> Iterator[str]:
        self._read.update(key for key in self._figures if key.endswith(_NAMING_FLOWS))
        return iter(self._figures)

    def __len__(self) -> int:
        return len(self._figures)


def read_all(store: Store, recipe: Recipe, *, is_quick: bool) -> tuple[Results, list[object]]:
    """Everything that is ever shown of an experiment: its values, its figure and its verdicts.

    Returns:
        The results, and what they come to, which is equal where all of it is.

    Raises:
        RecipeError: if the recipe cannot be carried out.
        StoreError: if the store cannot be read.
    """
    results = stored_results(recipe, store, is_quick=is_quick)
    cells: list[object] = [
        (measure, series, point, repr(results.cell(measure, series, point)))
        for measure in recipe.measures
        for series in results.series
        for point in results.points
    ]
    verdicts = [
        (verdict.check.says, verdict.kind.value, verdict.reason, repr(verdict.settlement), _tried(verdict))
        for verdict in results.verdicts()
    ]
    return results, [*cells, *verdicts, _drawn(experiment_figure(results))]


def _tried(verdict: Verdict) -> list[object]:
    told = verdict.explanation
    return [] if told is None else [(trial.outcome.told, trial.n_met) for trial in told.trials]


def _drawn(figure: object) -> str:
    """The figure as text with all its numbers: arrays are not shortened."""
    with np.printoptions(threshold=1_000_000_000, precision=17):
        return repr(figure)
