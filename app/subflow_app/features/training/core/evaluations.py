"""Evaluations of several controllers on the same scenario and seeds, and races between two controllers.

An evaluation uses all cores. A race runs the same scenario twice: with a learned policy, and with a different
controller in the same flows.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from subflow_agents.evaluation import Evaluation, RunFigures, evaluate, run_figures
from subflow_app.features.catalog.core.catalog import app_catalog, policy_library
from subflow_app.features.catalog.core.uses import Use, check_kept, told_replacements
from subflow_app.features.editor.core.algorithm_choices import (
    AlgorithmChoice,
    name_in,
    other_controllers,
    own_or_named,
    without_defaults,
)
from subflow_app.features.editor.core.scenario_source import ScenarioSource, source_of, with_contents
from subflow_app.features.running.core.run_task import RunOutcome, RunTask, make_run
from subflow_app.features.training.core.promotion import promote
from subflow_app.features.training.core.training_progress import CLASSICS, Training
from subflow_app.foundation.errors import ClusterError, InputError, TrainingError
from subflow_app.foundation.jobs.executors import Threads, core_count, executor_maker
from subflow_app.foundation.jobs.job import Batch
from subflow_app.foundation.jobs.tasks import OnStart
from subflow_app.foundation.toml_edit import TomlEditError, TomlValue, read_toml, set_value
from subflow_app.vocabulary.language import tr
from subflow_sim.errors import PolicyError, ScenarioError, SimError
from subflow_sim.policy_library import read_policy_file

if TYPE_CHECKING:
    from subflow_sim import Scenario


_Run = tuple["Scenario", Sequence[str], int]


class EvaluationJob(Batch[int]):
    """An evaluation of several controllers.

    Local runs use threads, which are as fast as processes here: the core releases Python's global interpreter lock, and
    no data has to be sent between processes.

    Args:
        contenders: policy files, names of the policy library, agents, controllers; see
            `subflow_agents.evaluation.read_contender`.
        source: the scenario.
        seeds: seeds of the runs.
        baselines: controllers to compare with; None: the classics that suit the scenario.
        folder: base of the relative paths in the scenario.
        name: name of the scenario in messages.
        threads: number of simultaneous runs; None: one for each core that this process may use.
        cluster: address of a Ray cluster for the runs; None: this machine.

    Attributes:
        result: the evaluation; None until it is complete, and if it was stopped.
        replaced: lines about controllers of the scenario whose options are replaced by a contender.

    Raises:
        ConfigError: if a contender does not exist, or the scenario has no flow for it.
        ScenarioError: if the scenario is not usable with a contender.
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
        replacements = (told_replacements(source.scenario, scenario) for scenario, _names, _seed in self._runs)
        self.replaced = tuple(dict.fromkeys(line for lines in replacements for line in lines))
        self._tell(runs=len(self._runs))

    def _work(self) -> None:
        """Carry out all runs, and compute the result unless stopped.

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

        if outcome.failure:
            raise SimError(outcome.failure)
        self._figures[item] = run_figures(outcome.summary, *self._runs[item])
        self._tell(finished=len(self._figures))

    def _give_up(self, item: int, problem: str) -> None:
        raise ClusterError(f"a run of seed {self._runs[item][2]} could not be made: {problem}")

    def _evaluate(self, run: Callable[[Scenario, Sequence[str], int], RunFigures]) -> Evaluation:

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
        """Record the run instead of carrying it out; returns NaN for all figures."""
        self._runs.append((scenario, names, seed))
        nan = math.nan
        return RunFigures(seed, nan, nan, nan, nan, nan, nan, nan)


def _contender_text(text: str, scenario: Scenario) -> str:
    """The contender as `read_contender` expects it: the name of a policy in the library is replaced by its file.

    Names of controllers and agents take precedence, and select the policy that ships with the controller or agent.
    """
    from subflow_agents import agent_names

    if text in agent_names() or any(text == each.name for each in app_catalog(scenario).controllers):
        return text
    path = policy_library().paths().get(text)
    return text if path is None else str(path)


_KINDS = ("mptcp", "tcp")


def rivals(controller: str, text: str, folder: Path | None) -> list[AlgorithmChoice]:
    """The possible rivals of a policy in a race: the scenario's own controller, the classics, then all others.

    Args:
        controller: controller of the policy.
        text: TOML of the scenario. Controllers that it defines by scripts are included unless it has problems.
        folder: base of the relative paths in the scenario; None if it has no file.
    """
    own = AlgorithmChoice("", tr("as in the scenario"), tr("The scenario as it is"), is_own=True)
    try:
        scenario = source_of(Use.RACE, text, folder=folder).scenario
    except (ScenarioError, TomlEditError):
        scenario = None
    others = other_controllers(scenario, is_multipath=_is_coupled(controller), folder=folder)
    return [own, *sorted(others, key=lambda each: each.value not in CLASSICS)]


def _is_coupled(controller: str) -> bool:
    return next((each.is_coupled for each in app_catalog().controllers if each.name == controller), True)


def race_sources(
    text: str, folder: Path | None, training: Training, rival: AlgorithmChoice, *, title: str
) -> tuple[ScenarioSource, ScenarioSource]:
    """Both scenarios of a race, ready to run.

    The policy is first copied into the user's library as "raced-AGENT-HASH", because training overwrites its file,
    whereas the file named by a stored run must not change. Scenarios, lists of controllers and `subflow agents` then
    offer it.

    Args:
        text: TOML of the scenario.
        folder: base of the relative paths in the scenario; None if it has no file.
        training: training run whose latest policy races.
        rival: opponent of the policy.
        title: title of the scenario.

    Raises:
        InputError: if no flow of the scenario can race.
        TrainingError: if the policy cannot be copied.
        ScenarioError: if the scenario has problems, which the error lists.
    """
    policy = _kept_policy(training)
    # Includes the contents of referenced files, because the two scenarios have no folder for relative paths.
    whole = source_of(Use.RACE, text, file=title, folder=folder)
    texts = race_texts(
        whole.text,
        controller=training.controller,
        policy=policy,
        rival=rival,
        title=title,
        entrant=training.name,
    )
    entrants = source_of(Use.RACE, texts[0], file=title), source_of(Use.RACE, texts[1], file=title)
    for each in entrants:
        check_kept(Use.RACE, whole.scenario, each.scenario)
    return entrants


_RACED = "raced-"


def is_raced(name: str) -> bool:
    """True for the name of a policy in the library that a race has added."""
    return name.startswith(_RACED)


def _kept_policy(training: Training) -> str:
    """Copies the latest policy of a training run into the user's library, once, and returns its name there."""
    path = training.policy_path
    if path is None:
        raise TrainingError(f"{training.name} has no policy yet")
    try:
        content_hash = hashlib.sha256(read_policy_file(path)).hexdigest()
        name = f"{_RACED}{training.agent}-{content_hash[:8]}"
        if name not in policy_library().paths():
            promote(path, name, {"note": "Kept because it raced.", "training": training.name})
    except PolicyError as error:
        raise TrainingError(f"{path}: {error}") from error
    return name


def race_texts(
    text: str, *, controller: str, policy: str, rival: AlgorithmChoice, title: str, entrant: str
) -> tuple[str, str]:
    """Two versions of a scenario: one with the policy, and one with the rival in the same flows.

    The flows with the policy's controller race and keep their options; without such flows, all suitable flows race. The
    other flows keep their controllers: the effect of a policy on them is part of the race.

    Args:
        text: TOML of the scenario.
        controller: congestion controller that runs the policy.
        policy: name of the policy, or path of its file, as the scenario names it.
        rival: opponent of the policy.
        title: title of the scenario, for the names of the two runs.
        entrant: name of the run with the policy.

    Raises:
        InputError: if no flow can race.
    """
    try:
        tree = read_toml(text)
    except TomlEditError as error:
        raise InputError(f"the scenario cannot be read: {error}") from error
    flows: Any = tree.get("flows", {})
    needs_paths = _is_coupled(controller) or (not rival.is_own and _is_coupled(name_in(rival.value)))
    own = _racers(flows if isinstance(flows, Mapping) else {}, controller, needs_paths=needs_paths)
    if not own:
        kind = "mptcp" if needs_paths else "mptcp or tcp"
        raise InputError(f"no flow of {title} can race: {controller} needs a flow of kind {kind}")
    learned = {name: _with_policy(value, controller, policy) for name, value in own.items()}
    others = {} if rival.is_own else {name: own_or_named(value, rival.value) for name, value in own.items()}
    return (
        _with_controllers(text, learned, f"{title}: {entrant}"),
        _with_controllers(text, others, f"{title}: {rival.text}"),
    )


def _racers(flows: Mapping[str, Any], controller: str, *, needs_paths: bool) -> dict[str, TomlValue]:
    """The racing flows with their controllers; an empty string if the scenario omits the controller."""
    kinds = _KINDS[:1] if needs_paths else _KINDS
    able = {
        name: without_defaults(flow.get("controller", ""))
        for name, flow in flows.items()
        if isinstance(flow, Mapping) and flow.get("kind") in kinds
    }
    chosen = {name: value for name, value in able.items() if name_in(value) == controller}
    return chosen or able


def _with_policy(own: TomlValue, controller: str, policy: str) -> TomlValue:
    options = own if isinstance(own, Mapping) and name_in(own) == controller else {}
    return {**options, "name": controller, "policy": policy}


def _with_controllers(text: str, controllers: Mapping[str, TomlValue], title: str) -> str:
    for name, controller in controllers.items():
        text = set_value(text, ("flows", name, "controller"), controller)
    return set_value(text, ("name",), title)
