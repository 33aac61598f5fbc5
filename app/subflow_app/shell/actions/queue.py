"""The queue of runs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from subflow_app.toolkit.action_spec import COMPLETE, VALID, ActionSpec, Scope, possible
from subflow_app.vocabulary.language import translatable

if TYPE_CHECKING:
    from subflow_app.shell.main_window import MainWindow


def rows() -> Iterator[ActionSpec[MainWindow]]:
    """The Queue submenu of the Run menu."""
    yield ActionSpec(
        "queue.add",
        "&Queue this scenario",
        "Add a run of the scenario to the queue, which runs while you work",
        "queue",
        ("Ctrl+Shift+F5",),
        lambda w, _: w.queue_session.add(),
        (COMPLETE, VALID),
    )
    yield ActionSpec(
        "queue.add_several",
        "Queue &several runs…",
        "Add runs with several seeds and controllers to the queue",
        "queue_several",
        ("Ctrl+Alt+F5",),
        lambda w, _: w.queue_session.add_several(),
        (COMPLETE, VALID),
    )
    yield ActionSpec(
        "queue.toggle",
        "&Pause or resume",
        "Pause or resume all runs of the queue",
        "pause",
        ("Ctrl+Alt+Space",),
        lambda w, _: w.queue_session.toggle(),
        (possible("queue.toggle", translatable("no run of the queue is running or waiting")),),
    )
    yield ActionSpec(
        "queue.cancel",
        "&Cancel",
        "Stop the selected runs, or take them off the queue; what they have simulated is kept",
        "stop",
        ("Alt+Del",),
        lambda w, _: w.queue_session.cancel(),
        (possible("queue.cancel", translatable("select runs in the queue that are running or waiting")),),
        scope=Scope.QUEUE,
    )
    yield ActionSpec(
        "queue.retry",
        "&Try again",
        "Queue the selected runs that failed or were cancelled again",
        "retry",
        ("Ctrl+R",),
        lambda w, _: w.queue_session.retry(),
        (possible("queue.retry", translatable("select runs in the queue that failed or were cancelled")),),
        scope=Scope.QUEUE,
    )
    yield ActionSpec(
        "queue.up",
        "Move &up",
        "Let the selected runs start earlier",
        "up",
        ("Alt+Up",),
        lambda w, _: w.queue_session.move(-1),
        (possible("queue.move", translatable("select waiting runs in the queue")),),
        scope=Scope.QUEUE,
    )
    yield ActionSpec(
        "queue.down",
        "Move &down",
        "Let the selected runs start later",
        "down",
        ("Alt+Down",),
        lambda w, _: w.queue_session.move(1),
        (possible("queue.move", translatable("select waiting runs in the queue")),),
        scope=Scope.QUEUE,
    )
    yield ActionSpec(
        "queue.remove",
        "&Remove",
        "Remove the selected runs from the list; stored runs stay stored",
        "delete",
        ("Del",),
        lambda w, _: w.queue_session.remove(),
        (possible("queue.remove", translatable("select runs in the queue that are not running")),),
        scope=Scope.QUEUE,
    )
    yield ActionSpec(
        "queue.clear",
        "Remove &finished",
        "Remove the finished runs from the list; they stay stored",
        "clear",
        ("Shift+Del",),
        lambda w, _: w.queue_session.clear_finished(),
        (possible("queue.clear", translatable("the queue has no finished runs")),),
        scope=Scope.QUEUE,
    )
