"""Asks a probe, which is run in a process of its own, what it measured in a window on a screen of memory."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

from subflow_app.core.errors import AppError
from subflow_app.core.own_program import PROBE, own_command

PROBES = {
    "start": "subflow_app.bench.start_probe",
    "plain": "subflow_app.bench.plain_probe",
}
"""Modules of the probes, by name; ``main`` of each takes the arguments and returns the exit code."""


def be_probe(words: Sequence[str]) -> int:
    """Be the process of a probe.

    Args:
        words: its name and its arguments.

    Returns:
        The exit code.
    """
    name, *arguments = words
    return int(import_module(PROBES[name]).main(arguments))


def ask_probe(
    name: str,
    what: str,
    patience_s: float,
    *,
    arguments: Sequence[str] = (),
    environment: Mapping[str, str] = os.environ,
) -> Any:
    """Run the probe and return the JSON document in its last line.

    Args:
        name: one of `PROBES`.
        what: how an error begins: "the window does not start".
        patience_s: how long it may take, s; a busy machine takes long, one that hangs takes forever.
        arguments: for the probe.
        environment: its variables, but for the screen.

    Raises:
        AppError: if it fails or says nothing of use.
    """
    try:
        done = subprocess.run(
            [*own_command(PROBE), name, *arguments],
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
