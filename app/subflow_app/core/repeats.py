"""Runs that repeat others bit for bit: they are no further evidence, whatever their seeds are."""

from __future__ import annotations

from collections.abc import Sequence

from subflow_app.vocabulary.language import tr


def repeated(signatures: Sequence[str]) -> frozenset[int]:
    """Positions of the signatures that repeat one before them; an empty signature repeats none."""
    seen: set[str] = set()
    copies = set()
    for place, signature in enumerate(signatures):
        if signature and signature in seen:
            copies.add(place)
        seen.add(signature)
    return frozenset(copies)


def is_one_run(signatures: Sequence[str]) -> bool:
    """Whether several seeds gave the same run, bit for bit: their figures have no spread that an interval could show.

    Args:
        signatures: of the finished runs of one scenario, one per seed.
    """
    return len(signatures) > 1 and len(repeated(signatures)) == len(signatures) - 1


def one_run_notice(seeds: int, points: int = 1, of_points: int = 1) -> str:
    """The sentence for runs that are the same for all seeds; empty if no point has such runs.

    Args:
        seeds: number of the seeds.
        points: number of the points of a sweep at which all seeds gave the same run.
        of_points: number of the points that have runs.
    """
    if not points:
        return ""
    if points == of_points:
        return tr(
            "All {seeds} seeds gave the same run: nothing in this scenario is random. Add a loss or a start_jitter.",
            seeds=seeds,
        )
    return tr(
        "At {points} of {count} points, all {seeds} seeds gave the same run, because nothing is random there: these "
        "points have no interval. Add a loss or a start_jitter.",
        points=points,
        count=of_points,
        seeds=seeds,
    )
