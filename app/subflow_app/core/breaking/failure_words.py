"""A failed claim in words: what is claimed, what was measured, and by which factor the two differ.

The claim with measured numbers in it, ``5.053 Mbit/s >= 11.87 Mbit/s``, is false by itself; nobody is to read it alone.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from subflow_app.core.claims import LARGEST_MARGIN
from subflow_app.core.expressions import UNIT_WORTH
from subflow_app.vocabulary.language import tr, translatable
from subflow_sim.gate import toml_tree

if TYPE_CHECKING:
    from subflow_app.core.breaking.counterexample import Counterexample

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
_OTHERWISE = translatable("not true: {told}")


def measured_words(told: str, say: Callable[..., str] = tr) -> str:
    """The comparisons of a failed claim that do not hold: ``5.053 Mbit/s, where at least 11.87 Mbit/s is claimed``.

    Args:
        told: the claim with the numbers that were measured, see `Outcome.told`.
        say: puts values into a form: `tr` in the language of the window, `str.format` in English, for what is kept.
    """
    found = [_PART.fullmatch(part) for part in told.split(" and ")]
    failing = [match for match in found if match is not None and not _holds(match)]
    if not failing or None in found:
        return say(_OTHERWISE, told=told)
    return "; ".join(_phrase(match, say) for match in failing)


def failure_words(each: Counterexample) -> Iterator[str]:
    """Sentences on a counterexample: claimed, measured, the factor between them, with seeds, profile and interval."""
    yield tr("Claimed: {formula}.", formula=each.claim.holds)
    profile = profile_of(each)
    margins = each.confirmed.get(profile, ())
    # Files of older versions may lack the numbers.
    if each.told:
        yield tr(
            "Measured with seed {seed}, profile {profile}: {measured}.",
            seed=each.first_seed,
            profile=profile,
            measured=measured_words(each.told),
        )
    if len(margins) > 1 and each.estimate(profile).mean < 0:
        yield tr(
            "The claim fails by a factor of {factor} with that seed, and of {factors} on average over {count} seeds "
            "that the search has not seen.",
            factor=_factor(margins[0]),
            factors=factor_text(each, profile),
            count=len(margins),
        )


def factor_text(each: Counterexample, profile: str) -> str:
    """Factor by which the claim fails in a profile: ``2.49 (95 % interval 2.26 to 2.74)``."""
    found = each.estimate(profile)
    if not found.mean < 0:
        return tr("it holds")
    if math.isnan(found.ci95):
        return _factor(found.mean)
    return tr(
        "{factor} (95 % interval {low} to {high})",
        factor=_factor(found.mean),
        low=_factor(found.high),
        high=_factor(found.low),
    )


def profile_of(each: Counterexample) -> str:
    """The transport profile that the scenario names."""
    return str(toml_tree(each.text).get("profile", "linux"))


def _factor(margin: float) -> str:
    """The ratio of the sides of a comparison; margins end at `LARGEST_MARGIN`."""
    factor = f"{math.exp(-margin):.3g}"
    return tr("{factor} or more", factor=factor) if margin <= -LARGEST_MARGIN else factor


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
