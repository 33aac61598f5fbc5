"""Observations, actions and rewards of learning agents in a run, as arrays that can be searched by agent and time."""

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
"""Displayed name and unit of each measurement of a subflow in the epoch that ended, by column of `AgentSteps`."""


@dataclass(frozen=True, slots=True)
class RunAgent:
    """A learning agent of a run.

    Attributes:
        name: name of the agent's host ("server"), connection ("download.1") or subflow ("download.1/2"). If several
            agents of one controller would share a name, they are numbered: "server #2".
        controller: controller through which the agent acts: "drl-cc".
        scope: part of the network for which one decision holds.
        policy: source of the decisions: "neutral", "random", or the name of a trained policy.
        features: quantities observed of each subflow, in each record of an observation.
        actions: quantities that an action sets for each acting subflow.
        choices: names of the discrete actions, by number; empty if actions are continuous.
        history: records in an observation, the latest first.
        reward: formula as displayed text.
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
        """Length of an observation, all records included."""
        return self.history * len(self.features)

    @property
    def action_names(self) -> tuple[str, ...]:
        """Name of each element of an action; ("choice",) if the actions are discrete."""
        return ("choice",) if self.choices else tuple(each.name for each in self.actions)

    def action_texts(self, action: Sequence[float]) -> tuple[str, ...]:
        """An action as displayed strings: "window_change +0.25", "increase"."""
        if not self.choices:
            return tuple(f"{name} {value:+.4g}" for name, value in zip(self.action_names, action, strict=True))
        return tuple(self.choices[round(value)] for value in action)


@dataclass(frozen=True, slots=True)
class SeenSubflow:
    """A subflow as observed by an agent at a decision.

    Attributes:
        name: connection and number of the path, "download.1/2".
        is_acting: whether the agent decided for the subflow; if not, the agent only observed it.
        observation: the agent's features in each of its `history` records, the latest first, scaled and clipped.
        action: one number for each of the agent's `action_names`; empty for subflows that were only observed.
        figures: measurements of the epoch that ended, by the names of `EPOCH_FIGURES`; NaN without a sample.
    """

    name: str
    is_acting: bool
    observation: tuple[float, ...]
    action: tuple[float, ...]
    figures: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class AgentDecision:
    """A decision of an agent with all names resolved.

    Attributes:
        time_s: simulated time of the decision, s.
        agent: the agent that made the decision.
        number: number of the decision among those of the agent, from 0.
        value: the policy's estimate of the value of this observation and action; NaN if the policy estimates no values.
        reward: reward of the epoch that ended with this decision, earned by the previous decision; NaN at the first.
        outcome: reward of the following epoch, earned by this decision; NaN at the last. The agent of a host decides
            for one of its flows at a time; the epoch ends with its next decision, whichever flow that decision is for.
        subflows: the observed subflows, in the order in which the policy received them.
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
        """The subflows for which the agent decided."""
        return tuple(each for each in self.subflows if each.is_acting)

    @property
    def action_text(self) -> str:
        """The action as text: "download/1 window_change +0.25; download/2 window_change -0.1"."""
        return "; ".join(f"{each.name} {', '.join(self.agent.action_texts(each.action))}" for each in self.acting)


@dataclass(frozen=True)
class AgentSteps:
    """Decisions of learning agents in order of time, with one row for each subflow observed at a decision.

    The rows of a decision are contiguous. All arrays have the same length n.

    Attributes:
        agents: all agents of the run, including those without a row.
        subflows: names of the subflows of the run ("download.1/2").
        time_ns: int64 [n], simulated time in ns.
        agent: uint32 [n], position in `agents`.
        number: uint32 [n], number of the decision among those of the agent, from 0.
        subflow: uint32 [n], position in `subflows`.
        is_acting: bool [n], whether the agent decided for the subflow; if not, the agent only observed it.
        value: float32 [n], the policy's value estimate of the decision, in all of its rows; NaN if the policy estimates
            no values.
        reward: float32 [n], reward of the epoch that ended, in all rows of the decision; NaN at the agent's first.
        epoch_s: float32 [n], length of the epoch that ended, s.
        sending_rate_bps: float32 [n], wire rate sent in the epoch, retransmissions included, bit/s.
        goodput_bps: float32 [n], payload newly acknowledged in the epoch, bit/s.
        loss_ratio: float32 [n], lost / (lost + acknowledged) among the packets whose fate became known in the epoch.
        rtt_s: float32 [n], mean of the epoch's RTT samples, otherwise the latest sample, s; NaN before the first.
        min_rtt_s: float32 [n], minimum RTT of the subflow so far, s; NaN before the first sample.
        schedule_share: float32 [n], share of the packets that the connection scheduled in the epoch.
        cwnd_before_pkts: float32 [n], congestion window before the action, packets.
        cwnd_after_pkts: float32 [n], congestion window after the action, packets.
        rate_before_bps: float32 [n], pacing rate on the wire before the action, bit/s; 0: unpaced.
        rate_after_bps: float32 [n], pacing rate on the wire after the action, bit/s; 0: unpaced.
        observation: float32 [n, widest], records of the features, the latest first; NaN beyond the agent's width.
        action: float32 [n, widest] for acting rows; NaN in other rows and beyond the length of the agent's actions.
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
        """The agent with this name.

        Raises:
            KeyError: if no agent has this name.
        """
        return self.agents[self._position_of(name)]

    def decisions(self, agent: str) -> Ints:
        """Index of the first row of each of an agent's decisions, int64, in order of time; computed once, then cached.

        Raises:
            KeyError: if no agent has this name.
        """
        position = self._position_of(agent)
        if (position, -1) not in self._found:
            rows = np.flatnonzero(self.agent == position)
            is_first = np.diff(self.number[rows].astype(np.int64), prepend=-1) != 0
            self._found[position, -1] = rows[is_first]
        return self._found[position, -1]

    def acting_rows(self, agent: str, subflow: str) -> Ints:
        """Indices of the rows in which an agent decided for a subflow, int64, ascending; empty for an unknown subflow.

        Raises:
            KeyError: if no agent has this name.
        """
        key = (self._position_of(agent), self.subflows.index(subflow) if subflow in self.subflows else -2)
        if key not in self._found:
            self._found[key] = np.flatnonzero((self.agent == key[0]) & (self.subflow == key[1]) & self.is_acting)
        return self._found[key]

    def at(self, agent: str, time_s: float) -> int | None:
        """Position, from 0, of an agent's last decision at or before a time; None before the agent's first.

        Raises:
            KeyError: if no agent has this name.
        """
        position = rows_until(self.time_ns, self.decisions(agent), time_s) - 1
        return position if position >= 0 else None

    def nearest(self, agent: str, time_s: float) -> int | None:
        """Position, from 0, of an agent's decision nearest to a time; None if the agent never decided.

        Raises:
            KeyError: if no agent has this name.
        """
        rows = self.decisions(agent)
        if not len(rows):
            return None
        after = min(rows_until(self.time_ns, rows, time_s, "left"), len(rows) - 1)
        before = max(0, after - 1)
        before_ns, after_ns = abs(self.time_ns[rows[[before, after]]] - np.rint(time_s * 1e9))
        return before if before_ns < after_ns else after

    def rows(self, agent: str, position: int) -> slice:
        """The rows of a decision, given its position (from 0) among the agent's decisions in this batch.

        Raises:
            KeyError: if no agent has this name.
            IndexError: if the position is out of range.
        """
        first = int(self.decisions(agent)[position])
        same = (self.number[first:] == self.number[first]) & (self.agent[first:] == self.agent[first])
        return slice(first, first + (len(same) if same.all() else int(np.argmin(same))))

    def explain(self, agent: str, position: int) -> AgentDecision:
        """One of an agent's decisions with all names resolved.

        Raises:
            KeyError: if no agent has this name.
            IndexError: if the position is out of range.
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
        """The names of the array attributes."""
        return tuple(each.name for each in fields(cls) if each.init)[2:]

    @classmethod
    def joined(cls, batches: Sequence[AgentSteps]) -> AgentSteps:
        """Concatenates successive batches of one simulation.

        Raises:
            ValueError: if the sequence is empty or the batches differ in agents or subflows.
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
