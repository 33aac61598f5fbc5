"""Seeks that overtake each other, the first pass between them, and the transfer of work between threads."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest

from subflow_app.features.explain.core.seek_loop import SeekLoop


class FakeReplay:
    """Answers with the requested time; the first pass checks ten times for cancellation."""

    def __init__(self) -> None:
        self.sought: list[float] = []
        self.passes = 0
        self.notice = "of another version"
        self.on_seek: Callable[[float], None] = lambda _time_s: None

    def prepare(self, is_cancelled: Callable[[], bool], progress: Callable[[float], None]) -> bool:
        for step in range(11):
            if is_cancelled():
                return False
            progress(step / 10)
        self.passes += 1
        return True

    def seek(self, t_s: float, is_cancelled: Callable[[], bool]) -> Any:
        self.sought.append(t_s)
        self.on_seek(t_s)
        return f"state at {t_s}"


def taken(loop: SeekLoop) -> Any:
    return loop.take()


def made() -> tuple[SeekLoop, FakeReplay]:
    replay = FakeReplay()
    return SeekLoop(lambda: replay, rest_s=0.0), replay


def test_the_newest_seek_is_answered_and_then_the_run_is_gone_through() -> None:
    loop, replay = made()
    assert loop.ask(1.0)
    assert not loop.ask(2.0)  # a thread is working already
    loop.work()
    assert replay.sought == [2.0]
    assert taken(loop) == (2.0, "state at 2.0")
    assert taken(loop) is None
    assert replay.passes == 1
    assert loop.progress == 1.0
    assert loop.notice == "of another version"
    assert not loop.is_working


def test_what_comes_during_a_seek_is_answered_after_it_without_what_it_overtook() -> None:
    loop, replay = made()

    def scrub(time_s: float) -> None:
        if time_s == 1.0:
            for newer in (2.0, 3.0, 4.0):
                assert not loop.ask(newer)

    replay.on_seek = scrub
    loop.ask(1.0)
    loop.work()
    assert replay.sought == [1.0, 4.0]
    assert taken(loop) == (4.0, "state at 4.0")


def test_a_run_that_was_gone_through_is_not_again_unless_it_has_grown() -> None:
    loop, replay = made()
    for time_s in (1.0, 2.0):
        assert loop.ask(time_s)
        loop.work()
    assert replay.passes == 1
    loop.grow()
    assert loop.ask(3.0)
    loop.work()
    assert replay.passes == 2


def test_a_stopped_loop_takes_no_more_seeks() -> None:
    loop, replay = made()
    loop.ask(1.0)
    replay.on_seek = lambda _time_s: loop.stop()
    loop.work()
    assert replay.passes == 0
    assert not loop.ask(2.0)


def test_what_fails_ends_the_loop_with_its_reason() -> None:
    def refuse() -> FakeReplay:
        raise ValueError("no such run")

    loop = SeekLoop(refuse)
    loop.ask(1.0)
    with pytest.raises(ValueError, match="no such run"):
        loop.work()
    assert not loop.is_working
    assert not loop.ask(2.0)


def test_no_seek_is_lost_between_threads() -> None:
    loop, replay = made()
    threads = []
    for number in range(200):
        if loop.ask(float(number)):
            threads.append(threading.Thread(target=loop.work))
            threads[-1].start()
    for thread in threads:
        thread.join()
    assert replay.sought[-1] == 199.0
    assert taken(loop) == (199.0, "state at 199.0")
