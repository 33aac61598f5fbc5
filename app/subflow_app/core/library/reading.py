"""Which time series and events of a store its figures and verdicts are read from: no others need to be kept."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast

from subflow_app.core.experiments.figure import experiment_figure
from subflow_app.core.experiments.results import Results, stored_results

if TYPE_CHECKING:
    from subflow_app.core.experiments.recipe import Recipe
    from subflow_store import Store

# What reads events of a run, and of which stream; None: the stream is an argument.
_EVENT_READERS = {
    "marks": "mark",
    "decisions": "decision",
    "decision_at": "decision",
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
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self.read_series: set[int] = set()
        self.read_streams: set[tuple[int, str]] = set()

    @property
    def as_store(self) -> Store:
        """For whoever wants a store."""
        return cast("Store", self)

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
    verdicts = [(verdict.check.says, verdict.kind.value, verdict.reason) for verdict in results.verdicts()]
    return results, [*cells, *verdicts, _drawn(experiment_figure(results))]


def _drawn(figure: object) -> str:
    """The figure as text with all its numbers: arrays are not shortened."""
    import numpy as np

    with np.printoptions(threshold=1_000_000_000, precision=17):
        return repr(figure)
