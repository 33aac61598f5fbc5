"""Evaluates policies in a separate thread during training, and keeps the best policy."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from subflow_agents.checkpoint import write_atomically
from subflow_agents.evaluation import (
    ControllerResult,
    Evaluation,
    RunFigures,
    contender_scenario,
    default_baselines,
    read_contender,
    run_once,
)
from subflow_agents.scenarios import read_scenario

if TYPE_CHECKING:
    from subflow_agents.config import TrainingConfig
    from subflow_agents.evaluation import Contender
    from subflow_agents.registry import AgentInfo
    from subflow_agents.validation import Validation
    from subflow_sim import Simulation
    from subflow_sim.arena.networks import Network


def with_evaluation(policy: bytes, evaluation: dict[str, Any]) -> bytes:
    """The content of a policy file with an evaluation added to its card."""
    from safetensors.numpy import load

    from subflow_sim.policy import Policy, policy_bytes

    document = Policy.from_bytes(policy).document
    card = {**document["card"], "evaluation": evaluation}
    return policy_bytes({**document, "card": card}, load(policy))


class Evaluator:
    """Runs policies on seeds never used in training, and the baselines once on the same seeds.

    Attributes:
        best: step, score and results of the best policy so far; None before the first evaluation.

    Args:
        config: configuration of the training.
        info: agent of the training.
    """

    def __init__(self, config: TrainingConfig, info: AgentInfo) -> None:
        self.best: dict[str, Any] | None = None
        self._config = config
        self._info = info
        self._folder = Path(config.folder)
        self._baselines: list[ControllerResult] | None = None
        self._executor: ThreadPoolExecutor | None = None
        self._under_way: Future[dict[str, Any]] | None = None
        self._running: list[Simulation] = []
        self._ends = threading.Event()
        self._validating: tuple[Network, ...] | None = None
        # Simulated time of each run of an evaluation, s; measured duration of each, s; number of the next run
        self._runs_s: tuple[float, ...] = ()
        self._took_s: dict[int, float] = {}
        self._next_run = 0
        self._baselines_left_s = 0.0  # simulated time of the remaining runs of baselines, s
        self._measured_s = (0.0, 0.0)  # duration and simulated time of all runs so far, s

    @property
    def is_busy(self) -> bool:
        """True during an evaluation."""
        return self._under_way is not None and not self._under_way.done()

    def prepare(self) -> None:
        """Starts to run the baselines, so that the duration of evaluations is known early.

        An error occurs again, and is raised, in the first evaluation.
        """
        self._submit(self._know_baselines)

    def start(self, policy: bytes, step: int) -> None:
        """Starts the evaluation of a policy file's content; the previous evaluation must be collected."""
        assert self._under_way is None
        self._next_run = 0
        self._under_way = self._submit(self._evaluate, policy, step)

    def expected_s(self) -> float:
        """Expected duration of an evaluation, s; NaN before the first run has ended."""
        return self._expected_from(0)

    def remaining_s(self) -> float:
        """Expected remaining time of the current evaluation, s; 0 without one, NaN before the first run has ended."""
        if not self.is_busy:
            return 0.0
        return self._baselines_left_s * self._seconds_per_s + self._expected_from(self._next_run)

    @property
    def _seconds_per_s(self) -> float:
        """Measured duration of a simulated second, s; NaN before the first run has ended."""
        took_s, simulated_s = self._measured_s
        return took_s / simulated_s if simulated_s > 0 else math.nan

    def _expected_from(self, first: int) -> float:
        """Expected duration of the runs of an evaluation from number `first` on, s.

        A run takes as long as in the previous evaluation; before the first one, as long as the simulated time suggests.
        """
        if not self._runs_s:
            return math.nan
        runs = enumerate(self._runs_s[first:], first)
        return sum(self._took_s.get(number, simulated_s * self._seconds_per_s) for number, simulated_s in runs)

    def _submit(self, work: Callable[..., Any], *args: Any) -> Future[Any]:
        if self._executor is None:
            self._executor = ThreadPoolExecutor(1, thread_name_prefix="evaluation")
        return self._executor.submit(work, *args)

    def collect(self) -> list[dict[str, Any]]:
        """The values of the evaluation in a list, which is empty if no evaluation has finished.

        Raises:
            CheckpointError: if the best policy cannot be written.
            ScenarioError: if the scenario is not usable with the policy.
        """
        if self._under_way is None or not self._under_way.done():
            return []
        done, self._under_way = self._under_way, None
        return [done.result()]

    def close(self) -> None:
        """Stops the current evaluation, and waits for its thread."""
        self._ends.set()
        for simulation in tuple(self._running):
            simulation.interrupt()
        if self._executor is not None:
            self._executor.shutdown(wait=True, cancel_futures=True)

    def _evaluate(self, policy: bytes, step: int) -> dict[str, Any]:
        config = self._config
        path = self._folder / "evaluated.safetensors"
        write_atomically(path, policy)
        baselines, title = self._know_baselines()
        place = self._place()
        mine = self._runs(str(path), place, is_baseline=False)
        mine = replace(mine, contender=replace(mine.contender, label=config.agent))
        evaluation = Evaluation(title, config.evaluation_seeds, (mine, *baselines))
        validation = self._validation(read_contender(str(path)))
        score = mine.figure("score").mean if validation is None else validation.score
        is_best = self.best is None or not score <= self.best["score"]
        values = evaluation.to_json()
        if validation is not None:
            values["validation"] = validation.to_json()
        if is_best and not self._ends.is_set():
            self.best = {"step": step, "score": score, **values}
            write_atomically(self._folder / "best.safetensors", with_evaluation(policy, self.best))
        path.unlink(missing_ok=True)
        return {"step": step, "is_best": is_best, "score": None if math.isnan(score) else score, **values}

    def _place(self) -> tuple[str, str, str, tuple[str, ...]]:
        """Text, name, folder and overrides of the scenario of the evaluations."""
        config = self._config
        text = config.evaluation_scenario or config.scenario
        overrides = () if config.evaluation_scenario else config.overrides
        return text, config.scenario_name, config.scenario_folder, overrides

    def _know_baselines(self) -> tuple[list[ControllerResult], str]:
        """Results of the baselines, computed once, and the title of the scenario."""
        plain = read_scenario(*self._place())
        if self._baselines is None:
            seeds = len(self._config.evaluation_seeds)
            names = self._config.baselines or default_baselines(plain)
            self._baselines_left_s = plain.duration_s * seeds * len(names)
            self._runs_s = (plain.duration_s,) * seeds + tuple(net.scenario.duration_s for net in self._networks())
            self._baselines = [self._runs(name, self._place(), is_baseline=True) for name in names]
        return self._baselines, plain.name

    def _networks(self) -> tuple[Network, ...]:
        """The networks that select the best policy, drawn once; empty without them."""
        from subflow_agents.validation import validation_networks

        if self._validating is None:
            self._validating = validation_networks(self._config) if self._config.validation_networks else ()
        return self._validating

    def _note_run(self, simulated_s: float, took_s: float, *, is_baseline: bool) -> None:
        """Adds the duration of a finished run to the measurements."""
        self._measured_s = (self._measured_s[0] + took_s, self._measured_s[1] + simulated_s)
        if is_baseline:
            self._baselines_left_s -= simulated_s
        else:
            self._took_s[self._next_run] = took_s
            self._next_run += 1

    def _validation(self, contender: Contender) -> Validation | None:
        """Utilities of the policy on the networks that select the best policy; None without such networks."""
        from subflow_agents.validation import Validation, validate

        config = self._config
        if not config.validation_networks:
            return None
        utilities: dict[str, list[float]] = {}
        for net in self._networks():
            if not self._ends.is_set():
                begun = time.monotonic()
                utilities.setdefault(net.family, []).append(validate(contender, net, config))
                self._note_run(net.scenario.duration_s, time.monotonic() - begun, is_baseline=False)
        return Validation({family: tuple(values) for family, values in utilities.items()})

    def _runs(self, contender: str, place: tuple[str, str, str, Any], *, is_baseline: bool) -> ControllerResult:
        read = read_contender(contender, is_baseline=is_baseline)
        scenario, names = contender_scenario(read, *place)
        runs: list[RunFigures] = []
        for seed in self._config.evaluation_seeds:
            if self._ends.is_set():
                break
            begun = time.monotonic()
            runs.append(run_once(scenario, names, seed, self._running))
            self._note_run(scenario.duration_s, time.monotonic() - begun, is_baseline=is_baseline)
        return ControllerResult(read, tuple(runs))
