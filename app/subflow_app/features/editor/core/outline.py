"""The list of a scenario's parts, as the inspector shows it above its forms."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from subflow_app.features.editor.core.event_words import change_words
from subflow_app.features.editor.core.form_text import text_of
from subflow_app.features.editor.core.scenario_doc import ScenarioDoc
from subflow_app.vocabulary.language import tr, translatable
from subflow_sim.params import SECTIONS

LISTS: Mapping[str, str] = {
    "nodes": translatable("Nodes"),
    "links": translatable("Links"),
    "flows": translatable("Flows"),
    "events": translatable("Events"),
}
"""The sections that hold many parts of a kind, with their titles."""


@dataclass(frozen=True, slots=True)
class OutlineEntry:
    """A line of the list of parts: its key, its name, a few words, and how many problems it has."""

    key: str
    title: str
    detail: str
    problem_count: int
    children: tuple[OutlineEntry, ...] = ()


def outline(doc: ScenarioDoc) -> tuple[OutlineEntry, ...]:
    """List all parts of a scenario as a tree of two levels."""
    top_keys = {param.key for param in SECTIONS["scenario"]} | {"transport", "training", "notes"}
    own = sum(1 for p in doc.problems if p.key.split(".")[0].split("[")[0] in top_keys or not p.key)
    entries = [OutlineEntry("", tr("Scenario"), text_of(doc.value("name")), own)]
    for section, title in LISTS.items():
        children = tuple(
            OutlineEntry(
                f"{section}.{name}", *_outline_texts(doc, section, name), len(doc.problems_at(f"{section}.{name}"))
            )
            for name in part_names(doc, section)
        )
        # Where a drawing is only begun, nothing is wrong with what it does not have yet.
        count = 0 if doc.missing_part else len(doc.problems_at(section))
        entries.append(OutlineEntry(section, tr(title), "", count, children))
    return tuple(entries)


def tables(doc: ScenarioDoc, section: str) -> dict[str, dict[str, Any]]:
    """Return the parts of a section by name, as the file has them."""
    found = doc.data.get(section)
    return {name: table for name, table in found.items() if isinstance(table, dict)} if isinstance(found, dict) else {}


def part_names(doc: ScenarioDoc, section: str) -> list[str]:
    """Return the names of the parts of a section; those of events are their numbers from 0."""
    if section == "events":
        events = doc.data.get("events")
        return [str(index) for index in range(len(events))] if isinstance(events, list) else []
    return list(tables(doc, section))


def names_in(value: Any) -> list[str]:
    """Return the texts in a list of the file; none if it is not a list."""
    return [each for each in value if isinstance(each, str)] if isinstance(value, list) else []


def _outline_texts(doc: ScenarioDoc, section: str, name: str) -> tuple[str, str]:
    key = f"{section}.{name}"
    if section == "events":
        return event_texts(doc, name)
    if section == "nodes":
        return name, text_of(doc.value(f"{key}.kind")) or "host"
    if section == "links":
        delay = text_of(doc.value(f"{key}.delay"))
        rate = doc.value(f"{key}.rate")
        return name, ", ".join(filter(None, (tr("varying rate") if isinstance(rate, dict) else text_of(rate), delay)))
    controller = text_of(doc.value(f"{key}.controller.name"))
    count = doc.value(f"{key}.count")
    copies = f"×{count}" if isinstance(count, int) and count > 1 else ""
    if doc.value(f"{key}.arrivals"):
        copies = tr("arriving")
    return name, " ".join(filter(None, (text_of(doc.value(f"{key}.kind")), controller, copies)))


def event_texts(doc: ScenarioDoc, index: str) -> tuple[str, str]:
    """Return what an event is called and what it does in few words: `60s wifi`, `down`."""
    event = doc.value(f"events.{index}")
    if not isinstance(event, dict):
        return tr("event {number}", number=int(index) + 1), ""
    title = " ".join(filter(None, (text_of(event.get("at")), text_of(event.get("link") or event.get("flow")))))
    return title or tr("event {number}", number=int(index) + 1), ", ".join(change_words(event))
