"""Checks with every possible end, and a process that runs them like the process of the program.

python -m tests.helpers.selftest_checks NAME FOLDER
"""

from __future__ import annotations

import os
import sys
import time
import warnings
from pathlib import Path

from subflow_app.foundation.paths import default_database
from subflow_app.shell.selftest import worker
from subflow_app.shell.selftest.check import Check, CheckError, NotHereError, Place


def _well(_place: Place) -> str:
    return "as it has to be"


def _wrong(_place: Place) -> str:
    raise CheckError("the answer is 41, not 42")


def _left_out(_place: Place) -> str:
    raise NotHereError("only at sea")


def _bug(_place: Place) -> str:
    raise ZeroDivisionError("ours")


def _talks(_place: Place) -> str:
    os.write(2, b"a library says something\n")
    return "done"


def _warns(_place: Place) -> str:
    warnings.warn("this is wrong", RuntimeWarning, stacklevel=1)
    return "done"


def _deprecates(_place: Place) -> str:
    warnings.warn("this will go", DeprecationWarning, stacklevel=1)
    return "done"


def _crashes(_place: Place) -> str:
    os.abort()


def _hangs(_place: Place) -> str:
    time.sleep(60)
    return "awake"


def _writes(place: Place) -> str:
    default_database().parent.mkdir(parents=True)
    default_database().write_text("a run")
    (place.folder / "a file").write_text("text")
    return f"{default_database()}"


CHECKS = tuple(
    Check(run.__name__.strip("_"), run, 0.5 if run is _hangs else 60.0)
    for run in (_well, _wrong, _left_out, _bug, _talks, _warns, _deprecates, _crashes, _hangs, _writes)
)


def command(_word: str, *words: str) -> list[str]:
    """Replaces `own_command`."""
    return [sys.executable, str(Path(__file__)), *words]


if __name__ == "__main__":
    worker.CHECKS = CHECKS
    sys.exit(worker.be_check(sys.argv[1:]))
