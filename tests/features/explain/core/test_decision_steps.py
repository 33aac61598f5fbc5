"""From decision to decision, and the sources and meanings that are told with them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.helpers.members import for_each
from tests.helpers.scenario_texts import TWO_PATHS

from subflow_app.features.explain.core.decisions import RuleSource, rule_sources
from subflow_app.features.explain.core.explained import DecisionSteps
from subflow_app.features.explain.core.replay import Replay
from subflow_app.features.running.core.runs import RunJob
from subflow_sim.decisions import DecisionLimits, rules
from subflow_sim.scenario import parse_scenario
from subflow_store import Store, open_store

TEXT = TWO_PATHS.replace('"60s"', '"2s"')


@pytest.fixture
def store() -> Iterator[Store]:
    with open_store(":memory:") as opened:
        yield opened


def walk(store: Store, decisions: DecisionLimits | None = None) -> DecisionSteps:
    run_id = RunJob(parse_scenario(TEXT), TEXT, store=store, decisions=decisions).run().run_id
    assert run_id is not None
    return DecisionSteps(Replay.stored(store, run_id), 1448)


@pytest.mark.parametrize("owner", ["download/1", "download"])
def test_steps_visit_every_decision_once(store: Store, monkeypatch: pytest.MonkeyPatch, owner: str) -> None:
    # Packets are scheduled many at an instant, more than are fetched at once.
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


@for_each(
    ("source", "parts"),
    [
        ("RFC 6356 section 3", [("RFC 6356 section 3", "https://www.rfc-editor.org/rfc/rfc6356#section-3")]),
        (
            "RFC 6675 section 5, RFC 5681 section 3.2",
            [
                ("RFC 6675 section 5", "https://www.rfc-editor.org/rfc/rfc6675#section-5"),
                ("RFC 5681 section 3.2", "https://www.rfc-editor.org/rfc/rfc5681#section-3.2"),
            ],
        ),
        ("RFC 6928", [("RFC 6928", "https://www.rfc-editor.org/rfc/rfc6928")]),
        (
            "Khalili et al., CoNEXT 2012, equations (5) and (6)",
            [("Khalili et al., CoNEXT 2012, equations (5) and (6)", "https://doi.org/10.1145/2413176.2413178")],
        ),
        (
            "draft-walid-mptcp-congestion-control-04 section 3.1",
            [
                (
                    "draft-walid-mptcp-congestion-control-04 section 3.1",
                    "https://datatracker.ietf.org/doc/html/draft-walid-mptcp-congestion-control-04#section-3.1",
                )
            ],
        ),
        ("Honda et al., PFLDNeT 2009", [("Honda et al., PFLDNeT 2009", "")]),
        ("", []),
    ],
)
def test_sources_lead_to_where_they_can_be_read(source: str, parts: list[tuple[str, str]]) -> None:
    assert rule_sources(source) == tuple(RuleSource(text, url) for text, url in parts)


def test_every_source_that_names_an_rfc_or_a_draft_has_an_address() -> None:
    parts = [part for rule in rules() for part in rule_sources(rule.source)]

    assert all(part.url for part in parts if part.text.startswith(("RFC", "draft", "Linux")))
