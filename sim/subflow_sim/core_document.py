"""The document that passes a scenario to the core: values by the names of the fields in `sim/core/scenario.h`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

from subflow_sim import _core
from subflow_sim.core_time import nanos
from subflow_sim.errors import SimulationError
from subflow_sim.parameter import Param
from subflow_sim.policy import Policy
from subflow_sim.policy_library import RANDOM
from subflow_sim.scenario_model import Choice, OptionValue
from subflow_sim.script_reader import compiled
from subflow_sim.units import Dimension

Fields: TypeAlias = dict[str, Any]
"""Fields of a structure of the core by name. The core uses its default for a field that is None or absent."""


def maybe_nanos(seconds: float | None) -> int | None:
    """A time in nanoseconds; None for None.

    Raises:
        SimulationError: if the time does not fit in 64 bits.
    """
    return None if seconds is None else nanos(seconds)


def core_fields(params: Iterable[Param], part: object) -> Fields:
    """Values of these parameters in a part of a scenario, for example a link, by their field names in the core."""
    return {param.core_field: _core_value(param, getattr(part, param.attribute)) for param in params}


def option_fields(params: Iterable[Param], options: Mapping[str, OptionValue]) -> Fields:
    """Values of options, converted from their keys to the field names of the core.

    Undeclared options keep their key, so that the core refuses them.
    """
    declared = {param.key: param for param in params}
    known = {declared[key].core_field: _core_value(declared[key], options[key]) for key in options if key in declared}
    return known | {key: value for key, value in options.items() if key not in declared}


def _core_value(param: Param, value: Any) -> Any:
    return maybe_nanos(value) if param.dimension is Dimension.TIME else value


def core_options(options: Mapping[str, Any]) -> dict[str, bool | float | str]:
    """Options of a controller or scheduler by key, sorted, without the agent's policy, which is a separate field."""
    return {
        key: value if isinstance(value, bool | str) else float(value)
        for key, value in sorted(options.items())
        if key != "policy"
    }


def choice_fields(choice: Choice) -> Fields:
    """Fields of a controller or scheduler, with its compiled program if it is a script.

    Raises:
        ScriptError: if its script does not compile.
    """
    options = [{"key": key, "value": value} for key, value in core_options(choice.options).items()]
    program = {} if choice.script is None else {"program": compiled(choice.script).program}
    return {"name": choice.name, "options": options, **program}


def decider_fields(choice: Choice) -> Fields | None:
    """Fields of the source of decisions, trained or random, for a controller's agent; None: the core's default.

    Raises:
        PolicyError: if its policy is not usable.
    """
    if choice.policy is not None:
        return {"kind": "trained", "policy": Policy.from_bytes(choice.policy.content).core}
    return {"kind": "random"} if choice.options.get("policy") == RANDOM else None


def core_scenario(fields: Fields) -> _core.Scenario:
    """The scenario with these fields.

    Raises:
        SimulationError: if a field is unknown or out of the range of its type.
    """
    try:
        return _core.read_scenario({"scenario": fields})
    except _core.CoreScenarioJsonError as error:
        raise SimulationError(str(error)) from error
