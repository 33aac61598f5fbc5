"""What of a scenario a sweep can vary: every value of the file, and every key that it could have."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

from subflow_app.features.editor.core.form import label_of, part_names
from subflow_app.features.editor.core.form_text import shown_unit, text_of
from subflow_app.features.editor.core.scenario_doc import ScenarioDoc
from subflow_app.features.sweeps.core.axes import WHOLE_UNITS
from subflow_app.vocabulary.language import tr
from subflow_sim.link_params import LINK_TABLES
from subflow_sim.params import SECTIONS, Dimension, Param
from subflow_sim.units import split_quantity

# What is not a number of a network: names, drawings and what ties parts together. Seeds are asked for by themselves.
_LEFT_OUT = {
    "scenario": ("format", "name", "seed"),
    "link": ("ends",),
    "flow": ("kind", "from", "to", "paths"),
    "event": ("link", "flow"),
}
_DIMENSIONS_LEFT_OUT = (Dimension.TEXT, Dimension.POINT, Dimension.NAME, Dimension.PATHS)
# Of a short form, the key below which its options stand.
_NAMED = {"controller": "name", "scheduler": "name", "queue": "limit"}


@dataclass(frozen=True, slots=True)
class SweepParameter:
    """A key that can be varied.

    Attributes:
        key: dotted.
        part: whose it is: "" of the scenario, else ``links.wifi``.
        label: what forms call it, in the language of the window.
        present: what the file says, or in brackets what applies while it says nothing.
        allowed: what it can be, in English as the simulator says it.
        help: what it is, likewise.
        unit: that a bare number has which is typed for it; empty where it stays bare.
        examples: some values it could have, as one would type them.
    """

    key: str
    part: str
    label: str
    present: str
    allowed: str
    help: str
    unit: str = ""
    examples: tuple[str, ...] = ()

    def matches(self, words: str) -> bool:
        """Whether all these words are found in its key, its name or its value."""
        text = f"{self.key} {self.label} {self.present}".lower()
        return all(word in text for word in words.lower().split())


def sweep_parameters(doc: ScenarioDoc) -> list[SweepParameter]:
    """All of them: scenario, links, flows, events, transport; each with the keys of its kind and more that it has."""
    found = list(_of_part(doc, "scenario", ""))
    for section, kind in (("links", "link"), ("flows", "flow"), ("events", "event")):
        for name in part_names(doc, section):
            found += _of_part(doc, kind, f"{section}.{name}")
    return [*found, *_of_part(doc, "transport", "transport")]


def _of_part(doc: ScenarioDoc, kind: str, part: str) -> Iterator[SweepParameter]:
    table = doc.value(part) if part else doc.data
    given: Mapping[str, Any] = table if isinstance(table, dict) else {}
    flow_kind = text_of(given.get("kind")) or "mptcp" if kind == "flow" else ""
    known = set()
    for param in SECTIONS[kind]:
        known.add(param.key)
        if param.key in _LEFT_OUT.get(kind, ()) or param.dimension in _DIMENSIONS_LEFT_OUT:
            continue
        if flow_kind and param.applies_to and flow_kind not in param.applies_to:
            continue
        # An event without a value has none to vary.
        if kind == "event" and param.key not in given:
            continue
        yield _of_key(doc, part, param)
        below = given.get(param.key)
        if isinstance(below, dict):
            yield from _leaves(doc, part, f"{part}.{param.key}" if part else param.key, below, _NAMED.get(param.key))
    for key, declared in LINK_TABLES.items() if kind == "link" else ():
        known.add(key)
        yield from _of_table(doc, part, key, declared.params)
    for key, value in given.items():
        # Keys that are not parameters of their own, such as the other direction of a link.
        if key not in known and isinstance(value, dict) and part and kind != "transport":
            yield from _leaves(doc, part, f"{part}.{key}", value, None)


def _of_table(doc: ScenarioDoc, part: str, key: str, params: Sequence[Param]) -> Iterator[SweepParameter]:
    """The keys of a table of a link; of one that the link has not yet, the key that makes it one."""
    is_there = doc.value(f"{part}.{key}") is not None
    needed = [param for param in params if param.required]
    for param in params if is_there else needed if len(needed) == 1 else ():
        if param.dimension not in _DIMENSIONS_LEFT_OUT:
            yield replace(_of_key(doc, f"{part}.{key}", param), part=part)


def _of_key(doc: ScenarioDoc, part: str, param: Param) -> SweepParameter:
    key = f"{part}.{param.key}" if part else param.key
    value = doc.value(key)
    named = _NAMED.get(param.key)
    if isinstance(value, dict) and named is not None:
        # The table as a whole is replaced by what is swept; its present name says which one it is.
        value = value.get(named, value)
    present = applies = text_of(value)
    if not present:
        default = param.default_in(text_of(doc.value("profile")) or "linux")
        applies = "" if default is None else param.format(default)
        present = tr("{value} (default)", value=applies) if applies else "–"
    unit = shown_unit(param, applies)
    examples = _examples(applies, unit, param)
    return SweepParameter(key, part, tr(label_of(param.key)), present, param.allowed_text(), param.help, unit, examples)


def _examples(present: str, unit: str, param: Param) -> tuple[str, ...]:
    """Three values about the present one, or what can be chosen."""
    if param.choices:
        return param.choices[:3]
    if param.dimension is Dimension.FLAG:
        return ("true", "false")
    split = split_quantity(present)
    values = [Decimal(1), Decimal(2), Decimal(5)]
    if split is not None and split[0] > 0:
        values = [split[0] / 2, split[0], split[0] * 2]
    if unit in WHOLE_UNITS or param.dimension is Dimension.COUNT:
        values = [Decimal(max(1, round(value))) for value in values]
    if param.dimension in (Dimension.COUNT, Dimension.NUMBER) and param.maximum is not None:
        values = [value for value in values if value <= param.maximum]
    return tuple(f"{value.normalize():f}{unit}" for value in dict.fromkeys(values))


def _leaves(
    doc: ScenarioDoc, part: str, key: str, table: Mapping[str, Any], left_out: str | None
) -> Iterator[SweepParameter]:
    for name, value in table.items():
        if name == left_out:
            continue
        if isinstance(value, dict):
            yield from _leaves(doc, part, f"{key}.{name}", value, None)
        elif not isinstance(value, list):
            text = text_of(value)
            split = split_quantity(text)
            yield SweepParameter(f"{key}.{name}", part, tr(label_of(name)), text, "", "", split[1] if split else "")
