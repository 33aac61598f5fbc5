"""The parts of a scenario as its file has them: plain tables and values, whatever else is wrong with them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

NAMED = ("nodes", "links", "flows")
"""The sections whose parts have names."""
ROWS = ("events", "notes")
"""The sections whose parts are rows, counted from 0."""


def named(data: Mapping[str, Any], section: str) -> dict[str, dict[str, Any]]:
    """Return the parts of a section by name; what is not a table is left out."""
    found = data.get(section)
    return {name: table for name, table in found.items() if isinstance(table, dict)} if isinstance(found, dict) else {}


def rows(data: Mapping[str, Any], section: str) -> list[dict[str, Any]]:
    """Return the rows of a section; what is not a table is an empty one, so that the numbers hold."""
    found = data.get(section)
    return [row if isinstance(row, dict) else {} for row in found] if isinstance(found, list) else []


def texts(value: Any) -> list[str]:
    """Return the texts in a list of the file; none if it is not a list."""
    return [each for each in value if isinstance(each, str)] if isinstance(value, list) else []


def flow_of(event: Mapping[str, Any]) -> str:
    """Return the flow that an event names, also where it names one copy of it: `download.3`."""
    flow = event.get("flow")
    return flow.partition(".")[0] if isinstance(flow, str) else ""
