"""Feedback on wrong predictions that reveal a misconception, by option, number, or shape of a drawn curve."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache

import numpy as np

from subflow_app.features.labs.core.lab import NUMBER, SKETCH, Prediction
from subflow_app.features.labs.core.progress import Predicted, PredictionValue
from subflow_app.foundation.claims import Claim
from subflow_app.foundation.expressions import Function, Missing, Value
from subflow_app.vocabulary.language import tr

SKETCH_FUNCTIONS: Mapping[str, Function] = {
    "highest": Function(("number", "number"), unit="pkt"),
    "lowest": Function(("number", "number"), unit="pkt"),
    "drops": Function(()),
}
"""Functions that claims about a drawn curve may call: the highest and the lowest point between two times (s), and the
number of drops by a fifth or more.
"""

_NEAR = 0.1  # relative distance within which two numbers count as equal
_FALLS_TO = 0.8
_RISES_TO = 1.1

Points = Sequence[tuple[float, float]]


def mistake_of(prediction: Prediction, made: Predicted) -> str:
    """Feedback on a wrong prediction that matches a known mistake; empty in all other cases."""
    value, came = made.value, made.came
    if made.is_right or came is None:
        return ""
    if prediction.kind == SKETCH:
        assert isinstance(value, tuple)
        return next((each.why for each in prediction.mistakes if is_so_drawn(str(each.said), value)), "")
    if prediction.kind == NUMBER:
        assert isinstance(came, float)
        if _is_near(value, came):
            return ""
        return next((each.why for each in prediction.mistakes if _is_near(value, each.said)), "")
    return next((each.why for each in prediction.mistakes if each.said == value), "")


def is_so_drawn(claim: str, points: Points) -> bool:
    """True if a claim holds for a drawn curve.

    Args:
        claim: claim with the functions of `SKETCH_FUNCTIONS`.
        points: points (s, SI) of the curve.
    """

    def resolve(name: str, arguments: tuple[Value, ...]) -> Value:
        if name == "drops":
            return float(_drops(points))
        first_s, last_s = arguments
        assert isinstance(first_s, float)
        assert isinstance(last_s, float)
        inside = [height for time_s, height in points if first_s <= time_s <= last_s]
        if not inside:
            return Missing(tr("nothing is drawn there"))
        return max(inside) if name == "highest" else min(inside)

    return _claim(claim).evaluate(resolve).holds is True


@cache
def _claim(text: str) -> Claim:
    return Claim(text, SKETCH_FUNCTIONS)


def _is_near(value: PredictionValue, other: str | float) -> bool:
    assert isinstance(value, float)
    assert isinstance(other, float)
    return abs(value - other) <= _NEAR * abs(other)


def _drops(points: Points) -> int:
    """Number of drops of a curve to four fifths of the preceding peak or less, separated by rises."""
    count, peak, trough = 0, 0.0, np.inf
    for _time, height in points:
        if trough == np.inf:  # no drop since the last rise
            peak = max(peak, height)
            if height <= _FALLS_TO * peak:
                count, trough = count + 1, height
        elif height >= _RISES_TO * trough and height > trough:
            peak, trough = height, np.inf
        else:
            trough = min(trough, height)
    return count
