"""Explaining decisions of stored runs: the explanation, or the reason why it is impossible."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from tests.helpers.fake_runs import RICH
from tests.helpers.fake_simulation import FakeSimulation
from tests.helpers.members import for_each
from tests.helpers.present import present

from subflow_app.features.explain.core.explained import (
    decisions_line,
    explained,
    explanation_document,
    explanation_lines,
    extents_document,
)
from subflow_app.features.running.core.runs import RunJob
from subflow_app.foundation.errors import InputError
from subflow_sim.decisions import DecisionLimits, Explanation, Number, meanings
from subflow_store import Store


def stored(store: Store, decisions: DecisionLimits | None) -> int:
    """A run of 10 s; each subflow decides at every full second, the flow half a second earlier."""
    job = RunJob(RICH, "", simulation_maker=lambda s, seed, dt: FakeSimulation(s), store=store, decisions=decisions)
    return present(job.run().run_id)


def told_at(store: Store, owner: str) -> Explanation:
    return explained(store, stored(store, DecisionLimits()), owner, 3.2)[0].current


@for_each(
    ("at_s", "before", "after", "times"),
    [
        (4.0, 1, 0, ([4.0], [])),
        (4.9, 2, 1, ([3.0, 4.0], [5.0])),
        (1.0, 5, 2, ([1.0], [2.0, 3.0])),
        (10.0, 1, 3, ([10.0], [])),
    ],
)
def test_times_of_decisions(
    store: Store, at_s: float, before: int, after: int, times: tuple[list[float], list[float]]
) -> None:
    run_id = stored(store, DecisionLimits())
    found, _notice = explained(store, run_id, "download/2", at_s, before=before, after=after)

    assert ([told.time_s for told in found.before], [told.time_s for told in found.after]) == times
    assert {told.owner for told in (*found.before, *found.after)} == {"download/2"}


def test_a_decision_is_told_with_rule_source_and_numbers(store: Store) -> None:
    told = told_at(store, "download/1")

    assert explanation_lines(told) == [
        "download/1 at 3.000000000 s, an acknowledgement: cwnd 3 -> 4 pkt",
        "  rule     growth: cwnd + acked / cwnd",
        "  source   RFC 5681 section 3.1",
        f"  numbers  acked = 3 pkt  {meanings()['acked']}",
    ]
    document = explanation_document(told)
    assert document.pop("text").startswith("download/1 at 3.000000 s")
    made = {"time_s": 3.0, "owner": "download/1", "scope": "subflow", "cause": "ack", "numbers": {"acked_pkts": 3.0}}
    rule = {"rule": "growth", "formula": "cwnd + acked / cwnd", "source": "RFC 5681 section 3.1"}
    change = {"cwnd_before_pkts": 3.0, "cwnd_after_pkts": 4.0, "rate_before_bps": None, "rate_after_bps": None}
    nothing: dict[str, Any] = {"detection": None, "computed": [], "script": None, "lines": [], "steps": []}
    assert document == made | rule | change | nothing


def test_numbers_and_their_meanings_are_aligned(store: Store) -> None:
    told = told_at(store, "download/1")
    numbers = (Number("cwnd_total", "pkt", 17.5), Number("is_capped", "", 1.0), Number("of_an_older_version", "", 2.0))

    assert explanation_lines(replace(told, numbers=numbers))[3:] == [
        f"  numbers  cwnd_total = 17.5 pkt    {meanings()['cwnd_total']}",
        "           capped: yes              yes where the limit of one TCP, 1 / cwnd, decided",
        "           of_an_older_version = 2",
    ]


def test_a_scheduler_tells_whom_it_chose_and_whom_not(store: Store) -> None:
    told = told_at(store, "download")
    first, _, third, *_ = explanation_lines(told)
    assert first == "download at 2.500000000 s, the scheduler chose a subflow: packet 3 on subflow 2; available: 1, 2"
    assert "source" not in third
    document = explanation_document(told)
    expected = {"chosen": 2, "available": [1, 2], "usable": [1, 2], "data_seq": 3}
    assert {name: document[name] for name in expected} == expected
    assert "cwnd_before_pkts" not in document


def test_a_window_keeps_the_end_of_the_run(store: Store) -> None:
    run_id = stored(store, DecisionLimits(window_s=2.5))

    assert set(store.decisions(run_id, "download/1")["time_ns"].tolist()) == {8 * 10**9, 9 * 10**9, 10 * 10**9}
    with pytest.raises(InputError, match=r"has of download/1 begin at 8\.000000 s"):
        explained(store, run_id, "download/1", 5.0)


def test_the_decisions_of_a_run_in_a_line_and_for_programs(store: Store) -> None:
    extents = store.event_extents(stored(store, DecisionLimits()), "decision")

    assert decisions_line(extents) == ("30 decisions of download/1, download/2, download, from 0.500 s to 10.000 s")
    assert extents_document(extents)["download"] == {"count": 10, "first_s": 0.5, "last_s": 9.5}
