"""Logs of monitor intervals, in the format of MPCC's kernel module, recorded from simulations.

Source: DDPG-MPCC (Future Internet 2024), section 2.2, and its repository, which defines the column names.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from subflow_agents.errors import AgentError
from subflow_sim import Intervals, Scenario, Simulation

FloatArray: TypeAlias = NDArray[np.float64]

COLUMNS = (
    "time",  # s, time at which the fate of the interval's last packet became known
    "session",  # number of the subflow in the run, from 0
    "rate",  # bit/s on the wire, requested
    "total_rate",  # bit/s, sum of the latest rates of all subflows of the connection
    "sequences",  # number of the interval in its subflow, from 0
    "sent",  # packets
    "lost",  # packets
    "util",  # MPCC's utility of the interval, in its unit
    "old_util",  # utility of the previous interval; NaN for a subflow's first
    "thpt",  # bit/s on the wire, delivered
    "loss_rate",  # lost / sent
    "rtt",  # s, mean of the interval's samples; absent in the published log
)
"""Columns of a log, with their units."""

_SLICE_S = 1.0  # simulated time between two collections; the simulator's buffer holds far more


@dataclass(frozen=True, slots=True, eq=False)
class IntervalLog:
    """Monitor intervals of one or more runs, run by run, and in order of time within a run.

    Attributes:
        table: float64 [n, len(COLUMNS)], n >= 1; finite except `old_util` and `thpt`.
    """

    table: FloatArray

    def __post_init__(self) -> None:
        """Checks that the log is usable for learning.

        Raises:
            AgentError: if the log is empty, a number is missing or implausible, or no utility is above 0.
        """
        if self.table.ndim != 2 or self.table.shape[1] != len(COLUMNS):
            raise AgentError(f"a log of monitor intervals has the columns {', '.join(COLUMNS)}")
        if len(self) == 0:
            raise AgentError("the log holds no monitor interval")
        for name in COLUMNS:
            bad = ~np.isfinite(self[name])
            if name not in ("old_util", "thpt") and bad.any():
                raise AgentError(f"the log's row {int(bad.argmax()) + 1} has no finite {name}")
        for name in ("rate", "rtt"):
            if (self[name] <= 0).any():
                raise AgentError(f"the log's row {int((self[name] <= 0).argmax()) + 1} has a {name} of 0 or less")
        if self["util"].max() <= 0:
            raise AgentError("the log has no interval with a utility above 0: nothing to aim at")

    def __len__(self) -> int:
        return len(self.table)

    def __getitem__(self, column: str) -> FloatArray:
        """One column, float64 [n]; COLUMNS gives its unit."""
        return self.table[:, COLUMNS.index(column)]


def record_log(runs: Sequence[tuple[Scenario, int]], threads: int = 1) -> IntervalLog:
    """Logs the monitor intervals of runs of MPCC flows, in the order of the runs whatever the number of threads.

    Args:
        runs: scenario and seed of each run.
        threads: number of runs at a time.

    Raises:
        AgentError: if no flow uses monitor intervals with a utility, or no utility is above 0.
    """
    with ThreadPoolExecutor(max_workers=threads) as pool:
        tables = list(pool.map(_record, runs))
    return IntervalLog(np.concatenate(tables) if tables else np.empty((0, len(COLUMNS))))


def _record(run: tuple[Scenario, int]) -> FloatArray:
    scenario, seed = run
    simulation = Simulation(scenario, seed=seed)
    taken: list[Intervals] = []
    for k in range(1, math.ceil(scenario.duration_s / _SLICE_S) + 1):
        simulation.run_until(min(k * _SLICE_S, scenario.duration_s))
        taken.append(simulation.take_intervals())
    return _rows(taken)


def _rows(taken: list[Intervals]) -> FloatArray:
    owners = taken[0].owners
    flow_of = [owner.rpartition("/")[0] for owner in owners]
    rates: dict[str, dict[int, float]] = {flow: {} for flow in flow_of}  # latest rates by flow, then by subflow
    utilities: dict[int, float] = {}
    rows: list[list[float]] = []
    for intervals in taken:
        for i in range(len(intervals)):
            owner = int(intervals.owner[i])
            rate_bps, utility = float(intervals.rate_bps[i]), float(intervals.utility[i])
            siblings = rates[flow_of[owner]]
            siblings[owner] = rate_bps
            old_utility = utilities.get(owner, math.nan)
            utilities[owner] = utility
            # An interval without an RTT sample, or without a utility, carries no information.
            if math.isnan(utility) or math.isnan(intervals.rtt_mean_s[i]) or rate_bps <= 0:
                continue
            rows.append(
                [
                    intervals.time_ns[i] / 1e9,
                    owner,
                    rate_bps,
                    sum(siblings.values()),
                    intervals.number[i],
                    intervals.sent_pkts[i],
                    intervals.lost_pkts[i],
                    utility,
                    old_utility,
                    intervals.throughput_bps[i],
                    intervals.loss_ratio[i],
                    intervals.rtt_mean_s[i],
                ]
            )
    return np.array(rows, dtype=np.float64).reshape(len(rows), len(COLUMNS))
