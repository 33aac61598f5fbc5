"""A policy that is damaged or made for another controller is named with its use, and no data is lost."""

from __future__ import annotations

from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot
from tests.helpers.desk import Desk, MakeDesk
from tests.helpers.policies import Plan, write_random_policy
from tests.helpers.shipped_policies import use_printed
from tests.helpers.window import TWO_PATHS

from subflow_app.features.running.qt.queue import QueueSession
from subflow_app.foundation.jobs.progress import JobState
from subflow_app.foundation.resources import find_scenario
from subflow_app.shell.actions.run import run_rows


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
def desk(make_desk: MakeDesk) -> Desk:
    return make_desk(QueueSession, actions=run_rows())


@pytest.fixture
def broken(tmp_path: Path) -> list[Path]:
    """Policy files, each damaged in another way."""
    paths = []
    for spoil in (damaged, cut_short, of_another_controller, missing):
        paths.append(tmp_path / spoil.__name__ / "learned.safetensors")
        paths[-1].parent.mkdir()
        spoil(paths[-1])
    return paths


def test_a_run_with_a_broken_policy_is_refused_and_the_next_one_runs(desk: Desk, broken: list[Path]) -> None:
    for policy in broken:
        text = with_policy(policy)
        desk.documents.open_text(text, "learned")
        desk.bar.trigger("run.toggle")
        problems = "\n".join(problem.message for problem in desk.documents.doc.problems)
        assert not desk.runs.is_running, policy
        assert "learned.safetensors" in problems
        assert desk.documents.doc.text == text
    desk.documents.open_text(TWO_PATHS, "two-paths")
    assert desk.run_once() == 1


def test_the_queue_refuses_a_broken_policy_and_takes_the_next_run(qtbot: QtBot, desk: Desk, broken: list[Path]) -> None:
    for policy in broken:
        desk.documents.open_text(with_policy(policy), "learned")
        desk.bar.trigger("queue.add")
        assert desk.features[QueueSession].queue.entries() == [], policy
    desk.documents.open_text(TWO_PATHS, "two-paths")
    desk.bar.trigger("queue.add")
    qtbot.waitUntil(lambda: not desk.features[QueueSession].queue.is_busy)
    assert [entry.state for entry in desk.features[QueueSession].queue.entries()] == [JobState.FINISHED]


def test_what_runs_is_the_policy_that_was_checked_even_if_its_file_breaks_since(desk: Desk, tmp_path: Path) -> None:
    path = tmp_path / "learned.safetensors"
    write_random_policy(path, Plan("drl-cc"))
    desk.documents.open_text(with_policy(path), "learned")
    damaged(path)
    assert desk.run_once() == 1
    assert desk.documents.doc.text == with_policy(path)


def test_a_name_that_means_another_policy_now_is_told_with_the_first_run(
    desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    use_printed(monkeypatch, tmp_path / "shipped")
    text = find_scenario("rlx-fixed").read_text(encoding="utf-8").replace('duration = "15s"', 'duration = "1s"')
    desk.documents.open_text(text, "learned")
    told = []
    for _ in range(2):
        desk.run_once()
        told.append(desk.banners.text("scenario"))
    assert 'controller = { name = "rl-explore", policy = "rl-explore-wide" }' in told[0]
    assert told[0].count("means the policy trained as its paper prints it") == 1
    assert "as its paper" not in told[1]
