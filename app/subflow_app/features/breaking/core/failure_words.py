"""A failed claim in words: what is claimed, what was measured, and by which factor the two differ.

The claim with measured numbers in it, ``5.053 Mbit/s >= 11.87 Mbit/s``, is false by itself; nobody is to read it alone.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

from subflow_app.features.breaking.core.claim_words import measured_words
from subflow_app.foundation.claims import LARGEST_MARGIN
from subflow_app.vocabulary.language import tr
from subflow_sim.gate import toml_tree

if TYPE_CHECKING:
    from subflow_app.features.breaking.core.counterexample import Counterexample


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
