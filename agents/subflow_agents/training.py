"""The training loop: environments and a learner in parallel, with reports, evaluations and checkpoints.

The simulation of a step overlaps with learning from earlier steps: the loop sends the actions, the learner makes the
due gradient steps while threads of the core simulate, then the loop receives the outcome. Results are independent of
the clock, so a training with a budget of steps repeats bit for bit, interrupted or not.
"""

from __future__ import annotations

import json
import math
import platform
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from subflow_agents.checkpoint import (
    Checkpoint,
    load_latest,
    save_checkpoint,
    tensors_under,
    write_atomically,
    write_json,
)
from subflow_agents.config import TrainingConfig
from subflow_agents.eager import without_compiler
from subflow_agents.episode_log import EpisodeLog
from subflow_agents.errors import AgentError, CheckpointError, ConfigError, DivergenceError
from subflow_agents.evaluator import Evaluator
from subflow_agents.learner import Learner, LearnerSetup, LearnerState, TrainingEnv
from subflow_agents.registry import AgentInfo, agent
from subflow_agents.remaining import RemainingTime, Speed
from subflow_agents.reports import Command, Control, Report, ReportKind, TrainingState
from subflow_agents.scenarios import make_environment
from subflow_sim.gate import is_there, json_tree, read_file

REPORT_S = 1.0
"""Time between two reports of metrics, s, unless the config sets an interval in transitions."""
POLICY_S = 10.0
"""Time between two policy files, s."""

_POLL_S = 0.02  # polling interval while paused or waiting
MOST_CONFIG_BYTES = 100_000_000
"""Size limit of a training's config, bytes: it contains two scenarios, with the content of delivery traces."""

# Settings that a resumed training must not change
_FIXED = (
    *("agent", "scenario", "overrides", "options", "num_envs", "seed", "episode_s"),
    *("families", "families_share", "validation_networks", "validation_families", "validation_home"),
)


@dataclass(frozen=True, slots=True)
class TrainingResult:
    """Result of a training.

    Attributes:
        state: finished, stopped or failed.
        step: number of transitions learned from.
        updates: number of gradient steps.
        elapsed_s: time spent training, s.
        policy: the latest policy file; None if none was written.
        best: the best policy file by evaluation; None without an evaluation.
        checkpoint: the last checkpoint written or loaded; None without one.
        error: reason of a failure; empty otherwise.
    """

    state: TrainingState
    step: int
    updates: int
    elapsed_s: float
    policy: Path | None
    best: Path | None
    checkpoint: Path | None
    error: str = ""


def run_training(config: TrainingConfig, control: Control, report: Callable[[Report], None]) -> TrainingResult:
    """Trains until the budget is spent, `control` sends STOP, or learning fails.

    All output goes to `config.folder`: config.json, metrics.jsonl (all reports), the last two checkpoints,
    policy.safetensors (the latest policy) and best.safetensors (the best by evaluation).

    Args:
        config: configuration of the training.
        control: polled for commands at least every 50 ms, unless the simulator or an update takes longer.
        report: receives the reports, in the calling thread.

    Returns:
        The final state. Divergence and write errors also yield a result, which names the last good checkpoint.

    Raises:
        ConfigError: if the config does not fit the scenario or the training to resume; raised before the start.
        ScenarioError: if the scenario has problems.
        CheckpointError: if no training can be resumed, or the folder is not writable; raised before the start.
    """
    import torch

    without_compiler()
    torch.set_num_threads(1)  # with more threads, each would wait whenever another process takes a core
    return _Training(config, control, report).run()


class _Training:
    def __init__(self, config: TrainingConfig, control: Control, report: Callable[[Report], None]) -> None:
        if config.deterministic and (config.steps is None or config.minutes is not None):
            raise ConfigError("deterministic", "a budget of time depends on the clock", "a budget of steps alone")
        self.config = config
        self.control = control
        self.folder = Path(config.folder)
        self._report_to = report
        self.info: AgentInfo = agent(config.agent)
        self.options = self.info.config(config.options)
        self.env: TrainingEnv = make_environment(config, self.info, self.options)
        self._prepare_folder()
        self.learner: Learner = self.info.make_learner(
            self.options, LearnerSetup(self.env.info, self.env.num_envs, self.env.slots, config.seed)
        )
        self.log = EpisodeLog(self.env)
        self.evaluator = Evaluator(config, self.info)
        self.step = 0
        self.updates = 0
        self.episodes = 0
        self.state = TrainingState.STARTING
        self._elapsed_s = 0.0
        self._since = time.monotonic()  # start of the running time not yet included in `_elapsed_s`
        self._simulated_s = 0.0
        self._time_before = np.zeros(self.env.num_envs)
        self._ended: list[dict[str, float]] = []
        self._next_evaluation = config.evaluation_every
        self._speed = Speed()
        self._waited_s = 0.0  # time spent waiting for evaluations
        self._checkpoint_s = 0.0  # duration of the last checkpoint
        self._stops = False
        self._wants_checkpoint = False
        self._last_report = (self._since, 0, 0, 0.0)
        self._policy_at = self._checkpoint_at = self._since
        self._checkpoint: Path | None = None

    # ----------------------------------------------------------------------------------------------------- the loop

    def run(self) -> TrainingResult:
        """Runs the training to its end."""
        self._tell(ReportKind.STATE, state=self.state.value, step=0, why="")
        try:
            if self.config.resume:
                self._resume()
            else:
                self.env.reset(self.config.seed)
                self._take_in()
            self._enter(TrainingState.RUNNING)
            self._speed.note(self._elapsed(), self.step)
            if self.config.evaluation_every:
                self.evaluator.prepare()
            self._loop()
            self._finish()
        except (DivergenceError, CheckpointError) as error:
            return self._fail(error)
        finally:
            self.evaluator.close()
        return self._result("")

    def _loop(self) -> None:
        while True:
            while done := self.learner.learn(self._progress()):
                self.updates += done
                self._attend()
            self._attend()
            if self._stops or self._is_spent():
                return
            self.env.recv()
            self._take_in()

    def _take_in(self) -> None:
        """Passes the environments' results to the learner, and the learner's actions to the environments."""
        env = self.env
        self._note_episodes()
        self.step += self.learner.observe(env)
        action = self.learner.act(env)
        if not np.isfinite(action).all():
            raise DivergenceError("action", self.step)
        self.log.send(action)

    def _note_episodes(self) -> None:
        env = self.env
        passed = env.time_s - self._time_before
        self._simulated_s += float(np.where(passed < 0, env.time_s, passed).sum())
        self._time_before = env.time_s.copy()
        for n in np.flatnonzero(env.terminated | env.truncated).tolist():
            self.episodes += 1
            self._ended.append(dict(env.episode_metrics(n)))

    def _attend(self) -> None:
        """Executes commands, and produces the reports, policy files, checkpoints and evaluations that are due."""
        self._obey(self.control.poll())
        while self.state is TrainingState.PAUSED and not self._stops:
            time.sleep(_POLL_S)
            self._obey(self.control.poll())
        if self.state is TrainingState.PAUSED:
            self._enter(TrainingState.RUNNING)
        now = time.monotonic()
        if self._owes_report(now):
            self._report_metrics(now)
        if now - self._policy_at >= POLICY_S:
            self._write_policy()
        if self._wants_checkpoint or now - self._checkpoint_at >= 60 * self.config.checkpoint_minutes:
            self._save()
        if self._next_evaluation and self.step >= self._next_evaluation:
            self._next_evaluation += self.config.evaluation_every
            if not self._is_spent():  # the last policy is evaluated in any case
                self._evaluate()
        self._collect_evaluations()

    def _obey(self, command: Command) -> None:
        match command:
            case Command.PAUSE if self.state is TrainingState.RUNNING:
                self._elapsed_s = self._elapsed()
                self._enter(TrainingState.PAUSED)
            case Command.RESUME if self.state is TrainingState.PAUSED:
                self._since = time.monotonic()
                self._enter(TrainingState.RUNNING)
            case Command.STOP:
                if self.state is TrainingState.PAUSED:
                    self._since = time.monotonic()
                self._stops = True
            case Command.CHECKPOINT:
                if self.state is TrainingState.PAUSED:
                    self._save()
                else:
                    self._wants_checkpoint = True
            case Command.EVALUATE:
                self._evaluate()
            case _:
                pass

    def _finish(self) -> None:
        self._report_metrics(time.monotonic())
        self._write_policy()
        self._save()
        self.env.recv()  # waits for the last simulation step
        if not self._stops and self.config.evaluation_every:
            self._await_evaluation(following=1)
            self._evaluate()
        self._await_evaluation(following=0)
        stopped = self._stops and not self._is_spent()
        self._enter(TrainingState.STOPPED if stopped else TrainingState.FINISHED)

    def _fail(self, error: AgentError) -> TrainingResult:
        self._tell(
            ReportKind.FAILED,
            error=type(error).__name__,
            message=str(error),
            metric=error.metric if isinstance(error, DivergenceError) else None,
            step=self.step,
            checkpoint=None if self._checkpoint is None else str(self._checkpoint),
        )
        self._enter(TrainingState.FAILED, str(error))
        return self._result(str(error))

    def _result(self, error: str) -> TrainingResult:
        def existing(name: str) -> Path | None:
            path = self.folder / name
            return path if is_there(path) else None

        return TrainingResult(
            state=self.state,
            step=self.step,
            updates=self.updates,
            elapsed_s=self._elapsed(),
            policy=existing("policy.safetensors"),
            best=existing("best.safetensors"),
            checkpoint=self._checkpoint,
            error=error,
        )

    # ---------------------------------------------------------------------------------------------- budget and reports

    def _elapsed(self) -> float:
        if self.state is TrainingState.PAUSED:
            return self._elapsed_s
        return self._elapsed_s + time.monotonic() - self._since

    def _progress(self) -> float:
        shares = [0.0]
        if self.config.steps is not None:
            shares.append(self.step / self.config.steps)
        if self.config.minutes is not None:
            shares.append(self._elapsed() / (60 * self.config.minutes))
        return min(1.0, max(shares))

    def _is_spent(self) -> bool:
        return self._progress() >= 1

    def _owes_report(self, now: float) -> bool:
        every = self.config.report_every
        if every:
            return self.step // every > self._last_report[1] // every
        return now - self._last_report[0] >= REPORT_S

    def _report_metrics(self, now: float) -> None:
        before_s, before_step, before_updates, before_simulated_s = self._last_report
        passed_s = max(now - before_s, 1e-9)
        values: dict[str, float] = {
            "step": self.step,
            "updates": self.updates,
            "episodes": self.episodes,
            "elapsed_s": self._elapsed(),
            "steps_per_s": (self.step - before_step) / passed_s,
            "updates_per_s": (self.updates - before_updates) / passed_s,
            "sim_s_per_s": (self._simulated_s - before_simulated_s) / passed_s,
            **self.learner.metrics(),
        }
        for name in ("goodput_bps", "flow_goodput_bps", "rtt_inflation", "rtt_s", "loss_ratio", "jain"):
            told = [each[name] for each in self._ended if math.isfinite(each.get(name, math.nan))]
            if told:
                values[name] = math.fsum(told) / len(told)
        self._ended.clear()
        for name, value in values.items():
            if not math.isfinite(value):
                raise DivergenceError(name, self.step)
        remaining_s = self._remaining_s()
        if math.isfinite(remaining_s):
            values["eta_s"] = remaining_s
        self._last_report = (now, self.step, self.updates, self._simulated_s)
        self._tell(ReportKind.METRICS, **values)

    def _remaining_s(self) -> float:
        """Time to the end of the training, s; NaN if it is unknown yet."""
        config = self.config
        elapsed_s = self._elapsed()
        self._speed.note(elapsed_s - self._waited_s, self.step)
        return RemainingTime(
            steps=math.inf if config.steps is None else max(0, config.steps - self.step),
            seconds=math.inf if config.minutes is None else max(0.0, 60 * config.minutes - elapsed_s),
            steps_per_s=self._speed.steps_per_s,
            next_evaluation=max(0, self._next_evaluation - self.step) if config.evaluation_every else math.inf,
            evaluation_every=config.evaluation_every,
            evaluation_s=self.evaluator.expected_s() if config.evaluation_every else 0.0,
            pending_s=self.evaluator.remaining_s(),
            checkpoint_s=self._checkpoint_s,
        ).total_s

    def _enter(self, state: TrainingState, why: str = "") -> None:
        self.state = state
        self._tell(ReportKind.STATE, state=state.value, step=self.step, why=why)

    def _tell(self, kind: ReportKind, **values: Any) -> None:
        report = Report(kind, values)
        try:
            with (self.folder / "metrics.jsonl").open("a", encoding="utf-8") as file:
                file.write(json.dumps(report.to_json()) + "\n")
        except OSError as error:
            # A full disk must not end the training: the caller receives all reports, and checkpoints fail visibly.
            values["unwritten"] = str(error)
        self._report_to(report)

    # ----------------------------------------------------------------------------------------------------- policies

    def _policy_bytes(self) -> bytes:
        from subflow_sim.policy import policy_bytes

        parts = self.learner.policy()
        for name, tensor in parts.tensors.items():
            if not np.isfinite(tensor).all():
                raise DivergenceError(name, self.step)
        document = {
            "format": 1,
            "controller": self.info.controller,
            "name": self.info.name,
            **parts.document,
            "options": dict(self.info.controller_options(self.options)),
            "card": self._card(),
        }
        return policy_bytes(document, parts.tensors)

    def _card(self) -> dict[str, Any]:
        import torch

        config = self.config
        return {
            "agent": config.agent,
            "scenario": config.scenario_name,
            "overrides": list(config.overrides),
            "options": dict(config.options),
            "families": list(config.families),
            "validation_networks": config.validation_networks,
            "seed": config.seed,
            "num_envs": config.num_envs,
            "steps": self.step,
            "updates": self.updates,
            "minutes": round(self._elapsed() / 60, 2),
            "versions": {"torch": torch.__version__, "python": platform.python_version()},
        }

    def _write_policy(self) -> None:
        path = self.folder / "policy.safetensors"
        write_atomically(path, self._policy_bytes())
        self._policy_at = time.monotonic()
        self._tell(ReportKind.POLICY, step=self.step, path=str(path))

    def _evaluate(self) -> None:
        """Waits for the previous evaluation, then starts to evaluate the current policy unless training was stopped."""
        self._await_evaluation()
        if not self._stops:
            self.evaluator.start(self._policy_bytes(), self.step)

    def _await_evaluation(self, *, following: int | None = None) -> None:
        """Waits for the current evaluation.

        Args:
            following: number of evaluations that follow after the budget is spent, to report the remaining time
                meanwhile; None: the training continues.
        """
        begun = reported = time.monotonic()
        while self.evaluator.is_busy and not self._stops:
            self._obey(self.control.poll())
            time.sleep(_POLL_S)
            now = time.monotonic()
            if following is not None and now - reported >= REPORT_S:
                reported = now
                self._report_evaluating(following)
        self._waited_s += time.monotonic() - begun
        self._collect_evaluations()

    def _report_evaluating(self, following: int) -> None:
        remaining_s = self.evaluator.remaining_s() + (self.evaluator.expected_s() if following else 0.0)
        eta_s = remaining_s if math.isfinite(remaining_s) else None
        self._tell(ReportKind.PROGRESS, step=self.step, doing="evaluating", eta_s=eta_s)

    def _collect_evaluations(self) -> None:
        for values in self.evaluator.collect():
            self._tell(ReportKind.EVALUATION, **values)

    # -------------------------------------------------------------------------------------------------- checkpoints

    def _prepare_folder(self) -> None:
        path = self.folder / "config.json"
        if self.config.resume:
            self._require_same(path)
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise CheckpointError(f"{self.folder}: cannot be made: {error.strerror}") from error
        if not self.config.resume and any(self.folder.glob("checkpoint-*.safetensors")):
            raise ConfigError("folder", f"{self.folder} holds a training already", "an empty folder, or resume")
        write_json(path, self.config.to_json())

    def _require_same(self, path: Path) -> None:
        try:
            before = json_tree(read_file(path, MOST_CONFIG_BYTES), is_strict=False)
        except OSError as error:
            raise CheckpointError(f"{self.folder}: no training to resume: {error.strerror}") from error
        except ValueError as error:
            raise CheckpointError(f"{path}: is damaged: {error}") from error
        now = json.loads(json.dumps(self.config.to_json()))
        for key in _FIXED:
            if before.get(key) != now[key]:
                raise ConfigError(key, f"{now[key]!r} is not what the training began with", repr(before.get(key)))

    def _save(self) -> None:
        """Writes a checkpoint; raises DivergenceError if a value outside the replay buffer is not finite."""
        begun = time.monotonic()
        self._wants_checkpoint = False
        state = self.learner.state()
        for name, tensor in state.tensors.items():
            if tensor.dtype.kind == "f" and not name.startswith("replay.") and not np.isfinite(tensor).all():
                raise DivergenceError(name, self.step)
        document = {
            "learner": state.values,
            "updates": self.updates,
            "episodes": self.episodes,
            "elapsed_s": self._elapsed(),
            "simulated_s": self._simulated_s,
            "next_evaluation": self._next_evaluation,
            "best": self.evaluator.best,
        }
        tensors = {f"learner.{name}": tensor for name, tensor in state.tensors.items()}
        tensors |= {f"envs.{name}": tensor for name, tensor in self.log.state().items()}
        checkpoint = Checkpoint(self.config.agent, self.step, document, tensors)
        self._checkpoint = save_checkpoint(self.folder, checkpoint)
        self._checkpoint_at = time.monotonic()
        self._checkpoint_s = self._checkpoint_at - begun
        self._tell(ReportKind.CHECKPOINT, step=self.step, path=str(self._checkpoint), seconds=self._checkpoint_s)

    def _resume(self) -> None:
        checkpoint, path, problems = load_latest(self.folder)
        if checkpoint.agent != self.config.agent:
            raise CheckpointError(f"{path}: is of the agent {checkpoint.agent!r}")
        for problem in problems:
            self._tell(ReportKind.STATE, state=self.state.value, step=checkpoint.step, why=str(problem))
        document = checkpoint.document
        try:
            self.learner.load_state(LearnerState(tensors_under("learner", checkpoint.tensors), document["learner"]))
            self.log.restore(tensors_under("envs", checkpoint.tensors), self.config.seed)
            self.updates = int(document["updates"])
            self.episodes = int(document["episodes"])
            self._elapsed_s = float(document["elapsed_s"])
            self._simulated_s = float(document["simulated_s"])
            self._next_evaluation = int(document["next_evaluation"])
            self.evaluator.best = document["best"]
        except (KeyError, TypeError, ValueError) as error:
            raise CheckpointError(f"{path}: is damaged: {error!r}") from error
        self.step = checkpoint.step
        self._time_before = self.env.time_s.copy()
        self._checkpoint = path
        self._since = time.monotonic()
        self._last_report = (self._since, self.step, self.updates, self._simulated_s)
        self._policy_at = self._checkpoint_at = self._since
