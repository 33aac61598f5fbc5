"""The results of the arena as tables for people, as CSV and as a JSON document."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

from subflow_app.features.arena.core.results import FINAL, Board, Entry, family_edition, family_titles
from subflow_app.features.arena.core.standings import (
    COLUMNS,
    ArenaColumn,
    Interval,
    Pair,
    Standing,
    paired,
    standings,
)
from subflow_app.foundation.json_document import fields
from subflow_app.vocabulary.language import tr, translatable
from subflow_app.vocabulary.number_text import NOTHING, finite, fixed_text
from subflow_app.vocabulary.tables import (
    Column,
    NumberColumn,
    TextColumn,
    TextTable,
    csv_flag,
    csv_number,
    csv_text,
    text_columns,
)

VALUE_COLUMNS = ("family", "network", "controller", "metric", "unit", "value", "reason", "quick")
STANDING_COLUMNS = ("rank", "controller", "family", "score", "low", "high", "worst_decile", "networks", "quick")
PAIR_COLUMNS = (
    *("controller", "against", "difference", "low", "high", "networks", "better", "worse"),
    *("papers", "paper_networks"),
)
OVERALL = "overall"
_UNITS = {"convergence": "s", "cpu": "us"}

METHOD = translatable(
    "Score: mean over the families of networks of the mean utility in each. 0 is the fair share without queue and "
    "without loss of its own; -5 is the lowest. It does not depend on the other entrants. Intervals hold 95 % of "
    "what other draws of the networks would give (bootstrap); “ahead” means that the lead over the next one is above "
    "0 in 97.5 % of the same draws."
)
PAIRED = translatable(
    "Difference: utility less that of {name} in the same drawn networks, a mean over their families with its 95 % "
    "interval (bootstrap). The papers' experiments repeat with other seeds: they count apart, without an interval."
)


def interval_text(interval: Interval | None) -> str:
    """A score with its interval if known: "−0.87 (−0.95 to −0.80)"; `NOTHING` if the score is None or NaN."""
    if interval is None or math.isnan(interval.mean):
        return NOTHING
    mean, low, high = (fixed_text(value, 2) for value in (interval.mean, interval.low, interval.high))
    return mean if math.isnan(interval.low) else f"{mean} ({low} to {high})"


def score_text(value: float) -> str:
    """A utility with two decimals; `NOTHING` for NaN."""
    return fixed_text(value, 2)


def harm_text(row: Standing) -> str:
    """Number of networks with harm to TCP ("3 harmed TCP") or a failure ("1 failed"); empty if both are 0."""
    gated = [tr("{count} harmed TCP", count=row.n_gated)] if row.n_gated else []
    failed = [tr("{count} failed", count=row.n_failed)] if row.n_failed else []
    return ", ".join([*gated, *failed])


def standings_table(rows: Sequence[Standing]) -> TextTable:
    """Table of all entrants, best first, with the components of their scores."""
    told = [column for column in COLUMNS.values() if any(column.id in row.columns for row in rows)]
    columns: list[Column[Standing]] = [
        NumberColumn("#", lambda row: row.rank),
        Column("Entrant", lambda row: row.name),
        NumberColumn("Score", lambda row: row.score, interval_text),
        Column("Ahead", lambda row: "ahead" if row.is_ahead else ""),
        NumberColumn("Lowest tenth", lambda row: row.worst_decile, score_text),
        *(_told_column(column) for column in told),
        Column("Worst for", harm_text),
        NumberColumn("Networks", lambda row: row.n),
    ]
    return TextTable.of(rows, columns, "The arena")


def _told_column(column: ArenaColumn) -> Column[Standing]:
    return NumberColumn(column.axis_title, lambda row: row.columns.get(column.id, math.nan), column.text)


def pairs_table(pairs: Sequence[Pair], against: str) -> TextTable:
    """Table of the paired differences from one entrant; without the papers where they have no results."""
    columns: list[Column[Pair]] = [
        Column("Entrant", lambda pair: pair.name),
        NumberColumn("Difference", lambda pair: pair.difference, interval_text),
        Column("Settled", settled_text),
        NumberColumn("Better in", lambda pair: pair.n_better),
        NumberColumn("Worse in", lambda pair: pair.n_worse),
        NumberColumn("Networks", lambda pair: pair.n),
    ]
    if any(pair.n_papers for pair in pairs):
        columns.append(NumberColumn("Papers", lambda pair: pair.papers, score_text))
        columns.append(NumberColumn("Of papers", lambda pair: pair.n_papers))
    return TextTable.of(pairs, columns, f"Differences from {against}, paired by network")


def paired_text(against: str) -> str:
    """Definition of the paired differences from one entrant."""
    return tr(PAIRED, name=against)


def settled_text(pair: Pair) -> str:
    """The word for a difference whose interval excludes zero: "better" or "worse"; otherwise empty."""
    if not pair.is_settled:
        return ""
    return tr("better") if pair.difference.mean > 0 else tr("worse")


def families_table(board: Board, rows: Sequence[Standing]) -> TextTable:
    """Table of mean utilities, with a row for each entrant and a column for each family."""
    columns: list[Column[Standing]] = [
        NumberColumn("#", lambda row: row.rank),
        Column("Entrant", lambda row: row.name),
        *(_family_column(family) for family in board.entry.families),
    ]
    return TextTable.of(rows, columns, "Mean utility by family")


def _family_column(family: str) -> Column[Standing]:
    return NumberColumn(
        family, lambda row: row.families[family].mean if family in row.families else math.nan, score_text
    )


def metric_table(board: Board, rows: Sequence[Standing], metric: str) -> TextTable:
    """Table of the means of one value, with a row for each entrant and a column for each family."""
    column = COLUMNS[metric]
    by_family = {family: {row.name: row for row in standings(board, [family])} for family in board.entry.families}

    def cell(family: str) -> Column[Standing]:
        own = by_family[family]
        return NumberColumn(
            family,
            lambda row: own[row.name].columns.get(metric, math.nan) if row.name in own else math.nan,
            column.text,
        )

    families = [family for family, own in by_family.items() if any(metric in row.columns for row in own.values())]
    columns: list[Column[Standing]] = [Column("Entrant", lambda row: row.name), *map(cell, families)]
    return TextTable.of(rows, columns, column.axis_title)


def reasons_table(rows: Sequence[Standing]) -> TextTable:
    """Table of the reasons why runs failed, with the number of networks for each entrant and reason."""
    lines = tuple((row.name, reason, str(count)) for row in rows for reason, count in row.reasons.items())
    columns = (*text_columns("Entrant", "Counts as the worst, because"), TextColumn("Networks", is_number=True))
    return TextTable("Failed", columns, lines)


def entry_table(entry: Entry) -> TextTable:
    """Table of the families, with the description and the number of networks of each."""
    titles = family_titles()
    rows = tuple((name, titles[name], str(len(entry.numbers))) for name in entry.families)
    columns = (*text_columns("Family", "Description"), TextColumn("Networks", is_number=True))
    return TextTable("Families", columns, rows)


def told_of(board: Board) -> Iterator[str]:
    """Sentences on the completeness, origin, date and versions of a board, and on names used for several entries."""
    known, wanted = board.n_finished, board.n_wanted
    if board.entry.is_quick:
        yield tr("{known} of {wanted} results, quick form.", known=known, wanted=wanted)
    else:
        yield tr("{known} of {wanted} results, full form.", known=known, wanted=wanted)
    if board.n_shipped == known > 0:
        yield tr("All of them ship with Subflow.")
    elif board.n_shipped:
        yield tr("{count} of them ship with Subflow; the others were made here.", count=board.n_shipped)
    if board.made:
        yield tr("The last of them was made {date}.", date=board.made)
    if board.versions:
        listed = ", ".join(f"{version} ({count})" for version, count in board.versions.items())
        yield tr(
            "Simulator: {versions}; edition {edition} of the families.", versions=listed, edition=board.entry.edition
        )
    if board.unknown:
        yield tr("Without any result, and left out: {families}.", families=", ".join(board.unknown))
    if len(board.versions) > 1:
        yield tr(
            "Made by {count} versions of the simulator; run them again with one version.", count=len(board.versions)
        )
    several = [f"{name} {count}" for name, count in sorted(board.tries.items()) if count > 1]
    if several and board.entry.split == FINAL:
        yield tr(
            "Entered more than once in the final networks, which are for one comparison: {list}.",
            list=", ".join(several),
        )
    if several and board.entry.split == "test":
        yield tr("Different entries under one name that have seen the test networks: {list}.", list=", ".join(several))


def values_csv(board: Board) -> str:
    """CSV with a line for each value; a column contains the unit."""
    return csv_text(VALUE_COLUMNS, _value_rows(board))


def standings_csv(board: Board, rows: Sequence[Standing]) -> str:
    """CSV with a line for each score of an entrant: overall and by family."""
    lines: list[tuple[object, ...]] = []
    for row in rows:
        for family, score in {OVERALL: row.score, **row.families}.items():
            decile = csv_number(row.worst_decile) if family == OVERALL else ""
            numbers = (csv_number(score.mean), csv_number(score.low), csv_number(score.high), decile)
            count = row.n if family == OVERALL else sum(map(bool, board.of_family(row.name, family)))
            lines.append((row.rank, row.name, family, *numbers, count, csv_flag(board.entry.is_quick)))
    return csv_text(STANDING_COLUMNS, lines)


def pairs_csv(pairs: Sequence[Pair], against: str) -> str:
    """CSV with a line for the comparison of each entrant with one of them."""
    lines = (
        (
            pair.name,
            against,
            *(csv_number(each) for each in (pair.difference.mean, pair.difference.low, pair.difference.high)),
            *(pair.n, pair.n_better, pair.n_worse, csv_number(pair.papers), pair.n_papers),
        )
        for pair in pairs
    )
    return csv_text(PAIR_COLUMNS, lines)


def board_document(board: Board, rows: Sequence[Standing], against: str) -> dict[str, Any]:
    """The board as a JSON document; unknown values are null.

    Args:
        board: results.
        rows: standings of the board.
        against: the entrant with which the others are compared; empty: no comparison.
    """
    titles = family_titles()
    return {
        "quick": board.entry.is_quick,
        "split": board.entry.split,
        "runs": board.n_wanted,
        "finished": board.n_finished,
        "shipped": board.n_shipped,
        "versions": list(board.versions),
        "results_by_version": dict(board.versions),
        "edition": board.entry.edition,
        "unknown_families": list(board.unknown),
        "made": board.made or None,
        "tries": dict(board.tries),
        "left_out": {each.name: each.problem for each in board.entry.entrants if each.problem},
        "standings": [
            {
                "rank": row.rank,
                "controller": row.name,
                "overall": {**_interval_document(row.score), "networks": row.n},
                "worst_decile": finite(row.worst_decile),
                "lead": None if row.lead is None else _interval_document(row.lead),
                "ahead": row.is_ahead,
                "scores": {family: _interval_document(score) for family, score in row.families.items()},
                "values": {key: finite(value) for key, value in row.columns.items()},
                "gated": row.n_gated,
                "failed": dict(row.reasons),
                "complete": row.is_complete,
            }
            for row in rows
        ],
        "against": against or None,
        "pairs": [
            {
                "controller": pair.name,
                "difference": {**_interval_document(pair.difference), "networks": pair.n},
                "better": pair.n_better,
                "worse": pair.n_worse,
                "papers": {"mean": finite(pair.papers), "networks": pair.n_papers},
            }
            for pair in paired(board, rows, against)
        ],
        "families": [
            {
                "name": family,
                "title": titles[family],
                "edition": family_edition(family),
                "networks": [
                    {
                        "name": name,
                        "values": {
                            each.name: _result_document(board, each.name, name)
                            for each in board.entry.taking_part
                            if (each.name, name) in board.results
                        },
                    }
                    for name in board.entry.names(family)
                ],
            }
            for family in board.entry.families
        ],
        "contests": [fields(each, "id", "paper", "figure", "title") for each in board.entry.contests],
    }


def _value_rows(board: Board) -> Iterator[tuple[object, ...]]:
    for family in board.entry.families:
        for network in board.entry.names(family):
            for each in board.entry.taking_part:
                result = board.results.get((each.name, network))
                if result is None:
                    continue
                for key in COLUMNS:
                    value = getattr(result, key)
                    if not math.isnan(value):
                        place = (family, network, each.name, key, _UNITS.get(key, ""))
                        yield (*place, csv_number(value), result.reason, csv_flag(board.entry.is_quick))


def _interval_document(interval: Interval) -> dict[str, Any]:
    half = (interval.high - interval.low) / 2
    return {
        "mean": finite(interval.mean),
        "low": finite(interval.low),
        "high": finite(interval.high),
        "ci95": finite(half),
    }


def _result_document(board: Board, entrant: str, network: str) -> dict[str, Any]:
    result = board.results[entrant, network]
    return {**{key: finite(getattr(result, key)) for key in COLUMNS}, "reason": result.reason or None}
