"""From what a person types into a field to the value in the file, and back; and what is wrong with it on the way."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from subflow_app.core.language import tr
from subflow_app.core.scenarios.toml_edit import TomlEditError, TomlValue, render
from subflow_sim.errors import ParamError, Problem
from subflow_sim.params import Dimension, Param

# What is a string in the file whatever it looks like: a node may be called 7.
_ALWAYS_TEXT = (Dimension.TEXT, Dimension.NAME, Dimension.CHOICE, Dimension.POLICY)


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
        value = tomllib.loads(f"x = {text}")
    except tomllib.TOMLDecodeError:
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
