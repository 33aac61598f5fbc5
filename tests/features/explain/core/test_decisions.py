"""Algorithms that decide, steps from decision to decision, and the sources shown with decisions."""

from __future__ import annotations

from dataclasses import replace
from typing import cast

import pytest
from tests.helpers.members import for_each
from tests.helpers.present import present
from tests.helpers.window import TWO_PATHS

from subflow_app.features.explain.core.decisions import deciding_algorithm, rule_sources
from subflow_app.features.explain.core.explained import DecisionSteps
from subflow_app.features.explain.core.replay import Replay
from subflow_app.features.running.core.runs import RunJob
from subflow_sim.decisions import DecisionLimits, Explanation, rules
from subflow_sim.scenario import parse_scenario
from subflow_store import Store

TAKEN_OVER = '\n[[events]]\nat = "1s"\nflow = "download"\ncontroller = "olia"\n'
_TOLD = Explanation(
    time_s=0.5,
    owner="download/1",
    scope="subflow",
    cause="ack",
    rule=None,  # type: ignore[arg-type] # the rule does not matter
    numbers=(),
    cwnd_pkts=(1.0, 2.0),
    rate_bps=(0.0, 0.0),
    data_seq=0,
    chosen=None,
    available=(),
    usable=(),
)


def topic(text: str, **changes: object) -> str:
    told = replace(_TOLD, **cast(dict, changes))
    return deciding_algorithm(parse_scenario(text), (), told)


def test_a_window_is_its_controllers_and_a_packet_its_schedulers() -> None:
    assert topic(TWO_PATHS) == "controller/lia"
    assert topic(TWO_PATHS, owner="download", scope="flow") == "scheduler/minrtt"


def test_a_controller_that_took_over_decides_from_then_on() -> None:
    assert topic(TWO_PATHS + TAKEN_OVER) == "controller/lia"
    assert topic(TWO_PATHS + TAKEN_OVER, time_s=1.0) == "controller/olia"
    changes = parse_scenario(TWO_PATHS + TAKEN_OVER).events
    assert deciding_algorithm(parse_scenario(TWO_PATHS), changes, replace(_TOLD, time_s=2.0)) == "controller/olia"


def test_copies_have_the_controller_of_their_flow_and_uncoupled_subflows_their_base() -> None:
    text = TWO_PATHS.replace('controller = "lia"', 'controller = { name = "uncoupled", base = "cubic" }\ncount = 2')
    assert topic(text, owner="download.2/1") == "controller/cubic"


def walk(store: Store, decisions: DecisionLimits | None = None) -> DecisionSteps:
    run_id = present(RunJob(parse_scenario(TWO_PATHS), TWO_PATHS, store=store, decisions=decisions).run().run_id)
    return DecisionSteps(Replay.stored(store, run_id), 1448)


@pytest.mark.parametrize("owner", ["download/1", "download"])
def test_steps_visit_every_decision_once(store: Store, monkeypatch: pytest.MonkeyPatch, owner: str) -> None:
    # Packets are scheduled many at an instant, more than one fetch returns.
    monkeypatch.setattr("subflow_app.features.explain.core.explained._FETCHED", 30)
    walked = walk(store, DecisionLimits())
    everything = [*Replay.stored(store, 1).explain(owner, 2.0, before=10_000).before]
    point = walked.go_to(owner, 2.0)
    times = [point.told.time_s]
    while point.has_previous:
        point = walked.step(-1)
        times.append(point.told.time_s)

    assert times == [told.time_s for told in reversed(everything)]
    assert repr(walked.step(-1)) == repr(point)
    forwards = 1
    while point.has_next:
        point = walked.step(1)
        forwards += 1
    assert forwards == len(everything)


def test_a_point_says_what_it_computes_and_where_it_is_from(store: Store) -> None:
    point = walk(store).go_to("download/1", 1.0)

    assert point.is_resimulated
    assert [rule.is_same for rule in point.worked] == [True]
    assert (point.has_previous, point.has_next, point.agent, point.notice) == (True, True, None, "")


RFC = "https://www.rfc-editor.org/rfc/rfc"
DRAFT = "draft-walid-mptcp-congestion-control-04"


@for_each(
    ("source", "urls"),
    [
        ("RFC 6356 section 3", [f"{RFC}6356#section-3"]),
        ("RFC 6675 section 5, RFC 5681 section 3.2", [f"{RFC}6675#section-5", f"{RFC}5681#section-3.2"]),
        ("RFC 6928", [f"{RFC}6928"]),
        ("Khalili et al., CoNEXT 2012, equations (5) and (6)", ["https://doi.org/10.1145/2413176.2413178"]),
        (f"{DRAFT} section 3.1", [f"https://datatracker.ietf.org/doc/html/{DRAFT}#section-3.1"]),
        ("Honda et al., PFLDNeT 2009", [""]),
        ("", []),
    ],
)
def test_sources_lead_to_where_they_can_be_read(source: str, urls: list[str]) -> None:
    parts = rule_sources(source)
    assert ", ".join(part.text for part in parts) == source
    assert [part.url for part in parts] == urls


def test_every_source_that_names_an_rfc_or_a_draft_has_an_address() -> None:
    parts = [part for rule in rules() for part in rule_sources(rule.source)]

    assert all(part.url for part in parts if part.text.startswith(("RFC", "draft", "Linux")))
