"""A simulation made of formulas, for tests that need failures, slowness or known numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from subflow_sim.agent_steps import EPOCH_FIGURES, AgentSteps, RunAgent
from subflow_sim.decisions import CAUSES, NOBODY, DecisionLimits, Decisions
from subflow_sim.params import Rule
from subflow_sim.scenario_model import Arrivals, Choice, Event, Flow, Link, LinkDirection, Node, QueueSpec
from subflow_sim.trace import Intervals, Scope
from subflow_sim.vec_env import AgentNumber
from subflow_sim.whole_scenario import Scenario

RULES = (
    Rule("growth", "cwnd + acked / cwnd", "RFC 5681 section 3.1", ("acked_pkts",)),
    Rule("turns", "each in turn", "", ("round",)),
)

SUBFLOW_COLUMNS = (
    ("throughput_bps", "bit/s"),
    ("goodput_bps", "bit/s"),
    ("cwnd_pkts", "pkt"),
    ("ssthresh_pkts", "pkt"),
    ("srtt_s", "s"),
    ("min_rtt_s", "s"),
    ("inflight_pkts", "pkt"),
    ("pacing_rate_bps", "bit/s"),
    ("losses_pkts", "pkt"),
)
FLOW_COLUMNS = (("goodput_bps", "bit/s"), ("recv_buffer_bytes", "B"))
# Additional columns: of flows with several paths, of their subflows, and of subflows with monitor intervals.
MULTIPATH_COLUMNS = (("reorder_queue_bytes", "B"), ("hol_blocking_s", "s"), ("reinjections_pkts", "pkt"))
SHARE_COLUMNS = (("schedule_share", ""),)
INTERVAL_COLUMNS = (
    ("interval_rate_bps", "bit/s"),
    ("interval_throughput_bps", "bit/s"),
    ("interval_loss_ratio", ""),
    ("interval_rtt_s", "s"),
    ("interval_min_rtt_s", "s"),
    ("interval_rtt_gradient", ""),
    ("utility", ""),
)
_INTERVAL_FIGURES = (
    "rate_bps",
    "send_rate_bps",
    "throughput_bps",
    "loss_ratio",
    "rtt_mean_s",
    "rtt_min_s",
    "rtt_gradient",
    "rtt_gradient_error",
    "utility",
)
INTERVAL_CONTROLLERS = ("vivace", "mpcc-loss", "mpcc-latency")
AGENT_CONTROLLERS = ("drl-cc", "rl-explore")
"""The first decides by a number for each connection, the second by a choice for each subflow, with a history of 2."""
REWARD_COLUMNS = (("reward", ""),)
FEATURES = (
    AgentNumber("goodput", "1", "acknowledged payload, in the largest rate seen", 0.0, 2.0),
    AgentNumber("rtt", "1", "over the least so far, less 1", 0.0, 5.0),
)
MARK_COLUMNS = (("marks_pkts", "pkt"),)
DELAY_COLUMNS = (("one_way_delay_s", "s"), ("jitter_s", "s"), ("reordered_pkts", "pkt"))
ACK_COLUMNS = (("ack_delay_s", "s"),)
LINK_COLUMNS = (("queue_pkts", "pkt"), ("drops_pkts", "pkt"), ("utilisation", ""))


class FakeColumn(NamedTuple):
    scope: str
    owner: str
    name: str
    unit: str


class FakeMark(NamedTuple):
    time_s: float
    owner: str
    kind: str
    value: float


def make_flow(
    name: str,
    kind: str = "mptcp",
    paths: tuple[str, ...] = ("wifi", "lte"),
    count: int = 1,
    arrivals: Arrivals | None = None,
    controller: str | None = None,
    ecn: str | None = None,
    one_way_delay: bool = False,
) -> Flow:
    return Flow(
        name=name,
        kind=kind,  # type: ignore[arg-type]
        source="server",
        destination="client",
        controller=Choice(controller or ("lia" if kind == "mptcp" else "newreno")),
        scheduler=Choice("minrtt"),
        paths=tuple((path,) for path in paths),
        count=count,
        arrivals=arrivals,
        ecn=ecn,
        one_way_delay=one_way_delay,
        rate_bps=1e6 if kind in ("cbr", "onoff") else None,
    )


def make_scenario(
    *flows: Flow, duration_s: float = 10.0, warmup_s: float = 2.0, links: tuple[str, ...] = ("wifi", "lte")
) -> Scenario:
    flows = flows or (make_flow("download"),)
    direction = LinkDirection(rate_bps=8e6, delay_s=0.05, queue=QueueSpec(limit_pkts=67), loss=0.0)
    return Scenario(
        name="Fake",
        duration_s=duration_s,
        warmup_s=warmup_s,
        seed=1,
        mss_bytes=1448,
        profile="linux",
        start_jitter_s=0.0,
        nodes={name: Node(name) for name in ("client", "server")},
        links={name: Link(name, ("client", "server"), direction, direction) for name in links},
        flows={flow.name: flow for flow in flows},
        events=(),
    )


class FakeSimulation:
    """Follows the interface of `subflow_sim.Simulation`.

    Args:
        on_chunk: called with the simulation at the start of each `run_until`; may raise, wait, or stop the job.
    """

    def __init__(
        self,
        scenario: Scenario,
        *,
        seed: int | None = None,
        sample_interval_s: float = 0.1,
        on_chunk: Callable[[FakeSimulation], None] = lambda simulation: None,
    ) -> None:
        self.scenario = scenario
        self.seed = scenario.seed if seed is None else seed
        self.duration_s = scenario.duration_s
        self.now_s = 0.0
        self.chunks = 0
        self.interrupts = 0
        self.changes: list[Event] = []
        self._interval_s = sample_interval_s
        self._on_chunk = on_chunk
        self._marks_until_s = 0.0
        self._intervals_until_s = 0.0
        self._agents_until_s = 0.0
        self._decisions_until_s = 0.0
        self._decision_limits: DecisionLimits | None = None
        columns = []
        for flow in scenario.flows.values():
            for instance in flow.instances:
                is_multipath = len(flow.paths) > 1
                of_flow = FLOW_COLUMNS + (MULTIPATH_COLUMNS if is_multipath else ())
                of_subflow = SUBFLOW_COLUMNS + (SHARE_COLUMNS if is_multipath else ())
                if flow.ecn is not None:
                    of_subflow += MARK_COLUMNS
                if flow.one_way_delay and flow.sends_datagrams:
                    of_flow += DELAY_COLUMNS
                elif flow.one_way_delay:
                    of_subflow += DELAY_COLUMNS + ACK_COLUMNS
                if flow.controller.name in INTERVAL_CONTROLLERS:
                    of_subflow += INTERVAL_COLUMNS
                if flow.controller.name == "drl-cc":
                    of_flow += REWARD_COLUMNS
                if flow.controller.name == "rl-explore":
                    of_subflow += REWARD_COLUMNS
                columns += [FakeColumn("flow", instance, name, unit) for name, unit in of_flow]
                for ordinal in range(1, len(flow.paths) + 1) if not flow.sends_datagrams else ():
                    owner = f"{instance}/{ordinal}"
                    columns += [FakeColumn("subflow", owner, name, unit) for name, unit in of_subflow]
        for link in scenario.links.values():
            for direction in ("forward", "reverse"):
                owner = f"{link.name}/{direction}"
                of_link = LINK_COLUMNS + (MARK_COLUMNS if any(f.ecn for f in scenario.flows.values()) else ())
                columns += [FakeColumn("link", owner, name, unit) for name, unit in of_link]
        self.columns = tuple(columns)
        count = int(np.floor(self.duration_s / sample_interval_s + 1e-9))
        self._times = sample_interval_s * (1 + np.arange(count))
        # The phase of a column does not depend on the number of special columns before it.
        common = {name for name, _ in (*FLOW_COLUMNS, *SUBFLOW_COLUMNS, *LINK_COLUMNS)}
        phases = np.cumsum([column.name in common for column in columns]) - 1
        self._table = np.array([self._formula(c, int(k)) for c, k in zip(columns, phases, strict=True)], np.float32)

    @property
    def finished(self) -> bool:
        return self.now_s >= self.duration_s

    @property
    def packets(self) -> int:
        return int(self.now_s * 1000)

    @property
    def sample_count(self) -> int:
        return min(len(self._times), int(np.floor(self.now_s / self._interval_s + 1e-9)))

    def run_until(self, t_s: float) -> bool:
        self._on_chunk(self)
        self.chunks += 1
        self.now_s = min(t_s, self.duration_s)
        return True

    def apply(self, event: Event) -> Event:
        self.changes.append(event)
        return event

    def interrupt(self) -> None:
        self.interrupts += 1

    def values(self, index: int, first: int = 0) -> NDArray[np.float32]:
        view = self._table[index, first : self.sample_count]
        view.flags.writeable = False
        return view

    def take_marks(self) -> list[FakeMark]:
        """One loss per second of simulated time on the first subflow (or flow)."""
        owner = next((c.owner for c in self.columns if c.scope == "subflow"), self.columns[0].owner)
        seconds, self._marks_until_s = self._new_seconds(self._marks_until_s)
        return [FakeMark(float(second), owner, "loss", 1.0) for second in seconds]

    def take_intervals(self) -> Intervals:
        """One interval per second of simulated time on each subflow with a controller that uses them."""
        seconds, self._intervals_until_s = self._new_seconds(self._intervals_until_s)
        owners = tuple(dict.fromkeys(c.owner for c in self.columns if c.scope == "subflow"))
        senders = [owners.index(c.owner) for c in self.columns if c.name == "utility"]
        rows = [(owner, second) for second in seconds for owner in senders]
        owner, end = np.array(rows, np.int64).reshape(len(rows), 2).T
        whole = np.full(len(rows), 100, np.int32)
        real = end.astype(np.float64)
        return Intervals(
            owners=owners,
            owner=owner.astype(np.int32),
            number=end.astype(np.int32),
            tag=whole,
            time_ns=end * 10**9,
            begin_ns=(end - 1) * 10**9,
            end_ns=end * 10**9 - 10**8,
            sent_pkts=whole,
            delivered_pkts=whole,
            lost_pkts=whole - 100,
            is_app_limited=whole < 0,
            **dict.fromkeys(_INTERVAL_FIGURES, real),
        )

    def take_agent_steps(self) -> AgentSteps:
        """Per second, one decision of each agent; number k of an observation at second t is t + k / 4."""
        seconds, self._agents_until_s = self._new_seconds(self._agents_until_s)
        subflows = tuple(dict.fromkeys(c.owner for c in self.columns if c.scope == "subflow"))
        agents, seen = self._agents(subflows)
        rows = [(agent, second, each) for second in seconds for agent in range(len(agents)) for each in seen[agent]]
        agent, second, subflow = np.array(rows, np.int64).reshape(len(rows), 3).T
        times = second[:, np.newaxis].astype(np.float32)
        width = max((each.width for each in agents), default=0)
        own = np.array([agents[each].width for each in agent], np.int64)[:, np.newaxis]
        observation = np.where(np.arange(width) < own, times + np.arange(width, dtype=np.float32) / 4, np.nan)
        real = second.astype(np.float32)
        chooses = np.array([bool(agents[each].choices) for each in agent], np.bool_)[:, np.newaxis]
        return AgentSteps(
            agents,
            subflows,
            time_ns=second * 10**9,
            agent=agent.astype(np.uint32),
            number=(second - 1).astype(np.uint32),
            subflow=subflow.astype(np.uint32),
            is_acting=np.ones(len(rows), np.bool_),
            value=-real,
            reward=np.where(second == 1, np.nan, real / 2).astype(np.float32),
            observation=observation.astype(np.float32),
            action=np.where(chooses, times % 3, np.sin(times)).astype(np.float32),
            **dict.fromkeys(EPOCH_FIGURES, real),
        )

    def _agents(self, subflows: tuple[str, ...]) -> tuple[tuple[RunAgent, ...], list[list[int]]]:
        """The agents of the scenario, and the indices of the subflows that each controls."""
        agents: list[RunAgent] = []
        seen: list[list[int]] = []
        for flow in self.scenario.flows.values():
            for instance in flow.instances if flow.controller.name in AGENT_CONTROLLERS else ():
                own = [index for index, name in enumerate(subflows) if name.partition("/")[0] == instance]
                for served in [own] if flow.controller.name == "drl-cc" else [[index] for index in own]:
                    agents.append(_agent(flow.controller.name, instance, subflows[served[0]]))
                    seen.append(served)
        return tuple(agents), seen

    def record_decisions(self, limits: DecisionLimits | None = None) -> None:
        self._decision_limits = limits or DecisionLimits()
        self._decisions_until_s = self.now_s

    def take_decisions(self) -> Decisions:
        """Per second, one decision of each subflow, and one of each multipath flow half a second earlier."""
        seconds, self._decisions_until_s = self._new_seconds(self._decisions_until_s)
        owners = tuple(dict.fromkeys(c.owner for c in self.columns if c.scope == "subflow"))
        flows = tuple(dict.fromkeys(c.owner for c in self.columns if c.scope == "flow"))
        deciding = [flow for flow in flows if f"{flow}/2" in owners] + list(owners)
        names = owners + flows
        rows = [(names.index(name), second) for second in seconds for name in deciding if self._decision_limits]
        owner, second = np.array(rows, np.int64).reshape(len(rows), 2).T
        is_flow = owner >= len(owners)
        cwnd = np.where(is_flow, np.nan, second.astype(np.float64))
        of_subflow: Scope = "subflow"
        of_flow: Scope = "flow"
        numbers = np.full((len(rows), 8), np.nan)
        numbers[:, 0] = second
        return Decisions(
            owners=names,
            scopes=(of_subflow,) * len(owners) + (of_flow,) * len(flows),
            rules=RULES,
            time_ns=second * 10**9 - np.where(is_flow, 5 * 10**8, 0),
            owner=owner.astype(np.uint32),
            cause=np.where(is_flow, CAUSES.index("schedule"), CAUSES.index("ack")).astype(np.uint8),
            rule=is_flow.astype(np.uint16),
            cwnd_before_pkts=cwnd,
            cwnd_after_pkts=cwnd + 1.0,
            rate_before_bps=np.zeros(len(rows)),
            rate_after_bps=np.zeros(len(rows)),
            numbers=numbers,
            chosen=np.where(is_flow, second % 2, NOBODY).astype(np.uint8),
            available=np.where(is_flow, 0b11, 0).astype(np.uint32),
            usable=np.where(is_flow, 0b11, 0).astype(np.uint32),
            data_seq=second.astype(np.uint32),
        )

    @property
    def decisions_lost(self) -> int:
        return 0

    def _new_seconds(self, until_s: float) -> tuple[range, float]:
        """The whole seconds of simulated time since the previous call, and their end."""
        return range(int(until_s) + 1, int(self.now_s) + 1), self.now_s

    def signature(self) -> str:
        return f"{self.seed:08x}{round(self.now_s * 1000):08x}"

    def summary(self) -> dict[str, Any]:
        return {
            "scenario": self.scenario.name,
            "seed": self.seed,
            "duration_s": self.now_s,
            "warmup_s": self.scenario.warmup_s,
            "signature": self.signature(),
            "packets": self.packets,
            "flows": [
                {
                    "name": name,
                    "kind": flow.kind,
                    "controller": flow.controller.name,
                    "goodput_bps": 3e6,
                    "completion_s": None,
                    "mean_rtt_s": 0.11,
                    "p95_rtt_s": 0.13,
                    "loss_ratio": 0.02,
                    "retransmits": 510,
                    "subflows": [],
                }
                for flow in self.scenario.flows.values()
                for name in flow.instances
            ],
            "links": [],
            "fairness": {"jain": 1.0},
        }

    def _formula(self, column: FakeColumn, index: int) -> NDArray[np.float64]:
        """Smooth curves in a plausible range; each column has its own phase."""
        wave = np.sin(self._times / 3.0 + index)
        match column.name:
            case "schedule_share":
                return np.asarray(0.5 + 0.5 * wave, np.float64)
            case "reorder_queue_bytes" | "recv_buffer_bytes":
                return np.asarray(1448.0 * np.round(10.0 + 10.0 * wave), np.float64)
            case "interval_rtt_gradient" | "utility" | "reward":
                return np.asarray(np.where(self._times < 0.25, np.nan, wave), np.float64)
            case "throughput_bps" | "goodput_bps" | "interval_rate_bps" | "interval_throughput_bps":
                return np.asarray(3e6 + 1e6 * wave, np.float64)
            case "cwnd_pkts" | "inflight_pkts":
                # A saw-tooth: up a packet per second, halved from 40.
                return np.asarray(20.0 + (self._times + index * 3.7) % 20.0, np.float64)
            case "srtt_s":
                return np.asarray(np.where(self._times < 0.25, np.nan, 0.11 + 0.01 * wave), np.float64)
            case "ssthresh_pkts":
                return np.where(self._times < 1.0, np.nan, 20.0)
            case "pacing_rate_bps":
                return np.full_like(self._times, np.nan)
            case "queue_pkts":
                return np.zeros_like(self._times) if column.owner.endswith("/reverse") else 10.0 + 10.0 * wave
            case _:
                return np.zeros_like(self._times)


def _agent(controller: str, flow: str, subflow: str) -> RunAgent:
    if controller == "drl-cc":
        action = AgentNumber("window_change", "1", "of half the window", -1.0, 1.0)
        return RunAgent(flow, controller, "connection", "random", FEATURES, (action,), (), 1, "sum of ln(goodput)")
    choices = ("decrease", "keep", "increase")
    return RunAgent(subflow, controller, "subflow", "explorer", FEATURES, (), choices, 2, "goodput - loss")
