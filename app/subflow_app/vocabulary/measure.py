"""A measure: a number of a run, with its name, unit, definition, and combination over several flows."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Literal, TypeAlias

from subflow_app.vocabulary.language import tr, translatable
from subflow_app.vocabulary.number_text import NOTHING, finite, fixed_text
from subflow_app.vocabulary.tables import Column, NumberColumn, RowT
from subflow_sim.stats import Estimate, jain_index
from subflow_sim.units import Dimension

Part: TypeAlias = Mapping[str, Any]
"""A flow, subflow or link in the result of `Simulation.summary`."""

Of: TypeAlias = Literal["flow", "subflow", "link", "run", "training"]
FlowKind: TypeAlias = Literal["sized", "endless"]

PERIODS: Mapping[str, str] = {
    "measured": translatable("the measured interval, from the end of the warm-up to the end of the run"),
    "active": translatable("the part of the measured interval in which the flow was active"),
    "transfer": translatable("the transfer, from the start of the flow to its last byte"),
    "transfers": translatable("all transfers, from the first start to the last byte"),
    "instant": translatable("one instant"),
    "sample": translatable("the time between two samples"),
    "interval": translatable("the latest monitor interval that was finished"),
    "run": translatable("the whole run"),
    "episodes": translatable("the episodes since the last report"),
    "evaluation": translatable("all runs of an evaluation"),
}
"""The periods to which measures refer, by the names in `Measure.over`."""

HOWS: Mapping[str, str] = {
    "sum": translatable("sum"),
    "mean": translatable("mean"),
    "max": translatable("greatest"),
    "ratio": translatable("one sum over another"),
    "weighted": translatable("weighted mean"),
    "span": translatable("first start to last end"),
    "jain": translatable("Jain's index"),
}
"""Ways to combine the numbers of several flows, by the names in `Combination.how`."""


class NotMeasuredError(Exception):
    """A run lacks a number; the message names it."""


@dataclass(frozen=True, slots=True)
class Combination:
    """A way to combine the numbers of several flows, as data that programs in other languages can interpret.

    Attributes:
        how: one of `HOWS`.
        text: the combination in words.
        keys: for "ratio", the keys of numerator and denominator, each summed over the flows. For "weighted", possible
            keys of weights: the first one that all flows have is used. For "span", the keys of start, duration and
            size. Otherwise empty.
    """

    how: Literal["sum", "mean", "max", "ratio", "weighted", "span", "jain"]
    text: str
    keys: tuple[str, ...] = ()

    def of_parts(self, key: str, parts: Sequence[Part]) -> float | None:
        """The combined number of several flows or subflows, SI; None if it is unknown.

        Summaries of older versions lack some keys. Without them, a ratio is the mean of the flows' ratios, and a
        weighted mean is the arithmetic mean.

        Args:
            key: key of the measure in the parts.
            parts: parts of the summary.
        """
        if self.how == "span":
            return _span(parts)
        if self.how == "ratio" and (ratio := _ratio(parts, *self.keys)) is not None:
            return ratio
        having = [part for part in parts if finite(part.get(key)) is not None]
        values = [float(part[key]) for part in having]
        if not values:
            return None
        if self.how == "sum":
            return math.fsum(values)
        if self.how == "max":
            return max(values)
        if self.how == "jain":
            return jain_index(values) if any(values) else None
        if self.how == "weighted":
            return _weighted(values, having, self.keys)
        return mean(values)


def mean(values: Sequence[float]) -> float:
    """Arithmetic mean of at least one value."""
    return math.fsum(values) / len(values)


def _ratio(parts: Sequence[Part], counted: str, total: str) -> float | None:
    pairs = [(finite(part.get(counted)), finite(part.get(total))) for part in parts]
    if not pairs or any(None in pair for pair in pairs):
        return None
    of = math.fsum(whole for _, whole in pairs if whole is not None)
    return math.fsum(part for part, _ in pairs if part is not None) / of if of else 0.0


def _weighted(values: Sequence[float], parts: Sequence[Part], keys: Sequence[str]) -> float:
    for key in keys:
        weights = [finite(part.get(key)) for part in parts]
        known = [weight for weight in weights if weight is not None]
        if len(known) == len(values) and (total := math.fsum(known)) > 0:
            return math.fsum(value * weight for value, weight in zip(values, known, strict=True)) / total
    return mean(values)


def _span(flows: Sequence[Part]) -> float | None:
    starts = [finite(flow.get("start_s")) for flow in flows]
    took = [finite(flow.get("completion_s")) for flow in flows]
    ends = [start + each for start, each in zip(starts, took, strict=True) if start is not None and each is not None]
    if not ends or len(ends) < len(flows):
        return None
    return max(ends) - min(start for start in starts if start is not None)


SUM = Combination("sum", translatable("sum over the flows"))
MEAN = Combination("mean", translatable("mean over the flows"))
GREATEST = Combination("max", translatable("greatest of the flows"))
LOST_OVER_SENT = Combination(
    "ratio", translatable("packets lost of all flows over packets sent of all flows"), ("packets_lost", "packets_sent")
)
BY_PACKETS = Combination(
    "weighted",
    translatable("mean over the flows, weighted by packets acknowledged"),
    ("packets_acked", "packets_delivered"),
)
BY_DELIVERED = Combination(
    "weighted", translatable("mean over the flows, weighted by packets delivered"), ("packets_delivered",)
)
SPAN = Combination(
    "span",
    translatable("from the first start to the last byte; unknown while a flow is incomplete"),
    ("start_s", "completion_s", "size_bytes"),
)
JAIN = Combination("jain", translatable("Jain's index of the flows"))


@dataclass(frozen=True, slots=True)
class Measure:
    """A number of a run, a flow, a subflow, a link or a training.

    Attributes:
        key: key in summaries, traces, reports and the store, with its SI unit; also the name in JSON and CSV.
        title: English name for users, without the unit.
        unit: unit for display; empty for none.
        scale: factor from SI values to that unit.
        decimals: digits after the point for display; None for up to six digits.
        better: 1 if larger is better, -1 if smaller is better, 0 if neither.
        symbol: heading of narrow columns; empty: the title.
        definition: meaning, in one sentence.
        formula: the calculation, as text.
        over: period of the measure, one of `PERIODS`.
        of: the kind of object that has the measure.
        function: name of its function in labs, claims and recipes; empty: none.
        combine: how numbers of several flows or subflows are combined; None if they cannot be combined.
        default_for: kinds of flows for which it is shown first.
        of_run: key of the combined number of all flows in a run; empty: not reported.
        instead: key to use in summaries of older versions, which lack `key`; empty: none.
        source: for a number of a whole run, key of the flows' numbers that it combines; empty: `key`.
    """

    key: str
    title: str
    unit: str = ""
    scale: float = 1.0
    decimals: int | None = None
    better: int = 0
    symbol: str = ""
    definition: str = ""
    formula: str = ""
    over: str = "measured"
    of: Of = "flow"
    function: str = ""
    combine: Combination | None = None
    default_for: tuple[FlowKind, ...] = ()
    of_run: str = ""
    instead: str = ""
    source: str = ""

    @property
    def attributes(self) -> dict[str, Any]:
        """All attributes by name, to construct a subclass with further attributes."""
        return {each.name: getattr(self, each.name) for each in fields(Measure)}

    @property
    def heading(self) -> str:
        """Heading of narrow columns: the symbol, or the title."""
        return self.symbol or self.title

    @property
    def si_unit(self) -> str:
        """Unit of the values; empty for ratios, Jain's index and similar numbers."""
        return _SI_UNITS.get(dimension_of(self.key), "pkt" if self.unit == "pkt" else "")

    @property
    def is_signed(self) -> bool:
        """True if values may be negative: for rewards, utilities, and measures known only by their key."""
        key = self.key.rpartition(".")[2]
        return dimension_of(key) is None and (key.endswith(_SIGNED) or self.title == self.key)

    @property
    def expression_unit(self) -> str:
        """Unit in expressions of labs and claims, where counts are plain numbers."""
        return "" if self.key in _COUNTS else self.unit

    @property
    def axis_title(self) -> str:
        """Title in the language of the window, with the unit."""
        return f"{tr(self.title)} ({self.unit})" if self.unit else tr(self.title)

    @property
    def tip(self) -> str:
        """Definition, formula and period in the language of the window, for tool tips of headings."""
        parts = [tr(self.definition)] if self.definition else []
        if self.formula:
            parts.append(tr("Formula: {formula}", formula=tr(self.formula)))
        parts.append(tr("Over {period}.", period=tr(PERIODS[self.over])))
        return "\n".join(parts)

    def text(self, value: float | None) -> str:
        """An SI value in the unit for display, without the unit; a dash for None, NaN and infinity."""
        if value is None or not math.isfinite(value):
            return NOTHING
        return f"{value * self.scale:.6g}" if self.decimals is None else fixed_text(value, self.decimals, self.scale)

    @property
    def bounds(self) -> tuple[float, float]:
        """Least and greatest possible value, SI: a ratio lies between 0 and 1, and a rate is not negative."""
        dimension = dimension_of(self.key)
        if dimension is Dimension.RATIO:
            return 0.0, 1.0
        return (-math.inf if self.is_signed else 0.0), math.inf

    def is_possible(self, value: float) -> bool:
        """True if the value lies within the bounds, allowing for the rounding of samples."""
        least, most = self.bounds
        return not (value < least - _ROUNDING or value > most + _ROUNDING)

    def checked_text(self, value: float | None) -> str:
        """Like `text`, but marks impossible values. Not for differences, which may lie outside the bounds."""
        text = self.text(value)
        if value is None or text == NOTHING or self.is_possible(value):
            return text
        return tr("{value}, impossible", value=text)

    def column(self, value: Callable[[RowT], float | None]) -> Column[RowT]:
        """A table column with the heading, unit and format of this measure; `value` returns the SI value of a row."""
        return NumberColumn(self.heading, value, self.checked_text, self.unit, tip=self.definition)

    def interval_text(self, found: Estimate) -> str:
        """A mean with its interval in the unit for display, without the unit: ``9.413 ± 0.120``, or only the mean."""
        shown = self.text(found.mean)
        return shown if math.isnan(found.ci95) else f"{shown} ± {self.text(found.ci95)}"

    @property
    def needed_keys(self) -> tuple[str, ...]:
        """Keys of a flow that `of_parts` reads."""
        combined = () if self.combine is None else self.combine.keys
        return (self.source or self.key, *filter(None, (self.instead,)), *combined)

    def of_parts(self, parts: Sequence[Part]) -> float | None:
        """The measure of several flows, subflows or links together, SI; None if it is unknown or cannot be combined.

        Args:
            parts: parts of the summary; flows for a number of a whole run.
        """
        key = self.source or self.key
        if self.instead and any(finite(part.get(key)) is None for part in parts):
            key = self.instead
        if self.combine is None:
            return finite(parts[0].get(key)) if len(parts) == 1 else None
        return self.combine.of_parts(key, parts)

    def of_flows(self, flows: Sequence[Part], subflow: int = 0) -> float:
        """The measure of several flows together, SI.

        Args:
            flows: flows of the summary.
            subflow: number of the subflow of each flow to use; 0: all subflows.

        Raises:
            NotMeasuredError: if the measure is unknown or cannot be combined, or a flow has fewer subflows than
                `subflow`.
        """
        parts: list[Part] = []
        for flow in flows:
            subflows = flow.get("subflows") or []
            if subflow > len(subflows):
                text = tr(
                    "{flow} has {count} subflows, not {wanted}", flow=flow["name"], count=len(subflows), wanted=subflow
                )
                raise NotMeasuredError(text)
            parts += [subflows[subflow - 1]] if subflow else subflows if self.of == "subflow" else [flow]
        found = self.of_parts(parts)
        if found is None:
            raise NotMeasuredError(self.unknown_text(", ".join(flow["name"] for flow in flows)))
        return found

    def unknown_text(self, owner: str) -> str:
        """The message for an owner that lacks this number."""
        return tr("{name} of {owner} is not known", name=self.function or self.key, owner=owner)


_ROUNDING = 1e-6
_SIGNED = ("utility", "reward", "return_mean", "score", "q_mean", "entropy", "gradient")
_COUNTS = ("retransmits", "drops_queue", "drops_random")
_SI_UNITS: Mapping[Dimension | None, str] = {
    Dimension.RATE: "bit/s",
    Dimension.TIME: "s",
    Dimension.SIZE: "B",
    Dimension.QUEUE: "pkt",
    Dimension.RATIO: "",
}
# Unit, scale and decimals for the display of a value of which only the dimension is known.
_SHOWN: Mapping[Dimension | None, tuple[str, float, int | None]] = {
    Dimension.RATE: ("Mbit/s", 1e-6, 3),
    Dimension.TIME: ("s", 1.0, 3),
    Dimension.SIZE: ("kB", 1e-3, 1),
    Dimension.QUEUE: ("pkt", 1.0, 1),
    Dimension.RATIO: ("%", 100.0, 2),
    None: ("", 1.0, None),
}
# Dimension by suffix of a key. The last three are parameters in scenario files, whose names contain no unit.
_ENDS: Mapping[str, Dimension] = {
    "_bps": Dimension.RATE,
    "_s": Dimension.TIME,
    "_bytes": Dimension.SIZE,
    "_pkts": Dimension.QUEUE,
    "_ratio": Dimension.RATIO,
    "utilisation": Dimension.RATIO,
    "_share": Dimension.RATIO,
    "jain": Dimension.RATIO,
    ".rate": Dimension.RATE,
    ".delay": Dimension.TIME,
    ".loss": Dimension.RATIO,
}
# Times with these words in their key are shown in milliseconds.
_SHORT_TIMES = ("rtt", "delay", "blocking", "jitter")
_MORE_IS_BETTER = ("goodput_bps", "throughput_bps", "flow_bps", "jain", "utilisation", "utility", "reward")
_LESS_IS_BETTER = (
    "rtt_s", "delay_s", "jitter_s", "loss_ratio", "reordered_ratio", "retransmits", "completion_s", "makespan_s",
    "queue_pkts", "blocking_s",
)  # fmt: skip


def dimension_of(key: str) -> Dimension | None:
    """The dimension of a recorded value according to the suffix of its key; None if unknown."""
    return next((dimension for end, dimension in _ENDS.items() if key.endswith(end)), None)


def grouped(*measures: Measure, **shared: Any) -> tuple[Measure, ...]:
    """The measures, each with the attributes in `shared`."""
    return tuple(replace(each, **shared) for each in measures)


def told_by(key: str, title: str, symbol: str = "", **more: Any) -> Measure:
    """A measure whose unit, scale and direction follow from the suffix of its key.

    Args:
        key: key of the measure.
        title: name for users.
        symbol: as in `Measure`.
        more: further attributes.
    """
    dimension = dimension_of(key)
    unit, scale, decimals = _SHOWN[dimension]
    if dimension is Dimension.TIME and any(part in key.rpartition(".")[2] for part in _SHORT_TIMES):
        unit, scale, decimals = "ms", 1e3, 1
    better = 1 if key.endswith(_MORE_IS_BETTER) else -1 if key.endswith(_LESS_IS_BETTER) else 0
    return Measure(key, title, unit, scale, decimals, better, symbol, **more)
