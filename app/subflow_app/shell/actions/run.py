"""Running the scenario, and walking through what agents decided."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from subflow_app.shell.choices import DEFAULT_SPEED, SPEEDS, STEPS
from subflow_app.toolkit.action_spec import COMPLETE, RUNNABLE, RUNNING, ActionSpec, Need, possible
from subflow_app.vocabulary.language import translatable

if TYPE_CHECKING:
    from subflow_app.shell.main_window import MainWindow

_LINK = Need(lambda s: s.has_live_link, translatable("select a link on the canvas first"))


def rows() -> Iterator[ActionSpec[MainWindow]]:
    """The Run menu."""
    yield ActionSpec(
        "run.toggle",
        "&Run",
        "Run the scenario; while it runs, pause and resume",
        "run",
        ("F5",),
        lambda w, _: w.toggle_run(),
        (COMPLETE, RUNNABLE),
    )
    yield ActionSpec(
        "run.stop",
        "&Stop",
        "End the run now; what was simulated so far is kept",
        "stop",
        ("Shift+F5",),
        lambda w, _: w.runs.stop(),
        (RUNNING,),
    )
    for size, (text, tip, shortcut) in STEPS.items():
        yield ActionSpec(
            f"run.step_{size}",
            text,
            tip,
            "step",
            (shortcut,),
            lambda w, _, size=size: w.stepping.step(size),  # type: ignore[misc]
            (COMPLETE, RUNNABLE),
        )
    yield ActionSpec(
        "run.until",
        "Run &until…",
        "Advance the run to a time of your choice, such as the next event, and pause exactly there",
        "run_until",
        ("Ctrl+F5",),
        lambda w, _: w.stepping.run_until(),
        (COMPLETE, RUNNABLE),
    )
    yield ActionSpec(
        "run.link_down",
        "Take &link down now",
        "Take the selected link out of service in the run in progress; recorded as an event of that run",
        "link_down",
        ("Ctrl+Shift+PgDown",),
        lambda w, _: w.runs.change({"link": w.live.link, "up": False}),
        (RUNNING, _LINK),
    )
    yield ActionSpec(
        "run.link_up",
        "Bring l&ink up now",
        "Bring the selected link back into service in the run in progress; recorded as an event of that run",
        "link_up",
        ("Ctrl+Shift+PgUp",),
        lambda w, _: w.runs.change({"link": w.live.link, "up": True}),
        (RUNNING, _LINK),
    )
    yield ActionSpec(
        "run.record_decisions",
        "Record &decisions",
        "Record the reasons of controllers and schedulers in new runs; such runs take much more space",
        "decisions",
        ("Ctrl+Shift+D",),
        lambda w, on: w.set_decisions_recorded(on),
        checkable=True,
    )
    for speed, (limit, text, icon_name, shortcut) in SPEEDS.items():
        yield ActionSpec(
            f"run.speed_{speed}",
            text,
            "Simulate as fast as this computer can" if speed == "express" else f"Run at {text.lower()}, to watch",
            icon_name,
            (shortcut,),
            lambda w, _, limit=limit: w.set_speed_limit(limit),  # type: ignore[misc]
            checkable=True,
            group="speed",
            is_on=speed == DEFAULT_SPEED,
        )


def agent_rows() -> Iterator[ActionSpec[MainWindow]]:
    """The part of the Run menu that walks through the decisions of a learning agent."""
    yield ActionSpec(
        "agent.first",
        "&First decision",
        "Go to the first decision of the learning agent that the agent panel shows",
        "first",
        ("Alt+Home",),
        lambda w, _: w.agent.content.go_to_first(),
        (possible("agent.first", translatable("no earlier decision of an agent")),),
    )
    yield ActionSpec(
        "agent.previous",
        "Pre&vious decision",
        "Go to the previous decision of the learning agent; a click in the plots goes to the nearest",
        "previous",
        ("Alt+Left",),
        lambda w, _: w.agent.content.step(-1),
        (possible("agent.previous", translatable("no earlier decision of an agent")),),
    )
    yield ActionSpec(
        "agent.next",
        "Ne&xt decision",
        "Go to the next decision of the learning agent; a click in the plots goes to the nearest",
        "next",
        ("Alt+Right",),
        lambda w, _: w.agent.content.step(1),
        (possible("agent.next", translatable("no later decision of an agent")),),
    )
    yield ActionSpec(
        "agent.last",
        "L&atest decision",
        "Go to the latest decision of the learning agent, and follow it during a run",
        "last",
        ("Alt+End",),
        lambda w, _: w.agent.content.go_to_last(),
        (possible("agent.last", translatable("no later decision of an agent")),),
    )
