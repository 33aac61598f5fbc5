"""The numbers that went into a decision, as a table; of a script those that its names stand for."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import cache

from subflow_app.vocabulary.language import tr, translatable
from subflow_app.vocabulary.tables import Column, NumberColumn
from subflow_sim.decisions import Number, meanings
from subflow_sim.script.vocabulary import OBJECTS
from subflow_sim.script_steps import Step, last_values

_CLAIM = "is_"


def meaning_of(number: Number) -> str:
    """Empty: an older version's number, whose name has to do."""
    return tr(meanings().get(number.name, ""))


def value_text(number: Number) -> str:
    """The value of a number without its name and unit."""
    if number.subflows is not None:
        return "{" + ", ".join(map(str, number.subflows)) + "}"
    if number.name.rpartition(".")[2].startswith(_CLAIM):
        return tr("yes") if number.value else tr("no")
    if math.isnan(number.value):
        return "–"
    return f"{number.value:.6g}".replace("inf", "∞")


@cache
def _fields() -> Mapping[str, tuple[str, str]]:
    """Unit and help by what scripts read: "w.cwnd"."""
    return {f"{kind}.{field.name}": (field.symbol, field.help) for kind, own in OBJECTS.items() for field in own}


def script_numbers(steps: Sequence[Step]) -> list[Number]:
    """What the names of a script stand for after these steps, in the order in which they came."""
    return [Number(name, _fields().get(name, ("", ""))[0], value) for name, value in last_values(steps).items()]


COLUMNS: tuple[Column[Number], ...] = (
    Column(translatable("Number"), lambda number: number.name.removeprefix(_CLAIM)),
    NumberColumn(translatable("Value"), value_text),
    Column(translatable("Unit"), lambda number: number.unit),
    Column(translatable("Meaning"), meaning_of),
)

SCRIPT_COLUMNS: tuple[Column[Number], ...] = (
    Column(translatable("Name"), lambda number: number.name),
    *COLUMNS[1:3],
    Column(translatable("Meaning"), lambda number: _fields().get(number.name, ("", ""))[1]),
)
