"""The causes of more than 500 points in 20 scenarios, compared with an independent second simulation.

The second simulation stops just before and just after each drop, and looks at the queue, the state of the link and its
counters. Arrivals are compared with captured packets.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache

import pytest
from tests.helpers.scripts import CONTROLLER

from subflow_app.features.explain.core.causes import Evidence, NetworkCause, network_cause
from subflow_app.features.explain.core.explained import DecisionSteps
from subflow_app.features.explain.core.replay import Replay
from subflow_app.features.explain.core.story import Told, story_of
from subflow_app.features.running.core.runs import RunJob
from subflow_app.foundation.resources import find_scenario
from subflow_sim.decisions import CAUSES, DecisionLimits, Explanation
from subflow_sim.fates import Loss
from subflow_sim.instant import LinksNow
from subflow_sim.packets import RECEIVER
from subflow_sim.scenario import Scenario, parse_scenario
from subflow_sim.simulation import Simulation
from subflow_store import Store

LEAST_OF_EACH = 30
LEAST_POINTS = 500
BEFORE_S = 0.05  # losses that matter for an action, or for a monitor interval


def one_link(
    link: str = "", *, flow: str = "", controller: str = "newreno", profile: str = "linux", end: str = "", seed: int = 1
) -> str:
    """A download over one link; the arguments are lines of its tables."""
    return (
        f'format = 1\nname = "One link"\nduration = "60s"\nseed = {seed}\nprofile = "{profile}"\n'
        "[nodes]\nserver = {}\nclient = {}\n"
        f'[links.link]\nends = ["server", "client"]\nrate = "8Mbit/s"\ndelay = "20ms"\n{link}\n'
        f'[flows.download]\nkind = "tcp"\nfrom = "server"\nto = "client"\ncontroller = "{controller}"\n{flow}\n{end}\n'
    )


def outages(direction: str, count: int = 14) -> str:
    """Events that take a direction of the link down for a second, every four seconds."""
    return "".join(
        f'[[events]]\nat = "{4 * n + 2}s"\nlink = "link"\ndirection = "{direction}"\nup = false\n'
        f'[[events]]\nat = "{4 * n + 3}s"\nlink = "link"\ndirection = "{direction}"\nup = true\n'
        for n in range(count)
    )


def delays(count: int = 19) -> str:
    """Events that add 0.7 s to the delay of the link for a tenth of a second, every three seconds."""
    return "".join(
        f'[[events]]\nat = "{3 * n + 2}s"\nlink = "link"\ndirection = "forward"\ndelay = "720ms"\n'
        f'[[events]]\nat = "{3 * n + 2.1:g}s"\nlink = "link"\ndirection = "forward"\ndelay = "20ms"\n'
        for n in range(count)
    )


SHIPPED = {
    "demo": 60.0,
    "reno-sawtooth": 60.0,
    "bbr-loss": 20.0,
    "lab-two-losses": 40.0,
    "lte-walk": 30.0,
    "starlink": 60.0,
    "why-dualpi2": 4.0,
    "t-1link-red": 40.0,
    "aqm-fq-codel": 60.0,
    "rlx-training": 10.0,
    "vivace-cubic": 20.0,
    "t-10b": 20.0,
}
WRITTEN = {
    "random loss": one_link('queue = "100pkt"\nloss = "1%"', controller="cubic"),
    "outages": one_link('queue = "60pkt"', end=outages("forward")),
    "outages, seed 2": one_link('queue = "60pkt"\nloss = "0.1%"', controller="cubic", end=outages("forward"), seed=2),
    "outages of ACKs": one_link(
        'queue = "40pkt"\nrate = "2Mbit/s"'.replace('rate = "2Mbit/s"', ""), end=outages("reverse")
    ),
    "overtaking": one_link(
        'queue = "200pkt"\nreorder = true\njitter = { distribution = "normal", spread = "4ms" }', profile="textbook"
    ),
    "delays": one_link('queue = "30pkt"', end=delays(), seed=3),
    "scripted": one_link(
        f"drops = {[f'download/1:{80 * n}' for n in range(1, 60)]}".replace("'", '"') + '\nqueue = "400pkt"'
    ),
    "RED with marks": one_link(
        'queue = { discipline = "red", ecn = true, min = "10pkt", max = "30pkt", limit = "200pkt" }',
        flow='ecn = "rfc3168"',
    ),
    "script": one_link(
        'queue = "25pkt"',
        controller="mine",
        end=f"[controllers.mine]\nscript = 'mine.py'\ncontent = '''\n{CONTROLLER}'''\n",
    ),
}


def text_of(name: str) -> str:
    return WRITTEN[name] if name in WRITTEN else find_scenario(name).read_text(encoding="utf-8")


@dataclass(frozen=True)
class Point:
    """A decision with its cause, as the Explain panel derives it."""

    told: Explanation
    cause: NetworkCause


@cache
def scenario_of(name: str) -> Scenario:
    return replace(parse_scenario(text_of(name)), warmup_s=0.0)  # the second simulation counts from the start


def until(name: str) -> float:
    return min(SHIPPED.get(name, 60.0), scenario_of(name).duration_s)


@cache
def points(name: str) -> tuple[list[Point], Evidence]:
    """Up to 60 points of a scenario: losses, timeouts, marks, and some ACKs and actions."""
    scenario = scenario_of(name)
    simulation = Simulation(scenario)
    simulation.record_decisions(DecisionLimits(1 << 20))
    flow = next(each.instances[0] for each in scenario.flows.values() if not each.sends_datagrams)
    simulation.record_fates(flow)
    simulation.run_until(until(name))
    decisions = simulation.take_decisions()
    evidence = Evidence(simulation.losses(), simulation.inspect(), 0.0)
    owners = sorted({each.owner for each in evidence.losses})
    chosen: dict[str, list[int]] = defaultdict(list)
    for owner in owners:
        for row in decisions.rows(owner).tolist():
            chosen[CAUSES[int(decisions.cause[row])]].append(row)
    found = []
    noticed = {(each.owner, round(each.time_s * 1e9)) for each in evidence.losses}
    for cause, rows in chosen.items():
        if cause in ("loss", "rto", "mark"):
            own = [r for r in rows if (decisions.owners[int(decisions.owner[r])], int(decisions.time_ns[r])) in noticed]
        else:
            own = rows[:: max(1, len(rows) // 5)]
        for row in own[:: max(1, len(own) // 40)]:
            told = decisions.explain(row)
            since_s = told.time_s - BEFORE_S if told.cause in ("action", "interval") else told.time_s
            found.append(Point(told, network_cause(scenario, (), told, evidence, since_s)))
    return found, evidence


ALL = [*SHIPPED, *WRITTEN]


@pytest.mark.parametrize("name", ALL)
def test_the_network_agrees_with_each_cause(name: str) -> None:
    scenario = scenario_of(name)
    found, evidence = points(name)
    second = Simulation(scenario)
    captured = Simulation(scenario)
    if any(point.cause.kind in ("reordered", "late", "lost_acks", "unreported") for point in found):
        captured.capture_packets(evidence.losses[0].owner.rpartition("/")[0])
        captured.run_until(until(name))
    packets = captured.take_packets()
    arrived = {
        (packets.subflows[subflow], number, sent): time
        for subflow, number, sent, time, kind, station in zip(
            packets.subflow.tolist(),
            packets.transmission.tolist(),
            packets.echo_ns.tolist(),
            packets.time_ns.tolist(),
            packets.kind.tolist(),
            packets.station.tolist(),
            strict=True,
        )
        if kind == 0 and station == RECEIVER
    }

    assert found
    for point in sorted(found, key=lambda each: (each.cause.loss.fate_s or 0.0) if each.cause.loss else 0.0):
        loss, kind = point.cause.loss, point.cause.kind
        if loss is None:
            assert kind == "none"
            own = [each.time_s for each in evidence.losses if each.owner == point.told.owner]
            assert point.told.time_s not in own
            continue
        arrival = arrived.get((loss.owner, loss.number, round(loss.sent_s * 1e9)))
        if kind in ("reordered", "late", "lost_acks", "unreported"):
            assert loss.fate_s is None or arrival == round(loss.fate_s * 1e9)
            continue
        assert arrival is None or kind == "marked"
        assert loss.fate_s is not None
        if second.now_s > loss.fate_s - 0.5e-9:
            continue  # an earlier point has the same drop
        second.run_until(loss.fate_s - 1e-9)
        before, was = second.inspect().links, counters(second, loss.link)
        second.run_until(loss.fate_s)
        check(kind, loss, before, second.inspect().links, was, counters(second, loss.link))


def counters(simulation: Simulation, link: str) -> dict[str, int]:
    """Drops and marks of a link direction so far, by kind."""
    name, _, direction = link.partition("/")
    found = next(
        each for each in simulation.summary()["links"] if (each["name"], each["direction"]) == (name, direction)
    )
    return {key: found[key] for key in ("drops_queue", "drops_random", "drops_down", "drops_scripted", "marks")}


_COUNTED = {
    "queue_full": "drops_queue",
    "queue_law": "drops_queue",
    "random": "drops_random",
    "down": "drops_down",
    "scripted": "drops_scripted",
    "marked": "marks",
}


def check(kind: str, loss: Loss, before: LinksNow, after: LinksNow, was: dict[str, int], now: dict[str, int]) -> None:
    """Compares a drop or mark with the link one nanosecond before it and just after it."""
    assert now[_COUNTED[kind]] > was[_COUNTED[kind]]
    place, queue = after.names.index(loss.link), loss.queue
    assert queue is not None
    if kind == "queue_full":
        assert queue.pkts == queue.limit_pkts or queue.bytes + 1500 > (queue.limit_bytes or 0)
        # A burst may fill the queue within one nanosecond, in which the packet in service may also leave.
        limit_pkts = queue.limit_pkts or queue.pkts
        assert limit_pkts - 1 <= max(before.queue_pkts[place], after.queue_pkts[place]) <= limit_pkts
    if kind in ("queue_law", "random", "marked", "scripted") and queue.limit_pkts is not None:
        assert queue.pkts <= queue.limit_pkts
    if kind == "down":
        assert not after.is_up[place]


def test_there_are_enough_points_of_each_cause() -> None:
    kinds = Counter(point.cause.kind for name in ALL for point in points(name)[0])
    assert len(ALL) >= 20
    assert sum(kinds.values()) >= LEAST_POINTS
    for kind in (
        "queue_full",
        "queue_law",
        "random",
        "down",
        "marked",
        "scripted",
        "reordered",
        "late",
        "lost_acks",
        "none",
    ):
        assert kinds[kind] >= LEAST_OF_EACH, kinds
    assert not kinds["unknown"]


def stories() -> Iterator[tuple[str, str, Point, str]]:
    for name in ALL:
        found, evidence = points(name)
        for point in found:
            told = Told(point.told, None, (), None, point.told.time_s)
            story = story_of(scenario_of(name), (), told, point.cause, evidence)
            yield name, point.cause.kind, point, " ".join(f"{step.title}. {step.text}" for step in story.steps)


def test_the_words_name_link_queue_and_delay() -> None:
    for name, kind, point, text in stories():
        loss = point.cause.loss
        if loss is None:
            continue
        if kind == "queue_full":
            assert "its queue was full" in text
            assert loss.link.partition("/")[0] in text
            assert loss.queue is not None
            if loss.queue.limit_pkts is not None:
                assert f"held {loss.queue.pkts} of {loss.queue.limit_pkts} packets" in text
        if kind == "down" and name != "lte-walk":  # its outages are those of hand-overs, which are no events
            assert "has been down since" in text
        if point.told.value("rto") is not None:
            assert "No ACK came for the retransmission timeout of" in text
        if kind in ("late", "reordered"):
            assert text.startswith("Not lost") or "Not lost" in text


@pytest.mark.parametrize("name", ["demo", "outages", "RED with marks", "overtaking", "script", "rlx-training"])
def test_a_replay_from_the_middle_finds_the_same_cause(
    store: Store, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr("subflow_app.features.explain.core.replay.FIRST_SPACING", 1 << 13)
    scenario = scenario_of(name)
    run_id = RunJob(scenario, text_of(name), store=store).run().run_id
    assert run_id is not None
    found, _evidence = points(name)
    steps = DecisionSteps(Replay.stored(store, run_id), scenario.mss_bytes)
    for point in [each for each in found if each.cause.loss is not None][-4:]:
        story = steps.go_to(point.told.owner, point.told.time_s).story
        assert story.cause == point.cause.kind
        loss = point.cause.loss
        assert loss is not None
        if story.queue is not None and loss.queue is not None and point.told.cause not in ("action", "interval"):
            assert (story.queue.link, story.queue.at_pkts) == (loss.link, loss.queue.pkts)
            assert story.queue.at_s == pytest.approx(loss.fate_s)


def test_an_agents_action_is_told_in_words(store: Store) -> None:
    scenario = scenario_of("rlx-training")
    run_id = RunJob(scenario, text_of("rlx-training"), store=store).run().run_id
    assert run_id is not None
    steps = DecisionSteps(Replay.stored(store, run_id), scenario.mss_bytes)
    acted = next(point.told for point in points("rlx-training")[0] if point.told.cause == "action")
    point = steps.go_to(acted.owner, acted.time_s)
    while point.told.cause != "action":
        point = steps.step(-1)
    rule = point.story.steps[-1]
    assert rule.title == "Rule: the agent's action"
    assert rule.text.startswith("The agent rl-explore acted. download/1: ")
    assert "Mbit/s" in rule.text or "pkt" in rule.text


def test_flight_size_is_what_was_in_flight() -> None:
    scenario = scenario_of("demo")
    simulation = Simulation(scenario)
    simulation.record_decisions(DecisionLimits(1 << 20))
    simulation.record_fates("download")
    simulation.run_until(60.0)
    decisions, losses = simulation.take_decisions(), simulation.losses()
    told = [
        decisions.explain(int(row))
        for row in decisions.rows("download/2")
        if CAUSES[int(decisions.cause[row])] == "loss"
    ]
    first = [each for each in told if each.rule.name == "proportional_rate_reduction" and each.value("prr_out") == 0]
    assert first
    for each in first:
        found = [loss for loss in losses if loss.owner == "download/2" and loss.time_s == each.time_s]
        if found:
            assert each.value("flight_size") == (each.value("pipe") or 0) + len(found)
            assert each.value("flight_size") != each.value("prior_cwnd")
