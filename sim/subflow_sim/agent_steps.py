"""What learning agents saw, did and earned in a run: decisions in columns, found by agent and time."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from subflow_sim.decisions import Ints, rows_until
from subflow_sim.vec_env import AgentNumber, AgentScope

Floats: TypeAlias = NDArray[np.float32]

EPOCH_FIGURES: Mapping[str, tuple[str, str]] = {
    "epoch_s": ("epoch", "s"),
    "sending_rate_bps": ("sending rate", "bit/s"),
    "goodput_bps": ("goodput", "bit/s"),
    "loss_ratio": ("loss", ""),
    "rtt_s": ("RTT", "s"),
    "min_rtt_s": ("min RTT", "s"),
    "schedule_share": ("share of packets", ""),
    "cwnd_before_pkts": ("cwnd", "pkt"),
    "cwnd_after_pkts": ("cwnd after", "pkt"),
    "rate_before_bps": ("pacing rate", "bit/s"),
    "rate_after_bps": ("pacing rate after", "bit/s"),
}
"""What happened on a subflow in the epoch that ended, in SI units: column of `AgentSteps`, name for people and unit."""


@dataclass(frozen=True, slots=True)
class RunAgent:
    """A learning agent of a run.

    Attributes:
        name: of its host ("server"), connection ("download.1") or subflow ("download.1/2"); where several of its
            controller would have the same name, "server #2".
        controller: what it acts through: "drl-cc".
        scope: what it decides for.
        policy: who decides: "neutral", "random", or the name of a trained policy.
        features: what it sees of each subflow, in each record of an observation.
        actions: what it does to each subflow that acts.
        choices: instead: an action is one of these, by its number.
        history: records that an observation holds, the latest first.
        reward: formula, for people.
    """

    name: str
    controller: str
    scope: AgentScope
    policy: str
    features: tuple[AgentNumber, ...]
    actions: tuple[AgentNumber, ...]
    choices: tuple[str, ...]
    history: int
    reward: str

    @property
    def width(self) -> int:
        """Numbers of an observation."""
        return self.history * len(self.features)

    @property
    def action_names(self) -> tuple[str, ...]:
        """Names of the numbers of an action."""
        return ("choice",) if self.choices else tuple(each.name for each in self.actions)

    def action_texts(self, action: Sequence[float]) -> tuple[str, ...]:
        """An action for people: "window_change +0.25", "increase"."""
        if not self.choices:
            return tuple(f"{name} {value:+.4g}" for name, value in zip(self.action_names, action, strict=True))
        return tuple(self.choices[round(value)] for value in action)


@dataclass(frozen=True, slots=True)
class SeenSubflow:
    """A subflow as an agent saw it when it decided.

    Attributes:
        name: "download.1/2".
        is_acting: whether the agent decided for it; else it was only seen.
        observation: `agent.history` records of `agent.features`, the latest first, scaled and clipped.
        action: one number per `agent.action_names`; none of subflows that were only seen.
        figures: of the epoch that ended, by the names of `EPOCH_FIGURES`; NaN where there is nothing to tell it from.
    """

    name: str
    is_acting: bool
    observation: tuple[float, ...]
    action: tuple[float, ...]
    figures: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class AgentDecision:
    """A decision of an agent with all names.

    Attributes:
        time_s: when.
        agent: whose.
        number: counts the decisions of the agent from 0.
        value: how good the policy thought what it saw, with that action; NaN if it does not say.
        reward: of the epoch that ended with this decision: what the one before earned; NaN at the first.
        outcome: reward of the epoch that followed: what this decision earned; NaN while there is no later one. An agent
            of a host serves its flows in turn: the epoch ends with the next decision, whichever flow that is for.
        subflows: what was seen, in the order in which the policy saw it.
    """

    time_s: float
    agent: RunAgent
    number: int
    value: float
    reward: float
    outcome: float
    subflows: tuple[SeenSubflow, ...]

    @property
    def acting(self) -> tuple[SeenSubflow, ...]:
        """The subflows that it decided for."""
        return tuple(each for each in self.subflows if each.is_acting)

    @property
    def action_text(self) -> str:
        """What it did: "download/1 window_change +0.25; download/2 window_change -0.1"."""
        return "; ".join(f"{each.name} {', '.join(self.agent.action_texts(each.action))}" for each in self.acting)


@dataclass(frozen=True)
class AgentSteps:
    """Decisions of learning agents in order of time, a row for each subflow that an agent saw when it decided.

    The rows of a decision stand together. All arrays have the same length n.

    Attributes:
        agents: the agents of the run; all of them, also those that have no row here.
        subflows: names of the subflows of the run ("download.1/2").
        time_ns: int64 [n], simulated time in ns.
        agent: uint32 [n], position in `agents`.
        number: uint32 [n], counts the decisions of the agent from 0.
        subflow: uint32 [n], position in `subflows`.
        is_acting: bool [n], the agent decided for the subflow; else it was only seen.
        value: float32 [n], how good the policy thought the decision, in all of its rows; NaN if it does not say.
        reward: float32 [n], of the epoch that ended, in all rows of the decision; NaN at the first of the agent.
        epoch_s: float32 [n], length of that epoch, s.
        sending_rate_bps: float32 [n], on the wire in it, retransmissions included, bit/s.
        goodput_bps: float32 [n], payload newly acknowledged in it, bit/s.
        loss_ratio: float32 [n], lost / (lost + acknowledged), of what became known in it.
        rtt_s: float32 [n], mean of its samples, else the last one known, s; NaN before the first.
        min_rtt_s: float32 [n], of the subflow so far, s; NaN before the first sample.
        schedule_share: float32 [n], of the packets that the connection handed out in it.
        cwnd_before_pkts: float32 [n], packets, when the agent was asked.
        cwnd_after_pkts: float32 [n], packets, when it had acted.
        rate_before_bps: float32 [n], pacing rate on the wire in bit/s; 0: unpaced.
        rate_after_bps: float32 [n], likewise.
        observation: float32 [n, widest], records of the features, the latest first; NaN beyond the agent's own width.
        action: float32 [n, widest], of acting rows; NaN beyond the agent's own width and elsewhere.
    """

    agents: tuple[RunAgent, ...]
    subflows: tuple[str, ...]
    time_ns: Ints
    agent: NDArray[np.uint32]
    number: NDArray[np.uint32]
    subflow: NDArray[np.uint32]
    is_acting: NDArray[np.bool_]
    value: Floats
    reward: Floats
    epoch_s: Floats
    sending_rate_bps: Floats
    goodput_bps: Floats
    loss_ratio: Floats
    rtt_s: Floats
    min_rtt_s: Floats
    schedule_share: Floats
    cwnd_before_pkts: Floats
    cwnd_after_pkts: Floats
    rate_before_bps: Floats
    rate_after_bps: Floats
    observation: Floats
    action: Floats
    _found: dict[tuple[int, int], Ints] = field(default_factory=dict, init=False, repr=False, compare=False)

    def __len__(self) -> int:
        return len(self.time_ns)

    def agent_named(self, name: str) -> RunAgent:
        """The agent of that name.

        Raises:
            KeyError: if there is none.
        """
        return self.agents[self._position_of(name)]

    def decisions(self, agent: str) -> Ints:
        """The first row of each of an agent's decisions, in order of time, int64: found once, then remembered.

        Raises:
            KeyError: if there is no such agent.
        """
        position = self._position_of(agent)
        if (position, -1) not in self._found:
            rows = np.flatnonzero(self.agent == position)
            is_first = np.diff(self.number[rows].astype(np.int64), prepend=-1) != 0
            self._found[position, -1] = rows[is_first]
        return self._found[position, -1]

    def acting_rows(self, agent: str, subflow: str) -> Ints:
        """The rows in which an agent decided for a subflow, in order of time, int64; none of one that it never did.

        Raises:
            KeyError: if there is no such agent.
        """
        key = (self._position_of(agent), self.subflows.index(subflow) if subflow in self.subflows else -2)
        if key not in self._found:
            self._found[key] = np.flatnonzero((self.agent == key[0]) & (self.subflow == key[1]) & self.is_acting)
        return self._found[key]

    def at(self, agent: str, time_s: float) -> int | None:
        """Which of an agent's decisions was the last at or before a time, from 0; None: there is none so early.

        Raises:
            KeyError: if there is no such agent.
        """
        position = rows_until(self.time_ns, self.decisions(agent), time_s) - 1
        return position if position >= 0 else None

    def nearest(self, agent: str, time_s: float) -> int | None:
        """Which of an agent's decisions is nearest to a time, from 0; None: it has none.

        Raises:
            KeyError: if there is no such agent.
        """
        rows = self.decisions(agent)
        if not len(rows):
            return None
        after = min(rows_until(self.time_ns, rows, time_s, "left"), len(rows) - 1)
        before = max(0, after - 1)
        before_ns, after_ns = abs(self.time_ns[rows[[before, after]]] - np.rint(time_s * 1e9))
        return before if before_ns < after_ns else after

    def rows(self, agent: str, position: int) -> slice:
        """The rows of one of an agent's decisions, counted from 0 among those that are here.

        Raises:
            KeyError: if there is no such agent.
            IndexError: if it has no such decision.
        """
        first = int(self.decisions(agent)[position])
        same = (self.number[first:] == self.number[first]) & (self.agent[first:] == self.agent[first])
        return slice(first, first + (len(same) if same.all() else int(np.argmin(same))))

    def explain(self, agent: str, position: int) -> AgentDecision:
        """One of an agent's decisions with all names, for people.

        Raises:
            KeyError: if there is no such agent.
            IndexError: if it has no such decision.
        """
        known = self.agent_named(agent)
        rows = self.rows(agent, position)
        subflows = tuple(self._seen(known, row) for row in range(rows.start, rows.stop))
        first_rows = self.decisions(agent)
        following = first_rows[first_rows > rows.start][:1]
        outcome = float(self.reward[following[0]]) if len(following) else math.nan
        return AgentDecision(
            time_s=int(self.time_ns[rows.start]) / 1e9,
            agent=known,
            number=int(self.number[rows.start]),
            value=float(self.value[rows.start]),
            reward=float(self.reward[rows.start]),
            outcome=outcome,
            subflows=subflows,
        )

    @classmethod
    def columns(cls) -> tuple[str, ...]:
        """The names of the arrays."""
        return tuple(each.name for each in fields(cls) if each.init)[2:]

    @classmethod
    def joined(cls, batches: Sequence[AgentSteps]) -> AgentSteps:
        """Batches of one simulation, taken one after the other, as one.

        Raises:
            ValueError: if there is no batch or they are not of the same agents and subflows.
        """
        if not batches:
            raise ValueError("no batches to be joined")
        first = batches[0]
        if any((each.agents, each.subflows) != (first.agents, first.subflows) for each in batches):
            raise ValueError("batches of different simulations cannot be joined")
        arrays = {name: np.concatenate([getattr(each, name) for each in batches]) for name in cls.columns()}
        return cls(first.agents, first.subflows, **arrays)

    def _position_of(self, agent: str) -> int:
        for position, each in enumerate(self.agents):
            if each.name == agent:
                return position
        raise KeyError(agent)

    def _seen(self, agent: RunAgent, row: int) -> SeenSubflow:
        is_acting = bool(self.is_acting[row])
        return SeenSubflow(
            name=self.subflows[self.subflow[row]],
            is_acting=is_acting,
            observation=tuple(self.observation[row, : agent.width].tolist()),
            action=tuple(self.action[row, : len(agent.action_names)].tolist()) if is_acting else (),
            figures={name: float(getattr(self, name)[row]) for name in EPOCH_FIGURES},
        )
