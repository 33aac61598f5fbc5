"""Forms for the parts of a scenario, with fields, hints and problems, and an outline of all parts.

The declarations of the simulator (`SECTIONS` and the options of controllers and schedulers) provide everything that a
form needs beyond the document. A new key or algorithm therefore appears in the window without a change to this module.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from subflow_app.features.editor.core.bandwidth_delay import bandwidth_delay
from subflow_app.features.editor.core.event_words import change_words
from subflow_app.features.editor.core.form_text import completed, shown_unit, text_of
from subflow_app.features.editor.core.scenario_doc import ScenarioDoc, split_key
from subflow_app.features.editor.core.scenario_parts import NAME_KEY, texts
from subflow_app.features.policies.core import card_line, card_of, card_text, policy_records
from subflow_app.vocabulary.language import tr, translatable, trn
from subflow_app.vocabulary.link_ways import BOTH, FORWARD, REVERSE, loss_note, way_words
from subflow_sim.errors import ParamError, Problem
from subflow_sim.flow_reader import DEFAULT_CONTROLLERS
from subflow_sim.link_params import DIRECTION, LINK_TABLES
from subflow_sim.params import (
    ARRIVALS_TABLE,
    EVENT_CHANGES,
    SCRIPT_SECTIONS,
    SECTIONS,
    Algorithm,
    AlgorithmCatalog,
    Dimension,
    Param,
)
from subflow_sim.policy_library import NEUTRAL, RANDOM
from subflow_sim.queue_params import QUEUE_LIMITS, QUEUE_TABLE
from subflow_sim.scenario_model import Profile
from subflow_sim.script_reader import algorithm_of
from subflow_sim.transport_params import effective_transport
from subflow_sim.units import parse_quantity

LISTS: Mapping[str, str] = {
    "nodes": translatable("Nodes"),
    "links": translatable("Links"),
    "flows": translatable("Flows"),
    "events": translatable("Events"),
}
"""Sections that hold many parts of one kind, with their titles."""


@dataclass(frozen=True, slots=True)
class OutlineEntry:
    """A line in the list of parts: key, name, short description, and number of problems."""

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
        # An incomplete drawing is not an error, so its missing parts do not count as problems.
        count = 0 if doc.missing_part else len(doc.problems_at(section))
        entries.append(OutlineEntry(section, tr(title), "", count, children))
    return tuple(entries)


def tables(doc: ScenarioDoc, section: str) -> dict[str, dict[str, Any]]:
    """Return the tables of a section by name, as written in the file."""
    found = doc.data.get(section)
    return {name: table for name, table in found.items() if isinstance(table, dict)} if isinstance(found, dict) else {}


def part_names(doc: ScenarioDoc, section: str) -> list[str]:
    """Return the names of the parts of a section; for events, their numbers from 0."""
    if section == "events":
        events = doc.data.get("events")
        return [str(index) for index in range(len(events))] if isinstance(events, list) else []
    return list(tables(doc, section))


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
    """Return the title of an event and its changes in a few words: `60s wifi`, `down`."""
    event = doc.value(f"events.{index}")
    if not isinstance(event, dict):
        return tr("event {number}", number=int(index) + 1), ""
    title = " ".join(filter(None, (text_of(event.get("at")), text_of(event.get("link") or event.get("flow")))))
    return title or tr("event {number}", number=int(index) + 1), ", ".join(change_words(event))


_LABELS: Mapping[str, str] = {
    "at": "Position",
    "gap": "Mean gap",
    "ce_threshold": "CE threshold",
    "dsack": "DSACK",
    "tso": "TSO bursts",
    "syn_retries": "SYN retries",
    "dss_option": "DSS option",
    "ecn": "ECN",
    "ends": "Ends",
    "falling_rtt": "Falling RTT",
    "from": "From",
    "mss": "MSS",
    "off": "Mean time off",
    "on": "Mean time on",
    "one_way_delay": "One-way delay",
    "packet": "Packet size",
    "prr": "PRR",
    "backup": "Backup subflows",
    "late": "Late subflows",
    "bucket": "Token bucket",
    "drops": "Packets lost",
    "recv_buffer": "Receive buffer",
    "rto": "RTO",
    "rto_max": "RTO max",
    "rto_min": "RTO min",
    "up": "In service",
    "warmup": "Warm-up",
}
_IN_BDP = re.compile(r"(\d+(?:\.\d+)?)\s*[x×]?\s*bdp", re.IGNORECASE)
_NAME_HELP = translatable("Its name, also where other parts refer to it.")
_NAME = Param("name", Dimension.NAME, _NAME_HELP, required=True)
_MOST_LISTED_COPIES = 20
_LONGEST_DELAY_S = 1000.0  # A default of 0 is shown in ms if the maximum of the parameter is at most this value.


@dataclass(frozen=True, slots=True)
class FieldOption:
    """A selectable value with a summary and details; a `value` of None restores the default."""

    value: str | None
    text: str
    summary: str = ""
    details: str = ""


@dataclass(frozen=True, slots=True)
class FormField:
    """One value of the file.

    Attributes:
        key: dotted key.
        label: title in the form.
        param: declaration of the key.
        text: the value as a person would type it; empty if the file does not set it.
        is_set: whether the file sets the key.
        placeholder: the default, shown while the file does not set the key.
        options: the selectable values; empty for a typed value.
        problems: problems of the value.
        applies: the value in force while the file does not set the key; empty if the placeholder shows it.
        note: remark below the value.
        bdp_pkts: bandwidth-delay product in packets, in which a queue can be typed; 0 if it is unknown.
    """

    key: str
    label: str
    param: Param
    text: str
    is_set: bool
    placeholder: str
    options: tuple[FieldOption, ...]
    problems: tuple[Problem, ...]
    applies: str = ""
    note: str = ""
    bdp_pkts: float = 0.0

    @property
    def unit(self) -> str:
        """The unit assumed for a number typed without a unit; empty to keep the number as typed."""
        return shown_unit(self.param, self.text, self.applies or self.placeholder)

    def completed(self, text: str) -> str:
        """Return typed text, with the implied unit appended to a bare number; "5 Mbps" becomes "5Mbit/s".

        For queues, "0.5 BDP" becomes a number of packets.
        """
        in_bdp = _IN_BDP.fullmatch(text.strip())
        if in_bdp and self.bdp_pkts:
            return f"{max(1, round(float(in_bdp[1]) * self.bdp_pkts))}pkt"
        return completed(self.param, text, self.text, self.applies or self.placeholder)


@dataclass(frozen=True, slots=True)
class FormGroup:
    """Related fields under a title; `hint` is a line under the title."""

    title: str
    fields: tuple[FormField, ...]
    hint: str = ""


@dataclass(frozen=True, slots=True)
class Form:
    """The form of a part of the scenario.

    Attributes:
        key: dotted key; empty for the whole scenario; `nodes`, `links`, `flows` or `events` for a list of parts.
        kind: kind of part, e.g. `Link`.
        title: name of the part.
        subtitle: one-line description.
        groups: the fields in groups, from top to bottom.
        problems: problems of the whole part that belong to no field.
    """

    key: str
    kind: str
    title: str
    subtitle: str
    groups: tuple[FormGroup, ...]
    problems: tuple[Problem, ...] = ()

    def fields(self) -> Iterator[FormField]:
        """Yield all fields from top to bottom."""
        for group in self.groups:
            yield from group.fields


def label_of(key: str) -> str:
    """Return the English title of a parameter in forms."""
    return _LABELS.get(key, key.replace("_", " ").capitalize())


def change_labels() -> dict[str, str]:
    """Return the translated labels of the link values that events can change, by key."""
    keys = [param.key for param in EVENT_CHANGES["link"] if not param.states]
    return {key: tr("Queue limit") if key == "queue" else tr(label_of(key)) for key in keys}


def form_for(doc: ScenarioDoc, key: str, catalog: AlgorithmCatalog) -> Form | None:
    """Build the form of a part of the scenario; None if the part does not exist.

    Args:
        doc: the scenario.
        key: "" for the scenario, `links.wifi`, `events.0`, `links` for the list of links.
        catalog: controllers and schedulers to choose from, besides the scripts of the scenario.
    """
    catalog = catalog.with_scripts(map(algorithm_of, doc.scripts))
    section, _, name = key.partition(".")
    if section == "":
        return _scenario_form(doc)
    if section in LISTS and not name:
        count = len(part_names(doc, section))
        return Form(
            key,
            "",
            tr(LISTS[section]),
            trn("{count} in this scenario", "{count} in this scenario", count)
            if count
            else tr("none in this scenario"),
            (),
        )
    if not isinstance(doc.value(key), dict):
        return None
    builder = {"nodes": _node_form, "links": _link_form, "flows": _flow_form, "events": _event_form}.get(section)
    return builder(doc, name, catalog) if builder else None


# --- parts ----------------------------------------------------------------------------------------------------------


def _scenario_form(doc: ScenarioDoc) -> Form:
    groups = {
        tr("Run"): ("name", "duration", "warmup", "seed", "start_jitter"),
        tr("Transport"): ("mss", "profile"),
        tr("File"): ("format",),
    }
    transport = _transport_group(doc)
    shown = {field.key for field in transport.fields}
    own = tuple(p for p in doc.problems if not p.key)
    own += tuple(p for p in doc.problems_at("transport") if p.key not in shown)
    for section in ("training", "notes", *SCRIPT_SECTIONS.values()):  # sections that are edited elsewhere
        own += tuple(doc.problems_at(section))
    built = (*_grouped(doc, "scenario", "", groups), transport)
    return Form("", tr("Scenario"), text_of(doc.value("name")) or doc.title, "", built, own)


def _transport_group(doc: ScenarioDoc) -> FormGroup:
    """Build the options of `[transport]`; the placeholders of omitted keys show the values of the profile."""
    profile: Profile = "textbook" if doc.value("profile") == "textbook" else "linux"
    params = {param.key: param for param in SECTIONS["transport"]}
    given = {key: text_of(doc.value(f"transport.{key}")) for key in params}
    chosen = effective_transport(profile, {"delayed_ack": given["delayed_ack"]} if given["delayed_ack"] else {})
    fields = tuple(
        _field(doc, f"transport.{key}", param, placeholder=param.format(chosen[key])) for key, param in params.items()
    )
    return FormGroup(tr("Transport options"), fields, tr("Only where they differ from the profile."))


def _node_form(doc: ScenarioDoc, name: str, _catalog: AlgorithmCatalog) -> Form:
    key = f"nodes.{name}"
    links = [link for link, table in tables(doc, "links").items() if name in texts(table.get("ends"))]
    subtitle = tr("joined by {links}", links=", ".join(links)) if links else tr("not joined to anything")
    kind = tr("Router") if doc.value(f"{key}.kind") == "router" else tr("Host")
    groups = _with_name(key, name, _grouped(doc, "node", key, {"": ("kind", "at")}))
    return Form(key, kind, name, subtitle, groups, _own_problems(doc, key))


def _link_form(doc: ScenarioDoc, name: str, _catalog: AlgorithmCatalog) -> Form:
    key = f"links.{name}"
    ends = texts(doc.value(f"{key}.ends"))
    params = {param.key: param for param in SECTIONS["link"]}
    both = tuple(param.key for param in DIRECTION)
    ends_group, both_group, script = _grouped(
        doc, "link", key, {"": ("ends",), tr("Both directions"): both, tr("Script"): ("drops",)}
    )
    nodes = list(tables(doc, "nodes"))
    ends_field = ends_group.fields[0]
    values: list[FormField] = []
    for field in both_group.fields:
        if field.param.key == "queue":
            limit, *others = _queue_fields(doc, field)
            values += [_beside_bdp(doc, limit, name), *others]
        elif field.param.key == "loss":
            has_reverse = doc.value(f"{key}.reverse.loss") is not None
            values.append(replace(field, note=loss_note(doc.last_valid, name, FORWARD if has_reverse else BOTH)))
        else:
            values.append(field)
    forward = (replace(ends_group, fields=(_with_names(ends_field, nodes),)), replace(both_group, fields=tuple(values)))
    reverse = []
    for each in both:
        as_forward = text_of(doc.value(f"{key}.{each}")) or default_text(params[each])
        field = _field(doc, f"{key}.reverse.{each}", params[each], placeholder=tr("also {value}", value=as_forward))
        note = loss_note(doc.last_valid, name, REVERSE) if each == "loss" else field.note
        reverse.append(replace(field, applies=as_forward, note=note))
    for each in LINK_TABLES:
        if doc.value(f"{key}.reverse.{each}") is not None:
            reverse += _link_table(doc, f"{key}.reverse", each).fields
    known = doc.last_valid is not None and name in doc.last_valid.links and len(ends) == 2
    title = way_words(doc.last_valid, name)[REVERSE] if known else tr("Reverse direction")
    more = [_link_table(doc, key, each) for each in LINK_TABLES]
    groups = (
        *forward,
        *more,
        FormGroup(title, tuple(reverse), tr("Only where it differs from the other direction.")),
        script,
    )
    groups = _with_name(key, name, groups)
    return Form(key, tr("Link"), name, " ↔ ".join(ends), groups, _own_problems(doc, key))


def _with_name(key: str, name: str, groups: tuple[FormGroup, ...]) -> tuple[FormGroup, ...]:
    """Put a field for the name of a part before all other fields."""
    field = FormField(f"{key}.{NAME_KEY}", tr("Name"), _NAME, name, True, "", (), ())
    return (replace(groups[0], fields=(field, *groups[0].fields)), *groups[1:])


def _beside_bdp(doc: ScenarioDoc, limit: FormField, link: str) -> FormField:
    """Add to the limit of a queue how many bandwidth-delay products it is."""
    scenario = doc.last_valid
    found = bandwidth_delay(scenario, link) if scenario is not None else None
    if found is None:
        return limit
    params = {param.key: param for param in SECTIONS["link"]}
    rate, rtt = params["rate"].format(found.rate_bps), params["delay"].format(found.rtt_s)
    facts = {"bdp": f"{found.packets:.4g}", "rate": rate, "rtt": rtt}
    value = doc.data.get("links", {}).get(link, {}).get("queue")
    typed = limit.text or limit.placeholder
    try:
        queue = parse_quantity(typed, Dimension.QUEUE)
    except ParamError:
        queue = math.nan
    is_bytes = isinstance(value, str) and value.endswith("B")
    if math.isfinite(queue) and not is_bytes:
        share = f"{queue / found.packets:.2g}"
        note = tr("{share} BDP; 1 BDP is {bdp} packets: {rate}, RTT {rtt}", share=share, **facts)
    else:
        note = tr("1 BDP is {bdp} packets: {rate}, RTT {rtt}", **facts)
    return replace(limit, note=note, bdp_pkts=found.packets)


def _link_table(doc: ScenarioDoc, key: str, name: str) -> FormGroup:
    """Build the group for an optional table of a link direction. Its keys are required only if the table is present."""
    table = LINK_TABLES[name]
    is_given = bool(doc.value(f"{key}.{name}"))
    fields = [
        _field(doc, f"{key}.{name}.{param.key}", replace(param, required=param.required and is_given))
        for param in table.params
    ]
    return FormGroup(tr(label_of(name)), tuple(fields), tr(table.help))


def _flow_form(doc: ScenarioDoc, name: str, catalog: AlgorithmCatalog) -> Form:
    key = f"flows.{name}"
    kind = text_of(doc.value(f"{key}.kind"))
    groups = {
        "": ("kind", "from", "to", "size", "count"),
        tr("Transport"): ("controller", "scheduler", "ecn", "recv_buffer", "send_buffer"),
        tr("Rate"): ("rate", "packet", "spacing", "on", "off"),
        tr("Paths"): ("paths", "backup", "late", "subflow_limit", "address_limit"),
        tr("Time"): ("start", "stop"),
    }
    built = []
    for group in _grouped(doc, "flow", key, groups, kind=kind):
        fields = tuple(_flow_field(doc, field, kind, catalog) for field in group.fields)
        built.append(FormGroup(group.title, fields, group.hint))
        # Options have groups of their own, because up to a dozen of them would separate controller and scheduler.
        for field in fields:
            if field.param.key in ("controller", "scheduler"):
                built += _option_groups(doc, field, catalog)
    built.append(_arrivals_group(doc, key))
    source, destination = text_of(doc.value(f"{key}.from")), text_of(doc.value(f"{key}.to"))
    return Form(
        key, tr("Flow"), name, f"{source} → {destination}", _with_name(key, name, tuple(built)), _own_problems(doc, key)
    )


def _arrivals_group(doc: ScenarioDoc, key: str) -> FormGroup:
    """Build the group for the arrivals table. Its keys are required only if the table is present."""
    is_given = bool(doc.value(f"{key}.arrivals"))
    fields = [
        _field(doc, f"{key}.arrivals.{param.key}", replace(param, required=param.required and is_given))
        for param in ARRIVALS_TABLE
    ]
    return FormGroup(tr("Arrivals"), tuple(fields), tr("Flows that come one after the other, a Poisson process."))


def _event_form(doc: ScenarioDoc, name: str, catalog: AlgorithmCatalog) -> Form | None:
    key = f"events.{name}"
    kinds = [kind for kind in ("link", "flow") if doc.value(f"{key}.{kind}") is not None]
    link_keys = (param.key for param in sorted(EVENT_CHANGES["link"], key=lambda param: not param.states))
    flow_keys = (param.key for param in sorted(EVENT_CHANGES["flow"], key=lambda param: bool(param.states)))
    groups = {
        "": ("at", "link", "flow"),
        tr("Changes"): (*link_keys, "direction", *flow_keys, "subflow"),
    }
    built = []
    for group in _grouped(doc, "event", key, groups, kind=kinds[0] if len(kinds) == 1 else None):
        fields = []
        for field in group.fields:
            if field.param.key in ("link", "flow"):
                if kinds and field.param.key not in kinds:
                    continue
                field = _with_names(field, _link_names(doc) if field.param.key == "link" else _flow_names(doc))
            elif kinds == ["link"] and not field.is_set:
                now = text_of(doc.value(f"links.{text_of(doc.value(f'{key}.link'))}.{field.param.key}"))
                of_link = next((each for each in SECTIONS["link"] if each.key == field.param.key), field.param)
                field = replace(field, applies=now or default_text(of_link))
            elif field.param.key == "controller":
                field = _later_controller(doc, field, text_of(doc.value(f"{key}.flow")), catalog)
            fields.append(field)
        built.append(FormGroup(group.title, tuple(fields), group.hint))
        for field in fields:
            if field.param.key == "controller" and field.text:
                built += _option_groups(doc, field, catalog, catalog.learners)
    title, subtitle = event_texts(doc, name)
    return Form(key, tr("Event"), title, subtitle, tuple(built), _own_problems(doc, key))


def _later_controller(doc: ScenarioDoc, field: FormField, flow: str, catalog: AlgorithmCatalog) -> FormField:
    """Restrict a controller field to those that can take over during the run: all except those driven by an agent."""
    kind = text_of(doc.value(f"flows.{flow.partition('.')[0]}.kind"))
    return replace(_without(_flow_field(doc, field, kind, catalog), catalog.learners), placeholder="")


def _link_names(doc: ScenarioDoc) -> list[str]:
    return list(tables(doc, "links"))


def _flow_names(doc: ScenarioDoc) -> list[str]:
    """Return the names of the flows, each followed by its copies if they are few enough for a list."""
    names = []
    for name, table in tables(doc, "flows").items():
        names.append(name)
        count = table.get("count")
        if isinstance(count, int) and 1 < count <= _MOST_LISTED_COPIES:
            names += [f"{name}.{ordinal}" for ordinal in range(1, count + 1)]
    return names


# --- fields ---------------------------------------------------------------------------------------------------------


def _grouped(
    doc: ScenarioDoc, section: str, key: str, groups: Mapping[str, Sequence[str]], *, kind: str | None = None
) -> tuple[FormGroup, ...]:
    """Sort the parameters of a section into groups; the last group contains the rest, so that no new key is omitted."""
    params = {param.key: param for param in SECTIONS[section]}
    listed = {each for keys in groups.values() for each in keys}
    rest = tuple(each for each in params if each not in listed)
    built = []
    for title, keys in {**groups, tr("More"): rest}.items():
        fields = []
        for each in keys:
            full = f"{key}.{each}" if key else each
            param = params[each]
            applies = not param.applies_to or not kind or kind in param.applies_to
            # A key that does not apply is shown if the file sets it, so that the user can remove it.
            if applies or doc.value(full) is not None:
                fields.append(_field(doc, full, param))
        if fields:
            built.append(FormGroup(title, tuple(fields)))
    return tuple(built)


def _field(doc: ScenarioDoc, key: str, param: Param, *, placeholder: str | None = None) -> FormField:
    value = doc.value(key)
    label = "Time" if param.key == "at" and key.startswith("events.") else label_of(param.key)
    return FormField(
        key,
        tr(label),
        param,
        text_of(value),
        value is not None,
        placeholder if placeholder is not None else default_text(param),
        tuple(FieldOption(each, each) for each in param.choices),
        doc.problems_at(key),
    )


def _flow_field(doc: ScenarioDoc, field: FormField, kind: str, catalog: AlgorithmCatalog) -> FormField:
    """Add the selectable values to a field of a flow; a controller or scheduler is shown by its name alone."""
    key = field.param.key
    if key in ("from", "to"):
        hosts = [name for name, table in tables(doc, "nodes").items() if table.get("kind") != "router"]
        return _with_names(field, hosts)
    if key == "paths" and not field.is_set:
        return replace(field, placeholder=tr("all shortest paths") if kind == "mptcp" else tr("the shortest path"))
    if key not in ("controller", "scheduler"):
        return field
    algorithms = catalog.schedulers
    if key == "controller":
        known = {each.name: each for each in catalog.controllers}
        algorithms = tuple(known[name] for name in catalog.controllers_for(is_multipath=kind != "tcp"))
    default = DEFAULT_CONTROLLERS.get(kind, "") if key == "controller" else field.placeholder
    options = tuple(FieldOption(each.name, each.name, tr(each.summary), _details(each, catalog)) for each in algorithms)
    own = (split_key(field.key), split_key(f"{field.key}.name"))
    return replace(
        field,
        text=text_of(doc.value(f"{field.key}.name")),
        placeholder=default,
        options=options,
        problems=tuple(p for p in doc.problems_at(field.key) if split_key(p.key) in own),
    )


def _queue_fields(doc: ScenarioDoc, field: FormField) -> list[FormField]:
    """Build the fields of a queue: limit, discipline, and the options of the discipline."""
    given = doc.value(field.key)
    params = {param.key: param for param in QUEUE_TABLE}
    discipline = params.pop("discipline")
    chosen = text_of(doc.value(f"{field.key}.discipline")) or str(discipline.default)
    limit = params.pop("limit")
    if isinstance(given, dict):
        default = f"{QUEUE_LIMITS[chosen]}pkt" if chosen in QUEUE_LIMITS else ""
        field = replace(_field(doc, f"{field.key}.limit", limit, placeholder=default), label=field.label)
    key = field.key.removesuffix(".limit")
    fields = [field, _field(doc, f"{key}.discipline", discipline)]
    for param in params.values():
        if chosen in param.applies_to or doc.value(f"{key}.{param.key}") is not None:
            fields.append(_field(doc, f"{key}.{param.key}", param))
    for each in given if isinstance(given, dict) else ():
        if each not in {param.key for param in QUEUE_TABLE}:
            # An unknown option is shown, so that the user can remove it.
            unknown = Param(each, Dimension.TEXT, tr("A queue has no such option."))
            fields.append(_field(doc, f"{key}.{each}", unknown))
    return fields


def _option_groups(
    doc: ScenarioDoc, field: FormField, catalog: AlgorithmCatalog, refused: Collection[str] = ()
) -> list[FormGroup]:
    """Build a separate group for the options of the chosen algorithm; empty if it has no options.

    Args:
        doc: the scenario.
        field: field in which the algorithm is chosen.
        catalog: algorithms with their options.
        refused: values to omit from the lists of all options.
    """
    options = tuple(_without(each, refused) for each in _option_fields(doc, field, catalog))
    title = f"{field.label}: {field.text or field.placeholder}"
    return [FormGroup(title, options, _policy_hint(options, catalog))] if options else []


def _without(field: FormField, refused: Collection[str]) -> FormField:
    return replace(field, options=tuple(each for each in field.options if each.value not in refused))


def _option_fields(doc: ScenarioDoc, field: FormField, catalog: AlgorithmCatalog) -> Iterator[FormField]:
    """Yield the option fields of the chosen algorithm, or of the default one."""
    chosen = field.text or field.placeholder
    algorithms: tuple[Algorithm, ...] = catalog.controllers if field.param.key == "controller" else catalog.schedulers
    known = next((each for each in algorithms if each.name == chosen), None)
    given = doc.value(field.key)
    params = {param.key: param for param in known.options} if known else {}
    for each in given if isinstance(given, dict) else ():
        if each != "name" and each not in params:
            # An option that the algorithm lacks is shown, so that the user can remove it.
            params[each] = Param(
                each, Dimension.TEXT, tr("{algorithm} has no such option.", algorithm=chosen or tr("This algorithm"))
            )
    base = text_of(doc.value(f"{field.key}.base")) or (text_of(params["base"].default) if "base" in params else "")
    profile = text_of(doc.value("profile"))
    for param in params.values():
        if not param.applies_to or base in param.applies_to or (isinstance(given, dict) and param.key in given):
            shown = _field(doc, f"{field.key}.{param.key}", param, placeholder=default_text(param, profile))
            is_policy = param.dimension is Dimension.POLICY
            yield replace(shown, options=_policies(catalog, base or chosen)) if is_policy else shown


def _policies(catalog: AlgorithmCatalog, controller: str) -> tuple[FieldOption, ...]:
    """Return the policies of a learning controller: trained, neutral and random."""
    trained = tuple(
        FieldOption(record.name, record.name, card_line(record.card) or tr("trained policy"))
        for record in policy_records(catalog.policies)
        if record.controller == controller
    )
    return (
        *trained,
        FieldOption(NEUTRAL, NEUTRAL, tr("changes nothing")),
        FieldOption(RANDOM, RANDOM, tr("does anything")),
    )


def _details(algorithm: Algorithm, catalog: AlgorithmCatalog) -> str:
    """Return summary, source and policy card of a learning algorithm; empty for an algorithm without policies."""
    default = next((param.default for param in algorithm.options if param.dimension is Dimension.POLICY), None)
    card = card_text(card_of(catalog.policies, str(default))) if default is not None else ""
    return f"{tr(algorithm.summary)}\n{algorithm.source}\n\n{card}".rstrip() if default is not None else ""


def _policy_hint(options: Sequence[FormField], catalog: AlgorithmCatalog) -> str:
    """Return a line on the origin of the chosen policy; empty if no policy is chosen or the policy lacks a card."""
    for field in options:
        if field.param.dimension is Dimension.POLICY:
            name = field.text or field.placeholder
            line = card_line(card_of(catalog.policies, name))
            return f"{name}: {line}" if line else ""
    return ""


def _with_names(field: FormField, names: Sequence[str]) -> FormField:
    return replace(field, options=tuple(FieldOption(name, name) for name in names))


def default_text(param: Param, profile: str = "linux") -> str:
    """Return the default of an omitted key as a person would type it; empty if the key has no general default."""
    default = param.default_in(profile)
    if (
        default == 0
        and param.dimension is Dimension.TIME
        and param.maximum is not None
        and param.maximum <= _LONGEST_DELAY_S
    ):
        return "0ms"
    return "" if default is None else param.format(default)


def _own_problems(doc: ScenarioDoc, key: str) -> tuple[Problem, ...]:
    """Return the problems that no field of the form shows: those of the part itself and of unknown keys."""
    section = {"nodes": "node", "links": "link", "flows": "flow", "events": "event"}[key.split(".")[0]]
    known = {param.key for param in (*SECTIONS[section], *(ARRIVALS_TABLE if section == "flow" else ()))}
    depth = len(split_key(key))
    found = []
    for problem in doc.problems_at(key):
        rest = [str(step) for step in split_key(problem.key)[depth:]]
        if rest and rest[0] in ("reverse", "arrivals"):
            rest = rest[1:]
        in_table = len(rest) > 1 and section == "link" and rest[0] in LINK_TABLES
        if not rest or (rest[0] not in known and not in_table):
            found.append(problem)
    return tuple(found)
