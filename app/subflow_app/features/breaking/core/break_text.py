"""What a search has come to, as tables and documents."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from subflow_app.features.breaking.core.claim_file import ClaimFile
from subflow_app.features.breaking.core.claim_words import measured_words
from subflow_app.features.breaking.core.counterexample import Counterexample
from subflow_app.features.breaking.core.space import Space
from subflow_app.foundation.jobs.progress import JobState
from subflow_app.foundation.json_document import fields
from subflow_app.vocabulary.language import tr, translatable
from subflow_app.vocabulary.tables import Column, NumberColumn

if TYPE_CHECKING:
    from subflow_app.features.breaking.core.job import BreakJob

CLAIM_COLUMNS: Sequence[Column[ClaimFile]] = (
    Column("Claim", lambda claim: claim.name),
    Column("Statement", lambda claim: claim.title),
    Column("Source", lambda claim: claim.source or "–"),
    Column("Spaces", lambda claim: ", ".join(claim.spaces)),
)
SPACE_COLUMNS: Sequence[Column[Space]] = (
    Column("Space", lambda space: space.name),
    Column("Networks", lambda space: space.title),
    NumberColumn("Chosen values", lambda space: len(space.keys)),
)
FOUND_COLUMNS: Sequence[Column[Counterexample]] = (
    Column("Network", lambda each: each.name or "–"),
    Column("Failure", lambda each: each.says),
    NumberColumn("Margin, linux", lambda each: margin_text(each, "linux")),
    NumberColumn("Margin, textbook", lambda each: margin_text(each, "textbook")),
    Column("Confirmed", lambda each: "yes" if each.is_confirmed else "not in both profiles"),
)

METHOD = translatable(
    "The margin is the logarithm of the ratio of the two sides of the claim: below 0 it fails, and -0.69 is half of "
    "what it needs. Mean of ten seeds that the search has not seen, with a 95 % interval."
)


def margin_text(each: Counterexample, profile: str) -> str:
    """The mean margin of a profile with its interval."""
    estimate = each.estimate(profile)
    spread = "" if math.isnan(estimate.ci95) else f" ± {estimate.ci95:.2f}"
    return f"{estimate.mean:.2f}{spread}"


def told_of(job: BreakJob) -> str:
    """What a search has come to, in a sentence or two."""
    search = job.search
    tried = f"{search.tried} networks were tried; the claim failed in {search.failed} of them"
    if job.found:
        kinds = sum(each.margin < 0 for each in search.elites.values())
        return f"{tried}, which are of {kinds} kinds. {listed_words(len(job.found), str.format)}"
    if job.state is not JobState.FINISHED:
        return f"{tried}."
    if search.failed:
        return f"{tried}, but in none of those with all seeds."
    margins = [each.margin for each in search.elites.values()]
    nearest = f" The least margin was {min(margins):.2f}." if margins else ""
    return f"{tried}.{nearest}"


def listed_words(count: int, say: Callable[..., str] = tr) -> str:
    """The reason why a search lists fewer networks than there are kinds in which the claim fails."""
    if count == 1:
        return say(_ONE_LISTED)
    return say(_LISTED, count=count)


_ONE_LISTED = translatable(
    "The list shows the clearest failure, simplified and confirmed with seeds that the search has not seen."
)
_LISTED = translatable(
    "The list shows {count} networks, made from the clearest failures of different kinds: simplified, and confirmed "
    "with seeds that the search has not seen."
)


def break_document(job: BreakJob) -> dict[str, Any]:
    """A search as a JSON document."""
    question, search = job.question, job.search
    return {
        "claim": {**fields(question.claim, "name", "title", "source", "holds", "when")},
        "controller": question.entrant.name,
        "space": question.space.name,
        "keys": list(question.space.keys),
        "seed": question.seed,
        "networks": search.tried,
        "failed": search.failed,
        "kinds": len(search.elites),
        "kinds_failed": sum(each.margin < 0 for each in search.elites.values()),
        "least_margin": min((each.margin for each in search.elites.values()), default=None),
        "elapsed_s": job.elapsed_s,
        "notes": list(job.notes),
        "found": [found_document(each) for each in job.found],
    }


def found_document(each: Counterexample) -> Mapping[str, Any]:
    """A counterexample as a JSON document."""
    return {
        **fields(each, "name", "says", "told", "entrant"),
        "claim": each.claim.name,
        "claimed": each.claim.holds,
        "measured": measured_words(each.told, str.format) if each.told else "",
        "measured_seed": each.first_seed,
        "is_confirmed": each.is_confirmed,
        "confirmed": {profile: each.estimate(profile).to_json() for profile in each.confirmed},
        "scenario": each.text,
    }
