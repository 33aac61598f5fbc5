"""The benchmark of the store measures its parts; `dev.py measure` reports the speed, and no test asserts it."""

from __future__ import annotations

import pytest
from tools.measure import store as bench


def test_the_benchmark_compares_store_and_reference(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench, "REPEATS", 1)
    monkeypatch.setattr(bench, "LISTED_RUNS", 3)
    monkeypatch.setattr(bench, "HISTORY_RUNS", 4)
    figures = bench.run_store_benchmark()
    # 2 subflows x 10 signals x 20,000 samples.
    assert figures["workload"] == {"samples": 400_000, "columns": 20, "repeats": 1, "runs": 3, "history_runs": 4}
    for side in ("store", "reference"):
        assert all(value > 0 for value in figures[side].values())
        # Uncompressed these are 1.6 MB; noisy signals compress little, the others to almost nothing.
        assert 0.3 < figures[side]["megabytes_per_run"] < 1.2
    assert set(figures["ratio"]) == set(figures["reference"]) <= set(figures["store"])
    for name, ratio in figures["ratio"].items():
        assert ratio == figures["store"][name] / figures["reference"][name]
