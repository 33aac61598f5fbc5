"""Going through the time of a run: the transport bar, the decisions behind its curves, what looks at one moment."""

from __future__ import annotations

from collections.abc import Iterator

from subflow_app.qt.action_spec import PLOTS_SHOWN, ActionSpec, Need, possible
from subflow_app.qt.explain.feature import ExplainFeature
from subflow_app.qt.feature import FeatureHolder
from subflow_app.qt.forking.feature import ForkFeature
from subflow_app.qt.playhead.feature import PlayheadFeature
from subflow_app.vocabulary.language import translatable

# Id behind "playhead.", text, tip, icon, shortcut.
_PLAYHEAD = (
    (
        "play",
        "&Play",
        "Play the run from here at the speed of the transport bar, or stop",
        "play",
        "F12",
    ),
    (
        "play_back",
        "Play &backwards",
        "Play the run backwards from here, or stop",
        "play_back",
        "Shift+F12",
    ),
    (
        "step_back",
        "Step bac&k",
        "Go to the previous sample of the run that is shown",
        "step_back",
        "Shift+F10",
    ),
    (
        "step_forward",
        "Step &forward",
        "Go to the next sample of the run that is shown",
        "step",
        "Ctrl+Shift+F10",
    ),
    (
        "previous_event",
        "Pre&vious event",
        "Go to the previous event in the list",
        "previous_event",
        "Shift+F3",
    ),
    (
        "next_event",
        "&Next event",
        "Go to the next event in the list",
        "next_event",
        "F3",
    ),
    (
        "start",
        "To the &start",
        "Go to the beginning of the run that is shown",
        "first",
        "Alt+Shift+Home",
    ),
    (
        "end",
        "To the &end",
        "Go to the end of the run that is shown",
        "last",
        "Alt+Shift+End",
    ),
    (
        "go_to",
        "&Go to time…",
        "Type the time to go to into the transport bar",
        "time",
        "Ctrl+G",
    ),
    (
        "live",
        "Back to &live",
        "Follow the newest time of the run in progress",
        "live",
        "Ctrl+F12",
    ),
    (
        "leave",
        "Leave this t&ime",
        "Stop showing a moment of the run: packets leave the picture, and the line leaves the plots",
        "close",
        "Ctrl+Shift+F12",
    ),
)

_NO_TIME = translatable("no run to go through")
_NOT_THERE = {
    "live": translatable("no run in progress is away from its newest time"),
    "leave": translatable("no time is marked"),
}


def rows() -> Iterator[ActionSpec[FeatureHolder]]:
    """The Time menu."""
    for name, text, tip, icon_name, shortcut in _PLAYHEAD:
        yield ActionSpec(
            f"playhead.{name}",
            text,
            tip,
            icon_name,
            (shortcut,),
            lambda w, _, name=name: w.features[PlayheadFeature].do(name),  # type: ignore[misc]
            (possible(f"playhead.{name}", _NOT_THERE.get(name, _NO_TIME)),),
        )
    yield ActionSpec(
        "fork.new",
        "&What if…",
        "Fork the run that is shown, or selected: change a link or a flow from a time on, with the original as a ghost",
        "fork",
        ("Ctrl+Shift+W",),
        lambda w, _: w.features[ForkFeature].fork(),
        (
            Need(
                lambda s: "fork.new" in s.features or s.runs_selected == 1,
                translatable("the plots show no run, and not just one is selected in the history"),
            ),
        ),
    )
    yield ActionSpec(
        "explain.here",
        "E&xplain this point",
        "Show the decision behind the clicked point of a curve, or at the marked time of the chosen curve",
        "explain",
        ("Alt+Shift+Up",),
        lambda w, _: _explain(w).explain_here(),
        (possible("explain.here", PLOTS_SHOWN.otherwise),),
    )
    for step, by, text, key, otherwise in (
        (
            "previous",
            -1,
            "Earlier &decision",
            "Alt+Shift+Left",
            translatable("the Explain panel shows no decision, or the first one"),
        ),
        (
            "next",
            1,
            "L&ater decision",
            "Alt+Shift+Right",
            translatable("the Explain panel shows no decision, or the last one"),
        ),
    ):
        where = "before" if by < 0 else "after"
        yield ActionSpec(
            f"explain.{step}",
            text,
            f"Explain the decision {where} the one that the explain panel shows; a click on a curve chooses one",
            step,
            (key,),
            lambda w, _, by=by: _explain(w).step(by),  # type: ignore[misc]
            (possible(f"explain.{step}", otherwise),),
        )

    for step, by, text, key, otherwise in (
        (
            "previous",
            -1,
            "Line &before",
            "Alt+PgUp",
            translatable("the Explain panel shows no line of a script, or the first one"),
        ),
        (
            "next",
            1,
            "Line &after",
            "Alt+PgDown",
            translatable("the Explain panel shows no line of a script, or the last one"),
        ),
    ):
        yield ActionSpec(
            f"explain.{step}_line",
            text,
            f"Go to the {step} line that the script executed in the decision that the explain panel shows",
            "up" if by < 0 else "down",
            (key,),
            lambda w, _, by=by: _explain(w).step_line(by),  # type: ignore[misc]
            (possible(f"explain.{step}_line", otherwise),),
        )
    yield ActionSpec(
        "explain.open_script",
        "Open the s&cript there",
        "Open the deciding script at the line marked in Explain; a double-click on a line does the same",
        "script",
        ("Alt+Return",),
        lambda w, _: _explain(w).open_script(),
        (possible("explain.open_script", translatable("the Explain panel shows no line of a script")),),
    )
    yield ActionSpec(
        "explain.watch",
        "&Watch an expression",
        "Plot an expression of names in the script, with a value for each decision",
        "plots",
        ("Alt+Shift+Down",),
        lambda w, _: _explain(w).ask_watch(),
        (possible("explain.watch", translatable("the Explain panel shows no line of a script")),),
    )


def _explain(holder: FeatureHolder) -> ExplainFeature:
    return holder.features[ExplainFeature]
