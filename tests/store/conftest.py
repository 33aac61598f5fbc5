"""Fixtures that run one suite over both kinds of store."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from subflow_store import Store, open_store


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Path for a database."""
    return tmp_path / "runs.db"


@pytest.fixture(params=["file", "memory"])
def store(request: pytest.FixtureRequest, path: Path) -> Iterator[Store]:
    """An open, empty store: once in a file, once in memory."""
    with open_store(path if request.param == "file" else ":memory:") as opened:
        yield opened


@pytest.fixture
def file_store(path: Path) -> Iterator[Store]:
    """An open, empty store in the file `path`."""
    with open_store(path) as opened:
        yield opened
