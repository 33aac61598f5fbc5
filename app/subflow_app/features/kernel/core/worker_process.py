"""Starts a worker, waits for its answer, and ends all its processes."""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Callable, Mapping
from typing import Any

from subflow_app.foundation.errors import KernelError
from subflow_app.foundation.paths import own_command

WORKER_COMMAND = "kernel-worker"
_UPDATE_S = 0.2


def worker_words() -> list[str]:
    """The command line that starts a worker, from an installation or from the packaged program."""
    return own_command(WORKER_COMMAND)


def ask_worker(
    job: Mapping[str, Any], *, timeout_s: float, progress: Callable[[float], None] | None = None
) -> dict[str, Any]:
    """Run a job in a worker.

    Args:
        job: the job, as described in `worker.main`.
        timeout_s: wall time after which the worker is killed.
        progress: called several times a second with the elapsed wall time, s.

    Returns:
        The worker's answer.

    Raises:
        KernelError: if the machine refuses an operation, or the worker fails or takes too long.
    """
    # In a new session, Ctrl-C does not reach the worker; this process handles it and ends the worker.
    with subprocess.Popen(
        worker_words(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        start_new_session=True,
    ) as process:
        try:
            output, errors = _wait(process, json.dumps({**job, "parent": os.getpid()}), timeout_s, progress)
        finally:
            # The kernel also kills both children of the worker, as `die_with_parent` requested.
            process.kill()
            process.wait()
    try:
        answer = json.loads(output)
    except ValueError:
        last = errors.strip().splitlines()[-1:] or [f"exit code {process.returncode}"]
        raise KernelError(f"the kernel worker failed: {last[0]}") from None
    if "error" in answer:
        raise KernelError(f"the kernel worker failed: {answer['error']}")
    return dict(answer)


def _wait(
    process: subprocess.Popen[str], text: str, timeout_s: float, progress: Callable[[float], None] | None
) -> tuple[str, str]:
    """Wait for the end of the process, and return its stdout and stderr; raise KernelError after `timeout_s`."""
    started = time.monotonic()
    unsent: str | None = text
    while True:
        try:
            return process.communicate(unsent, timeout=_UPDATE_S)
        except subprocess.TimeoutExpired:
            unsent = None  # `communicate` continues with the input of its first call
            elapsed_s = time.monotonic() - started
            if elapsed_s > timeout_s:
                raise KernelError(f"the kernel run was stopped: it took more than {timeout_s:.0f} s") from None
            if progress is not None:
                progress(elapsed_s)
