"""The self-test reports the end of each check, regardless of its process, and leaves no processes or files."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from tests.helpers import selftest_checks
from tests.helpers.members import for_each

from subflow_app.foundation.paths import default_database
from subflow_app.shell.selftest import runner
from subflow_app.shell.selftest.outcome import Outcome, State


@pytest.fixture(scope="module")
def told() -> list[Outcome]:
    """The reported outcomes, in order."""
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


@for_each(
    ("name", "begins", "told_at_length"),
    [
        ("well", "ok      well: as it has to be (", ""),
        ("wrong", "FAILED  wrong: the answer is 41, not 42 (", ""),
        ("left_out", "skipped left_out: only at sea (", ""),
        ("bug", "FAILED  bug: ZeroDivisionError: ours (", "in _bug"),
        ("talks", "FAILED  talks: done; unexpected output: a library says something", "a library says something"),
        ("warns", "FAILED  warns: done; unexpected output: ", "this is wrong"),
        ("deprecates", "ok      deprecates: done (", ""),
        ("crashes", "FAILED  crashes: its process ended with -6 before it was done", ""),
        ("hangs", "FAILED  hangs: it took longer than 0.5 s and was given up (", ""),
    ],
)
def test_each_check_is_told_with_how_it_ended(told: list[Outcome], name: str, begins: str, told_at_length: str) -> None:
    assert one(told, name).line.startswith(begins)
    assert told_at_length in one(told, name).details


def test_nothing_is_left_of_what_a_check_writes_and_nothing_of_the_user_is_touched(told: list[Outcome]) -> None:
    written = Path(one(told, "writes").told)

    assert one(told, "writes").state is State.OK
    assert written.is_relative_to(tempfile.gettempdir())
    assert not written.exists()
    assert not default_database().exists()
