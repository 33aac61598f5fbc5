"""Progress of a student in a lab, kept in a JSON file that is replaced atomically, so that a crash loses nothing.

A damaged file is renamed and reported, never overwritten. The file is named after the lab. Because different lab files
can share a name, the hash of the lab file is stored as well, and reveals progress that was made with a different file.
"""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from subflow_app.features.labs.core.evidence import Begin
from subflow_app.features.labs.core.lab import Lab
from subflow_app.foundation.errors import LabError
from subflow_app.foundation.resources import resource_path
from subflow_app.foundation.toml_files import read_text
from subflow_app.vocabulary.language import LANGUAGES, tr
from subflow_sim.gate import is_file, is_there, json_tree, read_file
from subflow_sim.whole_file import write_whole

_log = logging.getLogger(__name__)

FORMAT = 1
MOST_BYTES = 20_000_000
# Exceptions raised when a document has unexpected types or keys.
_WRONG = (ValueError, LookupError, TypeError, AttributeError, OverflowError)

PredictionValue = str | float | tuple[tuple[float, float], ...]
"""Text of an option, a number (SI), or points (s, SI) of a curve."""


@dataclass(frozen=True, slots=True)
class Predicted:
    """A prediction of the student.

    Attributes:
        value: the prediction.
        at: time of the prediction, ISO 8601.
        after_run: number of the latest run at that time.
        came: actual outcome, i.e. the option, the number (SI), or the mean error of a curve (SI); None if unknown.
        is_right: whether the option came true; None for numbers and curves, and while unknown.
    """

    value: PredictionValue
    at: str
    after_run: int
    came: str | float | None = None
    is_right: bool | None = None


@dataclass(frozen=True, slots=True)
class Answered:
    """An answer of the student to a question.

    Attributes:
        value: text of an option, or a number (SI).
        is_right: whether the answer is right.
        at: time of the answer, ISO 8601.
        right: the right answer; empty in a published lab.
    """

    value: str | float
    is_right: bool
    at: str
    right: str | float


@dataclass(frozen=True, slots=True)
class StepProgress:
    """Progress in one step.

    Attributes:
        passed_at: time when the step was passed, ISO 8601; empty until then.
        hints: number of hints shown.
        prediction: the student's prediction; None until it is made.
        answers: answers by question, in the order in which they were given.
        last_run: number of the latest run when the step was passed; 0 without runs.
    """

    passed_at: str = ""
    hints: int = 0
    prediction: Predicted | None = None
    answers: Mapping[str, tuple[Answered, ...]] = field(default_factory=dict)
    last_run: int = 0

    @property
    def is_passed(self) -> bool:
        """True after the step was passed."""
        return bool(self.passed_at)


@dataclass(frozen=True, slots=True)
class Progress:
    """Progress in a lab.

    Attributes:
        lab: name of the lab.
        lab_hash: hash of its file when the lab was begun.
        begun_at: start time, ISO 8601.
        database: path of the database with the runs; empty for a database in memory.
        begin: highest record numbers in the database at the start.
        document: text of the scenario when it was last saved.
        deal: seed for the order of options, different for each student.
        code: code of the student, from which the numbers of one's own are drawn; empty for the first values.
        steps: progress by ids of steps.
        finished_at: time when the last step was passed; empty until then.
    """

    lab: str
    lab_hash: str
    begun_at: str
    database: str
    begin: Begin
    document: str
    steps: Mapping[str, StepProgress] = field(default_factory=dict)
    finished_at: str = ""
    deal: str = ""
    code: str = ""

    def step(self, step_id: str) -> StepProgress:
        """Progress in a step; empty progress if the student has not begun it."""
        return self.steps.get(step_id, StepProgress())

    def with_step(self, step_id: str, step: StepProgress) -> Progress:
        """A copy with new progress in one step."""
        return replace(self, steps={**self.steps, step_id: step})

    def passed(self, lab: Lab) -> int:
        """Number of passed steps of the lab."""
        return sum(self.step(step.id).is_passed for step in lab.steps)

    def step_runs(self) -> dict[str, int]:
        """Number of the latest run when each step was passed, by id of the step; steps without runs are omitted."""
        return {name: step.last_run for name, step in self.steps.items() if step.last_run}


@dataclass(frozen=True, slots=True)
class Kept:
    """Progress read from a file, or None. If the file exists but cannot be used, `notice` gives the reason."""

    progress: Progress | None
    notice: str = ""


class ProgressFolder:
    """The folder with a file for each lab that was begun."""

    def __init__(self, folder: Path) -> None:
        """Use a folder, which is created with the first file."""
        self.folder = folder

    def path(self, lab: str) -> Path:
        """The file of a lab."""
        return self.folder / f"{lab}.json"

    def read(self, lab: str) -> Kept:
        """Read the progress in a lab; rename a damaged file."""
        path = self.path(lab)
        try:
            content = read_file(path, MOST_BYTES)
        except FileNotFoundError:
            return Kept(None)
        except OSError as error:
            return Kept(None, tr("{path} cannot be read: {reason}", path=path, reason=error.strerror or error))
        try:
            return Kept(progress_of(json_tree(content, is_strict=False), lab))
        except _WRONG as error:
            _log.warning("progress in %s cannot be used: %s", path, error)
            return Kept(None, self._set_aside(path, error))

    def peek(self, lab: str) -> Progress | None:
        """Read the progress in a lab without renaming a damaged file; None if it cannot be read."""
        try:
            return progress_of(json_tree(read_file(self.path(lab), MOST_BYTES), is_strict=False), lab)
        except (OSError, *_WRONG):
            return None

    def write(self, progress: Progress) -> None:
        """Replace the file of the progress atomically.

        Raises:
            LabError: if the file cannot be written; the previous file then remains.
        """
        text = json.dumps(document_of(progress), ensure_ascii=False, indent=1)
        path = self.path(progress.lab)
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            write_whole(path, text.encode())
        except OSError as error:
            raise LabError(
                tr(
                    "the progress in the lab cannot be kept: {path}: {reason}",
                    path=path,
                    reason=error.strerror or error,
                )
            ) from error

    def forget(self, lab: str) -> None:
        """Rename the file, so that the lab can begin again and nothing is lost.

        Raises:
            LabError: if the file cannot be moved.
        """
        path = self.path(lab)
        if is_there(path):
            try:
                path.replace(_free_name(path, "old"))
            except OSError as error:
                raise LabError(f"{path}: {error.strerror or error}") from error

    def _set_aside(self, path: Path, error: Exception) -> str:
        aside = _free_name(path, "damaged")
        try:
            path.replace(aside)
        except OSError as failure:
            return tr("{path} is damaged and cannot be moved: {reason}", path=path, reason=failure.strerror or failure)
        return tr(
            "The progress in this lab cannot be read ({reason}). The file is kept as {path}; the lab starts again.",
            reason=error,
            path=aside,
        )


def now() -> str:
    """The current time in the stored format: ISO 8601, UTC, whole seconds."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def document_of(progress: Progress) -> dict[str, Any]:
    """Progress as JSON values."""
    return {"format": FORMAT, **asdict(progress)}


def progress_of(document: Any, lab: str) -> Progress:
    """Read progress from JSON values.

    Raises:
        ValueError, LookupError, TypeError: if the values do not describe progress in that lab.
    """
    if document["format"] != FORMAT:
        raise ValueError(f"its format is {document['format']}, this version reads {FORMAT}")
    if document["lab"] != lab:
        raise ValueError(f'it is of the lab "{document["lab"]}"')
    begin = document["begin"]
    return Progress(
        lab=lab,
        lab_hash=_text(document["lab_hash"]),
        begun_at=_text(document["begun_at"]),
        finished_at=_text(document["finished_at"]),
        database=_text(document["database"]),
        begin=Begin(_count(begin["run"]), _count(begin["sweep"]), _count(begin["training"])),
        document=_text(document["document"]),
        deal=_text(document.get("deal", "")),
        code=_text(document.get("code", "")),
        steps={_text(name): read_step(step) for name, step in document["steps"].items()},
    )


def read_step(step: Any) -> StepProgress:
    """Read the progress in a step from the output of `asdict`.

    Raises:
        ValueError, LookupError, TypeError: if the values do not describe progress in a step.
    """
    predicted = step["prediction"]
    return StepProgress(
        passed_at=_text(step["passed_at"]),
        hints=_count(step["hints"]),
        last_run=_count(step["last_run"]),
        prediction=None
        if predicted is None
        else Predicted(
            _prediction_value(predicted["value"]),
            _text(predicted["at"]),
            _count(predicted["after_run"]),
            predicted["came"],
            predicted["is_right"],
        ),
        answers={
            _text(name): tuple(
                Answered(each["value"], bool(each["is_right"]), _text(each["at"]), each["right"]) for each in given
            )
            for name, given in step["answers"].items()
        },
    )


def _prediction_value(value: Any) -> PredictionValue:
    if isinstance(value, list):
        return tuple((float(time_s), float(height)) for time_s, height in value)
    return value if isinstance(value, str) else float(value)


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is not text")
    return value


def _count(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise ValueError(f"{value!r} is not a count")
    return value


def _free_name(path: Path, why: str) -> Path:
    return next(
        each
        for number in range(1, 10_000)
        if not is_there(each := path.with_name(f"{path.stem}.{why}-{number}{path.suffix}"))
    )


def is_other_text(lab: Lab, begun_with: str) -> bool:
    """True if a hash does not match the lab's file in any language.

    Args:
        lab: the current lab.
        begun_with: hash of the file with which the lab was begun.
    """
    return begun_with != lab.file_hash and begun_with not in _hashes(lab)


def other_text_notice(lab: Lab, progress: Progress | None) -> str:
    """Notice that progress belongs to a different version of the lab; empty if it can be continued."""
    if progress is None or not is_other_text(lab, progress.lab_hash):
        return ""
    return tr(
        "The lab {lab} was begun with another text than that of {file}, so it cannot be continued there.",
        lab=lab.name,
        file=lab.path,
    )


def _hashes(lab: Lab) -> Iterator[str]:
    shipped = resource_path("labs")
    if shipped in lab.path.parents:
        for folder in (shipped, *(shipped / language for language in LANGUAGES)):
            path = folder / lab.path.name
            if is_file(path):
                yield hashlib.sha256(read_text(path, LabError, "a lab").encode()).hexdigest()
