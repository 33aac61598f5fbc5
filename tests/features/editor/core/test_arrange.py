"""Where nodes go when they are put in order."""

from __future__ import annotations

import itertools
import math

import pytest
from tests.helpers.members import for_each

from subflow_app.features.editor.core.layout import EDGES, Edge, aligned, distributed, laid_out, snapped_shift

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
    # What is linked is nearer than what is not.
    linked = sum(math.dist(places[a], places[b]) for a, b in links) / len(links)
    others = [math.dist(places[a], places[b]) for a, b in itertools.combinations(nodes, 2)]
    assert linked < 0.5 * sum(others) / len(others)
