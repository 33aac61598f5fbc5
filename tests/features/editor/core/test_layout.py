"""Automatic places: left to right, no two nodes on one spot, and stable while a person moves nodes."""

from __future__ import annotations

import itertools
import random

import pytest

from subflow_app.features.editor.core.layout import LAYER_WIDTH, ROW_HEIGHT, place_nodes


def test_sources_stand_left_and_destinations_right() -> None:
    links = [("s1", "r1"), ("s2", "r1"), ("r1", "r2"), ("r2", "d1"), ("r2", "d2")]

    places = place_nodes(["d1", "d2", "r1", "r2", "s1", "s2"], links, sources=["s1", "s2"], destinations=["d1", "d2"])

    columns = {name: x / LAYER_WIDTH for name, (x, _) in places.items()}
    assert columns == {"s1": 0, "s2": 0, "r1": 1, "r2": 2, "d1": 3, "d2": 3}
    # Both routers on the middle line of a symmetric drawing.
    assert places["r1"][1] == places["r2"][1] == (places["s1"][1] + places["s2"][1]) / 2


def test_a_destination_stands_right_of_its_longest_path() -> None:
    links = [("s", "a"), ("a", "d"), ("s", "b"), ("b", "c"), ("c", "d")]

    places = place_nodes(["s", "a", "b", "c", "d"], links, sources=["s"], destinations=["d"])

    assert places["d"][0] > places["c"][0] > places["b"][0] > places["s"][0]


def test_a_direct_link_does_not_run_through_the_node_between() -> None:
    places = place_nodes(["s", "a", "d"], [("s", "a"), ("a", "d"), ("s", "d")], sources=["s"], destinations=["d"])

    assert places["s"][1] == places["d"][1]
    assert abs(places["a"][1] - places["s"][1]) == ROW_HEIGHT / 2


def test_moving_a_node_leaves_the_others_alone() -> None:
    nodes, links = ["a", "b", "c"], [("a", "b"), ("b", "c")]
    before = place_nodes(nodes, links, sources=["a"], destinations=["c"])

    after = place_nodes(nodes, links, sources=["a"], destinations=["c"], fixed={"b": (320.0, 77.0)})

    assert after == {**before, "b": (320.0, 77.0)}


def test_free_nodes_come_to_the_fixed_ones() -> None:
    places = place_nodes(["a", "b"], [("a", "b")], sources=["a"], destinations=["b"], fixed={"a": (5000.0, -4000.0)})

    assert places["a"] == (5000.0, -4000.0)
    assert abs(places["b"][0] - 5000.0) <= LAYER_WIDTH
    assert abs(places["b"][1] + 4000.0) <= ROW_HEIGHT


@pytest.mark.parametrize("count", [1, 2, 7, 60])
def test_no_two_nodes_share_a_place(count: int) -> None:
    names = [f"n{i}" for i in range(count)]
    draw = random.Random(count)
    links = [(a, draw.choice(names)) for a in names for _ in range(2)]

    places = place_nodes(names, links, sources=names[:1], destinations=names[-1:])

    assert set(places) == set(names)
    for (ax, ay), (bx, by) in itertools.combinations(places.values(), 2):
        assert abs(ax - bx) >= LAYER_WIDTH or abs(ay - by) >= ROW_HEIGHT


def test_separate_networks_do_not_overlap() -> None:
    places = place_nodes(["a", "b", "x", "y"], [("a", "b"), ("x", "y")])

    assert places["a"][1] == places["b"][1] != places["x"][1] == places["y"][1]
