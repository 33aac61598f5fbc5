"""Parameters of scenario files: key, type, bounds and help, with conversion between text and SI values."""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass, replace
from datetime import date, datetime, time
from typing import Any, TypeGuard

from subflow_sim.errors import ParamError
from subflow_sim.gate import MAX_INTEGER, toml_tree
from subflow_sim.plain_text import did_you_mean, either
from subflow_sim.scenario_model import QueueSpec
from subflow_sim.units import UNITS, Dimension, format_quantity, parse_quantity, split_quantity

UNLIMITED = "unlimited"
NAME_PATTERN = r"[A-Za-z0-9_-]+"
MAX_NAME_LENGTH = 64
MAX_TEXT_LENGTH = 200
MAX_LINES_LENGTH = 2000
MAX_PATH_LENGTH = 1000
MAX_QUEUE_BYTES = 10**12


COPY_SUFFIX_PATTERN = r"\.[1-9][0-9]{0,4}"
COPY_SUFFIX = re.compile(rf"{COPY_SUFFIX_PATTERN}\Z")
_NAME = re.compile(rf"{NAME_PATTERN}\Z")
_SI_UNITS = {
    Dimension.RATE: "bit/s",
    Dimension.TIME: "s",
    Dimension.SIZE: "B",
    Dimension.QUEUE: "pkt",
}
_ENDINGS = {Dimension.RATE: "_bps", Dimension.TIME: "_s", Dimension.SIZE: "_bytes"}
_WHOLE = (Dimension.SIZE, Dimension.COUNT, Dimension.COUNTS)
_QUANTITIES = (Dimension.RATE, Dimension.TIME, Dimension.SIZE, Dimension.RATIO, Dimension.COUNT, Dimension.NUMBER)
# Dimensions whose values are not strings in a file, so that text from a form is parsed as a TOML literal.
_LITERALS = (
    *(Dimension.COUNT, Dimension.NUMBER, Dimension.FLAG, Dimension.POINT, Dimension.PATHS, Dimension.LIST),
    Dimension.COUNTS,
)
_NOUNS = {
    Dimension.RATE: "a rate",
    Dimension.TIME: "a time",
    Dimension.SIZE: "a size in whole bytes",
    Dimension.QUEUE: "a queue length",
    Dimension.RATIO: "a ratio",
    Dimension.COUNT: "a whole number",
    Dimension.COUNTS: "a whole number",
    Dimension.NUMBER: "a number",
}


@dataclass(frozen=True, slots=True)
class Param:
    """One key of a scenario file, or one option of an algorithm.

    Attributes:
        key: name as written in the file.
        dimension: kind of the value.
        help: meaning, in one or two sentences for readers without background.
        default: SI value of an omitted key; None for required keys, or if the help describes the behaviour instead.
        required: whether the key is mandatory.
        minimum: smallest value, SI.
        maximum: largest value, SI.
        exclusive_minimum: whether `minimum` itself is forbidden.
        choices: allowed values of a CHOICE; empty if they depend on the available algorithms.
        reserved: names that the file format defines but this version of the simulator may lack.
        allows_unlimited: whether "unlimited" is allowed.
        allows_lines: whether a TEXT may be long and contain several lines.
        allows_copy: whether the name of a copy of a flow, NAME.NUMBER, is allowed.
        applies_to: kinds of the section that have this key (flow kinds, "link" and "flow" for events, bases for the
            options of `uncoupled`); empty: all.
        textbook_default: SI value that applies under the `textbook` profile when the key is left out; None: `default`.
        symbol: unit of a NUMBER.
        field: name of the value in the core; the model adds a suffix for the unit; empty: `key`.
        states: words for true and false of a FLAG that an event changes.
        example: example of a LIST, as written in a file.
    """

    key: str
    dimension: Dimension
    help: str
    default: object = None
    required: bool = False
    minimum: float | None = None
    maximum: float | None = None
    exclusive_minimum: bool = False
    choices: tuple[str, ...] = ()
    reserved: tuple[str, ...] = ()
    allows_unlimited: bool = False
    allows_lines: bool = False
    allows_copy: bool = False
    applies_to: tuple[str, ...] = ()
    textbook_default: object = None
    symbol: str = ""
    field: str = ""
    states: tuple[str, ...] = ()
    example: str = '["client", "server"]'

    @property
    def unit(self) -> str:
        """Symbol of the SI unit of parsed values; empty for values without a unit."""
        return self.symbol or _SI_UNITS.get(self.dimension, "")

    @property
    def core_field(self) -> str:
        """Name of the value in `sim/core/scenario.h`."""
        return self.field or self.key

    @property
    def attribute(self) -> str:
        """Name of the value in `scenario_model`, with its unit: `delay_s`."""
        return self.core_field + _ENDINGS.get(self.dimension, "")

    @property
    def longest_text(self) -> int:
        """Maximum number of characters of a TEXT."""
        return MAX_LINES_LENGTH if self.allows_lines else MAX_TEXT_LENGTH

    def default_in(self, profile: str) -> object:
        """SI value of an omitted key in a transport profile."""
        is_other = profile == "textbook" and self.textbook_default is not None
        return self.textbook_default if is_other else self.default

    def renamed(self, key: str) -> Param:
        """The same parameter under a different key."""
        return replace(self, key=key)

    def parse(self, value: object) -> object:
        """Reads a TOML value, or the text of a form field.

        Args:
            value: result of a TOML parser, or text; for counts, flags, points and lists the text is parsed as TOML.

        Returns:
            By dimension: rate, time, ratio, number -> float; size, count -> int; queue -> `QueueSpec`; flag -> bool;
            point -> (x, y); name, text, choice, policy -> str; list -> tuple of str; counts -> tuple of int; paths ->
            tuple of tuples of str. "unlimited" is infinite (a queue then has no limits).

        Raises:
            ParamError: if the value is not allowed.
        """
        if isinstance(value, str) and self.dimension in _LITERALS:
            return self.read(_literal(value))
        return self.read(value)

    def read(self, value: object) -> object:
        """As `parse`, but only for values from a TOML file: a count or a flag given as text is refused.

        Raises:
            ParamError: if the value is not allowed.
        """
        if self.dimension in _QUANTITIES:
            return self._read_number(value)
        match self.dimension:
            case Dimension.QUEUE:
                return self._read_queue(value)
            case Dimension.FLAG:
                return self._expect(value, bool, "true or false")
            case Dimension.TEXT:
                return self._read_text(value, self.longest_text)
            case Dimension.POLICY:
                return self._read_text(value, MAX_PATH_LENGTH)
            case Dimension.CHOICE | Dimension.NAME:
                return self._read_name(value)
            case Dimension.POINT:
                return self._read_point(value)
            case Dimension.LIST:
                return self._read_names(value)
            case Dimension.COUNTS:
                return self._read_counts(value)
            case _:
                return self._read_paths(value)

    def format(self, si_value: object) -> str:
        """Writes a value as the shortest text from which `parse` restores it exactly.

        Args:
            si_value: result of `parse`; None means "unlimited" where allowed.

        Raises:
            ValueError: if the value has the wrong type, or is not finite.
        """
        if self.allows_unlimited and (si_value is None or si_value == math.inf):
            return UNLIMITED
        if isinstance(si_value, QueueSpec):
            if si_value.limit_bytes is not None:
                return format_quantity(si_value.limit_bytes, Dimension.SIZE)
            return UNLIMITED if si_value.limit_pkts is None else format_quantity(si_value.limit_pkts, Dimension.QUEUE)
        if isinstance(si_value, bool):
            return "true" if si_value else "false"
        if isinstance(si_value, str):
            return si_value
        if isinstance(si_value, int | float) and self.dimension in _QUANTITIES:
            return format_quantity(si_value, self.dimension)
        if isinstance(si_value, list | tuple):
            return _array_text(si_value)
        raise ValueError(f"{si_value!r} is not a value of {self.key}")

    def allowed_text(self) -> str:
        """Description of the allowed values, as the text after "allowed: "."""
        match self.dimension:
            case Dimension.CHOICE:
                return either(self.choices) if self.choices else "a name in quotes"
            case Dimension.FLAG:
                return "true or false"
            case Dimension.TEXT:
                return f"text in quotes, 1 to {self.longest_text} characters"
            case Dimension.POLICY:
                return '"neutral", "random", the name of a policy, or the path of a file such as "mine.safetensors"'
            case Dimension.NAME:
                copy = ", with .1, .2 and so on for one copy" if self.allows_copy else ""
                return f"a name of letters, digits, - and _, at most {MAX_NAME_LENGTH} characters{copy}"
            case Dimension.POINT:
                return "two numbers, e.g. [300, 0]"
            case Dimension.LIST:
                return f"a list of names, e.g. {self.example}"
            case Dimension.COUNTS:
                return f"a list of whole numbers{self._range_text()}, e.g. [2] or [2, 3]"
            case Dimension.PATHS:
                return 'a list of paths, each a list of link names, e.g. [["wifi"], ["lte"]]'
        if self.minimum is not None and self.minimum == self.maximum:
            return self.format(self.minimum)
        unlimited = ' or "unlimited"' if self.allows_unlimited else ""
        return f"{_NOUNS[self.dimension]}{self._range_text()}{unlimited}, e.g. {self._example()}"

    def _example(self) -> str:
        match self.dimension:
            case Dimension.RATE:
                return '"8Mbit/s" or 8e6'
            case Dimension.TIME:
                return '"60s" or 60' if self.maximum is None or self.maximum > 1000 else '"50ms" or 0.05'
            case Dimension.SIZE:
                return '"1500B" or 1500' if self.maximum is not None and self.maximum < 1e6 else '"8MB" or 8e6'
            case Dimension.QUEUE:
                return '"67pkt" or "100kB"'
            case Dimension.RATIO:
                return '"2%" or 0.02'
        return self.format(self.default) if isinstance(self.default, int | float) else "1"

    def _quoted(self, value: float) -> str:
        """A bound in the notation of a file."""
        if value == 0:
            return "0"
        if self.dimension in (Dimension.COUNT, Dimension.COUNTS, Dimension.NUMBER):
            return format_quantity(value, Dimension.NUMBER)
        return f'"{format_quantity(value, self.dimension)}"'

    def _range_text(self) -> str:
        low, high = self.minimum, self.maximum
        at_most = "" if high is None else f" at most {self._quoted(high)}"
        if low is None:
            return f" of{at_most}" if at_most else ""
        if self.exclusive_minimum:
            return f" greater than {self._quoted(low)}{f' and{at_most}' if at_most else ''}"
        return (
            f" of at least {self._quoted(low)}"
            if high is None
            else f" from {self._quoted(low)} to {self._quoted(high)}"
        )

    def _refuse(self, message: str) -> ParamError:
        return ParamError(message, self.allowed_text())

    def _expect(self, value: object, kind: type | tuple[type, ...], noun: str) -> Any:
        if not isinstance(value, kind):
            raise self._refuse(f"this is {kind_name(value)}, not {noun}")
        return value

    def _read_number(self, value: object) -> float:
        if isinstance(value, str):
            if self.allows_unlimited and value == UNLIMITED:
                return math.inf
            if self.dimension in (Dimension.COUNT, Dimension.NUMBER):
                raise self._refuse(f"this is text, not {_NOUNS[self.dimension]}")
            try:
                value = parse_quantity(value, self.dimension)
            except ParamError as error:
                raise self._with_unlimited(error) from None
        elif self.dimension is Dimension.RATIO and self.maximum == 1 and is_number(value) and 1 < value <= 100:
            raise self._refuse(f'too large, did you mean "{format_quantity(value, Dimension.NUMBER)}%"?')
        return self._in_range(value)

    def _with_unlimited(self, error: ParamError) -> ParamError:
        return ParamError(error.message, error.allowed + (', or "unlimited"' if self.allows_unlimited else ""))

    def _in_range(self, value: object) -> float:
        noun = _NOUNS.get(self.dimension, "a number")
        if not is_number(value):
            raise self._refuse(f"this is {kind_name(value)}, not {noun}")
        if math.isnan(value) if isinstance(value, float) else abs(value) > MAX_INTEGER:
            raise self._refuse("not a number" if isinstance(value, float) else "too large")
        low, high = self.minimum, self.maximum
        if low is not None and (value < low or (self.exclusive_minimum and value == low)):
            raise self._refuse(_too_small(value, low))
        if high is not None and value > high:
            raise self._refuse("too large")
        if not math.isfinite(value):
            raise self._refuse("must be finite")
        if self.dimension not in _WHOLE:
            return float(value)
        if value != int(value):
            raise self._refuse("not a whole number")
        return int(value)

    def _read_queue(self, value: object) -> QueueSpec:
        if isinstance(value, str):
            if value == UNLIMITED:
                return QueueSpec()
            split = split_quantity(value)
            if split is not None and split[1] in UNITS[Dimension.SIZE]:
                return QueueSpec(limit_bytes=int(_QUEUE_IN_BYTES._read_number(value)))
            try:
                value = parse_quantity(value, Dimension.QUEUE)
            except ParamError as error:
                raise self._refuse(error.message) from None
        packets = self._in_range(value)
        if packets != int(packets):
            raise self._refuse("not a whole number of packets")
        return QueueSpec(limit_pkts=int(packets))

    def _read_text(self, value: object, longest: int) -> str:
        text: str = self._expect(value, str, "text in quotes")
        if not text.strip() or len(text) > longest:
            raise self._refuse("too long" if text.strip() else "empty")
        line = text.replace("\n", "") if self.allows_lines else text
        if not line.isprintable():
            raise self._refuse("contains a control character")
        return text

    def _read_name(self, value: object) -> str:
        name: str = self._expect(value, str, "a name in quotes")
        base = COPY_SUFFIX.sub("", name) if self.allows_copy else name
        if self.dimension is Dimension.NAME and (not _NAME.match(base) or len(base) > MAX_NAME_LENGTH):
            raise self._refuse("not a name" if name else "empty")
        if self.choices and name not in self.choices:
            is_reserved = name in self.reserved
            hint = f"unknown{did_you_mean(name, self.choices)}"
            raise self._refuse("not in this version" if is_reserved else hint)
        return name

    def _read_point(self, value: object) -> tuple[float, float]:
        items = self._expect(value, (list, tuple), "two numbers")
        if len(items) != 2:
            raise self._refuse(f"this is a list of {len(items)}, not two numbers")
        x, y = (self._in_range(item) for item in items)
        return (x, y)

    def _read_names(self, value: object) -> tuple[str, ...]:
        items = self._expect(value, (list, tuple), "a list of names")
        for item in items:
            self._expect(item, str, "a name in quotes")
        return tuple(items)

    def _read_counts(self, value: object) -> tuple[float, ...]:
        items = self._expect(value, (list, tuple), "a list of whole numbers")
        return tuple(self._in_range(item) for item in items)

    def _read_paths(self, value: object) -> tuple[tuple[str, ...], ...]:
        items = self._expect(value, (list, tuple), "a list of paths")
        if items and all(isinstance(item, str) for item in items):
            meant = ", ".join(f'["{item}"]' for item in items)
            raise self._refuse(f"each path is a list of its own, did you mean [{meant}]?")
        return tuple(self._read_names(item) for item in items)


_QUEUE_IN_BYTES = Param("queue", Dimension.SIZE, "A queue limit given in bytes.", minimum=1, maximum=MAX_QUEUE_BYTES)


def kind_name(value: object) -> str:
    """The type of a TOML value in messages: "text", "a whole number", "a table"."""
    if isinstance(value, bool):
        return "true or false"
    for kind, name in (
        (str, "text"),
        (int, "a whole number"),
        (float, "a number"),
        (list | tuple, "a list"),
        (dict, "a table"),
        (datetime | date | time, "a date or time of day"),
    ):
        if isinstance(value, kind):
            return name
    return type(value).__name__


def with_article(noun: str) -> str:
    """The noun with "a" or "an"."""
    return f"{'an' if noun[:1] in 'aeio' else 'a'} {noun}"


def _too_small(value: float, minimum: float) -> str:
    if minimum < 0 or value > 0:
        return "too small"
    return "must not be negative" if value < 0 else "must not be zero"


def is_number(value: object) -> TypeGuard[int | float]:
    """True for numbers; booleans are not numbers."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def _literal(text: str) -> object:
    """The TOML value of a text, or the text itself."""
    try:
        parsed = toml_tree(f"value = {text.strip()}")
    except ValueError:
        return text
    return parsed["value"] if set(parsed) == {"value"} else text


def _array_text(items: list[Any] | tuple[Any, ...]) -> str:
    parts = []
    for item in items:
        if isinstance(item, list | tuple):
            parts.append(_array_text(item))
        else:
            is_text = isinstance(item, str)
            parts.append(json.dumps(item, ensure_ascii=False) if is_text else format_quantity(item, Dimension.NUMBER))
    return f"[{', '.join(parts)}]"
