"""Actions of the Run and History menus: runs, their steps and speed, and stored runs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from subflow_app.shell.menus import DEFAULT_SPEED, SPEEDS, STEPS
from subflow_app.toolkit.action_bar import (
    COMPLETE,
    NOT_RUNNING,
    ONE_SELECTED,
    PLOTS_SHOWN,
    RUNNABLE,
    RUNNING,
    SEEN,
    SELECTED,
    SIMULATED,
    WRITABLE,
    ActionSpec,
    Need,
    Scope,
    keys,
)
from subflow_app.vocabulary.language import translatable

if TYPE_CHECKING:
    from subflow_app.shell.main_window import MainWindow


_LINK = Need(lambda s: s.has_live_link, translatable("select a link on the canvas first"))


def run_rows() -> Iterator[ActionSpec[MainWindow]]:
    """Rows of the Run menu."""
    yield ActionSpec(
        "run.toggle",
        "&Run",
        "Run the scenario; while it runs, pause and resume",
        "run",
        ("F5",),
        lambda w, _: w.toggle_run(),
        (COMPLETE, RUNNABLE, SIMULATED),
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
            keys(shortcut),
            lambda w, _, size=size: w.stepping.step(size),  # type: ignore[misc]
            (COMPLETE, RUNNABLE, SIMULATED),
        )
    yield ActionSpec(
        "run.until",
        "Run &until…",
        "Advance the run to a time of your choice, such as the next event, and pause exactly there",
        "run_until",
        ("Ctrl+F5",),
        lambda w, _: w.stepping.run_until(),
        (COMPLETE, RUNNABLE, SIMULATED),
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
            keys(shortcut),
            lambda w, _, limit=limit: w.set_speed_limit(limit),  # type: ignore[misc]
            checkable=True,
            group="speed",
            is_on=speed == DEFAULT_SPEED,
        )


def history_rows() -> Iterator[ActionSpec[MainWindow]]:
    """Rows of the History menu."""
    yield ActionSpec(
        "history.open",
        "&Open plots",
        "Show the selected runs in the plots; several are laid over each other",
        "plots",
        ("Return",),
        lambda w, _: w.opening.show(),
        (SELECTED,),
        Scope.HISTORY,
    )
    yield ActionSpec(
        "history.overlay",
        "Over&lay with current",
        "Overlay the selected runs on those in the plots",
        "overlay",
        ("Ctrl+Return",),
        lambda w, _: w.opening.overlay(),
        (SELECTED, PLOTS_SHOWN),
        Scope.HISTORY,
    )
    yield ActionSpec(
        "history.clear_overlay",
        "&Clear overlay",
        "Show only the first run in the plots",
        "clear",
        ("Ctrl+Backspace",),
        lambda w, _: w.shown.keep_first(),
        (Need(lambda s: s.runs_shown > 1, translatable("the plots show no second run")),),
    )
    yield ActionSpec(
        "history.rename",
        "&Rename…",
        "Rename the selected run",
        "rename",
        ("F2",),
        lambda w, _: w.history.rename_selected(),
        (ONE_SELECTED, WRITABLE),
        Scope.HISTORY,
    )
    yield ActionSpec(
        "history.tag",
        "&Tags…",
        "Set the tags of the selected runs, to find them again",
        "tag",
        ("Ctrl+T",),
        lambda w, _: w.history.tag_selected(),
        (SELECTED, WRITABLE),
        Scope.HISTORY,
    )
    yield ActionSpec(
        "history.note",
        "&Note…",
        "Write a note on the selected run",
        "note",
        ("Ctrl+Shift+N",),
        lambda w, _: w.history.note_selected(),
        (ONE_SELECTED, WRITABLE),
        Scope.HISTORY,
    )
    yield ActionSpec(
        "history.open_scenario",
        "Open its &scenario",
        "Open the scenario of the selected run in the editor, to change it or to run it again",
        "scenario",
        ("Ctrl+Shift+Return",),
        lambda w, _: w.opening.open_scenario(),
        (ONE_SELECTED,),
        Scope.HISTORY,
    )
    yield ActionSpec(
        "history.complete",
        "Si&mulate to its end",
        "Simulate a run that was stopped or interrupted again, as fast as possible and to its end, as a new run",
        "run",
        (),
        lambda w, _: w.opening.complete(w.session.complete),
        (
            Need(lambda s: s.is_cut, translatable("select one run that was stopped or interrupted")),
            NOT_RUNNING,
            WRITABLE,
        ),
        Scope.HISTORY,
    )
    yield ActionSpec(
        "history.delete",
        "&Delete",
        "Delete the selected runs; undo brings them back",
        "delete",
        ("Del",),
        lambda w, _: w.history.delete_selected(),
        (SELECTED, SEEN, WRITABLE),
        Scope.HISTORY,
    )
    yield ActionSpec(
        "history.purge",
        "Remove deleted runs for &good…",
        "Free the disk space of all deleted runs; they cannot be brought back then",
        "purge",
        (),
        lambda w, _: w.database.ask_purge(asks=w.preferences.settings.confirm_purge),
        (WRITABLE, NOT_RUNNING),
    )
