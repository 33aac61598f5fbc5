"""The language of the history's search field and of ``subflow runs QUERY``: words, fields, comparisons, negation.

    demo tag:fairness -controller:olia goodput>5Mbit/s links.wifi.loss>0 started:today

All conditions must hold. An unknown field name raises an error with its position and the allowed names, because an
empty result would be misleading.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta

from subflow_app.features.history.core.run_columns import COLUMNS, MORE_COLUMNS, RunColumn
from subflow_app.foundation.errors import InputError
from subflow_app.vocabulary.measure import dimension_of
from subflow_sim.errors import ParamError
from subflow_sim.plain_text import closest
from subflow_sim.units import UNITS, Dimension, parse_quantity
from subflow_store.conditions import STARTED, TAG, WORDS, Condition, matching_keys
from subflow_store.values import FINAL_STATUSES

STATUSES = ("running", *FINAL_STATUSES)

_DATE = "date"
_TEXT = Dimension.TEXT


@dataclass(frozen=True, slots=True)
class QueryField:
    """A field of the query language.

    Attributes:
        column: column in the store; a key of recorded values if `is_recorded`.
        dimension: dimension of the values; ``"date"`` for times.
        tip: description with an example.
        is_recorded: whether the field is a recorded value.
    """

    column: str
    dimension: Dimension | str
    tip: str
    is_recorded: bool = False


def _columns() -> Iterator[tuple[str, RunColumn]]:
    """The searchable columns, by their keys without the unit."""
    for column in (*COLUMNS, *MORE_COLUMNS):
        if column.search:
            yield re.sub(r"_(bps|s)$", "", column.key), column


def _dimension(column: RunColumn) -> Dimension:
    return (dimension_of(column.key) or Dimension.COUNT) if column.is_number else _TEXT


FIELDS: Mapping[str, QueryField] = {
    "tag": QueryField(TAG, _TEXT, "a tag of the run: tag:fairness, tag:paper*"),
    **{field: QueryField(column.key, _dimension(column), column.search) for field, column in _columns()},
    "scenario": QueryField("scenario_name", _TEXT, "part of the scenario's name: scenario:t-10b"),
    "controller": QueryField("controllers", _TEXT, "a congestion controller of the run: controller:olia"),
    "status": QueryField("status", Dimension.CHOICE, f"{', '.join(STATUSES[:-1])} or {STATUSES[-1]}: status:failed"),
    "started": QueryField(STARTED, _DATE, "day of the run: started:today, started>2026-11-01"),
    "rtt": QueryField("mean_rtt_s", Dimension.TIME, "RTT per flow, the mean of the flows' mean RTTs: rtt<80ms"),
    "loss": QueryField("flows.*.loss_ratio", Dimension.RATIO, "loss of any flow: loss>=1%", is_recorded=True),
    "completion": QueryField(
        "flows.*.completion_s",
        Dimension.TIME,
        "time that the transfer of any flow took: completion<10s",
        is_recorded=True,
    ),
    "active_goodput": QueryField(
        "flows.*.active_goodput_bps",
        Dimension.RATE,
        "goodput of any flow while it was active: active_goodput>5Mbit/s",
        is_recorded=True,
    ),
    "p95_rtt": QueryField(
        "flows.*.p95_rtt_s", Dimension.TIME, "95th percentile of any flow's RTT: p95_rtt>200ms", is_recorded=True
    ),
    "retransmits": QueryField(
        "flows.*.retransmits", Dimension.COUNT, "packets that any flow retransmitted: retransmits>100", is_recorded=True
    ),
    "utilisation": QueryField(
        "links.*/*.utilisation", Dimension.RATIO, "use of any link: utilisation>90%", is_recorded=True
    ),
    "drops": QueryField(
        "links.*/*.drops_*", Dimension.COUNT, "packets that any link dropped: drops>0", is_recorded=True
    ),
    "run": QueryField("id", Dimension.COUNT, "number of the run: run>=100"),
    "fork": QueryField("parent_id", Dimension.COUNT, "forks of the run of this number: fork:12"),
    "forked": QueryField(
        "forked_at_s", Dimension.TIME, "when it branched off another run: forked>10s; all forks: forked>=0s"
    ),
}
"""Short names; all other recorded values are named by their keys, e.g. ``links.wifi.delay<20ms``."""

DAYS = ("today", "yesterday")

_NAME = r"[A-Za-z_][\w.*/-]*"
# Spaces may surround a comparison sign. The value must follow a colon directly, because a space follows a colon in
# prose.
_FIELD = re.compile(rf"({_NAME})(?:\s*(>=|<=|!=|=|<|>)\s*|(:))")
_NUMBER_AND_UNIT = re.compile(r"[+-]?\d[\d_]*(?:\.\d+)?(?:[eE][+-]?\d+)?\s+(%|[A-Za-zµ][A-Za-z/]*)(?=\s|$)")
_BARE = re.compile(r"\S+")
_MONTH = re.compile(r"(\d{4})-(\d{1,2})\Z", re.ASCII)
_ALL_UNITS = frozenset(unit for units in UNITS.values() for unit in units)


MOST_CHARACTERS = 2000
"""Maximum length of a query, which keeps it below SQLite's limit of a thousand parts in an expression."""


class QueryError(InputError):
    """Raised for an invalid query.

    Attributes:
        start: position of the first wrong character.
        end: position after the last wrong character.
    """

    def __init__(self, problem: str, start: int, end: int) -> None:
        """Add the position to the message."""
        super().__init__(f"{problem} (at character {start + 1})")
        self.start = start
        self.end = end


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """Names and values in a store, used to check and complete queries.

    Attributes:
        keys: keys of recorded values.
        tags: tags of the runs.
        scenarios: names of scenarios.
        controllers: names of congestion controllers.
    """

    keys: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    scenarios: tuple[str, ...] = ()
    controllers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Completion:
    """A completion that can replace the characters from `start` to `end`."""

    text: str
    tip: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class _Term:
    field: str  # empty for words
    operator: str
    value: str
    is_negated: bool
    start: int
    value_start: int
    end: int


def parse_query(text: str, keys: Collection[str] | None = None, *, now: datetime | None = None) -> list[Condition]:
    """Parse a query into conditions, all of which must hold.

    Args:
        text: the query; an empty query matches all runs.
        keys: keys of recorded values, to check names; None accepts any key.
        now: time with a time zone, which determines "today" and local days; None for the current local time.

    Raises:
        QueryError: if the query is invalid.
    """
    if len(text) > MOST_CHARACTERS:
        raise QueryError(f"too long: up to {MOST_CHARACTERS} characters", MOST_CHARACTERS, len(text))
    return [_condition(term, keys, now) for term in _terms(text)]


def complete_query(text: str, cursor: int, vocabulary: Vocabulary) -> list[Completion]:
    """Completions at the cursor: names of fields and recorded values, or values of a field."""
    start = max(text.rfind(" ", 0, cursor), text.rfind('"', 0, cursor)) + 1
    quote = text.rfind('"', 0, cursor)
    if quote >= 0 and text.count('"', 0, cursor) % 2:
        # The cursor is inside quotes, which belong to a term that begins before them.
        start = text.rfind(" ", 0, quote) + 1
    word = text[start:cursor]
    negation = "-" if word.startswith("-") else ""
    match = re.match(rf"({_NAME})(:|!=|=)\"?", word[len(negation) :])
    if match is None:
        return _names(word[len(negation) :], start + len(negation), cursor, vocabulary.keys)
    values: Mapping[str, Sequence[str]] = {
        "tag": vocabulary.tags,
        "scenario": vocabulary.scenarios,
        "controller": vocabulary.controllers,
        "status": STATUSES,
        "started": DAYS,
        "profile": ("linux", "textbook"),
    }
    field = match[1].lower()
    begun = word[len(negation) + match.end() :].lower()
    value_start = start + len(negation) + len(match[1]) + len(match[2])
    end = cursor + (1 if text[cursor : cursor + 1] == '"' else 0)
    fitting = sorted((value for value in values.get(field, ()) if begun in value.lower()), key=lambda v: v.lower())
    return [Completion(quoted(value), "", value_start, end) for value in fitting if value.lower() != begun]


def quoted(value: str) -> str:
    """A value as written in a query, in quotes if necessary; quotation marks inside quotes are removed."""
    return f'"{value.replace(chr(34), "")}"' if re.search(r'[\s"]', value) or not value else value


def help_lines() -> list[tuple[str, str]]:
    """Examples of the query language with explanations."""
    return [
        ("word", "runs with a word that starts like this in name, scenario, controllers, tags or note"),
        ('"two words"', "both words"),
        *((f"{name}:" if field.dimension == _TEXT else name, field.tip) for name, field in FIELDS.items()),
        ("links.wifi.delay<20ms", "any parameter of the scenario, by its dotted key"),
        ("flows.download.goodput_bps>5Mbit/s", "any figure of the summary; * matches any name"),
        ("-tag:draft", "a minus negates any condition"),
    ]


# Reading


def _terms(text: str) -> Iterator[_Term]:
    position = 0
    while True:
        while position < len(text) and text[position].isspace():
            position += 1
        if position >= len(text):
            return
        start = position
        is_negated = text[position] == "-" and text[position + 1 : position + 2].strip() != ""
        position += is_negated
        match = _FIELD.match(text, position)
        field = operator = ""
        if match is not None:
            field, operator, position = match[1], match[2] or match[3], match.end()
        value_start = position
        value, position = _value(text, position, is_quantity=operator not in ("", ":"))
        if field and not value and text[value_start : value_start + 1] != '"':
            raise QueryError(
                f'"{field}{operator}" needs a value; to search for this text, put it in quotes', start, position
            )
        yield _Term(field, operator, value, is_negated, start, value_start, position)


def _value(text: str, position: int, *, is_quantity: bool) -> tuple[str, int]:
    if text[position : position + 1] == '"':
        end = text.find('"', position + 1)
        if end < 0:
            raise QueryError("a closing quote is missing", position, len(text))
        return text[position + 1 : end], end + 1
    # "5 Mbit/s" is one value, but "5 words" are two.
    spaced = _NUMBER_AND_UNIT.match(text, position) if is_quantity else None
    if spaced is not None and spaced[1] in _ALL_UNITS:
        return spaced[0], spaced.end()
    match = _BARE.match(text, position)
    return (match[0], match.end()) if match is not None else ("", position)


def _condition(term: _Term, keys: Collection[str] | None, now: datetime | None) -> Condition:
    if not term.field:
        return Condition(WORDS, ":", term.value, term.is_negated)
    field = FIELDS.get(term.field.lower())
    if field is None:
        return _recorded(term, keys)
    if field.column == STARTED:
        operator, value = _started(term, now)
        return Condition(STARTED, operator, value, term.is_negated)
    if field.dimension == Dimension.CHOICE and term.value not in STATUSES:
        raise _wrong_value(term, f"unknown; allowed: {', '.join(STATUSES)}")
    if field.dimension in (_TEXT, Dimension.CHOICE):
        if term.operator not in (":", "=", "!="):
            name = term.field
            raise QueryError(f'"{name}" is text: write {name}:{quoted(term.value)}', term.start, term.end)
        operator = "=" if term.operator == ":" and (field.dimension != _TEXT or field.column == TAG) else term.operator
        return Condition(field.column, operator, term.value, term.is_negated)
    assert isinstance(field.dimension, Dimension)
    number = _number(term, field.dimension)
    return Condition(field.column, term.operator, number, term.is_negated, is_recorded=field.is_recorded)


def _recorded(term: _Term, keys: Collection[str] | None) -> Condition:
    """A condition on a recorded value by its key."""
    if keys is not None and not matching_keys(term.field, keys):
        raise QueryError(_unknown(term.field, keys), term.start, term.start + term.is_negated + len(term.field))
    # The value of a parameter may be a word instead of a number: links.wifi.loss=bursts.
    is_word = term.operator in (":", "=", "!=") and not re.match(r"[+-]?\d", term.value)
    dimension = None if is_word else dimension_of(term.field)
    value: float | str
    try:
        value = float(term.value)
    except ValueError:
        value = _any_number(term) if dimension is None else _number(term, dimension)
    return Condition(term.field, term.operator, value, term.is_negated, is_recorded=True)


def _any_number(term: _Term) -> float | str:
    """Parse the value as a quantity of any dimension, or else return it as text."""
    for dimension in UNITS:
        try:
            return parse_quantity(term.value, dimension)
        except ParamError:
            continue
    if term.operator not in (":", "=", "!="):
        raise _wrong_value(term, "a number is needed, with its unit if it has one, e.g. 80ms")
    return term.value


def _number(term: _Term, dimension: Dimension) -> float:
    try:
        return parse_quantity(term.value, dimension)
    except ParamError as error:
        raise _wrong_value(term, str(error)) from error


def _started(term: _Term, now: datetime | None) -> tuple[str, str]:
    """Convert a comparison with a local day or month to one with UTC times."""
    first, after = _days(term, (now or datetime.now().astimezone()).date())
    begin, end = (_utc(day, now) for day in (first, after))
    match term.operator:
        case ":" | "=":
            return ":", f"{begin}..{end}"
        case "<":
            return "<", begin
        case "<=":
            return "<", end
        case ">":
            return ">=", end
        case ">=":
            return ">=", begin
        case _:
            raise QueryError(
                f"to exclude days, write a minus before the field: -started:{term.value}", term.start, term.end
            )


def _days(term: _Term, today: date) -> tuple[date, date]:
    """The first day of the period and the first day after it."""
    day = timedelta(days=1)
    try:
        if term.value == "today":
            return today, today + day
        if term.value == "yesterday":
            return today - day, today
        if month := _MONTH.match(term.value):
            first = date(int(month[1]), int(month[2]), 1)
            return first, (first + 31 * day).replace(day=1)
        meant = date.fromisoformat(term.value)
        return meant, meant + day
    except (ValueError, OverflowError):
        raise _wrong_value(
            term, "unknown; allowed: today, yesterday, a day such as 2026-11-01, a month such as 2026-11"
        ) from None


def _utc(day: date, now: datetime | None) -> str:
    local = datetime.combine(day, time())
    try:
        # Use the system's time zone rules, because the UTC offset on that day may differ from the current one (summer
        # time).
        moment = local.astimezone() if now is None else local.replace(tzinfo=now.tzinfo)
        return moment.astimezone(UTC).replace(tzinfo=None).isoformat()
    except (OverflowError, ValueError):  # the first or last day of the calendar
        return local.isoformat()


def _wrong_value(term: _Term, allowed: str) -> QueryError:
    return QueryError(f'{term.field}{term.operator}"{term.value}": {allowed}', term.value_start, term.end)


def _unknown(name: str, keys: Collection[str]) -> str:
    ends = [key.rpartition(".")[2] for key in keys]
    meant = closest(name, [*FIELDS, *keys, *ends], most=2, cutoff=0.7)
    if meant:
        return f'unknown field "{name}"; {meant}'
    return (
        f'unknown field "{name}", and no run has recorded a value of that name; fields are {", ".join(FIELDS)},'
        " parameters go by their keys, e.g. links.wifi.loss; text with such signs goes in quotes"
    )


def _names(begun: str, start: int, end: int, keys: Sequence[str]) -> list[Completion]:
    """Completions of a partial name: fields first, then keys with a dotted part that begins with it."""
    lowered = begun.lower()
    if not lowered:
        return []
    found = []
    for name, field in FIELDS.items():
        if name.startswith(lowered):
            sign = ":" if field.dimension in (_TEXT, Dimension.CHOICE, _DATE) or name in ("seed", "fork") else ">"
            found.append(Completion(f"{name}{sign}", field.tip, start, end))
    found += [
        Completion(key, "", start, end)
        for key in keys
        if key.lower().startswith(lowered) or f".{lowered}" in key.lower()
    ]
    return found
