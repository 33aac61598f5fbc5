"""The self-test tells of each check how it ended, whatever became of its process, and leaves nothing behind."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from tests.helpers import selftest_checks

from subflow_app.foundation.paths import default_database
from subflow_app.shell.selftest import runner
from subflow_app.shell.selftest.outcome import Outcome, State


@pytest.fixture(scope="module")
def told() -> list[Outcome]:
    """What was told of each, in this order."""
    found: list[Outcome] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(runner, "own_command", selftest_checks.command)
        outcomes = runner.run_checks(selftest_checks.CHECKS, found.append)
    assert outcomes == found
    return found


def one(told: list[Outcome], name: str) -> Outcome:
    (outcome,) = (outcome for outcome in told if outcome.name == name)
    return outcome


def test_checks_are_told_in_the_order_of_their_list(told: list[Outcome]) -> None:
    assert [outcome.name for outcome in told] == [check.name for check in selftest_checks.CHECKS]


def test_what_is_well_is_one_line(told: list[Outcome]) -> None:
    assert one(told, "well").line.startswith("ok      well: as it has to be (")
    assert one(told, "well").details == ""


def test_what_is_wrong_is_told_with_its_reason(told: list[Outcome]) -> None:
    assert one(told, "wrong").line.startswith("FAILED  wrong: the answer is 41, not 42 (")


def test_what_means_nothing_here_is_left_out_with_its_reason(told: list[Outcome]) -> None:
    assert one(told, "left_out").line.startswith("skipped left_out: only at sea (")


def test_a_bug_is_told_with_its_traceback(told: list[Outcome]) -> None:
    bug = one(told, "bug")

    assert (bug.state, bug.told) == (State.FAILED, "ZeroDivisionError: ours")
    assert "in _bug" in bug.details


@pytest.mark.parametrize(("name", "said"), [("talks", "a library says something"), ("warns", "this will go")])
def test_output_that_nobody_expects_is_a_failure(told: list[Outcome], name: str, said: str) -> None:
    outcome = one(told, name)

    assert outcome.state is State.FAILED
    assert outcome.told.startswith("done; unexpected output: ")
    assert said in outcome.told
    assert said in outcome.details


def test_a_crash_is_told_of_the_check_that_crashed(told: list[Outcome]) -> None:
    crash = one(told, "crashes")

    assert crash.state is State.FAILED
    assert crash.told.startswith("its process ended with -6 before it was done")


def test_a_check_that_hangs_is_given_up(told: list[Outcome]) -> None:
    hang = one(told, "hangs")

    assert (hang.state, hang.told) == (State.FAILED, "it took longer than 0.5 s and was given up")


def test_nothing_is_left_of_what_a_check_writes_and_nothing_of_the_user_is_touched(told: list[Outcome]) -> None:
    written = Path(one(told, "writes").told)

    assert one(told, "writes").state is State.OK
    assert written.is_relative_to(tempfile.gettempdir())
    assert not written.exists()
    assert not default_database().exists()
