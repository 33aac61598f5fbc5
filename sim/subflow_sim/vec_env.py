"""Many simulations that step together in threads of the core, for the training of agents."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from subflow_sim import _core
from subflow_sim.catalog import controllers
from subflow_sim.core_document import core_options
from subflow_sim.core_time import nanos
from subflow_sim.errors import SimulationError
from subflow_sim.fairness.ideal import max_min_shares
from subflow_sim.lowering import lower
from subflow_sim.params import Algorithm
from subflow_sim.policy_library import NEUTRAL
from subflow_sim.scenario import Scenario
from subflow_sim.scenario_model import Choice

AgentScope = Literal["host", "connection", "subflow"]
ScenarioMaker = Callable[[int, int], Scenario]


class Teller(Protocol):
    """Computes measurements of each epoch that agents cannot observe: see `subflow_sim.truth.TruthComputer`.

    Attributes:
        truth: float32 [N, S, T], the measurements of the latest epochs.
    """

    truth: NDArray[np.float32]

    def begin(self, env: int, scenario: Scenario, controller: str, duration_s: float) -> list[int]:
        """Starts an episode, and returns the group of each slot; the packets of a group are counted together."""

    def tell(self, time_s: NDArray[np.float64]) -> None:
        """Updates `truth` from the core's counters at the simulated times `time_s` [N]."""


TellerMaker = Callable[[NDArray[np.float32], int, int], Teller]


@dataclass(frozen=True, slots=True)
class AgentNumber:
    """An element of an agent's observation of a subflow, or of its action on a subflow.

    Attributes:
        name: name in policy files.
        unit: symbol of the unit; "1" for ratios.
        help: meaning in one sentence.
        minimum: lower bound.
        maximum: upper bound.
    """

    name: str
    unit: str
    help: str
    minimum: float
    maximum: float


@dataclass(frozen=True, slots=True)
class AgentSpec:
    """Description of a controller's agent.

    Attributes:
        controller: name of the controller.
        scope: extent of one agent: all flows of a "host", all subflows of a "connection", or one "subflow".
        features: features of each subflow in a record of an observation.
        actions: numbers of an action on each acting subflow; empty for discrete actions.
        choices: names of the discrete actions; an action is the number of a choice.
        neutral_choice: number of the choice that changes nothing.
        reward: formula of the reward of an epoch.
        history: number of records in an observation, the latest first.
        epoch: end of an epoch: after a "time", an "rtt", a number of "packets", or "own", determined by the controller.
        epoch_time_s: duration of an epoch, or minimum duration of an RTT epoch, s.
        epoch_packets: number of packets acknowledged or lost in an epoch of "packets".
    """

    controller: str
    scope: AgentScope
    features: tuple[AgentNumber, ...]
    actions: tuple[AgentNumber, ...]
    choices: tuple[str, ...]
    neutral_choice: int
    reward: str
    history: int
    epoch: str
    epoch_time_s: float
    epoch_packets: int

    @property
    def width(self) -> int:
        """Length of the observation of one subflow."""
        return len(self.features) * self.history

    @property
    def action_width(self) -> int:
        """Length of the action on one subflow."""
        return 1 if self.choices else len(self.actions)

    def action_bounds(self) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Lower and upper bounds of a continuous action, [A] each."""
        low = np.array([action.minimum for action in self.actions], np.float32)
        return low, np.array([action.maximum for action in self.actions], np.float32)


def agent_spec(controller: str, options: Mapping[str, Any] | None = None) -> AgentSpec | None:
    """Description of the agent of a controller with these options; None for a controller without an agent.

    Raises:
        SimulationError: if the controller or an option is unknown to the core.
    """
    try:
        told = _core.agent_info(controller, core_options(options or {}))
    except _core.CoreScenarioError as error:
        raise SimulationError(str(error)) from error
    if told is None:
        return None
    return AgentSpec(
        controller=controller,
        scope=told["scope"],
        features=tuple(_number(each) for each in told["features"]),
        actions=tuple(_number(each) for each in told["actions"]),
        choices=tuple(told["choices"]),
        neutral_choice=int(told["neutral_choice"]),
        reward=told["reward"],
        history=told["history"],
        epoch=told["epoch"],
        epoch_time_s=told["epoch_time_ns"] / 1e9,
        epoch_packets=told["epoch_packets"],
    )


def learner_spec(controller: str, options: Mapping[str, Any] | None = None) -> AgentSpec:
    """Description of the agent of a learning controller; see `agent_spec`.

    Raises:
        SimulationError: if the controller has no agent, or an option is unknown to the core.
    """
    spec = agent_spec(controller, options)
    if spec is None:
        raise SimulationError(f'the controller "{controller}" has no learning agent')
    return spec


def _number(info: _core.NumberInfo) -> AgentNumber:
    return AgentNumber(info.name, info.unit, info.help, info.minimum, info.maximum)


def with_learner(
    scenario: Scenario, controller: str, options: Mapping[str, Any] | None = None, flows: Sequence[str] = ()
) -> Scenario:
    """The scenario with this controller on the learning flows.

    The named flows learn; without names, the flows that already use the controller. If no flow uses it, all MPTCP flows
    learn. For a single-path controller, these are all TCP flows, or all MPTCP flows if the scenario has no TCP flow.
    Omitted options keep their values in the scenario. A scheduler that the controller requires replaces the default
    scheduler.

    Raises:
        SimulationError: if no flow can have the controller.
    """
    known = {each.name: each for each in controllers()}
    if controller not in known:
        raise SimulationError(f'unknown controller "{controller}"')
    kinds = ("mptcp",) if known[controller].is_coupled else ("tcp", "mptcp")
    having = [name for name, flow in scenario.flows.items() if flow.controller.name == controller]
    for name in flows:
        if name not in scenario.flows or scenario.flows[name].kind not in kinds:
            named = [name for name, flow in scenario.flows.items() if flow.kind in kinds]
            wanted = f"of kind {' or '.join(kinds)}" if name in scenario.flows else "of that name"
            raise SimulationError(f'no flow {wanted} for "{controller}": "{name}"; allowed: {", ".join(named)}')
    having = list(flows) or having
    for kind in kinds:
        having = having or [name for name, flow in scenario.flows.items() if flow.kind == kind]
    if not having:
        raise SimulationError(
            f'the scenario has no flow of kind {" or ".join(kinds)} for the controller "{controller}"'
        )
    changed = dict(scenario.flows)
    for name in having:
        flow = changed[name]
        # Training supplies the actions, so the scenario's policy and its history do not apply.
        before = flow.controller.options if flow.controller.name == controller else {}
        flow = replace(flow, controller=Choice(controller, {**before, **(options or {}), "policy": NEUTRAL}))
        scheduler = scheduler_beside(known[controller], flow.scheduler.name)
        if scheduler != flow.scheduler.name:
            flow = replace(flow, scheduler=Choice(scheduler))
        changed[name] = flow
    return replace(scenario, flows=changed)


def agent_slots(scenario: Scenario, controller: str) -> int:
    """Number of subflows of the controller's agents in a scenario.

    Raises:
        SimulationError: if the scenario cannot be simulated.
    """
    return _core.agent_slots(lower(scenario, 1).core, controller)


def scheduler_beside(controller: Algorithm, scheduler: str) -> str:
    """The given scheduler; instead of the default, the scheduler that the controller requires, if any."""
    return controller.scheduler if controller.scheduler and scheduler == "minrtt" else scheduler


class VecEnv:
    """N simulations, each advanced from one decision of its learning agents to the next.

    A step runs a simulation until at least one learning agent must act; all agents that must act at that time act
    together. The actions in the slots of one agent form one decision, and a transition leads from one decision of an
    agent to its next.

    Episodes follow each other as in Gymnasium's `AutoresetMode.NEXT_STEP`: the step that ends an episode returns the
    final observation and reward of every agent whose last action has no reward yet; the next step ignores the action,
    begins the next episode, and returns its first decisions with reward 0.

    The arrays are allocated once, and each step overwrites them. The S slots represent the subflows of the learning
    agents of a simulation, agent by agent in the order of the scenario; further slots are padding.

    Args:
        make_scenario: function from (environment, episode) to the scenario; its flows with the controller learn.
        controller: controller whose agents learn.
        num_envs: number of environments, N.
        seed: seed of all random numbers: those of an episode depend only on (seed, environment, episode).
        threads: number of simulating threads; 0: the caller's thread.
        slots: number of slots, S; None: the number required by the first episode of the first environment.
        episode_s: maximum duration of an episode, s; None: the duration of the scenario.
        first_env: number of the first environment; the numbers of the N environments determine their scenarios and
            random numbers.
        stagger: whether the first episodes of the environments end at different times, so that not all end together.
        fair: whether to compute fair shares, which takes a few milliseconds per episode.
        truth: factory of a `TruthComputer` from the core's counters, N and S, for measurements that agents cannot
            observe (`subflow_sim.truth`); None: no such measurements. It takes a few milliseconds per episode, too.

    Attributes:
        info: description of the agents.
        obs: float32 [N, S, F], within the bounds of `info.features`, `info.history` records each, the latest first.
        mask: bool [N, S], whether the slot holds a subflow.
        acting: bool [N, S], whether the subflow needs an action.
        finished: bool [N, S], whether the subflow's flow has delivered all its data; the subflow then never acts again
            in this episode.
        agent: int32 [N, S], number of the agent in its simulation; -1: padding.
        flow: int32 [N, S], number of the flow in its simulation.
        reward: float32 [N, S], reward of the epoch that ended, equal for all slots of an agent; 0 for agents that do
            not act.
        team_reward: float32 [N], sum over the flows of ln(max(goodput in Mbit/s, 0.01)) since the last step.
        terminated: bool [N], whether every learning flow has delivered all its data.
        truncated: bool [N], whether the episode has reached the end of its time.
        time_s: float64 [N], simulated time, s.
        episode: int64 [N], number of the current episode.
        fair_bps: float64 [N, S], max-min fair share of the slot's flow, bit/s of payload: the mean over its active time
            in the episode; 0 without `fair`.
        truth: float32 [N, S, T], measurements `subflow_sim.truth.TRUTH` of the epoch that ended, for acting slots; None
            without `truth`.

    Raises:
        SimulationError: if the controller has no agent, a scenario does not suit it or has no fair shares, or an action
            is not finite.
    """

    def __init__(
        self,
        make_scenario: ScenarioMaker,
        controller: str,
        num_envs: int,
        *,
        seed: int = 1,
        threads: int = 1,
        slots: int | None = None,
        episode_s: float | None = None,
        first_env: int = 0,
        stagger: bool = False,
        fair: bool = False,
        truth: TellerMaker | None = None,
    ) -> None:
        self._make_scenario = make_scenario
        self._episode_s = math.inf if episode_s is None else episode_s
        self._stagger = stagger
        self._fair = fair
        self._first_env = first_env
        self.num_envs = num_envs
        self.seed = seed
        first = make_scenario(first_env, 0)
        learning = (flow.controller for flow in first.flows.values() if flow.controller.name == controller)
        self.info = learner_spec(controller, next(learning, Choice(controller)).options)
        self.slots = slots or _core.agent_slots(lower(first, seed).core, controller)
        if self.slots == 0:
            raise SimulationError(f'no flow of the scenario has the controller "{controller}"')
        self._core = _core.VecEnv(controller, num_envs, self.slots, self.info.width, self.info.action_width, threads)
        self.obs: NDArray[np.float32] = self._core.observation()
        self.mask: NDArray[np.bool_] = self._core.mask()
        self.acting: NDArray[np.bool_] = self._core.acting()
        self.finished: NDArray[np.bool_] = self._core.finished()
        self.agent: NDArray[np.int32] = self._core.agent()
        self.flow: NDArray[np.int32] = self._core.flow()
        self.reward: NDArray[np.float32] = self._core.reward()
        self.team_reward: NDArray[np.float32] = self._core.team_reward()
        self.terminated: NDArray[np.bool_] = self._core.terminated()
        self.truncated: NDArray[np.bool_] = self._core.truncated()
        self.time_s: NDArray[np.float64] = self._core.time_s()
        self._action: NDArray[np.float32] = self._core.action()
        self.episode: NDArray[np.int64] = np.full(num_envs, -1, np.int64)
        self.fair_bps: NDArray[np.float64] = np.zeros((num_envs, self.slots))
        self._shares_bps: list[NDArray[np.float64]] = [np.zeros(1)] * num_envs
        self._teller = None if truth is None else truth(self._core.truth(), num_envs, self.slots)
        self.truth: NDArray[np.float32] | None = None if self._teller is None else self._teller.truth
        self._all = list(range(num_envs))
        self._under_way = 0

    def reset(self, seed: int | None = None, episodes: Sequence[int] | None = None) -> None:
        """Begins new episodes in all environments and runs each to its first decision.

        Args:
            seed: new seed; None: unchanged.
            episodes: episode number of each environment, [N]; None: 0 for all.
        """
        self._drain()
        if seed is not None:
            self.seed = seed
        self.episode[:] = 0 if episodes is None else episodes
        for env in self._all:
            self._load(env)
        self._core.send(self._all)
        self._under_way = self.num_envs
        self._drain()

    def step(self, action: ArrayLike) -> None:
        """Steps every environment once.

        Args:
            action: float32 [N, S, A]; only acting slots count, and values are clipped to their bounds. A discrete
                action is the number of its choice.
        """
        self.send(action)
        self._drain()

    def send(self, action: ArrayLike, envs: Sequence[int] | None = None) -> None:
        """Starts a step in some environments; do not access their rows until `recv` has returned their numbers.

        Args:
            action: float32 [N, S, A]; only the rows of `envs` count.
            envs: numbers of the environments; None: all.
        """
        chosen = self._all if envs is None else list(envs)
        rows = slice(None) if envs is None else chosen
        given = np.asarray(action, np.float32)
        if given.shape != self._action.shape:
            raise SimulationError(f"actions have the shape {self._action.shape}, not {given.shape}")
        taken = given[rows]
        if not np.isfinite(taken).all() and not np.isfinite(taken[self.acting[rows]]).all():
            raise SimulationError("an action is not a finite number")
        self._action[rows] = taken
        for position in np.flatnonzero(self.terminated[rows] | self.truncated[rows]):
            env = chosen[position]
            self.episode[env] += 1
            self._load(env)
        self._core.send(chosen)
        self._under_way += len(chosen)

    def recv(self, least: int | None = None) -> list[int]:
        """Waits until `least` started environments (None: all) have finished their step; returns their numbers."""
        wanted = self._under_way if least is None else min(least, self._under_way)
        try:
            done = self._core.recv(wanted)
        except (_core.CoreScenarioError, _core.CoreInternalError) as error:
            raise SimulationError(str(error)) from error
        self._under_way -= len(done)
        if self._fair:
            for env in done:
                self.fair_bps[env] = self._shares_bps[env][self.flow[env]]
        if self._teller is not None:
            self._teller.tell(self.time_s)
        return done

    def _drain(self) -> None:
        while self._under_way:
            self.recv()

    def _load(self, env: int) -> None:
        episode = int(self.episode[env])
        number = self._first_env + env
        scenario = self._make_scenario(number, episode)
        drawn = episode_seed(self.seed, number, episode)
        longest_s = min(self._episode_s, scenario.duration_s)
        if self._stagger and episode == 0:
            longest_s *= (env + 1) / self.num_envs
        groups: list[int] = []
        if self._teller is not None:
            groups = self._teller.begin(env, scenario, self.info.controller, longest_s)
        try:
            self._core.load(env, lower(scenario, drawn).core, drawn, nanos(longest_s), groups)
        except _core.CoreScenarioError as error:
            raise SimulationError(str(error)) from error
        if self._fair:
            self._shares_bps[env] = _shares_bps(scenario, longest_s)

    def episode_metrics(self, env: int) -> dict[str, float]:
        """Metrics of the last finished episode of an environment, over all flows with a window.

        goodput_bps: total of all flows; flow_goodput_bps: mean over the flows with the controller of their goodput
        while active; rtt_inflation: mean RTT / lowest RTT; rtt_s: mean RTT, 0 without a sample; loss_ratio: lost
        share of the packets sent; jain: Jain's index of the goodputs; duration_s: simulated time; decisions: number of
        decisions of the learning agents.
        """
        summary = self._core.summary(env)
        return {
            "goodput_bps": summary.goodput_bps,
            "flow_goodput_bps": summary.flow_goodput_bps,
            "rtt_inflation": summary.rtt_inflation,
            "rtt_s": summary.rtt_s,
            "loss_ratio": summary.loss_ratio,
            "jain": summary.jain,
            "duration_s": summary.duration_s,
            "decisions": float(summary.decisions),
        }


def _shares_bps(scenario: Scenario, duration_s: float) -> NDArray[np.float64]:
    """The max-min fair share of each flow, by flow number; the last element is 0, for the flow number -1 of padding."""
    try:
        shares = max_min_shares(scenario, 0.0, duration_s)
    except ArithmeticError as error:
        raise SimulationError(f"{scenario.name}: {error}") from error
    return np.array([*(shares.get(name, 0.0) for flow in scenario.flows.values() for name in flow.instances), 0.0])


def episode_seed(seed: int, env: int, episode: int) -> int:
    """The 62-bit seed of an episode; the same three numbers give the same seed on every machine."""
    return int(np.random.SeedSequence((seed, env, episode)).generate_state(1, np.uint64)[0] >> np.uint64(2))
