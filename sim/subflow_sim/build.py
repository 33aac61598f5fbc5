"""Identity of the compiled core, which may differ between builds of the same version."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path

from subflow_sim import _core


def build_text() -> str:
    """Build type of the compiled core: "release", in installed programs "release, profile-guided"."""
    return str(_core.build)


@cache
def core_fingerprint() -> str:
    """Hash of the compiled core, 16 hexadecimal digits.

    Equal fingerprints guarantee equal results, but different fingerprints do not imply different results. During
    development the results of the core may change while the version number stays the same.
    """
    with Path(_core.__file__).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()[:16]
