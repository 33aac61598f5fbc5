"""Live changes to a run, recorded as events, and the state of links and flows at a given time.

A change can contain all keys of an `[[events]]` entry of a scenario file except the time. It is appended to the
scenario text that is stored with the run, so that this text reproduces the run bit for bit. The document from which
the run was started does not change.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field

from subflow_app.foundation import toml_edit
from subflow_app.foundation.toml_edit import TomlValue
from subflow_sim.link_state import LiveLink, changed_link
from subflow_sim.scenario import Choice, Event, Flow, Scenario

_NANOSECONDS = 1_000_000_000


@dataclass(frozen=True, slots=True)
class LiveChange:
    """A change that was made to a run.

    Attributes:
        event: the event with its exact time.
        values: the keys of its `[[events]]` entry, without `at`.
    """

    event: Event
    values: Mapping[str, TomlValue]


@dataclass(frozen=True, slots=True)
class Wanted:
    """A requested change that waits for the simulation thread.

    Attributes:
        values: the keys of the requested `[[events]]` entry, without `at`.
        answer: resolves to the change, or to the error that prevented it.
    """

    values: Mapping[str, TomlValue]
    answer: Future[LiveChange] = field(default_factory=Future)


def with_change(text: str, values: Mapping[str, TomlValue], at_s: float) -> str:
    """Append a change to the scenario text as its last event.

    Args:
        text: TOML of the scenario.
        values: keys of an `[[events]]` entry, without `at`.
        at_s: time of the change, s, a whole number of nanoseconds.

    Raises:
        TomlEditError: if no event can be appended to the text.
    """
    entry: dict[str, TomlValue] = {"at": f"{round(at_s * _NANOSECONDS)}ns", **values}
    newline = "\r\n" if "\r\n" in text else "\n"
    lines = [f"{key} = {toml_edit.render(value)}" for key, value in entry.items()]
    appended = newline.join([text.rstrip(), "", "[[events]]", *lines, ""])
    # The run waits for this function, and parsing twice takes a tenth of the time of `append_table`. Parsing fails if
    # the file contains its events as an inline array.
    try:
        before, after = toml_edit.read_toml(text), toml_edit.read_toml(appended)
    except toml_edit.TomlEditError:
        return toml_edit.append_table(text, "events", entry)
    if after != {**before, "events": [*before.get("events", []), entry]}:
        return toml_edit.append_table(text, "events", entry)
    return appended


@dataclass(frozen=True, slots=True)
class LiveSubflow:
    """State of a subflow at a given time.

    Attributes:
        ordinal: position in the order of paths, from 1.
        path: names of the links of its path.
        is_open: whether the subflow was never closed, or was reopened.
        is_backup: whether the subflow carries data only while no other subflow is usable.
    """

    ordinal: int
    path: tuple[str, ...]
    is_open: bool
    is_backup: bool


def live_link(
    scenario: Scenario, changes: Sequence[LiveChange], name: str, direction: str, now_s: float
) -> LiveLink | None:
    """A link in one direction ("forward" or "reverse") at `now_s`; None for an unknown name."""
    link = scenario.links.get(name)
    if link is None:
        return None
    live = LiveLink(link.reverse if direction == "reverse" else link.forward, True)
    for event in _until(scenario, changes, now_s):
        if event.link == name and event.direction in ("both", direction):
            live = changed_link(live, event)
    return live


def live_subflows(
    scenario: Scenario, changes: Sequence[LiveChange], name: str, now_s: float
) -> tuple[LiveSubflow, ...]:
    """The subflows of a flow at `now_s`; empty for a flow of datagrams or an unknown name."""
    flow = scenario.flows.get(name)
    if flow is None or flow.sends_datagrams:
        return ()
    events = [event for event in _until(scenario, changes, now_s) if event.flow == name]
    return tuple(_live_subflow(flow, ordinal, events) for ordinal in range(1, len(flow.paths) + 1))


def live_controller(scenario: Scenario, changes: Sequence[LiveChange], name: str, now_s: float) -> Choice | None:
    """The controller of a flow at `now_s`; None for a flow of datagrams or an unknown name.

    Args:
        scenario: scenario at the start of the run.
        changes: live changes before `now_s`.
        name: name of a flow, or of a copy of a flow. Events of a flow also apply to its copies.
        now_s: simulated time, s.
    """
    base = name.partition(".")[0]
    flow = scenario.flows.get(base)
    if flow is None or flow.sends_datagrams:
        return None
    controller = flow.controller
    for event in _until(scenario, changes, now_s):
        if event.controller is not None and event.flow in (name, base):
            controller = event.controller
    return controller


def _live_subflow(flow: Flow, ordinal: int, events: Sequence[Event]) -> LiveSubflow:
    is_open, is_backup = True, ordinal in flow.backup
    for event in events:
        if event.subflow not in (None, ordinal):
            continue
        is_open = is_open if event.open is None else event.open
        is_backup = is_backup if event.backup is None else event.backup
    return LiveSubflow(ordinal, flow.paths[ordinal - 1], is_open, is_backup)


def _until(scenario: Scenario, changes: Sequence[LiveChange], now_s: float) -> Iterator[Event]:
    """All live changes, and the planned events up to `now_s`, in chronological order."""
    live = [change.event for change in changes]
    # Live changes are not filtered by time, because each is dated one nanosecond after the time the run had reached.
    planned = [event for event in scenario.events if event.at_s <= now_s]
    yield from sorted([*planned, *live], key=lambda event: round(event.at_s * 1e9))
