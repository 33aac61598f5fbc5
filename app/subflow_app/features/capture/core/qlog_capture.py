"""Writes a flow as qlog: simulates a stored run again, and writes the events of QUIC that TCP and MPTCP have, too.

The file is a JSON text sequence (RFC 7464) of draft-ietf-quic-qlog-main-schema-14, with the events of
draft-ietf-quic-qlog-quic-events-13: packet_sent, packet_received, packet_lost and recovery_metrics_updated. Each event
names its path in the field `tuple`: the number of the subflow.

TCP numbers bytes, and QUIC packets. A packet number here counts the transmissions of a subflow, so that a
retransmission has a number of its own, as in QUIC. The frame ACK lists the numbers that an acknowledgement reports for
the first time. The loss of a packet becomes an event at its retransmission, when its sender declares it lost.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import subflow_app
from subflow_app.features.capture.core.packet_capture import (
    CAPACITY,
    CapturePlan,
    CaptureResult,
    SimulatedRun,
    check_plan,
    difference,
    flow_of,
    payload_bytes,
    simulated_slices,
    write_when_complete,
)
from subflow_app.foundation.errors import InputError
from subflow_sim.instant import ACK, DATA
from subflow_sim.packets import HANDSHAKE, RECEIVER, SENDER, CapturedPackets

if TYPE_CHECKING:
    from subflow_sim.scenario import Scenario
    from subflow_sim.simulation import Simulation
    from subflow_sim.trace import Mark

QLOG_SUFFIX = ".sqlog"
SAMPLE_INTERVAL_S = 0.01
"""Time between two readings of the metrics."""

_FILE_SCHEMA = "urn:ietf:params:qlog:file:sequential"
_FORMAT = "application/qlog+json-seq"
_EVENT_SCHEMA = "urn:ietf:params:qlog:events:quic-13"
_RECORD = b"\x1e"
_MS_PER_S = 1e3
_STATIONS = {"sender": SENDER, "receiver": RECEIVER}

# Metrics of an event: the trace, and the factor to its unit; 0 stands for the payload of a full packet, in bytes. The
# draft has whole numbers of bytes and bit/s, and fractions of ms.
_METRICS: Mapping[str, tuple[str, float]] = {
    "congestion_window": ("cwnd_pkts", 0.0),
    "bytes_in_flight": ("inflight_pkts", 0.0),
    "ssthresh": ("ssthresh_pkts", 0.0),
    "smoothed_rtt": ("srtt_s", _MS_PER_S),
    "min_rtt": ("min_rtt_s", _MS_PER_S),
    "pacing_rate": ("pacing_rate_bps", 1.0),
}


def write_qlog(
    run: SimulatedRun,
    path: Path,
    plan: CapturePlan,
    *,
    is_cancelled: Callable[[], bool] = lambda: False,
    progress: Callable[[float], None] = lambda fraction: None,
) -> CaptureResult | None:
    """Simulate a run again and write the events at one end of a flow.

    Args:
        run: run to simulate.
        path: file to write; an existing file is replaced only when the new one is complete.
        plan: events to write; its station is "sender" or "receiver".
        is_cancelled: polled between slices of simulated time.
        progress: called with the completed share, 0 to 1.

    Returns:
        The result with the number of events; None after a cancellation, which leaves an existing file unchanged.

    Raises:
        InputError: if the plan names an unknown flow or host, both hosts, or an empty interval.
        ExportError: if the file cannot be written, or a slice has more packets than the buffer holds.
        SimError: if the simulator refuses the scenario.
    """
    from subflow_sim.simulation import Simulation

    scenario = run.scenario
    known_s = min(run.known_until_s, scenario.duration_s)
    check_plan(plan, scenario, known_s)
    if plan.station not in _STATIONS:
        raise InputError(f'a qlog file is written at one end: station = "{plan.station}"; allowed: sender, receiver')
    simulation = Simulation(scenario, seed=run.seed, sample_interval_s=SAMPLE_INTERVAL_S)
    simulation.capture_packets(plan.flow, CAPACITY)
    until_s = known_s if plan.until_s is None else min(plan.until_s, known_s)
    until_ns = round(until_s * 1e9)

    def write(file: IO[bytes]) -> int | None:
        events = _Events(scenario, plan, simulation)
        _write_record(file, _header(run, plan))
        count = 0
        for now_ns in simulated_slices(simulation, until_ns):
            if is_cancelled():
                return None
            for time_ns, name, tuple_id, data in events.of_slice():
                if time_ns >= plan.since_s * 1e9:
                    _write_record(file, {"time": time_ns / 1e6, "name": name, "tuple": tuple_id, "data": data})
                    count += 1
            progress(now_ns / until_ns)
        return count

    count = write_when_complete(path, write)
    return None if count is None else CaptureResult(path, count, difference(run, simulation, known_s == until_s))


def _write_record(file: IO[bytes], record: Mapping[str, Any]) -> None:
    file.write(_RECORD + json.dumps(record, separators=(",", ":")).encode() + b"\n")


def _header(run: SimulatedRun, plan: CapturePlan) -> dict[str, Any]:
    """The first record: file schema, vantage point and clock. The host that sends the data opens the connection."""
    flow = flow_of(run.scenario, plan.flow)
    is_sender = plan.station == "sender"
    return {
        "file_schema": _FILE_SCHEMA,
        "serialization_format": _FORMAT,
        "title": f"Subflow {subflow_app.__version__}",
        "description": f"{run.scenario.name}; seed {run.seed}; run signature {run.signature}",
        "trace": {
            "title": plan.flow,
            "vantage_point": {
                "name": flow.source if is_sender else flow.destination,
                "type": "client" if is_sender else "server",
            },
            "event_schemas": [_EVENT_SCHEMA],
            "common_fields": {
                "time_format": "relative_to_epoch",
                "reference_time": {"clock_type": "monotonic", "epoch": "unknown"},
                "protocol_types": ["MPTCP" if flow.kind == "mptcp" else "UDP" if flow.sends_datagrams else "TCP"],
            },
        },
    }


Event = tuple[int, str, str, dict[str, Any]]
"""Time in ns, name, path, and data of an event."""


@dataclass(slots=True)
class _Subflow:
    """Packets of a subflow since its opening.

    Attributes:
        latest: number of the latest transmission of each packet, by sequence number, until it is acknowledged.
        arrived: numbers of the transmissions of each packet that have arrived, by sequence number.
        acked: sequence number up to which all packets are acknowledged.
        reported: sequence numbers beyond `acked` that were reported as received.
        under_way: transmissions that the acknowledgements on the way report, by their own numbers.
        in_timeout: whether the latest loss was a timeout.
    """

    latest: dict[int, int] = field(default_factory=dict)
    arrived: dict[int, list[int]] = field(default_factory=dict)
    acked: int = 0
    reported: set[int] = field(default_factory=set)
    under_way: dict[int, list[int]] = field(default_factory=dict)
    in_timeout: bool = False


class _Events:
    """Converts packets, marks and samples of a flow to events."""

    def __init__(self, scenario: Scenario, plan: CapturePlan, simulation: Simulation) -> None:
        flow = flow_of(scenario, plan.flow)
        self._simulation = simulation
        self._station = _STATIONS[plan.station]
        self._mss_bytes = payload_bytes(scenario, flow)
        names = [f"{plan.flow}/{number + 1}" for number in range(len(flow.paths))]
        self._numbers = {plan.flow: 0} | {name: number for number, name in enumerate(names)}
        self._subflows: dict[tuple[int, int], _Subflow] = {}
        self._openings: dict[int, list[tuple[int, int]]] = {}  # time and incarnation of the first packet of each
        self._columns = [
            (number, metric, index, factor or self._mss_bytes)
            for index, column in enumerate(simulation.columns)
            if (number := self._numbers.get(column.owner)) is not None and "/" in column.owner
            for metric, (trace, factor) in _METRICS.items()
            if column.name == trace
        ]
        self._sampled = 0
        self._known: dict[tuple[int, str], float] = {}
        self._is_begun = False
        self._is_datagram = flow.sends_datagrams

    def of_slice(self) -> list[Event]:
        """All events since the last call, in order of time."""
        events: list[Event] = []
        if not self._is_begun:
            self._is_begun = True
            # Time in the simulator is exact.
            data = {"timer_granularity": 0, "max_datagram_size": self._mss_bytes}
            events.append((0, "quic:recovery_parameters_set", "1", data))
        marks = self._simulation.take_marks()
        events += self._packets(self._simulation.take_packets(), marks)
        if self._station == SENDER:
            events += self._metrics()
        events.sort(key=lambda event: event[0])
        return events

    # ---- metrics ----

    def _metrics(self) -> Iterator[Event]:
        """The metrics that have changed, at each sample."""
        count = self._simulation.sample_count
        values = [self._simulation.values(index, self._sampled).tolist() for _, _, index, _ in self._columns]
        for row in range(count - self._sampled):
            time_ns = round((self._sampled + row + 1) * SAMPLE_INTERVAL_S * 1e9)
            found: dict[int, dict[str, float]] = {}
            for (number, metric, _, factor), column in zip(self._columns, values, strict=True):
                value = column[row]
                if math.isfinite(value) and self._known.get((number, metric)) != value:
                    self._known[number, metric] = value
                    is_time = factor == _MS_PER_S
                    found.setdefault(number, {})[metric] = round(value * factor, 6 if is_time else None)
            for number, data in found.items():
                opened = [each for at_ns, each in self._openings.get(number, ()) if at_ns <= time_ns]
                yield time_ns, "quic:recovery_metrics_updated", _path(number, opened[-1] if opened else 0), data
        self._sampled = count

    # ---- packets ----

    def _packets(self, captured: CapturedPackets, marks: Sequence[Mark]) -> Iterator[Event]:
        places = [self._numbers.get(name, 0) for name in captured.subflows]
        timeouts = iter([mark for mark in marks if mark.kind in ("rto", "loss") and mark.owner in self._numbers])
        mark = next(timeouts, None)
        heads = (captured.time_ns, captured.subflow, captured.incarnation, captured.kind, captured.station)
        rests = (captured.seq, captured.data_seq, captured.transmission, captured.size_bytes, captured.payload_bytes)
        rows = zip(*(column.tolist() for column in (*heads, *rests)), strict=True)
        for row, (time_ns, place, incarnation, kind, station, *rest) in enumerate(rows):
            seq, data_seq, transmission, size, payload = rest
            number = places[place]
            while mark is not None and mark.time_ns <= time_ns:
                self._subflow(self._numbers[mark.owner], None).in_timeout = mark.kind == "rto"
                mark = next(timeouts, None)
            if kind == HANDSHAKE:
                continue
            subflow = self._subflow(number, incarnation)
            path = _path(number, incarnation)
            openings = self._openings.setdefault(number, [])
            if not openings or openings[-1][1] < incarnation:
                openings.append((time_ns, incarnation))
            is_sender = station == SENDER
            if kind == DATA and is_sender:
                lost = subflow.latest.get(seq)
                subflow.latest[seq] = transmission
                if self._station == SENDER:
                    if lost is not None:
                        trigger = "pto_expired" if subflow.in_timeout else "reordering_threshold"
                        header = {"packet_type": "1RTT", "packet_number": lost}
                        yield time_ns, "quic:packet_lost", path, {"header": header, "trigger": trigger}
                    yield time_ns, "quic:packet_sent", path, self._data(transmission, size, data_seq, payload)
            elif kind == DATA:
                subflow.arrived.setdefault(seq, []).append(transmission)
                if self._station == RECEIVER:
                    yield time_ns, "quic:packet_received", path, self._data(transmission, size, data_seq, payload)
            elif kind == ACK and not is_sender:
                ranges = captured.sack[row, : captured.sack_count[row]].tolist()
                numbers = self._newly_reported(subflow, seq, ranges)
                subflow.under_way[transmission] = numbers
                if self._station == RECEIVER:
                    yield time_ns, "quic:packet_sent", path, _ack(transmission, size, numbers)
            elif kind == ACK:
                numbers = subflow.under_way.pop(transmission, [])
                if self._station == SENDER:
                    yield time_ns, "quic:packet_received", path, _ack(transmission, size, numbers)
            elif station == self._station:
                name = "quic:packet_sent" if is_sender else "quic:packet_received"
                frame = {"frame_type": "datagram", "raw": {"payload_length": payload}}
                yield time_ns, name, path, _packet(seq, size, payload, [frame])

    def _subflow(self, number: int, incarnation: int | None) -> _Subflow:
        """State of a subflow; of its latest opening, if `incarnation` is None."""
        if incarnation is None:
            incarnation = max((key[1] for key in self._subflows if key[0] == number), default=0)
        return self._subflows.setdefault((number, incarnation), _Subflow())

    def _newly_reported(self, subflow: _Subflow, acked: int, ranges: Sequence[Sequence[int]]) -> list[int]:
        """Numbers of the transmissions that an acknowledgement is the first to report."""
        fresh = [seq for seq in range(subflow.acked, acked) if seq not in subflow.reported]
        for first, end in ranges:
            fresh += [seq for seq in range(max(first, acked), end) if seq not in subflow.reported]
            subflow.reported.update(range(max(first, acked), end))
        subflow.acked = max(subflow.acked, acked)
        subflow.reported = {seq for seq in subflow.reported if seq >= subflow.acked}
        numbers = [number for seq in dict.fromkeys(fresh) for number in subflow.arrived.pop(seq, [])]
        for seq in fresh:
            if seq < subflow.acked:
                subflow.latest.pop(seq, None)
        return sorted(numbers)

    def _data(self, number: int, size: int, data_seq: int, payload: int) -> dict[str, Any]:
        raw = {"payload_length": payload}
        frame = {"frame_type": "stream", "stream_id": 0, "offset": data_seq * self._mss_bytes, "raw": raw}
        return _packet(number, size, payload, [frame])


def _path(number: int, incarnation: int) -> str:
    """Identifier of a path: "2", and "2.2" after the subflow was opened again, because QUIC uses none twice."""
    return str(number + 1) if incarnation == 0 else f"{number + 1}.{incarnation + 1}"


def _packet(number: int, size: int, payload: int, frames: list[dict[str, Any]]) -> dict[str, Any]:
    header = {"packet_type": "1RTT", "packet_number": number}
    return {"header": header, "raw": {"length": size, "payload_length": payload}, "frames": frames}


def _ack(number: int, size: int, acked: Sequence[int]) -> dict[str, Any]:
    frame: dict[str, Any] = {"frame_type": "ack"}
    if acked:  # the draft has no empty list
        frame["acked_ranges"] = _ranges(acked)
    return _packet(number, size, 0, [frame])


def _ranges(numbers: Sequence[int]) -> list[list[int]]:
    """Ranges [first, last] of ascending numbers."""
    ranges: list[list[int]] = []
    for number in numbers:
        if ranges and number == ranges[-1][1] + 1:
            ranges[-1][1] = number
        else:
            ranges.append([number, number])
    return ranges
