"""Captures a flow: simulates a stored run again, and writes the packets of one flow to a pcapng file.

Both hosts have a network interface with an address of its own for each subflow. The file names each address after its
node and link. Time 0 of the simulation is the beginning of the year 2000, UTC.

Packets are truncated after their headers, because the payload consists of zeros. Their lengths are those of the
simulator, including MPTCP options. In a scenario that does not count these options (`dss_option = 0`), their bytes are
added.

A file is one section, whose blocks are written in sequence. Numbers are little-endian, and times are in nanoseconds
since 1970. Source: draft-ietf-opsawg-pcapng, sections 3 and 4.
"""

from __future__ import annotations

import heapq
import os
import struct
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Protocol
from uuid import uuid4

import numpy as np

import subflow_app
from subflow_app.features.capture.core import headers
from subflow_app.features.capture.core.headers import End
from subflow_app.features.capture.core.tcp_wire import Secrets, TcpWire, WirePacket
from subflow_app.foundation.errors import ExportError, InputError
from subflow_sim.instant import ACK, DATA
from subflow_sim.packets import ADD_ADDR_ECHO, HANDSHAKE, RECEIVER, SENDER, CapturedPackets
from subflow_sim.transport_params import effective_transport

if TYPE_CHECKING:
    from subflow_sim.scenario import Flow, Scenario
    from subflow_sim.simulation import Simulation
    from subflow_sim.trace import Mark


_SECTION, _INTERFACE, _NAMES, _PACKET = 0x0A0D0D0A, 1, 4, 6
_BYTE_ORDER = 0x1A2B3C4D
_RAW_IP = 101  # LINKTYPE_RAW: packets begin with their IP header
_PCAPNG_NANOSECONDS = 9  # if_tsresol: times are in 10^-9 s

_COMMENT = 1
_USER_APPLICATION = 4  # shb_userappl
_NAME, _DESCRIPTION, _RESOLUTION = 2, 3, 9  # if_name, if_description, if_tsresol
_IPV4_RECORD = 1

Option = tuple[int, bytes]


class PcapngWriter:
    """Writes one section of a pcapng file.

    Args:
        file: file open for writing bytes.
        application: name and version of the program.
        comment: comment on the section.
        interfaces: name and description of each interface, in the order of their numbers.
        names: names of IPv4 addresses.
    """

    def __init__(
        self,
        file: IO[bytes],
        *,
        application: str,
        comment: str,
        interfaces: Sequence[tuple[str, str]],
        names: Mapping[bytes, str],
    ) -> None:
        self._file = file
        head = struct.pack("<IHHq", _BYTE_ORDER, 1, 0, -1)  # version 1.0, length unknown in advance
        self._block(_SECTION, head, [(_COMMENT, comment.encode()), (_USER_APPLICATION, application.encode())])
        for name, description in interfaces:
            options = [(_NAME, name.encode()), (_DESCRIPTION, description.encode())]
            self._block(
                _INTERFACE, struct.pack("<HHI", _RAW_IP, 0, 0), [*options, (_RESOLUTION, bytes([_PCAPNG_NANOSECONDS]))]
            )
        records = b"".join(_padded(_IPV4_RECORD, address + name.encode() + b"\0") for address, name in names.items())
        if records:
            self._block(_NAMES, records + struct.pack("<HH", 0, 0), [])

    def packet(self, interface: int, time_ns: int, captured: bytes, length: int, comment: str = "") -> None:
        """Writes a packet.

        Args:
            interface: number of the interface.
            time_ns: time since 1970, ns.
            captured: captured bytes from the IP header on.
            length: length of the whole packet, bytes.
            comment: comment on the packet; may be empty.
        """
        head = struct.pack("<IIIII", interface, time_ns >> 32, time_ns & 0xFFFFFFFF, len(captured), length)
        options = [(_COMMENT, comment.encode())] if comment else []
        self._block(_PACKET, head + captured + b"\0" * (-len(captured) % 4), options)

    def _block(self, kind: int, body: bytes, options: Sequence[Option]) -> None:
        if options:
            body += b"".join(_padded(*option) for option in options) + struct.pack("<HH", 0, 0)
        length = len(body) + 12
        self._file.write(struct.pack("<II", kind, length) + body + struct.pack("<I", length))


def _padded(code: int, value: bytes) -> bytes:
    """An option or a record: code, length, and value padded to a multiple of four bytes."""
    return struct.pack("<HH", code, len(value)) + value + b"\0" * (-len(value) % 4)


STATIONS = {"sender": (SENDER,), "receiver": (RECEIVER,), "both": (SENDER, RECEIVER)}
"""Hosts at which packets are captured, by the value of `CapturePlan.station`."""

# Simulated time between two fetches of packets, and the number of packets that the simulator buffers between them.
_SLICE_NS = 100_000_000
CAPACITY = 1 << 22
_YEAR_2000_NS = 946_684_800 * 10**9
_NANOSECONDS = 1e9
_SERVER_PORT = 50_001
_FIRST_CLIENT_PORT = 40_000
_CONNECTION_PORTS = 64  # ports per connection; each time a subflow reopens, it uses the next of them


class SimulatedRun(Protocol):
    """Properties of a run that a capture needs; `StoredOrigin` satisfies this protocol."""

    @property
    def title(self) -> str:
        """Name of the run in messages, e.g. "run 7"."""

    @property
    def scenario(self) -> Scenario:
        """The simulated scenario, including all changes during the run."""

    @property
    def seed(self) -> int:
        """Seed of the run."""

    @property
    def known_until_s(self) -> float:
        """Time that the run reached, s."""

    @property
    def signature(self) -> str:
        """Signature of the run at `known_until_s`; empty if unknown."""

    @property
    def version(self) -> str:
        """Version of Subflow that created the run."""


@dataclass(frozen=True, slots=True)
class CapturePlan:
    """Selection of the packets to capture.

    Attributes:
        flow: name of the flow, e.g. "download.1".
        station: a key of `STATIONS`.
        since_s: simulated time from which packets are captured, s; handshakes are always captured.
        until_s: simulated time until which packets are captured, s; None for the end of the run.
    """

    flow: str
    station: str = "sender"
    since_s: float = 0.0
    until_s: float | None = None


@dataclass(frozen=True, slots=True)
class CaptureResult:
    """The result of writing a capture.

    Attributes:
        path: path of the file.
        packets: number of packets in the file.
        notice: warning for the user; may be empty.
    """

    path: Path
    packets: int
    notice: str = ""


def flow_names(scenario: Scenario) -> tuple[str, ...]:
    """Names of the flows that can be captured; flows with random arrivals have no names before the run."""
    return tuple(name for flow in scenario.flows.values() for name in flow.instances)


def write_capture(
    run: SimulatedRun,
    path: Path,
    plan: CapturePlan,
    *,
    is_cancelled: Callable[[], bool] = lambda: False,
    progress: Callable[[float], None] = lambda fraction: None,
) -> CaptureResult | None:
    """Simulate a run again and write the packets at the network interfaces of a flow's hosts.

    Args:
        run: run to simulate.
        path: file to write; an existing file is replaced only when the new one is complete.
        plan: packets to capture.
        is_cancelled: polled between slices of simulated time.
        progress: called with the completed share, 0 to 1.

    Returns:
        The result; None after a cancellation, which leaves an existing file unchanged.

    Raises:
        InputError: if the plan names an unknown flow or host, or an empty interval.
        ExportError: if the file cannot be written, or a slice has more packets than the buffer holds.
        SimError: if the simulator refuses the scenario.
    """
    from subflow_sim.simulation import Simulation

    scenario = run.scenario
    known_s = min(run.known_until_s, scenario.duration_s)
    check_plan(plan, scenario, known_s)
    simulation = Simulation(scenario, seed=run.seed, sample_interval_s=2 * scenario.duration_s)
    simulation.capture_packets(plan.flow, CAPACITY)
    conversation = _Conversation(plan.flow, scenario, run.signature)
    until_s = known_s if plan.until_s is None else min(plan.until_s, known_s)

    def write(file: IO[bytes]) -> int | None:
        writer = PcapngWriter(
            file,
            application=f"Subflow {subflow_app.__version__}",
            comment=f"{scenario.name}; seed {run.seed}; flow {plan.flow}; run signature {run.signature}",
            interfaces=[
                (name, f"network cards of {host}")
                for name, host in _hosts(scenario, plan.flow)
                if plan.station in (name, "both")
            ],
            names=conversation.names,
        )
        return _write_packets(simulation, conversation, writer, plan, until_s, is_cancelled, progress)

    count = write_when_complete(path, write)
    return None if count is None else CaptureResult(path, count, difference(run, simulation, known_s == until_s))


def write_when_complete(path: Path, write: Callable[[IO[bytes]], int | None]) -> int | None:
    """Write a file beside its place, and move it there when it is complete.

    Args:
        path: the file; an existing one is replaced only when the new one is complete.
        write: writes the content and returns the number of packets or events; None leaves an existing file unchanged.

    Raises:
        ExportError: if the file cannot be written.
    """
    part = path.with_name(f".{path.name}.{os.getpid()}.{uuid4().hex[:8]}.part")
    try:
        with part.open("xb") as file:
            count = write(file)
        if count is not None:
            part.replace(path)
    except OSError as error:
        reason = error.strerror or str(error)
        raise ExportError(f"{path} cannot be written: {reason}; choose another folder") from error
    finally:
        part.unlink(missing_ok=True)
    return count


def difference(run: SimulatedRun, simulation: Simulation, is_whole: bool) -> str:
    """Warning if the repeated simulation of a whole run differs from the run; otherwise empty."""
    if not (run.signature and is_whole and simulation.signature() != run.signature):
        return ""
    return (
        f"{run.title} was made by version {run.version} of Subflow; this one ({subflow_app.__version__}) "
        "simulates it differently, and the capture shows its packets"
    )


def simulated_slices(simulation: Simulation, until_ns: int) -> Iterator[int]:
    """Simulate in slices of time; yield the time after each, ns.

    Raises:
        ExportError: if a slice has more packets than the buffer holds.
    """
    now_ns = 0
    while now_ns < until_ns:
        now_ns = min(now_ns + _SLICE_NS, until_ns)
        simulation.run_until(now_ns / _NANOSECONDS)
        yield now_ns
        if simulation.packets_not_captured:
            raise ExportError(f"more than {CAPACITY} packets within {_SLICE_NS / 1e9:g} s are too many to capture")


def check_plan(plan: CapturePlan, scenario: Scenario, known_s: float) -> None:
    """Refuse a selection without packets.

    Raises:
        InputError: if the plan names an unknown flow or host, or an empty interval.
    """
    if plan.station not in STATIONS:
        raise InputError(f'packets are seen at "{plan.station}": must be one of {", ".join(STATIONS)}')
    names = flow_names(scenario)
    if plan.flow not in names:
        raise InputError(f'unknown flow "{plan.flow}"; the flows are {", ".join(names) or "none"}')
    until_s = known_s if plan.until_s is None else plan.until_s
    if not 0 <= plan.since_s < until_s:
        raise InputError(
            f"a capture from {plan.since_s:g} s to {until_s:g} s would be empty: it must begin at 0 s or later, "
            "and end later than it begins"
        )
    if plan.since_s >= known_s:
        raise InputError(f"a capture from {plan.since_s:g} s on would be empty: the run ends at {known_s:g} s")


def _hosts(scenario: Scenario, instance: str) -> list[tuple[str, str]]:
    flow = flow_of(scenario, instance)
    return [("sender", flow.source), ("receiver", flow.destination)]


def _write_packets(
    simulation: Simulation,
    conversation: _Conversation,
    writer: PcapngWriter,
    plan: CapturePlan,
    until_s: float,
    is_cancelled: Callable[[], bool],
    progress: Callable[[float], None],
) -> int | None:
    """Simulate the run in slices of time and write its packets; return how many, or None after a cancellation."""
    stations = STATIONS[plan.station]
    numbers = {station: number for number, station in enumerate(stations)}
    since_ns, until_ns = (round(time_s * _NANOSECONDS) for time_s in (plan.since_s, until_s))
    # A handshake is generated only at its end, when its subflow is established. Packets therefore wait for the duration
    # of the longest handshake before they are written in time order.
    waiting: list[tuple[int, int, WirePacket]] = []
    order = count = 0
    for now_ns in simulated_slices(simulation, until_ns):
        if is_cancelled():
            return None
        for packet in conversation.packets(simulation.take_marks(), simulation.take_packets()):
            order += 1
            heapq.heappush(waiting, (packet.time_ns, order, packet))
        ripe_ns = until_ns if now_ns == until_ns else now_ns - conversation.longest_handshake_ns
        while waiting and waiting[0][0] <= ripe_ns:
            packet = heapq.heappop(waiting)[2]
            # Handshakes are always written, because analysers need them to interpret the later packets.
            if packet.station in numbers and (packet.opens or since_ns <= packet.time_ns):
                count += 1
                time_ns = _YEAR_2000_NS + packet.time_ns
                writer.packet(numbers[packet.station], time_ns, packet.captured, packet.length, packet.comment)
        progress(now_ns / until_ns)
    return count


class _Conversation:
    """Converts the captured packets of one flow to bytes. A new TCP connection begins each time a subflow opens."""

    def __init__(self, instance: str, scenario: Scenario, signature: str) -> None:
        flow = flow_of(scenario, instance)
        self._flow, self._instance, self._signature = flow, instance, signature
        self._mss_bytes = payload_bytes(scenario, flow)
        self._secrets = Secrets.of(instance, signature) if flow.kind == "mptcp" else None
        self._one_way_ns = [_delays(scenario, flow, path) for path in flow.paths]
        self._has_handshakes = bool(effective_transport(scenario.profile, scenario.transport)["handshake"])
        self.longest_handshake_ns = max(map(sum, self._one_way_ns))
        self._closed = [0] * len(flow.paths)
        self._wires: dict[tuple[int, int], TcpWire] = {}
        self._has_opened = False
        self._datagrams: dict[int, tuple[bytes, int]] = {}
        self._number = list(flow.instances).index(instance)
        # Subflows have names such as "download.1/2"; datagrams have the name of their flow.
        self._order = {f"{instance}/{number + 1}": number for number in range(len(flow.paths))} | {instance: 0}

    @property
    def names(self) -> dict[bytes, str]:
        """Names by address; each consists of the host and its link on the path."""
        names = {}
        for number, path in enumerate(self._flow.paths):
            sender, receiver = self._ends(number, 0)
            names[sender.address] = f"{self._flow.source}.{path[0]}"
            names[receiver.address] = f"{self._flow.destination}.{path[-1]}"
        return names

    def packets(self, marks: Sequence[Mark], captured: CapturedPackets) -> Iterator[WirePacket]:
        """Yield the packets of a slice of time: generated handshakes first, then captured packets in time order."""
        for mark in marks:
            number = self._order.get(mark.owner)
            if number is None or self._flow.sends_datagrams:
                continue
            if mark.kind == "established" and not self._has_handshakes:
                wire = self._open(number, self._closed[number])
                flags = _made_up_ecn_flags(captured, mark.owner, self._closed[number])
                yield from wire.generated_handshake(mark.time_ns, self._one_way_ns[number], flags)
            elif mark.kind == "closed":
                self._closed[number] += 1
        places = [self._order.get(name, 0) for name in captured.subflows]
        heads = (captured.time_ns, captured.subflow, captured.incarnation, captured.kind, captured.station)
        rests = (captured.seq, captured.data_seq, captured.transmission, captured.payload_bytes)
        marks_of = (captured.ecn, captured.ecn_flags)
        rows = zip(*(column.tolist() for column in heads + rests + marks_of), strict=True)
        for row, (time_ns, subflow, incarnation, kind, station, *rest) in enumerate(rows):
            seq, data_seq, transmission, payload, ecn, flags = rest
            number = places[subflow]
            packet: WirePacket | None
            if kind == HANDSHAKE:
                opened = self._wires.get((number, incarnation)) or self._open(number, incarnation)
                leaves = station == (RECEIVER if seq % 2 else SENDER)
                if not leaves:
                    packet = opened.handshake_arrives(time_ns, seq, transmission)
                elif seq < ADD_ADDR_ECHO:
                    packet = opened.handshake_leaves(time_ns, seq, transmission, flags)
                else:
                    _, announced = self._ends(data_seq, 0)
                    packet = opened.signal_leaves(time_ns, seq, transmission, data_seq + 1, announced.address)
            elif kind not in (DATA, ACK):
                packet = self._datagram(number, station, time_ns, seq, payload)
            else:
                wire = self._wires[number, incarnation]
                if kind == DATA and station == SENDER:
                    packet = wire.data_leaves(time_ns, seq, data_seq, transmission, payload, ecn, flags)
                elif kind == DATA:
                    packet = wire.data_arrives(time_ns, transmission, ecn)
                elif station == RECEIVER:
                    echo_ns, right_edge = int(captured.echo_ns[row]), int(captured.right_edge[row])
                    ranges = captured.sack[row, : captured.sack_count[row]].tolist()
                    counters = captured.ecn_bytes[row].tolist() if captured.has_ecn_option[row] else ()
                    packet = wire.ack_leaves(
                        time_ns, echo_ns, seq, data_seq, transmission, right_edge, ranges, flags, counters
                    )
                else:
                    packet = wire.ack_arrives(time_ns, transmission)
            if packet is not None:
                yield packet

    # ---- internals ----

    def _open(self, number: int, incarnation: int) -> TcpWire:
        sender, receiver = self._ends(number, incarnation)
        joins, self._has_opened = self._has_opened, True
        wire = self._wires[number, incarnation] = TcpWire(
            sender,
            receiver,
            self._mss_bytes,
            self._flow.size_bytes,
            self._flow.recv_buffer_bytes,
            self._secrets,
            joins,
            number + 1,
            number + 1 in self._flow.backup,
            f"{self._signature}/{self._instance}/{number}/{incarnation}",
        )
        return wire

    def _datagram(self, number: int, station: int, time_ns: int, seq: int, payload: int) -> WirePacket | None:
        if station == SENDER:
            sender, receiver = self._ends(number, 0)
            packet = headers.udp_packet(sender, receiver, payload_bytes=payload, identification=seq)
            self._datagrams[seq] = packet, len(packet) + payload
            return WirePacket(time_ns, SENDER, packet, len(packet) + payload)
        known = self._datagrams.pop(seq, None)
        return None if known is None else WirePacket(time_ns, RECEIVER, *known)

    def _ends(self, number: int, incarnation: int) -> tuple[End, End]:
        port = _FIRST_CLIENT_PORT + self._number % 256 * _CONNECTION_PORTS + incarnation % _CONNECTION_PORTS
        sender, receiver = (struct.pack(">BBBB", 10, number // 256, number % 256, last) for last in (1, 2))
        return End(sender, _SERVER_PORT), End(receiver, port)


def _made_up_ecn_flags(captured: CapturedPackets, subflow: str, incarnation: int) -> tuple[int, int, int]:
    """ECN flags of the SYN, SYN/ACK and ACK of a generated handshake, derived from the first data packet.

    Source: RFC 3168 section 6.1.1, RFC 9768 section 3.1.1.
    """
    names = np.array([name == subflow for name in captured.subflows])
    is_data = (captured.kind == DATA) & (captured.station == SENDER) & (captured.incarnation == incarnation)
    rows = np.flatnonzero(is_data & names[captured.subflow])
    if len(rows) == 0:
        return 0, 0, 0
    if captured.ecn_flags[rows[0]] == 5:  # AccECN's counter at its initial value
        return 7, 2, 2
    return (3, 1, 0) if captured.ecn[rows[0]] else (0, 0, 0)


def flow_of(scenario: Scenario, instance: str) -> Flow:
    """The flow with a copy of this name."""
    return next(flow for flow in scenario.flows.values() if instance in flow.instances)


def payload_bytes(scenario: Scenario, flow: Flow) -> int:
    """Payload of a full packet, i.e. the MSS less the MPTCP option."""
    if flow.kind != "mptcp":
        return scenario.mss_bytes
    option_bytes = effective_transport(scenario.profile, scenario.transport)["dss_option"]
    assert isinstance(option_bytes, int | float)
    return scenario.mss_bytes - min(int(option_bytes), scenario.mss_bytes - 1)


def _delays(scenario: Scenario, flow: Flow, path: Sequence[str]) -> tuple[int, int]:
    """Propagation delay from source to destination and back over a path's links at the start of the run, ns."""
    there = back = 0.0
    at = flow.source
    for name in path:
        link = scenario.links[name]
        is_forward = link.ends[0] == at
        at = link.ends[1] if is_forward else link.ends[0]
        there += (link.forward if is_forward else link.reverse).delay_s
        back += (link.reverse if is_forward else link.forward).delay_s
    return round(there * _NANOSECONDS), round(back * _NANOSECONDS)
