"""Progress of a student in a lab, in a JSON file that is replaced whole, so that a crash costs nothing.

A file that cannot be read is set aside under another name and reported; it is never overwritten. Progress is kept by a
lab's name, and files share names. Progress from another text of the lab is therefore recognised.
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
# What a document of another shape raises while it is read.
_WRONG = (ValueError, LookupError, TypeError, AttributeError, OverflowError)

PredictionValue = str | float | tuple[tuple[float, float], ...]
"""The text of an option, a number (SI), or points (s, SI) of a curve."""


@dataclass(frozen=True, slots=True)
class Predicted:
    """A prediction that was made.

    Attributes:
        value: what was expected.
        at: when, ISO 8601.
        after_run: the last run of the store then.
        came: what came out: the option, the number (SI); of a curve how far it was off on average (SI). None: not yet.
        is_right: whether an option came true; None for numbers and curves, and while it is not known.
    """

    value: PredictionValue
    at: str
    after_run: int
    came: str | float | None = None
    is_right: bool | None = None


@dataclass(frozen=True, slots=True)
class Answered:
    """An answer to a question.

    Attributes:
        value: what was said: the text of an option, or a number (SI).
        is_right: whether that is right.
        at: when, ISO 8601.
        right: what would have been right.
    """

    value: str | float
    is_right: bool
    at: str
    right: str | float


@dataclass(frozen=True, slots=True)
class StepProgress:
    """How far a step is.

    Attributes:
        passed_at: when it was passed, ISO 8601; empty: not yet.
        hints: how many were shown.
        prediction: that was made.
        answers: by question, in the order in which they were given.
        last_run: number of the last run when it was passed; 0: there was none.
    """

    passed_at: str = ""
    hints: int = 0
    prediction: Predicted | None = None
    answers: Mapping[str, tuple[Answered, ...]] = field(default_factory=dict)
    last_run: int = 0

    @property
    def is_passed(self) -> bool:
        """Whether it was passed."""
        return bool(self.passed_at)


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a student is in a lab.

    Attributes:
        lab: its name.
        lab_hash: of its file when the lab was begun.
        begun_at: when, ISO 8601.
        database: where the runs are.
        begin: the last numbers there at that time.
        document: text of the scenario when it was last kept.
        deal: by which options are put into an order that is this student's own.
        steps: by their ids.
        finished_at: when the last step was passed; empty: not yet.
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

    def step(self, step_id: str) -> StepProgress:
        """Of a step; a fresh one if nothing was done in it."""
        return self.steps.get(step_id, StepProgress())

    def with_step(self, step_id: str, step: StepProgress) -> Progress:
        """The same with another state of a step."""
        return replace(self, steps={**self.steps, step_id: step})

    def passed(self, lab: Lab) -> int:
        """How many steps of the lab are passed."""
        return sum(self.step(step.id).is_passed for step in lab.steps)

    def step_runs(self) -> dict[str, int]:
        """Number of the last run when a step was passed, by step."""
        return {name: step.last_run for name, step in self.steps.items() if step.last_run}


@dataclass(frozen=True, slots=True)
class Kept:
    """What was found on disk: progress, or none; and what has to be told about it."""

    progress: Progress | None
    notice: str = ""


class ProgressFolder:
    """The folder with a file for each lab that was begun."""

    def __init__(self, folder: Path) -> None:
        """The folder is made when the first file is written."""
        self.folder = folder

    def path(self, lab: str) -> Path:
        """The file of a lab."""
        return self.folder / f"{lab}.json"

    def read(self, lab: str) -> Kept:
        """The progress in a lab; a file that cannot be used is set aside."""
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
        """The progress in a lab, if it can be read; nothing is set aside."""
        try:
            return progress_of(json_tree(read_file(self.path(lab), MOST_BYTES), is_strict=False), lab)
        except (OSError, *_WRONG):
            return None

    def write(self, progress: Progress) -> None:
        """Keep it, in one step.

        Raises:
            LabError: if it cannot be written; what was there still is.
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
        """Begin anew: the file goes, under another name, so that nothing is lost.

        Raises:
            LabError: if it cannot be moved.
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
    """The time as it is kept: ISO 8601, UTC, whole seconds."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def document_of(progress: Progress) -> dict[str, Any]:
    """As JSON has it."""
    return {"format": FORMAT, **asdict(progress)}


def progress_of(document: Any, lab: str) -> Progress:
    """From what JSON had.

    Raises:
        ValueError, LookupError, TypeError: if it does not hold progress in that lab.
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
        steps={_text(name): read_step(step) for name, step in document["steps"].items()},
    )


def read_step(step: Any) -> StepProgress:
    """A step from what `asdict` made.

    Raises:
        ValueError, LookupError, TypeError: if it is none.
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
    """Whether a hash is not that of the lab's file; a shipped lab is the same lab in each language.

    Args:
        lab: as it is now.
        begun_with: hash of the file that it was begun with.
    """
    return begun_with != lab.file_hash and begun_with not in _hashes(lab)


def other_text_notice(lab: Lab, progress: Progress | None) -> str:
    """Why progress cannot go on in a lab: it was made in another text of it, whose steps it fits. Empty: it can."""
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
