"""Queues, loss models and rates of links that are tables in the file: from the file to the run."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.helpers.members import for_each
from tests.helpers.networks import goodputs, run
from tests.helpers.scenario_texts import CATALOG, TWO_PATHS, read

from subflow_sim.errors import ScenarioError
from subflow_sim.scenario import DeliveryTrace, GilbertLoss, LinkDirection, QueueSpec, load_scenario, parse_scenario
from subflow_sim.scenario_model import OptionValue

ONE_LINK = """\
format = 1
duration = "30s"
warmup = "5s"
profile = "textbook"
nodes = { a = {}, b = {} }
flows.tcp = { kind = "tcp", from = "a", to = "b" }
[links.l]
ends = ["a", "b"]
rate = "10Mbit/s"
delay = "20ms"
queue = "400pkt"
"""


def forward(text: str, *overrides: str) -> LinkDirection:
    return read(text, *overrides).links["wifi"].forward


def queue(table: str, rate: str = "8Mbit/s") -> QueueSpec:
    return forward(TWO_PATHS.replace('"67pkt"', table).replace('"8Mbit/s"', f'"{rate}"')).queue


def summary(*overrides: str) -> dict[str, Any]:
    return run(parse_scenario(ONE_LINK, overrides=overrides)).summary()


# --- queues ---------------------------------------------------------------------------------------------------------


def test_red_scales_the_thresholds_of_the_literature_with_the_rate():
    """25 and 50 packets for 10 Mbit/s; a missing limit is four times the upper threshold."""
    expected: dict[str, OptionValue] = {"mode": "instantaneous", "max_p": 0.1, "gentle": True, "weight": 1.0}
    # never below one packet: 25 x 0.1 / 10 would be a quarter of one
    for rate, least in (("10Mbit/s", 25), ("40Mbit/s", 100), ("0.1Mbit/s", 1)):
        scaled = QueueSpec("red", 8 * least, options=expected | {"min": least, "max": 2 * least})
        assert queue('{ discipline = "red" }', rate) == scaled


def test_each_threshold_of_red_can_be_given():
    classic = '{ discipline = "red", limit = "67pkt", mode = "classic", min = "5pkt", max = "15pkt", max_p = "2%" }'
    options: dict[str, OptionValue] = {"mode": "classic", "gentle": True, "weight": 0.002}
    assert queue(classic) == QueueSpec("red", 67, options={**options, "min": 5, "max": 15, "max_p": 0.02})
    assert queue('{ discipline = "red", min = "30pkt" }').options["max"] == 60
    assert queue('{ discipline = "red", max = "30pkt" }').options["min"] == 15


def test_the_reverse_direction_scales_by_its_own_rate():
    text = TWO_PATHS.replace('"67pkt"', '{ discipline = "red" }\nreverse.rate = "80Mbit/s"')
    link = read(text).links["wifi"]
    assert (link.forward.queue.options["min"], link.reverse.queue.options["min"]) == (20, 200)


def test_codel_has_the_constants_of_its_rfcs():
    """RFC 8289: 5 ms and 100 ms; RFC 8290: quantum 1514, 1024 queues. Limits as in Linux."""
    codel: dict[str, OptionValue] = {"target": 0.005, "interval": 0.1}
    assert queue('{ discipline = "codel" }') == QueueSpec("codel", 1000, None, codel)
    fq_codel = QueueSpec("fq_codel", 10_240, None, codel | {"quantum": 1514, "flows": 1024})
    assert queue('{ discipline = "fq_codel" }') == fq_codel
    assert queue('{ discipline = "codel", limit = "90kB", target = "1ms" }').limit_bytes == 90_000


def test_an_override_makes_a_plain_queue_a_discipline():
    found = forward(TWO_PATHS, "links.wifi.queue.discipline=codel", "links.wifi.queue.target=2ms").queue
    assert found == QueueSpec("codel", 67, None, {"target": 0.002, "interval": 0.1})


def test_codel_keeps_the_queue_short_and_red_between():
    """A Reno flow fills 400 packets of drop-tail; RED starts to drop at 25, CoDel at 5 ms, which are 4 packets."""
    found = {
        discipline: summary(f"links.l.queue={{discipline='{discipline}', limit='400pkt'}}")["links"][0]
        for discipline in ("droptail", "red", "codel", "fq_codel")
    }
    mean = {discipline: link["mean_queue_pkts"] for discipline, link in found.items()}
    assert mean["droptail"] > 150
    assert 10 < mean["red"] < 40
    assert mean["codel"] < 12
    assert mean["fq_codel"] == pytest.approx(mean["codel"], rel=0.2)  # a single flow has a CoDel queue for itself


@pytest.mark.parametrize("discipline", ["red", "codel", "fq_codel"])
def test_an_event_changes_the_limit_of_any_discipline(discipline):
    queue = 'events = [{ at = "2s", link = "l", queue = "3pkt" }]'
    text = f"{queue}\n" + ONE_LINK.replace('"400pkt"', f'{{ discipline = "{discipline}", limit = "400pkt" }}')
    # Measured from 5 s on, after the old queue has drained.
    link = run(parse_scenario(text)).summary()["links"][0]
    assert link["max_queue_pkts"] == 3
    assert link["drops_queue"] > 10


# --- loss -----------------------------------------------------------------------------------------------------------


def test_a_loss_model_shows_its_stationary_loss():
    side = forward(TWO_PATHS.replace('"2%"', '{ model = "gilbert", p = "1%", r = "24%", bad = "50%" }'))
    assert side.loss_model == GilbertLoss(0.01, 0.24, 0.0, 0.5)
    assert side.loss == pytest.approx(0.02)  # 0.01 / 0.25 x 0.5


def test_losses_of_the_model_come_in_bursts():
    """With the same 1 % of packets lost, bursts of 8 mean fewer cuts of the window: Reno gets more."""
    independent = summary("links.l.loss=1%", "links.l.reverse.loss=0")
    bursts = "links.l.loss={model='gilbert', p=0.00126, r=0.125}"  # 0.00126 / 0.12626 = 1 %
    bursty = summary(bursts, "links.l.reverse.loss=0")
    assert bursty["links"][0]["drops_random"] > 20
    assert bursty["flows"][0]["goodput_bps"] > 1.1 * independent["flows"][0]["goodput_bps"]


def test_an_event_sets_a_loss_or_a_model():
    event = '[[events]]\nat = "10s"\nlink = "wifi"\nloss = { model = "gilbert", p = 1, r = 1 }\n'
    found = read(TWO_PATHS + event).events[0]
    assert (found.loss, found.loss_model) == (0.5, GilbertLoss(1.0, 1.0))


# --- traces ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def traced(tmp_path):
    (tmp_path / "traces").mkdir()
    (tmp_path / "traces" / "slow.up").write_text("0\n2\n2\n5\n")
    file = tmp_path / "scenario.toml"
    file.write_text(ONE_LINK.replace('"10Mbit/s"', '{ trace = "traces/slow.up" }'))
    return file


def test_a_trace_is_read_beside_the_scenario(traced):
    side = load_scenario(traced).links["l"].forward
    assert side.trace == DeliveryTrace("traces/slow.up", np.array([0, 2, 2, 5], dtype=np.uint32).tobytes())
    assert side.rate_bps == pytest.approx(9.6e6)  # 4 x 12 kbit in 5 ms


def test_a_trace_is_the_bottleneck_it_records(traced):
    # 9.6 Mbit/s x 1448/1500 = 9.267 Mbit/s of payload
    assert goodputs(run(load_scenario(traced)))["tcp"] == pytest.approx(9.267e6, rel=0.01)


def test_with_the_content_in_it_the_scenario_needs_no_file(traced):
    text = traced.read_text().replace('slow.up"', 'slow.up", content = "0 2 2 5"')
    assert parse_scenario(text, file="scenario.toml", algorithms=CATALOG) == load_scenario(traced, algorithms=CATALOG)


@for_each(
    ("content", "message"),
    [
        (b"0\n2\nabc\n", '"traces/slow.up" line 3: "abc" is not a whole number'),
        (b"0\n5\n4\n", "line 3: 4 comes after 5"),
        (b"1\n-2\n", 'line 2: "-2" is not a whole number'),
        (b"1.5\n", 'line 1: "1.5" is not a whole number'),
        (b"99999999999\n", "is not a whole number of milliseconds"),
        (b"2000000000\n", "later than any run lasts"),
        (b"", "no delivery opportunity"),
        (b"0\n0\n", "lasts 0 ms"),
        (b"1\n\xff\n", "line 2: not a text of numbers"),
        (b"1\n" * 32_000_001, "is too large"),
        (None, "cannot be read"),
        ("folder", "Is a directory"),
    ],
)
def test_a_bad_trace_file_is_named_with_line_and_value(traced, content, message):
    trace = traced.parent / "traces" / "slow.up"
    trace.unlink(missing_ok=True)
    if content == "folder":
        trace.mkdir()
    elif content is not None:
        trace.write_bytes(content)
    with pytest.raises(ScenarioError) as caught:
        load_scenario(traced)
    [problem] = caught.value.problems
    assert (problem.line, problem.key) == (9, "links.l.rate.trace")
    assert message in problem.message
    if trace.is_dir():
        trace.rmdir()


# --- overtaking -----------------------------------------------------------------------------------------------------


def test_a_link_may_let_packets_overtake():
    assert not forward(TWO_PATHS).reorder
    assert forward(TWO_PATHS, "links.wifi.reorder=true").reorder
    shorter = '[[events]]\nat = "10s"\nlink = "l"\ndelay = "5ms"\n'

    def retransmits(*overrides: str) -> int:
        simulation = run(parse_scenario(ONE_LINK + shorter, overrides=("duration=10.5s", *overrides)))
        return int(simulation.summary()["flows"][0]["retransmits"])

    # Reordering looks like a loss to a sender that counts duplicate ACKs.
    assert retransmits("links.l.reorder=true") > retransmits()


# --- the shipped scenarios ------------------------------------------------------------------------------------------


def shipped(name: str, *overrides: str) -> dict[str, Any]:
    return run(load_scenario(name, overrides=overrides)).summary()


def access_queue(summary: dict[str, Any]) -> float:
    return float(next(link for link in summary["links"] if link["name"] == "access")["mean_queue_pkts"])


def test_fq_codel_spares_the_call_the_queue_of_the_download():
    """Buffers of 400 packets of 1.2 ms delay the call by 0.3 s on average; FQ-CoDel keeps the queue at some ms."""
    assert access_queue(shipped("aqm-fq-codel", "links.access.queue=400pkt")) > 200
    managed = shipped("aqm-fq-codel")
    assert access_queue(managed) < 8
    assert managed["flows"][1]["loss_ratio"] == 0.0  # all drops belong to the download


def test_the_shipped_trace_is_what_its_scenario_says():
    """6 Mbit/s on average without the outage, which falls into the sine's minimum: 5.885 Mbit/s in whole packets."""
    trace = load_scenario("lte-trace").links["lte"].forward.trace
    assert trace is not None
    assert trace.rate_bps == pytest.approx(5.885e6)
    times_ms = trace.times_ms.tolist()
    assert [time for time in times_ms if 8000 <= time < 8600] == []
    seconds = [sum(1000 * s < time <= 1000 * (s + 1) for time in times_ms) * 12e3 for s in range(12)]
    assert max(seconds) == pytest.approx(10e6, rel=0.05)
    assert min(seconds) == pytest.approx(2e6 * 0.5, rel=0.5)
