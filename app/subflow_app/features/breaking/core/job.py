"""Searches for networks in which a claim fails, on this machine or on a cluster, and continues stored searches."""

from __future__ import annotations

import hashlib
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from subflow_app.features.arena.core.entrants import Entrant, chosen_entrants
from subflow_app.features.breaking.core.claim_file import ClaimFile
from subflow_app.features.breaking.core.counterexample import Counterexample, found_counterexample
from subflow_app.features.breaking.core.search import GENERATION, RANDOM_GENERATIONS, Elite, Niche, Search, niche_of
from subflow_app.features.breaking.core.space import Found, Space
from subflow_app.features.breaking.core.trial import Trial, network_of
from subflow_app.features.catalog.core.uses import told_replacements
from subflow_app.features.traces.core.scenario_hash import simulator_version
from subflow_app.foundation.errors import ArenaError
from subflow_app.foundation.jobs.executors import Executor, ExecutorMaker, Shared, executor_maker
from subflow_app.foundation.jobs.job import Batch
from subflow_app.foundation.jobs.progress import JobState
from subflow_app.foundation.jobs.tasks import OnStart
from subflow_app.foundation.json_document import fields
from subflow_store.searches import Generation, SearchRecord

if TYPE_CHECKING:
    from subflow_sim.arena.networks import Network
    from subflow_store import Store

RULES = 1
"""Version of the rules for trials and searches. A stored search of a different version is not continued."""

FOUND = 5
"""Maximum number of counterexamples per search."""

_CHUNK = 6  # largest number of networks per task
_WRITTEN_S = 2.0  # shortest time between two writes to the store
_SHRINKING_S = 15.0  # time reserved for simplifying; at most a tenth of the total
_SAME = 1e-6


@dataclass(frozen=True, slots=True, eq=False)
class _Tried:
    """The networks that one task tries: consecutive rows of a generation, starting at row `first`."""

    first: int
    nets: tuple[Network, ...]


@dataclass(frozen=True, slots=True, eq=False)
class _Shrunk:
    """A network that one task simplifies."""

    number: int
    found: Found


@dataclass(frozen=True, slots=True)
class Question:
    """The subject of a search.

    Attributes:
        claim: claim to refute.
        entrant: controller to test.
        space: networks to search.
        seed: seed of all random draws.
    """

    claim: ClaimFile
    entrant: Entrant
    space: Space
    seed: int = 1

    @property
    def replaced(self) -> list[str]:
        """One line for each controller or scheduler of the scenario that has options and that the entrant replaces."""
        net = network_of(self.space.scenario)
        return told_replacements(net.scenario, self.entrant.scenario(net))

    @property
    def key(self) -> str:
        """Hash that identifies the search in the store.

        Raises:
            ArenaError: if the entrant cannot take part.
        """
        draws = sorted(self.space.training.draws.items())
        parts = (RULES, simulator_version(), self.claim.text, self.entrant.entry(), self.space.text, draws, self.seed)
        return hashlib.sha256("/".join(map(repr, parts)).encode()).hexdigest()[:32]


class BreakJob(Batch[_Tried | _Shrunk]):
    """Runs a search. Call `run` in a worker thread, because it blocks. All other methods are thread-safe.

    Args:
        question: claim, controller and networks.
        store: keeps the search, so that it can continue later; None to keep nothing.
        minutes: time budget in minutes, including earlier sessions; None to stop only after `networks`.
        networks: largest number of networks to try; None for as many as time permits.
        most: largest number of counterexamples.
        jobs: number of parallel tasks on this machine; 1 to run in this process.
        cluster: address of a Ray cluster to use instead, or None.
        executor: creates the executor; None to derive it from `jobs` and `cluster`.

    Attributes:
        question: claim, controller and networks.
        search: state of the search.
        found: counterexamples, the clearest failure first; empty before the end.
        notes: remarks on the claim, e.g. that it cannot fail.

    Raises:
        InputError: if the entrant, or a controller that the claim names, cannot take part.
    """

    def __init__(
        self,
        question: Question,
        store: Store | None = None,
        *,
        minutes: float | None = 5.0,
        networks: int | None = None,
        most: int = FOUND,
        jobs: int = 1,
        cluster: str | None = None,
        executor: ExecutorMaker | None = None,
    ) -> None:
        if question.entrant.problem:
            raise ArenaError(question.entrant.problem)
        chosen_entrants([case.controller for case in question.claim.cases.values() if case.controller] or ["lia"])
        self._shared = Shared(executor or executor_maker(jobs, cluster))
        super().__init__(self._shared, networks or 0, f"{question.claim.name}, {question.entrant.name}")
        self.question = question
        self.trial = Trial(question.claim, question.entrant)
        self.search = Search(len(question.space.keys), question.seed)
        self.found: tuple[Counterexample, ...] = ()
        self.notes: tuple[str, ...] = ()
        self._store = store
        self._key = question.key
        self.record: SearchRecord | None = None  # the search in the store
        self._minutes = minutes
        self._networks = networks
        self._most = most
        self._earlier_s = 0.0
        self._started = 0.0
        self._margins: list[float] = []
        self._shrunk: dict[int, Sequence[Counterexample]] = {}
        self._unwritten: list[Generation] = []
        self._written_at = 0.0

    @property
    def elapsed_s(self) -> float:
        """Total time of the search including earlier sessions, s."""
        return self._earlier_s + (time.monotonic() - self._started if self._started else 0.0)

    def _work(self) -> None:
        self._tell(state=JobState.CHECKING)
        self._started = time.monotonic()
        self._recall()
        self._tell(state=JobState.RUNNING, reused=self.search.tried)
        try:
            while not self.is_stopped and not self._is_through():
                self._try_generation()
                self._comment()
            self._write()
            if not self.is_stopped:
                self._make_small()
        finally:
            self._write()
            self._shared.close()

    def _is_through(self) -> bool:
        search_s = math.inf if self._minutes is None else 60 * self._minutes
        search_s -= min(_SHRINKING_S, 0.1 * search_s) if math.isfinite(search_s) else 0.0
        networks = math.inf if self._networks is None else self._networks
        told = max(self.search.tried / networks, self.elapsed_s / search_s)
        self._tell(
            runs=self._networks or max(self._progress.runs, self.search.tried),
            finished=self.search.tried,
            share=min(0.9 * told, 0.9),
            elapsed_s=self.elapsed_s,
            eta_s=self.elapsed_s * (1 / told - 1) / 0.9 if told > 0 else math.nan,
            doing=f"fails in {self.search.failed} of {self.search.tried}",
        )
        return told >= 1

    def _recall(self) -> None:
        """Replays the stored generations of the same search, so that this search continues after them."""
        question = self.question
        if self._store is None:
            return
        script = question.entrant.script
        document = {
            "claim": question.claim.text,
            "title": question.claim.title,
            "space": question.space.text,
            "vary": list(question.space.vary),
            "keys": list(question.space.keys),
            "script": None if script is None else fields(script, "name", "kind", "text", "file"),
            "seed": question.seed,
        }
        names = question.claim.name, question.space.name, question.entrant.name
        self.record = self._store.searches.begin(self._key, *names, simulator_version(), document)
        self._earlier_s = self.record.elapsed_s
        for known in self._store.searches.generations(self.record.id):
            points = self.search.ask()
            width = points.shape[1]
            was = np.frombuffer(known.points, "<f8")
            if was.size != points.size or not np.allclose(was.reshape(-1, width), points, atol=_SAME):
                break  # a different version of a library drew other points: ignore the results from here on
            niches = np.frombuffer(known.niches, np.uint8).reshape(len(points), -1)
            margins = np.frombuffer(known.margins, "<f8").tolist()
            self.search.tell(points, margins, [Niche(*map(int, row)) for row in niches])

    def _try_generation(self) -> None:
        points = self.search.ask()
        nets = tuple(self.question.space.found(point).net for point in points)
        self._margins = [math.nan] * len(nets)
        chunk = max(1, min(_CHUNK, GENERATION // (2 * max(self._progress.jobs, 1))))
        self._make(_Tried(first, nets[first : first + chunk]) for first in range(0, len(nets), chunk))
        if self.is_stopped:
            return
        niches = [niche_of(net) for net in nets]
        number = self.search.tried // GENERATION
        self.search.tell(points, self._margins, niches)
        self._unwritten.append(
            Generation(
                number,
                points.astype("<f8").tobytes(),
                np.array(self._margins, "<f8").tobytes(),
                np.array(niches, np.uint8).tobytes(),
            )
        )
        if time.monotonic() - self._written_at > _WRITTEN_S:
            self._write()

    def _comment(self) -> None:
        """Once the random networks have been tried, notes if the claim always failed or apparently cannot fail."""
        search = self.search
        if search.tried != GENERATION * RANDOM_GENERATIONS:
            return
        margins = [elite.margin for elite in search.elites.values()]
        if not margins:
            self.notes = (f"the claim could be measured in none of the first {search.tried} networks",)
        elif search.failed == search.tried:
            self.notes = (f"the claim failed in all of the first {search.tried} networks: it cannot be kept here",)
        elif max(margins) - min(margins) < _SAME and search.failed == 0:
            text = f"holds in each of the first {search.tried} networks by the same amount"
            self.notes = (f"the claim {text}: it may be one that cannot fail",)

    def _make_small(self) -> None:
        chosen: list[Elite] = self.search.failures(2 * self._most)
        self._tell(state=JobState.RUNNING, doing="simplifying the networks found", share=0.9)
        self._make(_Shrunk(number, self.question.space.found(elite.point)) for number, elite in enumerate(chosen))
        if self.is_stopped:
            return
        kept: list[Counterexample] = []
        for each in (each for number in sorted(self._shrunk) for each in self._shrunk[number]):
            if len(kept) < self._most and all(each.text != other.text for other in kept):
                kept.append(each)
        self.found = tuple(kept)
        if self.record is not None and self._store is not None:
            self._store.searches.put_found(self.record.id, [each.document() for each in kept])
        self._tell(share=1.0, eta_s=0.0)

    def _tell_running(self, n_under_way: int, executor: Executor) -> None:
        """Reports the number of running tasks, but not the remaining time, which `_is_through` estimates."""
        self._tell(
            state=self._running_state,
            under_way=min(n_under_way, executor.jobs),
            jobs=executor.jobs,
            elapsed_s=self.elapsed_s,
        )

    def _task(self, item: _Tried | _Shrunk) -> Callable[[OnStart], Any]:
        if isinstance(item, _Tried):
            return partial(_try_nets, self.trial, item.nets)
        return partial(_shrink, self.trial, item.found, self.question.space)

    def _keep(self, item: _Tried | _Shrunk, outcome: Any) -> None:
        if isinstance(item, _Tried):
            self._margins[item.first : item.first + len(outcome)] = outcome
        else:
            self._shrunk[item.number] = outcome

    def _give_up(self, item: _Tried | _Shrunk, problem: str) -> None:
        """Stops the search, because networks that crash the process leave the claim undecided.

        Raises:
            ArenaError: always.
        """
        what = "networks could not be tried" if isinstance(item, _Tried) else "a network could not be simplified"
        raise ArenaError(f"{what}: {problem}")

    def _write(self) -> None:
        if self.record is not None and self._store is not None and (self._unwritten or self._started):
            self._store.searches.add(self.record.id, self._unwritten, self.elapsed_s)
        self._unwritten = []
        self._written_at = time.monotonic()


def _try_nets(trial: Trial, nets: Sequence[Network], _on_start: OnStart) -> list[float]:
    return [trial.steady_margin(net) for net in nets]


def _shrink(trial: Trial, found: Found, space: Space, _on_start: OnStart) -> list[Counterexample]:
    small = found_counterexample(trial, found.tree, space.training.draws)
    return [] if small is None else [small]
