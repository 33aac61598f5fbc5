"""The shipped scenarios: readable, explained, drawn well, and in agreement with their sources."""

from __future__ import annotations

import functools
import math
import re
import shlex
import subprocess
import sys
from itertools import combinations, pairwise
from pathlib import Path

import pytest
from tests.helpers.members import for_each

from subflow_sim.scenario import Arrivals, Scenario, load_scenario

FOLDER = Path(__file__).parents[2] / "assets" / "scenarios"
FILES = sorted(FOLDER.glob("*.toml"))

every_file = for_each("path", FILES, ids=lambda path: path.stem)


@functools.cache
def loaded(path: Path) -> Scenario:
    return load_scenario(path)


def load(name: str) -> Scenario:
    return loaded(FOLDER / f"{name}.toml")


def commands(path: Path) -> list[tuple[str, list[str]]]:
    """The scenarios that commands in the comments run, and the values that they set."""
    lines = re.findall(r"^#\s+subflow run (\S+) (.*)$", path.read_text(encoding="utf-8"), re.MULTILINE)
    options = [(name, shlex.split(rest)) for name, rest in lines]
    return [(name, [value for word, value in pairwise(words) if word == "--set"]) for name, words in options]


def round_trip_s(scenario: Scenario, path: tuple[str, ...]) -> float:
    return sum(scenario.links[name].forward.delay_s + scenario.links[name].reverse.delay_s for name in path)


@every_file
def test_a_scenario_explains_itself_before_it_begins(path):
    text = path.read_text(encoding="utf-8")
    comment = text[: text.index("format = 1")]
    assert comment.startswith("# ")
    assert len(comment.splitlines()) >= 4
    assert max(len(line) for line in text.splitlines()) <= 120


@every_file
def test_no_scenario_loses_acknowledgements_at_random(path):
    """The closed forms assume no lost ACKs. Data runs forward on every link, so that "reverse" carries the ACKs."""
    scenario = loaded(path)
    for flow in scenario.flows.values():
        for links in flow.paths:
            here = flow.source
            for name in links:
                link = scenario.links[name]
                assert link.ends[0] == here
                assert link.reverse.loss == 0
                here = link.ends[1]


@every_file
def test_the_picture_has_room_for_every_node(path):
    nodes = list(loaded(path).nodes.values())
    for first, second in combinations(nodes, 2):
        assert first.at is not None
        assert second.at is not None
        assert math.dist(first.at, second.at) >= 130


@every_file
def test_every_node_and_link_is_used(path):
    """By the scenario, or by a command of its comment: labs begin with links that the student is to use."""
    scenario = loaded(path)
    variants = [
        scenario,
        *(load_scenario(path, overrides=change) for name, change in commands(path) if name == path.stem),
    ]
    used = {name for variant in variants for flow in variant.flows.values() for links in flow.paths for name in links}
    assert used == set(scenario.links)
    assert {end for link in scenario.links.values() for end in link.ends} == set(scenario.nodes)


@every_file
def test_commands_in_the_comments_can_be_run(path):
    for name, overrides in commands(path):
        assert overrides
        assert load_scenario(FOLDER / f"{name}.toml", overrides=overrides) != load(name)


def test_mplibra_defaults_are_one_bandwidth_delay_product_of_queue():
    """5 Mbit/s x 120 ms = 600 kbit = 50 packets of 1500 bytes."""
    for name in ("t-2link", "t-1link", "t-10a", "t-10b", "t-10c", "t-10d"):
        scenario = load(name)
        bottlenecks = [link for link in scenario.links.values() if link.forward.rate_bps == 5e6]
        assert bottlenecks
        assert {link.forward.queue.limit_pkts for link in bottlenecks} == {50}
        assert {link.forward.loss for link in bottlenecks} == {1e-5}
        for flow in scenario.flows.values():
            assert [round_trip_s(scenario, links) for links in flow.paths] == pytest.approx([0.12] * len(flow.paths))


def test_shared_bottlenecks_are_shared_as_the_figures_show():
    shares = {
        "t-1link": {"bottleneck": 3},
        "t-10a": {"top": 2, "bottom": 1},
        "t-10b": {"top": 2, "bottom": 2},
        "t-10c": {"shared": 2, "common": 2},
        "t-10d": {"top": 2, "bottom": 1},
    }
    for name, expected in shares.items():
        scenario = load(name)
        paths = [links for flow in scenario.flows.values() for links in flow.paths]
        assert {link: sum(link in links for links in paths) for link in expected} == expected


def test_traffic_comes_as_in_the_papers():
    bursts, scenario = load("t-10d").flows["bursts"], load("drlcc-sc5")
    assert (bursts.kind, bursts.rate_bps, bursts.mean_on_s, bursts.mean_off_s) == ("onoff", 5e6, 1.0, 10.0)
    assert scenario.duration_s == 150.0
    assert scenario.flows["download"].arrivals == Arrivals(mean_gap_s=10.0, lifetime_s=30.0)


@pytest.mark.parametrize("name", ["drlcc-sc1", "drlcc-sc5", "drlcc-sc6", "drlcc-sc7"])
def test_drl_cc_paths_have_their_delay_as_round_trip(name):
    """DRL-CC delays one direction by 100 ms: that is the RTT. Queue: 8 Mbit/s x 100 ms / 12 kbit = 66.7 packets."""
    scenario = load(name)
    for link in scenario.links.values():
        assert round_trip_s(scenario, (link.name,)) == pytest.approx(0.1)
        assert (link.forward.rate_bps, link.forward.loss, link.forward.queue.limit_pkts) == (8e6, 0.02, 67)
    mptcp = next(flow for flow in scenario.flows.values() if flow.kind == "mptcp")
    assert (mptcp.count, len(mptcp.paths), mptcp.controller.name) == (1 if mptcp.arrivals else 5, 2, "lia")


@pytest.mark.parametrize("name", ["t-ddpg-a", "t-ddpg-b", "t-ddpg-c", "mpcc-pooling"])
def test_paths_of_ddpg_mpcc_are_those_of_the_paper_and_mpcc_has_its_scheduler(name):
    scenario = load(name)
    for link in scenario.links.values():
        assert round_trip_s(scenario, (link.name,)) == pytest.approx(0.04)
        assert (link.forward.rate_bps, link.forward.queue.limit_pkts) == (100e6, 400)
    coupled = [flow for flow in scenario.flows.values() if flow.kind == "mptcp"]
    assert coupled
    assert {(flow.controller.name, flow.scheduler.name) for flow in coupled} == {("mpcc-loss", "mpcc-rate")}


def test_eight_downloads_of_dql_mptcp_share_both_lossy_links():
    """Experiment I. Queue: 10 Mbit/s x 50 ms / 12 kbit = 41.7 packets."""
    scenario = load("t-dql")
    assert sum(flow.count for flow in scenario.flows.values()) == 8
    for flow in scenario.flows.values():
        assert [links[0] for links in flow.paths] == ["path1", "path2"]
        assert [round_trip_s(scenario, links) for links in flow.paths] == pytest.approx([0.05, 0.05])
    for name in ("path1", "path2"):
        forward = scenario.links[name].forward
        assert (forward.rate_bps, forward.loss, forward.queue.limit_pkts) == (10e6, 0.03, 42)


def test_scenarios_can_be_read_without_the_compiled_core():
    """A scenario can be checked without the core, which supplies only the list of algorithms, an optional argument."""
    program = (
        "import sys; from tests.helpers.scenario_texts import FULL, read; read(FULL); "
        "sys.exit(any(name in sys.modules for name in ('subflow_sim._core', 'numpy', 'jsonschema')))"
    )
    root = Path(__file__).parents[2]
    assert subprocess.run([sys.executable, "-c", program], cwd=root, timeout=60, check=False).returncode == 0
