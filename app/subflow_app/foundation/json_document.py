"""Documents as JSON that every parser accepts: NaN and infinity become null, numpy values become plain numbers."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from datetime import datetime
from typing import Any


def json_text(document: object) -> str:
    """The document as indented ASCII JSON with a newline at the end."""
    return json.dumps(plain(document), indent=2, allow_nan=False) + "\n"


def plain(value: object) -> Any:
    """The value converted to dicts, lists, strings, finite numbers, booleans and None.

    Raises:
        TypeError: for a type that JSON cannot hold.
    """
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    # numpy scalars and arrays convert themselves, so that documents without them need no import of numpy.
    converted = getattr(value, "tolist", None)
    if converted is None:
        raise TypeError(f"{type(value).__name__} has no JSON form")
    return plain(converted())


def fields(thing: object, *names: str) -> dict[str, Any]:
    """The named attributes of an object as a dictionary; times become ISO 8601 strings, tuples become lists."""
    return {name: _field(getattr(thing, name)) for name in names}


def _field(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.isoformat()
    return list(value) if isinstance(value, tuple) else value


def number(value: object) -> float:
    """A number from a document; NaN for any other value, including booleans."""
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else math.nan
