"""The plan of a fork: the run, the time and the changes, checked before any simulation."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from subflow_app.features.catalog.core.uses import written_choice
from subflow_app.features.forking.core.origin import ForkOrigin, ForkState, with_events
from subflow_app.features.forking.core.words import BEFORE, difference_text
from subflow_app.features.running.core.live_changes import (
    LiveChange,
    live_controller,
    live_link,
    live_subflows,
    with_change,
)
from subflow_app.features.running.core.run_recorder import RunPast
from subflow_app.features.running.core.runs import RunJob, decision_limits
from subflow_app.features.traces.core.traces import NANOSECONDS
from subflow_app.foundation.errors import InputError
from subflow_app.foundation.toml_edit import TomlValue
from subflow_app.vocabulary.language import tr
from subflow_app.vocabulary.link_ways import with_way
from subflow_store.values import RunFork

if TYPE_CHECKING:
    from subflow_sim.scenario import Event, Scenario
    from subflow_store import Store

Values = Mapping[str, TomlValue]


@dataclass(frozen=True, slots=True)
class ForkPlan:
    """A valid fork, created by `ForkPlan.of`.

    Attributes:
        origin: run to fork.
        at_s: time in seconds up to which the fork equals the run; the changes happen a nanosecond later.
        changes: changes, each with the keys of an `[[events]]` entry except `at`.
        events: changes as events of the scenario.
        described: changes and replaced values, as the store keeps them.
        scenario: scenario of the run, including the changes.
        text: TOML that reproduces the fork from its beginning, bit for bit.
    """

    origin: ForkOrigin
    at_s: float
    changes: tuple[Values, ...]
    events: tuple[Event, ...]
    described: tuple[Mapping[str, Any], ...]
    scenario: Scenario
    text: str

    @classmethod
    def of(cls, origin: ForkOrigin, at_s: float, changes: Sequence[Values]) -> ForkPlan:
        """Check the time and the changes, and create a plan.

        Raises:
            InputError: if the run cannot be forked at that time.
            ScenarioError: if the changes are invalid; contains all problems.
            TomlEditError: if the events cannot be added to the text of the run.
        """
        check_time(origin, at_s)
        at_ns = round(at_s * NANOSECONDS)
        event_s = (at_ns + 1) / NANOSECONDS
        events = [read_fork_change(origin, at_s, values) for values in changes]
        text = origin.text
        for values in changes:
            text = with_change(text, values, event_s)
        described = [
            with_way(origin.scenario, {**values, BEFORE: values_before(origin.scenario, event, values, at_s)})
            for event, values in zip(events, changes, strict=True)
        ]
        return cls(
            origin=origin,
            at_s=at_ns / NANOSECONDS,
            changes=tuple(changes),
            events=tuple(events),
            described=tuple(described),
            scenario=with_events(origin.scenario, events),
            text=text,
        )

    @property
    def name(self) -> str:
        """Default name of the fork: ``Demo · fork at 12.5 s: wifi loss 2 % → 5 %``."""
        difference = difference_text(self.described)
        time = f"{self.at_s:.10g}"
        return tr("{run} · fork at {time} s: {difference}", run=self.origin.name, time=time, difference=difference)

    def fork(self) -> RunFork:
        """The description of the fork for the store."""
        # Convert to plain JSON values, because TOML documents contain special types.
        changes = json.loads(json.dumps(self.described, ensure_ascii=False))
        return RunFork(self.origin.run_id, self.origin.name, self.at_s, difference_text(changes), changes)

    def state(self, *, records_decisions: bool = False, is_cancelled: Callable[[], bool] = lambda: False) -> ForkState:
        """Simulate up to the time of the fork, which may take long. Raises the errors of `ForkPast.state_at`."""
        decisions = decision_limits(self.origin.scenario) if records_decisions else None
        return self.origin.past.state_at(self.origin, self.at_s, decisions, is_cancelled)

    def job(
        self,
        state: ForkState,
        *,
        store: Store | None,
        name: str = "",
        speed_limit: float | None = None,
        records_decisions: bool = False,
    ) -> RunJob:
        """Create the run that continues from the fork with the changes.

        Args:
            state: result of `state`; the new run continues its simulation.
            store: database for the fork and its past; None keeps it in memory.
            name: name of the run; empty for the default.
            speed_limit: simulated seconds per second of wall time; None for full speed.
            records_decisions: the same value as in the call of `state`.

        Raises:
            SimulationError: if the simulator refuses a change.
            TooLargeError: if the changes would make the run exceed the limits.
        """
        for event in self.events:
            state.simulation.apply(event)
        return RunJob(
            self.scenario,
            self.text,
            store=store,
            sample_interval_s=self.origin.sample_interval_s,
            name=name or self.name,
            simulation_maker=lambda _scenario, _seed, _interval_s: state.simulation,
            speed_limit=speed_limit,
            decisions=decision_limits(self.scenario) if records_decisions else None,
            past=RunPast(self.fork(), self.origin.traces, state.marks, state.events),
        )


def check_time(origin: ForkOrigin, at_s: float) -> None:
    """Raise InputError unless the run can be forked at that time."""
    latest_s = origin.latest_fork_s
    if math.isfinite(at_s) and 0 <= at_s <= latest_s:
        return
    values = {"run": origin.title, "time": f"{at_s:.10g}", "last": f"{latest_s:.10g}"}
    if origin.known_until_s < origin.scenario.duration_s:
        raise InputError(
            tr("{run} cannot be forked at {time} s; allowed: 0 s to {last} s, as far as it was simulated", **values)
        )
    values["last"] = f"{origin.scenario.duration_s:.10g}"
    raise InputError(
        tr("{run} cannot be forked at {time} s; allowed: from 0 s to before its end at {last} s", **values)
    )


def read_fork_change(origin: ForkOrigin, at_s: float, values: Values) -> Event:
    """Parse a change as an event at the time of the fork.

    Raises:
        ScenarioError: if the change is invalid; contains all problems.
    """
    from subflow_sim.scenario_reader import read_change

    return read_change(origin.scenario, {**values, "at": (round(at_s * NANOSECONDS) + 1) / NANOSECONDS})


def values_before(scenario: Scenario, event: Event, values: Values, at_s: float) -> dict[str, TomlValue]:
    """The values that a change replaces, in the form of a scenario file; omits undefined values."""
    changed = [key for key in values if key not in ("link", "flow", "direction", "subflow")]
    if event.link is not None:
        directions = ("forward", "reverse") if event.direction == "both" else (event.direction,)
        sides = [link_values(scenario, event.link, direction, at_s) for direction in directions]
        return {key: _joined([side[key] for side in sides]) for key in changed}
    states = flow_values(scenario, event.flow or "", event.subflow, at_s)
    return {key: states[key] for key in changed if key in states}


def link_values(scenario: Scenario, link: str, direction: str, at_s: float) -> dict[str, TomlValue]:
    """The values that a fork can change in one direction of a link, by key, as they are at ``at_s`` seconds."""
    state = live_link(scenario, (), link, direction, at_s)
    assert state is not None
    return {**state.values(), **({} if state.side.trace is None else {"rate": "trace"})}


def flow_values(scenario: Scenario, flow: str, subflow: int | None, at_s: float) -> dict[str, TomlValue]:
    """The changeable values of a flow or subflow; values that differ among the subflows are omitted."""
    base = flow.partition(".")[0]
    # Changes of a copy apply in addition to changes of the flow.
    of_copy = [event for event in scenario.events if event.flow == flow != base and event.at_s <= at_s]
    states = live_subflows(scenario, [LiveChange(replace(event, flow=base), {}) for event in of_copy], base, at_s)
    chosen = [state for state in states if subflow in (None, state.ordinal)]
    known: dict[str, TomlValue] = {}
    if subflow is None and not scenario.flows[base].sends_datagrams:
        controller = live_controller(scenario, (), flow, at_s)
        assert controller is not None
        known["controller"] = written_choice(controller, scenario)
    for key, found in (("open", {s.is_open for s in chosen}), ("backup", {s.is_backup for s in chosen})):
        if len(found) == 1:
            known[key] = found.pop()
    return known


def _joined(values: Sequence[TomlValue]) -> TomlValue:
    """The common value, or the values of both directions of a link separated by a slash."""
    return values[0] if all(value == values[0] for value in values) else " / ".join(map(str, values))
