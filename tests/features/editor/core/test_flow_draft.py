"""Paths for a flow: proposed, described, chosen, and assembled link by link."""

from __future__ import annotations

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.helpers.present import present
from tests.helpers.scenario_texts import CATALOG

from subflow_app.features.editor.core.flow_draft import FlowDraft, facts_of, propose_paths, topology_of
from subflow_app.features.editor.core.scenario_doc import ScenarioDoc
from subflow_app.features.editor.core.scenario_edits import add_flow, set_paths
from subflow_app.foundation.resources import resource_path
from subflow_sim.routes import check_path
from subflow_sim.scenario import Scenario

# a - r1 - r2 - b with two parallel links in the middle, a slow detour by r3, and a host between that forwards nothing.
NETWORK = """\
format = 1
duration = "10s"
[nodes]
a = {}
b = {}
c = {}
r1 = { kind = "router" }
r2 = { kind = "router" }
r3 = { kind = "router" }
[links]
in = { ends = ["a", "r1"], rate = "10Mbit/s", delay = "1ms" }
slow = { ends = ["r2", "r1"], rate = "2Mbit/s", delay = "30ms", loss = "10%", reverse = { rate = 1e6, delay = "40ms" } }
fast = { ends = ["r1", "r2"], rate = "5Mbit/s", delay = "5ms" }
out = { ends = ["r2", "b"], rate = "10Mbit/s" }
a3 = { ends = ["a", "r3"], rate = "1Mbit/s" }
b3 = { ends = ["r3", "b"], rate = "unlimited" }
ac = { ends = ["a", "c"], rate = "1Mbit/s" }
cb = { ends = ["c", "b"], rate = "1Mbit/s" }
"""


def sketch(text: str = NETWORK) -> Scenario:
    return present(ScenarioDoc(text).sketch)


def draft(flow: str = "", text: str = NETWORK) -> FlowDraft:
    return FlowDraft(sketch(text), "a", "b", CATALOG, flow)


def test_disjoint_paths_come_first_then_further_ones_over_parallel_links() -> None:
    disjoint, further = propose_paths(sketch(), "a", "b")

    assert disjoint[0] == ("a3", "b3")
    assert len(disjoint) == 2
    assert {disjoint[1], *further} == {("in", "fast", "out"), ("in", "slow", "out")}


def test_parallel_links_alone_are_disjoint_paths() -> None:
    two = 'format = 1\nduration = "1s"\n[nodes.a]\n[nodes.b]\n'
    two += "".join(f'[links.l{i}]\nends = ["a", "b"]\nrate = 1e6\ndelay = {0.3 - i / 10}\n' for i in range(3))

    assert propose_paths(sketch(two), "a", "b") == ((("l2",), ("l1",), ("l0",)), ())


def test_a_path_is_described_in_the_direction_of_the_data() -> None:
    facts = facts_of(sketch(), "a", ("in", "slow", "out"))

    assert facts.rate_bps == 1e6
    assert facts.delay_s == pytest.approx(0.041)
    assert facts.loss == pytest.approx(0.1)
    assert facts_of(sketch(), "b", ("b3",)).rate_bps == math.inf


def test_a_new_flow_begins_with_the_disjoint_paths_and_is_valid() -> None:
    made = draft()
    flow = present(ScenarioDoc(add_flow(NETWORK, "a", "b", made.values()).text).scenario).flows["f1"]
    assert (made.problem, len(made.wanted)) == ("", 2)
    assert list(flow.paths) == made.wanted
    assert flow.controller.name == "lia"


@pytest.mark.parametrize("kind", ["tcp", "cbr", "onoff"])
def test_other_kinds_take_one_path_and_what_they_need(kind: str) -> None:
    made = draft()
    made.set_kind(kind)
    assert len(made.wanted) == 1
    made.set_wanted(2, True)
    made.count = 3

    assert made.wanted == [made.paths[2].links]
    assert made.schedulers == ()
    doc = ScenarioDoc(add_flow(NETWORK, "a", "b", made.values()).text)
    assert doc.problems == ()
    assert doc.value("flows.f1.count") == 3


def test_controllers_fit_the_kind() -> None:
    made = draft()
    found = {}
    for kind in ("mptcp", "tcp", "cbr"):
        made.set_kind(kind)
        found[kind] = list(made.controllers)
    assert found == {"mptcp": ["lia", "uncoupled", "newreno", "tunable"], "tcp": ["newreno", "tunable"], "cbr": []}


def test_a_path_is_put_together_link_by_link() -> None:
    made = draft()
    made.start_picking()

    assert made.open_links() == {"in", "a3"}
    assert made.pick("in") == ""
    assert made.stands_at == "r1"
    assert made.why_not("a3") == "the path has reached r1, where a3 does not start"
    assert made.pick("slow") == ""
    assert made.why_not("fast") == "the path over fast leads back to r1"
    # The last link is taken back by a second click.
    assert made.pick("slow") == ""
    assert made.picked == ["in"]
    for link in ("slow", "out"):
        assert made.pick(link) == ""
    assert made.picked is None
    assert ("in", "slow", "out") in made.wanted


def test_hosts_on_the_way_are_refused_with_the_reason() -> None:
    made = draft()
    made.start_picking()
    assert "leads to c, a host" in made.pick("ac")
    made.stop_picking()
    assert made.pick("in") == "no path is being put together"


def test_the_paths_of_a_flow_that_is_there_are_chosen() -> None:
    twice = [["in", "slow", "out"]] * 2
    text = f'{NETWORK}[flows.f]\nkind = "mptcp"\nfrom = "a"\nto = "b"\npaths = {json.dumps(twice)}\n'
    made = draft("f", text)

    assert made.wanted == [("in", "slow", "out")] * 2
    assert [path.is_disjoint for path in made.paths].count(True) >= 1
    made.set_wanted(0, False)
    assert ScenarioDoc(set_paths(text, "f", made.wanted).text).problems == ()


def test_without_a_way_or_without_a_choice_it_says_why() -> None:
    apart = draft(text='format = 1\nduration = "1s"\n[nodes.a]\n[nodes.b]\n')
    assert apart.problem.startswith("no path leads from a to b")
    none = draft()
    for index in range(len(none.paths)):
        none.set_wanted(index, False)
    assert none.problem == "choose at least one path"


def test_shared_links_of_a_shipped_topology_are_found_again() -> None:
    scenario = sketch(resource_path("scenarios/t-10b.toml").read_text())

    disjoint, _ = propose_paths(scenario, "mptcp-source", "mptcp-sink")

    assert set(disjoint) == {("top-in", "top", "top-out"), ("bottom-in", "bottom", "bottom-out")}


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), max_size=14), st.sets(st.integers(2, 5)))
def test_proposals_are_paths_and_disjoint_ones_share_no_link(pairs: list[tuple[int, int]], hosts: set[int]) -> None:
    text = 'format = 1\nduration = "1s"\n'
    text += "".join(f'[nodes.n{i}]\nkind = "{"host" if i < 2 or i in hosts else "router"}"\n' for i in range(6))
    ends = [pair for pair in pairs if pair[0] != pair[1]]
    text += "".join(f'[links.l{i}]\nends = ["n{a}", "n{b}"]\nrate = 1e6\n' for i, (a, b) in enumerate(ends))
    scenario = sketch(text)

    disjoint, further = propose_paths(scenario, "n0", "n1")

    for path in (*disjoint, *further):
        assert check_path(topology_of(scenario), "n0", "n1", path) is None
    links = [link for path in disjoint for link in path]
    assert len(links) == len(set(links))
    assert len({*disjoint, *further}) == len(disjoint) + len(further)
    # The simulator's default paths are among the proposals too.
    default = ScenarioDoc(add_flow(text, "n0", "n1", {"kind": "tcp"}).text)
    assert bool(disjoint) == default.is_valid
