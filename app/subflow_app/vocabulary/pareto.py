"""Which of several points with two figures each are best."""

from __future__ import annotations

from collections.abc import Sequence


def pareto_front(values: Sequence[tuple[float, float]]) -> list[bool]:
    """Which points no other dominates, where more is better in both figures."""
    return [
        not any(
            other[0] >= value[0] and other[1] >= value[1] and (other[0] > value[0] or other[1] > value[1])
            for other in values
        )
        for value in values
    ]
