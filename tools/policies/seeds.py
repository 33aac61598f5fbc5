"""Trains a recipe with several seeds, each in a folder of its own, and reads the results."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from subflow_agents import ReportKind
from subflow_app.features.training.core.kept_trainings import KeptTraining, KeptTrainings, WantedTraining, is_finished
from subflow_app.features.training.core.training_folder import read_reports
from subflow_app.features.training.core.training_setup import Recipe, request_of
from subflow_app.features.training.core.training_worker import TRAINER
from subflow_app.foundation.json_document import number
from subflow_app.terminal.progress import stopping_on_signals

ABLATIONS = "ablations"
"""Folder of the trainings of ablations, below the folder of all trainings."""

_FOLDER = "seed-{}"
_WAIT_S = 0.2


@dataclass(frozen=True, slots=True)
class TrainedSeed:
    """A training of a recipe with one seed.

    Attributes:
        recipe: name of the recipe.
        change: name of the ablation; empty: none.
        seed: seed of the training.
        folder: folder of the training.
        is_finished: whether its budget is spent.
        steps: transitions learned from.
        minutes: time spent training, min.
        score: score of the best policy in the evaluations of the recipe; NaN without an evaluation.
        goodput_bps: mean goodput of a flow with this policy, bit/s.
        loss_ratio: its lost packets over its sent packets.
        jain: Jain's index of the goodputs of all flows.
    """

    recipe: str
    change: str
    seed: int
    folder: Path
    is_finished: bool
    steps: int
    minutes: float
    score: float
    goodput_bps: float
    loss_ratio: float
    jain: float


def wanted(recipe: Recipe, seeds: Sequence[int], folder: Path, *, label: str = "") -> list[WantedTraining]:
    """The trainings of a recipe with each seed, in DIR/seed-N, where DIR is `folder`.

    The recipe's budget of time, if any, does not apply, so that trainings are repeatable.
    """
    request = request_of(recipe)
    return [
        WantedTraining(
            f"{label or recipe.name}, seed {seed}",
            replace(request, settings={**request.settings, "seed": seed, "minutes": None}),
            folder / _FOLDER.format(seed),
        )
        for seed in seeds
    ]


def train(
    trainings: Sequence[WantedTraining], *, jobs: int, say: Callable[[str], None], trainer: str = TRAINER
) -> tuple[list[KeptTraining], int]:
    """Carry out the missing trainings, and report each as soon as it ends.

    Args:
        trainings: the trainings, with their folders.
        jobs: number of simultaneous trainings.
        say: receives a line for each training.
        trainer: module whose `run_training` trains.

    Returns:
        All trainings, and the number of the signal that stopped them; 0 without a signal.

    Raises:
        TrainingError: if a training cannot start, or its folder contains a training with other settings.
        AgentError: if the settings of a training are invalid.
        SimError: if its scenario is invalid.
    """
    work = KeptTrainings(trainings, jobs=jobs, trainer=trainer)
    outcomes: list[Any] = []
    thread = threading.Thread(target=lambda: outcomes.append(work.run()), name="trainings", daemon=True)
    reported: set[Path] = set()
    with stopping_on_signals(work) as stop:
        thread.start()
        while thread.is_alive():
            thread.join(_WAIT_S)
            _report(trainings, reported, say)
    outcomes[0].check()
    _report(trainings, reported, say)
    for made in work.made:
        if made.problem:
            say(f"{made.label}: {made.problem}")
    return work.made, stop.signal_number


def _report(trainings: Sequence[WantedTraining], reported: set[Path], say: Callable[[str], None]) -> None:
    for each in trainings:
        folder = each.folder
        if folder is not None and folder not in reported and is_finished(folder):
            reported.add(folder)
            result = read_seed(folder, "", "")
            say(f"{each.label}: {result.steps} steps, {result.minutes:.1f} min, score {result.score:.3f}")


def read_seed(folder: Path, recipe: str, change: str) -> TrainedSeed:
    """The results of a training so far.

    Raises:
        TrainingError: if the reports cannot be read.
    """
    metrics: Mapping[str, Any] = {}
    for report in read_reports(folder).reports:
        if report.get("kind") == ReportKind.METRICS:
            metrics = report["values"]
    evaluation = KeptTraining(recipe, folder).evaluation() or {}
    own: Mapping[str, Any] = next(
        (each for each in evaluation.get("controllers", []) if not each.get("is_baseline")), {}
    )

    def mean(name: str) -> float:
        return number((own.get(name) or {}).get("mean"))

    steps, elapsed_s = number(metrics.get("step")), number(metrics.get("elapsed_s"))
    return TrainedSeed(
        recipe=recipe,
        change=change,
        seed=int(folder.name.rpartition("-")[2]),
        folder=folder,
        is_finished=is_finished(folder),
        steps=0 if math.isnan(steps) else int(steps),
        minutes=elapsed_s / 60,
        score=number(evaluation.get("score")),
        goodput_bps=mean("goodput_bps"),
        loss_ratio=mean("loss_ratio"),
        jain=mean("jain"),
    )


def read_seeds(folder: Path, recipe: str, change: str = "") -> list[TrainedSeed]:
    """All trainings in DIR/seed-N, by seed, where DIR is `folder`.

    Raises:
        TrainingError: if reports cannot be read.
    """
    found = [path for path in folder.glob(_FOLDER.format("*")) if path.name.rpartition("-")[2].isdecimal()]
    return sorted((read_seed(path, recipe, change) for path in found), key=lambda each: each.seed)
