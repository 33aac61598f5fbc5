"""The automatic layout: left to right, no two nodes in one place, and stable while a person moves nodes."""

from __future__ import annotations

import itertools
import math
import random

import pytest
from tests.helpers.members import for_each

from subflow_app.features.editor.core.layout import (
    EDGES,
    LAYER_WIDTH,
    ROW_HEIGHT,
    Edge,
    aligned,
    distributed,
    laid_out,
    place_nodes,
    snapped_shift,
)


def test_sources_stand_left_and_destinations_right() -> None:
    links = [("s1", "r1"), ("s2", "r1"), ("r1", "r2"), ("r2", "d1"), ("r2", "d2")]

    places = place_nodes(["d1", "d2", "r1", "r2", "s1", "s2"], links, sources=["s1", "s2"], destinations=["d1", "d2"])

    columns = {name: x / LAYER_WIDTH for name, (x, _) in places.items()}
    assert columns == {"s1": 0, "s2": 0, "r1": 1, "r2": 2, "d1": 3, "d2": 3}
    # Both routers lie on the middle line of a symmetric drawing.
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


PLACES = {"a": (0.0, 10.0), "b": (100.0, 50.0), "c": (40.0, 90.0)}


@for_each(
    ("edge", "axis", "value"),
    [("left", 0, 0), ("right", 0, 100), ("centre_x", 0, 50), ("top", 1, 10), ("bottom", 1, 90), ("centre_y", 1, 50)],
)
def test_alignment_shares_one_coordinate_and_keeps_the_other(edge: Edge, axis: int, value: float) -> None:
    places = aligned(PLACES, edge)
    assert {place[axis] for place in places.values()} == {value}
    assert all(places[name][1 - axis] == PLACES[name][1 - axis] for name in PLACES)


def test_every_edge_takes_nothing_at_all() -> None:
    assert [aligned({}, edge) for edge in EDGES] == [{}] * 6


def test_distribution_keeps_the_ends_and_the_order() -> None:
    assert distributed(PLACES, "x") == {"a": (0, 10.0), "c": (50, 90.0), "b": (100, 50.0)}
    assert distributed(PLACES, "y") == PLACES
    assert distributed({"a": (0.0, 0.0), "b": (7.0, 0.0)}, "x") == {"a": (0.0, 0.0), "b": (7.0, 0.0)}


def test_a_group_snaps_by_the_node_that_is_held_and_keeps_its_shape() -> None:
    assert snapped_shift((13.0, 5.0), (9.0, 0.0), 20.0) == (7.0, -5.0)


def test_small_pictures_read_from_source_to_destination() -> None:
    places = laid_out(["d", "s", "r"], [("s", "r"), ("r", "d")], {"s"}, {"d"})
    assert places["s"][0] < places["r"][0] < places["d"][0]


def test_a_part_is_laid_out_where_it_was() -> None:
    at = {"a": (1000.0, 2000.0), "b": (1100.0, 2100.0)}
    places = laid_out(["a", "b"], [("a", "b"), ("b", "elsewhere")], at=at)
    assert set(places) == {"a", "b"}
    assert sum(x for x, _ in places.values()) / 2 == pytest.approx(1050, abs=1)
    assert sum(y for _, y in places.values()) / 2 == pytest.approx(2050, abs=1)


def test_a_mesh_is_laid_out_by_forces_without_nodes_that_cover_each_other() -> None:
    side = 8
    nodes = [f"n{x}-{y}" for x in range(side) for y in range(side)]
    links = [(f"n{x}-{y}", f"n{x + 1}-{y}") for x in range(side - 1) for y in range(side)]
    links += [(f"n{x}-{y}", f"n{x}-{y + 1}") for x in range(side) for y in range(side - 1)]
    places = laid_out(nodes, links, {"n0-0"}, {"n7-7"})
    assert places == laid_out(nodes, links, {"n0-0"}, {"n7-7"}), "the same every time"
    assert places["n0-0"][0] < places["n7-7"][0]
    nearest = min(math.dist(places[a], places[b]) for a, b in itertools.combinations(nodes, 2))
    assert nearest > 55  # nodes are 52 wide
    # Linked nodes are closer to each other than other nodes.
    linked = sum(math.dist(places[a], places[b]) for a, b in links) / len(links)
    others = [math.dist(places[a], places[b]) for a, b in itertools.combinations(nodes, 2)]
    assert linked < 0.5 * sum(others) / len(others)
