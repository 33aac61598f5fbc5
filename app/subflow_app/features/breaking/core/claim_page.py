"""A counterexample as a web page: the controller with which a claim fails over what keeps it, and where they part."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import subflow_app
from subflow_app.features.breaking.core.break_text import METHOD, factor_text, failure_words, margin_text
from subflow_app.features.breaking.core.counterexample import Counterexample, case_runs
from subflow_app.features.breaking.core.parting import find_parting
from subflow_app.features.exporting.core.bundle import with_plain_policies
from subflow_app.features.exporting.core.web_page import check_offered, recorded_curves, run_document, write_runs
from subflow_app.features.running.core.runs import RunJob
from subflow_app.features.sweeps.core.sweep_plan import DEFAULT_SAMPLE_INTERVAL_S
from subflow_app.vocabulary.language import tr


def write_claim_page(each: Counterexample, path: Path) -> Path:
    """Write the page of a counterexample. Of a claim that no controller keeps in its network, it has one run.

    Raises:
        ExportError: if the file cannot be written.
        InputError: if there is no such controller any more, or the core for pages did not come with the program.
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
        told = {"name": case.title, "signature": result.signature, "version": subflow_app.__version__}
        runs.append({**document, **told})
    owners = [subflow["name"] for subflow in runs[0]["subflows"]]
    claim = each.claim
    source = f" ({claim.source})" if claim.source else ""
    texts = [tr("The claim: {claim}.", claim=f"{claim.title}{source}"), *failure_words(each)]
    chapter: dict[str, Any] = {"group": "", "title": each.says, "runs": list(range(len(runs))), "at": None}
    if parting is not None:
        texts.append(parting.words)
        # A scheduler's decisions are of no subflow.
        key = f"subflow/{owners.index(parting.owner)}" if parting.owner in owners else None
        chapter["at"] = {"time_s": parting.at_s, "key": key}
    rows = [[profile, factor_text(each, profile), margin_text(each, profile)] for profile in each.confirmed]
    table = {"caption": "", "heads": [tr("Profile"), tr("Fails by a factor of"), tr("Margin")], "rows": rows}
    chapters = [{**chapter, "texts": [text for text in [*texts, tr(METHOD)] if text], "tables": [table]}]
    title = tr("Counterexample for {entrant}: {claim}", entrant=each.entrant, claim=claim.title)
    return write_runs(path, title, runs, policies, recorded, chapters=chapters)
