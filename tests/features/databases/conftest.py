"""A damaged database for the commands and the panel."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.store.examples import record

from subflow_store import open_store


@pytest.fixture
def damaged(tmp_path: Path) -> Path:
    """Three runs; the name of the second is no longer valid text."""
    path = tmp_path / "damaged.db"
    with open_store(path) as store:
        for name in ("First", "Second", "Third"):
            record(store, name=name)
    path.write_bytes(path.read_bytes().replace(b"Second", b"\xffecond", 1))
    return path
