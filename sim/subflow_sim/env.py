"""Gymnasium environments in which a learner controls flows of the simulator, one decision per step.

Importing this module registers `Subflow/Host-v0`, `Subflow/Connection-v0`, `Subflow/Subflow-v0` and `Subflow/Path-v0`
for `gymnasium.make`, and for `gymnasium.make_vec`, which creates batches that step in threads of the core. Gymnasium
can also import the module: `gymnasium.make("subflow_sim.env:Subflow/Host-v0")`. (Since Gymnasium 1.0, installed
packages are not searched for ids.)
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import ArrayLike, NDArray

from subflow_sim.env_scenarios import EnvScenarios, ScenarioLike
from subflow_sim.errors import SimulationError
from subflow_sim.learner_batch import LearnerBatch, Others
from subflow_sim.vec_env import AgentScope, AgentSpec


def row_space(info: AgentSpec) -> spaces.Box:
    """Observation space of one subflow: float32 [F], all zeros while the subflow is absent."""
    low = np.tile([min(each.minimum, 0.0) for each in info.features], info.history).astype(np.float32)
    high = np.tile([max(each.maximum, 0.0) for each in info.features], info.history).astype(np.float32)
    return spaces.Box(low, high, dtype=np.float32)


def set_space(info: AgentSpec, slots: int) -> spaces.Dict:
    """Observation space of up to S = `slots` subflows: rows [S, F], and masks [S] for existing and acting ones."""
    row = row_space(info)
    rows = spaces.Box(np.tile(row.low, (slots, 1)), np.tile(row.high, (slots, 1)), dtype=np.float32)
    there, acting = spaces.MultiBinary(slots), spaces.MultiBinary(slots)
    return spaces.Dict({"subflows": rows, "mask": there, "acting": acting})


def action_space(info: AgentSpec, most_acting: int | None) -> spaces.Space[Any]:
    """Action space for up to `most_acting` subflows, in the order of their slots; None: for exactly one subflow."""
    if info.choices:
        count = len(info.choices)
        return spaces.Discrete(count) if most_acting is None else spaces.MultiDiscrete([count] * most_acting)
    low, high = info.action_bounds()
    if most_acting is None:
        return spaces.Box(low, high, dtype=np.float32)
    return spaces.Box(np.tile(low, (most_acting, 1)), np.tile(high, (most_acting, 1)), dtype=np.float32)


def learner_batch(
    scope: AgentScope,
    default_controller: str,
    num_envs: int,
    *,
    scenario: ScenarioLike,
    controller: str | None,
    options: Mapping[str, Any] | None,
    learner: str | None,
    **others: Any,
) -> LearnerBatch:
    """Creates the learners of environments with this scope; see `HostEnv` and `LearnerBatch`.

    Raises:
        ScenarioError: if the scenario has problems.
        SimulationError: if the controller's agent has another scope, or no flow of the scenario can use the controller.
    """
    flow = None if learner is None else learner.partition("/")[0].partition(".")[0]
    scenarios = EnvScenarios(scenario, controller or default_controller, options, flow)
    if scenarios.spec.scope != scope:
        raise SimulationError(
            f'the agent of "{scenarios.controller}" is one of each {scenarios.spec.scope}, not of each {scope}'
        )
    return LearnerBatch(scenarios, num_envs, learner=learner, **others)


def spaces_of(batch: LearnerBatch) -> tuple[spaces.Space[Any], spaces.Space[Any]]:
    """Observation and action space of one learner."""
    if batch.info.scope == "subflow":
        return row_space(batch.info), action_space(batch.info, None)
    return set_space(batch.info, batch.slots), action_space(batch.info, batch.most_acting)


def actions_of(batch: LearnerBatch, actions: ArrayLike) -> NDArray[np.float32]:
    """Actions of all learners in the shape that the batch expects: [N, K, A].

    Raises:
        SimulationError: if the number of elements does not fit this shape.
    """
    shape = (batch.num_envs, batch.most_acting, batch.info.action_width)
    given = np.asarray(actions, np.float32)
    if given.size != np.prod(shape):
        raise SimulationError(f"an action has {given.size // batch.num_envs} numbers, not {shape[1] * shape[2]}")
    return given.reshape(shape)


class _LearnerEnv(gymnasium.Env[Any, Any]):
    metadata: dict[str, Any] = {"render_modes": ["ansi"], "render_fps": 10}  # noqa: RUF012 - as Gymnasium declares it
    scope: ClassVar[AgentScope]
    default_controller: ClassVar[str]
    default_scenario: ClassVar[str] = "train-lossy-paths"

    def __init__(
        self,
        scenario: ScenarioLike | None = None,
        controller: str | None = None,
        *,
        options: Mapping[str, Any] | None = None,
        seed: int | None = None,
        number: int = 0,
        episode_s: float | None = None,
        learner: str | None = None,
        others: Others = "neutral",
        reward: str = "own",
        render_mode: str | None = None,
    ) -> None:
        if render_mode not in (None, "ansi"):
            raise SimulationError(f'nothing is drawn as "{render_mode}"; render_mode: "ansi"')
        self.render_mode = render_mode
        self._batch = learner_batch(
            self.scope,
            self.default_controller,
            1,
            scenario=scenario or self.default_scenario,
            controller=controller,
            options=options,
            learner=learner,
            first_env=number,
            seed=seed,
            episode_s=episode_s,
            others=others,
            reward=reward,
        )
        self.info: AgentSpec = self._batch.info
        self.observation_space, self.action_space = spaces_of(self._batch)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Begins an episode: the first one of `seed` if given, otherwise the next one.

        Args:
            seed: seed of all random numbers from now on.
            options: {"episode": number} begins the episode with this number.
        """
        super().reset(seed=seed)
        self._batch.reset(seed, (options or {}).get("episode"))
        return self._observation(), self._info()

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Applies an action and simulates until the learner's next decision or the end of the episode.

        Raises:
            SimulationError: if the action has the wrong shape or is not finite, or the episode has ended.
        """
        batch = self._batch
        if not batch.is_begun or batch.terminated[0] or batch.truncated[0]:
            raise SimulationError("no episode to make a step in: call reset() first")
        batch.step(actions_of(batch, action))
        return (
            self._observation(),
            float(batch.paid[0]),
            bool(batch.terminated[0]),
            bool(batch.truncated[0]),
            self._info(),
        )

    def render(self) -> str | None:
        """The time and the learner's observation of each subflow, as text; None without a render mode."""
        if self.render_mode is None:
            return None
        batch = self._batch
        names = [each.name for each in self.info.features]
        lines = [f"episode {batch.vec.episode[0]}, t = {batch.vec.time_s[0]:.3f} s", "  ".join(["subflow", *names])]
        for slot in np.flatnonzero(batch.mask[0]):
            values = batch.obs[0, slot, : len(names)]
            shown = (f"{value:{len(name)}.3f}" for name, value in zip(names, values, strict=True))
            lines.append("  ".join([f"{slot + 1:5d} {'*' if batch.acting[0, slot] else ' '}", *shown]))
        return "\n".join(lines)

    def _observation(self) -> Any:
        batch = self._batch
        if self.scope == "subflow":
            return batch.obs[0, 0].copy()
        acting, mask = batch.acting[0].astype(np.int8), batch.mask[0].astype(np.int8)
        return {"subflows": batch.obs[0].copy(), "mask": mask, "acting": acting}

    def _info(self) -> dict[str, Any]:
        batch = self._batch
        info: dict[str, Any] = {
            "time_s": float(batch.vec.time_s[0]),
            "episode_number": int(batch.vec.episode[0]),
            "learner": batch.flow_name(0),
            "team_reward": float(batch.team_reward[0]),
        }
        if batch.terminated[0] or batch.truncated[0]:
            info["metrics"] = batch.vec.episode_metrics(0)
        return info


class HostEnv(_LearnerEnv):
    """One agent for all flows that a host sends: `Subflow/Host-v0`.

    Each step serves one flow, in turn. The scenario may be a file, the name of a shipped scenario, a `Scenario` or a
    `Distribution`; flows and subflows may start and end during an episode.

    Args:
        scenario: scenario or distribution of the episodes; None: the shipped distribution "train-lossy-paths".
        controller: controller whose agent learns; None: drl-cc. It replaces the controller of the learner's flow if one
            is named, otherwise of the flows that already use it, otherwise of all MPTCP flows.
        options: options of the controller, in SI units. {"epoch": "time", "epoch_time": 0.1} decides at fixed times,
            "rtt" after round trips, {"epoch": "packets", "epoch_packets": 50} after packets acknowledged or lost;
            {"history": 4} adds the three previous epochs to the observation.
        seed: seed of the first `reset` without a seed. The random numbers of an episode depend on (seed, number,
            episode).
        number: number of the environment among several with the same seed.
        episode_s: maximum duration of an episode, s; None: the duration of the scenario.
        learner: a flow of the learning host, if several hosts of the scenario send; None: the first host.
        others: policy of the agents other than the learner: "neutral", "random", the name of a shipped policy, the path
            of a policy file, or a `Policy`.
        reward: "own" as below, or "team": the sum of ln(max(goodput in Mbit/s, 0.01)) over all flows, averaged over the
            time of the step.
        render_mode: None or "ansi".

    Action: float32 [K, A] for the acting subflows, in the order of their slots; K is the largest number of subflows of
    a flow, and surplus rows are ignored. With drl-cc, A = 1:

        0  window_change   -1 to 1      1  a: the window becomes w + a max(w / 2, 2)

    Observation: {"subflows": float32 [S, F], "mask": int8 [S], "acting": int8 [S]}. S is the number of subflows of all
    flows of the host; rows without a subflow (mask 0) are zero. A row has `history` records of these features, the
    latest first. With drl-cc:

        0  sending_rate    0 to 2.3979  1  sending rate / reference rate
        1  goodput         0 to 2.3979  1  acknowledged rate / reference rate
        2  rtt             0 to 2.3979  1  RTT of the epoch (option rtt) / lowest RTT
        3  rtt_deviation   0 to 2.3979  1  mean deviation of the RTT / lowest RTT
        4  cwnd            0 to 2.3979  1  cwnd / (reference rate * lowest RTT)
        5  is_mptcp        0 to 1       1  1 for a subflow of an MPTCP flow, 0 for TCP
        6  is_new          0 to 1       1  1 in the first epoch of the subflow

    Reward, at the end of the epoch that an action begins; 0 if the learner's flows end within it:

        drl-cc: sum over the flows of ln(max(goodput in Mbit/s, a packet per epoch)) - loss_weight loss - delay_weight
        (rtt / min_rtt - 1)

    Episode end: truncated at the end of its duration, with the observation and reward at that time; terminated when
    every learning flow has delivered all its data.

    Info: "time_s" simulated, "episode_number", "learner" (a flow), "team_reward"; in the last step "metrics":
    goodput_bps, flow_goodput_bps, rtt_inflation, rtt_s, loss_ratio, jain, duration_s, decisions.

    Versions: v0, the first.
    """

    scope = "host"
    default_controller = "drl-cc"


class ConnectionEnv(_LearnerEnv):
    """One agent for the subflows of a connection, which act jointly: `Subflow/Connection-v0`.

    Args:
        scenario: as in `HostEnv`.
        controller: dql-mptcp (the default) or clean-slate; otherwise as in `HostEnv`.
        options: as in `HostEnv`.
        seed: as in `HostEnv`.
        number: as in `HostEnv`.
        episode_s: as in `HostEnv`.
        learner: the connection that learns, for example "download.3"; None: the first.
        others: as in `HostEnv`; other connections with the controller have separate agents.
        reward: as in `HostEnv`.
        render_mode: as in `HostEnv`.

    Action: float32 [K, A] for the acting subflows, in their order; K is the largest number of subflows of a connection,
    and surplus rows are ignored. With dql-mptcp, A = 2:

        0  window_change   -1 to 1      1  a: the window becomes w + a max(w / 2, 2)
        1  schedule_change -1 to 1      1  z: the subflow's share of a batch is proportional to e^z theta

    With clean-slate, A = 1:

        0  window_exponent -1 to 1      1  a: the window is multiplied by 2^(action_range * a)

    Observation: {"subflows": float32 [S, F], "mask": int8 [S], "acting": int8 [S]} with S = K; rows without a subflow
    (mask 0) are zero. A row has `history` records of these features, the latest first. With dql-mptcp (history 1):

        0  sending_rate    0 to 2.3979  1  sending rate / reference rate
        1  throughput      0 to 2.3979  1  acknowledged rate / reference rate
        2  rtt             0 to 2.3979  1  RTT of the epoch (option rtt) / lowest RTT
        3  cwnd_change     -1 to 1      1  change of the cwnd in the last slot / cwnd
        4  schedule        0 to 1       1  share of the packets that the connection handed out in the last slot
        5  rtt_change      -1 to 1      1  change of that RTT since the previous slot / lowest RTT

    With clean-slate (history 10):

        0  sending_rate    0 to 2.3979  1  sending rate / reference rate
        1  rtt             0 to 2.3979  1  RTT of the epoch (option rtt) / lowest RTT
        2  cwnd            0 to 2.3979  1  cwnd / (reference rate * lowest RTT)
        3  loss            0 to 1       1  share lost of what was acknowledged or lost
        4  delivery_rate   0 to 2.3979  1  acknowledged rate / reference rate

    Reward, as in `HostEnv`:

        dql-mptcp: sum over the subflows of ln(max(goodput in Mbit/s, a packet per epoch)) - loss_weight loss -
        delay_weight (rtt / min_rtt - 1)
        clean-slate: ln(max(goodput of the connection in Mbit/s, 0.01)) - loss_weight loss - delay_weight (rtt /
            lowest rtt - 1), the prices summed over the subflows

    Episode end and info: as in `HostEnv`; "learner" is the connection.

    Versions: v0, the first.
    """

    scope = "connection"
    default_controller = "dql-mptcp"


class SubflowEnv(_LearnerEnv):
    """One agent for one subflow of a connection: `Subflow/Subflow-v0`.

    Args:
        scenario: as in `HostEnv`.
        controller: mplibra (the default), ddpg-mpcc or confluence; otherwise as in `HostEnv`.
        options: as in `HostEnv`; these controllers define their own epochs.
        seed: as in `HostEnv`.
        number: as in `HostEnv`.
        episode_s: as in `HostEnv`.
        learner: the subflow that learns, for example "download.3/2"; None: the first.
        others: as in `HostEnv`; all other subflows, including those of this connection, have separate agents.
        reward: as in `HostEnv`.
        render_mode: as in `HostEnv`.

    Action: float32 [A]. With mplibra, A = 1:

        0  rate_exponent   -1 to 1      1  a: the candidate is 2^(action_range a) of the window

    With ddpg-mpcc, A = 1:

        0  rate_change     -1 to 1      1  a: the rate becomes rate (1 + step a)

    With confluence a discrete action, the exponent of 2 by which the window is multiplied:

        0  halve
        1  -0.3
        2  -0.1
        3  keep
        4  +0.1
        5  +0.3
        6  double

    Observation: float32 [F], `history` records of these features, the latest first; zero while the subflow is absent.
    With mplibra (history 10):

        0  sending_rate    0 to 2.3979  1  sending rate / reference rate
        1  rtt             0 to 2.3979  1  RTT of the epoch (option rtt) / lowest RTT
        2  min_rtt         0 to 2.3979  1  lowest RTT / 100 ms
        3  loss            0 to 1       1  lost / (lost + acknowledged)
        4  delivery_rate   0 to 2.3979  1  acknowledged rate / reference rate

    With ddpg-mpcc (history 1):

        0  rate            0 to 1       1  rate of the last interval / the largest so far
        1  rtt             0 to 1       1  its mean RTT / the largest so far
        2  loss            0 to 1       1  its loss ratio / the largest so far

    With confluence (history 4):

        0  queue           0 to 2.3979     1  lowest RTT of the epoch / lowest RTT - 1
        1  queue_change    -1 to 1         1  change of that least RTT over the epoch / lowest RTT
        2  queue_place     0 to 1          1  position of that RTT between the lowest and the highest recent one
        3  queue_depth     0 to 2.3979     1  highest such recent RTT / lowest RTT - 1
        4  slow_queue      0 to 2.3979     1  queue, averaged over about 16 epochs
        5  queue_swing     0 to 2.3979     1  average distance of the queue from that average
        6  grip            -1 to 1         1  how closely the queue follows this subflow's cwnd: 1 if it is alone, 0 if
                                              others fill the queue
        7  jitter          0 to 2.3979     1  mean deviation of the RTT / lowest RTT
        8  loss            0 to 1          1  square root of the share lost
        9  slow_loss       0 to 1          1  the same for the share lost over about 16 epochs
        10 marks           0 to 1          1  square root of the share that queues marked
        11 rate            0 to 1          1  delivered rate / largest recent one
        12 overload        -1 to 1         1  ln of sent rate / delivered rate
        13 window_bdp      -1 to 1         1  log2 of the cwnd / (delivered rate x lowest RTT), divided by 4
        14 window_most     -1 to 1         1  log2 of the cwnd / (largest recent rate x lowest RTT), divided by 4
        15 small_window    0 to 1          1  10 / (10 + window)
        16 last_action     -1 to 1         1  exponent by which the cwnd was changed when the epoch began
        17 share           0 to 1          1  rate of this subflow / rate of all subflows of the connection
        18 together        0 to 1          1  rate of this subflow / rate of all subflows whose queues grow and shrink
                                              with its queue
        19 elsewhere       -1 to 1         1  log2 of the rate through other queues / rate through this subflow's queue,
                                              divided by 4
        20 others_queue    0 to 2.3979     1  queueing delay of the siblings, weighted by rate / lowest RTT of this
                                              subflow
        21 others_rtt      -1 to 1         1  log2 of this subflow's RTT / that of its siblings, weighted by rate,
                                              divided by 4

    Reward, as in `HostEnv`:

        mplibra: w1 x / x_max - w2 d / d_min - w3 l, or with logarithms of both ratios: x delivery rate, d RTT, l loss
        ratio; weights 1, 1, 10
        ddpg-mpcc: utility of the interval that was sent at the rate, normalised to [0, 1]
        confluence: ln(delivered rate / largest of late) - ln(1 + queue) / 2 - 5 loss; in training, the
        same of the connection's rate over its fair share, the true queue and the loss beyond the links'
        own

    Episode end and info: as in `HostEnv`; "learner" is the subflow.

    Versions: v0, the first.
    """

    scope = "subflow"
    default_controller = "mplibra"


class PathEnv(_LearnerEnv):
    """One agent for a single-path connection: `Subflow/Path-v0`.

    Args:
        scenario: as in `HostEnv`; None: the shipped distribution "train-single-path".
        controller: rl-explore (the default); otherwise as in `HostEnv`, but TCP flows learn, or MPTCP flows
            without any TCP flow.
        options: as in `HostEnv`; {"probe_bw": False} disables the probes.
        seed: as in `HostEnv`.
        number: as in `HostEnv`.
        episode_s: as in `HostEnv`.
        learner: the flow that learns; None: the first.
        others: as in `HostEnv`.
        reward: as in `HostEnv`.
        render_mode: as in `HostEnv`.

    Action: with rl-explore a discrete action:

        0  decrease
        1  keep
        2  increase

    Observation: float32 [F], `history` records of these features, the latest first; zero while the subflow is absent.
    With rl-explore (history 1):

        0  throughput_max  0 to 2.3979  1  largest acknowledged rate of the last 5 epochs / reference rate
        1  loss            0 to 1       1  share lost of what was acknowledged or lost
        2  sending_rate    0 to 2.3979  1  sending rate / largest acknowledged rate of the last 5 epochs
        3  latency         0 to 2.3979  1  RTT of the epoch (option rtt) / lowest RTT - 1

    Reward, as in `HostEnv`:

        rl-explore: ln(max(throughput_max in Mbit/s on the wire, 0.01)) - 10 RTT in s - 10 loss ratio

    Episode end and info: as in `HostEnv`.

    Versions: v0, the first.
    """

    scope = "subflow"
    default_controller = "rl-explore"
    default_scenario = "train-single-path"


IDS = {
    "Subflow/Host-v0": HostEnv,
    "Subflow/Connection-v0": ConnectionEnv,
    "Subflow/Subflow-v0": SubflowEnv,
    "Subflow/Path-v0": PathEnv,
}
"""The environment classes by id."""

for _id, _class in IDS.items():
    _name = _class.__name__
    gymnasium.register(
        id=_id,
        entry_point=f"subflow_sim.env:{_name}",
        vector_entry_point=f"subflow_sim.vector_env:{_name.removesuffix('Env')}VectorEnv",
    )
