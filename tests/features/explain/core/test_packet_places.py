"""Packets lie on the lines of their links, in their lanes, at their progress."""

from __future__ import annotations

import numpy as np
import pytest
from tests.helpers.instants import P, make_instant

from subflow_app.features.explain.core.instants import QueueStack, Track, packet_places

LINKS = ("wifi/forward", "wifi/reverse", "lte/forward")
SUBFLOWS = ("download.1/1", "download.2/1", "cross")


def straight(side: float = 0.0) -> Track:
    """A track from (0, 0) to (240, 0); its left is up, which is negative y."""
    return Track(
        np.array([(0.0, 0.0), (240.0, 0.0)]),
        np.array([(0.0, -1.0), (0.0, -1.0)]),
        {"download/1": 3.0, "cross": -3.0},
        half_width=8.0,
        first_reach=20.0,
        second_reach=20.0,
        side=side,
    )


def test_progress_is_the_share_of_the_way_between_the_nodes() -> None:
    packets = [P("wifi/forward", "download.1/1", progress=share) for share in (0.0, 0.25, 1.0)]
    packets += [P("wifi/reverse", "download.2/1", 1, share) for share in (0.0, 0.25)]
    packets += [P("wifi/forward", "cross", 2, 0.5), P("lte/forward", "cross", 2, 0.5)]
    places = packet_places(make_instant(1.0, packets, LINKS, SUBFLOWS), {"wifi": straight()})
    # 200 of the 240 units are free of the nodes; copies of a flow share its lane; the picture does not contain lte.
    assert list(places.x) == pytest.approx([20, 70, 220, 120, 220, 170])
    assert list(places.y) == pytest.approx([-3, -3, -3, 3, -3, -3])
    assert list(places.kind) == [0, 0, 0, 2, 1, 1]
    assert list(places.subflow) == [0, 0, 0, 2, 1, 1]
    assert not places.is_queued.any()
    assert places.left_out == 0


def test_packets_keep_to_the_right_of_their_way() -> None:
    packets = [P("wifi/forward", "download.1/1", 0, 0.5), P("wifi/reverse", "download.1/1", 1, 0.5)]
    places = packet_places(make_instant(1.0, packets, LINKS, SUBFLOWS), {"wifi": straight(side=1.0)})
    # In the direction of larger x, the right side has larger y.
    assert list(places.y) == pytest.approx([-2.0, -4.0])


def test_packets_follow_a_curve_by_its_length() -> None:
    # The legs have 100 and 300 units: half of the way lies in the second.
    track = Track(
        np.array([(0.0, 0.0), (100.0, 0.0), (100.0, 300.0)]),
        np.array([(0.0, -1.0), (0.7071, -0.7071), (1.0, 0.0)]),
        {},
        4.0,
        0.0,
        0.0,
    )
    places = packet_places(make_instant(1.0, [P("wifi/forward", "cross", 2, 0.5)], LINKS, SUBFLOWS), {"wifi": track})
    assert (places.x[0], places.y[0]) == pytest.approx((100.0, 100.0))
    assert np.hypot(places.across_x[0], places.across_y[0]) == pytest.approx(1.0)


def test_queues_stand_beside_the_link_at_the_sender() -> None:
    packets = [P("wifi/forward", "download.1/1", 0, 0.0, place) for place in range(7)]
    packets += [P("wifi/reverse", "download.1/1", 1, 0.0, place) for place in range(2)]
    stack = QueueStack(pitch=4.0, rows=3, gap=2.0, most_share=0.5)
    places = packet_places(make_instant(1.0, packets, LINKS, SUBFLOWS), {"wifi": straight()}, stack=stack)
    assert places.is_queued.all()
    assert [(mark.owner, mark.waiting) for mark in places.queues] == [("wifi/forward", 7), ("wifi/reverse", 2)]
    # Forward: below the line, columns of three from its first end; reverse: above, from the other end.
    assert list(places.x[:7]) == pytest.approx([26, 26, 26, 30, 30, 30, 34])
    assert list(places.y[:7]) == pytest.approx([10, 14, 18, 10, 14, 18, 10])
    assert list(places.x[7:]) == pytest.approx([214, 214])
    assert list(places.y[7:]) == pytest.approx([-10, -14])


def test_a_long_queue_is_drawn_full_and_told_exactly() -> None:
    packets = [P("wifi/forward", "download.1/1", 0, 0.0, place) for place in range(1000)]
    stack = QueueStack(pitch=4.0, rows=3, gap=2.0, most_share=0.1)
    places = packet_places(make_instant(1.0, packets, LINKS, SUBFLOWS), {"wifi": straight()}, stack=stack)
    assert len(places) == 18  # 24 units take six columns
    assert places.queues[0].waiting == 1000


def test_too_many_packets_of_a_link_are_thinned_and_counted() -> None:
    packets = [P("wifi/forward", "download.1/1", 0, share) for share in np.linspace(0, 1, 500)]
    packets += [P("wifi/reverse", "download.1/1", 1, share) for share in np.linspace(0, 1, 50)]
    places = packet_places(make_instant(1.0, packets, LINKS, SUBFLOWS), {"wifi": straight()}, most=100)
    assert len(places) == 150
    assert places.left_out == 400
    assert places.x[:100].min() == pytest.approx(20.0)
    assert places.x[:100].max() == pytest.approx(220.0)


def test_nothing_under_way_is_no_places() -> None:
    assert len(packet_places(make_instant(0.0, [], LINKS, SUBFLOWS), {"wifi": straight()})) == 0
