"""Events of a run as rows, and the samples at a time."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest
from tests.helpers.fake_runs import finished_traces
from tests.helpers.fake_simulation import make_scenario

from subflow_app.features.explain.core.instants import RunSamples, sample_at
from subflow_app.features.explain.core.run_events import DEFAULT_KINDS, GROUPS, KINDS, TICKED, RunEvents, is_of
from subflow_app.features.running.core.live_changes import LiveChange
from subflow_app.features.traces.core.events import DECISION
from subflow_app.features.traces.core.traces import SUBFLOW, LiveTraces, TraceMark, select_keys
from subflow_sim.scenario_model import Event, QueueSpec

PLANNED = replace(
    make_scenario(),
    events=(
        Event(2.0, link="wifi", direction="forward", rate_bps=4e6, delay_s=0.02),
        Event(4.0, link="wifi", up=False, loss=0.02),
        Event(5.0, flow="download", subflow=2, open=False),
        Event(6.0, link="lte", queue=QueueSpec(limit_pkts=30)),
        Event(99.0, link="lte", up=True),
    ),
)


def marked(*marks: tuple[float, str, str, float]) -> LiveTraces:
    """A run with only these marks."""
    made = finished_traces(PLANNED, marks=())
    made.add_marks([TraceMark(*mark) for mark in marks])
    return made


def test_every_kind_is_in_one_group() -> None:
    grouped = [kind for _, kinds in GROUPS.values() for kind in kinds]
    assert sorted(grouped) == sorted(KINDS)
    assert set(TICKED) <= set(KINDS)
    assert set(KINDS) > DEFAULT_KINDS


def test_marks_and_plans_are_one_list_in_order_of_time() -> None:
    traces = marked(
        (1.0, "download/1", "loss", 12.0),
        (4.0, "wifi/forward", "link_down", 0.0),
        (7.0, "download", "completed", 7.0),
        (7.5, "download/1", "nothing that is known", 0.0),
    )
    events = RunEvents(traces, PLANNED)
    rows = [events.row(number) for number in range(len(events))]
    assert [(row.time_s, row.kind, row.who, row.value) for row in rows] == [
        (0.0, "start", "download", ""),
        (1.0, "loss", "download · wifi", "ssthresh 12 pkt"),
        (2.0, "scenario", "wifi", "direction of ACKs: rate 4 Mbit/s, delay 20 ms"),
        (4.0, "scenario", "wifi", "down, loss 2 %"),
        (4.0, "link_down", "wifi client→server", ""),
        (5.0, "scenario", "download", "subflow 2: closed"),
        (6.0, "scenario", "lte", "queue 30 pkt"),
        (7.0, "completed", "download", "7 s after its start"),
    ]
    assert rows[1].what == "Loss, fast retransmit"


def test_rows_can_be_narrowed_down_to_kinds_and_owners() -> None:
    events = RunEvents(marked((1.0, "download/1", "loss", 12.0), (3.0, "download/2", "rto", 2.0)), PLANNED)
    assert [events.row(row).kind for row in events.rows_of(("loss", "rto"))] == ["loss", "rto"]
    assert [events.row(row).time_s for row in events.rows_of(KINDS, "download")] == [0.0, 1.0, 3.0, 5.0]
    assert [events.row(row).time_s for row in events.rows_of(KINDS, "download/2")] == [3.0]
    rows = events.rows_of()
    assert [events.row_at(rows, time_s) for time_s in (-1.0, 0.5, 1.0, 99.0)] == [-1, 0, 1, len(rows) - 1]
    assert set(events.ticks_s()) == {"start", "loss", "rto", "scenario"}


def test_a_run_that_goes_on_gets_more_of_them() -> None:
    traces = marked()
    events = RunEvents(traces, PLANNED)
    before = len(events)
    assert not events.take_new()
    traces.add_marks([TraceMark(3.0, "download/1", "loss", 8.0)])
    change = LiveChange(Event(2.5, link="lte", up=False), {"link": "lte", "up": False})
    assert events.take_new([change])
    assert not events.take_new([change])
    assert len(events) == before + 2
    assert np.all(np.diff(events.times_s) >= 0)
    live = events.row(int(events.rows_of(["live"])[0]))
    assert (live.time_s, live.who, live.value) == (2.5, "lte", "down")


def test_stored_decisions_are_listed_with_rule_and_effect() -> None:
    traces = marked()
    events = RunEvents(traces, None, decisions=traces.events(DECISION.name))
    rows = events.rows_of(["decision"])
    assert len(rows) == len(traces.events(DECISION.name)) > 0
    told = {row.what: row for row in (events.row(int(number)) for number in rows)}
    # Decisions of a scheduler leave windows unchanged.
    assert set(told) == {"Decision: growth", "Decision: turns"}
    assert told["Decision: turns"].value == ""
    assert re.fullmatch(r"cwnd .* pkt", told["Decision: growth"].value)


def test_what_belongs_to_an_owner() -> None:
    assert is_of("wifi/forward", "wifi")
    assert is_of("download.3/1", "download")
    assert not is_of("downloads", "download")


def test_a_sample_counts_for_the_interval_that_it_ends() -> None:
    times, values = np.array([0.1, 0.2, 0.3]), np.array([1, 2, 3], np.float32)
    assert [sample_at(times, values, t) for t in (0.0, 0.1, 0.15, 0.2, 0.30001)] == [1, 1, 2, 2, 3]
    assert np.isnan(sample_at(times[:0], values, 1.0))


def test_links_and_windows_at_a_time_are_those_of_the_samples() -> None:
    traces = marked((4.0, "wifi/forward", "link_down", 0.0), (6.0, "wifi/forward", "link_up", 0.0))
    samples = RunSamples(traces)
    assert samples.interval_s == pytest.approx(0.1)
    assert samples.known_s == pytest.approx(10.0)
    for time_s, is_up in ((3.9, True), (4.0, False), (5.9, False), (6.0, True)):
        by_owner = {link.owner: link for link in samples.links_at(time_s)}
        assert set(by_owner) == {"wifi/forward", "wifi/reverse", "lte/forward", "lte/reverse"}
        assert by_owner["wifi/forward"].is_up is is_up
        assert by_owner["lte/forward"].is_up
    first, second = (traces.read(key) for key in select_keys(traces, SUBFLOW, "cwnd_pkts"))
    gauge = samples.gauges_at(3.0)[0]
    assert gauge.owner == "download/1"
    assert gauge.cwnd_pkts == first[1][np.searchsorted(first[0], 3.0 - 1e-9)]
    assert samples.largest_cwnd_pkts == max(first[1].max(), second[1].max())
