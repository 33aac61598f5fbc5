"""The instructions of a compiled script by name, for machines other than the core's."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache

from subflow_sim import _core
from subflow_sim.errors import ParamError
from subflow_sim.script.compiler import Script
from subflow_sim.script.vocabulary import HOOKS, Hook

_OF_ARGUMENTS = {"ReadReal": "REAL", "ReadTime": "TIME", "ReadFlag": "FLAG", "ReadField": "COMPUTED"}
_OF_SIBLINGS = {"ItemReal": "REAL", "ItemTime": "TIME", "ItemFlag": "FLAG"}


@dataclass(frozen=True, slots=True)
class Instruction:
    """An instruction of the virtual machine (`sim/core/script/program.h`).

    Attributes:
        hook: the function that contains it.
        operation: name of the operation; reading operations are "Field" (of an argument) and "Item" (of a subflow).
        to: cell of the result.
        a: first cell, or loop of a subflow.
        b: second cell.
        value: its number: target of a jump, cell of a filter, or stored number.
        line: line of the script, from 1.
        field: for "Field" and "Item": object and name of the field, for example ("ack", "rtt"); otherwise empty texts.
    """

    hook: Hook
    operation: str
    to: int
    a: int
    b: int
    value: int
    line: int
    field: tuple[str, str] = ("", "")


def instructions(script: Script) -> Iterator[Instruction]:
    """All instructions in order; those of a function are contiguous."""
    begins = {first: hook for hook, first in zip(HOOKS, script.program.entry, strict=True) if first >= 0}
    hook = HOOKS[0]
    for at, (operation, to, a, b, value, line) in enumerate(script.program.code):
        hook = begins.get(at, hook)
        if operation in _OF_ARGUMENTS:
            thing = hook.parameters[1 + a][1]
            field = thing, _field_names()[thing, _OF_ARGUMENTS[operation], value]
            yield Instruction(hook, "Field", to, a, b, value, line, field)
        elif operation in _OF_SIBLINGS:
            field = "sibling", _field_names()["sibling", _OF_SIBLINGS[operation], value]
            yield Instruction(hook, "Item", to, a, b, value, line, field)
        else:
            yield Instruction(hook, operation, to, a, b, value, line)


def first_instructions(script: Script) -> dict[str, int]:
    """Index of the first instruction of each function that the script defines."""
    return {hook.name: first for hook, first in zip(HOOKS, script.program.entry, strict=True) if first >= 0}


def initial_frame(script: Script, options: Mapping[str, float | bool]) -> list[float]:
    """Initial values of the cells with these options; the others have their defaults.

    Raises:
        ParamError: if the script lacks an option.
    """
    try:
        return _core.script_frame(script.program, [(key, float(value)) for key, value in options.items()])
    except _core.CoreScenarioError as error:
        raise ParamError(str(error), ", ".join(each.key for each in script.algorithm.options)) from error


@cache
def _field_names() -> dict[tuple[str, str, int], str]:
    """Names of fields by object, kind and place."""
    return {(each.object, each.kind.name, each.place): each.name for each in _core.script_fields()}
