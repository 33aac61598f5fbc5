"""Tries inputs one by one in a child process, and reports those that break the promise.

The promise for a file from another person: opening it succeeds, or ends with an error that names the problem; it takes
less than 5 s of processor time and 500 MB of memory; and it leaves no file behind. A failure is any other exception,
also a logged one, a warning, a crash, or a hang.

A child that dies costs the current input; the next child continues with the following one.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import resource
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

import dev
from tests.fuzz.entry_points import ENTRY_POINTS, ITSELF, REFUSED, EntryPoint, private_folders

MOST_SECONDS = 5.0
MOST_BYTES = 500e6
# Limit in wall-clock time that ends a child from outside: a wait takes no processor time, and a busy machine may slow
# it down.
HANG_S = 120.0
# A folder in memory: the uses of a run wait for the disk a dozen times each.
_IN_MEMORY = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
# Address space beyond that in use before the input: an allocation fails before the machine runs out of memory.
_ADDRESSES = 1 << 30


@dataclass(frozen=True, slots=True)
class Outcome:
    """Result of one input.

    Attributes:
        failure: the way it broke the promise, in a line that is the same for similar failures; empty without a failure.
        details: the traceback or the finding.
        seconds: processor time.
        most_bytes: peak memory.
        is_told: whether the input was refused, by an error for people or by a reader that skips unreadable files.
    """

    failure: str
    details: str = ""
    seconds: float = 0.0
    most_bytes: float = 0.0
    is_told: bool = False


class Child:
    """A process that tries inputs; it starts with the first ones."""

    def __init__(self, most_seconds: float = MOST_SECONDS, hang_s: float = HANG_S) -> None:
        """Starts no process yet.

        Args:
            most_seconds: limit of processor time for an input.
            hang_s: longest time without an answer.
        """
        self._most_seconds, self._hang_s = most_seconds, hang_s
        self._process: subprocess.Popen[bytes] | None = None
        self._home: tempfile.TemporaryDirectory[str] | None = None
        self._said = b""  # output received but not yet read

    def try_inputs(self, point: EntryPoint, contents: Sequence[bytes]) -> Iterator[Outcome]:
        """Outcomes of the inputs, in order."""
        done = 0
        while done < len(contents):
            self._begin(point, contents[done:])
            while done < len(contents):
                outcome, goes_on = self._answer()
                done += 1
                yield outcome
                if not goes_on:
                    break

    def try_input(self, point: EntryPoint, content: bytes) -> Outcome:
        """Outcome of an input."""
        return next(self.try_inputs(point, [content]))

    def close(self) -> None:
        """Ends the process."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None
        if self._home is not None:
            self._home.cleanup()
            self._home = None

    def __enter__(self) -> Child:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _begin(self, point: EntryPoint, contents: Sequence[bytes]) -> None:
        """Passes inputs to the child, many at once: on a busy machine, the two processes would wait for each other."""
        if self._process is None or self._process.poll() is not None:
            self.close()
            self._home = tempfile.TemporaryDirectory(prefix="subflow-fuzz-", dir=_IN_MEMORY)
            home = Path(self._home.name)
            (home / "tmp").mkdir()
            self._said = b""
            with (home / "stderr").open("wb") as stderr:
                self._process = subprocess.Popen(
                    [sys.executable, "-m", "tests.fuzz.trial", str(home), str(self._most_seconds)],
                    cwd=dev.ROOT,
                    env=private_folders(home),
                    bufsize=0,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=stderr,
                )
            assert self._process.stdout is not None
            self._process.stdout.readline()  # a busy machine takes long to start it, which must not count for the input
        assert self._home is not None
        assert self._process.stdin is not None
        with Path(self._home.name, "batch").open("wb") as batch:
            for part in (point.name.encode(), *contents):
                batch.write(len(part).to_bytes(8, "little") + part)
        with contextlib.suppress(BrokenPipeError):  # the child has died, which the missing answer reports
            self._process.stdin.write(b"\n")

    def _answer(self) -> tuple[Outcome, bool]:
        """Outcome of the next input, and whether the process continues."""
        assert self._process is not None
        assert self._process.stdout is not None
        while b"\n" not in self._said:
            ready, _, _ = select.select([self._process.stdout], [], [], self._hang_s)
            if not ready:
                self.close()
                return Outcome("hang", f"nothing came back in {self._hang_s:g} s", self._hang_s), False
            part = os.read(self._process.stdout.fileno(), 1 << 16)
            if not part:
                return self._died(), False
            self._said += part
        line, _, self._said = self._said.partition(b"\n")
        return Outcome(**json.loads(line)), True

    def _died(self) -> Outcome:
        assert self._process is not None
        assert self._home is not None
        code = self._process.wait()
        said = Path(self._home.name, "stderr").read_text(errors="replace")[-2000:]
        self.close()
        return Outcome(f"died of {signal.Signals(-code).name if code < 0 else f'exit code {code}'}", said)


# ---- in the child ----


class _TooSlow(BaseException):
    """Raised at the time limit; no reader catches it."""


def _on_alarm(_number: int, _frame: FrameType | None) -> None:
    raise _TooSlow


class _Noticed(logging.Handler):
    """Keeps exceptions that the program only logs."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.errors: list[BaseException] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Keep it."""
        if record.exc_info and record.exc_info[1] is not None:
            self.errors.append(record.exc_info[1])


def _try(point: EntryPoint, content: bytes, home: Path, most_seconds: float, noticed: _Noticed) -> dict[str, Any]:
    folder, temporary = home / "in", home / "tmp"
    folder.mkdir()
    path = folder / point.file
    path.write_bytes(content)
    os.chdir(folder)
    noticed.errors.clear()
    failure = details = ""
    is_told = False
    _forget_peak()
    begun_s = time.process_time()
    addresses = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (addresses + _ADDRESSES, resource.RLIM_INFINITY))
    signal.setitimer(signal.ITIMER_PROF, most_seconds)
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        try:
            is_told = point.call(path) == REFUSED
        except _TooSlow as error:
            failure, details = f"more than {most_seconds:g} s {_place(error)}", traceback.format_exc(limit=-12)
        except MemoryError as error:
            failure, details = f"MemoryError {_place(error)}", traceback.format_exc(limit=-12)
        except Exception as error:
            if _is_told(error):
                is_told = True
            else:
                failure, details = f"{type(error).__name__} {_place(error)}", traceback.format_exc(limit=-12)
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
    resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    seconds, most_bytes = time.process_time() - begun_s, _peak_bytes()
    unexpected = [error for error in noticed.errors if not _is_told(error)]
    if not failure and unexpected:
        failure = f"logged {type(unexpected[0]).__name__} {_place(unexpected[0])}"
        details = "".join(traceback.format_exception(unexpected[0], limit=-12))
    if not failure and warned:
        failure, details = f"{warned[0].category.__name__} at {_short(warned[0].filename)}", str(warned[0].message)
    if not failure and most_bytes > MOST_BYTES:
        failure, details = "more than 500 MB", f"{most_bytes / 1e6:.0f} MB"
    allowed = {path, *(each for pattern in point.leaves for each in folder.glob(pattern))}
    left = [each for each in (*folder.rglob("*"), *temporary.rglob("*")) if not each.is_dir() and each not in allowed]
    if not failure and left:
        failure, details = "a file is left", ", ".join(str(each.relative_to(home)) for each in left)
    os.chdir(home)
    shutil.rmtree(folder)
    for each in temporary.iterdir():
        shutil.rmtree(each) if each.is_dir() else each.unlink()
    found = Outcome(failure, details, seconds, most_bytes, is_told)
    return {name: getattr(found, name) for name in Outcome.__slots__}


def _is_told(error: BaseException) -> bool:
    """True if the project shows an error to people, in words."""
    from subflow_app.foundation.expected_errors import is_expected

    return is_expected(error) and bool(str(error).strip())


def _place(error: BaseException) -> str:
    """Place where an exception was raised: the innermost function of the project."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.name != "_on_alarm"]
    ours = [
        frame for frame in frames if "subflow" in Path(frame.filename).parent.as_posix().rpartition("site-packages")[2]
    ]
    frame = (ours or frames)[-1]
    return f"in {_short(frame.filename)} {frame.name}"


def _short(file: str) -> str:
    return "/".join(Path(file).parts[-2:])


def _forget_peak() -> None:
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


def _peak_bytes() -> float:
    with contextlib.suppress(OSError):
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return float(line.split()[1]) * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024.0


def _batch(home: Path) -> list[bytes]:
    content = (home / "batch").read_bytes()
    parts, at = [], 0
    while at < len(content):
        end = at + 8 + int.from_bytes(content[at : at + 8], "little")
        parts.append(content[at + 8 : end])
        at = end
    return parts


def _main() -> None:
    home, most_seconds = Path(sys.argv[1]), float(sys.argv[2])
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # output of a reader must not mix with the answers
    noticed = _Noticed()
    logging.getLogger().addHandler(noticed)
    logging.getLogger().setLevel(logging.WARNING)
    signal.signal(signal.SIGPROF, _on_alarm)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    _is_told(ValueError())  # imports the module that classifies errors
    answers.write(b"ready\n")
    answers.flush()
    known: set[str] = set()
    while sys.stdin.buffer.readline():
        name, *contents = _batch(home)
        point = {**ENTRY_POINTS, ITSELF.name: ITSELF}[name.decode()]
        if point.name not in known:
            # Late imports would count as work of the first input.
            known.add(point.name)
            _try(point, point.examples()[0], home, most_seconds, noticed)
        for content in contents:
            answers.write(json.dumps(_try(point, content, home, most_seconds, noticed)).encode() + b"\n")
            answers.flush()


if __name__ == "__main__":
    _main()
