"""Controllers compared on the same scenario and seeds, with all cores at work."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from subflow_app.features.catalog.core.catalog import app_catalog, policy_library
from subflow_app.features.catalog.core.uses import told_replacements
from subflow_app.features.editor.core.scenario_source import ScenarioSource, with_contents
from subflow_app.features.running.core.run_task import RunOutcome, RunTask, make_run
from subflow_app.foundation.errors import ClusterError
from subflow_app.foundation.jobs.executors import Threads, core_count, executor_maker
from subflow_app.foundation.jobs.job import Batch
from subflow_app.foundation.jobs.tasks import OnStart
from subflow_sim.errors import SimError

if TYPE_CHECKING:
    from subflow_agents.evaluation import Evaluation, RunFigures
    from subflow_sim import Scenario

_Run = tuple["Scenario", Sequence[str], int]


class EvaluationJob(Batch[int]):
    """An evaluation.

    Threads are as good as processes here: the core runs without Python's lock, and nothing has to be sent around.

    Args:
        contenders: policy files, names of the policy library, agents, controllers; see
            `subflow_agents.evaluation.read_contender`.
        source: the scenario.
        seeds: of the runs.
        baselines: controllers to compare with; None: the classics that suit the scenario.
        folder: of the files that the scenario names.
        name: what messages call the scenario.
        threads: runs at once; None: one for each core that this process may use.
        cluster: address of a Ray cluster that makes them instead; None: none.

    Attributes:
        result: what came of it; None until then, and if it was stopped.
        replaced: lines about controllers of the scenario, with options of their own, that contenders replace.

    Raises:
        ConfigError: if a contender is none, or the scenario has no flow for it.
        ScenarioError: if the scenario is not usable with it.
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
        cluster: str | None = None,
    ) -> None:
        threaded = partial(Threads, threads or core_count())
        super().__init__(threaded if cluster is None else executor_maker(cluster=cluster), name=name)
        self._contenders = tuple(_contender_text(each, source.scenario) for each in contenders)
        self._source = source
        self._seeds = tuple(seeds)
        self._baselines = None if baselines is None else tuple(baselines)
        self._folder = str(folder)
        self._runs: list[_Run] = []
        self._figures: dict[int, RunFigures] = {}
        self.result: Evaluation | None = None
        self._evaluate(self._note)
        told = (told_replacements(source.scenario, scenario) for scenario, _names, _seed in self._runs)
        self.replaced = tuple(dict.fromkeys(line for lines in told for line in lines))
        self._tell(runs=len(self._runs))

    def _work(self) -> None:
        """Make all runs.

        Raises:
            SimError: if a run fails.
        """
        self._make(range(len(self._runs)))
        if not self.is_stopped:
            figures = iter([self._figures[number] for number in range(len(self._runs))])
            self.result = self._evaluate(lambda scenario, names, seed: next(figures))

    def _task(self, item: int) -> Callable[[OnStart], RunOutcome]:
        scenario, _, seed = self._runs[item]
        return partial(make_run, RunTask(scenario, seed, max(1.0, scenario.duration_s), keeps_traces=False))

    def _keep(self, item: int, outcome: RunOutcome) -> None:
        from subflow_agents.evaluation import run_figures

        if outcome.failure:
            raise SimError(outcome.failure)
        self._figures[item] = run_figures(outcome.summary, *self._runs[item])
        self._tell(finished=len(self._figures))

    def _give_up(self, item: int, problem: str) -> None:
        raise ClusterError(f"a run of seed {self._runs[item][2]} could not be made: {problem}")

    def _evaluate(self, run: Callable[[Scenario, Sequence[str], int], RunFigures]) -> Evaluation:
        from subflow_agents.evaluation import evaluate

        return evaluate(
            self._contenders,
            with_contents(self._source.text, self._source.scenario, has_library=False),
            self._seeds,
            baselines=self._baselines,
            name=self.name or self._source.scenario.name,
            folder=self._folder,
            run=run,
        )

    def _note(self, scenario: Scenario, names: Sequence[str], seed: int) -> RunFigures:
        """In place of a run: note what it would be."""
        from subflow_agents.evaluation import RunFigures

        self._runs.append((scenario, names, seed))
        nan = math.nan
        return RunFigures(seed, nan, nan, nan, nan, nan, nan, nan)


def _contender_text(text: str, scenario: Scenario) -> str:
    """A contender as `read_contender` knows it: a policy of the library becomes its file.

    Names of controllers and agents come first: they stand for the policy that ships with them.
    """
    from subflow_agents import agent_names

    if text in agent_names() or any(text == each.name for each in app_catalog(scenario).controllers):
        return text
    path = policy_library().paths().get(text)
    return text if path is None else str(path)
