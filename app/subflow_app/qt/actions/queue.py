"""The queue of runs."""

from __future__ import annotations

from collections.abc import Iterator

from subflow_app.qt.action_spec import ActionSpec, Scope


def rows() -> Iterator[ActionSpec]:
    """The Queue submenu of the Run menu."""
    yield ActionSpec(
        "queue.add",
        "&Queue this scenario",
        "Add a run of the scenario to the queue, which goes on beside your work",
        "queue",
        ("Ctrl+Shift+F5",),
        lambda w, _: w.queue_session.add(),
        lambda s: s.is_valid,
    )
    yield ActionSpec(
        "queue.add_several",
        "Queue &several runs…",
        "Add runs with several seeds and controllers to the queue",
        "queue_several",
        ("Ctrl+Alt+F5",),
        lambda w, _: w.queue_session.add_several(),
        lambda s: s.is_valid,
    )
    yield ActionSpec(
        "queue.toggle",
        "&Hold or go on",
        "Hold all runs of the queue, or let them go on",
        "pause",
        ("Ctrl+Alt+Space",),
        lambda w, _: w.queue_session.toggle(),
        lambda s: "toggle" in s.queue,
    )
    yield ActionSpec(
        "queue.cancel",
        "&Cancel",
        "Stop the selected runs, or take them out of the row; what they have simulated is kept",
        "stop",
        ("Alt+Del",),
        lambda w, _: w.queue_session.cancel(),
        lambda s: "cancel" in s.queue,
        scope=Scope.QUEUE,
    )
    yield ActionSpec(
        "queue.retry",
        "&Try again",
        "Queue the selected runs that failed or were cancelled again",
        "retry",
        ("Ctrl+R",),
        lambda w, _: w.queue_session.retry(),
        lambda s: "retry" in s.queue,
        scope=Scope.QUEUE,
    )
    yield ActionSpec(
        "queue.up",
        "Move &up",
        "Let the selected runs start earlier",
        "up",
        ("Alt+Up",),
        lambda w, _: w.queue_session.move(-1),
        lambda s: "move" in s.queue,
        scope=Scope.QUEUE,
    )
    yield ActionSpec(
        "queue.down",
        "Move &down",
        "Let the selected runs start later",
        "down",
        ("Alt+Down",),
        lambda w, _: w.queue_session.move(1),
        lambda s: "move" in s.queue,
        scope=Scope.QUEUE,
    )
    yield ActionSpec(
        "queue.remove",
        "&Remove",
        "Take the selected runs out of the list; runs that are stored stay stored",
        "delete",
        ("Del",),
        lambda w, _: w.queue_session.remove(),
        lambda s: "remove" in s.queue,
        scope=Scope.QUEUE,
    )
    yield ActionSpec(
        "queue.clear",
        "Remove &finished",
        "Take the finished runs out of the list; they stay stored",
        "clear",
        ("Shift+Del",),
        lambda w, _: w.queue_session.clear_finished(),
        lambda s: "clear" in s.queue,
        scope=Scope.QUEUE,
    )
