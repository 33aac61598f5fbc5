"""Controllers compared on the same scenario and seeds, with all cores at work."""

from __future__ import annotations

import math
import os
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

from subflow_app.core.catalog import policy_library
from subflow_app.core.scenarios.scenario_source import ScenarioSource

if TYPE_CHECKING:
    from subflow_agents.evaluation import Evaluation, RunFigures
    from subflow_sim import Scenario, Simulation

_Task = tuple["Scenario", Sequence[str], int]


class EvaluationJob:
    """An evaluation that tells how far it is and can be stopped.

    Threads are as good as processes here: the core runs without Python's lock, and nothing has to be sent around.

    Attributes:
        result: what came of it; None until then, and if it was stopped.
    """

    def __init__(
        self,
        contenders: Sequence[str],
        source: ScenarioSource,
        seeds: Sequence[int],
        *,
        baselines: Sequence[str] | None = None,
        folder: str | Path = "",
        name: str = "",
        threads: int | None = None,
        on_progress: Callable[[int, int], None] | None = None,
    ) -> None:
        """Check what is asked for; nothing runs yet.

        Args:
            contenders: policy files, names of the policy library, agents, controllers; see
                `subflow_agents.evaluation.read_contender`.
            source: the scenario.
            seeds: of the runs.
            baselines: controllers to compare with; None: the classics that suit the scenario.
            folder: of the files that the scenario names.
            name: what messages call the scenario.
            threads: runs at once; None: one for each core that this process may use.
            on_progress: called with (runs made, runs in all), on any thread.

        Raises:
            ConfigError: if a contender is none, or the scenario has no flow for it.
            ScenarioError: if the scenario is not usable with it.
        """
        self._contenders = tuple(map(_contender_text, contenders))
        self._source = source
        self._seeds = tuple(seeds)
        self._baselines = None if baselines is None else tuple(baselines)
        self._folder, self._name = str(folder), name or source.scenario.name
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        self._threads = threads or cores
        self._on_progress = on_progress
        self._stopped = threading.Event()
        self._running: dict[int, list[Simulation]] = {}
        self._done = 0
        self._lock = threading.Lock()
        self._tasks: list[_Task] = []
        self.result: Evaluation | None = None
        self._evaluate(self._note)

    @property
    def is_stopped(self) -> bool:
        """Whether `stop` was called."""
        return self._stopped.is_set()

    @property
    def runs(self) -> int:
        """How many runs it takes."""
        return len(self._tasks)

    def stop(self) -> None:
        """End within some milliseconds, without a result."""
        self._stopped.set()
        for simulations in list(self._running.values()):
            for simulation in list(simulations):
                simulation.interrupt()

    def run(self) -> None:
        """Make all runs.

        Raises:
            SimError: if a run fails.
        """
        with ThreadPoolExecutor(self._threads, thread_name_prefix="subflow-evaluation") as pool:
            try:
                figures = list(pool.map(self._one, range(len(self._tasks))))
            except BaseException:
                self.stop()
                raise
        if self.is_stopped:
            return
        results = iter([each for each in figures if each is not None])
        self.result = self._evaluate(lambda scenario, names, seed: next(results))

    def _one(self, index: int) -> RunFigures | None:
        from subflow_agents.evaluation import run_once

        if self.is_stopped:
            return None
        running: list[Simulation] = []
        self._running[index] = running
        scenario, names, seed = self._tasks[index]
        figures = run_once(scenario, names, seed, running)
        del self._running[index]
        with self._lock:
            self._done += 1
            done = self._done
        if self._on_progress is not None:
            self._on_progress(done, len(self._tasks))
        return figures

    def _evaluate(self, run: Callable[[Scenario, Sequence[str], int], RunFigures]) -> Evaluation:
        from subflow_agents.evaluation import evaluate

        return evaluate(
            self._contenders,
            self._source.text,
            self._seeds,
            baselines=self._baselines,
            name=self._name,
            folder=self._folder,
            run=run,
        )

    def _note(self, scenario: Scenario, names: Sequence[str], seed: int) -> RunFigures:
        """In place of a run: note what it would be."""
        from subflow_agents.evaluation import RunFigures

        self._tasks.append((scenario, names, seed))
        nan = math.nan
        return RunFigures(seed, nan, nan, nan, nan, nan, nan, nan)


def _contender_text(text: str) -> str:
    """A contender as `read_contender` knows it: a policy of the library becomes its file.

    Names of controllers and agents come first: they stand for the policy that ships with them.
    """
    from subflow_agents import agent_names
    from subflow_sim.catalog import controllers

    if text in agent_names() or any(text == each.name for each in controllers()):
        return text
    path = policy_library().paths().get(text)
    return text if path is None else str(path)
