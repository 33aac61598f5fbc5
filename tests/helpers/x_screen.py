"""Runs a helper as a process with its own X screen in memory, settings, data and database."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from subflow_app.shell.selftest.runner import own_surroundings

ROOT = Path(__file__).resolve().parents[2]


def on_own_screen(
    module: str, words: Sequence[str], size: str, *, timeout_s: float = 600.0
) -> subprocess.CompletedProcess[str]:
    """Runs a module of this folder; it receives its arguments, and `--in FOLDER` with an empty folder.

    Args:
        module: full name of the module.
        words: options of the module.
        size: of the screen in pixels: "1366x768".
        timeout_s: time limit in seconds.
    """
    sys.path.insert(0, str(ROOT / "packaging"))  # not a Python package: PyPI has a package of that name
    from virtual_screen import VirtualScreen

    width, height = (int(part) for part in size.split("x"))
    with tempfile.TemporaryDirectory(prefix="subflow-screen-") as folder, VirtualScreen(width, height) as screen:
        environment = own_surroundings(os.environ, Path(folder, "user"))
        environment |= {"DISPLAY": screen.display, "QT_QPA_PLATFORM": "xcb"}
        return subprocess.run(
            [sys.executable, "-X", "faulthandler", "-m", module, *words, "--in", folder],
            cwd=ROOT,
            env=environment,
            capture_output=True,
            text=True,
            timeout=timeout_s,
            check=False,
        )
