"""The runner of the self-test: each check in a process of its own, with surroundings of its own.

A crash or a hang is thereby reported for the check that causes it. The surroundings are folders of their own and a
screen in memory, without any setting of the real user.
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
    # Windows asks the system, not the environment; platformdirs lets these stand for the answers.
    "WIN_PD_OVERRIDE_LOCAL_APPDATA": "data",
    "WIN_PD_OVERRIDE_APPDATA": "data",
    "HOME": "home",
    "USERPROFILE": "home",
    "TMPDIR": "temporary",
    "TEMP": "temporary",
    "TMP": "temporary",
}
# What changes how the program looks, speaks or counts; a self-test comes out the same for everybody.
_NOT_TAKEN = ("QT_", "SUBFLOW_", "MPL", "COLUMNS", "FORCE_COLOR", "CLICOLOR_FORCE", "PYTHONIOENCODING")
_LOCALE = ("LC_", "LANG")  # LANGUAGE too


def own_surroundings(environment: Mapping[str, str], folder: Path, *, keeps_locale: bool = False) -> dict[str, str]:
    """The environment of a check; makes the folders that it names.

    Args:
        environment: of this process.
        folder: an empty one.
        keeps_locale: whether language and formats stay those of the user.
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
            # Where Python reads it, which a frozen program does not: warnings of libraries are told as well.
            "PYTHONWARNINGS": "default",
            # A training on a graphics card would be another one.
            "CUDA_VISIBLE_DEVICES": "",
        }
    )
    return kept


_MOST_AT_A_TIME = 4


def run_checks(checks: Sequence[Check], tell: Callable[[Outcome], None]) -> list[Outcome]:
    """Carries checks out, as many at a time as there are processors, and tells of them in their order.

    Everything that they write goes with a temporary folder; the user's own files are not touched.

    Args:
        checks: in the order in which they are told.
        tell: called with each in turn, from this thread.
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
            except BaseException:  # Ctrl-C above all
                pool.shutdown(wait=False, cancel_futures=True)
                processes.end()
                raise
    return outcomes


class _Processes:
    """The processes of the checks that go on, to end them from outside."""

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
        # A group of their own, so that what they start can be ended with them.
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
    """What is known of a check when its process has ended."""

    state: State
    told: str
    details: str = ""
    cpu_s: float = 0.0


def _answer(folder: Path, code: int, said: str) -> _Answer:
    try:
        left = json.loads((folder / ANSWER_FILE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return _Answer(
            State.FAILED, f"its process ended with {code} before it was done: {last_lines(said) or 'no word'}"
        )
    answer = _Answer(State(left["state"]), left["told"], left["details"], left["cpu_s"])
    if answer.state is not State.FAILED and (said or code != 0):
        unexpected = f"unexpected output: {last_lines(said)}" if said else f"its process ended with {code}"
        return answer._replace(state=State.FAILED, told=f"{answer.told}; {unexpected}")
    return answer


def _kill(process: subprocess.Popen[str]) -> None:
    """Ends the process of a check, if it goes on; where the system has groups, with all that it started."""
    if process.poll() is not None:
        return
    if sys.platform != "win32":
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    process.kill()
