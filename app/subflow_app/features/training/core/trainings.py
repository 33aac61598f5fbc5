"""The training runs of this session and earlier sessions, for the Train page."""

from __future__ import annotations

import logging
import math
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from subflow_agents import AgentError, Command, OptionSpec, ReportKind, TrainingConfig, agents
from subflow_agents.reward_terms import TERMS
from subflow_app.features.catalog.core.uses import Use
from subflow_app.features.editor.core.scenario_source import source_of
from subflow_app.features.training.core.policy_surface import SeenPolicy, observe_policy
from subflow_app.features.training.core.promotion import policy_names, promote
from subflow_app.features.training.core.training import TrainingJob
from subflow_app.features.training.core.training_draft import (
    DOCUMENT,
    AgentChoice,
    DocumentText,
    RecipeChoice,
    TrainingChoices,
    TrainingOrder,
)
from subflow_app.features.training.core.training_folder import has_checkpoint
from subflow_app.features.training.core.training_grounds import grounds_of
from subflow_app.features.training.core.training_progress import Comparison, Training
from subflow_app.features.training.core.training_record import EVALUATED, REWARD, reward_metric, sync_all
from subflow_app.features.training.core.training_service import ServedTraining, TrainingService
from subflow_app.features.training.core.training_setup import (
    TrainingRequest,
    check_torch,
    load_recipe,
    prepare,
    recipe_names,
    request_of,
)
from subflow_app.features.training.core.training_text import reward_of
from subflow_app.features.training.core.training_worker import TRAINER
from subflow_app.foundation.errors import AppError, InputError, TrainingError
from subflow_app.foundation.jobs.progress import JobState
from subflow_app.foundation.json_document import number
from subflow_app.foundation.paths import new_training_directory, trainings_directory
from subflow_app.foundation.resources import find_scenario, scenario_names
from subflow_app.vocabulary.language import tr
from subflow_app.vocabulary.number_text import count_text
from subflow_sim.errors import SimError
from subflow_sim.params import Dimension, Param
from subflow_sim.scenario import read_scenario_text
from subflow_sim.stats import Estimate
from subflow_store import StoreError

if TYPE_CHECKING:
    from subflow_store import EvaluationFigure, Store, TrainingRow

_log = logging.getLogger(__name__)

_MOST_LISTED = 200
# Maximum number of reports per poll: attaching to a long training run yields tens of thousands of reports, which must
# not block the window.
_MOST_REPORTS = 2000
_KINDS = {"number": Dimension.NUMBER, "integer": Dimension.COUNT, "flag": Dimension.FLAG, "choice": Dimension.CHOICE}


class Trainings(TrainingService):
    """The training runs on the Train page, and the actions on them.

    `observe`, `choices`, `load_log` and `close` may take a while; the other methods are fast enough for the GUI thread.

    Args:
        store: store for the training runs; None: they are kept only in their folders.
        limit: maximum number of simultaneous training runs; None: `default_limit`.
        trainer: module whose `run_training` trains.

    Raises:
        StoreError: if the store cannot be read.
    """

    def __init__(self, store: Store | None, *, limit: int | None = None, trainer: str = TRAINER) -> None:
        super().__init__(store, limit=limit, trainer=trainer)
        self._needs_torch = trainer == TRAINER
        self._trainings: list[Training] = []
        self._configs: dict[str, TrainingConfig] = {}
        self._waiting: dict[str, deque[Mapping[str, Any]]] = {}  # reports not processed yet
        self._loaded: set[str] = set()
        self._is_left = False
        if store is not None:
            self._list_stored(store)

    # --- contents ---

    def choices(self) -> TrainingChoices:
        """Agents, recipes and scenarios for the form; reads files."""
        known = agents()
        names = {info.name for info in known}
        recipes = []
        for name in recipe_names():
            try:
                recipe = load_recipe(name)
            except InputError:
                _log.exception("recipe %s cannot be used", name)
                continue
            if recipe.agent in names:
                recipes.append(_recipe_choice(recipe))
        listed = tuple(
            AgentChoice(
                info.name,
                info.title,
                info.summary,
                info.source,
                info.controller,
                info.default_recipe,
                tuple(_param(option) for option in info.options()),
            )
            for info in known
        )
        return TrainingChoices(listed, tuple(recipes), scenario_names())

    def scenario_text(self, scenario: DocumentText | str) -> str:
        """TOML of a scenario, given as a document, name or path; empty if it cannot be read."""
        if isinstance(scenario, DocumentText):
            return scenario.text
        try:
            return read_scenario_text(find_scenario(scenario))
        except (InputError, SimError):
            return ""

    def trainings(self) -> Sequence[Training]:
        """All training runs, newest first. Each one is represented by the same object as long as it is listed."""
        return self._trainings

    @property
    def is_busy(self) -> bool:
        """True if a training run is active or waiting."""
        return any(not training.state.is_over for training in self._trainings)

    def poll(self) -> bool:
        """Process new reports of the training runs; returns True if anything changed."""
        changed = False
        for training in self._trainings:
            job = self._job(training)
            if job is None:
                continue
            waiting = self._waiting.setdefault(training.id, deque())
            # The state is read first: once training is over, all reports have been sent.
            state, message = job.state, job.message
            waiting.extend(job.take_reports())
            for _ in range(min(len(waiting), _MOST_REPORTS)):
                changed |= self._take(training, waiting.popleft())
            if (state, message) != (training.state, training.message) and not (state.is_over and waiting):
                training.state, training.message = state, message
                changed = True
        return changed

    def load_log(self, training: Training) -> None:
        """Read the metrics and evaluations of a training run from an earlier session, unless already read.

        Raises:
            StoreError: if the records cannot be read.
        """
        if training.id in self._loaded or self._store is None or not training.id.isdigit():
            return
        stored, number = self._store.trainings, int(training.id)
        curves = stored.curves(number, stored.metrics(number))
        if curves:
            shared = next(iter(curves.values()))
            columns = {name: curve.values for name, curve in curves.items() if len(curve) == len(shared)}
            training.log.extend_columns({"step": shared.step, "elapsed_s": shared.elapsed_s, **columns})
        config = self._configs[training.id]
        training.comparisons[:] = _comparisons(stored.evaluations(number), config, training)
        self._loaded.add(training.id)

    # --- actions ---

    def start(self, order: TrainingOrder, document: DocumentText) -> Training:
        """Start a training run, or queue it.

        Raises:
            AppError: if training is impossible, e.g. because PyTorch or required paths of the scenario are missing.
            SimError: if the scenario has problems.
            StoreError: if the training run cannot be added to the store.
        """
        if self._needs_torch:
            check_torch()
        request = _request(order, document)
        try:
            config = prepare(request, trainings_directory())
        except AgentError as error:
            raise InputError(str(error)) from error
        # Created only now, so that no folder is left behind if training is impossible.
        config = replace(config, folder=str(new_training_directory(order.agent)))
        name = f"{order.agent} on {config.scenario_name}, seed {config.seed}"
        number = self.submit(config, name=name)
        training = self._training(str(number), name, config)
        self._loaded.add(training.id)
        self._trainings.insert(0, training)
        return training

    def tell(self, training: Training, command: Command) -> None:
        """Send a command to a training run.

        Raises:
            TrainingError: if the training run has ended.
        """
        job = self._job(training)
        if job is None or job.state.is_over:
            raise TrainingError(f"{training.name} has ended: no process to control")
        job.tell(command)

    def go_on(self, training: Training) -> bool:
        """Resume a training run that ended early from its last checkpoint.

        Returns:
            True if it starts over at the first step, because it has no checkpoint.

        Raises:
            AppError: if the training run has no folder.
        """
        if training.folder is None:
            raise TrainingError(f"{training.name} has no folder to continue in")
        if self._needs_torch:
            check_torch()
        self.load_log(training)
        starts_over = not has_checkpoint(Path(training.folder))
        try:
            self.go_on_in(training.folder)
        except AgentError as error:
            raise InputError(str(error)) from error
        training.state, training.message = JobState.WAITING, ""
        return starts_over

    def observe(self, training: Training) -> SeenPolicy:
        """Run the latest policy for up to one second, and record its observations.

        Raises:
            AppError: if the training run has no policy yet.
            SimError: if the policy file or the scenario cannot be used.
        """
        path = training.policy_path
        if path is None:
            raise TrainingError(f"{training.name} has no policy yet")
        folder = self._configs[training.id].scenario_folder
        return observe_policy(path, training.scenario_text, Path(folder) if folder else None)

    def promote(self, training: Training, name: str, note: str) -> Path:
        """Copy the best policy into the user's library, where scenarios can refer to it by name.

        Raises:
            AppError: if the name is invalid or taken, or if the file cannot be written.
            SimError: if the file is not a policy.
        """
        path = training.best_policy_path
        if path is None:
            raise TrainingError(f"{training.name} has no policy yet")
        return promote(path, name, {"note": note, "training": training.name})

    def policy_names(self) -> Sequence[str]:
        """Names of all policies in the library."""
        return policy_names()

    def leave_running(self) -> None:
        """Let the processes continue without the window. The next window lists the training runs again."""
        self._is_left = True
        for served in self.served():
            if not served.job.state.is_over and served.job.state is not JobState.WAITING:
                served.job.detach()

    def stop_all(self) -> None:
        """Stop every training run with a checkpoint."""
        for served in self.served():
            served.job.stop()

    def close(self, *, keep: bool = True, timeout_s: float = 30.0) -> list[ServedTraining]:
        """Close the service, after stopping all training runs unless `leave_running` was called."""
        if not self._is_left:
            self.stop_all()
        return super().close(keep=keep, timeout_s=timeout_s)

    # --- internals ---

    def _list_stored(self, store: Store) -> None:
        if not store.is_read_only:
            # Training runs that continued after the last session have written reports to their folders, but not to
            # the store.
            sync_all(store)
        for row in store.trainings.rows(limit=_MOST_LISTED):
            whole = store.trainings.get(row.id)
            try:
                config = _config(whole)
            except AgentError as error:
                _log.warning("training %d is of another version: %s", row.id, error)
                continue
            training = self._training(str(row.id), row.name, config)
            training.state, training.message = _state(row), row.message
            training.fraction = _fraction(config, row.steps, row.elapsed_s)
            training.policy_version = row.steps
            self._trainings.append(training)
            if row.process_pid and training.folder is not None:
                # The training run continued without a window, or belongs to another program. In both cases, its reports
                # are read from its folder.
                try:
                    self.go_on_in(training.folder)
                    self._loaded.add(training.id)
                except (AppError, AgentError, StoreError) as error:
                    _log.warning("training %d cannot be attached to: %s", row.id, error)

    def _training(self, identity: str, name: str, config: TrainingConfig) -> Training:
        info = next((each for each in agents() if each.name == config.agent), None)
        self._configs[identity] = config
        return Training(
            id=identity,
            name=name,
            agent=config.agent,
            controller=info.controller if info is not None else config.agent,
            scenario=config.scenario_name,
            scenario_text=config.scenario,
            seed=config.seed,
            budget=_budget(config),
            folder=Path(config.folder) if config.folder else None,
            state=JobState.WAITING,
            fraction=0.0,
            grounds=grounds_of(config),
        )

    def _job(self, training: Training) -> TrainingJob | None:
        served = self._served.get(int(training.id))
        return None if served is None else served.job

    def _take(self, training: Training, report: Mapping[str, Any]) -> bool:
        """Process one report; returns True if it affects the display."""
        kind, values = report.get("kind"), report.get("values") or {}
        if kind == ReportKind.METRICS:
            step = number(values.get("step"))
            if step <= training.log.latest("step"):
                # A resumed training run repeats the steps after its last checkpoint, so the old reports of these steps
                # are invalid.
                training.log.forget_from("step", step)
                training.comparisons[:] = [each for each in training.comparisons if each.step < step]
            training.log.add(values)
            config = self._configs[training.id]
            training.fraction = _fraction(config, step, number(values.get("elapsed_s")))
            training.remaining_s = number(values.get("eta_s"))
        elif kind == ReportKind.PROGRESS:
            training.remaining_s = number(values.get("eta_s"))
        elif kind == ReportKind.EVALUATION:
            made = _comparison(values, training)
            if made is None:
                return False
            training.comparisons.append(made)
        elif kind == ReportKind.POLICY:
            training.policy_version += 1
        else:
            return False
        return True


def _request(order: TrainingOrder, document: DocumentText) -> TrainingRequest:
    request = TrainingRequest(order.agent)
    if order.recipe:
        recipe = load_recipe(order.recipe)
        request = request_of(recipe)
        if order.scenario != _scenario_name(recipe.scenario):
            request = replace(request, scenario="", overrides=(), training=None, evaluation_scenario="")
    if order.scenario == DOCUMENT:
        # Includes the contents of referenced files, because an unsaved scenario has no folder for relative paths.
        text = source_of(Use.TRAIN, document.text, file=document.title, folder=document.folder).text
        request = replace(request, scenario="", scenario_text=text, scenario_name=document.title)
    elif not request.scenario:
        request = replace(request, scenario=order.scenario)
    settings = {
        **request.settings,
        "minutes": order.minutes,
        "steps": order.steps,
        "seed": order.seed,
        "num_envs": order.num_envs,
        "evaluation_every": order.evaluation_every,
        "deterministic": order.deterministic,
    }
    return replace(request, options=dict(order.options), settings=settings)


_FAMILIES_SHARE = next(each.default for each in fields(TrainingConfig) if each.name == "families_share")


def _recipe_choice(recipe: Any) -> RecipeChoice:
    shown = ("minutes", "steps", "seed", "num_envs", "evaluation_every", "deterministic")
    values = {key: value for key, value in recipe.settings.items() if key in shown}
    options = {f"options.{key}": value for key, value in recipe.options.items()}
    families = tuple(recipe.settings.get("families") or ())
    return RecipeChoice(
        recipe.name,
        recipe.agent,
        recipe.title,
        _scenario_name(recipe.scenario),
        {**values, **options},
        families,
        float(recipe.settings.get("families_share", _FAMILIES_SHARE)) if families else 0.0,
        recipe.training,
    )


def _scenario_name(path: Path) -> str:
    """Name of a scenario in the form: the short name of a shipped scenario, else the path of the file."""
    try:
        return path.stem if find_scenario(path.stem).resolve() == path.resolve() else str(path)
    except InputError:
        return str(path)


def _param(option: OptionSpec) -> Param:
    unit = "" if option.unit == "1" else option.unit
    is_time = option.kind == "number" and unit == "s"
    return Param(
        option.name,
        Dimension.TIME if is_time else _KINDS[option.kind],
        f"{tr(option.help)} ({tr(option.source)})" if option.source else tr(option.help),
        default=option.default,
        minimum=option.minimum if math.isfinite(option.minimum) else None,
        maximum=option.maximum if math.isfinite(option.maximum) else None,
        choices=option.choices,
        symbol="" if is_time else unit,
    )


def _budget(config: TrainingConfig) -> str:
    parts = []
    if config.steps is not None:
        parts.append(f"{count_text(config.steps)} decisions")
    if config.minutes is not None:
        parts.append(f"{config.minutes:g} min")
    return " or ".join(parts)


def _fraction(config: TrainingConfig, step: float, elapsed_s: float) -> float:
    """Used share of the budget, possibly above 1; NaN if the budget is unlimited."""
    shares = []
    if config.steps is not None:
        shares.append(step / config.steps)
    if config.minutes is not None:
        shares.append(elapsed_s / (60.0 * config.minutes))
    return max(shares, default=math.nan)


def _config(row: TrainingRow) -> TrainingConfig:
    return TrainingConfig.from_json({**(row.config or {}), "scenario": row.scenario_text or "", "folder": row.folder})


def _state(row: TrainingRow) -> JobState:
    state = JobState(row.state)
    # If a stored training run is still waiting, the program that queued it has ended.
    return JobState.INTERRUPTED if state is JobState.WAITING else state


def _estimate(figure: Mapping[str, Any]) -> Estimate:
    return Estimate(number(figure.get("mean")), number(figure.get("ci95")))


def _comparison(values: Mapping[str, Any], training: Training) -> Comparison | None:
    """Convert an evaluation report to a comparison; None if the report lacks the goodput of the agent."""
    step = number(values.get("step"))
    controllers = [each for each in values.get("controllers") or [] if isinstance(each.get("goodput_bps"), Mapping)]
    own = next((each for each in controllers if not each.get("is_baseline")), None)
    if own is None:
        return None
    figures = {
        str(each["label"]): {key: _estimate(each[key]) for key in EVALUATED if isinstance(each.get(key), Mapping)}
        for each in controllers
    }
    mine = figures[str(own["label"])]
    return Comparison(
        step,
        _elapsed_at(training, step),
        mine["goodput_bps"],
        {str(each["label"]): _estimate(each["goodput_bps"]) for each in controllers if each.get("is_baseline")},
        mine.get("jain", Estimate(math.nan)).mean,
        figures,
        reward_of(values),
    )


def _comparisons(figures: Sequence[EvaluationFigure], config: TrainingConfig, training: Training) -> list[Comparison]:
    by_step: dict[int, dict[tuple[str, str], Estimate]] = {}
    for figure in figures:
        key = (figure.controller, figure.metric)
        by_step.setdefault(figure.step, {})[key] = Estimate(number(figure.mean), number(figure.ci95))
    made = []
    for step, known in sorted(by_step.items()):
        own = known.get((config.agent, "goodput_bps"))
        if own is not None:
            goodputs = {label: each for (label, metric), each in known.items() if metric == "goodput_bps"}
            classics = {label: each for label, each in goodputs.items() if label != config.agent}
            jain = known.get((config.agent, "jain"), Estimate(math.nan)).mean
            by_label: dict[str, dict[str, Estimate]] = {}
            for (label, metric), each in known.items():
                by_label.setdefault(label, {})[metric] = each
            parts = (REWARD, *TERMS)
            reward = {name: known[key].mean for name in parts if (key := (config.agent, reward_metric(name))) in known}
            elapsed_s = _elapsed_at(training, step)
            made.append(Comparison(float(step), elapsed_s, own, classics, jain, by_label, reward))
    return made


def _elapsed_at(training: Training, step: float) -> float:
    """Training time at a step, s, interpolated between reports; NaN before the first report."""
    steps, elapsed_s = training.log.curve("elapsed_s", "step")
    return float(np.interp(step, steps, elapsed_s)) if len(steps) else math.nan
