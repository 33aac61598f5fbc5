"""The core of web pages gives the native core's results, to the last bit, and is built from the current sources."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest
from tests.golden.update import SIGNATURES, kept_in, shipped
from tests.helpers.members import for_each
from tests.helpers.web_core import ASSETS, WebCore, WebCoreError
from tests.web.conftest import stored_run
from tools.web import sources_digest

from subflow_app.features.catalog.core.catalog import app_catalog
from subflow_app.features.explain.core.story import PAGE_WORDS
from subflow_app.features.exporting.core.web_page import told_words
from subflow_app.features.training.core.agent_explanations import agent_decisions_around, stored_reasons
from subflow_app.foundation.resources import find_scenario
from subflow_sim import Simulation, parse_scenario
from subflow_sim.fates import FATES
from subflow_sim.portable import portable, portable_choices, signature_of
from subflow_store import open_store

ROOT = Path(__file__).parents[2]
KEPT = kept_in(SIGNATURES)

TWO_PATHS = """
format = 1
duration = "4s"
nodes = { a = {}, b = {} }
links.x = { ends = ["a", "b"], rate = "8Mbit/s", delay = "10ms", queue = "30pkt" }
links.y = { ends = ["a", "b"], rate = "4Mbit/s", delay = "20ms", queue = "30pkt", loss = "1%" }
[flows.f]
kind = "mptcp"
from = "a"
to = "b"
controller = "lia"
paths = [["x"], ["y"]]
"""


def test_it_is_made_of_the_sources_that_there_are() -> None:
    about = json.loads((ASSETS / "core.json").read_text(encoding="utf-8"))
    assert about["sources"] == sources_digest(), "the core has changed: python3 dev.py web compiles it for pages"


@for_each("name", sorted(KEPT))
def test_a_shipped_scenario_runs_as_here(name: str) -> None:
    scenario = shipped()[name]
    made = portable(scenario, scenario.seed)
    core = WebCore(made.policies)
    assert core.finish(core.open(made, scenario.seed)) == KEPT[name]


@pytest.mark.parametrize(("controller", "scheduler"), [("cubic", "minrtt"), ("olia", "roundrobin"), ("pcc", "minrtt")])
def test_scripts_run_as_here_and_go_on_from_any_time(controller: str, scheduler: str) -> None:
    text = TWO_PATHS.replace('"lia"', f'"my-{controller}"\nscheduler = "my-{scheduler}"').replace('"4s"', '"3s"')
    text += f'[controllers.my-{controller}]\nscript = "{controller}.py"\n'
    text += f'[schedulers.my-{scheduler}]\nscript = "{scheduler}.py"\n'
    made = portable(parse_scenario(text, folder=ASSETS.parent / "controllers"), 1)
    core = WebCore()
    run = core.open(made, 1, 0.1)
    here = signature_of(made, 1)
    assert core.finish(run) == here
    assert core.finish(core.checked("fork_at", run, 1.3e9, 0)) == here
    decision = core.told("explain", run, 0.0, 2e9)
    # The answer has the executed lines of the script.
    script = (ASSETS.parent / "controllers" / f"{controller}.py").read_text(encoding="utf-8")
    assert any(step["source"] in script for step in decision["steps"])


def test_a_run_goes_on_from_any_time_and_is_changed_as_here() -> None:
    made = portable(parse_scenario(TWO_PATHS), 1)
    core = WebCore()
    run = core.open(made, 1, 0.1)
    whole = core.finish(run)
    for at_s in (0.0, 0.7, 2.0, 3.999):
        fork = core.checked("fork_at", run, at_s * 1e9, 0)
        assert core.finish(fork) == whole
        core.call("close_run", fork)
    # A run changed at a time equals the run of a scenario with the change at that time.
    fork = core.checked("fork_at", run, 2e9, 0)
    event = {"at": 0, "link": 0, "rate": 2e6}
    text = json.dumps({"scenario": {"events": [event]}, "programs": []})
    assert core.checked("apply_events", fork, core.give(text.encode())) == 2_000_000_001
    changed = core.finish(fork)
    planned = TWO_PATHS + '[[events]]\nat = "2.000000001s"\nlink = "x"\ndirection = "forward"\nrate = 2e6\n'
    made = portable(parse_scenario(planned), 1)
    assert changed == signature_of(made, 1) != whole
    # Requests for the time right after it are answered alike, from any earlier state.
    other = core.open(made, 1, 0.1)
    core.finish(other)
    for at_s in (1.9, 2.02, 2.06, 2.1, 3.0):
        told = []
        for each in (fork, other):
            assert core.call("explain", each, 0.0, at_s * 1e9) == 1
            told.append(json.loads(core.text()))
            look = core.checked("fork_at", each, at_s * 1e9, 1)
            told.append(core.told("look", look) | {"signature": core.signature(look)})
            core.call("close_run", look)
        assert told[:2] == told[2:], at_s


def test_it_tells_curves_figures_packets_and_reasons() -> None:
    core = WebCore()
    run = core.open(portable(parse_scenario(TWO_PATHS), 1), 1, 0.1)
    core.finish(run)
    columns = core.told("columns", run)
    assert {"scope": "subflow", "owner": 0, "name": "cwnd_pkts", "unit": "pkt"} in columns
    assert core.call("sample_count", run) == 40
    results = core.told("results", run)
    assert [flow["name"] for flow in results["flows"]] == ["f"]
    assert 5e6 < results["flows"][0]["goodput_bps"] < 12e6
    assert core.told("marks", run)
    fork = core.checked("fork_at", run, 2e9, 1)
    assert core.told("look", fork)["packets"] > 10
    assert core.call("explain", run, 0.0, 2e9) == 1
    reason = json.loads(core.text())
    assert reason["time_s"] <= 2
    assert reason["rule"]
    assert reason["formula"]
    assert reason["numbers"]


def test_it_tells_what_moved_an_agent_as_the_program_does() -> None:
    text = TWO_PATHS.replace('"lia"', '"drl-cc"').replace('"4s"', '"3s"')
    made = portable(parse_scenario(text, algorithms=app_catalog()), 1)
    core = WebCore(made.policies)
    run = core.open(made, 1, 0.1)
    core.finish(run)
    store = open_store(":memory:")
    number = stored_run(store, text, seed=1)
    count = 0
    for at_s in (0.5, 1.0, 1.5, 2.0):
        (decision,), _ = agent_decisions_around(store, number, None, at_s)
        found = stored_reasons(store, number, decision)
        assert isinstance(found, dict)
        for name, listed in found.items():
            assert core.call("explain_agent", run, float(name == "f/2"), at_s * 1e9) == 1
            told = json.loads(core.text())
            assert told["time_s"] == pytest.approx(decision.time_s)
            assert [each["feature"] for each in told["reasons"]] == [each.feature for each in listed]
            for mine, theirs in zip(told["reasons"], listed, strict=True):
                assert (mine["value"], mine["usual"]) == pytest.approx((theirs.value, theirs.usual), abs=1e-6)
                assert [each["value"] for each in mine["otherwise"]] == pytest.approx(theirs.otherwise, abs=1e-6)
                count += 1
    assert count > 4
    # A fork keeps the decisions before its time.
    told = core.told("explain_agent", run, 0.0, 2e9)
    fork = core.checked("fork_at", run, 2.5e9, 0)
    core.finish(fork)
    assert core.told("explain_agent", fork, 0.0, 2e9) == told


def test_every_choice_of_a_page_can_be_run() -> None:
    made = portable(parse_scenario(TWO_PATHS.replace('"4s"', '"300ms"')), 1)
    core = WebCore()
    for kind in ("controller", "scheduler"):
        choices = portable_choices("controller" if kind == "controller" else "scheduler", "linux")
        assert len(choices) > 5
        for choice in choices:
            document = json.loads(json.dumps(made.document))
            (flow,) = document["scenario"]["flows"]
            flow[kind] = choice.choice
            if choice.decider is not None:
                flow["decider"] = choice.decider
            if kind == "controller" and not choice.is_coupled:
                flow |= {"kind": "tcp", "paths": flow["paths"][:1]}
            run = core.open_text(json.dumps(document), 1)
            assert core.finish(run)
            core.call("close_run", run)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "the scenario is no usable JSON: it ends too early, at byte 0"),
        ('{"scenario":{"links":[{"rate":"fast"}]},"programs":[]}', 'links[0].rate: "fast" is no number'),
        ('{"scenario":{},"programs":[]}', "duration"),
    ],
)
def test_what_is_no_scenario_is_told(text: str, told: str) -> None:
    core = WebCore()
    with pytest.raises(WebCoreError, match=told.replace("[", r"\[").split(":")[0]):
        core.open_text(text, 1)


def test_a_run_that_is_too_large_for_a_page_is_refused_before_it_begins() -> None:
    huge = TWO_PATHS.replace('"4s"', '"9000s"').replace("8Mbit/s", "1Gbit/s")
    core = WebCore()
    with pytest.raises(WebCoreError, match="too large for a page"):
        core.open(portable(parse_scenario(huge), 1), 1)


@pytest.mark.full("builds a program and runs a hundred networks")
def test_random_networks_run_as_here() -> None:
    build = max(ROOT.glob("build/cp*/CMakeCache.txt"), key=os.path.getmtime).parent
    subprocess.run(["cmake", "--build", str(build), "--target", "signatures"], check=True, capture_output=True)
    told = subprocess.run([build / "signatures", "--scenarios"], check=True, capture_output=True, text=True).stdout
    networks = [line.split(" ", 2) for line in told.splitlines()]
    assert len(networks) == 100
    core = WebCore()
    for seed, signature, text in networks:
        run = core.open_text(text, int(seed))
        assert core.finish(run) == signature, f"network {seed}"
        core.call("close_run", run)


def test_the_core_of_pages_explains_a_drop_by_its_queue() -> None:
    scenario = parse_scenario(find_scenario("demo").read_text(encoding="utf-8"))
    core = WebCore()
    run = core.open(portable(scenario, scenario.seed), scenario.seed, 0.1)
    core.finish(run)
    assert core.checked("explain", run, 1.0, 21.745926e9) == 1
    told = json.loads(core.text())

    simulation = Simulation(scenario)
    simulation.record_fates("download")
    simulation.run_until(22.0)
    expected = next(each for each in simulation.losses() if each.owner == "download/2" and each.time_s > 21.7)
    (loss,) = told["losses"]
    assert (FATES[int(loss["fate"])], loss["link"]) == (expected.fate, expected.link) == ("queue_full", "lte/forward")
    assert (loss["queue_pkts"], loss["limit_pkts"]) == (100, 100)
    assert (loss["fate_s"], loss["time_s"]) == pytest.approx((expected.fate_s, expected.time_s))


def test_every_text_of_a_story_has_a_german_text() -> None:
    german = told_words(None)["words"]["german"]
    texts = {text for each in PAGE_WORDS.values() for text in each} - {"{count} pkt"}
    assert not texts - german.keys()
