"""A policy that is damaged or another controller's is named where it is used, and nothing is lost by it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot
from tests.helpers.policies import Plan, write_random_policy
from tests.helpers.window import TWO_PATHS

from subflow_app.foundation.jobs.progress import JobState
from subflow_app.shell.main_window import MainWindow


def damaged(path: Path) -> None:
    path.write_bytes(b"no policy")


def cut_short(path: Path) -> None:
    write_random_policy(path, Plan("drl-cc"))
    path.write_bytes(path.read_bytes()[:-500])


def of_another_controller(path: Path) -> None:
    write_random_policy(path, Plan("dql-mptcp"))


def missing(path: Path) -> None:
    path.unlink(missing_ok=True)


def with_policy(path: Path) -> str:
    return TWO_PATHS.replace('"lia"', f'{{ name = "drl-cc", policy = "{path}" }}')


@pytest.fixture
def broken(tmp_path: Path) -> list[Path]:
    """Files of policies, each broken in another way."""
    paths = []
    for spoil in (damaged, cut_short, of_another_controller, missing):
        paths.append(tmp_path / spoil.__name__ / "learned.safetensors")
        paths[-1].parent.mkdir()
        spoil(paths[-1])
    return paths


def test_a_run_with_a_broken_policy_is_refused_by_its_name_and_the_next_one_runs(
    window: MainWindow, broken: list[Path], run_once: Callable[[], int]
) -> None:
    for policy in broken:
        text = with_policy(policy)
        window.documents.open_text(text, "learned")
        window.bar.trigger("run.toggle")
        problems = "\n".join(problem.message for problem in window.documents.doc.problems)
        assert not window.runs.is_running, policy
        assert "learned.safetensors" in problems
        assert window.documents.doc.text == text
    window.documents.open_text(TWO_PATHS, "two-paths")
    assert run_once() == 1


def test_the_queue_takes_no_run_with_a_broken_policy_and_takes_the_next_one(
    qtbot: QtBot, window: MainWindow, broken: list[Path]
) -> None:
    for policy in broken:
        window.documents.open_text(with_policy(policy), "learned")
        window.bar.trigger("queue.add")
        assert window.queue_session.queue.entries() == [], policy
    window.documents.open_text(TWO_PATHS, "two-paths")
    window.bar.trigger("queue.add")
    qtbot.waitUntil(lambda: not window.queue_session.queue.is_busy, timeout=20_000)
    assert [entry.state for entry in window.queue_session.queue.entries()] == [JobState.FINISHED]


def test_what_runs_is_the_policy_that_was_checked_even_if_its_file_breaks_since(
    window: MainWindow, tmp_path: Path, run_once: Callable[[], int]
) -> None:
    path = tmp_path / "learned.safetensors"
    write_random_policy(path, Plan("drl-cc"))
    window.documents.open_text(with_policy(path), "learned")
    damaged(path)
    assert run_once() == 1
    assert window.documents.doc.text == with_policy(path)
