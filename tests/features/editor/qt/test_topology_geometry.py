"""The geometry of lines, lanes and labels: parallel, apart, and without overlap."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPointF, QRectF, QSizeF

from subflow_app.features.editor.qt.topology.geometry import (
    PARALLEL_SPACING,
    choose_place,
    crosses,
    label_places,
    link_curve,
)

LEFT, RIGHT = QPointF(0, 0), QPointF(600, 0)


def test_a_single_link_is_a_straight_line() -> None:
    curve = link_curve(LEFT, RIGHT, 0)

    assert curve.points == (LEFT, RIGHT)
    assert curve.at(0.25)[0] == QPointF(150, 0)


@pytest.mark.parametrize("ends", [(LEFT, RIGHT), (RIGHT, LEFT)])
def test_the_first_of_two_parallel_links_is_above_whichever_way_it_is_declared(ends: tuple[QPointF, QPointF]) -> None:
    upper, lower = link_curve(*ends, 0.5), link_curve(*ends, -0.5)

    assert upper.at(0.5)[0].y() == pytest.approx(-PARALLEL_SPACING / 2)
    assert lower.at(0.5)[0].y() == pytest.approx(PARALLEL_SPACING / 2)
    assert upper.at(0.5)[0].x() == pytest.approx(300)


def test_lanes_keep_their_distance_from_the_middle() -> None:
    curve = link_curve(LEFT, QPointF(300, 400), 0.5)

    lane = curve.path(6.0)

    for share in (0.0, 0.5, 1.0):
        middle, normal = curve.at(share)
        assert QPointF(middle + normal * 6.0 - lane.pointAtPercent(share)).manhattanLength() < 2.0


@pytest.mark.parametrize("from_end", [True, False])
@pytest.mark.parametrize("bow", [0.0, 1.0])
def test_arrow_heads_touch_the_node(from_end: bool, bow: float) -> None:
    curve = link_curve(LEFT, RIGHT, bow)

    tip, way = curve.point_at_distance(30.0, 5.0, from_end=from_end)

    distance = tip - (RIGHT if from_end else LEFT)
    assert (distance.x() ** 2 + distance.y() ** 2) ** 0.5 == pytest.approx(30.0, abs=0.5)
    assert way.x() > 0.7  # from the first end to the second, for either end


@pytest.mark.parametrize("end", [RIGHT, QPointF(0, 500), QPointF(400, 300), QPointF(-400, 300), QPointF(500, -20)])
@pytest.mark.parametrize("bow", [0.0, 0.5, -1.0])
def test_no_label_place_lies_on_its_own_straight_line(end: QPointF, bow: float) -> None:
    curve = link_curve(LEFT, end, bow)

    places = list(label_places(curve, 10.0, QSizeF(160, 40)))

    assert not crosses(curve, places[0])
    if bow == 0:
        assert not any(crosses(curve, place) for place in places)


def test_the_best_free_place_is_taken() -> None:
    curve = link_curve(LEFT, RIGHT, 0)
    places = list(label_places(curve, 10.0, QSizeF(160, 40)))
    assert places[0].center().x() == pytest.approx(300)
    assert places[0].bottom() == pytest.approx(-10)  # above, clear of the line by the half width

    assert choose_place(places, [], [curve]) == (places[0], True)
    chosen, is_free = choose_place(places, [places[0].adjusted(20, 0, -20, 0)], [curve])
    assert is_free
    assert not chosen.intersects(places[0].adjusted(20, 0, -20, 0))
    # Without free space the label still gets a place.
    chosen, is_free = choose_place(places, [QRectF(-1000, -1000, 3000, 2000)], [curve])
    assert not is_free
    assert chosen in places


def test_a_line_crosses_a_rectangle_only_where_it_runs() -> None:
    curve = link_curve(LEFT, QPointF(100, 100), 0)

    assert crosses(curve, QRectF(40, 40, 20, 20))
    assert not crosses(curve, QRectF(60, 0, 30, 30))
    assert not crosses(link_curve(LEFT, RIGHT, 0), QRectF(100, 1, 50, 50))
