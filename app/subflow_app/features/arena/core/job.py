"""Runs entrants in networks, on the cores of this machine or on a cluster, and reuses stored outcomes."""

from __future__ import annotations

import hashlib
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from subflow_app.features.arena.core.entrants import Entrant
from subflow_app.features.arena.core.results import Entry, Result
from subflow_app.features.running.core.runs_estimate import RunsEstimate, estimate_runs, spread_numbers
from subflow_app.features.traces.core.scenario_hash import scenario_hash, simulator_version
from subflow_app.foundation.errors import AppError, ArenaError
from subflow_app.foundation.jobs.executors import ExecutorMaker, executor_maker
from subflow_app.foundation.jobs.job import Batch
from subflow_app.foundation.jobs.progress import JobState
from subflow_app.foundation.jobs.tasks import OnStart
from subflow_sim.arena.networks import Network
from subflow_sim.arena.utility import SAMPLE_INTERVAL_S, WORST, judged_and_timed
from subflow_sim.errors import SimError
from subflow_store.arena import ArenaOutcome

if TYPE_CHECKING:
    from subflow_sim.scenario import Scenario
    from subflow_store import Store

RULES = 1
"""Version of the rules for utility and gate. Outcomes computed by other versions are computed again."""

_AT_ONCE = 50  # outcomes per write to the store
_WRITTEN_S = 2.0
_DIGITS = 6  # significant digits of stored values; tables show two decimals


@dataclass(slots=True, eq=False)
class _Wanted:
    """A result to compute: an entrant in a network, its cache key, and the reason why it cannot run, if any."""

    entrant: Entrant
    net: Network
    key: str
    problem: str = ""


@dataclass(slots=True)
class _Survey:
    """Missing outcomes, outcomes of entrants that cannot run in a network, and the number of stored outcomes."""

    wanted: list[_Wanted] = field(default_factory=list)
    refused: list[_Wanted] = field(default_factory=list)
    n_there: int = 0


class ArenaJob(Batch[_Wanted]):
    """Runs all entrants in all networks. Call `run` in a worker thread, because it blocks; the rest is thread-safe.

    Args:
        entry: entrants and networks to run.
        store: keeps the outcomes; stored outcomes are reused.
        jobs: number of worker processes on this machine; 1 to run in this process.
        cluster: address of a Ray cluster to use instead, or None.
        executor: creates the executor; None to derive it from `jobs` and `cluster`.

    Raises:
        ArenaError: if no entrant can take part.
    """

    def __init__(
        self,
        entry: Entry,
        store: Store,
        *,
        jobs: int = 1,
        cluster: str | None = None,
        executor: ExecutorMaker | None = None,
    ) -> None:
        if not entry.taking_part:
            raise ArenaError(f"the arena has no entrants: {'; '.join(entry.problems)}")
        runs = len(entry.taking_part) * entry.n_networks
        super().__init__(executor or executor_maker(jobs, cluster), runs, "arena")
        self.entry = entry
        self.jobs = jobs
        self._survey: _Survey | None = None
        self._store = store
        self._unwritten: list[ArenaOutcome] = []
        self._written_at = time.monotonic()

    def estimate(self, is_given_up: Callable[[], bool] = lambda: False) -> RunsEstimate | None:
        """Estimate how long the missing runs will take; None if no run is missing, or if cancelled or stopped.

        Call this before `run`. The estimate includes the NewReno reference runs for competing TCP, once per network and
        worker process.

        Args:
            is_given_up: polled repeatedly; True cancels the estimate.
        """
        survey = self._surveyed(is_given_up)
        if survey is None or not survey.wanted:
            return None
        self._survey, wanted = survey, survey.wanted
        scenarios = []
        for number in spread_numbers(len(wanted)):
            with suppress(AppError, SimError):  # an invalid entrant fails immediately and costs no time
                scenarios.append(wanted[number].entrant.scenario(wanted[number].net))
        per_network = Counter(each.net.name for each in wanted if each.net.beside)
        references = sum(min(self.jobs, count) for count in per_network.values())
        return estimate_runs(
            scenarios, len(wanted) + references, sample_interval_s=SAMPLE_INTERVAL_S, keeps_traces=False
        )

    def _work(self) -> None:
        self._tell(state=JobState.CHECKING)
        survey, self._survey = self._survey or self._surveyed(), None
        if survey is None:
            return
        for each in survey.refused:
            self._keep(each, (Result(WORST, reason=each.problem), ""))
        self._tell(state=JobState.RUNNING, finished=self._progress.finished + survey.n_there, reused=survey.n_there)
        try:
            self._make(survey.wanted)
        finally:
            self._write()

    def _surveyed(self, is_given_up: Callable[[], bool] = lambda: False) -> _Survey | None:
        """Missing, refused and stored outcomes; None after a cancellation or stop."""
        known = self._store.arena.outcomes().keys()
        found = _Survey()
        for net in self.entry.networks():
            network = scenario_hash(net.scenario)
            for entrant in self.entry.taking_part:
                if self.is_stopped or is_given_up():
                    return None
                each = _wanted(entrant, net, network)
                if each.key in known:
                    found.n_there += 1
                else:
                    (found.refused if each.problem else found.wanted).append(each)
            self._tell(checked=self._progress.checked + len(self.entry.taking_part))
        return found

    def _task(self, wanted: _Wanted) -> Callable[[OnStart], Any]:
        return partial(_try_out, replace(wanted.net, text=""), wanted.entrant.scenario(wanted.net))

    def _keep(self, wanted: _Wanted, outcome: tuple[Result, str]) -> None:
        result, version = outcome
        if version and version != simulator_version():
            raise ArenaError(
                f"a worker has another version of Subflow ({version}) than this machine ({simulator_version()}): "
                "install the same one on all machines of the cluster"
            )
        self._unwritten.append(
            ArenaOutcome(
                wanted.key,
                wanted.entrant.name,
                wanted.entrant.entry(),
                wanted.net.name,
                simulator_version(),
                _stored(result),
            )
        )
        if len(self._unwritten) >= _AT_ONCE or time.monotonic() - self._written_at > _WRITTEN_S:
            self._write()
        self._tell(finished=self._progress.finished + 1, doing=f"{wanted.entrant.name}, {wanted.net.name}")

    def _give_up(self, wanted: _Wanted, problem: str) -> None:
        """Stores the lowest utility for an entrant whose process crashed in this network."""
        self._problems.append(f"{wanted.entrant.name}, {wanted.net.name}: {problem}")
        self._keep(wanted, (Result(WORST, reason=problem), ""))

    def _write(self) -> None:
        self._store.arena.add(self._unwritten)
        self._unwritten = []
        self._written_at = time.monotonic()


def _wanted(entrant: Entrant, net: Network, network: str) -> _Wanted:
    """The result to compute for an entrant in a network; ``network`` is the hash of the network's scenario."""
    problem = ""
    try:
        sends = entrant.sends(net.scenario.profile)
    except AppError as error:
        sends, problem = "", str(error)
    told = (RULES, simulator_version(), sends, net.name, net.scenario.seed, net.competes, net.beside, network)
    key = hashlib.sha256("/".join(map(repr, told)).encode()).hexdigest()[:32]
    return _Wanted(entrant, net, key, problem)


def _stored(result: Result) -> dict[str, float | str]:
    """A result as it is stored: rounded to significant digits, without NaN values and empty reasons."""
    told = {name: value for name, value in asdict(result).items() if value == value and value != ""}
    return {name: float(f"{value:.{_DIGITS}g}") if name != "reason" else value for name, value in told.items()}


def _try_out(net: Network, scenario: Scenario, _on_start: OnStart) -> tuple[Result, str]:
    """Simulates the scenario; returns the result and the version of the simulator."""
    outcome, packet_s = judged_and_timed(net, scenario)
    result = Result(
        outcome.utility,
        outcome.throughput,
        outcome.queueing,
        outcome.excess_loss,
        outcome.friendliness,
        outcome.convergence_s,
        1e6 * packet_s,
        outcome.reason,
    )
    return result, simulator_version()
