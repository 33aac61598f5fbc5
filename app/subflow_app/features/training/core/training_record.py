"""Updates the store from the folders of training runs, including those that other programs started."""

from __future__ import annotations

import contextlib
import hashlib
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import subflow_app
from subflow_agents import ReportKind, TrainingConfig, TrainingState
from subflow_app.features.training.core.training_folder import BEST_POLICY, living_process, read_reports
from subflow_app.foundation.errors import TrainingError
from subflow_app.foundation.json_document import number
from subflow_store.trainings import ELAPSED, STEP
from subflow_store.values import BestPolicy, EvaluationFigure, TrainingMoment, TrainingStart

if TYPE_CHECKING:
    from subflow_store import Store

REWARD = "reward"
EVALUATED = ("goodput_bps", "total_goodput_bps", "other_goodput_bps", "rtt_s", "loss_ratio", "jain", "score")
"""Figures of each evaluated controller that the store records."""

# For each state that a training run reports, the state recorded in the store.
_STATES = {state.value: state.value for state in TrainingState} | {TrainingState.STARTING.value: "running"}


class TrainingRecorder:
    """Updates the store's record of one training run from its folder."""

    def __init__(self, store: Store, training_id: int, folder: Path) -> None:
        self._trainings = store.trainings
        self._id = training_id
        self._folder = folder
        self._read = store.trainings.get(training_id).reports_read

    def sync(self) -> None:
        """Read new reports, and store them together with the position in the file.

        Raises:
            StoreError: if the reports cannot be stored; the next call reads them again.
            TrainingError: if the reports cannot be read.
        """
        read = read_reports(self._folder, self._read)
        if read.end == self._read:
            return
        by_kind: dict[str, list[Mapping[str, Any]]] = {}
        for report in read.reports:
            by_kind.setdefault(str(report.get("kind")), []).append(report["values"])
        evaluations = by_kind.get(ReportKind.EVALUATION, [])
        self._trainings.append(
            self._id,
            [row for values in by_kind.get(ReportKind.METRICS, []) if (row := _metrics(values))],
            [figure for values in evaluations for figure in evaluation_figures(values)],
            reports_read=read.end,
            moment=self._moment(read.reports),
            best=self._best([values for values in evaluations if values.get("is_best")]),
        )
        self._read = read.end

    def _best(self, evaluations: Sequence[Mapping[str, Any]]) -> BestPolicy | None:
        if not evaluations:
            return None
        values = evaluations[-1]
        contender = _contender(values)
        return BestPolicy(
            step=int(values.get(STEP) or 0),
            score=_mean(contender, "score"),
            goodput_bps=_mean(contender, "goodput_bps"),
            policy_hash=file_hash(self._folder / BEST_POLICY),
        )

    def _moment(self, reports: Sequence[Mapping[str, Any]]) -> TrainingMoment | None:
        """State of the training run after these reports; None if no report contains a state."""
        for report in reversed(reports):
            values = report["values"]
            if report.get("kind") == ReportKind.FAILED:
                return TrainingMoment("failed", str(values.get("message", "")))
            if report.get("kind") == ReportKind.STATE:
                state = _STATES.get(str(values.get("state")))
                if state not in ("running", "paused"):
                    return None if state is None else TrainingMoment(state, str(values.get("why") or ""))
                process = living_process(self._folder)
                return TrainingMoment("interrupted" if process is None else state, process=process)
        return None


def list_training(store: Store, config: TrainingConfig, *, name: str = "", goes_on: bool = False) -> int:
    """Add a training run to the store, or find its existing record by folder if it continues; returns its number.

    Raises:
        StoreError: if the training run cannot be recorded.
    """
    known = store.trainings.of_folder(config.folder) if goes_on else None
    if known is not None:
        return known.id
    document = config.to_json()
    return store.trainings.add(
        TrainingStart(
            name=name or Path(config.folder).name,
            agent=config.agent,
            scenario_name=config.scenario_name,
            scenario_text=str(document.pop("scenario")),
            config=document,
            seed=config.seed,
            folder=config.folder,
            version=subflow_app.__version__,
        )
    )


def sync_all(store: Store) -> None:
    """Update the records of all unfinished training runs from their folders; unreadable folders are skipped.

    Raises:
        StoreError: if a record cannot be stored.
    """
    for row in store.trainings.rows():
        # Even interrupted training runs may have written reports since the last update.
        if row.folder and row.state in ("waiting", "running", "paused", "interrupted"):
            with contextlib.suppress(TrainingError):
                TrainingRecorder(store, row.id, Path(row.folder)).sync()


def evaluation_figures(values: Mapping[str, Any]) -> list[EvaluationFigure]:
    """The figures in an evaluation report, i.e. in `subflow_agents.evaluation.Evaluation.to_json()` plus the step."""
    step = int(values.get(STEP) or 0)
    figures = []
    for controller in values.get("controllers") or []:
        reward = controller.get("reward")
        parts = {reward_metric(name): each for name, each in reward.items()} if isinstance(reward, Mapping) else {}
        for metric, figure in ({key: controller.get(key) for key in EVALUATED} | parts).items():
            if isinstance(figure, Mapping):
                n = len([value for value in figure.get("values") or [] if value is not None])
                figures.append(
                    EvaluationFigure(step, str(controller["label"]), metric, figure["mean"], figure["ci95"], n)
                )
    return figures


def reward_metric(part: str) -> str:
    """Metric under which the store keeps the mean reward, "reward", or one of its parts: "reward.goodput"."""
    return part if part == REWARD else f"{REWARD}.{part}"


def file_hash(path: Path) -> str:
    """SHA-256 of a file, hexadecimal; empty if it cannot be read."""
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:
        return ""


def _contender(values: Mapping[str, Any]) -> Mapping[str, Any]:
    """The evaluated controller: the first that is not a baseline."""
    return next((each for each in values.get("controllers") or [] if not each.get("is_baseline")), {})


def _mean(controller: Mapping[str, Any], metric: str) -> float | None:
    figure = controller.get(metric)
    return figure.get("mean") if isinstance(figure, Mapping) else None


def _metrics(values: Mapping[str, Any]) -> dict[str, float | None]:
    """The numbers of a report; empty if the step or the elapsed time is missing."""
    numbers = {name: number(value) for name, value in values.items() if math.isfinite(number(value))}
    return dict(numbers) if STEP in numbers and ELAPSED in numbers else {}
