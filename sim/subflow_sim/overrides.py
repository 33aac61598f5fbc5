"""Values given on the command line that replace those of a scenario file: "links.wifi.loss=1%"."""

from __future__ import annotations

import datetime
import re
from collections.abc import Sequence
from typing import Any

from subflow_sim.gate import MOST_KEY_PARTS, toml_tree
from subflow_sim.plain_text import did_you_mean, either
from subflow_sim.section_reader import Report, toml_text
from subflow_sim.toml_map import Path, dotted

_FORM = 'KEY=VALUE, e.g. "links.wifi.loss=1%"'
_SHORTHANDS = {"controller": "name", "scheduler": "name", "queue": "limit"}
"""Keys whose plain value abbreviates a table with one key: controller = "lia" means { name = "lia" }."""
_NAMED = ("nodes", "links", "flows")


def apply_overrides(tree: dict[str, Any], overrides: Sequence[str], report: Report) -> None:
    """Applies overrides to a parsed scenario file, in order.

    Args:
        tree: result of tomllib; changed in place.
        overrides: strings "KEY=VALUE"; a number in the key is the index of an array element, from 0.
        report: receives inapplicable overrides as problems, and the paths of the overridden values.
    """
    for override in overrides:
        key, equals, text = override.partition("=")
        key, text = key.strip(), text.strip()
        if not equals or not key:
            report.add_override(override, "", "not of the form KEY=VALUE", _FORM)
            continue
        path = set_value(tree, key, override_value(text), report)
        if path is not None:
            report.mark_overridden(path)


def override_value(text: str) -> object:
    """The TOML value of a text, or the text itself if it is not TOML.

    A date remains text, because no parameter is a date but a name may look like one.
    """
    try:
        parsed = toml_tree(f"value = {text}")
    except ValueError:
        return text
    value = parsed["value"]
    is_date = isinstance(value, datetime.date | datetime.time)
    return text if is_date or set(parsed) != {"value"} else value


def set_value(tree: dict[str, Any], key: str, value: object, report: Report) -> Path | None:
    """Sets the value of a dotted key; returns its path in the tree, or None after reporting a problem."""
    # accepts both events.0.at and events[0].at
    steps = re.sub(r"\[(\d+)\]", r".\1", key).split(".")
    if len(steps) > MOST_KEY_PARTS:
        begun = ".".join(steps[:4])
        report.add_override(f"{begun[:60]}…", "", f"a key of {len(steps)} parts", f"at most {MOST_KEY_PARTS}")
        return None
    here: Any = tree
    path: Path = ()
    for position, step in enumerate(steps):
        is_last = position == len(steps) - 1
        if isinstance(here, list):
            if not step.isdecimal() or len(step) > 9 or int(step) >= len(here):
                allowed = f"an element from 0 to {len(here) - 1}" if here else "nothing, it is empty"
                report.add_override(key, toml_text(value), f'"{dotted(path)}" has no element "{step}"', allowed)
                return None
            index = int(step)
            path = (*path, index)
            if is_last:
                here[index] = value
            else:
                here = here[index]
        elif isinstance(here, dict):
            # Without this check a misspelt link would be reported as a new link with missing keys.
            if len(path) == 1 and path[0] in _NAMED and step not in here:
                kind = str(path[0]).removesuffix("s")
                names = list(here)
                message = f'unknown {kind} "{step}"{did_you_mean(step, names)}'
                report.add_override(key, toml_text(value), message, either(names))
                return None
            if len(path) == 2 and path[0] == "flows" and step.isdecimal():
                rest = ".".join((*map(str, path), *steps[position + 1 :]))
                message = f'"{step}" is a copy of a flow, and copies are alike'
                report.add_override(key, toml_text(value), message, f'"{rest}" for all of them, or a flow of its own')
                return None
            path = (*path, step)
            if is_last:
                here[step] = value
            else:
                here = _table_at(here, path, report)
        else:
            report.add_override(key, toml_text(value), f'"{dotted(path)}" is not a table', "a key of the scenario file")
            return None
    return path


def _table_at(table: dict[str, Any], path: Path, report: Report) -> object:
    """Returns the value at the last key of a path.

    First puts a table in place of an absent value, a shorthand, or a plain rate or loss.
    """
    key = str(path[-1])
    shorthand = _SHORTHANDS.get(key)
    if key in table and shorthand is not None and not isinstance(table[key], dict):
        table[key] = {shorthand: table[key]}
    elif key not in table or (key in ("rate", "loss") and not isinstance(table[key], dict)):
        table[key] = {}  # a plain rate or loss is dropped, because the table that replaces it has no key for it
        report.mark_overridden(path)
    found: object = table[key]
    return found
