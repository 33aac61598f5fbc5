"""Bars with error bars: the mean of a number over repetitions of a run, and the 95 % interval of the mean."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from subflow_app.features.history.core.run_names import run_names
from subflow_app.features.traces.core.traces import Traces
from subflow_app.vocabulary.palette import ColourKey
from subflow_app.vocabulary.picture import interval_ends
from subflow_sim.stats import Estimate

# Share of the width of a category that its bars fill; the rest separates categories.
_FILLED = 0.76


@dataclass(frozen=True, slots=True)
class Bar:
    """One bar, in SI units.

    Attributes:
        category: name below the bar, e.g. ``"download.1"``; bars of one category are side by side.
        owner: flow, controller or run of the bar. If a line of another plot has the same `owner` and `kind`, the legend
            hides both together.
        kind: ``"flow"``, ``"controller"``, ``"run"``, or ``"all"`` for bars of several flows.
        colour: colour key; `palette.hex_colour` converts it to a hex value.
        run: position in the overlay of the first run of the bar's experiment, which identifies the experiment.
        run_title: name of the experiment.
        values: one number for each run that has a value, SI, in the order of the runs.
        mean: mean of `values`; NaN if `values` is empty, in which case no bar is drawn.
        ci95: half the width of the 95 % interval of the mean, by Student's t; NaN for fewer than two values.
        note: text in place of a bar without a mean, e.g. ``"not converged"``.
    """

    category: str
    owner: str
    kind: str
    colour: ColourKey
    run: int
    run_title: str
    values: tuple[float, ...]
    mean: float
    ci95: float
    note: str = ""

    def reach(self, *, is_signed: bool) -> tuple[float, float]:
        """Distances from the mean down and up to the drawn ends of the interval, SI; NaN for an unknown interval."""
        low, high = interval_ends(np.array([self.mean]), np.array([self.ci95]), is_signed=is_signed)
        return float(self.mean - low[0]), float(high[0] - self.mean)


class Group:
    """Runs of one experiment, which differ only in their seed.

    Attributes:
        title: distinct name of the experiment.
        positions: positions of all runs of the experiment in the overlay.
        runs: runs of the experiment, without identical repetitions.
        sample_positions: positions of `runs` in the overlay.
    """

    def __init__(self, title: str, positions: Sequence[int], runs: Sequence[Traces]) -> None:
        """Groups these runs, whose positions in the overlay are given in the same order."""
        # Imported here, because the module is needed only once runs are grouped.
        from subflow_app.features.comparison.core.conditions import copies_among

        copies = copies_among([run.row for run in runs])
        self.title = title
        self.positions = tuple(positions)
        self.runs = tuple(run for place, run in enumerate(runs) if place not in copies)
        self.sample_positions = tuple(place for k, place in enumerate(positions) if k not in copies)

    @property
    def first(self) -> int:
        """Position of the first run of the experiment in the overlay."""
        return self.positions[0]


BarsOf = Callable[[Sequence[Traces]], list[Bar]]


def repetitions(runs: Sequence[Traces]) -> list[Group]:
    """The runs grouped by experiment, in the order of their first appearance."""
    members: dict[str, list[int]] = {}
    for index, traces in enumerate(runs):
        members.setdefault(traces.condition, []).append(index)
    titles = run_names([runs[indices[0]] for indices in members.values()])
    return [
        Group(title, indices, [runs[index] for index in indices])
        for title, indices in zip(titles, members.values(), strict=True)
    ]


def make_bar(
    category: str,
    owner: str,
    colour: ColourKey,
    group: Group,
    values: Iterable[float],
    *,
    kind: str = "flow",
    note: str = "",
) -> Bar:
    """A bar for these numbers, one per run of the group; NaN and infinite numbers are left out."""
    found = Estimate.of(value for value in values if math.isfinite(value))
    return Bar(category, owner, kind, colour, group.first, group.title, found.values, found.mean, found.ci95, note)


def flow_bars(
    runs: Sequence[Traces],
    colours: Callable[[Traces], Mapping[str, ColourKey]],
    numbers: Callable[[Traces], Mapping[str, float]],
    note: str = "",
) -> list[Bar]:
    """One bar per flow and experiment, ordered by flow; ``numbers`` returns a number for each flow of a run."""
    found: dict[str, list[Bar]] = {}
    for group in repetitions(runs):
        by_run = [numbers(traces) for traces in group.runs]
        # The seed determines how many copies of a flow arrive, so a bar covers only the runs in which its copy arrived.
        for owner in dict.fromkeys(owner for each in by_run for owner in each):
            first = next(traces for traces, each in zip(group.runs, by_run, strict=True) if owner in each)
            values = [each[owner] for each in by_run if owner in each]
            bar = make_bar(first.labels[owner], owner, colours(first)[owner], group, values, note=note)
            found.setdefault(owner, []).append(bar)
    return [bar for bars in found.values() for bar in bars]


class Places(NamedTuple):
    """Positions of bars along their axis, on which category k is centred at k and is 1 wide, including margins."""

    categories: tuple[str, ...]
    bars: tuple[tuple[float, float], ...]  # middle and width of each bar


def bar_places(bars: Sequence[Bar]) -> Places:
    """Positions of these bars; the bars of a category are side by side with equal widths.

    The categories follow the order in which they first appear among the bars.
    """
    categories = tuple(dict.fromkeys(bar.category for bar in bars))
    # If each category has one bar, the bar is centred.
    runs = sorted({bar.run for bar in bars}) if len(categories) < len(bars) else []
    width = _FILLED / max(1, len(runs))
    return Places(
        categories,
        tuple(
            (categories.index(bar.category) + (runs.index(bar.run) + 0.5) * width - _FILLED / 2, width)
            if runs
            else (float(categories.index(bar.category)), width)
            for bar in bars
        ),
    )


def run_count(bars: Sequence[Bar]) -> tuple[int, int]:
    """Smallest and largest number of runs per bar, not counting bars without values; (0, 0) if no bar has values."""
    counts = [len(bar.values) for bar in bars if bar.values]
    return (min(counts), max(counts)) if counts else (0, 0)


def interval_text(bars: Sequence[Bar]) -> str:
    """Explains the error bars, or why single runs have no interval; returns an empty text if no bar has values."""
    least, most = run_count(bars)
    if most == 0:
        return ""
    if most == 1:
        return "one run each: no interval"
    runs = f"{most} runs" if least == most else f"{least} to {most} runs"
    return f"mean of {runs}, 95 % interval"
