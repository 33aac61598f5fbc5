"""Comparisons of a failed claim in words: measured numbers beside claimed ones."""

from __future__ import annotations

import re
from collections.abc import Callable

from subflow_app.foundation.expressions import UNIT_WORTH
from subflow_app.vocabulary.language import tr, translatable

_SIDE = r"-?\d+(?:\.\d+)?(?:e[+-]?\d+)?(?: (?:%|[A-Za-z][A-Za-z/]*))?"
_PART = re.compile(
    rf"(?P<left>{_SIDE}) (?:(?P<sign>>=|<=|>|<|==) (?P<right>{_SIDE})|in (?P<low>{_SIDE}) \.\. (?P<high>{_SIDE}))"
)
_PHRASES = {
    ">=": translatable("{measured}, where at least {claimed} is claimed"),
    ">": translatable("{measured}, where more than {claimed} is claimed"),
    "<=": translatable("{measured}, where at most {claimed} is claimed"),
    "<": translatable("{measured}, where less than {claimed} is claimed"),
    "==": translatable("{measured}, where {claimed} is claimed"),
}
_BAND = translatable("{measured}, where {low} to {high} is claimed")
_OTHERWISE = translatable("not true: {claim}")


def measured_words(claim: str, say: Callable[..., str] = tr) -> str:
    """The comparisons of a failed claim that do not hold: ``5.053 Mbit/s, where at least 11.87 Mbit/s is claimed``.

    Args:
        claim: with the numbers that were measured, as in `Outcome.told`.
        say: puts values into a form: `tr` in the language of the window, `str.format` in English, for what is kept.
    """
    found = [_PART.fullmatch(part) for part in claim.split(" and ")]
    failing = [match for match in found if match is not None and not _holds(match)]
    if not failing or None in found:
        return say(_OTHERWISE, claim=claim)
    return "; ".join(_phrase(match, say) for match in failing)


def _holds(match: re.Match[str]) -> bool:
    left = _number(match["left"])
    if match["sign"] is None:
        return _number(match["low"]) <= left <= _number(match["high"])
    right = _number(match["right"])
    return {
        ">=": left >= right,
        ">": left > right,
        "<=": left <= right,
        "<": left < right,
        "==": left == right,
    }[match["sign"]]


def _number(side: str) -> float:
    number, _, unit = side.partition(" ")
    return float(number) * UNIT_WORTH.get(unit, 1.0)


def _phrase(match: re.Match[str], say: Callable[..., str]) -> str:
    if match["sign"] is None:
        return say(_BAND, measured=match["left"], low=match["low"], high=match["high"])
    return say(_PHRASES[match["sign"]], measured=match["left"], claimed=match["right"])
