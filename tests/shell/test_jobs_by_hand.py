"""Common jobs of a new user with real mouse and keyboard on a screen of 1366x768, and the number of acts they take."""

from __future__ import annotations

import json

import pytest
from tests.helpers.real_hands import missing_programs
from tests.helpers.x_screen import on_own_screen


@pytest.mark.timeout(120)
def test_two_controllers_are_compared_with_four_clicks_from_the_welcome() -> None:
    if missing := missing_programs():
        pytest.skip(f"not installed: {', '.join(missing)}")
    told = on_own_screen("tests.helpers.jobs_by_hand", ["compare"], "1366x768")
    assert (told.stderr, told.returncode) == ("", 0)
    assert json.loads(told.stdout) == {"clicks": 4, "keys": 0}


@pytest.mark.timeout(120)
def test_a_figure_for_a_paper_takes_four_clicks_and_keys_from_the_welcome() -> None:
    if missing := missing_programs():
        pytest.skip(f"not installed: {', '.join(missing)}")
    told = on_own_screen("tests.helpers.jobs_by_hand", ["figure"], "1366x768")
    assert (told.stderr, told.returncode) == ("", 0)
    assert json.loads(told.stdout) == {"clicks": 1, "keys": 3}
