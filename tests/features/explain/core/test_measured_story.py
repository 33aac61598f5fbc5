"""A point of a measured run: values before and after, losses, and what the measurement cannot show."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.helpers.command_line import Subflow

from subflow_app.features.explain.core.measured_story import measured_lines, measured_story
from subflow_app.features.measured.core.measured_run import keep_run, make_run, read_trace
from subflow_app.features.measured.core.measured_table import ReadingOptions
from subflow_app.features.traces.core.traces import StoredTraces
from subflow_app.foundation.errors import InputError
from subflow_store import open_store

TABLE = "time_s,cwnd_pkts,rtt_ms,min_rtt_ms,losses_pkts\n1,100,60,20,0\n2,120,80,20,0\n3,60,50,20,4\n4,62,45,20,0\n"


@pytest.fixture
def traces(tmp_path: Path) -> Iterator[StoredTraces]:
    path = tmp_path / "a.csv"
    path.write_text(TABLE)
    with open_store(tmp_path / "runs.db") as store:
        number = keep_run(make_run(read_trace(path, ReadingOptions()), name="a", path=path), store)
        yield StoredTraces(store, number)


def test_values_before_and_after_a_time(traces: StoredTraces) -> None:
    story = measured_story(traces, "measured/1", 2.7)
    assert (story["from_s"], story["to_s"], story["lost"]) == (2.0, 3.0, 4.0)
    assert story["changes"]["cwnd_pkts"] == [120.0, 60.0]
    assert story["changes"]["srtt_s"] == [pytest.approx(0.08), pytest.approx(0.05)]
    lines = measured_lines(story)
    assert lines[0] == "Measured, not simulated: from 2 s to 3 s."
    assert "cwnd: 120 → 60 packets" in lines
    assert "Retransmitted packets: 4" in lines
    assert "The RTT exceeds the lowest one by 30 ms, which queues and delayed ACKs cause." in lines
    assert lines[-1] == "The measurement has no queue lengths: the cause in the network stays unknown."


def test_times_outside_and_unknown_subflows(traces: StoredTraces) -> None:
    assert measured_story(traces, "measured/1", 0.0)["to_s"] == 2.0
    assert measured_story(traces, "measured/1", 99.0)["to_s"] == 4.0
    with pytest.raises(InputError, match='"download/1" is not a subflow of this run'):
        measured_story(traces, "download/1", 1.0)


def test_the_command_explains_a_measurement(subflow: Subflow, database: Path) -> None:
    assert subflow("import", "ss-mptcp.log", "--db", database).code == 0
    told = subflow("explain", 1, "measured/1", "--at", "0.5s", "--db", database)
    assert "Measured, not simulated" in told.out
    document = subflow("explain", 1, "measured/1", "--at", "0.5s", "--db", database, "--json").document
    assert document["measured"]["changes"]["cwnd_pkts"][1] == 12.0
    assert document["measured"]["queue_known"] is False
