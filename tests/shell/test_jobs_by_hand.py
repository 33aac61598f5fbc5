"""Common jobs of a new user with real mouse and keyboard on a screen of 1366x768, and the number of acts they take."""

from __future__ import annotations

import importlib.util
import json
from typing import Any

import pytest
from tests.helpers.real_hands import missing_programs
from tests.helpers.x_screen import on_own_screen

pytestmark = pytest.mark.timeout(200)


def done(job: str) -> dict[str, Any]:
    """Does a job; returns the clicks and keys of its parts."""
    if missing := missing_programs():
        pytest.skip(f"not installed: {', '.join(missing)}")
    ended = on_own_screen("tests.helpers.jobs_by_hand", [job], "1366x768")
    assert (ended.stderr, ended.returncode) == ("", 0)
    acts: dict[str, Any] = json.loads(ended.stdout)
    return acts


def test_two_controllers_are_compared_with_four_clicks_from_the_welcome() -> None:
    assert done("compare") == {"compare": {"clicks": 4, "keys": 0}}


def test_a_figure_takes_four_acts_from_the_welcome_and_a_cause_two_from_the_run_shown() -> None:
    assert done("figure") == {"figure": {"clicks": 1, "keys": 3}, "cause": {"clicks": 2, "keys": 0}}


def test_a_controller_is_written_and_compared_with_six_clicks_from_the_welcome() -> None:
    assert done("controller") == {"controller": {"clicks": 6, "keys": 0}}


@pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="PyTorch is not installed")
def test_a_trained_policy_is_used_after_four_acts_from_the_welcome() -> None:
    assert done("training") == {"training": {"clicks": 2, "keys": 2}}


def test_programs_run_on_the_drawn_network_after_three_clicks_and_the_simulation_is_drawn_over_them() -> None:
    acts = done("emulate")
    assert acts["emulate"] == {"clicks": 3, "keys": 0}
    assert acts["outage"] == {"clicks": 0, "keys": 1}
    assert acts["overlay"] == {"clicks": 1, "keys": 0}


@pytest.mark.full("compares ten runs")
def test_runs_of_a_comparison_are_opened_and_two_steps_lead_back() -> None:
    assert done("after") == {}


@pytest.mark.full("runs for minutes of simulated time")
def test_a_comparison_is_cancelled_and_completed_in_the_background() -> None:
    assert done("states") == {}
