"""Loads scripts as congestion controllers of this machine's kernel.

A small program, the helper, loads a script and holds it. The kernel removes the controller when the helper ends, and
the helper ends when this process closes its input or ends. Python itself needs no privileges.
"""

from __future__ import annotations

import os
import select
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from subflow_app.features.kernel.core.kernel_script import FAILURES, KernelScript
from subflow_app.foundation.errors import KernelError
from subflow_app.vocabulary.number_text import counted
from subflow_sim.gate import is_file
from subflow_sim.shipped import native_folder

PREFIX = "sf_"
"""Beginning of the names of all controllers that this program loads."""

_AVAILABLE = Path("/proc/sys/net/ipv4/tcp_available_congestion_control")
_CAPABILITIES = "cap_bpf,cap_perfmon"
_START_S, _END_S = 60.0, 10.0


def helper_path() -> Path:
    """Path of the helper, which is installed beside the core."""
    return native_folder() / "subflow-kernel-helper"


def grant_command() -> str:
    """The command that lets all users of this machine load controllers."""
    return f"sudo setcap {_CAPABILITIES}+ep {helper_path()}"


def reason_against() -> str | None:
    """Why this user cannot load controllers here, as a sentence; None if nothing prevents it.

    Only the kernel can judge whether it accepts the programs; see `check_kernel`.
    """
    if not sys.platform.startswith("linux"):
        return f"loading a controller takes a Linux kernel; this system is {sys.platform}"
    if not is_file(helper_path()):
        return f"the program that loads controllers is missing: {helper_path()}"
    if os.geteuid() != 0 and "security.capability" not in _attributes(helper_path()):
        return (
            "loading a controller needs a helper with two capabilities, which an administrator gives it once:"
            f" {grant_command()}"
        )
    return None


def _attributes(path: Path) -> list[str]:
    try:
        return os.listxattr(path)
    except OSError:
        return []


def loaded_controllers() -> list[str]:
    """Names of the controllers in this kernel that this program has loaded, in any process."""
    try:
        names = _AVAILABLE.read_text(encoding="ascii").split()
    except OSError:
        return []
    return sorted(name for name in names if name.startswith(PREFIX))


def check_kernel() -> None:
    """Let the kernel check the programs, without registering a controller.

    Raises:
        KernelError: with what the kernel or this user lacks.
    """
    _refuse_without_helper()
    try:
        done = subprocess.run(
            [helper_path(), "check"], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=_START_S,
            check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired as error:
        raise KernelError(f"the kernel took more than {_START_S:.0f} s to check a controller") from error
    if done.returncode != 0:
        raise KernelError(done.stderr.strip() or f"the helper ended with exit code {done.returncode}")


def _refuse_without_helper() -> None:
    reason = reason_against()
    if reason is not None:
        raise KernelError(reason)


@dataclass(frozen=True, slots=True)
class Report:
    """Failures of a loaded controller so far.

    Attributes:
        failures: calls of the script that failed, and changed nothing.
        line: line of the script in the latest failure; 0 if none failed.
        reason: reason of the latest failure; empty if none failed.
        passed_over: reductions in which the kernel did not ask the script; it was asked at the next ACK instead.
    """

    failures: int
    line: int
    reason: str
    passed_over: int

    @property
    def text(self) -> str:
        """The failures in one sentence; empty if no call failed."""
        if not self.failures:
            return ""
        return f"{counted(self.failures, 'call')} failed in the kernel, at last in line {self.line}: {self.reason}"


class LoadedController:
    """A controller in the kernel, which holds it until `close`.

    Raises:
        KernelError: with what the kernel or this user lacks.

    Attributes:
        name: its name for TCP_CONGESTION.
        report: its failures, as of the latest `poll`.
    """

    def __init__(self, script: KernelScript) -> None:
        _refuse_without_helper()
        self.report = Report(0, 0, "", 0)
        self._unread = b""
        # In a new session, Ctrl-C does not reach the helper; this process ends it.
        self._process = subprocess.Popen(
            [helper_path(), "load", script.word],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        try:
            self.name = self._begun(script.blob)
        except BaseException:
            self.close()
            raise

    def _begun(self, blob: bytes) -> str:
        assert self._process.stdin is not None
        assert self._process.stderr is not None
        with suppress(BrokenPipeError):  # the helper's message follows
            self._process.stdin.write(blob)
            self._process.stdin.flush()
        lines = self._lines(_START_S)
        word, _, name = lines[0].partition(" ") if lines else ("", "", "")
        if word == "name":
            return name
        if self._process.poll() is None and not lines:
            raise KernelError(f"the kernel took more than {_START_S:.0f} s to load a controller")
        message = self._process.stderr.read().decode(errors="replace").strip()
        raise KernelError(message or f"the helper ended with exit code {self._process.wait()}")

    def _lines(self, timeout_s: float) -> list[str]:
        """Complete lines of the helper; waits up to `timeout_s` for the first. Empty if none came, or it ended."""
        assert self._process.stdout is not None
        output = self._process.stdout.fileno()
        while select.select([output], (), (), timeout_s)[0]:
            more = os.read(output, 4096)
            self._unread += more
            if not more:
                self._process.wait()
                break
            if b"\n" in self._unread:
                break
        whole, _, self._unread = self._unread.rpartition(b"\n")
        return whole.decode().splitlines()

    def poll(self) -> Report:
        """Read the failures until now.

        Raises:
            KernelError: if the helper has ended, and the controller with it.
        """
        for line in self._lines(0.0):
            _, failures, number, reason, passed_over = line.split()
            self.report = Report(int(failures), int(number), FAILURES[int(reason)], int(passed_over))
        if self._process.poll() is not None:
            raise KernelError(f"the helper that held {self.name} has ended, and the controller with it")
        return self.report

    def close(self) -> None:
        """Remove the controller from the kernel. Connections that use it keep it until they end."""
        assert self._process.stdin is not None
        with suppress(BrokenPipeError):
            self._process.stdin.close()
        try:
            self._process.wait(_END_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        for stream in (self._process.stdout, self._process.stderr):
            if stream is not None:
                stream.close()

    def __enter__(self) -> LoadedController:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


_Key = TypeVar("_Key")


@contextmanager
def loaded(scripts: Mapping[_Key, KernelScript]) -> Iterator[dict[_Key, LoadedController]]:
    """Load several scripts for the duration of the block.

    Args:
        scripts: scripts by any key.

    Yields:
        The loaded controllers by the same keys.

    Raises:
        KernelError: with what the kernel or this user lacks.
    """
    with ExitStack() as stack:
        yield {key: stack.enter_context(LoadedController(script)) for key, script in scripts.items()}
