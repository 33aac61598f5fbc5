"""Values that go through pipes come back as they were, and nothing else does."""

from __future__ import annotations

import io
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pytest

from subflow_app.features.paper.core.figure_process import pack, read_message, unpack, write_message


class Point(NamedTuple):
    x: int
    y: float


@dataclass(frozen=True)
class Shape:
    name: str
    points: tuple[Point, ...]
    values: np.ndarray
    more: Any = None


def test_records_come_back_with_their_arrays() -> None:
    shape = Shape(
        "ünï",
        (Point(1, 2.5), Point(-3, float("inf"))),
        np.array([1.0, np.nan], np.float32),
        {"a": (b"\x00raw", None, True), "b": Shape("inner", (), np.arange(3.0))},
    )

    back = unpack(pack(shape), (Shape, Point))

    assert (back.name, back.points) == (shape.name, shape.points)
    assert back.values.dtype == np.float32
    np.testing.assert_array_equal(back.values, shape.values)
    assert back.more["a"] == (b"\x00raw", None, True)
    np.testing.assert_array_equal(back.more["b"].values, [0.0, 1.0, 2.0])


def test_what_cannot_be_packed_or_unpacked_is_named() -> None:
    with pytest.raises(ValueError, match="a Shape is not one of Point"):
        unpack(pack(Shape("x", (), np.zeros(1))), (Point,))
    with pytest.raises(ValueError, match="cut off"):
        unpack(pack(np.arange(9.0))[:-1], ())
    with pytest.raises(TypeError, match="function cannot be packed"):
        pack((1, pack))
    with pytest.raises(TypeError, match="object cannot be packed"):
        pack(np.array([object()]))


def test_messages_have_an_end_and_a_broken_one_is_none() -> None:
    pipe = io.BytesIO()
    write_message(pipe, b"one")
    write_message(pipe, b"")
    whole = pipe.getvalue()

    pipe = io.BytesIO(whole)
    assert [read_message(pipe), read_message(pipe), read_message(pipe)] == [b"one", b"", None]
    assert read_message(io.BytesIO(whole[:9])) is None
