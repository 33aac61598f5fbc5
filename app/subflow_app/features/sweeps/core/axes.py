"""The values that a sweep gives to keys of a scenario: lists, ranges and draws, none of which is written out.

A range of a billion values takes no more memory than its two ends: whoever asks for too much is told how much it is,
without waiting for it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal, localcontext
from typing import Any, NamedTuple, overload

from subflow_app.features.editor.core.form_text import with_unit
from subflow_app.foundation.toml_edit import TomlValue, render
from subflow_sim.draws import Independent, uniform
from subflow_sim.errors import ParamError
from subflow_sim.gate import MAX_INTEGER
from subflow_sim.overrides import override_value
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
