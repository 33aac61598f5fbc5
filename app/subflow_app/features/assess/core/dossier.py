"""The dossier of an assessment: its tables, the report as HTML and PDF, the numbers, and an RO-Crate of all files.

The crate also holds the scenarios that were run.
"""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from subflow_app.features.assess.core.criteria import criterion_facts, load_dossier, section
from subflow_app.features.assess.core.job import Assessment, Judgement, judgement, search_judgement
from subflow_app.features.breaking.core.break_text import METHOD, failure_words, margin_text, told_of
from subflow_app.features.breaking.core.job import BreakJob
from subflow_app.features.exporting.core.bundle import METADATA, CrateFile, crate_text
from subflow_app.features.gallery.core.figure import experiment_figure, measure_text, shown_value
from subflow_app.features.gallery.core.report import figure_caption, version_blocks
from subflow_app.features.gallery.core.report_tables import (
    ours_text,
    results_csv,
    seeds_text,
    verdict_table,
    verdicts_csv,
    why_text,
)
from subflow_app.features.gallery.core.results import Results, problems
from subflow_app.features.paper.core.panel_forms import interval_text
from subflow_app.features.paper.core.report import Block, Heading, Listing, Paragraph, Picture, Report, made_text
from subflow_app.features.paper.core.report_file import render_report
from subflow_app.foundation.citation import FILE as CITATION
from subflow_app.foundation.citation import citation_cff
from subflow_app.foundation.files import made_folder, write_file, writing
from subflow_app.foundation.json_document import fields, json_text
from subflow_app.vocabulary.number_text import NOTHING
from subflow_app.vocabulary.plain_text import capitalised
from subflow_app.vocabulary.tables import Column, NumberColumn, TextColumn, TextTable, text_columns
from subflow_sim.gate import is_file

SIGNS = {Judgement.MET: "✓", Judgement.NOT_MET: "✗", Judgement.NOT_TRIED: NOTHING}


def marked(told: Judgement) -> str:
    """The verdict with a sign, for readers who cannot distinguish colours."""
    return f"{SIGNS[told]} {told.value}"


def counts(judgements: Sequence[Judgement]) -> str:
    """Counts of the verdicts, e.g. ``12 met, 3 not met``; ``none`` for an empty sequence."""
    found = Counter(judgements)
    return ", ".join(f"{found[each]} {each.value}" for each in Judgement if found[each]) or "none"


def criteria_table(results: Sequence[Results]) -> TextTable:
    """Table with a row for each criterion, which names the checks that are not met."""
    columns: tuple[Column[Results], ...] = (
        Column("Section", lambda each: section(each.recipe)),
        Column("Criterion", lambda each: each.recipe.title),
        Column("Verdict", lambda each: marked(judgement(each)), is_mark=True),
        Column("Not met", _not_met_text),
    )
    return TextTable.of(results, columns, "Criteria of RFC 9743")


def searches_table(searches: Sequence[BreakJob]) -> TextTable:
    """Table with a row for each searched claim: its verdict, how many networks were tried, and an example."""
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
    """Table of the requirements of RFC 9743 that the assessment does not test."""
    rows = tuple((each.section, each.title, each.why) for each in assessment.untried)
    return TextTable("Not tried", text_columns("Section", "Subject", "Reason"), rows)


def summary_tables(assessment: Assessment, results: Sequence[Results]) -> Iterator[TextTable]:
    """The tables of criteria, searches and untested requirements; empty tables are left out."""
    tables = (criteria_table(results), searches_table(assessment.searches), untried_table(assessment))
    return (table for table in tables if table.rows)


def values_table(results: Results) -> TextTable:
    """Means over the seeds with 95 % intervals: a row for each series at each point, a column for each measure."""
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
    """The criteria, claims and untested requirements as a document and as a table."""
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
    """The assessment as a JSON document."""
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
    """The result of a search in a sentence or two."""
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


HTML_FILE, PDF_FILE, JSON_FILE = "assessment.html", "assessment.pdf", "assessment.json"
RESULTS_FILE, VERDICTS_FILE, README_FILE = "results.csv", "verdicts.csv", "README.txt"
CRITERIA, COUNTEREXAMPLES = "criteria", "counterexamples"

_PARTS: Mapping[str, str] = {
    "5.1": "Single algorithm behaviour (section 5.1)",
    "5.2": "Mixed algorithm behaviour (section 5.2)",
    "6": "General use (section 6)",
    "7": "Special cases (section 7)",
}
_METHOD = (
    "RFC 9743 (BCP 133) lists the criteria that a congestion controller has to meet before it is used in the Internet; "
    "it gives no numbers. Each criterion is an experiment here, and each of its checks shows its numbers. A criterion "
    "is met if all of its checks are met; checks compare means over seeds. A search looks for a network in which a "
    "claim fails; finding none proves nothing. Met means met in the simulator; a deployed stack may behave "
    "differently."
)


def dossier_report(assessment: Assessment, results: Sequence[Results], command: str, made_at: datetime) -> Report:
    """The report of an assessment; ``command`` is the command line that repeats it.

    Raises:
        StoreError: if traces cannot be read.
    """
    length = "quick" if assessment.extent.is_quick else "full"
    return Report(
        f"{assessment.entrant.name} by the criteria of RFC 9743",
        f"Dossier for BCP 133, {length} form, {made_text(made_at)}",
        tuple(_blocks(assessment, results, command)),
        contents=2,
    )


def write_dossier(assessment: Assessment, results: Sequence[Results], folder: Path, controller: str) -> list[Path]:
    """Write the dossier into a folder that already contains the criteria and scenarios.

    Args:
        assessment: assessment to report.
        results: results of the criteria.
        folder: folder of the dossier.
        controller: controller as the user typed it.

    Returns:
        The files to read first.

    Raises:
        ExportError: if a file cannot be written.
        StoreError: if traces cannot be read.
    """
    made_at = datetime.now(UTC)
    command = command_text(assessment, controller)
    report = dossier_report(assessment, results, command, made_at)
    made_folder(folder)
    told = {
        write_file(folder / HTML_FILE, render_report(report)): "The report as a page",
        write_file(folder / PDF_FILE, render_report(replace(report, kind="pdf"))): "The report on paper",
        write_file(
            folder / JSON_FILE, json_text(assessment_document(assessment, results))
        ): "Verdicts, values and searches",
        write_file(folder / RESULTS_FILE, results_csv(results)): "Every value of every run of the criteria, SI",
        write_file(folder / VERDICTS_FILE, verdicts_csv(results)): "Every check of the criteria",
        write_file(folder / README_FILE, _readme(assessment, command)): "How to run it again",
        write_file(folder / CITATION, citation_cff()): "How to cite the program",
        **_found_files(assessment, folder / COUNTEREXAMPLES),
    }
    files = [_part(folder, path, says) for path, says in told.items()]
    files += [
        _part(folder, path, "A criterion or a scenario of it, with the controller filled in", is_input=True)
        for path in sorted((folder / CRITERIA).rglob("*"))
        if is_file(path)
    ]
    judged = counts([judgement(each) for each in results])
    crate = crate_text(
        files,
        title=report.title,
        about=f"Criteria of RFC 9743 (BCP 133) as experiments on {assessment.entrant.name}: {judged}.",
        command=command,
        made_at=made_at,
    )
    return [folder / HTML_FILE, folder / PDF_FILE, write_file(folder / METADATA, crate)]


def _part(folder: Path, path: Path, says: str, *, is_input: bool = False) -> CrateFile:
    return CrateFile(path.relative_to(folder).as_posix(), path.read_bytes(), says, is_input)


def command_text(assessment: Assessment, controller: str) -> str:
    """Command line that repeats this assessment."""
    extent = assessment.extent
    parts = ["subflow", "assess", controller]
    parts += ["--quick"] if extent.is_quick else []
    parts += [] if extent.minutes is None else ["--minutes", f"{extent.minutes:g}"]
    parts += [] if extent.seeds is None else ["--seeds", seeds_text(extent.seeds)]
    parts += [part for name in extent.only for part in ("--only", name)]
    return shlex.join([*parts, "--out", "DIR"])


def _blocks(assessment: Assessment, results: Sequence[Results], command: str) -> Iterator[Block]:
    yield Heading("Summary")
    yield Paragraph(assessment.entrant.summary)
    yield Paragraph(_METHOD)
    yield Paragraph(f"Criteria: {counts([judgement(each) for each in results])}.")
    if results:
        yield criteria_table(results)
    if assessment.searches:
        judged = counts([search_judgement(each) for each in assessment.searches])
        yield Paragraph(f"Claims, as far as networks were tried: {judged}.")
        yield searches_table(assessment.searches)
    else:
        yield Paragraph("No claim was searched.")
    yield untried_table(assessment)
    number = 0
    for part, title in _PARTS.items():
        members = [each for each in results if f"{section(each.recipe)}.".startswith(f"{part}.")]
        if members:
            yield Heading(title)
        for each in members:
            number += 1
            yield from _criterion(each, number)
    if assessment.searches:
        yield Heading("Searches")
        yield Paragraph(METHOD)
        for search in assessment.searches:
            yield from _search(search)
    yield Heading("How to run it again")
    yield Listing(f"{command}\nsubflow reproduce {CRITERIA}/NAME.toml")
    yield Paragraph(
        f"The first command runs the whole assessment; the second runs one criterion of {CRITERIA}, which contains "
        "a recipe for each criterion and a folder of scenarios. Networks in which a claim fails are scenario files for "
        "`subflow run`."
    )
    yield from version_blocks()


def _criterion(results: Results, number: int) -> Iterator[Block]:
    recipe = results.recipe
    yield Heading(f"Section {section(recipe)}: {recipe.title} – {judgement(results).value}", level=2)
    yield Paragraph(f"The RFC: {recipe.claim}")
    if recipe.prose:
        yield Paragraph(recipe.prose)
    figure = experiment_figure(results)
    if any(panel.has_values for panel in figure.panels):
        yield Picture(f"Figure {number}. {figure_caption(results, figure)}", figure=figure)
    verdicts = verdict_table(results)
    yield _without_empty(
        replace(verdicts, columns=(replace(verdicts.columns[0], title="Check"), *verdicts.columns[1:]))
    )
    yield values_table(results)
    for place, problem in problems(results).items():
        yield Paragraph(f"Not measured: {place}: {problem}")


def _without_empty(table: TextTable) -> TextTable:
    """A table without its empty columns."""
    kept = [place for place in range(len(table.columns)) if any(row[place] for row in table.rows)]
    columns: tuple[TextColumn, ...] = tuple(table.columns[place] for place in kept)
    return TextTable(table.title, columns, tuple(tuple(row[place] for place in kept) for row in table.rows))


def _search(search: BreakJob) -> Iterator[Block]:
    question = search.question
    claim = question.claim
    yield Heading(f"{claim.title} – {marked(search_judgement(search))[2:]}", level=2)
    source = f" ({claim.source})" if claim.source else ""
    yield Paragraph(f"{claim.holds}{source}; among networks of the kind: {question.space.title.lower()}.")
    yield Paragraph(search_text(search))
    for each in search.found:
        text = ", ".join(f"{profile} {margin_text(each, profile)}" for profile in each.confirmed)
        yield Paragraph(f"{each.says}. {' '.join(failure_words(each))} Margin: {text}.")


def _found_files(assessment: Assessment, folder: Path) -> dict[Path, str]:
    found: dict[Path, str] = {}
    for search in assessment.searches:
        for number, each in enumerate(search.found, start=1):
            made_folder(folder)
            with writing(folder):
                written = each.write(folder, f"{each.claim.name}-{number}")
            found |= dict.fromkeys(written, each.says)
    return found


def _readme(assessment: Assessment, command: str) -> str:
    lines = [
        f"{assessment.entrant.name} by the criteria of RFC 9743 (BCP 133)",
        "",
        f"Whole assessment: {command}",
        f"One criterion: subflow reproduce {CRITERIA}/NAME.toml",
    ]
    if any(search.found for search in assessment.searches):
        lines.append(f"A network in which a claim fails: subflow run {COUNTEREXAMPLES}/NAME.toml")
    lines.append(f"How to cite the program: {CITATION}")
    return "\n".join(lines) + "\n"
