"""Explains the decisions of learning agents in a run with tables, JSON documents, curves and reasons.

A decision is identified by agent and time. The curves show observations and actions of the agents over time, for each
subflow.

The reasons for a decision are counterfactuals, one for each feature that the agent observes of a subflow. The feature
is set to its median over the run in all records, and the policy computes the action again. The change of the action
shows how much the feature mattered, but not how its value arose.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from subflow_app.features.catalog.core.catalog import policy_library
from subflow_app.features.policies.core import policy_origin
from subflow_app.features.traces.core.events import AGENT, agent_steps_of
from subflow_app.features.traces.core.traces import (
    FLOW,
    NANOSECONDS,
    SUBFLOW,
    Traces,
    check_kept,
    listed,
    not_kept,
    select_keys,
)
from subflow_app.features.training.core.agent_numbers import action_text, seen_text
from subflow_app.foundation.errors import InputError
from subflow_app.vocabulary.language import tr
from subflow_app.vocabulary.number_text import NOTHING, count_text, finite, fixed, typeset
from subflow_app.vocabulary.tables import Column, NumberColumn, TextTable
from subflow_sim.errors import ParamError, SimError
from subflow_sim.policy import Policy

if TYPE_CHECKING:
    from subflow_app.features.training.core.policy_surface import ActingPolicy
    from subflow_sim.agent_steps import AgentDecision, AgentSteps, RunAgent, SeenSubflow
    from subflow_sim.decisions import Explanation
    from subflow_sim.vec_env import AgentNumber
    from subflow_store import EventExtent, Store


# For each unit in `EPOCH_FIGURES`, the factor to the display unit, and the display unit.
_SCALES = {"bit/s": (1e-6, "Mbit/s"), "s": (1e3, "ms"), "pkt": (1.0, "pkt"), "": (1.0, "")}
# Pairs of figures before and after the action, shown with both values if they differ.
_CHANGES = {"cwnd_before_pkts": "cwnd_after_pkts", "rate_before_bps": "rate_after_bps"}


def stored_agent_steps(
    store: Store, run_id: int, agent: str | None = None, t_from_s: float | None = None, t_to_s: float | None = None
) -> AgentSteps:
    """The steps of a run's agents, optionally of one agent or between two times (s); empty if the run has no agents.

    Raises:
        StoreError: if the store has no such run or the database cannot be read.
    """
    return agent_steps_of(store.agent_steps(run_id, agent, t_from_s, t_to_s))


def agent_decisions_around(
    store: Store, run_id: int, agent: str | None, at_s: float, *, before: int = 1, after: int = 0
) -> tuple[list[AgentDecision], list[AgentDecision]]:
    """An agent's last `before` decisions at or before a time, and its next `after` decisions, or as many as exist.

    Args:
        store: an open store.
        run_id: the run.
        agent: name of the agent; None: the only one.
        at_s: simulated time, s.
        before: maximum number of decisions at or before the time, at least 1.
        after: maximum number of decisions after the time.

    Raises:
        InputError: if the run has no agents or lacks the named one, if no name is given although the run has several
            agents, if the time is outside the run, or if it is before the first decision.
        StoreError: if the database cannot be read.
    """
    extents = store.event_extents(run_id, AGENT.name)
    if not extents:
        raise InputError(f"run {run_id} has no decisions of learning agents: none of its controllers learns")
    names = list(extents)
    if agent is None and len(names) > 1:
        raise InputError(f"run {run_id} has several agents; name one of {listed(names)}")
    name = names[0] if agent is None else agent
    if name not in extents:
        raise InputError(f'run {run_id} has no agent "{name}"; it has {listed(names)}')
    check_kept(store.run(run_id), extents, name, at_s)
    steps = stored_agent_steps(store, run_id, name)
    current = steps.at(name, at_s)
    if current is None:
        raise not_kept(run_id, name, at_s)
    last = min(len(steps.decisions(name)) - 1, current + after)
    decisions = [steps.explain(name, position) for position in range(max(0, current + 1 - before), last + 1)]
    split = len(decisions) - (last - current)
    return decisions[:split], decisions[split:]


def agent_behind(read: Callable[..., AgentSteps], decision: Explanation) -> AgentDecision | None:
    """Find the agent's decision that caused a decision of a subflow's controller; None if no agent caused it.

    Args:
        read: returns steps of the run; takes the arguments of `stored_agent_steps` after `run_id`, and may return more
            steps than requested.
        decision: the decision of the controller.

    Raises:
        StoreError: if the steps are stored and cannot be read.
    """
    if decision.cause != "action":
        return None
    steps = read(None, decision.time_s, decision.time_s)
    for agent in (each.name for each in steps.agents if len(steps.acting_rows(each.name, decision.owner))):
        own = read(agent)  # the next decision contains the reward of this one
        position = own.at(agent, decision.time_s)
        if position is not None:
            return own.explain(agent, position)
    return None


def agent_lines(decision: AgentDecision) -> list[str]:
    """Lines with agent and reward, to be printed below a decision of the agent's controller."""
    agent = decision.agent
    return [
        f"  agent    {agent.name}, decision {decision.number} of {agent.controller}, by {agent.policy}",
        f"  reward   {_earned(decision)}: {agent.reward}",
    ]


def agent_decision_lines(decision: AgentDecision) -> list[str]:
    """A decision of an agent as lines of text."""
    agent = decision.agent
    lines = [
        f"{agent.name} at {decision.time_s:.9f} s: decision {decision.number} of {agent.controller}, by {agent.policy}",
        f"  policy   {policy_origin(agent.policy)}",
        *(f"  action   {each.name}: {action_text(agent, each)}" for each in decision.acting),
        f"  reward   {_earned(decision)}: {agent.reward}",
    ]
    for subflow in decision.subflows:
        lines.append(f"  {subflow.name}{'' if subflow.is_acting else ' (only seen)'}: {figures_text(subflow)}")
        for past in range(agent.history):
            record = subflow.observation[past * len(agent.features) :]
            figures = subflow.figures if past == 0 else None
            seen = ", ".join(_seen(f, value, figures) for f, value in zip(agent.features, record, strict=False))
            lines.append(f"    saw {seen}" if past == 0 else f"    {past} before: {seen}")
    return lines


def _seen(feature: AgentNumber, value: float, figures: Mapping[str, float] | None) -> str:
    meaning = seen_text(feature, value, figures)
    return f"{feature.name} {_number(value)}" + (f" = {meaning}" if meaning else "")


def figures_text(subflow: SeenSubflow) -> str:
    """Figures of a subflow for the previous epoch: "goodput 3.1 Mbit/s, RTT 110 ms, cwnd 10 -> 12 pkt"."""
    from subflow_sim.agent_steps import EPOCH_FIGURES

    parts = []
    for name, (title, unit) in EPOCH_FIGURES.items():
        value = subflow.figures[name]
        if name in _CHANGES.values() or not math.isfinite(value):
            continue
        scale, shown_unit = _SCALES[unit]
        after = subflow.figures[_CHANGES[name]] if name in _CHANGES else value
        # A rate of 0 before and after the action means that the subflow is not paced.
        if name == "rate_before_bps" and not (value or after):
            continue
        change = f" -> {_number(after * scale)}" if name in _CHANGES and after != value else ""
        parts.append(f"{title} {_number(value * scale)}{change} {shown_unit}".rstrip())
    return ", ".join(parts)


def agent_decision_document(decision: AgentDecision) -> dict[str, Any]:
    """A decision of an agent as a document; unknown or inapplicable values are null."""
    features = [feature.name for feature in decision.agent.features]
    return {
        "time_s": decision.time_s,
        "agent": decision.agent.name,
        "controller": decision.agent.controller,
        "policy": decision.agent.policy,
        "number": decision.number,
        "value": finite(decision.value),
        "reward": finite(decision.reward),
        "outcome": finite(decision.outcome),
        "subflows": [
            {
                "name": subflow.name,
                "is_acting": subflow.is_acting,
                "action": _named(decision.agent.action_names, subflow.action) if subflow.is_acting else None,
                "observation": [
                    _named(features, subflow.observation[past * len(features) :])
                    for past in range(decision.agent.history)
                ],
                **{name: finite(value) for name, value in subflow.figures.items()},
            }
            for subflow in decision.subflows
        ],
    }


def agents_line(extents: Mapping[str, EventExtent]) -> str:
    """One line that names the agents with decisions in a run."""
    names = list(extents)
    return f"decisions of the learning {'agent' if len(names) == 1 else 'agents'} {listed(names, many='agents')}"


def agents_table(steps: AgentSteps) -> TextTable:
    """The agents of a run as a table."""
    columns: tuple[Column[dict[str, Any]], ...] = (
        Column("Agent", lambda agent: agent["name"]),
        Column("Controller", lambda agent: agent["controller"]),
        Column("Policy", lambda agent: agent["policy"]),
        NumberColumn("Decisions", lambda agent: agent["decisions"], count_text),
        NumberColumn("First", lambda agent: agent["first_s"], fixed(3), "s"),
        NumberColumn("Last", lambda agent: agent["last_s"], fixed(3), "s"),
        NumberColumn("Mean reward", lambda agent: agent["mean_reward"], _reward),
    )
    return TextTable.of(agents_document(steps), columns, "Learning agents")


def _reward(value: float | None) -> str:
    return NOTHING if value is None else _number(value)


def agents_document(steps: AgentSteps) -> list[dict[str, Any]]:
    """The agents of a run as documents: features and actions, and the number and times of the decisions."""
    return [_agent_document(steps, agent) for agent in steps.agents]


def _agent_document(steps: AgentSteps, agent: RunAgent) -> dict[str, Any]:
    first_rows = steps.decisions(agent.name)
    rewards = steps.reward[first_rows]
    known = rewards[np.isfinite(rewards)]
    return {
        **asdict(agent),
        "decisions": len(first_rows),
        "first_s": int(steps.time_ns[first_rows[0]]) / NANOSECONDS,
        "last_s": int(steps.time_ns[first_rows[-1]]) / NANOSECONDS,
        "mean_reward": float(known.mean()) if len(known) else None,
    }


def _earned(decision: AgentDecision) -> str:
    earned = f"{_number(decision.reward)} for what it did before, {_number(decision.outcome)} for this"
    return (
        f"{earned}, which the policy valued at {_number(decision.value)}" if math.isfinite(decision.value) else earned
    )


def _named(names: list[str] | tuple[str, ...], values: tuple[float, ...]) -> dict[str, float | None]:
    return {name: finite(value) for name, value in zip(names, values, strict=False)}


def _number(value: float) -> str:
    return "unknown" if math.isnan(value) else typeset(f"{value:.4g}")


REWARD = "reward"
"""Name of the trace column with the reward for the latest epoch, at flows or subflows that an agent controls."""

Numbers = Literal["observation", "action"]


def learning_subflows(traces: Traces) -> list[str]:
    """The subflows that agents control, in the order of the traces. Known even before the first decision."""
    rewarded = {key.owner for scope in (FLOW, SUBFLOW) for key in select_keys(traces, scope, REWARD)}
    subflows = dict.fromkeys(key.owner for key in select_keys(traces, SUBFLOW))
    return [owner for owner in subflows if owner in rewarded or owner.partition("/")[0] in rewarded]


def steps_of(traces: Traces) -> AgentSteps:
    """All steps that the agents of a run have taken.

    Raises:
        StoreError: if the traces are stored and cannot be read.
    """
    return agent_steps_of(traces.events(AGENT.name))


def number_names(agent: RunAgent, numbers: Numbers) -> tuple[str, ...]:
    """Names of the features in one record of an agent's observation, or of the numbers of its action."""
    return agent.action_names if numbers == "action" else tuple(each.name for each in agent.features)


def number_series(
    steps: AgentSteps, numbers: Numbers, name: str | None = None
) -> dict[str, tuple[NDArray[np.float64], NDArray[np.float32]]]:
    """One number of the observations or actions over time, for each subflow that an agent has controlled.

    Args:
        steps: the decisions.
        numbers: whether the number belongs to the observation (the latest record) or to the action.
        name: name of the number; None: the first number of each agent. Subflows whose agent lacks it are omitted.

    Returns:
        Times (s) and values, by subflow.
    """
    series: dict[str, tuple[NDArray[np.float64], NDArray[np.float32]]] = {}
    for agent in steps.agents:
        names = number_names(agent, numbers)
        wanted = names[0] if name is None else name
        if wanted not in names:
            continue
        column = (steps.action if numbers == "action" else steps.observation)[:, names.index(wanted)]
        for subflow in steps.subflows:
            rows = steps.acting_rows(agent.name, subflow)
            if len(rows):
                series[subflow] = (steps.time_ns[rows] / 1e9, column[rows])
    return series


MOST_TOLD = 3
"""Maximum number of reasons shown for each subflow; weaker reasons are omitted."""

_SAME = 1e-4  # tolerance for an action recomputed on a different machine


@dataclass(frozen=True, slots=True)
class Reason:
    """Effect of an observed feature on the action for a subflow.

    Attributes:
        feature: name of the feature.
        value: value of the feature in the latest record.
        usual: median of the feature over the run.
        otherwise: the action with the median in place of the value.
        change: absolute difference between `otherwise` and the actual action, summed over the numbers of the action.
    """

    feature: str
    value: float
    usual: float
    otherwise: tuple[float, ...]
    change: float


def reasons(steps: AgentSteps, decision: AgentDecision, policy: ActingPolicy) -> dict[str, list[Reason]]:
    """Reasons for a decision by subflow, the strongest first; a list is empty if no single feature changes the action.

    Args:
        steps: steps of the agent in the whole run.
        decision: the decision.
        policy: policy that made the decision.

    Raises:
        ValueError: if the policy computes a different action, and therefore did not make this decision.
    """
    agent = decision.agent
    count = len(agent.features)
    seen = np.array([each.observation for each in decision.subflows], np.float32)  # [S, F]
    acting = np.array([each.is_acting for each in decision.subflows])
    found: dict[str, list[Reason]] = {}
    for row in np.flatnonzero(acting).tolist():
        subflow = decision.subflows[row]
        usual = np.median(steps.observation[steps.acting_rows(agent.name, subflow.name), :count], axis=0)
        trials = np.repeat(seen[None], count + 1, axis=0)
        for feature in range(count):
            trials[feature, row, feature::count] = usual[feature]
        actions, _ = policy.act_many(trials, np.tile(acting, (count + 1, 1)), np.ones(trials.shape[:2], np.bool_))
        done = actions[count, row]
        if not np.allclose(done, subflow.action, atol=_SAME):
            raise ValueError(f"the policy {agent.policy} is not the one that decided")
        change = np.abs(actions[:count, row] - done).sum(axis=1)
        found[subflow.name] = [
            Reason(
                agent.features[feature].name,
                float(seen[row, feature]),
                float(usual[feature]),
                tuple(actions[feature, row].tolist()),
                float(change[feature]),
            )
            for feature in np.argsort(-change, kind="stable").tolist()
            if change[feature] > _SAME
        ]
    return found


def stored_reasons(store: Store, run_id: int, decision: AgentDecision) -> dict[str, list[Reason]] | str:
    """The reasons for a decision in a stored run, or an error message if they cannot be computed."""
    return known_reasons(stored_agent_steps(store, run_id, decision.agent.name), decision)


def decision_with_reasons(store: Store, run_id: int, decision: AgentDecision) -> tuple[dict[str, Any], list[str]]:
    """A decision in a stored run as a document that includes the reasons, and the reasons as lines of text.

    Raises:
        StoreError: if the store has no such run or the database cannot be read.
    """
    found = stored_reasons(store, run_id, decision)
    return agent_decision_document(decision) | {"reasons": reasons_document(found)}, reason_lines(decision, found)


def known_reasons(steps: AgentSteps, decision: AgentDecision) -> dict[str, list[Reason]] | str:
    """The reasons for a decision, computed with the policy in the library, or an error message if that fails."""
    policy = _policy_of(decision.agent)
    if isinstance(policy, str):
        return policy
    try:
        return reasons(steps, decision, policy)
    except (ValueError, SimError) as error:
        return str(error)


def reason_texts(decision: AgentDecision, found: Mapping[str, Sequence[Reason]] | str) -> list[str]:
    """The strongest reasons of each subflow as text; one line if `found` is an error message."""
    if isinstance(found, str):
        return [tr("not known: {why}", why=found)]
    texts = []
    for subflow, moved_by in found.items():
        if not moved_by:
            texts.append(
                tr(
                    "{subflow}: no number by itself; with any one at its median it would have done the same",
                    subflow=subflow,
                )
            )
        for reason in moved_by[:MOST_TOLD]:
            texts.append(
                tr(
                    "{subflow}: {number} was {value}; at its median, {usual}, the action would be: {action}",
                    subflow=subflow,
                    number=reason.feature,
                    value=f"{reason.value:.3g}",
                    usual=f"{reason.usual:.3g}",
                    action=", ".join(decision.agent.action_texts(reason.otherwise)),
                )
            )
    return texts


def reason_lines(decision: AgentDecision, found: Mapping[str, Sequence[Reason]] | str) -> list[str]:
    """Reasons as lines of text, to be printed below the decision."""
    return [f"  why      {text}" for text in reason_texts(decision, found)]


def windows_beside(decision: AgentDecision, others: Iterable[Traces]) -> list[str]:
    """Compare the congestion windows after a decision with those of other runs on the same subflows at that time.

    Args:
        decision: the decision.
        others: runs to compare with; runs with a learning agent on these subflows are skipped.
    """
    texts = []
    for subflow in decision.acting:
        flow = subflow.name.partition("/")[0]
        beside = []
        for traces in others:
            keys = select_keys(traces, SUBFLOW, "cwnd_pkts", subflow.name)
            if not keys or subflow.name in learning_subflows(traces) or flow not in traces.controllers:
                continue
            times_s, windows_pkts = traces.read(keys[0])
            before = int(np.searchsorted(times_s, decision.time_s, side="right")) - 1
            if before >= 0 and np.isfinite(windows_pkts[before]):
                window = f"{windows_pkts[before]:.3g}"
                beside.append(
                    tr(
                        "{controller} in {run}: {window} pkt",
                        controller=traces.controllers[flow],
                        run=traces.title,
                        window=window,
                    )
                )
        if beside:
            own = f"{subflow.figures['cwnd_after_pkts']:.3g}"
            texts.append(
                tr(
                    "{subflow}: window {window} pkt; {others}",
                    subflow=subflow.name,
                    window=own,
                    others="; ".join(beside),
                )
            )
    return texts[:MOST_TOLD]


def reasons_document(found: Mapping[str, Sequence[Reason]] | str) -> dict[str, Any]:
    """All reasons as a document, by subflow; only the message if `found` is an error message."""
    if isinstance(found, str):
        return {"not_known": found}
    return {subflow: [asdict(reason) for reason in listed] for subflow, listed in found.items()}


def _policy_of(agent: RunAgent) -> Policy | str:
    try:
        return Policy.from_bytes(policy_library().read(agent.policy).content)
    except (ParamError, SimError) as error:
        return f"{agent.policy}: {error}"
