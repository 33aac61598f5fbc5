"""Events, time, memory and disk space of a run, estimated before its start."""

from __future__ import annotations

import pytest
from tests.helpers.networks import link, scenario, tcp

from subflow_app.features.running.core import run_estimate
from subflow_app.features.running.core.run_estimate import estimate_run


def test_the_estimate_says_what_is_expected_and_the_most_that_it_could_be() -> None:
    one_packet = scenario([link("path", rate_bps=1e9, queue_pkts=1)], [tcp("download", "path")], duration_s=30)
    told = estimate_run(one_packet)
    assert told.is_tried
    assert told.most.link_crossings > 100 * told.forecast.link_crossings
    assert told.cpu_s > told.start_s + told.forecast.cpu_s
    assert told.wall_s >= told.cpu_s
    events, time, memory = told.lines()
    assert events.endswith(" 5 000 000, most of them of flow 'download'.")
    assert time.startswith("About ")
    assert "in the database" in memory
    unkept = estimate_run(one_packet, is_kept=False)
    assert (unkept.disk_bytes, "database" in unkept.lines()[2]) == (0, False)
    assert unkept.memory_bytes < told.memory_bytes


def test_many_links_take_memory_where_they_are_stored() -> None:
    # Measured: 132 MB for 500 links of 20 s, 333 MB for 2000.
    names = [f"l{number}" for number in range(500)]
    many = scenario([link(name) for name in names], [tcp("download", names[0])], duration_s=20)
    told = estimate_run(many)
    assert 132e6 / 2 < told.memory_bytes < 132e6 * 2


def test_what_is_refused_is_told_without_a_trial(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SUBFLOW_MAX_MEMORY", "1kB")
    monkeypatch.setattr(run_estimate, "_USUAL_RATE", 1e6)
    told = estimate_run(scenario([link("path")], [tcp("download", "path")], duration_s=100))
    assert not told.is_tried
    assert told.forecast.link_crossings == told.most.link_crossings
    assert told.forecast.cpu_s == pytest.approx(told.most.link_crossings / 1e6)
