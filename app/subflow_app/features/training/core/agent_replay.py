"""Steps through the decisions of a learning agent in a run, and lists the numbers of the current decision."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from subflow_app.features.training.core.agent_explanations import (
    Numbers,
    known_reasons,
    number_names,
    reason_texts,
    steps_of,
    windows_beside,
)
from subflow_app.features.training.core.agent_numbers import effect_text, seen_text
from subflow_app.vocabulary.language import tr

if TYPE_CHECKING:
    from collections.abc import Sequence

    from subflow_app.features.traces.core.traces import Traces
    from subflow_sim.agent_steps import AgentDecision, RunAgent
    from subflow_sim.vec_env import AgentNumber

Part = Literal["seen", "done", "epoch"]


@dataclass(frozen=True, slots=True)
class NumberRow:
    """One number of a decision, for each observed subflow.

    Attributes:
        part: observation (scaled, as the input of the policy), action, or figures of the previous epoch (SI).
        name: name of the number, e.g. "goodput"; in an earlier record "goodput, 1 before".
        unit: SI unit; "1" for scaled numbers.
        help: meaning and bounds; empty for figures of the epoch.
        values: one value per subflow; NaN if unknown, and for actions on subflows that the agent only observes. Empty
            for choices.
        texts: names of choices or effects, shown in place of `values`; empty for other numbers.
        meanings: the values in physical units, one per subflow; empty for actions and figures of the epoch.
    """

    part: Part
    name: str
    unit: str
    help: str
    values: tuple[float, ...]
    texts: tuple[str, ...] = ()
    meanings: tuple[str, ...] = ()


class AgentReplay:
    """The decisions of the agents of one run, one of which is the current decision.

    Attributes:
        traces: the run.
        position: index of the current decision among the decisions of the current agent, from 0.

    Args:
        traces: the run. While it is active, `refresh` adds new decisions.

    Raises:
        StoreError: if the traces are stored and cannot be read.
    """

    def __init__(self, traces: Traces) -> None:
        self.traces = traces
        self._steps = steps_of(traces)
        self._agent = self._steps.agents[0].name if self._steps.agents else ""
        self.position = 0

    @property
    def agents(self) -> tuple[RunAgent, ...]:
        """The agents with at least one decision."""
        return self._steps.agents

    @property
    def agent(self) -> RunAgent | None:
        """The current agent; None before the first decision."""
        return self._steps.agent_named(self._agent) if self._agent else None

    @property
    def count(self) -> int:
        """Number of decisions of the current agent."""
        return len(self._steps.decisions(self._agent)) if self._agent else 0

    @property
    def has_values(self) -> bool:
        """True if the policy estimates the value of its decisions."""
        return self.count > 0 and math.isfinite(self.at(0).value)

    @property
    def is_at_end(self) -> bool:
        """True if the current decision is the latest."""
        return self.position >= self.count - 1

    @property
    def decision(self) -> AgentDecision | None:
        """The current decision; None before the first."""
        return self.at(self.position) if self.count else None

    def at(self, position: int) -> AgentDecision:
        """The decision of the current agent at a position, counted from 0.

        Raises:
            IndexError: if the agent has no such decision.
        """
        return self._steps.explain(self._agent, position)

    def why(self, others: Sequence[Traces] = ()) -> list[str]:
        """Text with the reasons for the current decision, and a comparison of congestion windows with other runs."""
        decision = self.decision
        if decision is None:
            return []
        why = [
            tr("Why: {reason}", reason=text) for text in reason_texts(decision, known_reasons(self._steps, decision))
        ]
        return [*why, *windows_beside(decision, others)]

    def numbers(self, numbers: Numbers) -> tuple[str, ...]:
        """Names of the current agent's features or actions that can be plotted; empty before its first decision."""
        return number_names(self.agent, numbers) if self.agent is not None else ()

    def choose(self, agent: str) -> None:
        """Switch to a different agent, at its decision nearest in time to the current one.

        Raises:
            KeyError: if the run has no agent of that name.
        """
        before = self.decision
        self._steps.agent_named(agent)
        self._agent = agent
        self.position = 0
        if before is not None:
            self.go_to_time(before.time_s)

    def go_to(self, position: int) -> None:
        """Go to a decision; positions outside of the range are clipped."""
        self.position = min(max(position, 0), max(self.count - 1, 0))

    def go_to_time(self, time_s: float) -> None:
        """Go to the decision nearest to a time."""
        if self.count:
            nearest = self._steps.nearest(self._agent, time_s)
            assert nearest is not None
            self.position = nearest

    def refresh(self) -> bool:
        """Add new decisions; if the last decision was current, move to the new last one. Returns True if any are new.

        Raises:
            StoreError: if the traces are stored and cannot be read.
        """
        steps = steps_of(self.traces)
        if len(steps) == len(self._steps):
            return False
        was_at_end = self.is_at_end
        self._steps = steps
        self._agent = self._agent or steps.agents[0].name
        self.go_to(self.count - 1 if was_at_end else self.position)
        return True


def number_rows(decision: AgentDecision) -> list[NumberRow]:
    """Rows for the action, the observation and the previous epoch, with a value per subflow."""
    from subflow_sim.agent_steps import EPOCH_FIGURES

    agent, subflows = decision.agent, decision.subflows
    rows: list[NumberRow] = []
    if agent.choices:
        texts = tuple(agent.action_texts(each.action)[0] if each.is_acting else "" for each in subflows)
        rows.append(
            NumberRow("done", tr("choice"), "1", tr("one of {choices}", choices=", ".join(agent.choices)), (), texts)
        )
    for index, action in enumerate(agent.actions if not agent.choices else ()):
        values = tuple(each.action[index] if each.is_acting else math.nan for each in subflows)
        rows.append(NumberRow("done", action.name, action.unit, _help(action), values))
    effects = tuple(effect_text(each) if each.is_acting else "" for each in subflows)
    if any(effects):
        rows.append(NumberRow("done", tr("effect"), "1", tr("Before and after the action"), (), effects))
    for past in range(agent.history):
        for index, feature in enumerate(agent.features):
            name = feature.name if past == 0 else tr("{feature}, {count} before", feature=feature.name, count=past)
            values = tuple(each.observation[past * len(agent.features) + index] for each in subflows)
            figures = [each.figures if past == 0 else None for each in subflows]
            meanings = tuple(map(seen_text, [feature] * len(subflows), values, figures))
            rows.append(NumberRow("seen", name, feature.unit, _help(feature), values, meanings=meanings))
    for name, (title, unit) in EPOCH_FIGURES.items():
        values = tuple(each.figures[name] for each in subflows)
        # A rate of 0 before and after the action means that the subflow is not paced.
        if any(math.isfinite(value) and (value or not name.startswith("rate_")) for value in values):
            rows.append(NumberRow("epoch", tr(title), unit, "", values))
    return rows


def _help(number: AgentNumber) -> str:
    return tr(
        "{what}; {minimum} to {maximum}",
        what=tr(number.help),
        minimum=f"{number.minimum:g}",
        maximum=f"{number.maximum:g}",
    )
