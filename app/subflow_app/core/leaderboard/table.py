"""How the controllers stand: scores by metric, and all of them together.

    s_m(c)     score of a controller in contest c by metric m, 0 to 1; 1 is the best of that contest. See `metrics`
    S_m        mean of s_m(c) over the contests that tell it, with the interval t * sd / sqrt(n) over these n contests
    overall    sum of w_m S_m over the sum of w_m, over the metrics m that the controller has a score by
    interval   sqrt(sum of (w_m h_m)^2) over the sum of w_m, h_m being the half-width of S_m: as if metrics were
               independent of each other, which they are not quite

Contests are what varies here, and 95 % intervals say how much the order depends on which of them there are; how much
the runs of one contest scatter is told by the interval of its values over the seeds. Controllers that take part in
fewer contests are set against the best of those, too.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from subflow_app.core.leaderboard.board import Board
from subflow_app.core.leaderboard.metrics import BOARD_METRICS
from subflow_sim.stats import Estimate


@dataclass(frozen=True, slots=True)
class Standing:
    """A row of the leaderboard.

    Attributes:
        name: of the controller.
        rank: by the overall score, from 1; those that are equal share one.
        overall: all metrics together, weighed, 0 to 1; its n is the number of contests.
        scores: by metric, 0 to 1, over contests; without those that no contest tells.
    """

    name: str
    rank: int
    overall: Estimate
    scores: Mapping[str, Estimate]


def contest_scores(board: Board, contest: str, metric: str) -> dict[str, float]:
    """Scores in one contest by one metric, by competitor."""
    return BOARD_METRICS[metric].scores(board.values(contest, metric))


def standings(
    board: Board, weights: Mapping[str, float], contests: Iterable[str] | None = None
) -> tuple[Standing, ...]:
    """The controllers of which anything is known, the best first.

    Args:
        board: what is known.
        weights: by metric, from 0 on.
        contests: ids of those that count; None: all.
    """
    wanted = [each.id for each in board.entry.contests] if contests is None else list(contests)
    by_metric: dict[str, dict[str, list[float]]] = {}
    taken: dict[str, set[str]] = {}
    for metric in BOARD_METRICS:
        for contest in wanted:
            for name, score in contest_scores(board, contest, metric).items():
                by_metric.setdefault(name, {}).setdefault(metric, []).append(score)
                taken.setdefault(name, set()).add(contest)
    rows = []
    for competitor in board.entry.competitors:
        found = by_metric.get(competitor.name, {})
        scores = {metric: Estimate.of(values) for metric, values in found.items()}
        if scores:
            rows.append((competitor.name, _overall(scores, weights, len(taken[competitor.name])), scores))
    # Without an overall score they come last, in the order of the catalogue.
    rows.sort(key=lambda row: -row[1].mean if not math.isnan(row[1].mean) else math.inf)
    # "Not at most" also of NaN: who has no overall score comes after all who have one.
    better = [row[1].mean for row in rows]
    return tuple(
        Standing(name, 1 + sum(not mean <= overall.mean for mean in better[:place]), overall, scores)
        for place, (name, overall, scores) in enumerate(rows)
    )


def _overall(scores: Mapping[str, Estimate], weights: Mapping[str, float], n_contests: int) -> Estimate:
    counted = [(weights.get(metric, 0.0), score) for metric, score in scores.items() if weights.get(metric, 0.0) > 0]
    total = math.fsum(weight for weight, _ in counted)
    if not total:
        return Estimate(math.nan, math.nan, n_contests)
    mean = math.fsum(weight * score.mean for weight, score in counted) / total
    # NaN if one of them is: a part of the uncertainty alone would pretend to be all of it.
    half = math.sqrt(math.fsum((weight * score.ci95) ** 2 for weight, score in counted)) / total
    return Estimate(mean, half, n_contests)
