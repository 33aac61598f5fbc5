"""The report of the arena: ranking, scatter plots, results by family, and the commands that repeat the runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from subflow_app.features.arena.core.arena_text import (
    METHOD,
    entry_table,
    families_table,
    paired_text,
    pairs_csv,
    pairs_table,
    reasons_table,
    standings_csv,
    standings_table,
    told_of,
    values_csv,
)
from subflow_app.features.arena.core.results import (
    FINAL,
    FULL_NUMBERS,
    QUICK_NUMBERS,
    Board,
    family_edition,
    family_titles,
)
from subflow_app.features.arena.core.standings import COLUMNS, Standing, paired, scatter, standings
from subflow_app.features.paper.core.figure_plan import FigurePlan
from subflow_app.features.paper.core.paper_styles import DEFAULT_STYLE
from subflow_app.features.paper.core.report import Block, Heading, Listing, Paragraph, Picture, Report
from subflow_app.features.paper.core.report_file import render_report
from subflow_app.foundation.files import made_folder, write_file
from subflow_app.vocabulary.palette import ColourKey
from subflow_app.vocabulary.picture import Panel, PanelSeries
from subflow_app.vocabulary.tables import TextTable
from subflow_sim.arena.families import EDITION, FAMILIES

HTML_FILE, PDF_FILE = "arena.html", "arena.pdf"

_STYLE = replace(DEFAULT_STYLE.sized(174.0, 90.0), has_markers=True)
_SMALL_STYLE = replace(DEFAULT_STYLE.sized(174.0, 55.0), has_markers=True)
_MOST_IN_FAMILY = 12
_COLUMNS_OF_TABLE = 7  # families per table, limited by the width of a page


def arena_report(board: Board, rows: Sequence[Standing], against: str = "", made_at: datetime | None = None) -> Report:
    """The report of a board, for HTML or PDF.

    Args:
        board: results to report.
        rows: standings of the board.
        against: the entrant with which the others are compared; empty: no comparison.
        made_at: creation time shown in the report; None for the current time.
    """
    from subflow_app import __version__

    made = (made_at or datetime.now(UTC)).strftime("%Y-%m-%d %H:%M UTC")
    split = "" if board.entry.split == "test" else f", {board.entry.split} networks"
    subtitle = f"{len(rows)} entrants in {len(board.entry.families)} families{split}, made {made} with {__version__}"
    return Report("The arena", subtitle, tuple(_blocks(board, rows, against)), contents=2)


def write_pages(board: Board, rows: Sequence[Standing], folder: Path, against: str) -> tuple[Path, Path]:
    """Write the report as HTML and as PDF into an existing folder; returns both paths.

    Raises:
        ExportError: if a file cannot be written.
    """
    report = arena_report(board, rows, against)
    return (
        write_file(folder / HTML_FILE, render_report(report)),
        write_file(folder / PDF_FILE, render_report(replace(report, kind="pdf"))),
    )


def write_board(board: Board, rows: Sequence[Standing], folder: Path, against: str) -> tuple[Path, ...]:
    """Write `standings.csv`, `pairs.csv`, `values.csv` and the report, `arena.html` and `arena.pdf`.

    Raises:
        ExportError: if a file cannot be written.
    """
    made_folder(folder)
    return (
        *write_pages(board, rows, folder, against),
        write_file(folder / "standings.csv", standings_csv(board, rows)),
        write_file(folder / "pairs.csv", pairs_csv(paired(board, rows, against), against)),
        write_file(folder / "values.csv", values_csv(board)),
    )


def _blocks(board: Board, rows: Sequence[Standing], against: str) -> Iterator[Block]:
    yield Heading("Ranking")
    yield Paragraph(METHOD)
    yield Paragraph(" ".join(told_of(board)))
    yield from _in_two(standings_table(rows))
    failed = reasons_table(rows)
    if failed.rows:
        yield Paragraph("An entrant that fails in a network has the lowest utility there; its other networks count.")
        yield failed
    for problem in board.entry.problems:
        yield Paragraph(f"{problem}.")
    pairs = paired(board, rows, against)
    if pairs:
        yield Heading("Differences")
        yield Paragraph(paired_text(against))
        yield pairs_table(pairs, against)
    yield Heading("Throughput, delay and friendliness")
    yield Paragraph(
        "The text below each figure lists the frontier: no entrant that reacts to the network is better in both. "
        "Throughput is the goodput over the max-min fair share, a mean of logarithms; delay is the time in queues over "
        "the base round trip. Friendliness is what competing TCP keeps of what it gets beside NewReno."
    )
    for number, (along, up) in enumerate((("queueing", "throughput"), ("friendliness", "throughput")), start=1):
        panel = scatter(rows, along, up)
        if panel.has_values:
            caption = f"Figure {number}. {COLUMNS[up].title} against {COLUMNS[along].title.lower()}, all families."
            yield Picture(caption, figure=FigurePlan(panels=(panel,), style=_STYLE))
    yield Heading("By family")
    for first in range(0, len(board.entry.families), _COLUMNS_OF_TABLE):
        chosen = board.entry.families[first : first + _COLUMNS_OF_TABLE]
        part = replace(board, entry=replace(board.entry, families=chosen))
        table = families_table(part, rows)
        yield TextTable(table.title if first == 0 else "", table.columns, table.rows)
    titles = family_titles()
    for family in board.entry.families:
        own = standings(board, [family])
        if not own:
            continue
        yield Heading(f"{family}: {titles[family]}", level=2)
        yield Picture(f"Utility, and throughput against delay: {family}.", figure=_family_figure(family, own))
    yield Heading("How to run it again")
    yield Listing("\n".join(commands(board)))
    yield Paragraph(
        "Outcomes depend only on networks, entries and the version of the simulator; those in the database are not "
        "computed again. Use the test networks only at the end, and choose by the networks of `--split validation`. "
        "The networks of `--split final` are for one comparison only."
    )
    yield entry_table(board.entry)
    if board.versions:
        yield Paragraph(f"Made with {', '.join(board.versions)}.")


def _in_two(table: TextTable) -> Iterator[TextTable]:
    """Split the standings into scores and their components, because one table would be too wide for a page."""
    n = len(table.columns)
    for title, places in (
        (table.title, (0, 1, 2, 3, 4, n - 2, n - 1)),
        ("Parts of the scores", (0, 1, *range(5, n - 2))),
    ):
        rows = tuple(tuple(row[place] for place in places) for row in table.rows)
        yield TextTable(title, tuple(table.columns[place] for place in places), rows)


def commands(board: Board) -> list[str]:
    """Two command lines: one that computes this board with all entrants, and an example with named entrants."""
    entry = board.entry
    offered = tuple(family_titles()) if entry.split == "test" else tuple(FAMILIES)
    command = "subflow arena"
    if list(entry.numbers) == list(QUICK_NUMBERS):
        command += " --quick"
    elif entry.split != FINAL and list(entry.numbers) != list(FULL_NUMBERS):
        command += f" --numbers {','.join(map(str, entry.numbers))}"
    if entry.split != "test":
        command += f" --split {entry.split}"
    if entry.families == tuple(name for name in offered if family_edition(name) <= entry.edition):
        command += f" --edition {entry.edition}" if entry.edition < EDITION else ""
    else:
        command += "".join(f" --family {family}" for family in entry.families)
    return [command, f"{command} mplibra:policy=neutral my-policy.safetensors"]


def _family_figure(family: str, rows: Sequence[Standing]) -> FigurePlan:
    shown = rows[:_MOST_IN_FAMILY]
    bars = Panel(
        "bars",
        "Utility",
        "",
        "utility",
        ("",),
        np.empty(0),
        tuple(
            PanelSeries(
                row.name,
                ColourKey(number, 0),
                number,
                False,
                np.array([row.score.mean]),
                np.array([(row.score.high - row.score.low) / 2]),
            )
            for number, row in enumerate(shown)
        ),
        note=f"The best {len(shown)} of {len(rows)}" if len(rows) > len(shown) else "",
        is_signed=True,
    )
    return FigurePlan(panels=(bars, scatter(shown, "queueing", "throughput")), style=_SMALL_STYLE)
