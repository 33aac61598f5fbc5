"""Samples of sockets as traces of flows: names, paths, several connections, resets, UDP, and late samples."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from tests.helpers.emulations import TWO_PATHS

from subflow_app.features.emulation.core.flows import FlowRecorder, GrowingTable
from subflow_app.features.emulation.core.network import plan_emulation
from subflow_sim.scenario import parse_scenario

NETWORK = plan_emulation(parse_scenario(TWO_PATHS))


def recorder() -> FlowRecorder:
    return FlowRecorder(NETWORK, warmup_s=0.0)


def socket(
    number: int,
    node: str,
    local: str,
    remote: str,
    acked: int,
    token: int = 0,
    port: int = 40_000,
    gone: bool = False,
) -> dict[str, Any]:
    packets = acked // 1448
    info = [True, 10 + number, math.nan, 0.05, 0.04, 4, math.nan, packets, packets, 0, acked, 0, 0.0, 0.0]
    return {
        "node": node,
        "id": str(number),
        "token": token,
        "local": local,
        "port": port,
        "remote": remote,
        "remote_port": 80 if port != 80 else 40_000,
        "info": info,
        "controller": "cubic",
        "gone": gone,
    }


def sample(at_s: float, sockets: list[dict[str, Any]], **more: Any) -> dict[str, Any]:
    return {"at_s": at_s, "sockets": sockets, "mptcp": more.get("mptcp", []), "udp": more.get("udp", [])}


def test_a_connection_between_the_ends_of_a_flow_is_this_flow_on_its_path() -> None:
    flows = recorder()
    for step in range(1, 5):
        acked = 40_000 * step
        flows.add(
            0.05 * step,
            sample(
                0.05 * step,
                [
                    socket(1, "client", "10.0.0.1", "10.0.0.2", acked, token=7),
                    socket(2, "client", "10.0.0.17", "10.0.0.2", acked // 2, token=7),
                    socket(3, "server", "10.0.0.2", "10.0.0.1", 500, token=7, port=80),
                ],
                mptcp=[{"node": "client", "token": 7, "acked_bytes": 50_000 * step}],
            ),
        )
    assert list(flows.flows) == ["upload"]
    upload = flows.flows["upload"]
    assert upload.protocol == "mptcp"
    # Goodput is that of the connection: less than the sum of both subflows, which sent some data twice.
    assert upload.table.values(0)[1:] == pytest.approx([8e6] * 3)
    first, second = upload.subflows[1], upload.subflows[2]
    assert first.table.values(1)[1:] == pytest.approx([6.4e6] * 3)
    assert second.table.values(1)[1:] == pytest.approx([3.2e6] * 3)
    assert (first.table.values(2)[-1], second.table.values(2)[-1]) == (11, 12)
    assert first.totals.acked_bytes == 160_000
    assert first.totals.rtt_sum / first.totals.rtt_weight == pytest.approx(0.05)


def test_the_same_path_is_known_from_a_connection_that_the_destination_opened() -> None:
    flows = recorder()
    # The server opened it from its address on LTE to the client's on Wi-Fi; the client sends.
    flows.add(0.05, sample(0.05, [socket(1, "client", "10.0.0.1", "10.0.0.18", 20_000, port=80)]))
    upload = flows.flows["upload"]
    assert upload.subflows[2].totals.acked_bytes == 20_000


def test_other_connections_are_named_after_the_sender_and_the_lower_port() -> None:
    flows = recorder()
    flows.add(0.05, sample(0.05, [socket(1, "server", "10.0.0.2", "10.0.0.1", 100)]))
    assert [trace.name for trace in flows.others()] == []  # too small, as a request is
    flows.add(0.10, sample(0.10, [socket(1, "server", "10.0.0.2", "10.0.0.1", 30_000)]))
    (trace,) = flows.others()
    assert trace.name == "server:80"
    assert trace.subflows[1].path == ("wifi",)
    whole = trace.table.whole(flows.rows, (0.0,))
    assert whole[:, 0] == pytest.approx([0.0, 30_000 * 8 / 0.05])


def test_a_connection_that_is_gone_counts_with_its_last_state() -> None:
    flows = recorder()
    flows.add(0.05, sample(0.05, [socket(1, "client", "10.0.0.1", "10.0.0.2", 20_000)]))
    flows.add(0.10, sample(0.10, [socket(1, "client", "10.0.0.1", "10.0.0.2", 30_000, gone=True)]))
    # Another with the same number would be a new one; a small one that is gone belongs to the flow, too.
    flows.add(0.15, sample(0.15, [socket(2, "client", "10.0.0.1", "10.0.0.2", 1_000, gone=True)]))
    assert flows.flows["upload"].goodput_bytes == 31_000


def test_counters_that_mptcp_resets_do_not_count_backwards() -> None:
    flows = recorder()
    for at_s, acked, gone in ((0.05, 20_000, False), (0.10, 0, True)):
        flows.add(at_s, sample(at_s, [socket(1, "client", "10.0.0.1", "10.0.0.2", acked, gone=gone)]))
    assert flows.flows["upload"].subflows[1].totals.acked_bytes == 20_000
    assert min(flows.flows["upload"].subflows[1].table.values(1)) >= 0


def test_a_late_sample_is_spread_over_its_rows() -> None:
    flows = recorder()
    flows.add(0.05, sample(0.05, [socket(1, "client", "10.0.0.1", "10.0.0.2", 20_000)]))
    flows.add(0.20, sample(0.20, [socket(1, "client", "10.0.0.1", "10.0.0.2", 80_000)]), rows=3)
    assert flows.rows == 4
    assert flows.flows["upload"].table.values(0)[1:] == pytest.approx([60_000 * 8 / 0.15] * 3)


def test_udp_counts_where_it_arrives_without_its_acknowledgements() -> None:
    def talk(link: int, source: str, destination: str, port: int, remote: int, size: int) -> dict[str, Any]:
        return {
            "link": link,
            "source": source,
            "destination": destination,
            "port": port,
            "remote_port": remote,
            "offered": size // 1000,
            "lost": size // 10_000,
            "bytes": size,
        }

    flows = recorder()
    for step in range(1, 3):
        data = talk(0, "10.0.0.1", "10.0.0.2", 50_000, 4433, 100_000 * step)
        answers = talk(1, "10.0.0.2", "10.0.0.1", 4433, 50_000, 9_000 * step)
        flows.add(0.05 * step, sample(0.05 * step, [], udp=[data, answers]))
    assert list(flows.flows) == ["upload"]
    upload = flows.flows["upload"]
    assert upload.protocol == "udp"
    # 100 packets of which 10 were lost, each with 28 bytes of headers.
    assert upload.table.values(0)[1] == pytest.approx((100_000 - 90 * 28) * 8 / 0.05)
    assert upload.subflows[1].table.values(8)[1] == 10
    assert np.isnan(upload.subflows[1].table.values(2)[1])


def test_a_table_grows_and_is_filled_up() -> None:
    table = GrowingTable(2, first_row=3)
    for number in range(0, 600, 3):  # three rows at a time cross the border at which the table grows
        table.append((number, -number), 3)
    whole = table.whole(700, (7.0, 8.0))
    assert whole.shape == (700, 2)
    assert whole[:3].tolist() == [[7.0, 8.0]] * 3
    assert whole[3].tolist() == [0.0, 0.0]
    assert whole[602].tolist() == [597.0, -597.0]
    assert whole[603:].tolist() == [[7.0, 8.0]] * 97
