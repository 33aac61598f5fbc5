"""Which simulator this is: what a result has to be told apart by, beyond the version of the program."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path

from subflow_sim import _core


def build_text() -> str:
    """How the compiled core was made: "release", in installed programs "release, profile-guided"."""
    return str(_core.build)


@cache
def core_fingerprint() -> str:
    """Hash of the compiled core, 16 hexadecimal digits.

    The same file computes the same results; whether another one does, nobody knows without running it. While the core
    is being worked on, the version number stays and the results do not.
    """
    with Path(_core.__file__).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()[:16]
