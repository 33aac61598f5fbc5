"""Tasks off the GUI thread: the receivers of their results, and failures that are reported as bugs."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtCore import QObject
from pytestqt.qtbot import QtBot

from subflow_app.foundation.errors import InputError
from subflow_app.toolkit.workers import Workers


@pytest.fixture
def workers(qtbot: QtBot) -> Iterator[Workers]:
    owner = QObject()
    made = Workers(owner)
    yield made
    made.finish_all()


def _nothing(_result: object) -> None:
    raise AssertionError("it failed, and did not succeed")


def failing(error: Exception) -> object:
    raise error


def test_what_nobody_hears_is_emitted(workers: Workers, qtbot: QtBot) -> None:
    error = InputError("seed 0: at least 1")
    with qtbot.waitSignal(workers.failed) as heard:
        workers.start("task", lambda: failing(error), succeeded=_nothing)
    assert heard.args == [error]


@pytest.mark.parametrize("error", [InputError("seed 0: at least 1"), OSError("No space left on device")])
def test_who_listens_hears_it_alone(workers: Workers, qtbot: QtBot, error: Exception) -> None:
    heard: list[Exception] = []
    with qtbot.assertNotEmitted(workers.failed):
        workers.start("task", lambda: failing(error), succeeded=_nothing, failed=heard.append)
        qtbot.waitUntil(lambda: heard == [error])


def test_a_fault_of_the_program_is_heard_and_reported(workers: Workers, qtbot: QtBot) -> None:
    heard: list[Exception] = []
    fault = KeyError("wifi")
    with qtbot.captureExceptions() as reported:
        workers.start("task", lambda: failing(fault), succeeded=_nothing, failed=heard.append)
        qtbot.waitUntil(lambda: bool(reported))
    assert heard == [fault]
    assert [error for _kind, error, _trace in reported] == [fault]


def test_nothing_starts_behind_a_window_that_closes(workers: Workers) -> None:
    workers.finish_all()
    done: list[int] = []
    task = workers.start("late", lambda: done.append(1), succeeded=_nothing)
    assert not task.isRunning()
    assert not workers.is_busy
    assert done == []
