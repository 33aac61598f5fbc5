"""How a measure is declared: what it is, in which unit, and which options a recipe may give it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from subflow_sim.parameter import Param
from subflow_sim.units import UNITS, Dimension


@dataclass(frozen=True, slots=True)
class MeasureKind:
    """What `of` of a measure may name.

    Attributes:
        name: by which recipes find it.
        help: formula and meaning, in a sentence or two.
        dimension: of its values; NUMBER: none.
        options: that a recipe may give it.
        is_sampled: whether it can be told from the time series of a run alone.
        has_trace: whether it has a course over time (or over monitor intervals, steps of a training).
    """

    name: str
    help: str
    dimension: Dimension
    options: tuple[Param, ...] = ()
    is_sampled: bool = False
    has_trace: bool = False

    @property
    def units(self) -> tuple[str, ...]:
        """In which its values can be shown; empty text: without."""
        return tuple(UNITS.get(self.dimension, {"": 1}))


@dataclass(frozen=True, slots=True)
class Measure:
    """A measure of a recipe.

    Attributes:
        name: by which checks and panels call it.
        kind: what is measured.
        label: for people.
        unit: that it is shown in, of scenario files; empty: none.
        options: SI values by key, those left out with their defaults.
    """

    name: str
    kind: MeasureKind
    label: str
    unit: str
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def is_signed(self) -> bool:
        """True for utilities and returns; rates, times, sizes, counts and ratios are not negative."""
        return self.kind.name in ("utility", "return")

    @property
    def needs_traces(self) -> bool:
        """Whether time series have to be kept for it."""
        return self.kind.is_sampled or any(self.options.get(key) is not None for key in TIMED_OPTIONS)


TIMED_OPTIONS = ("since", "until", "over_time")
"""Options that make a figure one of a part of the run, which time series alone tell."""
