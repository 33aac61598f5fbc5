"""Conditions on listed runs, and their translation to SQL."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

WORDS = "words"
"""Field of full-text search: each search word must be the start of a word in the name, scenario, controllers, note or
tags.
"""

TAG = "tag"
"""Field of tags; ``*`` in the value matches any text."""

TEXT_FIELDS = ("name", "scenario_name", "controllers", "note", "profile", "version", "signature", "status")
"""Columns with text."""

NUMBER_FIELDS = (
    "id",
    "seed",
    "duration_s",
    "warmup_s",
    "sample_interval_s",
    "mss_bytes",
    "simulated_s",
    "wall_s",
    "packets",
    "goodput_bps",
    "mean_rtt_s",
    "jain",
)
"""Columns with numbers, in SI units."""

FORK_FIELDS = ("parent_id", "forked_at_s")
"""Columns of forks: number of the parent run, and time of the fork, s. Only forks meet a condition on these columns,
unless it is negated.
"""

STARTED = "started_at"
"""Field of the start time of a run, compared with ISO 8601 text in UTC; ``:`` needs ``FROM..TO``, TO excluded."""

OPERATORS = (":", "=", "!=", "<", "<=", ">", ">=")
"""``:`` tests if a text contains the value. For numbers and tags it means ``=``, and for STARTED it needs a range."""

_COMPARISONS = {":": "=", "!=": "<>"}
# Relative tolerance for equality: numbers that were converted to text or summed differ in their last digits.
_CLOSE = 1e-9


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition on runs.

    Attributes:
        field: WORDS, TAG, STARTED, one of TEXT_FIELDS, NUMBER_FIELDS or FORK_FIELDS; or, with `is_recorded`, a pattern
            for keys of recorded values (see `matching_keys`), and a value under one of these keys must meet the
            condition.
        operator: one of OPERATORS.
        value: the value for the comparison, numbers in SI units.
        is_negated: whether runs must not meet the condition.
        is_recorded: whether `field` is a pattern for keys of recorded values.
    """

    field: str
    operator: str
    value: str | float
    is_negated: bool = False
    is_recorded: bool = False


def where(conditions: Iterable[Condition], keys: Mapping[str, int], status: str) -> tuple[str, list[Any]]:
    """The conditions as SQL over the table `run`.

    Args:
        conditions: conditions, all of which must be met.
        keys: recorded keys with their numbers in the database.
        status: SQL for the status, which differs from the column for runs whose process has ended without closing them.

    Returns:
        Text for WHERE, and its parameters.

    Raises:
        ValueError: if a field is unknown.
    """
    texts, parameters = list[str](), list[Any]()
    for condition in conditions:
        text, values = _sql(condition, keys, status)
        # A missing value (NULL) does not meet a condition, and so meets its negation.
        texts.append(f"NOT coalesce(({text}), 0)" if condition.is_negated else f"({text})")
        parameters += values
    return " AND ".join(texts) or "TRUE", parameters


def matching_keys(pattern: str, keys: Iterable[str]) -> list[str]:
    """The keys that match a pattern, ignoring case.

    ``*`` matches any text without a slash, so that ``flows.*.loss_ratio`` matches flows but not subflows. Leading parts
    may be omitted: ``wifi.loss`` matches ``links.wifi.loss``.
    """
    text = "[^/]*".join(map(re.escape, pattern.split("*")))
    expression = re.compile(rf"(?:.*\.)?{text}", re.IGNORECASE)
    return [key for key in keys if expression.fullmatch(key)]


def search_words(search: str) -> str:
    """The user's search text as an FTS5 query of prefixes; words without letters and digits are ignored."""
    # A null character would end the expression within its quotes.
    words = [word for word in search.replace("\0", " ").split() if any(character.isalnum() for character in word)]
    return " AND ".join('"' + word.replace('"', '""') + '"*' for word in words)


def _sql(condition: Condition, keys: Mapping[str, int], status: str) -> tuple[str, Sequence[Any]]:
    field, value = condition.field, condition.value
    if condition.is_recorded:
        return _recorded(condition, keys)
    if field == WORDS:
        words = search_words(str(value))
        return ("id IN (SELECT rowid FROM run_search WHERE run_search MATCH ?)", [words]) if words else ("TRUE", [])
    if field == TAG:
        if condition.operator == "!=":
            return "id NOT IN (SELECT run_id FROM run_tag WHERE tag LIKE ? ESCAPE '\\')", [_like(str(value), "")]
        return "id IN (SELECT run_id FROM run_tag WHERE tag LIKE ? ESCAPE '\\')", [_like(str(value), "")]
    if field == STARTED and condition.operator == ":":
        return "started_at >= ? AND started_at < ?", str(value).split("..")
    if field == STARTED:
        return f"started_at {_COMPARISONS.get(condition.operator, condition.operator)} ?", [value]
    if field in TEXT_FIELDS:
        return _text(status if field == "status" else field, condition)
    if field in FORK_FIELDS:
        text, parameters = _number(field, condition.operator, float(value))
        return f"id IN (SELECT run_id FROM run_fork WHERE {text})", parameters
    if field not in NUMBER_FIELDS:
        raise ValueError(f"unknown field {field!r}")
    # Seeds are unsigned, and stored as signed numbers with the same bits.
    column = "iif(seed < 0, seed + 18446744073709551616.0, seed)" if field == "seed" else field
    return _number(column, condition.operator, float(value))


def _recorded(condition: Condition, keys: Mapping[str, int]) -> tuple[str, Sequence[Any]]:
    numbers = [keys[key] for key in matching_keys(condition.field, keys)]
    if not numbers:
        return "FALSE", []
    if isinstance(condition.value, str):
        text, parameters = _text("text", condition)
    else:
        text, parameters = _number("number", condition.operator, condition.value)
    listed = ", ".join(map(str, numbers))
    return f"id IN (SELECT run_id FROM run_value WHERE key_id IN ({listed}) AND {text})", parameters


def _text(column: str, condition: Condition) -> tuple[str, Sequence[Any]]:
    value = str(condition.value)
    if condition.operator == ":":
        return f"{column} LIKE ? ESCAPE '\\'", [_like(value, "%")]
    if condition.operator in ("=", "!="):
        negation = "NOT " if condition.operator == "!=" else ""
        return f"{column} {negation}LIKE ? ESCAPE '\\'", [_like(value, "")]
    return f"{column} {condition.operator} ? COLLATE NOCASE", [value]


def _number(column: str, operator: str, value: float) -> tuple[str, Sequence[Any]]:
    if operator in (":", "="):
        return f"abs({column} - ?) <= ?", [value, abs(value) * _CLOSE]
    if operator == "!=":
        return f"abs({column} - ?) > ?", [value, abs(value) * _CLOSE]
    return f"{column} {operator} ?", [value]


def _like(value: str, around: str) -> str:
    """A pattern for LIKE, which ignores case; `*` matches any text."""
    escaped = re.sub(r"([\\%_])", r"\\\1", value).replace("*", "%")
    return f"{around}{escaped}{around}"
