"""Values of a scenario at dotted keys for checks of labs: SI numbers and strings, including defaults."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from subflow_app.features.editor.core.scenario_doc import ScenarioDoc, split_key
from subflow_app.foundation.expressions import Missing
from subflow_sim.errors import ParamError
from subflow_sim.flow_reader import DEFAULT_CONTROLLERS
from subflow_sim.link_params import LINK_TABLES
from subflow_sim.params import SCRIPT_SECTIONS, SCRIPT_TABLE, SECTIONS, Param
from subflow_sim.scenario_model import Profile, QueueSpec
from subflow_sim.transport_params import effective_transport
from subflow_sim.units import UNITS, split_quantity

SECTION_KINDS = {
    "nodes": "node",
    "links": "link",
    "flows": "flow",
    "events": "event",
    "transport": "transport",
    **dict.fromkeys(SCRIPT_SECTIONS.values(), "script"),
}
# Key that the short form of a table sets: the limit of a queue, the name of a controller or scheduler.
_SHORT = {"queue": "limit", "controller": "name", "scheduler": "name"}
# Keys that do not affect the network. The seed only selects a repetition.
_BESIDES = ("name", "seed", "notes", "format")


def value_of(doc: ScenarioDoc, key: str) -> float | bool | str | Missing:
    """The value at a dotted key.

    Args:
        doc: the scenario.
        key: e.g. "links.wifi.queue", "flows.x.controller", "duration".

    Returns:
        A number in SI units, a boolean or a string. An absent key yields its default. `Missing` for an absent key
        without a default, and for lists and tables.
    """
    path = split_key(key)
    raw = doc.value(key)
    param = param_of(key)
    if raw is None:
        return _default(doc, path, param)
    if isinstance(raw, dict) and path[-1] in _SHORT:
        raw = raw.get(_SHORT[str(path[-1])])
    if isinstance(raw, bool):
        return raw
    if isinstance(raw, int | float):
        return float(raw)
    if isinstance(raw, str):
        return _typed(raw, param)
    if isinstance(raw, list):
        return Missing(f"{key} is a list: no single value")
    return Missing(f"{key} is a table: name one of its keys")


def param_of(key: str) -> Param | None:
    """Declaration of a key; None for options of algorithms and unknown keys."""
    section, rest = _section_and_rest(key)
    if len(rest) == 2 and section == "link" and rest[0] in LINK_TABLES:
        return next((param for param in LINK_TABLES[rest[0]].params if param.key == rest[1]), None)
    return _declared(section, rest[0]) if len(rest) == 1 else None


def is_key(key: str) -> bool:
    """True if scenarios allow this key; names of nodes, links and flows are not checked."""
    section, rest = _section_and_rest(key)
    # A whole part, such as "links.wifi", is not a key. Deeper keys, such as options of algorithms, are left to the
    # scenario reader.
    if not rest:
        return False
    return _declared(section, rest[0]) is not None or (section == "link" and rest[0] in LINK_TABLES)


def _section_and_rest(key: str) -> tuple[str, list[str]]:
    """Section kind that declares a key, and the remaining path within that section."""
    path = [str(step) for step in split_key(key)]
    kind = SECTION_KINDS.get(path[0]) if path else None
    rest = path if kind is None else path[1:] if kind == "transport" else path[2:]
    return kind or "scenario", rest[1:] if kind == "link" and rest[:1] == ["reverse"] else rest


def _declared(section: str, key: str) -> Param | None:
    params = SCRIPT_TABLE if section == "script" else SECTIONS[section]
    return next((param for param in params if param.key == key), None)


def subflow_count(doc: ScenarioDoc, flow: str) -> int | None:
    """Number of paths of a flow; None if the flow is missing or the scenario has problems."""
    scenario = doc.scenario
    found = None if scenario is None else scenario.flows.get(flow)
    return None if found is None else len(found.paths)


def differences(first: ScenarioDoc, second: ScenarioDoc) -> list[str]:
    """The dotted keys in which two scenarios differ; name, seed, notes and positions on the canvas do not count."""
    before, after = _leaves(first.data), _leaves(second.data)
    keys = [key for key in {**before, **after} if _counts(key)]
    return [key for key in keys if not _same(value_of_leaf(first, key, before), value_of_leaf(second, key, after))]


def setting_of(doc: ScenarioDoc) -> tuple[tuple[str, str], ...]:
    """All values of a scenario that `differences` compares, as pairs of a key and a text; equal for equal networks."""
    leaves = _leaves(doc.data)
    return tuple(sorted((key, repr(value_of_leaf(doc, key, leaves))) for key in leaves if _counts(key)))


def value_of_leaf(doc: ScenarioDoc, key: str, leaves: Mapping[str, Any]) -> object:
    """Value to compare at a key: the SI value, so that "1s" equals "1000ms", or the text if it has no SI value."""
    value = value_of(doc, key)
    return repr(leaves.get(key)) if isinstance(value, Missing) else value


def _same(first: object, second: object) -> bool:
    if isinstance(first, float) and isinstance(second, float):
        return math.isclose(first, second, rel_tol=1e-12)
    return first == second


def _counts(key: str) -> bool:
    path = split_key(key)
    return path[0] not in _BESIDES and not (path[0] == "nodes" and path[-1] == "at")


def _leaves(data: Mapping[str, Any], above: str = "") -> dict[str, Any]:
    return dict(_each_leaf(data, above))


def _each_leaf(data: Mapping[str, Any], above: str) -> Iterator[tuple[str, Any]]:
    for name, value in data.items():
        key = f"{above}.{name}" if above else str(name)
        if isinstance(value, dict):
            short = _SHORT.get(str(name))
            if short is not None and short in value:
                # Give the long and the short form of the same value the same key.
                yield key, value[short]
                yield from _each_leaf({k: v for k, v in value.items() if k != short}, key)
            else:
                yield from _each_leaf(value, key)
        elif isinstance(value, list) and value and all(isinstance(item, dict) for item in value):
            for index, item in enumerate(value):
                yield from _each_leaf(item, f"{key}.{index}")
        else:
            yield key, value


def _default(doc: ScenarioDoc, path: tuple[str | int, ...], param: Param | None) -> float | bool | str | Missing:
    key = ".".join(map(str, path))
    nothing = Missing(f"the scenario has no value at {key}")
    if len(path) > 2 and doc.value(".".join(map(str, path[:2]))) is None and path[0] in SECTION_KINDS:
        return Missing(f"the scenario has no {SECTION_KINDS[str(path[0])]} {path[1]}")
    if len(path) == 4 and path[0] == "links" and path[2] == "reverse":
        return value_of(doc, f"links.{path[1]}.{path[3]}")
    if param is None:
        return nothing
    if param.key == "controller":
        kind = doc.value(f"flows.{path[1]}.kind")
        return DEFAULT_CONTROLLERS.get(str(kind), "") or nothing
    profile: Profile = "textbook" if doc.value("profile") == "textbook" else "linux"
    value = _transport_default(doc, param, profile) if path[0] == "transport" else param.default_in(profile)
    return nothing if value is None else _plain(value, nothing)


def _transport_default(doc: ScenarioDoc, param: Param, profile: Profile) -> object:
    """Default of a transport option under a profile, given the other transport options of the scenario."""
    written = doc.data.get("transport")
    values = {key: value_of(doc, f"transport.{key}") for key in written} if isinstance(written, dict) else {}
    given = {key: value for key, value in values.items() if not isinstance(value, Missing)}
    return effective_transport(profile, given)[param.key]


def _typed(raw: str, param: Param | None) -> float | bool | str | Missing:
    if param is not None:
        try:
            return _plain(param.read(raw), Missing("no single value"))
        except ParamError:
            return raw
    parts = split_quantity(raw)
    if parts is None:
        return raw
    number, unit = parts
    worth = next((units[unit] for units in UNITS.values() if unit and unit in units), None)
    return raw if worth is None else float(number * worth)


def _plain(value: object, otherwise: Missing) -> float | bool | str | Missing:
    if isinstance(value, QueueSpec):
        limit = value.limit_bytes if value.limit_pkts is None else value.limit_pkts
        return math.inf if limit is None else float(limit)
    if isinstance(value, bool | str):
        return value
    return float(value) if isinstance(value, int | float) else otherwise
