"""With mouse and keys on an X screen of 1366x768: lab 1 from its first to its last step, and the tour of the guide."""

from __future__ import annotations

import shutil

import pytest
from tests.helpers.x_screen import on_own_screen

ALL_WENT_WELL = ("", "", 0)


def _told_by(journey: str) -> tuple[str, str, int]:
    """Standard output, error output and exit code of a journey."""
    if shutil.which("Xvfb") is None:
        pytest.skip("Xvfb is not installed")
    told = on_own_screen("tests.helpers.first_hour", [journey], "1366x768")
    return told.stdout, told.stderr, told.returncode


@pytest.mark.full("ten seconds of processor time, and labs are done without a screen too")
@pytest.mark.timeout(300)
def test_a_person_does_the_first_lab() -> None:
    assert _told_by("lab") == ALL_WENT_WELL


@pytest.mark.full("half a minute of processor time")
@pytest.mark.timeout(300)
def test_a_person_takes_the_tour_of_the_guide() -> None:
    assert _told_by("tour") == ALL_WENT_WELL
