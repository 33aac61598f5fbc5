"""The map of a search, which shows each network tried by its coordinates in the space and by the claim's margin."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from subflow_app.features.breaking.core.space import Space, space_of
from subflow_app.foundation.errors import InputError
from subflow_app.vocabulary.language import tr
from subflow_app.vocabulary.number_text import MINUS, fixed_text, rounded_text
from subflow_app.vocabulary.palette import ColourKey
from subflow_app.vocabulary.picture import ColourScale, Panel, PanelSeries
from subflow_app.vocabulary.tables import csv_number, csv_text
from subflow_sim.draws import BdpShare, Draw, Multiple, Pick, Range
from subflow_sim.errors import ScenarioError
from subflow_sim.units import Dimension, format_quantity

if TYPE_CHECKING:
    from subflow_store import Store
    from subflow_store.searches import Generation, SearchRecord

SPAN = 0.7
"""Limit of the colour scale, about half or twice the claimed value. Margins beyond it have the same colour."""

_TICKS = 5
_UNITS = {Dimension.RATE: (1e-6, "Mbit/s"), Dimension.TIME: (1e3, "ms")}  # one unit for all ticks of an axis


@dataclass(frozen=True, slots=True)
class MapAxis:
    """An axis of the map, along which one value varies.

    Attributes:
        key: key of the value in the scenario file.
        ticks: positions from 0 to 1 and their labels.
    """

    key: str
    ticks: tuple[tuple[float, str], ...]


@dataclass(frozen=True, slots=True, eq=False)
class SearchMap:
    """The networks that a search has tried.

    Attributes:
        axes: one axis for each varied value.
        places: float64 [networks, axes], 0 to 1: quantile of the value among all possible values.
        margins: float64 [networks]: margin of the claim; negative if the claim fails.
        space: space of the values; None if it is unknown, in which case only the positions are shown.
        kinds: number of kinds of networks in which the claim fails.
        unmeasured: number of networks left out because the claim could not be measured.
        thinned: number of networks left out of the drawing, and the number of failures among them.
    """

    axes: tuple[MapAxis, ...]
    places: NDArray[np.float64]
    margins: NDArray[np.float64]
    space: Space | None
    kinds: int = 0
    unmeasured: int = 0
    thinned: tuple[int, int] = (0, 0)

    @property
    def told(self) -> int:
        """Number of networks in which the claim was measured."""
        return len(self.margins) + self.thinned[0]

    @property
    def tried(self) -> int:
        """Number of networks tried, including those in which the claim could not be measured."""
        return self.told + self.unmeasured

    @property
    def failed(self) -> int:
        """Number of networks in which the claim fails."""
        return int((self.margins < 0).sum()) + self.thinned[1]

    def with_at_most(self, most: int) -> SearchMap:
        """A copy with at most `most` networks: a fifth with the lowest margins, and others spread over the rest."""
        count = len(self.margins)
        if count <= most:
            return self
        order = np.argsort(self.margins, kind="stable")
        others = np.linspace(most // 5, count - 1, most - most // 5).astype(int)
        chosen = np.sort(order[np.concatenate([np.arange(most // 5), others])])
        margins = self.margins[chosen]
        left_out = count - most, int((self.margins < 0).sum() - (margins < 0).sum())
        return replace(self, places=self.places[chosen], margins=margins, thinned=left_out)

    def panel(self, along: int, up: int) -> Panel:
        """The scatter plot over two axes, with a mark for each network coloured by its margin."""
        x, y = self.axes[along], self.axes[up]
        places = self.places.T
        networks = PanelSeries(
            "", ColourKey(0, 0), 0, False, places[up], np.empty(0), x=places[along], shades=self.margins
        )
        texts = (-SPAN, f"{MINUS}{SPAN} {tr('fails')}"), (0.0, "0.0"), (SPAN, f"{SPAN} {tr('holds')}")
        return Panel(
            "scatter",
            "",
            x.key,
            y.key,
            (),
            np.empty(0),
            (networks,),
            tr("The claim fails in {failed} of {all}", failed=self.failed, all=self.told),
            x_ticks=x.ticks,
            y_ticks=y.ticks,
            scale=ColourScale("", -SPAN, SPAN, colours="parted", ticks=texts),
        )

    def words(self, number: int) -> str:
        """Text of the tool tip of a network: its values and its margin."""
        values = self._values(number)
        lines = [f"{axis.key}: {values[axis.key]}" for axis in self.axes]
        return "\n".join((*lines, tr("Margin: {margin}", margin=fixed_text(self.margins[number], 2))))

    def csv(self) -> str:
        """CSV text with one row per network: its values as in a scenario file, and its margin.

        If the space is unknown, the row contains positions instead of values.
        """
        headings = ["network", *(axis.key for axis in self.axes), "margin"]
        rows = []
        for number, margin in enumerate(self.margins):
            values: dict[str, Any] = dict(zip((axis.key for axis in self.axes), self.places[number], strict=True))
            if self.space is not None:
                values |= self.space.values(np.array([values[key] for key in self.space.keys]))
            rows.append([number, *(values[axis.key] for axis in self.axes), csv_number(margin)])
        return csv_text(headings, rows)

    def _values(self, number: int) -> dict[str, str]:
        row = self.places[number]
        draws = {} if self.space is None else self.space.training.draws
        return {
            axis.key: value_text(draws.get(axis.key), float(place)) for axis, place in zip(self.axes, row, strict=True)
        }


def read_map(store: Store, record: SearchRecord) -> SearchMap:
    """Read the networks that a search has tried.

    Args:
        store: store of the search.
        record: search to read.

    Raises:
        StoreError: if the database cannot be read.
    """
    keys = tuple(str(key) for key in record.document.get("keys", ()))
    space = _space(record, keys)
    generations = store.searches.generations(record.id)
    margins = np.concatenate([np.frombuffer(each.margins, "<f8") for each in generations] or [np.empty(0)])
    flat = np.concatenate([np.frombuffer(each.points, "<f8") for each in generations] or [np.empty(0)])
    # The rows of a damaged database may differ in length, so only complete pairs are used.
    count = min(len(margins), len(flat) // max(len(keys), 1))
    places = flat[: count * len(keys)].reshape(count, len(keys))
    is_known = np.isfinite(margins[:count])
    niches = [row for each in generations for row in _rows(each)]
    kinds = {niche for niche, margin in zip(niches, margins, strict=False) if margin < 0}
    axes = tuple(_axis(key, None if space is None else space.draw(key)) for key in keys)
    return SearchMap(axes, places[is_known], margins[:count][is_known], space, len(kinds), count - int(is_known.sum()))


def _rows(generation: Generation) -> list[bytes]:
    """Encoded kinds of the networks of a generation, in order."""
    count = max(len(generation.margins) // 8, 1)
    width = max(len(generation.niches) // count, 1)
    return [generation.niches[at : at + width] for at in range(0, len(generation.niches), width)]


def value_text(draw: Draw | None, place: float) -> str:
    """Text of the value at a position of an axis; the position in percent if the value is unknown."""
    at = min(max(place, 0.0), math.nextafter(1.0, 0.0))
    if isinstance(draw, BdpShare):
        return f"{rounded_text(float(draw.times.value(at)), 2)} BDP"
    if isinstance(draw, Multiple):
        return f"{place:.0%}" if draw.times is None else f"{rounded_text(float(draw.times.value(at)), 2)} × {draw.of}"
    if isinstance(draw, Range):
        value = draw.value(at)
        plain = draw.dimension in (Dimension.NUMBER, Dimension.COUNT) or isinstance(value, str)
        return (
            rounded_text(value, 3)
            if plain and isinstance(value, float)
            else str(value)
            if plain
            else _quantity(draw, value)
        )
    if isinstance(draw, Pick):
        value = draw.value(at)
        return " + ".join("-".join(map(str, each)) for each in value) if _is_paths(value) else str(value)
    return f"{place:.0%}"


def _quantity(draw: Range, value: Any) -> str:
    scale, unit = _UNITS.get(draw.dimension, (1.0, ""))
    if unit:
        return f"{rounded_text(float(value) * scale, 3)} {unit}"
    return format_quantity(float(f"{float(value):.3g}"), draw.dimension)


def _is_paths(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(each, list) for each in value)


def _space(record: SearchRecord, keys: tuple[str, ...]) -> Space | None:
    try:
        vary = [str(each) for each in record.document.get("vary", ())]
        space = space_of(str(record.document.get("space", "")), record.space, vary)
    except (InputError, ScenarioError):
        return None  # an earlier version did not store the ranges, or a file that the scenario names is missing
    return space if space.keys == keys else None


def _axis(key: str, draw: Draw | None) -> MapAxis:
    if isinstance(draw, Pick):
        starts = (0.0, *draw.bounds)
        places = [(start + end) / 2 for start, end in zip(starts, draw.bounds, strict=False) if end > start]
    else:
        places = [number / (_TICKS - 1) for number in range(_TICKS)]
    return MapAxis(key, tuple((place, value_text(draw, place)) for place in places))
