"""The offline environment of DDPG-MPCC: a log of monitor intervals in place of a network.

Source: DDPG-MPCC (Future Internet 2024), section 2.2, and its published code: for each rate, the environment returns
the results of the nearest logged rate. This is not a network: actions do not influence later results, and the best
policy moves to the best row of the log. Results from the log and from simulations must not be mixed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from subflow_agents.errors import AgentError
from subflow_agents.interval_log import IntervalLog
from subflow_sim import AgentSpec

FloatArray: TypeAlias = NDArray[np.float64]

EPISODE_STEPS = 1000  # section 2.2: "we execute 1000 actions or steps"
START_UTILITY = (0.4, 0.7)  # relative to the largest utility of the log, section 2.2
RATE_STEP = 0.25  # x becomes x (1 + 0.25 a): the paper gives no step size, so the simulator's is used
RESOLUTION = 0.02  # relative width of the bins of similar rates
INTERVAL_RTTS = 1.5  # length of MPCC's monitor interval, RTTs


@dataclass(frozen=True, slots=True)
class LogTable:
    """Results of a log by rate, one row per distinguishable rate.

    Attributes:
        rate: float64 [m], ascending, relative to the largest of the log.
        rtt: float64 [m], relative to the largest of the log.
        loss: float64 [m], relative to the largest of the log; 0 without any loss.
        utility: float64 [m], relative to the largest of the log, at least 0.
        throughput_bps: float64 [m], delivered rate, bit/s.
        rtt_s: float64 [m], RTT, s.
        loss_ratio: float64 [m], lost / sent.
    """

    rate: FloatArray
    rtt: FloatArray
    loss: FloatArray
    utility: FloatArray
    throughput_bps: FloatArray
    rtt_s: FloatArray
    loss_ratio: FloatArray

    @classmethod
    def of(cls, log: IntervalLog) -> LogTable:
        """Condenses a log: of all rows whose rates fall into the same bin, the row with the largest utility remains.

        A log contains many rows with similar rates, whose results differ with the rates of other senders. A lookup can
        return only one of these rows; the row with the largest utility preserves the maximum of the log.
        """
        # Rates are binned on a logarithmic scale.
        bins = np.rint(np.log(log["rate"] / log["rate"].max()) / np.log1p(RESOLUTION)).astype(np.int64)
        order = np.lexsort((log["time"], -log["util"], bins))
        _, first = np.unique(bins[order], return_index=True)
        rows = order[first]
        rows = rows[np.argsort(log["rate"][rows], kind="stable")]
        most_lost = log["loss_rate"].max()
        throughput = log["thpt"][rows]
        return cls(
            rate=log["rate"][rows] / log["rate"].max(),
            rtt=log["rtt"][rows] / log["rtt"].max(),
            loss=log["loss_rate"][rows] / (most_lost if most_lost > 0 else 1.0),
            utility=np.maximum(log["util"][rows], 0.0) / log["util"].max(),
            throughput_bps=np.where(np.isfinite(throughput), throughput, 0.0),
            rtt_s=log["rtt"][rows],
            loss_ratio=log["loss_rate"][rows],
        )

    def nearest(self, rate: FloatArray) -> NDArray[np.int64]:
        """Rows nearest to these rates [n], relative to the log's largest; the lower row if two are equally near."""
        above = np.clip(np.searchsorted(self.rate, rate), 1, max(len(self.rate) - 1, 1))
        if len(self.rate) == 1:
            return np.zeros(len(rate), dtype=np.int64)
        below = above - 1
        return np.where(self.rate[above] - rate < rate - self.rate[below], above, below)

    def starts(self) -> NDArray[np.int64]:
        """Rows at which an episode may begin: with 40 to 70 % of the best utility, or else nearest to that range.

        A single interval in which a queue drained can have many times the utility of all others.
        """
        low, high = START_UTILITY
        distance = np.maximum(np.maximum(low - self.utility, self.utility - high), 0.0)
        return np.flatnonzero(distance == distance.min())


class LogEnv:
    """N concurrent episodes over a log, with the interface of the simulator's environments (`TrainingEnv`).

    One step is one monitor interval of one subflow.

    | action | meaning | bounds |
    |---|---|---|
    | 0 | a: the rate x becomes x (1 + 0.25 a), within the log's rates | [-1, 1] |

    | observation | meaning | bounds |
    |---|---|---|
    | 0 | rate, over the log's largest | [0, 1] |
    | 1 | RTT of the nearest rate logged, over the log's largest | [0, 1] |
    | 2 | loss ratio of the nearest rate logged, over the log's largest | [0, 1] |

    Reward: utility of the nearest logged rate, relative to the log's largest, in [0, 1]; negative utilities count as 0.
    An episode begins at a random row with 40 to 70 % of the best utility and ends after `episode_steps` (truncated).
    (seed, env, episode) determine all random values.
    """

    slots = 1

    def __init__(
        self,
        log: IntervalLog,
        spec: AgentSpec,
        num_envs: int,
        *,
        seed: int = 1,
        episode_steps: int = EPISODE_STEPS,
    ) -> None:
        """Creates episodes over `log` for an agent that observes rate, RTT and loss, and changes the rate.

        Raises:
            AgentError: if the agent does not match.
        """
        if spec.width != 3 or spec.action_width != 1 or spec.choices:
            raise AgentError(
                f"a log has rate, RTT and loss of one interval to show and a rate to change; the agent of "
                f"{spec.controller} sees {spec.width} numbers"
            )
        self.info = spec
        self.num_envs = num_envs
        self.table = LogTable.of(log)
        self.episode_steps = episode_steps
        self._starts = self.table.starts()
        self._seed = seed
        self.episode = np.zeros(num_envs, dtype=np.int64)
        self.fair_bps = np.zeros((num_envs, self.slots))  # unknown in a log
        self.truth: NDArray[np.float32] | None = None
        self._steps = np.zeros(num_envs, dtype=np.int64)
        self._rate = np.zeros(num_envs)
        self._row = np.zeros(num_envs, dtype=np.int64)
        self._sums = np.zeros((num_envs, 3))  # sums of throughput, RTT and loss over the episode
        self.obs = np.zeros((num_envs, 1, 3), dtype=np.float32)
        self.mask = np.ones((num_envs, 1), dtype=np.bool_)
        self.acting = np.ones((num_envs, 1), dtype=np.bool_)
        self.agent = np.zeros((num_envs, 1), dtype=np.int32)
        self.flow = np.zeros((num_envs, 1), dtype=np.int32)
        self.reward = np.zeros((num_envs, 1), dtype=np.float32)
        self.team_reward = np.zeros(num_envs, dtype=np.float32)
        self.terminated = np.zeros(num_envs, dtype=np.bool_)
        self.truncated = np.zeros(num_envs, dtype=np.bool_)
        self.time_s = np.zeros(num_envs)

    def reset(self, seed: int | None = None, episodes: Sequence[int] | None = None) -> None:
        """Begins an episode in all environments: the first episode, or the episodes with these numbers."""
        if seed is not None:
            self._seed = seed
        self.episode[:] = 0 if episodes is None else episodes
        self._begin(np.arange(self.num_envs))

    def send(self, action: NDArray[np.float32], envs: Sequence[int] | None = None) -> None:
        """Makes a step with action float32 [N, 1, 1] in these environments, or in all."""
        chosen = np.arange(self.num_envs) if envs is None else np.asarray(envs, dtype=np.int64)
        over, going = chosen[self.truncated[chosen]], chosen[~self.truncated[chosen]]
        factor = 1 + RATE_STEP * np.clip(action[going, 0, 0].astype(np.float64), -1.0, 1.0)
        self._rate[going] = np.clip(self._rate[going] * factor, self.table.rate[0], self.table.rate[-1])
        self._row[going] = self.table.nearest(self._rate[going])
        row = self._row[going]
        self._steps[going] += 1
        self._sums[going] += np.stack(
            [self.table.throughput_bps[row], self.table.rtt_s[row], self.table.loss_ratio[row]], axis=1
        )
        self.time_s[going] += INTERVAL_RTTS * self.table.rtt_s[row]
        self.reward[going, 0] = self.table.utility[row]
        throughput_mbps = np.maximum(self.table.throughput_bps[row] / 1e6, 0.01)
        self.team_reward[going] = np.log(throughput_mbps)
        self.truncated[going] = self._steps[going] >= self.episode_steps
        self._show(going)
        self.episode[over] += 1
        self._begin(over)

    def recv(self) -> None:
        """Does nothing, because `send` already made the step."""

    def step(self, action: NDArray[np.float32]) -> None:
        """Sends an action and receives its results."""
        self.send(action)
        self.recv()

    def episode_metrics(self, env: int) -> dict[str, float]:
        """Means over the last finished episode of an environment; a log has one flow, so Jain's index is 1."""
        throughput_bps, rtt_s, loss_ratio = self._sums[env] / max(self._steps[env], 1)
        return {
            "goodput_bps": float(throughput_bps),
            "flow_goodput_bps": float(throughput_bps),
            "rtt_inflation": float(rtt_s / self.table.rtt_s.min()),
            "rtt_s": float(rtt_s),
            "loss_ratio": float(loss_ratio),
            "jain": 1.0,
            "duration_s": float(self.time_s[env]),
        }

    def _begin(self, envs: NDArray[np.int64]) -> None:
        for env in envs:
            rng = np.random.default_rng([self._seed, int(env), int(self.episode[env])])
            self._row[env] = self._starts[rng.integers(len(self._starts))]
        self._rate[envs] = self.table.rate[self._row[envs]]
        self._steps[envs] = 0
        self._sums[envs] = 0
        self.time_s[envs] = 0
        self.reward[envs] = 0
        self.team_reward[envs] = 0
        self.truncated[envs] = False
        self._show(envs)

    def _show(self, envs: NDArray[np.int64]) -> None:
        row = self._row[envs]
        self.obs[envs, 0, 0] = self._rate[envs]
        self.obs[envs, 0, 1] = self.table.rtt[row]
        self.obs[envs, 0, 2] = self.table.loss[row]
