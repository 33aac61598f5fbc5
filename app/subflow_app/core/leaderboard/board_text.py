"""The leaderboard as tables for people, as CSV and as a document."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from subflow_app.core.files import made_folder, write_file
from subflow_app.core.json_document import fields
from subflow_app.core.leaderboard.board import Board
from subflow_app.core.leaderboard.metrics import BOARD_METRICS, BoardMetric
from subflow_app.core.leaderboard.table import Standing, contest_scores
from subflow_app.core.number_text import NOTHING, finite
from subflow_app.core.tables import (
    Column,
    NumberColumn,
    TextColumn,
    TextTable,
    csv_flag,
    csv_number,
    csv_text,
    text_columns,
)
from subflow_sim.stats import Estimate

VALUE_COLUMNS = ("contest", "controller", "metric", "unit", "n", "mean", "ci95", "score", "quick")
STANDING_COLUMNS = ("rank", "controller", "metric", "score", "ci95", "contests", "weight", "quick")


FEWEST_CONTESTS = 5
"""With fewer of them a score is told without an interval."""


def score_text(score: Estimate | None) -> str:
    """A score with its interval, "0.87 ± 0.05"; of a few contests without, which would say nothing of so few."""
    if score is None or math.isnan(score.mean):
        return NOTHING
    has_interval = not math.isnan(score.ci95) and score.n >= FEWEST_CONTESTS
    return f"{score.mean:.2f} ± {score.ci95:.2f}" if has_interval else f"{score.mean:.2f}"


def value_text(metric: BoardMetric, cell: Estimate | None) -> str:
    """A value with its interval, in the unit of the metric: "9.41 ± 0.12"."""
    return NOTHING if cell is None else metric.interval_text(cell)


def standings_table(rows: Sequence[Standing], weights: Mapping[str, float]) -> TextTable:
    """Scores by metric, the best controller first."""
    metrics = [metric for metric in BOARD_METRICS.values() if any(metric.id in row.scores for row in rows)]
    columns = [
        *_STANDING_COLUMNS,
        *(_score_column(metric, weights) for metric in metrics),
        NumberColumn("Contests", lambda row: row.overall.n),
    ]
    return TextTable.of(rows, columns, "Scores: 1 is the best of each contest")


_STANDING_COLUMNS: tuple[Column[Standing], ...] = (
    NumberColumn("#", lambda row: row.rank),
    Column("Controller", lambda row: row.name),
    NumberColumn("Overall", lambda row: row.overall, score_text),
)


def _score_column(metric: BoardMetric, weights: Mapping[str, float]) -> Column[Standing]:
    weight = weights.get(metric.id, 0.0)
    told = "" if weight == 1 else f" (×{weight:g})"
    return NumberColumn(f"{metric.heading}{told}", lambda row: row.scores.get(metric.id), score_text)


def contest_table(board: Board, contest_id: str, rows: Sequence[Standing]) -> TextTable:
    """The values of one contest, in the order of the rows."""
    contest = next(each for each in board.entry.contests if each.id == contest_id)
    metrics = [metric for metric in BOARD_METRICS.values() if board.values(contest_id, metric.id)]
    columns = (*_STANDING_COLUMNS, *(_value_column(board, contest_id, metric) for metric in metrics))
    return TextTable.of(rows, columns, f"{contest.id}: {contest.title}")


def _value_column(board: Board, contest_id: str, metric: BoardMetric) -> Column[Standing]:
    title = f"{metric.heading} ({metric.unit})" if metric.unit else metric.heading
    return NumberColumn(title, lambda row: value_text(metric, board.cell(contest_id, metric.id, row.name)))


def metric_table(board: Board, metric_id: str) -> TextTable:
    """The values of one metric: a row for each contest and controller, the best of each contest first."""
    metric = BOARD_METRICS[metric_id]
    unit = f" ({metric.unit})" if metric.unit else ""
    columns = (*text_columns("Contest", "Controller"), TextColumn(f"{metric.title}{unit}"), TextColumn("Score"))
    rows: list[tuple[str, ...]] = []
    for contest in board.entry.contests:
        scores = contest_scores(board, contest.id, metric_id)
        for place, name in enumerate(sorted(scores, key=lambda name: -scores[name])):
            cell = board.cell(contest.id, metric_id, name)
            rows.append((contest.id if place == 0 else "", name, value_text(metric, cell), f"{scores[name]:.2f}"))
    return TextTable("", columns, tuple(rows))


def values_csv(board: Board) -> str:
    """A line for each value, in SI units."""
    return csv_text(VALUE_COLUMNS, _value_rows(board))


def standings_csv(board: Board, rows: Sequence[Standing], weights: Mapping[str, float]) -> str:
    """A line for each score, the overall ones with the metric "overall"."""
    lines: list[tuple[object, ...]] = []
    for row in rows:
        for name, score in {"overall": row.overall, **row.scores}.items():
            weight = "" if name == "overall" else weights.get(name, 0.0)
            numbers = (csv_number(score.mean), csv_number(score.ci95))
            lines.append((row.rank, row.name, name, *numbers, score.n, weight, csv_flag(board.entry.is_quick)))
    return csv_text(STANDING_COLUMNS, lines)


def board_document(board: Board, rows: Sequence[Standing], weights: Mapping[str, float]) -> dict[str, Any]:
    """Everything, as JSON has it; what is not known is null."""
    return {
        "quick": board.entry.is_quick,
        "weights": dict(weights),
        "runs": board.n_wanted,
        "finished": board.n_finished,
        "shipped": None if board.shipped is None else {"version": board.shipped.version, "made": board.shipped.date},
        "note": board.note,
        "left_out": {each.name: each.problem for each in board.entry.competitors if each.problem},
        "standings": [
            {
                "rank": row.rank,
                "controller": row.name,
                "overall": _score_document(row.overall),
                "scores": {metric: _score_document(score) for metric, score in row.scores.items()},
            }
            for row in rows
        ],
        "contests": [
            {
                **fields(contest, "id", "paper", "figure", "title"),
                "seeds": list(board.entry.seeds_of(contest)),
                "values": [
                    _value_document(board, contest.id, metric, name) for metric, name in _told(board, contest.id)
                ],
            }
            for contest in board.entry.contests
        ],
    }


def write_board(
    board: Board, rows: Sequence[Standing], weights: Mapping[str, float], folder: Path
) -> tuple[Path, Path]:
    """Write `standings.csv` and `values.csv`.

    Raises:
        ExportError: if they cannot be written.
    """
    made_folder(folder)
    return (
        write_file(folder / "standings.csv", standings_csv(board, rows, weights)),
        write_file(folder / "values.csv", values_csv(board)),
    )


def _told(board: Board, contest: str) -> Iterator[tuple[str, str]]:
    for metric in BOARD_METRICS:
        for name in board.values(contest, metric):
            yield metric, name


def _value_rows(board: Board) -> Iterator[tuple[object, ...]]:
    for contest in board.entry.contests:
        for metric in BOARD_METRICS:
            scores = contest_scores(board, contest.id, metric)
            for name in board.values(contest.id, metric):
                cell = board.cells[contest.id, metric, name]
                numbers = (cell.n, csv_number(cell.mean), csv_number(cell.ci95), csv_number(scores.get(name, math.nan)))
                place = (contest.id, name, metric, BOARD_METRICS[metric].si_unit)
                yield (*place, *numbers, csv_flag(board.entry.is_quick))


def _value_document(board: Board, contest: str, metric: str, name: str) -> dict[str, Any]:
    cell = board.cells[contest, metric, name]
    score = contest_scores(board, contest, metric).get(name, math.nan)
    return {
        "metric": metric,
        "controller": name,
        "mean": finite(cell.mean),
        "ci95": finite(cell.ci95),
        "n": cell.n,
        "values": [finite(value) for value in cell.values],
        "score": finite(score),
    }


def _score_document(score: Estimate) -> dict[str, Any]:
    return {"mean": finite(score.mean), "ci95": finite(score.ci95), "contests": score.n}
