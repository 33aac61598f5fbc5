"""``subflow --selftest``: tests this installation and prints one line per check."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING

from subflow_app.foundation.errors import InputError
from subflow_app.terminal import failures
from subflow_app.terminal.terminal import print_line, print_note

if TYPE_CHECKING:
    pass


def check_options(*, is_selftest: bool, out: Path | None, command: str | None) -> None:
    """Refuse options that exclude each other.

    Raises:
        InputError: if `--out` is given without `--selftest`, or a command is given together with `--selftest`.
    """
    if not is_selftest:
        raise InputError(f"--out {out} works only with --selftest; name the output of a command behind that command")
    if command is not None:
        raise InputError(f"--selftest works only alone: leave {command} out")


def selftest(out: Path | None) -> int:
    """Test all parts of this installation without touching the user's data.

    Args:
        out: file for the results as JSON.

    Returns:
        The exit code: 0 if all checks pass, else 1.

    Raises:
        InputError: if the file cannot be written.
    """
    from subflow_app.shell.selftest.outcome import State, write_report
    from subflow_app.shell.selftest.runner import run_checks
    from subflow_app.shell.selftest.worker import CHECKS

    began = time.perf_counter()
    if out is not None:
        write_report(out, [], 0.0)  # report an unwritable file now instead of half a minute later
    outcomes = run_checks(CHECKS, lambda outcome: print_line(outcome.line))
    duration_s = time.perf_counter() - began
    if out is not None:
        write_report(out, outcomes, duration_s)
    failed = [outcome for outcome in outcomes if outcome.state is State.FAILED]
    for outcome in failed:
        if outcome.details:
            print_note(f"\n{outcome.name}:\n{outcome.details.rstrip()}")
    left_out = sum(outcome.state is State.SKIPPED for outcome in outcomes)
    skipped = f", {left_out} left out" if left_out else ""
    found = f"FAILED: {', '.join(outcome.name for outcome in failed)}" if failed else "all is well"
    print_line(f"{len(outcomes)} checks{skipped}, {found} ({duration_s:.1f} s)")
    return failures.FAILED if failed else failures.OK
