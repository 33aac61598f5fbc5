"""From what a person types into a field to the value in the file, and back; and what is wrong with it on the way."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from subflow_app.foundation.toml_edit import TomlEditError, TomlValue, render
from subflow_app.vocabulary.language import tr
from subflow_sim.errors import ParamError, Problem
from subflow_sim.gate import toml_tree
from subflow_sim.params import Dimension, Param
from subflow_sim.units import UNITS, split_quantity

# What is a string in the file whatever it looks like: a node may be called 7.
_ALWAYS_TEXT = (Dimension.TEXT, Dimension.NAME, Dimension.CHOICE, Dimension.POLICY)
# What people write with a unit.
_WITH_UNITS = (Dimension.RATE, Dimension.TIME, Dimension.SIZE, Dimension.QUEUE, Dimension.RATIO)
# Rates as other tools write them. Not MBps, which may be meant as bytes.
_RATES_OF_OTHERS = {
    "bps": "bit/s",
    "kbps": "kbit/s",
    "Kbps": "kbit/s",
    "Mbps": "Mbit/s",
    "mbps": "Mbit/s",
    "Gbps": "Gbit/s",
    "gbps": "Gbit/s",
}


class Previewer(Protocol):
    """What can tell whether a value fits where it is to go: a scenario document, or a form that is none."""

    def preview(self, key: str, value: TomlValue) -> Sequence[Problem]:
        """What would be wrong with the value at that key; changes nothing."""


@dataclass(frozen=True, slots=True)
class TextCheck:
    """What typed text means.

    Attributes:
        value: what goes into the file; None removes the key.
        message: what is wrong; empty if nothing is.
        allowed: what would be accepted.
        si_value: the value in SI units, where the text is a plain quantity; otherwise None.
    """

    value: TomlValue | None
    message: str = ""
    allowed: str = ""
    si_value: float | None = None


def check_text(doc: Previewer, key: str, param: Param, text: str) -> TextCheck:
    """Read what is being typed into a field and say at once what is wrong with it; changes nothing."""
    value = read_text(param, text)
    if value is None:
        return (
            TextCheck(None, tr("this value is required"), param.allowed_text()) if param.required else TextCheck(None)
        )
    is_structured = isinstance(value, (dict, list))
    if not isinstance(value, dict):
        try:
            si_value = param.read(value)
        except ParamError as error:
            return TextCheck(value, error.message, error.allowed)
        if not is_structured and param.dimension not in _ALWAYS_TEXT:
            is_number = isinstance(si_value, (int, float)) and not isinstance(si_value, bool)
            return TextCheck(value, si_value=float(si_value) if is_number else None)  # type: ignore[arg-type]
    # Lists name other parts of the file, tables have keys of their own: only the whole file tells whether they fit.
    try:
        problems = doc.preview(key, value)
    except TomlEditError:
        return TextCheck(value)
    if problems:
        return TextCheck(value, problems[0].message, problems[0].allowed)
    return TextCheck(value)


def shown_unit(param: Param, *shown: str) -> str:
    """Return the unit that a bare number in a field is taken to have; empty where it has to stay bare.

    Args:
        param: what the field holds.
        shown: what the field shows, and what it shows while it is empty: the first that is a quantity counts.
    """
    if param.dimension not in _WITH_UNITS:
        return ""
    for text in shown:
        unit = unit_of(text, param.dimension)
        if unit is not None:
            return unit
    return "%" if param.dimension is Dimension.RATIO else param.unit


def unit_of(text: str, dimension: Dimension) -> str | None:
    """Return the unit of a quantity as it is written, empty for a bare number; None if it is no such quantity."""
    split = split_quantity(text)
    units = {"", *UNITS[dimension], *(UNITS[Dimension.SIZE] if dimension is Dimension.QUEUE else ())}
    return split[1] if split is not None and split[1] in units else None


def completed(param: Param, text: str, *shown: str) -> str:
    """Complete what is typed for ``param`` by the unit of what the field shows; see `shown_unit` and `with_unit`."""
    return with_unit(_rate_as_here(text) if param.dimension is Dimension.RATE else text, shown_unit(param, *shown))


def with_unit(text: str, unit: str | None) -> str:
    """Complete a bare number by the unit of the value that it replaces: "30" over "10Mbit/s" is "30Mbit/s".

    People read the unit beside a value as part of the field. Whatever is more than a number is left as it is, and so is
    every number where the present value has no unit: in scenario files a bare number is in SI units. One with an
    exponent, 8e6, is how such files write a large one, and stays one. "5 Mbps" for a rate becomes "5Mbit/s".
    """
    if unit in UNITS[Dimension.RATE]:
        text = _rate_as_here(text)
    split = split_quantity(text)
    is_bare = split is not None and not split[1] and "e" not in text.lower()
    return f"{text.strip()}{unit}" if unit and is_bare else text


def _rate_as_here(text: str) -> str:
    split = split_quantity(text)
    if split is None or split[1] not in _RATES_OF_OTHERS:
        return text
    return f"{text.strip().removesuffix(split[1]).strip()}{_RATES_OF_OTHERS[split[1]]}"


def read_text(param: Param, text: str) -> TomlValue | None:
    """Turn typed text into the value that goes into the file; nothing typed is None.

    Text that is not what it should be stays text: it is the person's, and the file keeps it with its problem.
    """
    text = text.strip()
    if not text:
        return None
    if param.dimension in _ALWAYS_TEXT:
        return text
    if param.dimension is Dimension.POINT and not text.startswith("["):
        # Two numbers are enough for a position.
        text_as_list = f"[{text.strip('()')}]"
        literal = _literal(text_as_list)
        return literal if isinstance(literal, list) and len(literal) == 2 else text
    literal = _literal(text)
    return text if literal is None else literal


def _literal(text: str) -> TomlValue | None:
    """Read text as a TOML value; None if it is none, or one that scenario files do not have (dates, nan)."""
    if "\n" in text:
        return None
    try:
        value = toml_tree(f"x = {text}")
    except ValueError:
        return None
    if set(value) != {"x"}:
        return None
    found = value["x"]
    if isinstance(found, float) and found - found != 0:  # infinite or nan
        return None
    return found if isinstance(found, (str, bool, int, float, list, dict)) else None


def text_of(value: Any) -> str:
    """Write a value of the file as one would type it: text without quotes, everything else as TOML."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    try:
        return render(value)
    except TomlEditError:
        return str(value)
    except TypeError:
        # A date, say: TOML has values that scenarios do not.
        return str(value)


def choice_text(value: Any) -> str:
    """What a controller or scheduler of the file is called, be it a name or a table with options."""
    return text_of(value.get("name") if isinstance(value, dict) else value)
