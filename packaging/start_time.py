"""Measures how long the frozen program takes from its start to its window on a screen.

    python packaging/start_time.py [PROGRAM] [--starts 7] [--out FILE]

Reports three kinds of start: a user's first start, without any files; warm starts, whose files are in the file cache of
the system; and cold starts, with this cache emptied before each, which requires root. A start ends when pixels of the
window appear on the screen, an X server in memory. Because other load on the machine lengthens a start, the report
contains the best time beside the median, and the processor time beside both.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from virtual_screen import ScreenError, VirtualScreen

ROOT = Path(__file__).resolve().parents[1]
OUTPUT = ROOT / "build" / "package"
TARGET_COLD_S, TARGET_WARM_S = 2.0, 1.0
"""From the command to the window, with two idle processors."""

_PATIENCE_S = 120.0
_LOOK_EVERY_S = 0.002
_DROP_CACHES = Path("/proc/sys/vm/drop_caches")


def start_once(words: list[str], screen: VirtualScreen, environment: dict[str, str]) -> dict[str, float]:
    """Starts the program, waits for its window, and closes it like the end of a desktop session.

    Returns:
        ``wall_s``: seconds until the first pixels; ``cpu_s``: processor time of the program until then.

    Raises:
        ScreenError: if the program ends early, shows nothing, or fails on closing.
    """
    if screen.pixels(step=16).any():
        raise ScreenError("the screen is not empty before the start")
    with tempfile.TemporaryFile() as told:
        began = time.perf_counter()
        with subprocess.Popen(words, env=environment, stdout=told, stderr=told) as program:
            while not screen.pixels(step=16).any():
                if program.poll() is not None or time.perf_counter() - began > _PATIENCE_S:
                    program.kill()
                    told.seek(0)
                    text = told.read().decode(errors="replace").strip()
                    raise ScreenError(f"{words[0]} showed no window (exit code {program.wait()}): {text}")
                time.sleep(_LOOK_EVERY_S)
            wall_s = time.perf_counter() - began
            cpu_s = _processor_time_s(program.pid)
            # Let the loading after the first paint finish: closing in the middle of it is not measured here.
            _wait_until_idle(program.pid)
            program.send_signal(signal.SIGTERM)
            if code := program.wait(_PATIENCE_S):
                told.seek(0)
                raise ScreenError(f"{words[0]} ended with {code}: {told.read().decode(errors='replace').strip()}")
    return {"wall_s": wall_s, "cpu_s": cpu_s}


def _processor_time_s(process: int) -> float:
    # Fields 14 and 15 of proc(5), counted after the name, which may contain spaces.
    fields = Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _wait_until_idle(process: int) -> None:
    """Waits until the process has used no processor time for a quarter of a second, or until the patience ends."""
    end = time.monotonic() + _PATIENCE_S
    before = -1.0
    while (now := _processor_time_s(process)) - before > 0.02 and time.monotonic() < end:
        before = now
        time.sleep(0.25)


def empty_file_cache() -> None:
    """Empties the file cache of the system.

    Raises:
        PermissionError: if the user is not root.
    """
    os.sync()
    _DROP_CACHES.write_text("3", encoding="ascii")


def can_empty_file_cache() -> bool:
    """True if cold starts can be measured on this system."""
    return os.access(_DROP_CACHES, os.W_OK)


def measure(words: list[str], starts: int) -> dict[str, Any]:
    """Starts the program repeatedly with a temporary home, and returns the duration of each kind of start.

    Raises:
        ScreenError: if no screen is available, or the program does not start.
    """
    with VirtualScreen() as screen, tempfile.TemporaryDirectory(prefix="subflow-start-") as home:
        environment = os.environ | {"DISPLAY": screen.display, "HOME": home, "QT_QPA_PLATFORM": "xcb"}
        for name in ("DATA", "CONFIG", "STATE", "CACHE"):
            environment[f"XDG_{name}_HOME"] = str(Path(home, name.lower()))
        environment.pop("WAYLAND_DISPLAY", None)

        def several(before: Callable[[], None]) -> list[dict[str, float]]:
            told = []
            for _ in range(starts):
                before()
                told.append(start_once(words, screen, environment))
            return told

        first = start_once(words, screen, environment)
        warm = several(lambda: None)
        cold = several(empty_file_cache) if can_empty_file_cache() else []
    return {
        "program": words[0],
        "processors": os.cpu_count(),
        "load": os.getloadavg()[0],
        "first": first,
        "warm": _summary(warm) | {"target_s": TARGET_WARM_S},
        "cold": _summary(cold) | {"target_s": TARGET_COLD_S} if cold else None,
        "largest_memory_mib": resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024,
    }


def _summary(told: list[dict[str, float]]) -> dict[str, float]:
    wall, cpu = [one["wall_s"] for one in told], [one["cpu_s"] for one in told]
    return {
        "starts": len(told),
        "wall_s": statistics.median(wall),
        "best_wall_s": min(wall),
        "cpu_s": statistics.median(cpu),
    }


def lines(document: dict[str, Any]) -> list[str]:
    """The figures as lines of text."""
    told = [f"first  {document['first']['wall_s']:5.2f} s (processor {document['first']['cpu_s']:.2f} s)"]
    for kind in ("warm", "cold"):
        one = document[kind]
        told.append(
            f"{kind:<6} {one['wall_s']:5.2f} s, best {one['best_wall_s']:.2f} s (processor {one['cpu_s']:.2f} s), "
            f"target {one['target_s']:g} s, {one['starts']} starts"
            if one
            else f"{kind:<6} not measured: only root may empty the file cache"
        )
    return [*told, f"memory {document['largest_memory_mib']:.0f} MiB, load {document['load']:.1f}"]


def main() -> int:
    """Measures, prints, and writes the figures; returns the exit code."""
    parser = argparse.ArgumentParser("start_time.py", description=__doc__.splitlines()[0])
    parser.add_argument("program", nargs="?", default=str(OUTPUT / "dist" / "subflow" / "subflow"))
    parser.add_argument("--starts", type=int, default=7, help="starts of each kind (default: 7)")
    parser.add_argument("--out", type=Path, default=OUTPUT / "start.json", help="JSON file for the figures")
    options = parser.parse_args()
    if options.starts < 1:
        parser.error(f"--starts {options.starts}: at least 1")
    try:
        document = measure([options.program], options.starts)
    except (ScreenError, OSError) as error:
        print(f"start_time.py: {error}", file=sys.stderr)
        return 1
    print(*lines(document), sep="\n")
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
