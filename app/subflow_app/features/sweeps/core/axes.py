"""Axes of a sweep: keys of a scenario that can vary, and their values as lists, ranges and random draws.

Ranges are not expanded. A range of a billion values needs no more memory than its two ends, and a request for too many
values is refused immediately, with a message that contains their number.

The dialog for a sweep offers the values in the scenario file, and further keys that the file could contain.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal, localcontext
from typing import Any, NamedTuple, overload

from subflow_app.features.editor.core.form import label_of, part_names
from subflow_app.features.editor.core.form_text import shown_unit, text_of, with_unit
from subflow_app.features.editor.core.scenario_doc import ScenarioDoc
from subflow_app.foundation.toml_edit import TomlValue, render
from subflow_app.vocabulary.language import tr
from subflow_sim.draws import Independent, uniform
from subflow_sim.errors import ParamError
from subflow_sim.gate import MAX_INTEGER
from subflow_sim.link_params import LINK_TABLES
from subflow_sim.overrides import override_value
from subflow_sim.params import SECTIONS, Param
from subflow_sim.units import UNITS, Dimension, split_quantity
from subflow_store.run_values import quantity

RANGE_FORM = '"1%..5%/5" (five values) or "10ms..1s/5 log"'

# Maximum number of values of a range; a larger number is probably a typing error.
MOST_VALUES = 10**12
_RANGE = re.compile(r"\s*(?P<start>.+?)\s*\.\.\s*(?P<stop>.+?)\s*(?:/\s*(?P<count>[0-9]{1,13})\s*(?P<log>log)?)?\s*\Z")
WHOLE_UNITS = ("pkt", "B")
"""Units whose values are whole numbers."""

_DIGITS = 9


class SweptValue(NamedTuple):
    """A value for tables and plots.

    Attributes:
        text: value in the notation of scenario files; empty if the point keeps the scenario's own value.
        number: value in SI units; None if the value is not a number.
    """

    text: str
    number: float | None


class Values(Sequence[TomlValue]):
    """Values that are computed on access.

    Attributes:
        n: number of values.
    """

    __slots__ = ()
    n: int

    def at(self, index: int) -> TomlValue:
        """One value in the notation of scenario files; ``0 <= index < n``."""
        raise NotImplementedError

    def __len__(self) -> int:
        """Number of values."""
        return self.n

    @overload
    def __getitem__(self, index: int) -> TomlValue: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[TomlValue]: ...
    def __getitem__(self, index: int | slice) -> TomlValue | Sequence[TomlValue]:
        """One value, or the values of a slice, in the notation of scenario files."""
        if isinstance(index, slice):
            return [self[each] for each in range(*index.indices(self.n))]
        if not -self.n <= index < self.n:
            raise IndexError(index)
        return self.at(index % self.n)


@dataclass(frozen=True, slots=True)
class Range(Values):
    """Values from `start` to `stop`, including both, with equal differences or equal ratios.

    Attributes:
        start: first value, in `unit`.
        stop: last value, in `unit`.
        n: number of values.
        unit: unit of all values, in the notation of scenario files; empty for plain numbers.
        is_log: whether the ratios are equal, instead of the differences.
    """

    start: Decimal
    stop: Decimal
    n: int
    unit: str = ""
    is_log: bool = False

    def at(self, index: int) -> TomlValue:
        """One value in the notation of scenario files."""
        return self._written(self._number(index))

    def _number(self, index: int) -> Decimal:
        with localcontext(prec=40):
            if index == 0:
                return self.start
            if index == self.n - 1:
                return self.stop
            share = Decimal(index) / (self.n - 1)
            if not self.is_log:
                number = self.start + (self.stop - self.start) * share
            else:
                number = self.start * (self.stop / self.start) ** share
        # Logarithmic values are rounded, so that they are short, and the same on every machine.
        return number.normalize() if not self.is_log else Decimal(f"{number:.6g}")

    def _written(self, number: Decimal) -> TomlValue:
        if self.unit in WHOLE_UNITS:
            number = Decimal(round(number))
        with localcontext(prec=_DIGITS):
            number = +number
        text = f"{number:f}"
        text = text.rstrip("0").rstrip(".") if "." in text else text
        if self.unit:
            return f"{text}{self.unit}"
        return float(text) if "." in text else int(text)

    @property
    def text(self) -> str:
        """The range in the notation of plans."""
        return f"{self.start:f}{self.unit}..{self.stop:f}{self.unit}/{self.n}{' log' if self.is_log else ''}"


@dataclass(frozen=True, slots=True)
class Drawn(Values):
    """Values drawn at random. Each value depends only on the seed, the key and the number of the draw.

    Attributes:
        draw: the distribution.
        seed: seed of the sweep.
        key: dotted key whose values are drawn.
        n: number of values.
    """

    draw: Independent
    seed: int
    key: str
    n: int

    def at(self, index: int) -> TomlValue:
        """One value in the notation of scenario files."""
        value: TomlValue = self.draw.value(uniform(self.seed, 0, index, self.key))
        return value


@dataclass(frozen=True, slots=True)
class Axis:
    """Keys of a scenario that vary together, and their values.

    Attributes:
        keys: dotted keys.
        values: for each key, its values; all keys have the same number of values. The value None keeps the scenario's
            own value.
    """

    keys: tuple[str, ...]
    values: tuple[Sequence[TomlValue | None], ...]

    def __len__(self) -> int:
        """Number of steps."""
        return len(self.values[0])

    def at(self, step: int) -> tuple[TomlValue | None, ...]:
        """The value of each key at a step."""
        return tuple(values[step] for values in self.values)

    @property
    def label(self) -> str:
        """Name of the axis in messages."""
        return " & ".join(self.keys)


def overlaps(keys: Sequence[str]) -> dict[str, tuple[str, str]]:
    """Find keys whose values would be replaced by a later key, e.g. because both are the same.

    Args:
        keys: dotted keys, in the order in which their values are set.

    Returns:
        For each such key, a description of the problem, and the allowed order of the keys.
    """
    found: dict[str, tuple[str, str]] = {}
    for place, key in enumerate(keys):
        for later in keys[place + 1 :]:
            if later == key:
                found[key] = "the key is swept twice", "each key once"
            elif key.startswith(f"{later}."):
                found[key] = f"{later} is swept too, and each of its values replaces {key}", f"{later} before {key}"
    return found


def outer_first(keys: Iterable[str]) -> tuple[str, ...]:
    """The keys of a list of points without repetition, each before the keys of which it sets a whole table.

    A point may set "flows.x.controller" and another point "flows.x.controller.policy", in any order.
    """
    found: list[str] = []
    for key in dict.fromkeys(keys):
        inner = (place for place, other in enumerate(found) if other.startswith(f"{key}."))
        found.insert(next(inner, len(found)), key)
    return tuple(found)


def read_values(written: object) -> Sequence[TomlValue]:
    """Read the values of a key in a grid, written as a list, a range or a single value.

    Raises:
        ParamError: if the list or text is empty, or if the range is invalid.
    """
    if isinstance(written, list):
        if not written:
            raise ParamError("no values", f"at least one, e.g. {RANGE_FORM}")
        return tuple(written)
    if isinstance(written, str):
        if ".." in written:
            return read_range(written)
        if not written.strip():
            raise ParamError("no values", f"at least one, e.g. {RANGE_FORM}")
    value: Any = written
    return (value,)


def check_value(value: object) -> None:
    """Refuse values that scenario files cannot contain: dates, infinities, NaN, and integers that are too large.

    Raises:
        ParamError: if the value, or an entry of a list or table, is not allowed.
    """
    if isinstance(value, float) and not math.isfinite(value):
        raise ParamError(f"{value} is not a number", "a finite number, text, true, false, a list or a table")
    if isinstance(value, int) and abs(value) > MAX_INTEGER:
        raise ParamError("the whole number is too large", f"up to {MAX_INTEGER}")
    if isinstance(value, list | tuple):
        for entry in value:
            check_value(entry)
    elif isinstance(value, dict):
        for entry in value.values():
            check_value(entry)
    elif not isinstance(value, str | int | float):
        raise ParamError(f"{value} is a date or a time of day", "a number, text, true, false, a list or a table")


def read_range(text: str) -> Range:
    """Parse a range such as "1%..5%/5" or "10ms..1s/5 log".

    Raises:
        ParamError: if the text is not a valid range.
    """
    match = _RANGE.match(text)
    ends = None if match is None else read_ends(match["start"], match["stop"])
    if match is None or ends is None:
        raise ParamError("this is not a range", RANGE_FORM)
    if match["count"] is None:
        raise ParamError("the range lacks its number of values", f'e.g. "{text.strip()}/5"')
    start, stop, unit = ends
    count = int(match["count"])
    if not 1 <= count <= MOST_VALUES or (count == 1 and start != stop):
        raise ParamError(f"a range cannot have {count} values", "2 or more, its ends included")
    if match["log"] and not (start > 0 and stop > 0):
        raise ParamError("a logarithmic range begins and ends above 0", '"10ms..1s/5 log"')
    return Range(start, stop, count, unit, is_log=bool(match["log"]))


def with_units(text: str, unit: str) -> str:
    """Add a unit to each bare number in typed values or ranges: "10, 20" becomes "10Mbit/s, 20Mbit/s"."""
    completed = []
    for part in split_list(text):
        match = _RANGE.match(part)
        if match is None:
            completed.append(with_unit(part, unit))
            continue
        start, stop = (with_unit(match[end], unit) for end in ("start", "stop"))
        completed.append(f"{start}..{stop}{part[match.end('stop') :]}")
    whole = ", ".join(completed)
    return text if "".join(whole.split()) == "".join(text.split()) else whole


def read_ends(first: str, second: str) -> tuple[Decimal, Decimal, str] | None:
    """The numbers of two quantities of the same kind, both in the unit of the first, and the unit; else None."""
    start, stop = split_quantity(first), split_quantity(second)
    if start is None or stop is None:
        return None
    if start[1] == stop[1]:
        return start[0], stop[0], start[1]
    for dimension, units in UNITS.items():
        # Ratios are excluded: a bare number is valid for several kinds, so its conversion would be ambiguous.
        if dimension is not Dimension.RATIO and start[1] in units and stop[1] in units:
            with localcontext(prec=40):
                return start[0], stop[0] * units[stop[1]] / units[start[1]], start[1]
    return None


def swept(value: TomlValue | None) -> SweptValue:
    """Convert a value to text, and to a number in SI units if possible."""
    if value is None:
        return SweptValue("", None)
    if isinstance(value, str):
        return SweptValue(value, quantity(value))
    if isinstance(value, int | float) and not isinstance(value, bool):
        return SweptValue(render(value), float(value))
    return SweptValue(render(value), None)


def split_list(text: str, separator: str = ",") -> Iterator[str]:
    """Split a typed list at its separators, except within brackets, braces and quotes."""
    depth, quote, part = 0, "", ""
    for character in text:
        if quote:
            quote = "" if character == quote else quote
        elif character in "\"'":
            quote = character
        elif character in "[{":
            depth += 1
        elif character in "]}":
            depth -= 1
        elif character == separator and depth == 0:
            yield part.strip()
            part = ""
            continue
        part += character
    yield part.strip()


def typed_value(text: str) -> TomlValue:
    """Parse a typed value as TOML, or take it as a string if it is not TOML, as `--set` does."""
    value: Any = override_value(text)
    typed: TomlValue = value
    return typed


# Keys that cannot be swept, because they do not describe a quantity of the network, but names, drawings and references.
# Seeds are excluded because the dialog has a separate field for them.
_LEFT_OUT = {
    "scenario": ("format", "name", "seed"),
    "link": ("ends",),
    "flow": ("kind", "from", "to", "paths"),
    "event": ("link", "flow"),
}
_DIMENSIONS_LEFT_OUT = (Dimension.TEXT, Dimension.POINT, Dimension.NAME, Dimension.PATHS)
# For each of these tables, the key whose value can replace the whole table, e.g. controller = "lia".
_NAMED = {"controller": "name", "scheduler": "name", "queue": "limit"}


@dataclass(frozen=True, slots=True)
class SweepParameter:
    """A key that a sweep can vary.

    Attributes:
        key: dotted key.
        part: table of the key, such as ``links.wifi``; empty for the scenario itself.
        label: name in forms, in the language of the window.
        present: value in the file, or else the default value marked as such, or else a dash.
        allowed: allowed values as described by the simulator, in English.
        help: description by the simulator, in English.
        unit: unit added to bare numbers that are typed; empty for no unit.
        examples: some possible values, as they would be typed.
    """

    key: str
    part: str
    label: str
    present: str
    allowed: str
    help: str
    unit: str = ""
    examples: tuple[str, ...] = ()

    def matches(self, words: str) -> bool:
        """True if each of the words occurs in the key, label or current value."""
        text = f"{self.key} {self.label} {self.present}".lower()
        return all(word in text for word in words.lower().split())


def sweep_parameters(doc: ScenarioDoc) -> list[SweepParameter]:
    """All parameters of the scenario, links, flows, events and transport, including unknown keys in the file."""
    found = list(_of_part(doc, "scenario", ""))
    for section, kind in (("links", "link"), ("flows", "flow"), ("events", "event")):
        for name in part_names(doc, section):
            found += _of_part(doc, kind, f"{section}.{name}")
    return [*found, *_of_part(doc, "transport", "transport")]


def _of_part(doc: ScenarioDoc, kind: str, part: str) -> Iterator[SweepParameter]:
    table = doc.value(part) if part else doc.data
    given: Mapping[str, Any] = table if isinstance(table, dict) else {}
    flow_kind = text_of(given.get("kind")) or "mptcp" if kind == "flow" else ""
    known = set()
    for param in SECTIONS[kind]:
        known.add(param.key)
        if param.key in _LEFT_OUT.get(kind, ()) or param.dimension in _DIMENSIONS_LEFT_OUT:
            continue
        if flow_kind and param.applies_to and flow_kind not in param.applies_to:
            continue
        # A key can vary only if the event sets it.
        if kind == "event" and param.key not in given:
            continue
        yield _of_key(doc, part, param)
        below = given.get(param.key)
        if isinstance(below, dict):
            yield from _leaves(doc, part, f"{part}.{param.key}" if part else param.key, below, _NAMED.get(param.key))
    for key, declared in LINK_TABLES.items() if kind == "link" else ():
        known.add(key)
        yield from _of_table(doc, part, key, declared.params)
    for key, value in given.items():
        # Tables whose parameters are not declared, such as the reverse direction of a link.
        if key not in known and isinstance(value, dict) and part and kind != "transport":
            yield from _leaves(doc, part, f"{part}.{key}", value, None)


def _of_table(doc: ScenarioDoc, part: str, key: str, params: Sequence[Param]) -> Iterator[SweepParameter]:
    """The parameters in a table of a link.

    If the table is missing, yields only its required key, and nothing unless exactly one key is required.
    """
    is_there = doc.value(f"{part}.{key}") is not None
    needed = [param for param in params if param.required]
    for param in params if is_there else needed if len(needed) == 1 else ():
        if param.dimension not in _DIMENSIONS_LEFT_OUT:
            yield replace(_of_key(doc, f"{part}.{key}", param), part=part)


def _of_key(doc: ScenarioDoc, part: str, param: Param) -> SweepParameter:
    key = f"{part}.{param.key}" if part else param.key
    value = doc.value(key)
    named = _NAMED.get(param.key)
    if isinstance(value, dict) and named is not None:
        # A sweep replaces the whole table, whose current value is shown by its name or limit.
        value = value.get(named, value)
    present = applies = text_of(value)
    if not present:
        default = param.default_in(text_of(doc.value("profile")) or "linux")
        applies = "" if default is None else param.format(default)
        present = tr("{value} (default)", value=applies) if applies else "–"
    unit = shown_unit(param, applies)
    examples = _examples(applies, unit, param)
    return SweepParameter(key, part, tr(label_of(param.key)), present, param.allowed_text(), param.help, unit, examples)


def _examples(present: str, unit: str, param: Param) -> tuple[str, ...]:
    """Examples of values: the first three choices, "true" and "false", or numbers.

    The numbers are half, once and twice the current value, or 1, 2 and 5 if the current value is not positive.
    """
    if param.choices:
        return param.choices[:3]
    if param.dimension is Dimension.FLAG:
        return ("true", "false")
    split = split_quantity(present)
    values = [Decimal(1), Decimal(2), Decimal(5)]
    if split is not None and split[0] > 0:
        values = [split[0] / 2, split[0], split[0] * 2]
    if unit in WHOLE_UNITS or param.dimension is Dimension.COUNT:
        values = [Decimal(max(1, round(value))) for value in values]
    if param.dimension in (Dimension.COUNT, Dimension.NUMBER) and param.maximum is not None:
        values = [value for value in values if value <= param.maximum]
    return tuple(f"{value.normalize():f}{unit}" for value in dict.fromkeys(values))


def _leaves(
    doc: ScenarioDoc, part: str, key: str, table: Mapping[str, Any], left_out: str | None
) -> Iterator[SweepParameter]:
    for name, value in table.items():
        if name == left_out:
            continue
        if isinstance(value, dict):
            yield from _leaves(doc, part, f"{key}.{name}", value, None)
        elif not isinstance(value, list):
            text = text_of(value)
            split = split_quantity(text)
            yield SweepParameter(f"{key}.{name}", part, tr(label_of(name)), text, "", "", split[1] if split else "")
