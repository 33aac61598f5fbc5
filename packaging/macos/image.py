"""The disk image for macOS, made by `dmg.sh` with Apple's tools."""

from __future__ import annotations

import platform
import subprocess
from pathlib import Path

SCRIPT = Path(__file__).resolve().parent / "dmg.sh"


def make(app: Path, output: Path, *, version: str) -> Path:
    """Makes ``Subflow-VERSION-macos-MACHINE.dmg``.

    Args:
        app: the frozen program, ``Subflow.app``.
        output: folder for the image.
        version: version of the program.

    Returns:
        The image.

    Raises:
        OSError: if the script fails; the message contains its output.
    """
    output.mkdir(parents=True, exist_ok=True)
    image = output / f"Subflow-{version}-macos-{platform.machine()}.dmg"
    done = subprocess.run(["bash", SCRIPT, app, image, version], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise OSError(f"{SCRIPT.name} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return image
