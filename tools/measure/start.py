"""How long the window takes to start."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
TARGET_S = 1.0
"""From the command to a window that can be used, on two idle processors and with warm caches."""

_STARTS = 7
_PATIENCE_S = 60.0
_MOMENTS = {"start": ("painted", "usable", "listed"), "plain": ("plain",)}  # by the probe that tells them


@dataclass(frozen=True, slots=True)
class StartTimes:
    """One moment of a start, over several starts.

    A machine that does other things too makes the clock run on, hence the best beside the median, and the processor
    time beside both.

    Attributes:
        wall_s: since the process was started, s; median.
        best_wall_s: the shortest of them, s.
        cpu_s: processor time of the process until then, s, user and system, all threads together; median.
        best_cpu_s: the shortest of them, s.
    """

    wall_s: float
    best_wall_s: float
    cpu_s: float
    best_cpu_s: float


def measure_start(starts: int = _STARTS) -> dict[str, StartTimes]:
    """Starts the window in child processes, on a screen of memory and with files of its own.

    The first start warms the caches and makes the database; it does not count.

    Returns:
        ``painted``: the window shows; ``usable``: the plots are loaded and input is answered; ``listed``: the database
        is open, in a thread of its own, and its runs are listed; ``plain``: a window with an empty plot and nothing of
        ours, measured in turn with them, which tells how quick this machine is just now.

    Raises:
        RuntimeError: if the window does not start.
    """
    with tempfile.TemporaryDirectory(prefix="subflow-bench-") as folder:
        told = [_start(Path(folder)) for _ in range(starts + 1)][1:]
    moments = (moment for of_probe in _MOMENTS.values() for moment in of_probe)
    return {
        moment: StartTimes(
            statistics.median(one[moment]["wall_s"] for one in told),
            min(one[moment]["wall_s"] for one in told),
            statistics.median(one[moment]["cpu_s"] for one in told),
            min(one[moment]["cpu_s"] for one in told),
        )
        for moment in moments
    }


def start_modules() -> dict[str, frozenset[str]]:
    """Names of the modules that are loaded at ``painted``, ``usable`` and ``listed``; nothing is timed.

    Raises:
        RuntimeError: if the window does not start.
    """
    with tempfile.TemporaryDirectory(prefix="subflow-start-") as folder:
        told = [_told_by("start", _environment(Path(folder))) for _ in range(2)][-1]  # the first one is welcomed
    return {moment: frozenset(at["modules"]) for moment, at in told.items()}


def _start(folder: Path) -> dict[str, dict[str, Any]]:
    # An installed program has its bytecode beside it. A source tree might not, or be told not to write it; compiling
    # every module anew would then be a third of what is measured.
    environment = _environment(folder) | {"PYTHONPYCACHEPREFIX": str(folder / "bytecode")}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    told: dict[str, dict[str, Any]] = {}
    for probe in _MOMENTS:
        told |= _told_by(probe, environment)
    return told


def _environment(folder: Path) -> dict[str, str]:
    """That of a program on a screen of memory whose files lie in a folder."""
    own = {name: str(folder) for name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME")}
    return os.environ | own | {"QT_QPA_PLATFORM": "offscreen"}


def _told_by(probe: str, environment: dict[str, str]) -> dict[str, dict[str, Any]]:
    words = [sys.executable, "-m", f"tools.measure.{probe}_probe", repr(time.time())]
    done = subprocess.run(
        words, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=_PATIENCE_S, check=False
    )
    if done.returncode:
        raise RuntimeError(f"the window does not start: {done.stderr}")
    told: dict[str, dict[str, Any]] = json.loads(done.stdout.splitlines()[-1])
    return told


def document() -> dict[str, Any]:
    """What ``dev.py measure start`` tells."""
    figures = ("wall_s", "best_wall_s", "cpu_s", "best_cpu_s")
    times = {moment: {name: getattr(at, name) for name in figures} for moment, at in measure_start().items()}
    return {**times, "target_s": TARGET_S}
