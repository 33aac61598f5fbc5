"""Presents the networks in which a claim fails as tables, JSON documents, sentences, and web pages.

The sentences about a failure state the claim, the measurement, and the factor between them. A claim with measured
numbers filled in, such as ``5.053 Mbit/s >= 11.87 Mbit/s``, is a false statement, so it always appears with an
explanation.

The web page of a counterexample compares the controller for which a claim fails with a controller for which it holds,
and marks the time at which their runs diverge.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import subflow_app
from subflow_app.features.breaking.core.claim_file import ClaimFile
from subflow_app.features.breaking.core.counterexample import Counterexample, case_runs, measured_words
from subflow_app.features.breaking.core.parting import find_parting
from subflow_app.features.breaking.core.space import Space
from subflow_app.features.exporting.core.bundle import with_plain_policies
from subflow_app.features.exporting.core.web_page import check_offered, recorded_curves, run_document, write_runs
from subflow_app.features.running.core.runs import RunJob
from subflow_app.features.sweeps.core.sweep_plan import DEFAULT_SAMPLE_INTERVAL_S
from subflow_app.foundation.claims import LARGEST_MARGIN
from subflow_app.foundation.jobs.progress import JobState
from subflow_app.foundation.json_document import fields
from subflow_app.vocabulary.language import tr, translatable
from subflow_app.vocabulary.number_text import fixed_text
from subflow_app.vocabulary.tables import Column, NumberColumn
from subflow_sim.gate import toml_tree

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
    """The mean margin in a profile, with its 95 % confidence interval: ``−0.91 ± 0.10``."""
    estimate = each.estimate(profile)
    spread = "" if math.isnan(estimate.ci95) else f" ± {estimate.ci95:.2f}"
    return f"{fixed_text(estimate.mean, 2)}{spread}"


def told_of(job: BreakJob) -> str:
    """The result of a search in a sentence or two."""
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
    nearest = f" The least margin was {fixed_text(min(margins), 2)}." if margins else ""
    return f"{tried}.{nearest}"


def listed_words(count: int, say: Callable[..., str] = tr) -> str:
    """Sentence that explains which of the failing networks a search lists."""
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


def failure_words(each: Counterexample) -> Iterator[str]:
    """Sentences that state the claim, the measurement, and by what factor the claim fails in a counterexample."""
    yield tr("Claimed: {formula}.", formula=each.claim.holds)
    profile = profile_of(each)
    margins = each.confirmed.get(profile, ())
    # Files of older versions may lack the measured numbers.
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
    """Factor by which the claim fails in a profile, e.g. ``2.49 (95 % interval 2.26 to 2.74)``, or ``it holds``."""
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
    """Name of the transport profile in the scenario."""
    return str(toml_tree(each.text).get("profile", "linux"))


def _factor(margin: float) -> str:
    """Convert a negative margin to a factor, exp(-margin), with "or more" if the margin is the lowest possible."""
    factor = f"{math.exp(-margin):.3g}"
    return tr("{factor} or more", factor=factor) if margin <= -LARGEST_MARGIN else factor


def write_claim_page(each: Counterexample, path: Path) -> Path:
    """Write the web page of a counterexample, with a single run if no controller satisfies the claim.

    Returns the path of the page.

    Raises:
        ExportError: if the file cannot be written.
        InputError: if the controller no longer exists, or the WebAssembly core is not installed.
        SimError: if a run fails.
    """
    check_offered()
    cases = case_runs(each)
    parting = find_parting(each, cases)
    shown = [cases[0], *([cases[parting.place]] if parting else cases[1:2])]
    policies: list[bytes] = []
    runs, recorded = [], ""
    for case in shown:
        scenario = case.source.scenario
        job = RunJob(scenario, case.source.text, sample_interval_s=DEFAULT_SAMPLE_INTERVAL_S)
        result = job.run()
        if result.error is not None:
            raise result.error
        recorded = recorded or recorded_curves(job.traces)
        text, _ = with_plain_policies(case.source.text, scenario)
        document = run_document(scenario, scenario.seed, text, DEFAULT_SAMPLE_INTERVAL_S, policies)
        values = {"name": case.title, "signature": result.signature, "version": subflow_app.__version__}
        runs.append({**document, **values})
    owners = [subflow["name"] for subflow in runs[0]["subflows"]]
    claim = each.claim
    source = f" ({claim.source})" if claim.source else ""
    texts = [tr("The claim: {claim}.", claim=f"{claim.title}{source}"), *failure_words(each)]
    chapter: dict[str, Any] = {"group": "", "title": each.says, "runs": list(range(len(runs))), "at": None}
    if parting is not None:
        texts.append(parting.words)
        # The decisions of a scheduler belong to no subflow.
        key = f"subflow/{owners.index(parting.owner)}" if parting.owner in owners else None
        chapter["at"] = {"time_s": parting.at_s, "key": key}
    rows = [[profile, factor_text(each, profile), margin_text(each, profile)] for profile in each.confirmed]
    table = {"caption": "", "heads": [tr("Profile"), tr("Fails by a factor of"), tr("Margin")], "rows": rows}
    chapters = [{**chapter, "texts": [text for text in [*texts, tr(METHOD)] if text], "tables": [table]}]
    title = tr("Counterexample for {entrant}: {claim}", entrant=each.entrant, claim=claim.title)
    return write_runs(path, title, runs, policies, recorded, subject="", chapters=chapters)
