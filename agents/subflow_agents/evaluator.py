"""Evaluates policies in a separate thread during training, and keeps the best policy."""

from __future__ import annotations

import math
import threading
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

    @property
    def is_busy(self) -> bool:
        """True during an evaluation."""
        return self._under_way is not None and not self._under_way.done()

    def start(self, policy: bytes, step: int) -> None:
        """Starts the evaluation of a policy file's content; the previous evaluation must be collected."""
        assert self._under_way is None
        if self._executor is None:
            self._executor = ThreadPoolExecutor(1, thread_name_prefix="evaluation")
        self._under_way = self._executor.submit(self._evaluate, policy, step)

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
        text = config.evaluation_scenario or config.scenario
        overrides = () if config.evaluation_scenario else config.overrides
        place = (text, config.scenario_name, config.scenario_folder, overrides)
        plain = read_scenario(*place)
        if self._baselines is None:
            self._baselines = [
                self._runs(name, place, is_baseline=True) for name in config.baselines or default_baselines(plain)
            ]
        mine = self._runs(str(path), place, is_baseline=False)
        mine = replace(mine, contender=replace(mine.contender, label=config.agent))
        evaluation = Evaluation(plain.name, config.evaluation_seeds, (mine, *self._baselines))
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

    def _validation(self, contender: Contender) -> Validation | None:
        """Utilities of the policy on the networks that select the best policy; None without such networks."""
        from subflow_agents.validation import Validation, validate, validation_networks

        config = self._config
        if not config.validation_networks:
            return None
        utilities: dict[str, list[float]] = {}
        for net in validation_networks(config):
            if not self._ends.is_set():
                utilities.setdefault(net.family, []).append(validate(contender, net, config))
        return Validation({family: tuple(values) for family, values in utilities.items()})

    def _runs(self, contender: str, place: tuple[str, str, str, Any], *, is_baseline: bool) -> ControllerResult:
        read = read_contender(contender, is_baseline=is_baseline)
        scenario, names = contender_scenario(read, *place)
        runs: list[RunFigures] = []
        for seed in self._config.evaluation_seeds:
            if self._ends.is_set():
                break
            runs.append(run_once(scenario, names, seed, self._running))
        return ControllerResult(read, tuple(runs))
