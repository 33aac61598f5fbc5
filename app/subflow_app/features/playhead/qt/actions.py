"""Going through the time of a run: the transport bar."""

from __future__ import annotations

from collections.abc import Iterator

from subflow_app.features.playhead.qt.feature import PlayheadFeature
from subflow_app.toolkit.action_spec import ActionSpec, possible
from subflow_app.toolkit.feature import FeatureHolder
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
