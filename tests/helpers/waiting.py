"""Waiting for events elsewhere: in another thread, a process, or a file."""

from __future__ import annotations

import time
from collections.abc import Callable


def wait_until(
    holds: Callable[[], object], what: str = "it", patience_s: float = 30.0, *, pause_s: float = 0.01
) -> None:
    """Waits until a condition holds.

    Raises:
        AssertionError: if it does not hold in time.
    """
    end = time.monotonic() + patience_s
    while not holds():
        assert time.monotonic() < end, f"{what}: not after {patience_s:g} s"
        time.sleep(pause_s)
