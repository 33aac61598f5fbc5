"""ECN from the file to the reports of a run: keys, summaries, traces, events, decisions, scripts."""

from __future__ import annotations

import numpy as np
import pytest
from tests.helpers.members import for_each
from tests.helpers.networks import column, goodputs, run

from subflow_sim import ScenarioError, Simulation, parse_scenario
from subflow_sim.decisions import CAUSES, Decisions

SHARED = """
format = 1
duration = "12s"
warmup = "2s"
profile = "{profile}"
nodes = {{ server = {{}}, client = {{}} }}
[links.wifi]
ends = ["server", "client"]
rate = "10Mbit/s"
delay = "20ms"
queue = {{ discipline = "{discipline}", ecn = true }}
[flows]
new = {{ kind = "tcp", from = "server", to = "client", controller = "{controller}" }}
old = {{ kind = "tcp", from = "server", to = "client", controller = "{controller}", ecn = "off" }}
"""


def rules_of_marks(decisions: Decisions) -> list[str]:
    """Names of the rules of decisions caused by marks."""
    rows = np.flatnonzero(decisions.cause == CAUSES.index("mark"))
    return [decisions.rules[rule].name for rule in decisions.rule[rows]]


def finished(
    *overrides: str, profile: str = "linux", discipline: str = "red", controller: str = "newreno", ecn: str = "rfc3168"
) -> Simulation:
    text = SHARED.format(profile=profile, discipline=discipline, controller=controller)
    simulation = Simulation(parse_scenario(text, overrides=(f"transport.ecn={ecn}", *overrides)))
    simulation.record_decisions()
    simulation.run_until(12)
    simulation.check_invariants()
    return simulation


@pytest.mark.parametrize("discipline", ["red", "codel", "fq_codel"])
@pytest.mark.parametrize("ecn", ["rfc3168", "accecn"])
def test_who_knows_ecn_is_marked_where_others_lose_packets(discipline: str, ecn: str) -> None:
    simulation = finished(discipline=discipline, ecn=ecn)
    summary = simulation.summary()
    new, old = summary["flows"]
    assert new["marked_packets"] > 0
    assert new["mark_reductions"] > 0
    assert new["packets_dropped"] == new["retransmits"] == 0
    assert old["marked_packets"] == old["mark_reductions"] == 0
    assert old["packets_dropped"] > 0
    assert new["subflows"][0]["marked_packets"] == new["marked_packets"]
    forward, reverse = summary["links"]
    # Packets marked in the warm-up that arrived after it, and packets still in flight
    assert forward["marks"] == pytest.approx(new["marked_packets"], abs=20)
    assert forward["drops_queue"] == old["packets_dropped"]
    assert reverse["marks"] == 0
    assert summary["transport"]["ecn"] == ecn


def test_marks_are_traces_events_and_decisions() -> None:
    simulation = finished("warmup=0")
    (flow,) = simulation.summary()["flows"][:1]
    marks = [column(simulation, "marks_pkts", owner) for owner in ("wifi/forward", "new/1")]
    # The reverse direction has the same queue.
    owners = {each.owner for each in simulation.columns if each.name == "marks_pkts"}
    assert owners == {"wifi/forward", "wifi/reverse", "new/1"}
    assert np.nansum(marks[0]) == pytest.approx(np.nansum(marks[1]), abs=20)
    assert np.nansum(marks[1]) == flow["marked_packets"]
    events = [mark for mark in simulation.take_marks() if mark.kind == "marked"]
    assert len(events) == flow["mark_reductions"]
    assert {mark.owner for mark in events} == {"new/1"}
    decisions = simulation.take_decisions()
    reductions = rules_of_marks(decisions).count("halving")
    assert reductions == flow["mark_reductions"]
    first = next(row for row in range(len(decisions)) if CAUSES[decisions.cause[row]] == "mark")
    assert decisions.explain(first).cause_text == "queues marked packets"


def test_without_ecn_nothing_of_it_is_told() -> None:
    simulation = finished("links.wifi.queue=67pkt", ecn="off")
    assert "marks_pkts" not in {column.name for column in simulation.columns}
    assert not any(flow["marked_packets"] for flow in simulation.summary()["flows"])


@for_each(
    ("overrides", "words"),
    [
        (["transport.ecn=on"], ["transport.ecn", "rfc3168"]),
        (["flows.old.ecn=yes"], ["flows.old.ecn", "accecn"]),
        (["links.wifi.queue={ ecn = true }"], ["ecn", "droptail"]),
        (['links.wifi.queue={ discipline = "red", ce_threshold = "1ms" }'], ["ce_threshold", "codel"]),
        (['links.wifi.queue={ discipline = "codel", ce_threshold = "0s" }'], ["ce_threshold", "1us"]),
        (['links.wifi.queue={ discipline = "red", ecn = "maybe" }'], ["ecn", "true or false"]),
        (['links.wifi.queue={ discipline = "red", min = "9pkt", max = "9pkt" }'], ["max", "not above min"]),
    ],
)
def test_what_makes_no_sense_is_told(overrides: list[str], words: list[str]) -> None:
    with pytest.raises(ScenarioError) as raised:
        finished(*overrides)
    assert all(word in str(raised.value) for word in words), raised.value


def test_equal_thresholds_are_a_step_where_packets_are_marked() -> None:
    step = 'links.wifi.queue={ discipline = "red", min = "9pkt", max = "9pkt", gentle = false, ecn = true }'
    summary = finished(step, "flows.old.ecn=rfc3168").summary()
    assert summary["links"][0]["marks"] > 0
    assert summary["links"][0]["max_queue_pkts"] < 40


def test_a_script_is_told_of_marks() -> None:
    text = SHARED.format(profile="textbook", discipline="red", controller="gentle") + (
        '[transport]\necn = "accecn"\n[controllers.gentle]\nscript = "gentle.py"\ncontent = """\n'
        "def on_ack(w, ack):\n"
        "    w.cwnd += (ack.acked - ack.marked) / w.cwnd\n"
        "def on_loss(w, loss):\n"
        "    w.ssthresh = max(w.cwnd * (0.8 if loss.is_mark else 0.5), 2)\n"
        '"""\n'
    )
    simulation = Simulation(parse_scenario(text))
    simulation.record_decisions()
    simulation.run_until(12)
    assert simulation.summary()["flows"][0]["mark_reductions"] > 0
    assert "on_loss" in rules_of_marks(simulation.take_decisions())


LOSSY_ACKS = """
format = 1
duration = "40s"
warmup = "5s"
nodes = {{ snd = {{}}, rcv = {{}} }}
[links.a]
ends = ["snd", "rcv"]
rate = "10Mbit/s"
delay = "20ms"
queue = {{ discipline = "red", ecn = true, min = "10pkt", max = "30pkt", limit = "100pkt" }}
reverse = {{ queue = "1000pkt", loss = "{loss}%" }}
[flows]
bulk = {{ kind = "tcp", from = "snd", to = "rcv", controller = "{controller}" }}
[transport]
ecn = "{ecn}"
"""


def goodput_with_lossy_acks(controller: str, ecn: str, loss_percent: int) -> float:
    text = LOSSY_ACKS.format(controller=controller, ecn=ecn, loss=loss_percent)
    return goodputs(run(parse_scenario(text)))["bulk"]


@pytest.mark.parametrize("loss_percent", [20, 30, 40])
def test_accurate_ecn_invents_no_marks_when_acks_are_lost(loss_percent: int) -> None:
    # Linux 6.18 at 20 %: 8.48 Mbit/s with AccECN, 8.31 with RFC 3168
    assert goodput_with_lossy_acks("newreno", "accecn", loss_percent) >= 0.9 * goodput_with_lossy_acks(
        "newreno", "rfc3168", loss_percent
    )
    assert goodput_with_lossy_acks("dctcp", "accecn", loss_percent) >= 0.9 * goodput_with_lossy_acks(
        "dctcp", "off", loss_percent
    )
    # Prague always uses AccECN: it loses less than a tenth of its rate without lost ACKs.
    assert goodput_with_lossy_acks("prague", "accecn", loss_percent) >= 0.9 * goodput_with_lossy_acks(
        "prague", "accecn", 0
    )
