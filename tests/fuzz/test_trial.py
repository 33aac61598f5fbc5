"""The harness itself: it detects each broken promise, loses only that input, and stores it as a small file."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from tests.fuzz import run
from tests.fuzz.entry_points import ITSELF
from tests.fuzz.trial import Child


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
    assert outcomes[-1].is_told  # also after all previous failures


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
