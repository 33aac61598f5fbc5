"""Topologies from the literature as templates, each with the few values that experiments usually vary.

A template refers to a shipped scenario file and lists only the values that the user chooses, so that each topology is
described in one place.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from subflow_app.features.editor.core.form_text import completed, read_text, text_of
from subflow_app.features.editor.core.scenario_doc import ScenarioDoc
from subflow_app.features.editor.core.scenario_source import with_contents
from subflow_app.foundation.resources import SCENARIO_SUFFIX, resource_path, scenario_names
from subflow_app.foundation.toml_edit import read_toml
from subflow_sim.params import Param, params_by_key

OF_EXAMPLE = " (example)"
"""Ends the title of a copy of a shipped scenario."""


@dataclass(frozen=True, slots=True)
class TemplateValue:
    """A value that the user can choose: its label, and the keys in the file that it sets."""

    label: str
    keys: tuple[str, ...]

    @property
    def param(self) -> Param:
        """Declaration of the first key; all keys of a value have the same declaration."""
        section, *_, key = self.keys[0].split(".")
        return params_by_key(section.removesuffix("s"))[key]


@dataclass(frozen=True, slots=True)
class Template:
    """A topology to start from.

    Attributes:
        scenario: name of the shipped file.
        title: title in the gallery.
        sentence: purpose of the topology.
        values: the values that the user can choose.
    """

    scenario: str
    title: str
    sentence: str
    values: tuple[TemplateValue, ...] = ()

    def document(self) -> ScenarioDoc:
        """Read the scenario as a document without a file.

        Raises:
            ScenarioFileError: if the shipped file cannot be read.
        """
        doc = ScenarioDoc.open(resource_path(f"scenarios/{self.scenario}{SCENARIO_SUFFIX}"))
        # The copy can be saved anywhere, so it embeds the recordings and scripts.
        return ScenarioDoc(doc.text if doc.scenario is None else with_contents(doc.text, doc.scenario))


def examples() -> tuple[Template, ...]:
    """The shipped scenarios that are no templates, without values to choose.

    The title is the name of the scenario, the sentence the first paragraph of its comment.
    """
    known = {template.scenario for template in TEMPLATES}
    return tuple(_example(name) for name in scenario_names() if name not in known)


def _example(name: str) -> Template:
    text = resource_path(f"scenarios/{name}{SCENARIO_SUFFIX}").read_text(encoding="utf-8")
    title = read_toml(text).get("name")
    comment = itertools.takewhile(lambda line: line.startswith("#") and line.strip("# "), text.splitlines())
    sentence = " ".join(line.strip("# ") for line in comment)
    return Template(name, title if isinstance(title, str) and title else name, sentence)


def shown_text(doc: ScenarioDoc, value: TemplateValue) -> str:
    """Return the value in the file, or its default, as a person would type it."""
    return text_of(doc.value(value.keys[0])) or text_of(value.param.default)


def completed_text(doc: ScenarioDoc, value: TemplateValue, text: str) -> str:
    """Return typed text, with the unit of the current value appended to a bare number."""
    return completed(value.param, text, shown_text(doc, value))


def check_value(doc: ScenarioDoc, value: TemplateValue, text: str) -> str:
    """Return the problem of the typed text, followed by the accepted values; empty if the text is valid."""
    wanted = read_text(value.param, completed_text(doc, value, text))
    if wanted is None:
        return ""
    problems = doc.preview(value.keys[0], wanted)
    return f"{problems[0].message}; allowed: {problems[0].allowed}" if problems else ""


def filled_text(template: Template, texts: Mapping[TemplateValue, str]) -> str:
    """Return the scenario text with the typed values; values that were not changed are left as written.

    Raises:
        AppError: if the shipped file cannot be read.
    """
    doc = template.document()
    for value, text in texts.items():
        completed = completed_text(doc, value, text)
        wanted = read_text(value.param, completed)
        if wanted is None or completed.strip() == shown_text(doc, value):
            continue
        for key in value.keys:
            doc.set_value(key, wanted)
    return doc.text


def _links(label: str, key: str, *names: str) -> TemplateValue:
    return TemplateValue(label, tuple(f"links.{name}.{key}" for name in names))


def _count(label: str, *flows: str) -> TemplateValue:
    return TemplateValue(label, tuple(f"flows.{flow}.count" for flow in flows))


def _paths(names: Sequence[str], *keys: str) -> tuple[TemplateValue, ...]:
    labels = {"rate": "Rate of each path", "delay": "Delay of each path", "queue": "Queue of each path"}
    labels["loss"] = "Loss of each path"
    return tuple(_links(labels[key], key, *names) for key in keys)


_TWO = ("top", "bottom")
_PATHS = ("path1", "path2")
_MPTCP = _count("Multipath connections", "mptcp")

TEMPLATES: tuple[Template, ...] = (
    Template(
        "t-2link",
        "T-2link: two disjoint links",
        "One multipath connection alone on two parallel links: does it fill both?",
        (*_paths(_TWO, "rate", "delay", "loss"), _MPTCP),
    ),
    Template(
        "t-1link",
        "T-1link: one shared bottleneck",
        "Both subflows and a TCP cross the same bottleneck: does the connection take no more than the TCP?",
        (_links("Rate of the bottleneck", "rate", "bottleneck"), _count("TCP connections", "tcp"), _MPTCP),
    ),
    Template(
        "t-10a",
        "T-10a: a TCP on the top link",
        "The bottom link is free: ideally the connection leaves the top link to the TCP.",
        (*_paths(_TWO, "rate", "delay"), _count("TCP connections", "tcp")),
    ),
    Template(
        "t-10b",
        "T-10b: a TCP on each link",
        "Three connections on two links: the fair share is two thirds of a link each.",
        (*_paths(_TWO, "rate", "delay"), _count("TCP connections on each link", "tcp1", "tcp2")),
    ),
    Template(
        "t-10c",
        "T-10c: two bottlenecks in a row",
        "One subflow crosses two bottlenecks, the first shared with a TCP: any use of it only costs.",
        (
            _links("Rate of the first bottleneck", "rate", "shared"),
            _links("Rate of the common bottleneck", "rate", "common"),
            _count("TCP connections", "tcp"),
        ),
    ),
    Template(
        "t-10d",
        "T-10d: bursts on the top link",
        # english: keep
        "Bursts at link rate come and go on the top link: how quickly does traffic move away and back?",
        (*_paths(_TWO, "rate", "delay"), TemplateValue("Rate of the bursts", ("flows.bursts.rate",))),
    ),
    Template(
        "drlcc-sc1",
        "T-drl: one host, two shaped paths",
        "All multipath connections of a host share two lossy links, the testbed of DRL-CC.",
        (
            *_paths(_PATHS, "rate", "delay", "loss"),
            _count("Downloads", "download"),
            TemplateValue("Size of each download", ("flows.download.size",)),
        ),
    ),
    Template(
        "t-dql",
        "T-dql: a server and four laptops",
        "Eight downloads over the same two lossy links, the testbed of DQL-MPTCP.",
        (*_paths(_PATHS, "rate", "delay", "loss"), _count("Downloads per laptop", "user1", "user2", "user3", "user4")),
    ),
    Template(
        "t-ddpg-a",
        "T-ddpg-a: MPCC beside one TCP",
        "A multipath connection over two links, one of which it shares with a single-path TCP.",
        (*_paths(_PATHS, "rate", "delay", "queue"), _count("TCP connections", "tcp")),
    ),
    Template(
        "t-ddpg-b",
        "T-ddpg-b: MPCC beside two TCPs",
        "A multipath connection that shares each of its two links with a single-path TCP.",
        (*_paths(_PATHS, "rate", "delay", "queue"), _count("TCP connections on each link", "tcp-1", "tcp-2")),
    ),
    Template(
        "t-ddpg-c",
        "T-ddpg-c: two MPCC connections",
        "Two multipath connections over the same two links: do they share them evenly?",
        _paths(_PATHS, "rate", "delay", "queue"),
    ),
    Template(
        "t-ddpg-bed",
        "T-ddpg-bed: emulators and routers",
        "Wi-Fi and 5G, each an emulator of delay and loss followed by a router that sets the rate.",
        (
            _links("Rate of each path", "rate", "wifi-shaped", "cell-shaped"),
            _links("Delay of each path", "delay", "wifi-emulated", "cell-emulated"),
            _links("Loss of each path", "loss", "wifi-emulated", "cell-emulated"),
            _links("Queue of each path", "queue", "wifi-shaped", "cell-shaped"),
        ),
    ),
    Template(
        "rlx-fixed",
        "T-rlx: a single path",
        "One connection on one link with an unlimited reverse path, the topology of RL-explore.",
        (
            _links("Rate of the link", "rate", "data"),
            _links("Delay of the link", "delay", "data"),
            _links("Queue of the link", "queue", "data"),
            _count("Connections", "download"),
        ),
    ),
    Template(
        "wifi-home",
        "Home Wi-Fi",
        "A nearby laptop and a distant phone share the airtime: how much does the slow one cost the fast one?",
        (_links("Rate of the laptop", "rate", "wifi-laptop"), _links("Rate of the phone", "rate", "wifi-phone")),
    ),
    Template(
        "lte-walk",
        "LTE walk",
        "Fading LTE with a deep buffer, and Wi-Fi now and then: does the connection hold?",
        (
            _links("Rate of LTE", "rate", "lte"),
            _links("Queue of LTE", "queue", "lte"),
            _links("Rate of Wi-Fi", "rate", "wifi"),
        ),
    ),
    Template(
        "5g-mmwave",
        "5G mmWave",
        "A fast path that bodies block, next to LTE: what happens while it is gone?",
        (_links("Rate of 5G", "rate", "mmwave"), _links("Rate of LTE", "rate", "lte")),
    ),
    Template(
        "starlink",
        "Starlink",
        "A new satellite every 15 s, with a new delay and rate: which controller takes it for congestion?",
        (
            _links("Rate of the link", "rate", "starlink"),
            _links("Delay of the link", "delay", "starlink"),
            _links("Queue of the link", "queue", "starlink"),
        ),
    ),
    Template(
        "wifi-conference",
        "Conference Wi-Fi",
        "Ten laptops contend for one access point: how much capacity is left, and who gets it?",
        (
            _links("Rate of each laptop", "rate", *(f"laptop{number}" for number in range(1, 11))),
            _links("Queue of each laptop", "queue", *(f"laptop{number}" for number in range(1, 11))),
        ),
    ),
)
"""Topologies from the literature, followed by current access networks."""
