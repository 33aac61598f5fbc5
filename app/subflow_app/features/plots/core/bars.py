"""Bars with error bars: one number per run, its mean over runs that repeat each other, and the 95 % interval of it."""

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

# Share of a category that its bars take; the rest keeps categories apart.
_FILLED = 0.76


@dataclass(frozen=True, slots=True)
class Bar:
    """One bar, in SI units.

    Attributes:
        category: what stands below it, e.g. ``"download.1"``; bars of the same category stand beside each other.
        owner: what it belongs to: with `kind` the name of a line of other plots, so that both are hidden together.
        kind: ``"flow"``, or ``"all"`` for what is of no single flow.
        colour: turn it into a hex value with `palette.hex_colour`.
        run: position of the first of its runs in the overlay; bars of other experiments have another.
        run_title: name of the experiment.
        values: one number per run that has one, SI, in the order of the runs.
        mean: of `values`; NaN if there are none, and then there is no bar to draw.
        ci95: half the width of the 95 % interval of the mean, by Student's t; NaN for fewer than two values.
        note: said in place of a bar without a mean, e.g. ``"not converged"``.
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
        """How far the interval, as it is drawn, reaches below and above the mean; NaN where there is none."""
        low, high = interval_ends(np.array([self.mean]), np.array([self.ci95]), is_signed=is_signed)
        return float(self.mean - low[0]), float(high[0] - self.mean)


class Group:
    """Runs of one experiment: they differ in their seed alone.

    Attributes:
        title: tells it from the others.
        positions: of all its runs in the overlay.
        runs: that count: without those that repeat another one bit for bit.
        sample_positions: of those that count.
    """

    def __init__(self, title: str, positions: Sequence[int], runs: Sequence[Traces]) -> None:
        """Of these runs at these positions of the overlay."""
        from subflow_app.features.comparison.core.conditions import copies_among  # late: a start has no runs to compare

        copies = copies_among([run.row for run in runs])
        self.title = title
        self.positions = tuple(positions)
        self.runs = tuple(run for place, run in enumerate(runs) if place not in copies)
        self.sample_positions = tuple(place for k, place in enumerate(positions) if k not in copies)

    @property
    def first(self) -> int:
        """Position of its first run in the overlay."""
        return self.positions[0]


BarsOf = Callable[[Sequence[Traces]], list[Bar]]


def repetitions(runs: Sequence[Traces]) -> list[Group]:
    """The runs by experiment, in the order in which they first appear."""
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
    """The bar of these numbers, one per run of the group; what is not a finite number is left out."""
    found = Estimate.of(value for value in values if math.isfinite(value))
    return Bar(category, owner, kind, colour, group.first, group.title, found.values, found.mean, found.ci95, note)


def flow_bars(
    runs: Sequence[Traces],
    colours: Callable[[Traces], Mapping[str, ColourKey]],
    numbers: Callable[[Traces], Mapping[str, float]],
    note: str = "",
) -> list[Bar]:
    """A bar per flow and experiment, flow by flow, from one number per flow and run."""
    found: dict[str, list[Bar]] = {}
    for group in repetitions(runs):
        by_run = [numbers(traces) for traces in group.runs]
        # Which copies of a flow arrive depends on the seed: a flow counts in the runs that have it.
        for owner in dict.fromkeys(owner for each in by_run for owner in each):
            first = next(traces for traces, each in zip(group.runs, by_run, strict=True) if owner in each)
            values = [each[owner] for each in by_run if owner in each]
            bar = make_bar(first.labels[owner], owner, colours(first)[owner], group, values, note=note)
            found.setdefault(owner, []).append(bar)
    return [bar for bars in found.values() for bar in bars]


class Places(NamedTuple):
    """Where bars stand along their axis: category k around k, 1 wide with the room between."""

    categories: tuple[str, ...]
    bars: tuple[tuple[float, float], ...]  # middle and width of each bar


def bar_places(bars: Sequence[Bar]) -> Places:
    """Categories in the order of the bars; the bars of one stand beside each other, all equally wide."""
    categories = tuple(dict.fromkeys(bar.category for bar in bars))
    # Where no category has two, each bar stands in the middle of its own.
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
    """The least and the most runs that a bar is the mean of: what is told about its interval."""
    counts = [len(bar.values) for bar in bars if bar.values]
    return (min(counts), max(counts)) if counts else (0, 0)


def interval_text(bars: Sequence[Bar]) -> str:
    """What the error bars are, in words: a figure without them says why."""
    least, most = run_count(bars)
    if most == 0:
        return ""
    if most == 1:
        return "one run each: no interval"
    runs = f"{most} runs" if least == most else f"{least} to {most} runs"
    return f"mean of {runs}, 95 % interval"
