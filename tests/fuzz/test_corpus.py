"""Every input that ever broke the promise of a reader, and the valid ones, tried again; see `tests.fuzz.trial`."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest
from tests.fuzz.entry_points import ENTRY_POINTS, EntryPoint, corpus
from tests.fuzz.trial import Child
from tests.helpers.members import for_each

POINTS = list(ENTRY_POINTS.values())


@pytest.fixture(scope="module")
def child() -> Iterator[Child]:
    with Child() as child:
        yield child


@for_each("point", POINTS, ids=lambda point: point.name)
def test_what_failed_once_never_fails_again(point: EntryPoint, child: Child) -> None:
    paths = sorted(corpus(point.name).glob("*"))
    outcomes = child.try_inputs(point, [path.read_bytes() for path in paths])
    failures = {path.name: outcome for path, outcome in zip(paths, outcomes, strict=True) if outcome.failure}
    assert not failures, "\n".join(f"{name}: {each.failure}\n{each.details}" for name, each in failures.items())


@for_each("point", POINTS, ids=lambda point: point.name)
def test_the_first_example_is_valid_and_others_come_of_it(point: EntryPoint, child: Child) -> None:
    """Otherwise the reader would refuse all inputs at once, and the code behind it would stay untested."""
    examples = list(point.examples())
    outcome = child.try_input(point, examples[0])
    assert not outcome.failure, f"{outcome.failure}\n{outcome.details}"
    assert not outcome.is_told
    made = {point.mutate(random.Random(seed), examples[0], examples) for seed in range(30)}
    assert len(made) > 20
    again = [point.mutate(random.Random(seed), examples[0], examples) for seed in range(3)]
    assert again == [point.mutate(random.Random(seed), examples[0], examples) for seed in range(3)]


def test_each_folder_of_the_corpus_has_its_entry_point() -> None:
    folders = {path.name for path in corpus("any").parent.iterdir()}
    assert folders <= ENTRY_POINTS.keys()
