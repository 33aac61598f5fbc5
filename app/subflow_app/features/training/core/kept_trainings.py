"""Training runs that are carried out only once: each folder is reused if it exists, and usually named by the settings.

A finished training run is reused, and an interrupted one continues from its last checkpoint. The folder is
authoritative. The store receives a row and the curves of each training run, even of one recorded in a different
database.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from subflow_agents import ReportKind, TrainingConfig, TrainingState
from subflow_app.features.traces.core.scenario_hash import simulator_version
from subflow_app.features.training.core.training import TrainingJob
from subflow_app.features.training.core.training_folder import (
    has_checkpoint,
    is_training_folder,
    living_process,
    read_config,
    read_reports,
)
from subflow_app.features.training.core.training_record import TrainingRecorder, list_training
from subflow_app.features.training.core.training_service import TrainingService
from subflow_app.features.training.core.training_setup import TrainingRequest, check_torch, prepare
from subflow_app.features.training.core.training_worker import TRAINER
from subflow_app.foundation import json_document
from subflow_app.foundation.errors import TrainingError
from subflow_app.foundation.jobs.job import Job
from subflow_app.foundation.jobs.progress import JobState
from subflow_app.foundation.paths import file_stem, trainings_directory
from subflow_store.errors import StoreError

if TYPE_CHECKING:
    from subflow_store import Store, TrainingRow

_WAIT_S = 0.1
_ATTEMPTS = 3  # attempts to continue in folders in which other programs were training
# Fields of a config that do not influence the result.
_ELSEWHERE = ("folder", "resume", "checkpoint_minutes", "scenario_folder")


@dataclass(frozen=True, slots=True)
class WantedTraining:
    """A training run that a caller needs.

    Attributes:
        label: displayed name, with which the folder's name also begins.
        request: settings of the training run.
        folder: folder for its output; None: a folder named after label and settings.
    """

    label: str
    request: TrainingRequest
    folder: Path | None = None


@dataclass(frozen=True, slots=True)
class KeptTraining:
    """A training run, carried out now or earlier.

    Attributes:
        label: label of the requested training run.
        folder: folder with all files of the training run.
        problem: why the training run did not finish; empty if it did.
        was_there: whether the training run had finished before this job started.
    """

    label: str
    folder: Path
    problem: str = ""
    was_there: bool = False

    def evaluation(self) -> Mapping[str, Any] | None:
        """The evaluation of the best policy; None if nothing was evaluated.

        Raises:
            TrainingError: if the reports cannot be read.
        """
        evaluations = [
            report["values"]
            for report in read_reports(self.folder).reports
            if report.get("kind") == ReportKind.EVALUATION and report["values"].get("is_best")
        ]
        return evaluations[-1] if evaluations else None


class KeptTrainings(Job):
    """Carries out those training runs of a list that are missing. When stopped, active ones write a checkpoint.

    Args:
        wanted: the training runs; each needs a budget of steps.
        store: store for rows and curves of the training runs; None: they are kept only in their folders.
        jobs: number of simultaneous training runs.
        parent: parent of the folders; None: the folder of all training runs.
        trainer: module whose `run_training` trains.

    Attributes:
        made: all training runs in the order of `wanted`, known when the job has ended. Those that failed or were
            stopped have a `problem`.
    """

    def __init__(
        self,
        wanted: Sequence[WantedTraining],
        store: Store | None = None,
        *,
        jobs: int = 1,
        parent: Path | None = None,
        trainer: str = TRAINER,
    ) -> None:
        super().__init__(len(wanted))
        self._wanted = tuple(wanted)
        self._store = store
        self._jobs = max(1, jobs)
        self._parent = parent
        self._trainer = trainer
        self.made: list[KeptTraining] = []

    def _work(self) -> None:
        """Carry out the missing training runs.

        Raises:
            TrainingError: if a training run has no budget of steps, if PyTorch is missing, if a folder cannot be used,
                or if it contains a training run with other settings.
            InputError: if a request is invalid.
            AgentError: if a request is invalid.
        """
        configs = [self._config(wanted) for wanted in self._wanted]
        there = [is_finished(Path(config.folder)) for config in configs]
        self._tell_shares(configs, [1.0 if each else 0.0 for each in there], "", math.nan)
        if not all(there):
            check_torch()
        made = [
            KeptTraining(wanted.label, Path(config.folder), was_there=True)
            for wanted, config in zip(self._wanted, configs, strict=True)
        ]
        self._list(configs, there)
        missing = [number for number, is_there in enumerate(there) if not is_there]
        if missing:
            for number, problem in zip(missing, self._train(configs, missing), strict=True):
                made[number] = replace(made[number], problem=problem, was_there=False)
        self.made = made
        if not self.is_stopped:
            self._problems += [f"{each.label}: {each.problem}" for each in made if each.problem]
            failed = sum(bool(each.problem) for each in made)
            self._tell(finished=len(made) - failed, reused=sum(there), failed=failed)

    def _config(self, wanted: WantedTraining) -> TrainingConfig:
        config = prepare(wanted.request, trainings_directory())
        if config.steps is None:
            raise TrainingError(f"{wanted.label}: a training that is kept needs a budget of steps")
        folder = wanted.folder
        if folder is None:
            folder = (self._parent or trainings_directory()) / f"{file_stem(wanted.label)}-{training_key(config)}"
        elif is_training_folder(folder):
            _require_same(folder, config)
        return replace(config, folder=str(folder.resolve()), resume=has_checkpoint(folder))

    def _list(self, configs: Sequence[TrainingConfig], there: Sequence[bool]) -> None:
        """Add finished training runs that are missing in the store; errors of the store are ignored."""
        if self._store is None or self._store.is_read_only:
            return
        for config, wanted, is_there in zip(configs, self._wanted, there, strict=True):
            if is_there:
                with contextlib.suppress(StoreError, TrainingError):
                    number = list_training(self._store, config, name=wanted.label, goes_on=True)
                    TrainingRecorder(self._store, number, Path(config.folder)).sync()

    def _train(self, configs: Sequence[TrainingConfig], missing: Sequence[int]) -> list[str]:
        store = None if self._store is None or self._store.is_read_only else self._store
        with TrainingService(store, limit=self._jobs, trainer=self._trainer) as service:
            jobs: dict[int, TrainingJob] = {}
            for number in missing:
                config = configs[number]
                folder = Path(config.folder)
                if is_training_folder(folder) and (config.resume or living_process(folder) is not None):
                    # If another program is training in this folder, the job follows its process.
                    jobs[number] = service.job(service.go_on_in(folder, steps=config.steps))
                else:
                    jobs[number] = service.job(service.submit(config, name=self._wanted[number].label))
            self._watch(configs, jobs)
            # Wait for training runs that were started by another program in the meantime.
            for _attempt in range(_ATTEMPTS):
                others = [number for number, job in jobs.items() if _is_taken(job)]
                if not others or self.is_stopped:
                    break
                for number in others:
                    folder = Path(configs[number].folder)
                    jobs[number] = service.job(service.go_on_in(folder, steps=configs[number].steps))
                self._watch(configs, jobs)
            if self.is_stopped:
                for job in jobs.values():
                    if not job.is_attached:
                        job.stop()
        return [_problem(jobs[number]) for number in missing]

    def _watch(self, configs: Sequence[TrainingConfig], jobs: Mapping[int, TrainingJob]) -> None:
        while not self.is_stopped:
            open_jobs = {number: job for number, job in jobs.items() if not job.state.is_over}
            shares = [1.0] * len(configs)
            eta_s = 0.0
            for number, job in open_jobs.items():
                metrics = job.metrics
                shares[number] = float(metrics.get("step") or 0) / float(configs[number].steps or 1)
                eta_s += json_document.number(metrics.get("eta_s"))
            working = [number for number, job in open_jobs.items() if job.state is not JobState.WAITING]
            label = ", ".join(self._wanted[number].label for number in working)
            self._tell_shares(configs, shares, label, eta_s / self._jobs)
            if not open_jobs:
                return
            next(iter(open_jobs.values())).wait(_WAIT_S)

    def _tell_shares(
        self, configs: Sequence[TrainingConfig], shares: Sequence[float], label: str, eta_s: float
    ) -> None:
        steps = [float(config.steps or 1) for config in configs]
        done = math.fsum(share * each for share, each in zip(shares, steps, strict=True))
        fraction = done / math.fsum(steps) if steps else 1.0
        finished = sum(share >= 1.0 for share in shares)
        self._tell(state=JobState.RUNNING, finished=finished, eta_s=eta_s, doing=label, share=min(fraction, 1.0))


def training_key(config: TrainingConfig) -> str:
    """Twelve hex digits that depend on the version and on all settings that influence the result."""
    document = {name: value for name, value in config.to_json().items() if name not in _ELSEWHERE}
    text = json.dumps([document, simulator_version()], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def is_same_training(config: TrainingConfig, row: TrainingRow) -> bool:
    """True if a stored training run has this config, whatever its folder and the version of the program."""
    stored = {**(row.config or {}), "scenario": row.scenario_text}
    wanted = json.loads(json.dumps(config.to_json()))
    return all(stored.get(name) == value for name, value in wanted.items() if name not in _ELSEWHERE)


def is_finished(folder: Path) -> bool:
    """True if the training run in a folder has used up its budget and its process has ended.

    Raises:
        TrainingError: if the reports cannot be read.
    """
    states = [
        report["values"].get("state")
        for report in read_reports(folder).reports
        if report.get("kind") == ReportKind.STATE
    ]
    return bool(states) and states[-1] == TrainingState.FINISHED and living_process(folder) is None


def _require_same(folder: Path, config: TrainingConfig) -> None:
    """Refuse to continue, or to reuse, a training run with other settings.

    Raises:
        TrainingError: if a setting that influences the result differs; the message names these settings.
    """
    before, now = read_config(folder).to_json(), json.loads(json.dumps(config.to_json()))
    differing = [name for name, value in now.items() if name not in _ELSEWHERE and before.get(name) != value]
    if differing:
        raise TrainingError(
            f"{folder} holds a training with other settings ({', '.join(differing)}): move it away, or train in "
            "another folder"
        )


def _is_taken(job: TrainingJob) -> bool:
    """True if a training run failed to start because another program is training, or has trained, in its folder."""
    if job.state is not JobState.FAILED or job.exit_code is not None or is_finished(job.folder):
        return False
    return living_process(job.folder) is not None or has_checkpoint(job.folder)


def _problem(job: TrainingJob) -> str:
    if job.state is JobState.FINISHED or is_finished(job.folder):
        return ""
    if job.state is JobState.STOPPED:
        return "the training was stopped before its end"
    return job.message or f"the training is {job.state.value}"
