"""The harness itself: each way to break the promise is seen, costs its input alone, and is kept as a small file."""

from __future__ import annotations

import random
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from tests.fuzz import run
from tests.fuzz.entry_points import ITSELF
from tests.fuzz.trial import Child
from tests.helpers.members import for_each


def test_each_failure_is_seen_and_costs_its_input_alone() -> None:
    wanted = {
        "fine": "",
        "told": "",
        "raise": "LookupError in fuzz/entry_points.py _misbehave",
        "log": "logged LookupError in fuzz/entry_points.py _misbehave",
        "warn": "RuntimeWarning at fuzz/",
        "leave": "a file is left",
        "memory": "more than 500 MB",
        "too much memory": "MemoryError in fuzz/entry_points.py _misbehave",
        "die": "died of SIGABRT",
        "slow": "more than 1.5 s in fuzz/entry_points.py _misbehave",
    }
    with Child(most_seconds=1.5) as child:
        outcomes = list(child.try_inputs(ITSELF, [text.encode() for text in (*wanted, "told")]))
    found = dict(zip(wanted, outcomes, strict=False))
    for text, failure in wanted.items():
        assert found[text].failure.startswith(failure), text
        assert bool(found[text].failure) == bool(failure), text
    assert found["told"].is_told
    assert not found["fine"].is_told
    assert found["memory"].most_bytes > 600e6
    assert outcomes[-1].is_told  # also after all that


def test_what_waits_for_ever_is_ended() -> None:
    with Child(hang_s=4.0) as child:
        outcomes = list(child.try_inputs(ITSELF, [b"fine", b"hang", b"told"]))
    assert [outcome.failure for outcome in outcomes] == ["", "hang", ""]
    assert outcomes[-1].is_told


def test_a_failing_input_is_made_small_and_kept_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def mutate(rng: random.Random, _data: bytes, _others: Sequence[bytes]) -> bytes:
        return b" " * rng.randrange(1000) + rng.choice((b"raise", b"told", b"fine")) + b"\n" * 300

    monkeypatch.setattr(run, "corpus", lambda name: tmp_path / name)
    tally = run.fuzz(replace(ITSELF, mutate=mutate), 60.0, 100, seed=1)
    assert tally.inputs == 100
    assert 10 < tally.told < 60
    assert list(tally.failures) == ["LookupError in fuzz/entry_points.py _misbehave"]
    assert [path.read_bytes() for path in (tmp_path / "itself").iterdir()] == [b"raise"]
    assert "itself" in run.table([tally])


def test_a_mutation_that_fails_or_never_ends_is_skipped(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def mutate(rng: random.Random, _data: bytes, _others: Sequence[bytes]) -> bytes:
        kind = rng.randrange(4)
        if kind == 0:
            raise RecursionError
        while kind == 1:
            pass
        return (b"told", b"fine")[kind - 2]

    monkeypatch.setattr(run, "corpus", lambda name: tmp_path / name)
    monkeypatch.setattr(run, "_MOST_MUTATING_S", 0.05)
    tally = run.fuzz(replace(ITSELF, mutate=mutate), 60.0, 20, seed=1)
    assert (tally.inputs, tally.missed, tally.failures) == (20, "", {})
    assert tally.skipped > 5
    assert tally.read + tally.told == 20


@for_each(
    ("read", "told", "missed"),
    [
        (0, 0, "no input was tried"),
        (0, 300, "the reader took none"),
        (300, 0, "the reader refused none"),
        (299, 1, ""),
        (20, 0, ""),  # too few to tell
    ],
)
def test_a_reader_that_was_not_reached_is_told(read: int, told: int, missed: str) -> None:
    assert run.Tally("any", inputs=read + told, read=read, told=told).missed == missed


def test_where_no_mutation_works_nothing_is_tried_for_ever() -> None:
    def mutate(_rng: random.Random, _data: bytes, _others: Sequence[bytes]) -> bytes:
        raise ValueError

    tally = run.Tally("any")
    point = replace(ITSELF, mutate=mutate)
    assert list(run.inputs(point, [b"fine"], [], 1, tally)) == [b"fine"]
    assert tally.skipped == 100


def test_the_fuzzer_of_the_core_does_not_take_our_peak_of_memory_for_its_own(tmp_path: Path) -> None:
    peak = (
        "import resource, pathlib; "
        "pathlib.Path('peak').write_text(str(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss))"
    )
    held = b"x" * (1 << 29)
    assert run.call_apart([sys.executable, "-c", peak], cwd=tmp_path) == 0
    assert len(held) == 1 << 29
    assert int((tmp_path / "peak").read_text()) < 1 << 18  # kB
