"""Fixtures for tests of replayed runs."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from subflow_store import Store, open_store


@pytest.fixture
def store() -> Iterator[Store]:
    with open_store(":memory:") as opened:
        yield opened
