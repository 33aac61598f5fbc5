"""Walks through the window find no faults, on an X screen: sizes, languages, themes and scales."""

from __future__ import annotations

import itertools
import shutil

import pytest
from tests.helpers.walk.__main__ import take

SIZES = (("--size", "1366x768"), ("--size", "1280x720"), ("--size", "2732x1536", "--scale", "200"))
LOOKS = (("en", "light"), ("de", "dark"), ("en", "contrast"))
NOTHING_IS_WRONG = ("", "", 0)


def _told_by_a_walk(*words: str) -> tuple[str, str, int]:
    """Standard output, error output and exit code of a walk."""
    if shutil.which("Xvfb") is None:
        pytest.skip("Xvfb is not installed")
    told = take(words)
    return told.stdout, told.stderr, told.returncode


@pytest.mark.full("half a minute of processor time")
@pytest.mark.timeout(300)
def test_nothing_is_wrong_on_a_walk() -> None:
    assert _told_by_a_walk("--strings", "30") == NOTHING_IS_WRONG


@pytest.mark.timeout(300)
def test_german_texts_fit_the_smallest_window() -> None:
    assert _told_by_a_walk(*SIZES[1], "--language", "de", "--theme", "dark", "--depth", "texts") == NOTHING_IS_WRONG


@pytest.mark.full("minutes")
@pytest.mark.timeout(1800)
def test_nothing_is_wrong_in_any_size_and_look() -> None:
    for size, (language, theme) in itertools.product(SIZES, LOOKS):
        assert _told_by_a_walk(*size, "--language", language, "--theme", theme) == NOTHING_IS_WRONG
