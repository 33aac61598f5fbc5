"""Random distributions that a scenario file gives in place of a value, drawn anew for each training episode.

A draw is a function from a number in [0, 1) to a value in the notation of a scenario file. The number is a hash of
seed, environment, episode and key, so a draw depends neither on other draws nor on their order.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from subflow_sim.errors import ParamError
from subflow_sim.gate import MAX_INTEGER
from subflow_sim.parameter import is_number, kind_name
from subflow_sim.plain_text import either
from subflow_sim.section_reader import Noted, Report
from subflow_sim.toml_map import Path
from subflow_sim.training_params import DRAW_KINDS, RANGES
from subflow_sim.units import UNITS, Dimension, parse_quantity, split_quantity

_MOST_CHOICES = 1000
_RANGE_FORM = '{ uniform = ["2Mbit/s", "16Mbit/s"] }'
_CHOICE_FORM = '{ choice = ["lia", "olia"] }'
_WHOLE_UNITS = {Dimension.SIZE: "B", Dimension.QUEUE: "pkt"}
_LARGEST = math.nextafter(1.0, 0.0)


@dataclass(frozen=True, slots=True)
class Range:
    """A random number from an interval.

    Values are rounded to six digits, so that a drawn scenario can be written to a file, and differences between
    platforms in the last bits of logarithms do not matter. The bounds are rounded, too.

    Attributes:
        low: lower bound, SI.
        high: upper bound, SI.
        dimension: dimension of both bounds. NUMBER: plain numbers, which may be SI values of any quantity. COUNT:
            integers.
        is_log: whether the distribution is uniform in the logarithm.
    """

    low: float
    high: float
    dimension: Dimension = Dimension.NUMBER
    is_log: bool = False

    def value(self, uniform: float) -> float | int | str:
        """The value for a number in [0, 1), in the notation of a scenario file."""
        if self.dimension is Dimension.COUNT:
            return min(int(self.low) + int(uniform * (self.high - self.low + 1)), int(self.high))
        # A weighted sum of the bounds, because their difference or ratio may overflow a double
        if self.is_log:
            drawn = math.exp((1 - uniform) * math.log(self.low) + uniform * math.log(self.high))
        else:
            drawn = (1 - uniform) * self.low + uniform * self.high
        return _written(min(max(drawn, self.low), self.high), self.dimension)

    def trials(self) -> tuple[Any, ...]:
        """Values that must be valid for the whole interval to be valid: the bounds and a value between them."""
        return tuple(dict.fromkeys((*self.ends(), self.value(0.38))))

    def ends(self) -> tuple[Any, Any]:
        """The smallest and the largest value."""
        return self.value(0.0), self.value(_LARGEST)


@dataclass(frozen=True, slots=True)
class Pick:
    """A choice among given values.

    Attributes:
        options: values in the notation of a scenario file.
        bounds: cumulative shares of the options by weight, ascending to 1.
    """

    options: tuple[Any, ...]
    bounds: tuple[float, ...]

    def value(self, uniform: float) -> Any:
        """The value for a number in [0, 1)."""
        return next(option for option, bound in zip(self.options, self.bounds, strict=True) if uniform < bound)

    def trials(self) -> tuple[Any, ...]:
        """All options with a positive weight."""
        shares = zip(self.options, (0.0, *self.bounds), self.bounds, strict=False)
        return tuple(option for option, start, end in shares if end > start)

    def ends(self) -> tuple[Any, Any]:
        """The first and the last option with a positive weight."""
        values = self.trials()
        return values[0], values[-1]


def _rounded(number: float) -> float:
    return float(f"{number:.6g}")


def _written(number: float, dimension: Dimension) -> float | str:
    """A number in the notation of a scenario file: in SI units; packets and bytes as integers with their unit."""
    suffix = _WHOLE_UNITS.get(dimension)
    return _rounded(number) if suffix is None else f"{round(number)}{suffix}"


Independent: TypeAlias = Range | Pick


@dataclass(frozen=True, slots=True)
class Multiple:
    """A multiple of the value drawn for another key, or the same value.

    Attributes:
        of: dotted key of the other value.
        times: distribution of the factor; None: the same value, which then need not be a number.
    """

    of: str
    times: Independent | None


@dataclass(frozen=True, slots=True)
class BdpShare:
    """A limit as a multiple of a bandwidth-delay product.

    For a queue, it is that of the link's longest path, in packets. For a buffer of a flow, it is that of the
    connection's shares of all its paths, in bytes; see `receive_buffer`.

    Attributes:
        times: distribution of the factor.
    """

    times: Independent


Draw: TypeAlias = Range | Pick | Multiple | BdpShare


def multiplied(value: Any, times: float) -> Any:
    """A drawn value times a factor, in the notation of a scenario file; packets and bytes stay integers.

    Raises:
        ParamError: if the value is not a number.
    """
    number, dimension = _end(value)
    return _written(number * times, dimension)


def fixed(value: Any) -> Pick:
    """A draw that always yields this value."""
    return Pick((value,), (1.0,))


def uniform(seed: int, env: int, episode: int, key: str) -> float:
    """A number in [0, 1) determined by these four arguments."""
    digest = hashlib.blake2b(f"{seed}/{env}/{episode}/{key}".encode(), digest_size=8).digest()
    return (int.from_bytes(digest, "little") >> 11) * 2.0**-53


def is_draw(value: object) -> bool:
    """True if a value of a `[training]` block is a draw, not a plain value or the table of a dotted key."""
    if not isinstance(value, dict):
        return False
    # A link may have the name "uniform" or "bdp". Its table is not a draw itself, unlike an argument that is a table.
    return any(key in value and (not isinstance(value[key], dict) or is_draw(value[key])) for key in DRAW_KINDS)


def read_independent(report: Report, path: Path, value: object) -> Independent:
    """Reads a draw that depends on no other key, or a plain value.

    Raises:
        Noted: if the value is not usable; `report` then contains the problem.
    """
    if not is_draw(value):
        return fixed(value)
    assert isinstance(value, dict)
    kind = _kind(report, path, value, (*RANGES, "choice"))
    if kind == "choice":
        return _read_choice(report, path, value)
    _refuse_other_keys(report, path, value, (kind,))
    return _read_range(report, (*path, kind), kind, value[kind])


def read_draw(report: Report, path: Path, value: object) -> Draw:
    """Reads any draw, or a plain value.

    Raises:
        Noted: if the value is not usable; `report` then contains the problem.
    """
    if not isinstance(value, dict) or not ({"bdp", "of"} & value.keys()) or not is_draw(value):
        return read_independent(report, path, value)
    kind = _kind(report, path, value, DRAW_KINDS)
    if kind == "bdp":
        _refuse_other_keys(report, path, value, ("bdp",))
        return BdpShare(_read_factor(report, (*path, "bdp"), value["bdp"]))
    _refuse_other_keys(report, path, value, ("of", "times"))
    if not isinstance(value["of"], str):
        report.add((*path, "of"), f"this is {kind_name(value['of'])}, not a key", '"links.wifi.rate"')
        raise Noted
    times = _read_factor(report, (*path, "times"), value["times"]) if "times" in value else None
    return Multiple(value["of"], times)


def _kind(report: Report, path: Path, table: Mapping[str, Any], allowed: tuple[str, ...]) -> str:
    kinds = [key for key in DRAW_KINDS if key in table]
    if len(kinds) == 1 and kinds[0] in allowed:
        return kinds[0]
    message = f"{kinds[0]} is not possible here" if len(kinds) == 1 else f"both {kinds[0]} and {kinds[1]}"
    report.add(path, message, f"one of {either(allowed)}")
    raise Noted


def _refuse_other_keys(report: Report, path: Path, table: Mapping[str, Any], known: tuple[str, ...]) -> None:
    others = [key for key in table if key not in known]
    for key in others:
        report.unknown_key((*path, key), known)
    if others:
        raise Noted


def _read_factor(report: Report, path: Path, value: object) -> Independent:
    draw = read_independent(report, path, value)
    for number in draw.trials():
        if not is_number(number) or not 0 < number <= 1e9:
            report.add(path, "not a factor", "a number greater than 0, up to 1e9, or a draw of such numbers")
            raise Noted
    return draw


def _read_choice(report: Report, path: Path, table: Mapping[str, Any]) -> Pick:
    _refuse_other_keys(report, path, table, ("choice", "weights"))
    options = table["choice"]
    if not isinstance(options, list) or not 1 <= len(options) <= _MOST_CHOICES:
        shape = f"a list of {len(options)}" if isinstance(options, list) else kind_name(options)
        report.add((*path, "choice"), f"this is {shape}, not a list of values", f"1 to {_MOST_CHOICES}, {_CHOICE_FORM}")
        raise Noted
    weights = table.get("weights", [1] * len(options))
    place: Path = (*path, "weights")
    if not isinstance(weights, list) or len(weights) != len(options):
        report.add(place, "not a weight for each value", f"a list of {len(options)} numbers")
        raise Noted
    for index, weight in enumerate(weights):
        if not is_number(weight) or not 0 <= weight <= 1e9:
            report.add((*place, index), "not a weight", "a number from 0 to 1e9")
            raise Noted
    total = math.fsum(weights)
    if total == 0:
        report.add(place, "nothing can be drawn", "a weight greater than 0")
        raise Noted
    # The last option with a positive weight takes the rounding error.
    last = max(index for index, weight in enumerate(weights) if weight > 0)
    bounds = [1.0 if index >= last else math.fsum(weights[: index + 1]) / total for index in range(len(weights))]
    return Pick(tuple(options), tuple(bounds))


def _read_range(report: Report, path: Path, kind: str, value: object) -> Range:
    if not isinstance(value, list) or len(value) != 2:
        shape = f"a list of {len(value)}" if isinstance(value, list) else kind_name(value)
        report.add(path, f"this is {shape}, not the two ends of a range", _RANGE_FORM)
        raise Noted
    if kind == "integer":
        for index, end in enumerate(value):
            if not isinstance(end, int) or isinstance(end, bool) or abs(end) > MAX_INTEGER:
                report.add((*path, index), f"this is {kind_name(end)}, not a whole number", "{ integer = [1, 8] }")
                raise Noted
        low, high, dimension = value[0], value[1], Dimension.COUNT
    else:
        low, high, dimension = _ends(report, path, value)
    if low > high:
        report.add(path, "the first end is above the second", "the smaller one first")
        raise Noted
    if kind == "log_uniform" and low <= 0:
        report.add((*path, 0), "a ratio to it has no logarithm", "an end greater than 0")
        raise Noted
    return Range(low, high, dimension, is_log=kind == "log_uniform")


def _ends(report: Report, path: Path, values: list[object]) -> tuple[float, float, Dimension]:
    """The bounds of a range in SI units, and their common dimension."""
    ends, dimensions = [], []
    for index, value in enumerate(values):
        try:
            end, dimension = _end(value)
        except ParamError as error:
            report.add((*path, index), error.message, error.allowed)
            raise Noted from error
        ends.append(end)
        dimensions.append(dimension)
    if dimensions[0] is not dimensions[1]:
        report.add(path, "the ends are of different kinds", "both with a unit of the same kind, or two plain numbers")
        raise Noted
    return ends[0], ends[1], dimensions[0]


def _end(value: object) -> tuple[float, Dimension]:
    if isinstance(value, str):
        split = split_quantity(value)
        for dimension, units in UNITS.items():
            if split is not None and split[1] and split[1] in units:
                return _finite(parse_quantity(value, dimension)), dimension
        raise ParamError("this is not a number with a unit", 'e.g. "2Mbit/s", "50ms", "67pkt", "8MB" or "2%"')
    if not is_number(value):
        raise ParamError(f"this is {kind_name(value)}, not a number", 'a number, with a unit if it has one: "50ms"')
    return _finite(float(value) if abs(value) <= MAX_INTEGER else value), Dimension.NUMBER


def _finite(value: float) -> float:
    if not abs(value) < 1e300:
        raise ParamError("must be finite", "a smaller number")
    return value
