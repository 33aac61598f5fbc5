"""Tables of trained seeds and of ablations, as text for the terminal or as Markdown for the guide."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

from tools.policies.ablations import AS_PRINTED, Ablation
from tools.policies.seeds import TrainedSeed

from subflow_app.vocabulary.number_text import NOTHING
from subflow_app.vocabulary.tables import TextColumn, TextTable, text_columns

# Heading, unit and text of each measure.
_MEASURES: tuple[tuple[str, str, Callable[[TrainedSeed], float], str], ...] = (
    ("Score", "", lambda each: each.score, ".3f"),
    ("Goodput per flow", "Mbit/s", lambda each: each.goodput_bps / 1e6, ".2f"),
    ("Loss", "%", lambda each: 100 * each.loss_ratio, ".2f"),
    ("Jain", "", lambda each: each.jain, ".3f"),
)
_COLUMNS = tuple(TextColumn(title, unit) for title, unit, _value, _form in _MEASURES)


def seeds_table(trained: Sequence[TrainedSeed]) -> TextTable:
    """A row for each seed; the seed that ships is marked."""
    chosen = {each.recipe: best_seed([other for other in trained if other.recipe == each.recipe]) for each in trained}
    rows = []
    for each in trained:
        mark = "ships" if each is chosen[each.recipe] else "" if each.is_finished else "not finished"
        cells = [_text(value(each), form) for _title, _unit, value, form in _MEASURES]
        rows.append((each.recipe, str(each.seed), *cells, _text(each.minutes, ".1f"), mark))
    columns = (
        *text_columns("Recipe"),
        TextColumn("Seed"),
        *_COLUMNS,
        TextColumn("Time", "min"),
        *text_columns("Choice"),
    )
    return TextTable("Trained seeds", columns, tuple(rows))


def best_seed(trained: Sequence[TrainedSeed]) -> TrainedSeed | None:
    """The seed that ships: the highest score, and among equal scores the smallest seed; None without a score."""
    known = [each for each in trained if each.is_finished and not math.isnan(each.score)]
    return max(known, key=lambda each: (each.score, -each.seed), default=None)


def ablations_table(
    base: str, printed: Sequence[TrainedSeed], changed: Mapping[str, Sequence[TrainedSeed]], listed: Sequence[Ablation]
) -> TextTable:
    """The mean and range of each measure over the seeds, for a recipe and its ablations.

    Args:
        base: name of the recipe.
        printed: trainings of the recipe, with the same seeds as those of the ablations.
        changed: trainings of each ablation, by its name.
        listed: the ablations in the order of the table.
    """
    rows = [_row("as printed", printed)]
    rows += [_row(each.says, changed.get(each.name, ())) for each in listed if each.name != AS_PRINTED]
    columns = (*text_columns("Change"), TextColumn("Seeds"), *_COLUMNS)
    return TextTable(f"{base}: one change each", columns, tuple(rows))


def _row(says: str, trained: Sequence[TrainedSeed]) -> tuple[str, ...]:
    finished = [each for each in trained if each.is_finished]
    cells = [_range([value(each) for each in finished], form) for _title, _unit, value, form in _MEASURES]
    return (says, str(len(finished)), *cells)


def _range(values: Sequence[float], form: str) -> str:
    known = [value for value in values if math.isfinite(value)]
    if not known:
        return NOTHING
    mean = math.fsum(known) / len(known)
    if len(known) == 1:
        return f"{mean:{form}}"
    return f"{mean:{form}} ({min(known):{form}} to {max(known):{form}})"


def _text(value: float, form: str) -> str:
    return f"{value:{form}}" if math.isfinite(value) else NOTHING


def markdown(table: TextTable) -> str:
    """A table in Markdown, without its title."""
    heads = [f"{column.title}, {column.unit}" if column.unit else column.title for column in table.columns]
    lines = [heads, ["--:" if column.is_number else "---" for column in table.columns], *table.rows]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)
