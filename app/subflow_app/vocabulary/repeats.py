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
    """True if several seeds gave the same run, bit for bit: no interval could show a spread of its figures.

    Args:
        signatures: of the finished runs of one scenario, one per seed.
    """
    return len(signatures) > 1 and len(repeated(signatures)) == len(signatures) - 1


def one_run_notice(points: Sequence[Sequence[str]]) -> str:
    """The sentence for points of a sweep whose runs are the same for all seeds; empty if no point has such runs.

    Args:
        points: signatures of the runs of each point that has runs.
    """
    same = [len(signatures) for signatures in points if is_one_run(signatures)]
    if not same:
        return ""
    if len(same) == len(points):
        return tr(
            "All {seeds} seeds gave the same run: nothing in this scenario is random. Add a loss or a start_jitter.",
            seeds=max(same),
        )
    return tr(
        "At {points} of {count} points, all {seeds} seeds gave the same run, because nothing is random there: these "
        "points have no interval. Add a loss or a start_jitter.",
        points=len(same),
        count=len(points),
        seeds=max(same),
    )
