"""The process of one self-test check, which writes its result to a file.

`CHECKS` lists all checks, in the order of the report.
"""

from __future__ import annotations

import json
import os
import traceback
import warnings
from collections.abc import Sequence
from pathlib import Path

from subflow_app.shell.selftest.check import Check, CheckError, NotHereError, Place
from subflow_app.shell.selftest.checks import files, parts, runs, windows
from subflow_app.shell.selftest.outcome import ANSWER_FILE, State

CHECKS: tuple[Check, ...] = (
    parts.IMPORTS,
    runs.CORE_SIGNATURE,
    windows.QT_PLATFORM,
    windows.WINDOW,
    windows.LANGUAGES,
    windows.OWN_LOCALE,
    parts.GUIDE,
    parts.LICENCES,
    files.STORE,
    files.TABLES,
    files.FIGURES,
    runs.LAB,
    runs.TRAINING,
    parts.LEARNING_LIBRARY,
    runs.POLICIES,
    runs.SCRIPTS,
    runs.SWEEP,
    files.REFUSED_FILES,
    files.STRANGE_PATH,
    parts.KERNEL,
    windows.CRASH_REPORT,
)


def be_check(words: Sequence[str]) -> int:
    """Carry out one check.

    The runner treats any output on stdout or stderr as a failure.

    Args:
        words: name of the check, and a folder for its result, in which the working folder is created.

    Returns:
        The exit code, always 0.
    """
    name, folder = words[0], Path(words[1])
    check = next(each for each in CHECKS if each.name == name)
    warnings.simplefilter("default")
    # A newer library that deprecates a call still answers it: this concerns developers, not the installation.
    for category in (DeprecationWarning, PendingDeprecationWarning):
        warnings.simplefilter("ignore", category)
    work = folder / "work"
    work.mkdir()
    details = ""
    try:
        state, told = State.OK, check.run(Place(work))
    except NotHereError as error:
        state, told = State.SKIPPED, str(error)
    except CheckError as error:
        state, told = State.FAILED, str(error)
    except Exception as error:
        state, told, details = State.FAILED, f"{type(error).__name__}: {error}", traceback.format_exc()
    spent = os.times()
    cpu_s = spent.user + spent.system + spent.children_user + spent.children_system
    answer = {"state": state.value, "told": told, "details": details, "cpu_s": cpu_s}
    (folder / ANSWER_FILE).write_text(json.dumps(answer), encoding="utf-8")
    return 0
