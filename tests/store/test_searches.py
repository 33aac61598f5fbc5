"""Searches in the store: read back unchanged, resumed, and reported if damaged."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from tests.store.examples import OUTCOME

from subflow_store import Store, StoreCorrupt, open_store
from subflow_store.searches import Generation

DOCUMENT = {"claim": "text", "keys": ["links.a.rate"], "seed": 1}
GENERATION = Generation(0, b"\0" * 16, b"\1" * 8, b"\2" * 6)


def test_a_search_is_read_as_it_was_written(store: Store) -> None:
    begun = store.searches.begin("key", "improve", "two-links", "olia", "1+2", DOCUMENT)
    store.searches.add(begun.id, [GENERATION, GENERATION._replace(number=1)], 2.5)
    store.searches.put_found(begun.id, [{"says": "worst"}, {"says": "bad"}])
    found = store.searches.of_key("key")
    assert found == begun._replace(elapsed_s=2.5)
    assert found is not None
    assert (found.claim, found.space, found.entrant, found.document) == ("improve", "two-links", "olia", DOCUMENT)
    assert store.searches.generations(begun.id) == [GENERATION, GENERATION._replace(number=1)]
    assert store.searches.found(begun.id) == [{"says": "worst"}, {"says": "bad"}]
    assert store.searches.all() == [found]


def test_a_search_of_the_same_key_is_gone_on_with_until_it_is_forgotten(store: Store) -> None:
    first = store.searches.begin("key", "improve", "two-links", "olia", "1+2", DOCUMENT)
    store.searches.add(first.id, [GENERATION], 1.0)
    again = store.searches.begin("key", "another", "space", "lia", "1+2", {"vary": []})
    assert again == first._replace(elapsed_s=1.0, document={"vary": []})
    renewed = GENERATION._replace(margins=b"\3" * 8)
    store.searches.add(first.id, [renewed], 2.0)
    assert store.searches.generations(first.id) == [renewed]
    store.searches.put_found(first.id, [{"says": "old"}])
    store.searches.put_found(first.id, [{"says": "new"}])
    assert store.searches.found(first.id) == [{"says": "new"}]

    store.searches.remove(first.id)
    assert store.searches.all() == []
    assert store.searches.of_key("key") is None
    assert store.searches.generations(first.id) == []
    assert store.searches.found(first.id) == []


@pytest.mark.parametrize(
    ("change", "read"),
    [
        ("search SET document = 'no JSON'", lambda store: store.searches.all()),
        ("search_find SET document = '[1]'", lambda store: store.searches.found(1)),
        ("arena_outcome SET words = '[1]'", lambda store: store.arena.outcomes()),
        ("arena_outcome SET numbers = x'00'", lambda store: store.arena.outcomes()),
    ],
)
def test_damaged_documents_are_told(path: Path, change: str, read: Callable[[Store], object]) -> None:
    with open_store(path) as store:
        begun = store.searches.begin("key", "improve", "two-links", "olia", "1+2", DOCUMENT)
        store.searches.put_found(begun.id, [{"says": "worst"}])
        store.arena.add([OUTCOME])
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(f"UPDATE {change}")
    with open_store(path) as store, pytest.raises(StoreCorrupt, match=change.split()[0]):
        read(store)
