"""The runner of the self-test: each check runs in a separate process with a separate environment.

Thus a crash or a hang is reported for the responsible check. The environment has new folders, an offscreen display, and
no settings of the user.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from subflow_app.foundation.paths import SELFTEST_CHECK, own_command
from subflow_app.shell.selftest.check import Check, last_lines
from subflow_app.shell.selftest.outcome import ANSWER_FILE, Outcome, State

_FOLDERS = {
    "XDG_DATA_HOME": "data",
    "XDG_CONFIG_HOME": "config",
    "XDG_CACHE_HOME": "cache",
    "XDG_STATE_HOME": "state",
    "XDG_RUNTIME_DIR": "runtime",
    # On Windows, platformdirs gets the folders from the system unless these variables override them.
    "WIN_PD_OVERRIDE_LOCAL_APPDATA": "data",
    "WIN_PD_OVERRIDE_APPDATA": "data",
    "HOME": "home",
    "USERPROFILE": "home",
    "TMPDIR": "temporary",
    "TEMP": "temporary",
    "TMP": "temporary",
}
# Prefixes of variables that change appearance, output or numbers; without them, results are the same for all users.
_NOT_TAKEN = ("QT_", "SUBFLOW_", "MPL", "COLUMNS", "FORCE_COLOR", "CLICOLOR_FORCE", "PYTHONIOENCODING")
_LOCALE = ("LC_", "LANG")  # includes LANGUAGE


def own_surroundings(environment: Mapping[str, str], folder: Path, *, keeps_locale: bool = False) -> dict[str, str]:
    """Environment variables for the process of a check; also creates the folders that they name.

    Args:
        environment: environment of this process.
        folder: an empty folder.
        keeps_locale: whether the user's language and formats are kept.
    """
    left_out = _NOT_TAKEN if keeps_locale else (*_NOT_TAKEN, *_LOCALE)
    kept = {name: value for name, value in environment.items() if not name.startswith(left_out)}
    if not keeps_locale:
        kept["LANG"] = "C.UTF-8"
    for name, below in _FOLDERS.items():
        path = folder / below
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        kept[name] = str(path)
    kept.update(
        {
            "QT_QPA_PLATFORM": "offscreen",
            "NO_COLOR": "1",
            # Shows warnings of libraries except deprecations, but has no effect in a frozen program.
            "PYTHONWARNINGS": "default,ignore::DeprecationWarning,ignore::PendingDeprecationWarning",
            # A training on a graphics card would give different results.
            "CUDA_VISIBLE_DEVICES": "",
        }
    )
    return kept


_MOST_AT_A_TIME = 4


def run_checks(checks: Sequence[Check], tell: Callable[[Outcome], None]) -> list[Outcome]:
    """Carry out checks, in parallel on up to four cores, and report them in the given order.

    Their output goes to a temporary folder, and the user's files are not touched.

    Args:
        checks: the checks, in the order of the reports.
        tell: called with each outcome in turn, in this thread.
    """
    outcomes = []
    with tempfile.TemporaryDirectory(prefix="subflow-selftest-", ignore_cleanup_errors=True) as folder:
        processes = _Processes()
        with ThreadPoolExecutor(min(os.cpu_count() or 1, _MOST_AT_A_TIME)) as pool:
            try:
                running = [
                    pool.submit(_run, check, Path(folder, str(number)), processes)
                    for number, check in enumerate(checks, start=1)
                ]
                for future in running:
                    outcome = future.result()
                    outcomes.append(outcome)
                    tell(outcome)
            except BaseException:  # especially Ctrl-C
                pool.shutdown(wait=False, cancel_futures=True)
                processes.end()
                raise
    return outcomes


class _Processes:
    """The running processes of checks, so that another thread can kill them."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._started: list[subprocess.Popen[str]] = []
        self._is_over = False

    def add(self, process: subprocess.Popen[str]) -> None:
        with self._lock:
            self._started.append(process)
            if self._is_over:
                _kill(process)

    def end(self) -> None:
        with self._lock:
            self._is_over = True
            for process in self._started:
                _kill(process)


def _run(check: Check, folder: Path, processes: _Processes) -> Outcome:
    began = time.perf_counter()
    folder.mkdir()
    with subprocess.Popen(
        own_command(SELFTEST_CHECK, check.name, str(folder)),
        env=own_surroundings(os.environ, folder / "user", keeps_locale=check.is_in_own_locale),
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        errors="replace",
        # A separate process group, so that child processes can be killed together with the check.
        start_new_session=True,
    ) as process:
        processes.add(process)
        try:
            said, _ = process.communicate(timeout=check.limit_s)
        except subprocess.TimeoutExpired:
            _kill(process)
            said, _ = process.communicate()
            answer = _Answer(State.FAILED, f"it took longer than {check.limit_s:g} s and was given up")
        else:
            answer = _answer(folder, process.returncode, said)
    duration_s, details = time.perf_counter() - began, "\n".join(filter(None, (answer.details, said)))
    return Outcome(check.name, answer.state, answer.told, duration_s, answer.cpu_s, details)


class _Answer(NamedTuple):
    """The result of a check, known when its process has ended."""

    state: State
    told: str
    details: str = ""
    cpu_s: float = 0.0


def _answer(folder: Path, code: int, text: str) -> _Answer:
    try:
        left = json.loads((folder / ANSWER_FILE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return _Answer(
            State.FAILED, f"its process ended with {code} before it was done: {last_lines(text) or 'no output'}"
        )
    answer = _Answer(State(left["state"]), left["told"], left["details"], left["cpu_s"])
    if answer.state is not State.FAILED and (text or code != 0):
        unexpected = f"unexpected output: {last_lines(text)}" if text else f"its process ended with {code}"
        return answer._replace(state=State.FAILED, told=f"{answer.told}; {unexpected}")
    return answer


def _kill(process: subprocess.Popen[str]) -> None:
    """Kill the process of a check if it is still running, with its process group if the system supports groups."""
    if process.poll() is not None:
        return
    if sys.platform != "win32":
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    process.kill()
