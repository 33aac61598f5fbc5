"""What an assessment has come to, as tables and as a document."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from subflow_app.features.assess.core.criteria import criterion_facts, load_dossier, section
from subflow_app.features.assess.core.job import Assessment, Judgement, judgement, search_judgement
from subflow_app.features.breaking.core.break_text import margin_text, told_of
from subflow_app.features.breaking.core.job import BreakJob
from subflow_app.features.gallery.core.figure import measure_text, shown_value
from subflow_app.features.gallery.core.report_tables import ours_text, why_text
from subflow_app.features.gallery.core.results import Results
from subflow_app.features.paper.core.panel_forms import interval_text
from subflow_app.foundation.json_document import fields
from subflow_app.vocabulary.number_text import NOTHING
from subflow_app.vocabulary.plain_text import capitalised
from subflow_app.vocabulary.tables import Column, NumberColumn, TextColumn, TextTable, text_columns

SIGNS = {Judgement.MET: "✓", Judgement.NOT_MET: "✗", Judgement.NOT_TRIED: NOTHING}


def marked(told: Judgement) -> str:
    """With a sign that tells it without colours."""
    return f"{SIGNS[told]} {told.value}"


def counts(judgements: Sequence[Judgement]) -> str:
    """``12 met, 3 not met``."""
    found = Counter(judgements)
    return ", ".join(f"{found[each]} {each.value}" for each in Judgement if found[each]) or "none"


def criteria_table(results: Sequence[Results]) -> TextTable:
    """A row for each criterion; what is not met is told."""
    columns: tuple[Column[Results], ...] = (
        Column("Section", lambda each: section(each.recipe)),
        Column("Criterion", lambda each: each.recipe.title),
        Column("Verdict", lambda each: marked(judgement(each)), is_mark=True),
        Column("Not met", _not_met_text),
    )
    return TextTable.of(results, columns, "Criteria of RFC 9743")


def searches_table(searches: Sequence[BreakJob]) -> TextTable:
    """A row for each claim."""
    columns: tuple[Column[BreakJob], ...] = (
        Column("Claim", lambda each: each.question.claim.title),
        Column("Source", lambda each: each.question.claim.source or NOTHING),
        Column("Verdict", lambda each: marked(search_judgement(each)), is_mark=True),
        NumberColumn("Networks", lambda each: each.search.tried),
        NumberColumn("Fails in", lambda each: each.search.failed),
        Column("For example", lambda each: each.found[0].says if each.found else NOTHING),
    )
    return TextTable.of(searches, columns, "Searches for networks in which a claim fails")


def untried_table(assessment: Assessment) -> TextTable:
    """What RFC 9743 asks for and nobody tries here."""
    rows = tuple((each.section, each.title, each.why) for each in assessment.untried)
    return TextTable("Not tried", text_columns("Section", "Subject", "Reason"), rows)


def summary_tables(assessment: Assessment, results: Sequence[Results]) -> Iterator[TextTable]:
    """Criteria, searches, and what is not tried."""
    tables = (criteria_table(results), searches_table(assessment.searches), untried_table(assessment))
    return (table for table in tables if table.rows)


def values_table(results: Results) -> TextTable:
    """What was measured: means over the seeds, with 95 % intervals."""
    recipe = results.recipe
    measures = list(recipe.measures.values())
    is_single = recipe.axis.is_single
    first = text_columns("Controller") if is_single else text_columns("Controller", recipe.axis.label)
    rows = []
    for point in results.points:
        for series in results.series:
            cells = [results.cell(measure.name, series, point) for measure in measures]
            told = [
                interval_text(shown_value(measure, cell.mean), shown_value(measure, cell.ci95))
                for measure, cell in zip(measures, cells, strict=True)
            ]
            rows.append((series, *(() if is_single else (point,)), *told))
    title = f"Means over {len(results.seeds)} seeds with 95 % intervals"
    return TextTable(title, (*first, *(TextColumn(measure_text(each)) for each in measures)), tuple(rows))


def criteria_list() -> tuple[dict[str, Any], TextTable]:
    """What there is, as a document and as a table."""
    dossier = load_dossier()
    facts = criterion_facts()
    document = {
        "criteria": [{"name": name, "section": place, "title": title} for name, place, title in facts],
        "claims": [fields(claim, "name", "title", "source") for claim in dossier.claims],
        "untried": [fields(each, "section", "title", "why") for each in dossier.untried],
    }
    rows = [(name, f"RFC 9743, {place}", title) for name, place, title in facts]
    rows += [(claim.name, claim.source or NOTHING, f"Search: {claim.title}") for claim in dossier.claims]
    return document, TextTable("", text_columns("Name", "Source", "Description"), tuple(rows))


def assessment_document(assessment: Assessment, results: Sequence[Results]) -> dict[str, Any]:
    """All of it as a JSON document."""
    extent = assessment.extent
    return {
        "controller": assessment.entrant.name,
        "quick": extent.is_quick,
        "minutes": extent.search_minutes,
        "criteria": [_criterion_document(each) for each in results],
        "searches": [_search_document(each) for each in assessment.searches],
        "untried": [fields(each, "section", "title", "why") for each in assessment.untried],
        "problems": list(assessment.problems),
    }


def search_text(search: BreakJob) -> str:
    """What a search has come to, in a sentence or two."""
    told = told_of(search)
    return " ".join((told, *(f"{capitalised(note)}." for note in search.notes)))


def _not_met_text(results: Results) -> str:
    told = [
        f"{verdict.check.says}: {verdict.outcome.told}" if verdict.outcome.holds is not None else why_text(verdict)
        for verdict in results.verdicts()
        if not verdict.kind.is_met
    ]
    return "; ".join(told) or NOTHING


def _criterion_document(results: Results) -> dict[str, Any]:
    recipe = results.recipe
    return {
        "name": recipe.name,
        "section": section(recipe),
        "title": recipe.title,
        "verdict": judgement(results).value,
        "seeds": list(results.seeds),
        "checks": [
            {
                "says": verdict.check.says,
                "claim": verdict.check.claim.text,
                "verdict": verdict.kind.value,
                "ours": ours_text(verdict),
                "told": verdict.outcome.told,
                "reason": verdict.reason,
            }
            for verdict in results.verdicts()
        ],
        "values": [
            {"measure": measure, "series": series, "point": point, **fields(cell, "mean", "ci95", "n", "values")}
            for measure in recipe.measures
            for series in results.series
            for point in results.points
            for cell in (results.cell(measure, series, point),)
        ],
    }


def _search_document(search: BreakJob) -> dict[str, Any]:
    question = search.question
    return {
        "claim": question.claim.name,
        "title": question.claim.title,
        "source": question.claim.source,
        "space": question.space.name,
        "verdict": search_judgement(search).value,
        "networks": search.search.tried,
        "failed": search.search.failed,
        "told": search_text(search),
        "found": [
            {
                "says": each.says,
                "told": each.told,
                "confirmed": each.is_confirmed,
                "margins": {profile: list(margins) for profile, margins in each.confirmed.items()},
                "margin": {profile: margin_text(each, profile) for profile in each.confirmed},
            }
            for each in search.found
        ],
    }
