"""The numbers that went into a decision, as a table."""

from __future__ import annotations

import math

from subflow_app.core.language import tr, translatable
from subflow_app.core.tables import Column, NumberColumn
from subflow_sim.decisions import Number, meanings

_CLAIM = "is_"


def meaning_of(number: Number) -> str:
    """Empty: an older version's number, whose name has to do."""
    return tr(meanings().get(number.name, ""))


def value_text(number: Number) -> str:
    """The value of a number without its name and unit."""
    if number.subflows is not None:
        return "{" + ", ".join(map(str, number.subflows)) + "}"
    if number.name.startswith(_CLAIM):
        return tr("yes") if number.value else tr("no")
    if math.isnan(number.value):
        return "–"
    return f"{number.value:.6g}".replace("inf", "∞")


COLUMNS: tuple[Column[Number], ...] = (
    Column(translatable("Number"), lambda number: number.name.removeprefix(_CLAIM)),
    NumberColumn(translatable("Value"), value_text),
    Column(translatable("Unit"), lambda number: number.unit),
    Column(translatable("Meaning"), meaning_of),
)
