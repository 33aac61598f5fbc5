"""Asks a probe, a module that is run in a process of its own, what it measured in a window on a screen of memory."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from subflow_app.core.errors import AppError


def ask_probe(
    module: str,
    what: str,
    patience_s: float,
    *,
    arguments: Sequence[str] = (),
    environment: Mapping[str, str] = os.environ,
) -> Any:
    """Run the probe and return the JSON document in its last line.

    Args:
        module: its name.
        what: how an error begins: "the canvas cannot be measured".
        patience_s: how long it may take, s; a busy machine takes long, one that hangs takes forever.
        arguments: for the probe.
        environment: its variables, but for the screen.

    Raises:
        AppError: if it fails or says nothing of use.
    """
    try:
        done = subprocess.run(
            [sys.executable, "-m", module, *arguments],
            env={**environment, "QT_QPA_PLATFORM": "offscreen"},
            capture_output=True,
            text=True,
            timeout=patience_s,
            check=True,
        )
        return json.loads(done.stdout.splitlines()[-1])
    except (OSError, subprocess.SubprocessError, ValueError, IndexError) as error:
        said = getattr(error, "stderr", None) or str(error)
        raise AppError(f"{what}: {said.strip()}") from error
