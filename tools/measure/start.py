"""Duration of the window's start."""

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
"""From the command to a usable window, with two idle processors and warm caches."""

_STARTS = 7
_PATIENCE_S = 60.0
_MOMENTS = {"start": ("painted", "usable", "listed"), "plain": ("plain",)}  # by the probe that reports them


@dataclass(frozen=True, slots=True)
class StartTimes:
    """Times of one moment of a start, over several starts.

    Because other load on the machine lengthens a start, the best time accompanies the median, and the processor time
    accompanies both.

    Attributes:
        wall_s: median time since the start of the process, s.
        best_wall_s: shortest time since the start of the process, s.
        cpu_s: median processor time of the process until then, user and system, all threads, s.
        best_cpu_s: shortest processor time, s.
    """

    wall_s: float
    best_wall_s: float
    cpu_s: float
    best_cpu_s: float


def measure_start(starts: int = _STARTS) -> dict[str, StartTimes]:
    """Starts the window in child processes, off screen and with temporary files.

    The first start fills the caches and creates the database; it does not count.

    Returns:
        ``painted``: the window is visible; ``usable``: plots are loaded and the window answers input; ``listed``: the
            database is open in its thread, and its runs are listed; ``plain``: a window with an empty plot and without
            code of Subflow, measured alternately as a measure of the machine's current speed.

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
    """Names of the modules loaded at ``painted``, ``usable`` and ``listed``, without timing.

    Raises:
        RuntimeError: if the window does not start.
    """
    with tempfile.TemporaryDirectory(prefix="subflow-start-") as folder:
        # the first start shows the welcome
        told = [_told_by("start", _environment(Path(folder))) for _ in range(2)][-1]
    return {moment: frozenset(at["modules"]) for moment, at in told.items()}


def _start(folder: Path) -> dict[str, dict[str, Any]]:
    # An installed program has its bytecode beside it. A source tree may lack bytecode or forbid writing it; compiling
    # every module would then take a third of the measured time.
    environment = _environment(folder) | {"PYTHONPYCACHEPREFIX": str(folder / "bytecode")}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    told: dict[str, dict[str, Any]] = {}
    for probe in _MOMENTS:
        told |= _told_by(probe, environment)
    return told


def _environment(folder: Path) -> dict[str, str]:
    """Environment of a program that draws off screen and keeps its files in a folder."""
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
    """Document of ``dev.py measure start``."""
    figures = ("wall_s", "best_wall_s", "cpu_s", "best_cpu_s")
    times = {moment: {name: getattr(at, name) for name in figures} for moment, at in measure_start().items()}
    return {**times, "target_s": TARGET_S}
