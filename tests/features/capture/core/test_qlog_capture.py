"""Flows as qlog: the golden file, the types of the drafts, the figures of the reader, and the fields in the guide."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cddl_verifier import Validator
from cddl_verifier.cbor import encode
from tests.features.capture.core.test_packet_capture import SCENARIO, MadeRun
from tests.helpers.present import present

import subflow_app
from subflow_app.features.capture.core.packet_capture import CapturePlan
from subflow_app.features.capture.core.qlog_capture import SAMPLE_INTERVAL_S, write_qlog
from subflow_app.features.measured.core.measured_table import MeasuredTable, ReadingOptions
from subflow_app.features.measured.core.qlog_reader import looks_like_qlog, read_qlog
from subflow_app.foundation.errors import InputError
from subflow_sim import Simulation, parse_scenario

DRAFTS = Path(__file__).parent / "golden" / "qlog-drafts.cddl"
TYPES = {
    "quic:packet_sent": "QUICPacketSent",
    "quic:packet_received": "QUICPacketReceived",
    "quic:packet_lost": "QUICPacketLost",
    "quic:recovery_metrics_updated": "QUICRecoveryMetricsUpdated",
    "quic:recovery_parameters_set": "QUICRecoveryParametersSet",
}
GOLDEN = Path(__file__).parent / "golden" / "transfer.sqlog"
INTERVAL_S = 0.0935  # its multiples are no times of samples
GUIDE = Path(__file__).parents[4] / "docs" / "export.md"
SMALL = SCENARIO.replace('size = "3MB"', "size = 12000").replace('loss = "1%"', 'loss = "0%"')


def events_of(path: Path) -> list[dict[str, Any]]:
    records = path.read_bytes().split(b"\x1e")
    assert records[0] == b"", "each record begins with the record separator"
    return [json.loads(record) for record in records[2:]]


def named(events: list[dict[str, Any]], name: str) -> list[dict[str, Any]]:
    return [event for event in events if event["name"] == name]


def test_a_transfer_gives_the_golden_file(tmp_path: Path) -> None:
    path = tmp_path / "transfer.sqlog"
    run = MadeRun(parse_scenario(SMALL), known_until_s=0.35)
    present(write_qlog(run, path, CapturePlan("download")))
    made = path.read_text(encoding="utf-8").replace(f"Subflow {subflow_app.__version__}", "Subflow VERSION")
    assert made == GOLDEN.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def drafts() -> Validator:
    """The types of the drafts, in CDDL. JSON does not state how many bits a number has."""
    text = DRAFTS.read_text(encoding="utf-8")
    return Validator(re.sub(r"\bfloat(32|64)\b", "float", text) + "\n$ProtocolEventData /= any\n")


@pytest.mark.parametrize("station", ["sender", "receiver"])
@pytest.mark.parametrize("flow", ["plain", "download", "bursts"])
def test_each_record_has_the_type_that_the_drafts_give_it(
    drafts: Validator, tmp_path: Path, flow: str, station: str
) -> None:
    path = tmp_path / "flow.sqlog"
    present(write_qlog(MadeRun(parse_scenario(SCENARIO), known_until_s=3.0), path, CapturePlan(flow, station)))
    header, *events = [json.loads(record) for record in path.read_bytes().split(b"\x1e")[1:]]
    assert header["trace"]["event_schemas"] == ["urn:ietf:params:qlog:events:quic-13"]
    typed = [(header, "QlogFileSeq"), *((event, "Event") for event in events)]
    typed += [(event["data"], TYPES[event["name"]]) for event in events]
    for value, name in typed:
        found = drafts.validate(encode(value), root_type=name)
        assert found.valid, (value, list(map(str, found.diagnostics)))
    if flow == "plain" and station == "sender":
        assert {event["name"] for event in events} == set(TYPES)


def test_the_types_of_the_drafts_refuse_other_records(drafts: Validator) -> None:
    for value in ({"congestion_window": 13500.5}, {"smoothed_rtt": "40"}, {"cwnd": 1}):
        assert not drafts.validate(encode(value), root_type="QUICRecoveryMetricsUpdated").valid


def test_the_guide_explains_each_field(tmp_path: Path) -> None:
    explained = set(re.findall(r"`([a-z_.]+)`", GUIDE.read_text(encoding="utf-8").partition("## qlog")[2]))

    def fields(value: object) -> set[str]:
        if isinstance(value, dict):
            return set(value) | {name for each in value.values() for name in fields(each)}
        return {name for each in value for name in fields(each)} if isinstance(value, list) else set()

    path = tmp_path / "datagrams.sqlog"
    present(write_qlog(MadeRun(parse_scenario(SCENARIO), known_until_s=1.0), path, CapturePlan("bursts")))
    lossy = tmp_path / "lossy.sqlog"
    present(write_qlog(MadeRun(parse_scenario(SCENARIO), known_until_s=2.0), lossy, CapturePlan("plain")))
    events = [*events_of(GOLDEN), *events_of(path), *events_of(lossy)]
    used = {name for event in events for name in fields(event)} | {event["name"].split(":")[1] for event in events}
    assert used <= explained, used - explained


def column(table: MeasuredTable, owner: str, trace: str) -> np.ndarray[Any, np.dtype[np.float64]]:
    return next(
        each.values for each in table.columns if each.target is not None and each.target.text == f"{trace}:{owner}"
    )


@pytest.mark.parametrize("flow", ["plain", "download"])
def test_the_reader_gets_the_figures_of_the_simulation_back(tmp_path: Path, flow: str) -> None:
    scenario = parse_scenario(SCENARIO)
    path = tmp_path / "flow.sqlog"
    present(write_qlog(MadeRun(scenario, known_until_s=0.95), path, CapturePlan(flow)))
    table = read_qlog(path, ReadingOptions(flow=flow, interval_s=INTERVAL_S))
    simulation = Simulation(scenario, seed=1, sample_interval_s=SAMPLE_INTERVAL_S)
    simulation.capture_packets(flow)
    simulation.run_until(0.95)
    packets = simulation.take_packets()
    events = events_of(path)
    mss_bytes = present(table.mss_bytes)
    assert mss_bytes == int(packets.payload_bytes.max())
    for number, name in enumerate(packets.subflows):
        if not name.startswith(f"{flow}/"):
            continue
        ordinal = name.rpartition("/")[2]
        is_sent = (packets.subflow == number) & (packets.kind == 0) & (packets.station == 0)
        sent_bytes = int(packets.size_bytes[is_sent].sum())
        read_bytes = float(np.nansum(column(table, name, "throughput_bps"))) * INTERVAL_S / 8
        assert read_bytes == pytest.approx(sent_bytes)
        mine = [event for event in events if event["tuple"] == ordinal]
        # Each transmission has a number of its own; each loss names an earlier one.
        numbers = [event["data"]["header"]["packet_number"] for event in named(mine, "quic:packet_sent")]
        assert len(set(numbers)) == len(numbers) == int(is_sent.sum())
        lost = [event["data"]["header"]["packet_number"] for event in named(mine, "quic:packet_lost")]
        assert set(lost) <= set(numbers)
        index = {(each.owner, each.name): place for place, each in enumerate(simulation.columns)}
        # A packet may be declared lost, but not yet sent again.
        assert 0 <= int(np.nansum(simulation.values(index[name, "losses_pkts"]))) - len(lost) <= 1
        # The reader holds the last value before the end of each interval.
        ends = next(each.time_s for each in table.columns)
        places = [math.ceil(end / SAMPLE_INTERVAL_S - 1e-6) - 2 for end in ends[2:8]]
        for trace, factor in (("cwnd_pkts", mss_bytes), ("inflight_pkts", mss_bytes), ("srtt_s", 1e3)):
            simulated = simulation.values(index[name, trace])[places] * factor
            read = column(table, name, trace)[2:8]
            whole = 0.5 if factor == mss_bytes else 0.0  # qlog counts whole bytes
            assert read == pytest.approx(simulated, rel=1e-6, abs=whole), (name, trace)


def test_acknowledged_bytes_are_those_that_arrived(tmp_path: Path) -> None:
    path = tmp_path / "flow.sqlog"
    present(write_qlog(MadeRun(parse_scenario(SMALL), known_until_s=2.0), path, CapturePlan("download")))
    events = events_of(path)
    sent = {(event["tuple"], event["data"]["header"]["packet_number"]) for event in named(events, "quic:packet_sent")}
    acked = [
        (event["tuple"], number)
        for event in named(events, "quic:packet_received")
        for frame in event["data"]["frames"]
        for first, last in frame.get("acked_ranges", ())
        for number in range(first, last + 1)
    ]
    assert len(set(acked)) == len(acked), "each transmission is reported once"
    assert set(acked) == sent, "a transfer without losses"


def test_a_reopened_subflow_is_a_path_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "flow.sqlog"
    present(write_qlog(MadeRun(parse_scenario(SCENARIO)), path, CapturePlan("download", "receiver")))
    assert {event["tuple"] for event in named(events_of(path), "quic:packet_received")} == {"1", "2", "2.2"}
    times = [event["time"] for event in events_of(path)]
    assert times == sorted(times)
    assert looks_like_qlog(path.read_bytes()[:200])


def test_one_end_at_a_time(tmp_path: Path) -> None:
    run = MadeRun(parse_scenario(SCENARIO))
    with pytest.raises(InputError, match='station = "both"; allowed: sender, receiver'):
        write_qlog(run, tmp_path / "a.sqlog", CapturePlan("download", "both"))
    assert write_qlog(run, tmp_path / "a.sqlog", CapturePlan("download"), is_cancelled=lambda: True) is None
    assert list(tmp_path.iterdir()) == []
