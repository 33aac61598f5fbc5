"""Scripts of packaging/ as modules, and what `dev.py package` has made.

That folder is no package of Python: PyPI has one of its name.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
OUTPUT = ROOT / "build" / "package"

sys.path.insert(0, str(ROOT / "packaging"))


@pytest.fixture(scope="session")
def bundle(pytestconfig: pytest.Config) -> Path:
    """The folder of the frozen program; skips where it was not asked for, or not made."""
    if not pytestconfig.getoption("--packaged"):
        pytest.skip("needs the frozen program: python3 dev.py test-package")
    folder = OUTPUT / "dist" / "subflow"
    if not folder.is_dir():
        pytest.skip(f"{folder} is not there: python3 dev.py package")
    return folder
