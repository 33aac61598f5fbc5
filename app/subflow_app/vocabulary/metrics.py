"""What runs and trainings are measured by: each metric once, with its name, its unit and which way is better.

History, queries, sweeps, trade-offs, arena, reports, forks and trainings read this table; what a key alone tells,
as of recorded parameters (``links.wifi.delay``), is told by how it ends.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from subflow_app.vocabulary.language import tr, translatable
from subflow_app.vocabulary.number_text import NOTHING, fixed_text
from subflow_app.vocabulary.tables import Column, NumberColumn, RowT
from subflow_sim.stats import Estimate
from subflow_sim.units import Dimension


@dataclass(frozen=True, slots=True)
class Metric:
    """A number of a run, a flow, a subflow, a link or a training.

    Attributes:
        key: in summaries, traces, reports and the store, with its SI unit; JSON and CSV call it so.
        title: what people call it, English, without the unit.
        unit: in which it is shown; empty for none.
        scale: what SI values are multiplied by to be in that unit.
        decimals: that are shown; None for up to six digits.
        better: 1 if more of it is better, -1 if less is, 0 if there is no saying.
        symbol: heading where there is little room; empty: the title.
    """

    key: str
    title: str
    unit: str = ""
    scale: float = 1.0
    decimals: int | None = None
    better: int = 0
    symbol: str = ""

    @property
    def heading(self) -> str:
        """Of narrow columns: the symbol, or the title."""
        return self.symbol or self.title

    @property
    def si_unit(self) -> str:
        """Of the values themselves; empty for what has none, as ratios and Jain's index."""
        return _SI_UNITS.get(dimension_of(self.key), "pkt" if self.unit == "pkt" else "")

    @property
    def axis_title(self) -> str:
        """Title in the language of the window, with the unit."""
        return f"{tr(self.title)} ({self.unit})" if self.unit else tr(self.title)

    def text(self, value: float | None) -> str:
        """An SI value in the unit shown, which is left out; a dash for what is not finite."""
        if value is None or not math.isfinite(value):
            return NOTHING
        return f"{value * self.scale:.6g}" if self.decimals is None else fixed_text(value, self.decimals, self.scale)

    def column(self, value: Callable[[RowT], float | None]) -> Column[RowT]:
        """Of tables of rows that have such a value each."""
        return NumberColumn(self.heading, value, self.text, self.unit)

    def interval_text(self, found: Estimate) -> str:
        """A mean with its interval in the unit shown, which is left out: ``9.413 ± 0.120``; without one the mean."""
        mean = self.text(found.mean)
        return mean if math.isnan(found.ci95) else f"{mean} ± {self.text(found.ci95)}"


_SI_UNITS: Mapping[Dimension | None, str] = {
    Dimension.RATE: "bit/s",
    Dimension.TIME: "s",
    Dimension.SIZE: "B",
    Dimension.QUEUE: "pkt",
    Dimension.RATIO: "",
}
# How a dimension is shown where nothing is known but that: unit, scale, decimals.
_SHOWN: Mapping[Dimension | None, tuple[str, float, int | None]] = {
    Dimension.RATE: ("Mbit/s", 1e-6, 3),
    Dimension.TIME: ("s", 1.0, 3),
    Dimension.SIZE: ("kB", 1e-3, 1),
    Dimension.QUEUE: ("pkt", 1.0, 1),
    Dimension.RATIO: ("%", 100.0, 2),
    None: ("", 1.0, None),
}
# Ends of keys and what they tell; parameters of scenario files have no units in their names.
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
# Of times these are told in milliseconds.
_SHORT_TIMES = ("rtt", "delay", "blocking")
_MORE_IS_BETTER = ("goodput_bps", "throughput_bps", "jain", "utilisation", "utility", "reward")
_LESS_IS_BETTER = ("rtt_s", "delay_s", "loss_ratio", "retransmits", "completion_s", "queue_pkts", "blocking_s")


def dimension_of(key: str) -> Dimension | None:
    """The dimension of a recorded value, as far as its key tells it."""
    return next((dimension for end, dimension in _ENDS.items() if key.endswith(end)), None)


def _told_by(key: str, title: str, symbol: str = "") -> Metric:
    """A metric of which the end of its key says all but its name."""
    dimension = dimension_of(key)
    unit, scale, decimals = _SHOWN[dimension]
    if dimension is Dimension.TIME and any(part in key for part in _SHORT_TIMES):
        unit, scale, decimals = "ms", 1e3, 1
    better = 1 if key.endswith(_MORE_IS_BETTER) else -1 if key.endswith(_LESS_IS_BETTER) else 0
    return Metric(key, title, unit, scale, decimals, better, symbol)


METRICS: Mapping[str, Metric] = {
    metric.key: metric
    for metric in (
        # Of runs, flows and subflows
        _told_by("goodput_bps", translatable("Goodput")),
        _told_by("active_goodput_bps", translatable("Goodput while active")),
        _told_by("multipath_goodput_bps", translatable("Goodput of the multipath connections")),
        _told_by("throughput_bps", translatable("Throughput")),
        _told_by("mean_rtt_s", translatable("Mean RTT"), "RTT"),
        _told_by("p95_rtt_s", translatable("95th percentile of the RTT"), "RTT p95"),
        _told_by("srtt_s", translatable("Smoothed RTT"), "RTT"),
        _told_by("mean_cwnd_pkts", translatable("Mean congestion window"), "cwnd"),
        _told_by("cwnd_pkts", translatable("Congestion window"), "cwnd"),
        _told_by("loss_ratio", translatable("Loss")),
        Metric("losses_pkts", translatable("Losses"), "pkt", better=-1),
        Metric("retransmits", translatable("Retransmissions"), "pkt", better=-1),
        Metric("packets_sent", translatable("Packets sent"), "pkt", decimals=0),
        Metric("packets_delivered", translatable("Packets delivered"), "pkt", decimals=0),
        Metric("packets_dropped", translatable("Packets dropped"), "pkt", decimals=0, better=-1),
        Metric("packets_lost", translatable("Packets lost of those sent"), "pkt", decimals=0, better=-1),
        Metric("marked_packets", translatable("Packets that arrived marked"), "pkt", decimals=0),
        Metric("mark_reductions", translatable("Reductions because of marks"), decimals=0),
        _told_by("completion_s", translatable("Completion time")),
        Metric("jain", translatable("Jain index"), decimals=3, better=1),
        Metric("friendliness", translatable("Friendliness"), decimals=2, better=1),
        Metric("convergence_s", translatable("Convergence"), "s", decimals=1, better=-1),
        Metric("duration_s", translatable("Duration"), "s", decimals=1),
        Metric("simulated_s", translatable("Simulated"), "s", decimals=1),
        Metric("warmup_s", translatable("Warm-up"), "s", decimals=1),
        Metric("wall_s", translatable("Wall time"), "s", decimals=2),
        Metric("packets", translatable("Packets"), decimals=0),
        # Of links
        _told_by("utilisation", translatable("Utilisation")),
        _told_by("mean_queue_pkts", translatable("Mean queue")),
        _told_by("max_queue_pkts", translatable("Longest queue")),
        _told_by("queue_pkts", translatable("Queue")),
        Metric("drops", translatable("Dropped packets"), "pkt", better=-1),
        Metric("drops_pkts", translatable("Dropped packets"), "pkt", better=-1),
        Metric("drops_queue", translatable("Dropped by the full queue"), "pkt", better=-1),
        Metric("drops_random", translatable("Lost at random"), "pkt", better=-1),
        Metric("marks", translatable("Marked by the queue"), "pkt", decimals=0),
        Metric("marks_pkts", translatable("Marked packets"), "pkt"),
        # Of trainings and evaluations
        Metric("return_mean", translatable("Return"), translatable("per decision"), decimals=3, better=1),
        _told_by("flow_goodput_bps", translatable("Goodput of a flow")),
        _told_by("rtt_s", translatable("RTT")),
        Metric("rtt_inflation", translatable("RTT above its minimum"), "%", 100.0, 1, -1),
        Metric("score", translatable("Score"), decimals=3, better=1),
        Metric("td_error", translatable("TD error"), better=-1),
        Metric("q_mean", translatable("Mean Q")),
        Metric("actor_saturation", translatable("Actor saturation"), "%", 100.0, 1, -1),
        Metric("kl", translatable("KL divergence"), "nat"),
        Metric("entropy", translatable("Entropy"), "nat"),
        Metric("updates_per_s", translatable("Updates"), "per s", decimals=1),
        Metric("steps_per_s", translatable("Steps"), "per s", decimals=1),
        Metric("sim_s_per_s", translatable("Simulated"), "s per s", decimals=1),
    )
}
"""By key."""

_OWNERS = ("flows", "links")


def metric(key: str) -> Metric:
    """The metric that a recorded value is of: ``flows.download.mean_rtt_s`` is a mean RTT.

    Its key is the one that was asked for. Of what the table lacks, the unit is told by the end of the key, and the
    key is the title.
    """
    known = METRICS.get(key.rpartition(".")[2].rpartition(":")[2]) if is_metric(key) else None
    return _told_by(key, key) if known is None else replace(known, key=key)


def is_metric(key: str) -> bool:
    """Whether a key names a metric of the table: of a run, or of a flow or link of it, but no parameter."""
    owner = key.partition(".")[0]
    return key in METRICS or key == "fairness.jain" or (owner in _OWNERS and key.rpartition(".")[2] in METRICS)


def owner_of(key: str) -> str:
    """The flow, subflow or direction of a link that a metric is of; empty: the whole run."""
    kind, _, rest = key.partition(".")
    return rest.rpartition(".")[0] if kind in _OWNERS and is_metric(key) else ""


def metric_title(key: str) -> str:
    """What a recorded value is called in the language of the window, e.g. ``download: Mean RTT``; other keys as is."""
    if not is_metric(key):
        return key
    owner, title = owner_of(key), tr(metric(key).title)
    return f"{owner}: {title}" if owner else title
