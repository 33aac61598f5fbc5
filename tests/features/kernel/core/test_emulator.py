"""The parts of the emulator that need no packets; `test_kernel_run.py` tries it with real ones."""

from __future__ import annotations

import array

import pytest

from subflow_app.features.kernel.core.emulator import lateness_percentiles


def test_lateness_is_told_by_its_percentiles() -> None:
    # 1 to 101 microseconds: the median is the 51st, the 99th percentile the 100th of them, and the last is the worst.
    late_ns = array.array("q", [1000 * number for number in range(101, 0, -1)])
    assert lateness_percentiles(late_ns) == {
        "p50_s": pytest.approx(51e-6),
        "p99_s": pytest.approx(100e-6),
        "max_s": pytest.approx(101e-6),
    }


def test_without_deliveries_nothing_was_late() -> None:
    assert lateness_percentiles(array.array("q")) == {"p50_s": 0.0, "p99_s": 0.0, "max_s": 0.0}
