"""What came of a self-test as a file for scripts."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from subflow_app import __version__
from subflow_app.foundation.errors import InputError
from subflow_app.foundation.json_document import json_text
from subflow_app.foundation.own_program import is_frozen
from subflow_app.shell.selftest.outcome import Outcome, State


def write_report(path: Path, outcomes: Sequence[Outcome], duration_s: float) -> None:
    """Writes it, as JSON; without outcomes the self-test has not come to its end, which is not a success.

    Raises:
        InputError: if it cannot be written.
    """
    document = {
        "version": __version__,
        "frozen": is_frozen(),
        "python": platform.python_version(),
        "system": platform.platform(),
        "passed": bool(outcomes) and all(outcome.state is not State.FAILED for outcome in outcomes),
        "duration_s": duration_s,
        "checks": [{**asdict(outcome), "state": outcome.state.value} for outcome in outcomes],
    }
    try:
        path.write_text(json_text(document), encoding="utf-8")
    except OSError as error:
        raise InputError(f"--out {path} cannot be written: {error.strerror or error}") from error
