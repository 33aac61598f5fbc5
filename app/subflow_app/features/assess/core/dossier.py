"""The dossier of an assessment: the report as HTML and PDF, the numbers, what was run, and an RO-Crate of all of it."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from subflow_app.features.assess.core.assessment_text import (
    assessment_document,
    counts,
    criteria_table,
    marked,
    search_text,
    searches_table,
    untried_table,
    values_table,
)
from subflow_app.features.assess.core.criteria import section
from subflow_app.features.assess.core.job import Assessment, judgement, search_judgement
from subflow_app.features.breaking.core.break_text import METHOD, margin_text
from subflow_app.features.breaking.core.failure_words import failure_words
from subflow_app.features.breaking.core.job import BreakJob
from subflow_app.features.exporting.core.crate import METADATA, CrateFile, crate_text
from subflow_app.features.gallery.core.coverage import problems
from subflow_app.features.gallery.core.figure import experiment_figure
from subflow_app.features.gallery.core.report import figure_caption, version_blocks
from subflow_app.features.gallery.core.report_csv import results_csv, verdicts_csv
from subflow_app.features.gallery.core.report_tables import seeds_text, verdict_table
from subflow_app.features.gallery.core.results import Results
from subflow_app.features.paper.core.report import Block, Heading, Listing, Paragraph, Picture, Report
from subflow_app.features.paper.core.report_file import render_report
from subflow_app.foundation.citation import FILE as CITATION
from subflow_app.foundation.citation import citation_cff
from subflow_app.foundation.files import made_folder, write_file, writing
from subflow_app.foundation.json_document import json_text
from subflow_app.vocabulary.tables import TextColumn, TextTable
from subflow_sim.gate import is_file

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
    """The pages.

    Raises:
        StoreError: if traces cannot be read.
    """
    from subflow_app import __version__

    made = made_at.strftime("%Y-%m-%d %H:%M UTC")
    length = "quick" if assessment.extent.is_quick else "full"
    return Report(
        f"{assessment.entrant.name} by the criteria of RFC 9743",
        f"Dossier for BCP 133, {length} form, made {made} with Subflow {__version__}",
        tuple(_blocks(assessment, results, command)),
        contents=2,
    )


def write_dossier(assessment: Assessment, results: Sequence[Results], folder: Path, controller: str) -> list[Path]:
    """Write the dossier; criteria and scenarios are in the folder already.

    Args:
        assessment: what was made.
        results: of its criteria.
        folder: the dossier.
        controller: as the user typed it.

    Returns:
        The files that people begin with.

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
    """What makes this assessment again."""
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
        f"The first makes all of it; the second one criterion, from the files in {CRITERIA}, each a recipe "
        "with scenarios in a folder below. Networks in which a claim fails are scenario files that `subflow run` takes."
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
        yield Picture(f"Figure {number}. {figure_caption(results, figure)}", panels=figure)
    verdicts = verdict_table(results)
    yield _without_empty(
        replace(verdicts, columns=(replace(verdicts.columns[0], title="Check"), *verdicts.columns[1:]))
    )
    yield values_table(results)
    for place, problem in problems(results).items():
        yield Paragraph(f"Not measured: {place}: {problem}")


def _without_empty(table: TextTable) -> TextTable:
    """A table without the columns in which nothing stands."""
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
        told = ", ".join(f"{profile} {margin_text(each, profile)}" for profile in each.confirmed)
        yield Paragraph(f"{each.says}. {' '.join(failure_words(each))} Margin: {told}.")


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
        f"All of it again: {command}",
        f"One criterion: subflow reproduce {CRITERIA}/NAME.toml",
    ]
    if any(search.found for search in assessment.searches):
        lines.append(f"A network in which a claim fails: subflow run {COUNTEREXAMPLES}/NAME.toml")
    lines.append(f"How to cite the program: {CITATION}")
    return "\n".join(lines) + "\n"
