"""One job at a time: the reports of a study on its end, and the ends that it does not report."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest
from PySide6.QtCore import QObject
from pytestqt.qtbot import QtBot
from tests.helpers.present import present
from tests.helpers.raising import raising

from subflow_app.foundation.errors import InputError
from subflow_app.foundation.jobs.job import Job, JobOutcome
from subflow_app.toolkit.study import Study
from subflow_app.toolkit.workers import Workers


class Patient(Job):
    """Ends when permitted, or when stopped; with an error or a problem if given."""

    def __init__(self, *, error: Exception | None = None, problem: str = "") -> None:
        super().__init__(1)
        self.may_end = threading.Event()
        self._error = error
        self._problems = [problem] if problem else []

    def _work(self) -> None:
        while not self.is_stopped and not self.may_end.wait(0.01):
            pass
        if self._error is not None:
            raise self._error
        self._tell(finished=0 if self.is_stopped else 1)


class Told:
    """A study with a record of all its reports."""

    def __init__(self, workers: Workers) -> None:
        self.errors: list[str] = []
        self.ends: list[tuple[Job | None, JobOutcome | None]] = []
        self.study: Study[Patient] = Study(workers, workers, "test", lambda error: self.errors.append(str(error)))
        self.study.ended.connect(lambda job, outcome: self.ends.append((job, outcome)))


@pytest.fixture
def workers(qapp: QObject) -> Iterator[Workers]:
    made = Workers(qapp)
    yield made
    made.finish_all()
    made.deleteLater()


@pytest.fixture
def told(workers: Workers) -> Told:
    return Told(workers)


def test_a_job_that_is_made_already_is_there_at_once(told: Told, qtbot: QtBot) -> None:
    job = Patient()
    told.study.start(job)
    assert (told.study.job, told.study.is_running) == (job, True)
    job.may_end.set()
    qtbot.waitUntil(lambda: bool(told.ends))
    ((ended, outcome),) = told.ends
    assert ended is job
    assert present(outcome).state == "finished"
    assert not job.is_stopped
    assert (told.study.job, told.study.is_running, told.errors) == (None, False, [])


def test_another_job_takes_the_place_of_the_first_silently(told: Told, workers: Workers, qtbot: QtBot) -> None:
    first, second = Patient(error=InputError("late")), Patient()
    told.study.start(first)
    told.study.start(lambda: second)
    qtbot.waitUntil(lambda: first.state.is_over)
    assert told.study.is_running
    second.may_end.set()
    qtbot.waitUntil(lambda: not workers.is_busy)
    assert [job for job, _outcome in told.ends] == [second]
    assert told.errors == []


def test_the_next_job_may_start_when_the_first_has_ended(told: Told, qtbot: QtBot) -> None:
    first, second = Patient(), Patient()
    told.study.ended.connect(lambda job, _outcome: told.study.start(second) if job is first else None)
    first.may_end.set()
    second.may_end.set()
    told.study.start(first)
    qtbot.waitUntil(lambda: len(told.ends) == 2)
    assert second.state == "finished"


def test_a_stopped_job_is_not_begun_once_it_is_made(told: Told, qtbot: QtBot) -> None:
    job, may_make = Patient(), threading.Event()

    def make() -> Patient:
        may_make.wait(20)
        return job

    told.study.start(make)
    assert told.study.job is None
    told.study.stop()
    may_make.set()
    qtbot.waitUntil(lambda: bool(told.ends))
    assert told.ends == [(job, None)]
    assert job.state == "waiting"


@pytest.mark.parametrize("reports_problems", [True, False])
def test_errors_are_reported_and_problems_if_wanted(told: Told, qtbot: QtBot, *, reports_problems: bool) -> None:
    told.study.reports_problems = reports_problems
    for job in (Patient(error=InputError("no room")), Patient(problem="one is lost")):
        told.ends.clear()
        job.may_end.set()
        told.study.start(job)
        qtbot.waitUntil(lambda: bool(told.ends))
    assert told.errors == (["no room", "one is lost"] if reports_problems else ["no room"])


def test_a_job_that_cannot_be_made_is_reported(told: Told, qtbot: QtBot) -> None:
    told.study.start(raising(InputError("nothing to search")))
    qtbot.waitUntil(lambda: bool(told.errors))
    assert told.ends == [(None, None)]
    assert told.errors == ["nothing to search"]
