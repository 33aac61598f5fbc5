"""Conversion between the text typed into a field and the value in the file, with checks."""

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

# Values that are strings in the file whatever they look like: the name of a node may be 7.
_ALWAYS_TEXT = (Dimension.TEXT, Dimension.NAME, Dimension.CHOICE, Dimension.POLICY)
# Quantities that are usually written with a unit.
_WITH_UNITS = (Dimension.RATE, Dimension.TIME, Dimension.SIZE, Dimension.QUEUE, Dimension.RATIO)
# Rate units as other tools write them. MBps is left out because it may mean bytes.
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
    """Checks whether a value fits a key. Scenario documents implement it, as do forms without a document."""

    def preview(self, key: str, value: TomlValue) -> Sequence[Problem]:
        """Return the problems that the value would cause at that key; changes nothing."""


@dataclass(frozen=True, slots=True)
class TextCheck:
    """Interpretation of typed text.

    Attributes:
        value: the value for the file; None removes the key.
        message: the problem; empty if the text is valid.
        allowed: the accepted values.
        si_value: the value in SI units if the text is a plain quantity, otherwise None.
    """

    value: TomlValue | None
    message: str = ""
    allowed: str = ""
    si_value: float | None = None


def check_text(doc: Previewer, key: str, param: Param, text: str) -> TextCheck:
    """Parse and check the text typed into a field; changes nothing."""
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
    # Names and lists may refer to other parts of the file, and tables have their own keys: check the whole file.
    try:
        problems = doc.preview(key, value)
    except TomlEditError:
        return TextCheck(value)
    if problems:
        return TextCheck(value, problems[0].message, problems[0].allowed)
    return TextCheck(value)


def shown_unit(param: Param, *shown: str) -> str:
    """Return the unit assumed for a number typed without a unit; empty to keep the number as typed.

    Args:
        param: declaration of the field.
        shown: text of the field and its placeholder; the first of them that is a quantity gives the unit.
    """
    if param.dimension not in _WITH_UNITS:
        return ""
    for text in shown:
        unit = unit_of(text, param.dimension)
        if unit is not None:
            return unit
    return "%" if param.dimension is Dimension.RATIO else param.unit


def unit_of(text: str, dimension: Dimension) -> str | None:
    """Return the unit of a quantity as written; empty for a bare number, None for any other text."""
    split = split_quantity(text)
    units = {"", *UNITS[dimension], *(UNITS[Dimension.SIZE] if dimension is Dimension.QUEUE else ())}
    return split[1] if split is not None and split[1] in units else None


def completed(param: Param, text: str, *shown: str) -> str:
    """Append the unit shown in the field to a bare number typed for ``param``; see `shown_unit` and `with_unit`."""
    return with_unit(_rate_as_here(text) if param.dimension is Dimension.RATE else text, shown_unit(param, *shown))


def with_unit(text: str, unit: str | None) -> str:
    """Append to a bare number the unit of the value it replaces: "30" typed over "10Mbit/s" becomes "30Mbit/s".

    People read the unit next to a value as part of the field. Text other than a bare number is unchanged, and so is a
    bare number if the current value has no unit, because a bare number in a scenario file is in SI units. A number
    with an exponent, 8e6, is unchanged as well. "5 Mbps" for a rate becomes "5Mbit/s".
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
    """Convert typed text into the value for the file; empty text gives None.

    Invalid text is kept as a string, so that the file shows the user's input with its problem.
    """
    text = text.strip()
    if not text:
        return None
    if param.dimension in _ALWAYS_TEXT:
        return text
    if param.dimension is Dimension.POINT and not text.startswith("["):
        # The user may omit the brackets of a position.
        text_as_list = f"[{text.strip('()')}]"
        literal = _literal(text_as_list)
        return literal if isinstance(literal, list) and len(literal) == 2 else text
    literal = _literal(text)
    return text if literal is None else literal


def _literal(text: str) -> TomlValue | None:
    """Parse text as a TOML value; None for invalid TOML and for values that scenarios exclude (dates, nan, inf)."""
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
    """Write a value of the file as a person would type it: strings without quotes, everything else as TOML."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    try:
        return render(value)
    except TomlEditError:
        return str(value)
    except TypeError:
        # For TOML types that scenarios lack, such as dates.
        return str(value)


def choice_text(value: Any) -> str:
    """Return the name of a controller or scheduler, given as a name or as a table with options."""
    return text_of(value.get("name") if isinstance(value, dict) else value)
