"""The drawing process: its pipes keep values unchanged, and it draws the same bytes or reports the reason."""

from __future__ import annotations

import io
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import pytest
from tests.helpers.fake_runs import RICH, finished_traces

from subflow_app.features.paper.core.figure_plan import run_plan
from subflow_app.features.paper.core.figure_process import FigureProcess, pack, read_message, unpack, write_message
from subflow_app.features.paper.core.figure_worker import KINDS
from subflow_app.features.paper.core.figures import render_figure
from subflow_app.features.paper.core.paper_styles import STYLES_BY_ID
from subflow_app.features.plots.core import PLOTS, Band, Curve, Ticks
from subflow_app.foundation.errors import ExportError, InputError
from subflow_app.vocabulary.palette import ColourKey

PLAN = run_plan([plot for plot in PLOTS if plot.is_in(finished_traces(RICH))][:6], [finished_traces(RICH)])


@pytest.fixture(scope="module")
def process() -> Iterator[FigureProcess]:
    made = FigureProcess()
    made.start()
    yield made
    made.close()


def script(text: str, timeout_s: float = 30.0) -> FigureProcess:
    return FigureProcess([sys.executable, "-c", text], timeout_s=timeout_s)


def test_bands_and_marks_go_to_the_process_and_come_back_the_same() -> None:
    values = np.arange(3.0)
    band = Band(0.8, values.astype(np.float32), values.astype(np.float32) + 2)
    curve = Curve("median", "all", "flow", ColourKey(0, 0), values, values.astype(np.float32), bands=(band,))
    ticks = (Ticks(values, 0.1, ColourKey(0, 0)), Ticks(values, text="up"))
    plot = replace(PLAN.plots[0], curves=(curve,), ticks=ticks)
    plan = replace(PLAN, plots=(plot, plot), kind="svg", height_mm=90.0)
    assert render_figure(unpack(pack(plan), KINDS)) == render_figure(plan)


def test_it_draws_what_this_process_draws_and_tells_what_cannot_be_drawn(process: FigureProcess) -> None:
    plan = replace(PLAN, style=STYLES_BY_ID["ieee"], kind="svg")
    assert process.draw(plan) == render_figure(plan)
    # A bug in the process is raised here.
    with pytest.raises(RuntimeError, match="ColourKey cannot be drawn"):
        process.draw(PLAN.plots[0].curves[0].colour)
    with pytest.raises(InputError, match="nothing to draw"):
        process.draw(replace(PLAN, plots=()))

    assert process.draw(replace(PLAN, kind="pdf")).startswith(b"%PDF")


def test_a_process_that_dies_says_its_last_words_and_the_next_try_starts_another() -> None:
    process = script("import sys; sys.stderr.write('out of memory'); sys.exit(3)")
    for _ in range(2):
        with pytest.raises(ExportError, match=r"ended unexpectedly \(out of memory\): try again"):
            process.draw(PLAN)
    process.close()
    # Calls that hang are given up.
    process = script("import time; time.sleep(60)", timeout_s=0.2)
    with pytest.raises(ExportError, match=r"longer than 0\.2 s"):
        process.draw(PLAN)
    process.close()
    with pytest.raises(ExportError, match="No such file"):
        FigureProcess(["/no/such/program"]).start()


def test_closing_gives_a_drawing_up() -> None:
    process = script("import sys; sys.stdin.buffer.read(8); import time; time.sleep(60)")
    errors: list[Exception] = []

    def draw() -> None:
        try:
            process.draw(PLAN)
        except ExportError as error:
            errors.append(error)

    thread = threading.Thread(target=draw)
    thread.start()
    while not process.is_running:
        thread.join(0.01)
    process.close()
    thread.join(20)

    assert not thread.is_alive()
    assert [str(error) for error in errors] == ["drawing was cancelled"]


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
