"""The scenario of sweeps as a file."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.features.sweeps.core.plans import SCENARIO


@pytest.fixture
def short(tmp_path: Path) -> Path:
    path = tmp_path / "short.toml"
    path.write_text(SCENARIO, encoding="utf-8")
    return path
