"""Standings of the entrants of the arena: columns, ranks, intervals, and the frontier of two columns.

Only the utility ranks the entrants; further columns show its components, and the convergence and CPU times. A value of
an entrant is the mean over the families, and the value of a family is the mean over its networks.

Entrants are compared pairwise by their differences in the same networks, of the drawn families only: an experiment of a
paper repeats with other seeds, so its networks are not independent draws; their mean difference is a value of its own.

The interval is a bootstrap interval: the networks of each family are drawn repeatedly with replacement. All entrants
share the same draws, so the difference between two entrants usually has a narrower interval than either score. The
draws depend only on the number of networks, so the values of an entrant do not depend on the other entrants.

An entrant is on the frontier if no other entrant is at least as good in both columns and better in one. The frontier
leaves out entrants that ignore feedback: the oracle receives the network in advance, and a blind sender that sends next
to nothing has short queues.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from subflow_app.features.arena.core.results import Board, Result
from subflow_app.foundation.errors import InputError
from subflow_app.foundation.resources import way_on
from subflow_app.vocabulary.language import tr, translatable
from subflow_app.vocabulary.means import pareto_front
from subflow_app.vocabulary.measure import Measure
from subflow_app.vocabulary.measures import MEASURES
from subflow_app.vocabulary.palette import ColourKey
from subflow_app.vocabulary.picture import Panel, PanelSeries
from subflow_sim.arena.blind import BLIND
from subflow_sim.arena.utility import mean_of, worst_decile_of


@dataclass(frozen=True, slots=True)
class ArenaColumn(Measure):
    """A column of the arena.

    Attributes:
        id: name of the column in options and documents.
        help: definition in one or two sentences.
    """

    id: str = ""
    help: str = ""


COLUMNS: Mapping[str, ArenaColumn] = {
    column.id: column
    for column in (
        ArenaColumn(
            "arena_utility",
            translatable("Utility"),
            "",
            1.0,
            2,
            1,
            id="utility",
            help=translatable(
                "ln(goodput / fair share) - 0.5 ln(1 + queueing delay / base RTT) - 5 (loss - the links' own); -5 at "
                "least, and where competing TCP is left less than 80 % of what it gets beside NewReno."
            ),
        ),
        ArenaColumn(
            "arena_throughput",
            translatable("Throughput over fair"),
            "",
            1.0,
            2,
            1,
            id="throughput",
            help=translatable(
                "Goodput divided by the max-min fair share: 1 is all of it. Computed from the mean logarithm; at "
                "least 0.007."
            ),
        ),
        ArenaColumn(
            "arena_queueing",
            translatable("Queueing delay"),
            "RTT",
            1.0,
            2,
            -1,
            id="queueing",
            help=translatable("Mean time that packets wait in queues, in base round-trip times."),
        ),
        ArenaColumn(
            "arena_loss_ratio",
            translatable("Loss of its own"),
            "%",
            100.0,
            2,
            -1,
            id="loss",
            help=translatable("Share of packets lost, beyond the random loss of the links."),
        ),
        ArenaColumn(
            **MEASURES["friendliness"].attributes,
            id="friendliness",
            help=translatable(
                "Goodput of competing TCP divided by what it gets next to one NewReno instead; below 0.8 the network "
                "gets the lowest utility."
            ),
        ),
        ArenaColumn(
            **MEASURES["convergence_s"].attributes,
            id="convergence",
            help=translatable("Time from a change of capacity until a connection has its new fair share."),
        ),
        ArenaColumn(
            "arena_cpu_us",
            translatable("CPU per packet"),
            "µs",
            1.0,
            2,
            -1,
            id="cpu",
            help=translatable("CPU time of the whole simulation per delivered packet, on the machine that ran it."),
        ),
    )
}
"""Columns by id, in order. Only the first determines the rank."""


_DRAWS = 2000
_SEED = 20_261_126
_EDGES = (2.5, 97.5)

Floats = NDArray[np.float64]
_NO_DRAWS: Floats = np.full(1, math.nan)


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean and its 95 % interval; unknown values are NaN."""

    mean: float
    low: float = math.nan
    high: float = math.nan


@dataclass(frozen=True, slots=True)
class Standing:
    """A row of the arena.

    Attributes:
        name: name of the entrant.
        rank: rank by the score, from 1; incomplete entrants come last.
        score: mean utility over the families, with its interval.
        worst_decile: mean of the lowest tenth of the utilities.
        families: mean utility by family, with intervals.
        columns: means of the other columns, over the families that have a value.
        lead: lead over the score of the next rank, with its interval; None for the last rank, or if either entrant is
            incomplete.
        n_gated: number of networks with the lowest utility because of harm to competing TCP.
        n_failed: number of networks in which the run failed.
        reasons: counts of failures by reason.
        n: number of networks with a result.
        is_complete: whether every network has a result.
    """

    name: str
    rank: int
    score: Interval
    worst_decile: float
    families: Mapping[str, Interval]
    columns: Mapping[str, float]
    lead: Interval | None
    n_gated: int
    n_failed: int
    reasons: Mapping[str, int] = field(default_factory=dict)
    n: int = 0
    is_complete: bool = True

    @property
    def is_ahead(self) -> bool:
        """True if the interval of the lead over the next rank lies above zero."""
        return self.lead is not None and self.lead.low > 0


def standings(board: Board, families: Sequence[str] | None = None) -> tuple[Standing, ...]:
    """The entrants with at least one result, best first.

    Args:
        board: results to rank.
        families: families to include; None for all.
    """
    wanted = tuple(board.entry.families if families is None else families)
    known = {
        each.name: {family: board.of_family(each.name, family) for family in wanted} for each in board.entry.taking_part
    }
    known = {name: own for name, own in known.items() if any(any(each) for each in own.values())}
    draws = {name: _drawn_scores(own) for name, own in known.items()}
    means = {
        name: mean_of([mean_of(_utilities(each)) for each in own.values() if any(each)]) for name, own in known.items()
    }
    complete = {name: all(all(each) for each in own.values()) for name, own in known.items()}
    order = sorted(known, key=lambda name: (not complete[name], -means[name]))
    rows = []
    for place, name in enumerate(order):
        follower = order[place + 1] if place + 1 < len(order) else None
        lead = None
        if follower is not None and complete[name] and complete[follower]:
            lead = _interval(means[name] - means[follower], draws[name] - draws[follower])
        rows.append(_standing(name, place + 1, known[name], means[name], draws[name], lead, is_complete=complete[name]))
    return tuple(rows)


@dataclass(frozen=True, slots=True)
class Pair:
    """The comparison of an entrant with another one, by its differences of utility in the same networks.

    Attributes:
        name: name of the entrant.
        difference: mean difference over the families of drawn networks, with its interval; NaN without such networks.
            Positive: this entrant is better than the other.
        n: number of drawn networks in which both have a result.
        n_better: number of them in which this entrant is better.
        n_worse: number of them in which it is worse.
        papers: mean difference over the families of papers; NaN without common results. It has no interval, because
            the experiments of a paper are few and fixed.
        n_papers: number of networks behind `papers`.
    """

    name: str
    difference: Interval
    n: int
    n_better: int
    n_worse: int
    papers: float
    n_papers: int

    @property
    def is_settled(self) -> bool:
        """True if the interval excludes zero."""
        return self.difference.low > 0 or self.difference.high < 0


def best_name(rows: Sequence[Standing]) -> str:
    """Name of the best entrant that is no blind sender or oracle; empty without one."""
    return next((row.name for row in rows if row.name not in BLIND), "")


def against_of(rows: Sequence[Standing], asked: str | None) -> str:
    """Name of the entrant with which the others are compared: the one asked for, or else the best.

    Raises:
        InputError: if the board has no such entrant.
    """
    if asked is None:
        return best_name(rows)
    names = [row.name for row in rows]
    if asked not in names:
        listed = f"allowed: {', '.join(names) or 'nobody, because the arena has no results'}"
        raise InputError(f'--against: "{asked}" has no results here; {way_on(asked, names, listed)}')
    return asked


def paired(board: Board, rows: Sequence[Standing], against: str) -> tuple[Pair, ...]:
    """The comparison of each entrant with one of them, in the order of the ranks.

    Args:
        board: results.
        rows: standings of the board.
        against: the entrant with which the others are compared; empty: no comparison.
    """
    return tuple(_pair(board, row.name, against) for row in rows if row.name != against) if against else ()


def _pair(board: Board, name: str, against: str) -> Pair:
    drawn: list[list[float]] = []
    papers: list[list[float]] = []
    for family in board.entry.families:
        both = zip(board.of_family(name, family), board.of_family(against, family), strict=True)
        differences = [own.utility - other.utility for own, other in both if own is not None and other is not None]
        if differences:
            (drawn if family in board.entry.drawn_families else papers).append(differences)
    means = [mean_of(each) for each in drawn]
    draws = np.mean([_resampled(each, number) for number, each in enumerate(drawn)], axis=0) if drawn else _NO_DRAWS
    every = [difference for each in drawn for difference in each]
    return Pair(
        name,
        _interval(mean_of(means), draws),
        len(every),
        sum(difference > 0 for difference in every),
        sum(difference < 0 for difference in every),
        mean_of([mean_of(each) for each in papers]),
        sum(map(len, papers)),
    )


def _standing(
    name: str,
    rank: int,
    own: Mapping[str, Sequence[Result | None]],
    mean: float,
    draws: Floats,
    lead: Interval | None,
    *,
    is_complete: bool,
) -> Standing:
    results = [each for of_family in own.values() for each in of_family if each is not None]
    families = {}
    for family, of_family in own.items():
        utilities = _utilities(of_family)
        if utilities:
            resampled = _resampled(utilities) if all(of_family) else _NO_DRAWS
            families[family] = _interval(mean_of(utilities), resampled)
    reasons: dict[str, int] = {}
    for each in results:
        if each.reason and math.isnan(each.throughput):
            reasons[each.reason] = reasons.get(each.reason, 0) + 1
    columns = {key: _column_mean(own, key) for key in COLUMNS if key != "utility"}
    return Standing(
        name,
        rank,
        _interval(mean, draws),
        worst_decile_of([each.utility for each in results]),
        families,
        {key: value for key, value in columns.items() if not math.isnan(value)},
        lead,
        sum(bool(each.reason) and not math.isnan(each.throughput) for each in results),
        sum(reasons.values()),
        reasons,
        len(results),
        is_complete,
    )


def _column_mean(own: Mapping[str, Sequence[Result | None]], key: str) -> float:
    """Mean over the families of each family's mean; for the throughput, a ratio to the fair share instead of its ln."""
    means = []
    for results in own.values():
        values = [float(getattr(each, key)) for each in results if each is not None]
        values = [value for value in values if not math.isnan(value)]
        if values:
            means.append(mean_of(values))
    mean = mean_of(means)
    return math.exp(mean) if key == "throughput" else mean


def _utilities(results: Sequence[Result | None]) -> list[float]:
    return [each.utility for each in results if each is not None]


def _drawn_scores(own: Mapping[str, Sequence[Result | None]]) -> Floats:
    """Bootstrap samples of the score, float64 [draws]; a single NaN if a result is missing."""
    if not all(all(each) for each in own.values()):
        return _NO_DRAWS
    # Each family draws from an independent stream.
    drawn = [_resampled(_utilities(results), number) for number, results in enumerate(own.values())]
    mean: Floats = np.mean(drawn, axis=0)
    return mean


def _resampled(values: Sequence[float], stream: int = 0) -> Floats:
    """Bootstrap samples of the mean, float64 [draws]."""
    means: Floats = np.asarray(values)[_draws(len(values), stream)].mean(axis=1)
    return means


@lru_cache(maxsize=64)
def _draws(n: int, stream: int) -> NDArray[np.int64]:
    return np.random.default_rng((_SEED, n, stream)).integers(0, n, (_DRAWS, n))


def _interval(mean: float, draws: Floats) -> Interval:
    if len(draws) < 2 or np.isnan(draws).any():
        return Interval(mean)
    low, high = np.percentile(draws, _EDGES)
    return Interval(mean, float(low), float(high))


def scatter(rows: Sequence[Standing], along: str, up: str, order: Sequence[str] = ()) -> Panel:
    """The scatter plot of two columns with a mark for each entrant that has both values, in order of rank.

    Args:
        rows: standings.
        along: id of the column of the x axis.
        up: id of the column of the y axis.
        order: names in the order that assigns the colours; empty for the order of the ranks.
    """
    x, y = COLUMNS[along], COLUMNS[up]
    both = [(row.name, row.columns.get(along, math.nan), row.columns.get(up, math.nan)) for row in rows]
    known = [each for each in both if math.isfinite(each[1]) and math.isfinite(each[2])]
    others = [each for each in known if each[0] not in BLIND]
    front = pareto_front([(x.better * each[1], y.better * each[2]) for each in others])
    best = {name for (name, *_), is_best in zip(others, front, strict=True) if is_best}
    places = {name: place for place, name in enumerate(order or [name for name, *_ in known])}
    nothing = np.array([math.nan])
    series = tuple(
        PanelSeries(
            name,
            ColourKey(places[name], 0),
            places[name],
            name in best,
            np.array([value_y * y.scale]),
            nothing,
            x=np.array([value_x * x.scale]),
            x_halves=nothing,
        )
        for name, value_x, value_y in known
    )
    names = ", ".join(each.name for each in sorted(series, key=lambda each: float(each.x[0])) if each.is_ours)
    note = tr("Frontier: {names}", names=names) if names else ""
    return Panel(
        "scatter", "", x.axis_title, y.axis_title, ("",), np.empty(0), series, note, better=(x.better, y.better)
    )
