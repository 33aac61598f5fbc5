"""JSON Schema of scenario files, for editors that complete and check TOML, generated from the declarations of the keys.

Every file that the reader accepts matches the schema. The reverse is not true, because the reader also checks
combinations of values. `python -m subflow_sim.schema` prints it.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from subflow_sim.link_params import (
    DELAY_TRACE_TABLE,
    DIRECTION,
    DROP_PATTERN,
    LINK_TABLES,
    LOSS_TABLE,
    LOSS_TRACE_TABLE,
    MOST_DROPS,
    TRACE_TABLE,
)
from subflow_sim.parameter import (
    COPY_SUFFIX_PATTERN,
    MAX_NAME_LENGTH,
    MAX_PATH_LENGTH,
    NAME_PATTERN,
    UNLIMITED,
    Param,
)
from subflow_sim.params import (
    ARRIVALS_TABLE,
    MAX_PATHS,
    SCRIPT_SECTIONS,
    SCRIPT_TABLE,
    SECTIONS,
    Algorithm,
    params_by_key,
)
from subflow_sim.queue_params import QUEUE_TABLE
from subflow_sim.scenario_model import QueueSpec
from subflow_sim.training_params import (
    DRAWS_HELP,
    RANGES,
    TRAINING,
    TRAINING_EVENT,
    TRAINING_EVENTS_HELP,
    TRAINING_HELP,
)
from subflow_sim.units import UNITS, Dimension

if TYPE_CHECKING:
    from subflow_sim.params import AlgorithmCatalog

Schema: TypeAlias = dict[str, Any]

_NUMBER = r"\+?[0-9](_?[0-9])*(\.[0-9]+)?([eE][+-]?[0-9]+)?"
_NAME: Schema = {"type": "string", "pattern": f"^{NAME_PATTERN}$", "maxLength": MAX_NAME_LENGTH}


def scenario_schema(algorithms: AlgorithmCatalog | None = None) -> Schema:
    """The schema of a scenario file as JSON values.

    Args:
        algorithms: available controllers and schedulers; None: the algorithms of the compiled core.

    Source: JSON Schema draft 2020-12.
    """
    if algorithms is None:
        from subflow_sim.catalog import catalog

        algorithms = catalog()
    transport: Schema = {"$ref": "#/$defs/transport"}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Subflow scenario",
        "description": "A network, the flows over it and what changes while they run. Quantities are text with a unit "
        '("8Mbit/s", "50ms", "67pkt", "8MB", "2%") or plain numbers in bit/s, s, packets, bytes and as ratio.',
        **_object(
            SECTIONS["scenario"],
            also={
                "transport": {"description": "Transport options that differ from the profile.", **transport},
                "nodes": _named("node", "Hosts and routers by name."),
                "links": _named("link", "Links between them by name."),
                "flows": _named("flow", "Senders and receivers, by name."),
                "events": {
                    "description": "Changes during the run.",
                    "type": "array",
                    "items": {"$ref": "#/$defs/event"},
                },
                **{
                    section: _named("script", f"{kind.capitalize()}s that the scenario brings, by name.", least=0)
                    for kind, section in SCRIPT_SECTIONS.items()
                },
                "notes": {
                    "description": "Notes on the drawing; a run takes no notice of them.",
                    "type": "array",
                    "items": {"$ref": "#/$defs/note"},
                },
                "training": {"description": TRAINING_HELP, "$ref": "#/$defs/training"},
            },
            also_required=("nodes", "links", "flows"),
        ),
        "allOf": [_without_scripts(kind, section) for kind, section in SCRIPT_SECTIONS.items()],
        "$defs": {
            "transport": _object(SECTIONS["transport"]),
            "node": _object(SECTIONS["node"]),
            "link": _link(),
            "flow": _flow(algorithms),
            "event": _event(),
            "note": _object(SECTIONS["note"]),
            "training": _training(),
            "draw": _draw(),
            "queue": _queue(),
            "queue_limit": _queue_limit(),
            "loss_model": _object(LOSS_TABLE),
            "steps": _steps(),
            "trace": _file(TRACE_TABLE),
            "delay_trace": _file(DELAY_TRACE_TABLE),
            "loss_trace": _file(LOSS_TRACE_TABLE),
            **{key: {"description": table.help, **_object(table.params)} for key, table in LINK_TABLES.items()},
            "script": _file(SCRIPT_TABLE),
            "controller": _script_choice("controller", algorithms.controllers),
            "scheduler": _script_choice("scheduler", algorithms.schedulers),
            "built_in_controller": _algorithm_choice(algorithms.controllers),
            "built_in_scheduler": _algorithm_choice(algorithms.schedulers),
        },
    }


def schema_text() -> str:
    """The content of `assets/scenario.schema.json`."""
    return json.dumps(scenario_schema(), indent=2, ensure_ascii=False) + "\n"


def _object(
    params: Sequence[Param], *, also: Mapping[str, Schema] | None = None, also_required: Sequence[str] = ()
) -> Schema:
    """Schema of a table with these keys and no others."""
    # keys that only some kinds of a table require appear in the conditions of these kinds
    required = [param.key for param in params if param.required and not param.applies_to]
    properties = {param.key: _value(param) for param in params} | dict(also or {})
    schema: Schema = {"type": "object", "properties": properties, "additionalProperties": False}
    return schema | ({"required": [*required, *also_required]} if required or also_required else {})


def _named(definition: str, description: str, *, least: int = 1) -> Schema:
    return {
        "description": description,
        "type": "object",
        **({"minProperties": least} if least else {}),
        "propertyNames": _NAME,
        "additionalProperties": {"$ref": f"#/$defs/{definition}"},
    }


def _link() -> Schema:
    params = SECTIONS["link"]
    schema = _object(params)
    reverse = _object(DIRECTION)
    del reverse["required"]  # omitted keys take the value of the forward direction
    for properties in (schema["properties"], reverse["properties"]):
        properties["rate"]["anyOf"] += [{"$ref": "#/$defs/steps"}, {"$ref": "#/$defs/trace"}]
        properties["loss"]["anyOf"] += [{"$ref": "#/$defs/loss_model"}, {"$ref": "#/$defs/loss_trace"}]
        properties["queue"]["anyOf"].append({"$ref": "#/$defs/queue"})
        properties["delay"]["anyOf"].append({"$ref": "#/$defs/delay_trace"})
        properties |= {key: {"$ref": f"#/$defs/{key}"} for key in LINK_TABLES}
    schema["properties"]["ends"] |= {"minItems": 2, "maxItems": 2, "uniqueItems": True}
    drop = {"type": "string", "pattern": f"^{DROP_PATTERN}$"}
    schema["properties"]["drops"] |= {"items": drop, "maxItems": MOST_DROPS}
    schema["properties"]["reverse"] = {
        "description": "Values that differ in the direction from the second end to the first.",
        **reverse,
    }
    return schema


def _flow(algorithms: AlgorithmCatalog) -> Schema:
    params = SECTIONS["flow"]
    schema = _object(params)
    properties = schema["properties"]
    properties["arrivals"] = {
        "description": "Makes many flows of this one, which arrive one by one and are named with .1, .2 and so on.",
        **_object(ARRIVALS_TABLE),
    }
    for key in ("controller", "scheduler"):
        properties[key] = {"description": properties[key]["description"], "$ref": f"#/$defs/{key}"}
    kinds = []
    for kind in params_by_key("flow")["kind"].choices:
        only = _conditions(params, kind)
        if kind != "mptcp":
            only["properties"]["paths"] = {"maxItems": 1}
        kinds.append({"if": {"properties": {"kind": {"const": kind}}, "required": ["kind"]}, "then": only})
    return schema | {"allOf": kinds}


def _event() -> Schema:
    params = SECTIONS["event"]
    schema = _object(params)
    properties = schema["properties"]
    properties["controller"] = {"description": properties["controller"]["description"], "$ref": "#/$defs/controller"}
    properties["queue"]["anyOf"].append({"$ref": "#/$defs/queue_limit"})
    properties["loss"]["anyOf"].append({"$ref": "#/$defs/loss_model"})
    targets = []
    for target, other in (("link", "flow"), ("flow", "link")):
        only = _conditions(params, target)
        only["required"] = [target, *only.get("required", ())]
        only["properties"][other] = False
        targets.append(only)
    return schema | {"oneOf": targets}


def _training() -> Schema:
    """The `[training]` block.

    The reader alone checks draws and changed values, because their types depend on the keys that they replace.
    """
    changes = {param.key: {"description": param.help} for param in SECTIONS["event"] if param.key != "at"}
    rows = _object(TRAINING_EVENT, also=changes)
    schema = _object(
        TRAINING,
        also={
            "draws": {"description": DRAWS_HELP, "type": "object"},
            "events": {"description": TRAINING_EVENTS_HELP, "type": "array", "items": rows},
        },
    )
    for properties, keys in ((schema["properties"], ("episode",)), (rows["properties"], ("at", "every", "lasts"))):
        for key in keys:
            properties[key]["anyOf"].append({"$ref": "#/$defs/draw"})
    rows["oneOf"] = [{"required": ["at"]}, {"required": ["every"]}]
    return schema


def _draw() -> Schema:
    ends: Schema = {"type": "array", "minItems": 2, "maxItems": 2}
    return {
        "type": "object",
        "properties": {
            **dict.fromkeys(RANGES, ends),
            "choice": {"type": "array", "minItems": 1},
            "weights": {"type": "array", "items": {"type": "number", "minimum": 0}},
        },
        "additionalProperties": False,
        "minProperties": 1,
    }


def _conditions(params: Sequence[Param], kind: str) -> Schema:
    """Conditions for one kind of table: its required and forbidden keys."""
    required = [param.key for param in params if param.required and kind in param.applies_to]
    forbidden = [param.key for param in params if param.applies_to and kind not in param.applies_to]
    conditions: Schema = {"properties": dict.fromkeys(forbidden, False)}
    return conditions | ({"required": required} if required else {})


def _queue() -> Schema:
    """A queue as a table: each discipline has its own options."""
    kinds = []
    for kind in next(param.choices for param in QUEUE_TABLE if param.key == "discipline"):
        # an omitted discipline means the first discipline
        chosen: Schema = {"properties": {"discipline": {"const": kind}}}
        required = {} if kind == "droptail" else {"required": ["discipline"]}
        kinds.append({"if": chosen | required, "then": _conditions(QUEUE_TABLE, kind)})
    return _object(QUEUE_TABLE) | {"allOf": kinds}


def _queue_limit() -> Schema:
    """A queue table in an event: the new limit, and optionally the discipline, which must stay the same."""
    schema = _object([param for param in QUEUE_TABLE if param.key in ("discipline", "limit")])
    return schema | {"required": ["limit"]}


def _file(params: Sequence[Param]) -> Schema:
    """A table that names a file, or embeds its content in a stored run."""
    schema = _object(params)
    schema["properties"]["content"] = {"description": params[-1].help, "type": "string", "minLength": 1}
    return schema


def _steps() -> Schema:
    time, rate = _plain(params_by_key("event")["at"]), _plain(params_by_key("link")["rate"])
    return {
        "type": "object",
        "properties": {
            "steps": {
                "description": 'Pairs of time and rate, the first at "0s".',
                "type": "array",
                "minItems": 1,
                "items": {"type": "array", "prefixItems": [time, rate], "items": False, "minItems": 2},
            }
        },
        "required": ["steps"],
        "additionalProperties": False,
    }


def _algorithm_choice(algorithms: Sequence[Algorithm]) -> Schema:
    """A name, or a table with a name and options."""
    names: list[Schema] = [
        {"const": algorithm.name, "description": f"{algorithm.summary} ({algorithm.source})"}
        for algorithm in algorithms
    ]
    tables = [
        _object(algorithm.options, also={"name": name}, also_required=("name",)) | _bases(algorithm)
        for algorithm, name in zip(algorithms, names, strict=True)
    ]
    return {"oneOf": [*names, *tables]}


def _script_choice(kind: str, algorithms: Sequence[Algorithm]) -> Schema:
    """A built-in algorithm, or the name of a script of the scenario."""
    name = _NAME | {"not": {"enum": [algorithm.name for algorithm in algorithms]}, "description": "A script's name."}
    option: Schema = {"type": ["number", "boolean", "string"]}
    table = {"type": "object", "properties": {"name": name}, "required": ["name"], "additionalProperties": option}
    return {"oneOf": [{"$ref": f"#/$defs/built_in_{kind}"}, name, table]}


def _without_scripts(kind: str, section: str) -> Schema:
    """Allows only built-in names in a scenario without scripts of this kind."""
    built_in = {"properties": {kind: {"$ref": f"#/$defs/built_in_{kind}"}}}
    places: Schema = {"flows": {"additionalProperties": built_in}}
    if kind == "controller":
        places["events"] = {"items": built_in}
    return {"if": {"not": {"required": [section]}}, "then": {"properties": places}}


def _bases(algorithm: Algorithm) -> Schema:
    """The options allowed for each value of the option `base`."""
    bases = next((option for option in algorithm.options if option.key == "base"), None)
    if bases is None:
        return {}
    conditions: list[Schema] = []
    for base in bases.choices:
        chosen: Schema = {"properties": {"base": {"const": base}}}
        if base != bases.default:
            chosen["required"] = ["base"]
        conditions.append({"if": chosen, "then": _conditions(algorithm.options, base)})
    return {"allOf": conditions}


def _value(param: Param) -> Schema:
    """A key with its description and default."""
    schema: Schema = {"description": param.help, **_plain(param)}
    if param.default is not None:
        schema["default"] = _default(param)
    return schema


def _default(param: Param) -> object:
    if isinstance(param.default, QueueSpec) or param.default == math.inf:
        return param.format(param.default)
    if param.dimension in (Dimension.COUNT, Dimension.NUMBER, Dimension.FLAG):
        return param.default
    return param.format(param.default)


def _plain(param: Param) -> Schema:
    """Allowed values of the parameter."""
    match param.dimension:
        case Dimension.TEXT:
            return {"type": "string", "minLength": 1, "maxLength": param.longest_text}
        case Dimension.POLICY:
            return {"type": "string", "minLength": 1, "maxLength": MAX_PATH_LENGTH}
        case Dimension.NAME if param.allows_copy:
            return {"type": "string", "pattern": f"^{NAME_PATTERN}({COPY_SUFFIX_PATTERN})?$"}
        case Dimension.NAME:
            return dict(_NAME)
        case Dimension.CHOICE:
            return {"enum": list(param.choices)} if param.choices else {"type": "string"}
        case Dimension.FLAG:
            return {"type": "boolean"}
        case Dimension.POINT:
            return {"type": "array", "items": _bounds(param, "number"), "minItems": 2, "maxItems": 2}
        case Dimension.LIST:
            return {"type": "array", "items": _NAME}
        case Dimension.COUNTS:
            return {"type": "array", "items": _bounds(param, "integer"), "maxItems": MAX_PATHS}
        case Dimension.PATHS:
            path = {"type": "array", "items": _NAME, "minItems": 1}
            return {"type": "array", "items": path, "minItems": 1, "maxItems": MAX_PATHS}
        case Dimension.COUNT | Dimension.NUMBER:
            return _bounds(param, "integer" if param.dimension is Dimension.COUNT else "number")
    return _quantity(param)


def _quantity(param: Param) -> Schema:
    units = [*UNITS[param.dimension], *(UNITS[Dimension.SIZE] if param.dimension is Dimension.QUEUE else ())]
    pattern = rf"^\s*{_NUMBER}\s*({'|'.join(units)})\s*$"
    is_whole = param.dimension in (Dimension.SIZE, Dimension.QUEUE)
    forms: list[Schema] = [{"type": "string", "pattern": pattern}, _bounds(param, "integer" if is_whole else "number")]
    if param.allows_unlimited:
        forms.append({"const": UNLIMITED})
    return {"anyOf": forms}


def _bounds(param: Param, kind: str) -> Schema:
    schema: Schema = {"type": kind}
    if param.minimum is not None:
        schema["exclusiveMinimum" if param.exclusive_minimum else "minimum"] = param.minimum
    if param.maximum is not None:
        schema["maximum"] = param.maximum
    return schema


if __name__ == "__main__":
    sys.stdout.write(schema_text())
