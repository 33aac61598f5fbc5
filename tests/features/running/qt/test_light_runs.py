"""Runs that are stored without traces are simulated again when they are opened, with progress and cancel."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PySide6.QtWidgets import QToolButton
from pytestqt.qtbot import QtBot
from tests.helpers.desk import Desk, MakeDesk
from tests.helpers.present import present

from subflow_app.features.running.core.again import simulate_again
from subflow_app.features.traces.core.traces import StoredTraces
from subflow_app.shell.actions.view import view_rows
from subflow_app.toolkit.widgets.results_strip import ResultsStrip
from subflow_store import RunRow, Store, open_store
from subflow_store.again import Simulator
from subflow_store.copies import Changes
from subflow_store.values import Records


@pytest.fixture
def desk(make_desk: MakeDesk) -> Desk:
    return make_desk(actions=view_rows())


@contextmanager
def light_copy(desk: Desk, folder: Path, simulator: Simulator) -> Iterator[Store]:
    """A database with a run of the desk, but without its traces; the run has number 1."""
    number = desk.run_once()
    with open_store(folder / "light.db", simulator=simulator) as store:
        store.copies.take(present(desk.store).copies, Records((number,)), Changes(is_light=True))
        yield store
        desk.shown.clear()


def strip(desk: Desk) -> ResultsStrip:
    return present(desk.plots.findChild(ResultsStrip))


def cancel_button(desk: Desk) -> QToolButton:
    return present(desk.plots.findChild(QToolButton, "results_cancel"))


def test_an_opened_run_has_its_traces_and_is_told_to_be_identical(desk: Desk, tmp_path: Path) -> None:
    with light_copy(desk, tmp_path, simulate_again) as store:
        recorded = StoredTraces(present(desk.store), desk.history.runs()[0].id)
        desk.shown.show_stored(store, [1])
        desk.wait_for_workers()
        (shown,) = desk.plots.runs
        assert list(shown.keys()) == list(recorded.keys())
        for key in recorded.keys():  # noqa: SIM118 - a sequence, not a mapping
            np.testing.assert_array_equal(shown.read(key)[1], recorded.read(key)[1])
        assert list(shown.marks()) == list(recorded.marks())
        assert strip(desk).text.startswith("simulated again, identical")
        assert cancel_button(desk).isHidden()
        # Another run takes the message away.
        desk.shown.show_stored(present(desk.store), [desk.history.runs()[0].id])
        desk.wait_for_workers()
        assert "simulated again" not in strip(desk).text


def test_another_result_is_told_and_the_summary_stays(desk: Desk, tmp_path: Path) -> None:
    def other(run: RunRow, into: Store, **named: Any) -> int:
        return simulate_again(run._replace(seed=run.seed + 1), into, **named)

    with light_copy(desk, tmp_path, other) as store:
        before = store.run(1)
        desk.shown.show_stored(store, [1])
        desk.wait_for_workers()
        told = "Run 1 was recorded by another version of the simulator: the plots show what was simulated now"
        assert told in strip(desk).text
        row = present(desk.plots.runs[0].row)
        assert (row.signature, row.summary) == (before.signature, before.summary)


def test_progress_is_shown_and_can_be_cancelled(qtbot: QtBot, desk: Desk, tmp_path: Path) -> None:
    def endless(
        run: RunRow,
        into: Store,
        *,
        has_decisions: bool,
        on_progress: Callable[[float], object],
        is_cancelled: Callable[[], bool],
    ) -> int:
        del run, into, has_decisions
        on_progress(0.4)
        while not is_cancelled():
            time.sleep(0.01)
        raise InterruptedError

    with light_copy(desk, tmp_path, endless) as store:
        before = desk.plots.runs
        desk.shown.patience_ms = 0
        desk.shown.show_stored(store, [1])
        qtbot.waitUntil(lambda: strip(desk).text.startswith("Run 1 is simulated again: 40 %"))
        assert not cancel_button(desk).isHidden()
        cancel_button(desk).click()
        desk.wait_for_workers()
        assert desk.plots.waiting == ""
        assert cancel_button(desk).isHidden()
        assert desk.plots.runs == before
        assert store.simulated_again() == ()
