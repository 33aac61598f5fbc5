"""Captured packets on the Python side: names, columns and errors; the core's tests count them."""

import numpy as np
import pytest

from subflow_sim import Simulation, load_scenario
from subflow_sim.errors import ParamError
from subflow_sim.instant import ACK, DATA, DATAGRAM
from subflow_sim.packets import NO_EDGE, RECEIVER, SENDER


def test_a_packet_arrives_after_it_left_with_the_numbers_it_left_with() -> None:
    simulation = Simulation(load_scenario("assets/scenarios/demo.toml"))
    simulation.capture_packets("download")
    simulation.run_until(2.0)
    packets = simulation.take_packets()

    left = {}
    for row in np.flatnonzero((packets.kind == ACK) & (packets.station == RECEIVER)):
        left[packets.subflow[row], packets.transmission[row]] = (packets.time_ns[row], packets.seq[row])
    arrivals = np.flatnonzero((packets.kind == ACK) & (packets.station == SENDER))
    assert len(arrivals) > 100
    for row in arrivals:
        time_ns, seq = left[packets.subflow[row], packets.transmission[row]]
        assert time_ns < packets.time_ns[row]
        assert seq == packets.seq[row]
    assert {packets.subflows[number] for number in np.unique(packets.subflow)} == {"download/1", "download/2"}
    data = packets.kind == DATA
    assert set(packets.payload_bytes[data]) == {1424}  # 1448 less 24 of the DSS option
    assert set(packets.size_bytes[data]) == {1500}
    assert set(packets.right_edge[packets.kind == ACK]) == {NO_EDGE}


def test_datagrams_are_captured_as_well() -> None:
    simulation = Simulation(load_scenario("assets/scenarios/t-10d.toml"))
    simulation.capture_packets("bursts")
    simulation.run_until(20.0)
    packets = simulation.take_packets()
    assert set(packets.kind) == {DATAGRAM}
    assert set(packets.payload_bytes) == {1472}  # 1500 less the headers of IP and UDP
    assert (packets.station == SENDER).sum() >= (packets.station == RECEIVER).sum() > 0


@pytest.mark.parametrize(("flow", "capacity"), [("upload", 10), ("download", 0)])
def test_what_cannot_be_captured_is_named(flow: str, capacity: int) -> None:
    simulation = Simulation(load_scenario("assets/scenarios/demo.toml"))
    with pytest.raises(ParamError, match=flow if flow == "upload" else "0"):
        simulation.capture_packets(flow, capacity)
