"""Why a learning agent did what it did: what it would have done had one number been what it mostly is.

A counterfactual for each number that it sees of a subflow: in all records it takes its median over the run, and the
policy is asked again. That says which numbers moved the action, not how they came about.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from subflow_app.features.catalog.core.catalog import policy_library
from subflow_app.features.traces.core.traces import SUBFLOW, select_keys
from subflow_app.features.training.core.agent_explanations import stored_agent_steps
from subflow_app.features.training.core.agent_series import learning_subflows
from subflow_app.vocabulary.language import tr
from subflow_sim.errors import ParamError, SimError
from subflow_sim.policy import Policy

if TYPE_CHECKING:
    from subflow_app.features.traces.core.traces import Traces
    from subflow_app.features.training.core.policy_surface import ActingPolicy
    from subflow_sim.agent_steps import AgentDecision, AgentSteps, RunAgent
    from subflow_store import Store

MOST_TOLD = 3
"""Numbers that are told of for each subflow, the strongest first."""

_SAME = 1e-4  # what an action computed again may differ by, from one machine to another


@dataclass(frozen=True, slots=True)
class Reason:
    """What a number that an agent saw did to its action for a subflow.

    Attributes:
        feature: its name.
        value: in the latest record.
        usual: its median over the run.
        otherwise: the action with the usual value in its place.
        change: how far that is from what was done, summed over the numbers of the action.
    """

    feature: str
    value: float
    usual: float
    otherwise: tuple[float, ...]
    change: float


def reasons(steps: AgentSteps, told: AgentDecision, policy: ActingPolicy) -> dict[str, list[Reason]]:
    """The numbers that moved a decision, by subflow, the strongest first; none where no single one did.

    Args:
        steps: of the agent, of the whole run.
        told: the decision.
        policy: that made it.

    Raises:
        ValueError: if the policy decides otherwise now: it is not the one that decided then.
    """
    agent = told.agent
    count = len(agent.features)
    seen = np.array([each.observation for each in told.subflows], np.float32)  # [S, F]
    acting = np.array([each.is_acting for each in told.subflows])
    found: dict[str, list[Reason]] = {}
    for row in np.flatnonzero(acting).tolist():
        subflow = told.subflows[row]
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


def stored_reasons(store: Store, run_id: int, told: AgentDecision) -> dict[str, list[Reason]] | str:
    """The reasons of a decision in a stored run, or why they cannot be told."""
    return known_reasons(stored_agent_steps(store, run_id, told.agent.name), told)


def known_reasons(steps: AgentSteps, told: AgentDecision) -> dict[str, list[Reason]] | str:
    """The reasons of a decision by a policy of the library, or why they cannot be told."""
    policy = _policy_of(told.agent)
    if isinstance(policy, str):
        return policy
    try:
        return reasons(steps, told, policy)
    except (ValueError, SimError) as error:
        return str(error)


def reason_texts(told: AgentDecision, found: Mapping[str, Sequence[Reason]] | str) -> list[str]:
    """Reasons in words, the strongest of each subflow."""
    if isinstance(found, str):
        return [tr("not known: {why}", why=found)]
    texts = []
    for subflow, listed in found.items():
        if not listed:
            texts.append(
                tr(
                    "{subflow}: no number by itself; with any one at its median it would have done the same",
                    subflow=subflow,
                )
            )
        for reason in listed[:MOST_TOLD]:
            texts.append(
                tr(
                    "{subflow}: {number} was {value}; at its median, {usual}, it would have been {action}",
                    subflow=subflow,
                    number=reason.feature,
                    value=f"{reason.value:.3g}",
                    usual=f"{reason.usual:.3g}",
                    action=", ".join(told.agent.action_texts(reason.otherwise)),
                )
            )
    return texts


def reason_lines(told: AgentDecision, found: Mapping[str, Sequence[Reason]] | str) -> list[str]:
    """Reasons as lines below the decision."""
    return [f"  why      {text}" for text in reason_texts(told, found)]


def windows_beside(told: AgentDecision, others: Iterable[Traces]) -> list[str]:
    """The window that the agent left, beside those that other runs have on the same subflows at that time, in words.

    Args:
        told: the decision.
        others: runs without a learning agent on those subflows are told of, as those of a classic controller.
    """
    texts = []
    for subflow in told.acting:
        flow = subflow.name.partition("/")[0]
        beside = []
        for traces in others:
            keys = select_keys(traces, SUBFLOW, "cwnd_pkts", subflow.name)
            if not keys or subflow.name in learning_subflows(traces) or flow not in traces.controllers:
                continue
            times_s, windows_pkts = traces.read(keys[0])
            before = int(np.searchsorted(times_s, told.time_s, side="right")) - 1
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
    """Reasons for programs: by subflow, all that there are; or why there are none."""
    if isinstance(found, str):
        return {"not_known": found}
    return {subflow: [asdict(reason) for reason in listed] for subflow, listed in found.items()}


def _policy_of(agent: RunAgent) -> Policy | str:
    try:
        return Policy.from_bytes(policy_library().read(agent.policy).content)
    except (ParamError, SimError) as error:
        return f"{agent.policy}: {error}"
