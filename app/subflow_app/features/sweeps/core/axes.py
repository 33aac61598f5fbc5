"""Axes of a sweep: keys of a scenario that can vary, and the values that they take as lists, ranges and draws.

Values are not written out. A range of a billion values takes no more memory than its two ends, so that a request for
too much gets a report of its size without a wait.

A sweep can vary every value of the file, and every key that the file could have.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
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

# Not above: a range is told in one line, and whoever writes more digits has slipped.
MOST_VALUES = 10**12
_RANGE = re.compile(r"\s*(?P<start>.+?)\s*\.\.\s*(?P<stop>.+?)\s*(?:/\s*(?P<count>[0-9]{1,13})\s*(?P<log>log)?)?\s*\Z")
WHOLE_UNITS = ("pkt", "B")
"""Units without parts."""

_DIGITS = 9


class SweptValue(NamedTuple):
    """A value as tables and plots show it.

    Attributes:
        text: as the scenario file would have it; empty: the scenario's own, which stays.
        number: in SI units; None for what is not a number.
    """

    text: str
    number: float | None


class Values(Sequence[TomlValue]):
    """Values that are made when they are asked for.

    Attributes:
        n: how many.
    """

    __slots__ = ()
    n: int

    def at(self, index: int) -> TomlValue:
        """One value, as a scenario file would have it; ``0 <= index < n``."""
        raise NotImplementedError

    def __len__(self) -> int:
        """How many values there are."""
        return self.n

    @overload
    def __getitem__(self, index: int) -> TomlValue: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[TomlValue]: ...
    def __getitem__(self, index: int | slice) -> TomlValue | Sequence[TomlValue]:
        """One value, as a scenario file would have it."""
        if isinstance(index, slice):
            return [self[each] for each in range(*index.indices(self.n))]
        if not -self.n <= index < self.n:
            raise IndexError(index)
        return self.at(index % self.n)


@dataclass(frozen=True, slots=True)
class Range(Values):
    """Values from one end to the other, both included, at equal distances or with equal ratios.

    Attributes:
        start: the first, in `unit`.
        stop: the last.
        n: how many.
        unit: of all of them, as scenario files have it; empty for plain numbers.
        is_log: whether it is their ratios that are equal.
    """

    start: Decimal
    stop: Decimal
    n: int
    unit: str = ""
    is_log: bool = False

    def at(self, index: int) -> TomlValue:
        """One value."""
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
        # Rounded, so that values read well and are the same on every machine.
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
        """As a plan has it."""
        return f"{self.start:f}{self.unit}..{self.stop:f}{self.unit}/{self.n}{' log' if self.is_log else ''}"


@dataclass(frozen=True, slots=True)
class Drawn(Values):
    """Values that are drawn at random; each depends on the seed, the key and its own number alone.

    Attributes:
        draw: what they are drawn from.
        seed: of the sweep.
        key: which the values are for.
        n: how many.
    """

    draw: Independent
    seed: int
    key: str
    n: int

    def at(self, index: int) -> TomlValue:
        """One value."""
        value: TomlValue = self.draw.value(uniform(self.seed, 0, index, self.key))
        return value


@dataclass(frozen=True, slots=True)
class Axis:
    """Keys of a scenario that move together, and their values.

    Attributes:
        keys: dotted.
        values: of each key; all as many. None leaves the scenario's own value.
    """

    keys: tuple[str, ...]
    values: tuple[Sequence[TomlValue | None], ...]

    def __len__(self) -> int:
        """How many steps it has."""
        return len(self.values[0])

    def at(self, step: int) -> tuple[TomlValue | None, ...]:
        """The value of each key at a step."""
        return tuple(values[step] for values in self.values)

    @property
    def label(self) -> str:
        """What messages call it."""
        return " & ".join(self.keys)


def overlaps(keys: Sequence[str]) -> dict[str, tuple[str, str]]:
    """Keys that an axis after them would replace: what is wrong with each, and what is allowed.

    Args:
        keys: dotted, in the order in which their values are set.
    """
    found: dict[str, tuple[str, str]] = {}
    for place, key in enumerate(keys):
        for later in keys[place + 1 :]:
            if later == key:
                found[key] = "the key is swept twice", "each key once"
            elif key.startswith(f"{later}."):
                found[key] = f"{later} is swept too, and each of its values replaces {key}", f"{later} before {key}"
    return found


def read_values(written: object) -> Sequence[TomlValue]:
    """The values of a key in a grid: a list, a range as text, or a single value.

    Raises:
        ParamError: if it is none of that.
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
    """Refuse what no scenario file has: dates, and numbers that are none.

    Raises:
        ParamError: naming it.
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
    """A range such as "1%..5%/5" or "10ms..1s/5 log".

    Raises:
        ParamError: if it is none.
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
    """Typed values or a range of them, where each bare number has that unit: "10, 20" is "10Mbit/s, 20Mbit/s"."""
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
    """Two quantities of the same kind in the unit of the first; None if they are none."""
    start, stop = split_quantity(first), split_quantity(second)
    if start is None or stop is None:
        return None
    if start[1] == stop[1]:
        return start[0], stop[0], start[1]
    for dimension, units in UNITS.items():
        # A bare number is a complete one of many kinds, so it is nothing to convert to.
        if dimension is not Dimension.RATIO and start[1] in units and stop[1] in units:
            with localcontext(prec=40):
                return start[0], stop[0] * units[stop[1]] / units[start[1]], start[1]
    return None


def swept(value: TomlValue | None) -> SweptValue:
    """A value as tables and plots show it."""
    if value is None:
        return SweptValue("", None)
    if isinstance(value, str):
        return SweptValue(value, quantity(value))
    if isinstance(value, int | float) and not isinstance(value, bool):
        return SweptValue(render(value), float(value))
    return SweptValue(render(value), None)


def split_list(text: str, separator: str = ",") -> Iterator[str]:
    """The parts of a list that was typed; separators in brackets, braces and quotes belong to the parts."""
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
    """A value that was typed: TOML if it is that, else text; as with `--set`."""
    value: Any = override_value(text)
    typed: TomlValue = value
    return typed


# What is not a number of a network: names, drawings and what ties parts together. Seeds are asked for by themselves.
_LEFT_OUT = {
    "scenario": ("format", "name", "seed"),
    "link": ("ends",),
    "flow": ("kind", "from", "to", "paths"),
    "event": ("link", "flow"),
}
_DIMENSIONS_LEFT_OUT = (Dimension.TEXT, Dimension.POINT, Dimension.NAME, Dimension.PATHS)
# Of a short form, the key below which its options stand.
_NAMED = {"controller": "name", "scheduler": "name", "queue": "limit"}


@dataclass(frozen=True, slots=True)
class SweepParameter:
    """A key that can be varied.

    Attributes:
        key: dotted.
        part: whose it is: "" of the scenario, else ``links.wifi``.
        label: what forms call it, in the language of the window.
        present: what the file says, or in brackets what applies while it says nothing.
        allowed: what it can be, in English as the simulator says it.
        help: what it is, likewise.
        unit: that a bare number has which is typed for it; empty where it stays bare.
        examples: some values it could have, as one would type them.
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
        """Whether all these words are found in its key, its name or its value."""
        text = f"{self.key} {self.label} {self.present}".lower()
        return all(word in text for word in words.lower().split())


def sweep_parameters(doc: ScenarioDoc) -> list[SweepParameter]:
    """All of them: scenario, links, flows, events, transport; each with the keys of its kind and more that it has."""
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
        # An event without a value has none to vary.
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
        # Keys that are not parameters of their own, such as the other direction of a link.
        if key not in known and isinstance(value, dict) and part and kind != "transport":
            yield from _leaves(doc, part, f"{part}.{key}", value, None)


def _of_table(doc: ScenarioDoc, part: str, key: str, params: Sequence[Param]) -> Iterator[SweepParameter]:
    """The keys of a table of a link; of one that the link has not yet, the key that makes it one."""
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
        # The table as a whole is replaced by what is swept; its present name says which one it is.
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
    """Three values about the present one, or what can be chosen."""
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
