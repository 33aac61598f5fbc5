"""Scripts: begun, edited, saved and run, tried and compared."""

from __future__ import annotations

from collections.abc import Iterator

from subflow_app.features.script.qt.feature import ScriptFeature
from subflow_app.toolkit.action_spec import ActionSpec, Scope, possible
from subflow_app.toolkit.feature import FeatureHolder
from subflow_app.vocabulary.language import translatable

_NONE_OPEN = translatable("no script is open")


def rows() -> Iterator[ActionSpec[FeatureHolder]]:
    """Their part of the Study menu."""
    yield ActionSpec(
        "script.show",
        "Sho&w the script",
        "Show the scripts of the scenario, to write controllers and schedulers",
        "script",
        ("Ctrl+Shift+C",),
        lambda w, _: _script(w).show(),
    )
    yield ActionSpec(
        "script.new_controller",
        "New &controller…",
        "Begin a congestion controller for a flow of the scenario",
        "new",
        ("Ctrl+Shift+T",),
        lambda w, _: _script(w).new("controller"),
    )
    yield ActionSpec(
        "script.new_scheduler",
        "New sche&duler…",
        "Begin a packet scheduler for a flow of the scenario",
        "new",
        ("Ctrl+Shift+L",),
        lambda w, _: _script(w).new("scheduler"),
    )
    yield ActionSpec(
        "script.open_copy",
        "&Open a copy…",
        "Make a copy of a script that ships part of the scenario",
        "open",
        ("Ctrl+Shift+H",),
        lambda w, _: _script(w).open_copy(),
    )
    yield ActionSpec(
        "script.save",
        "&Save and run",
        "Save the script and run the scenario with it at once; Ctrl+S does so while the keyboard is in the text",
        "save",
        ("Ctrl+Return",),
        lambda w, _: _script(w).session.desk.save(),
        (possible("script.save", _NONE_OPEN),),
        Scope.SCRIPT,
    )
    yield ActionSpec(
        "script.save_as",
        "Save script &as…",
        "Save the text to another file; in the scenario's folder it becomes the script's file",
        "save_as",
        ("Ctrl+Shift+Return",),
        lambda w, _: _script(w).session.desk.ask_save_as(),
        (possible("script.save_as", _NONE_OPEN),),
        Scope.SCRIPT,
    )
    yield ActionSpec(
        "script.find",
        "&Find and replace",
        "Look for a text in the script; Ctrl+F does so while the script has the keyboard",
        "search",
        ("Ctrl+H",),
        lambda w, _: _script(w).session.panel.find_bar.start(),
        (possible("script.find", _NONE_OPEN),),
        Scope.SCRIPT,
    )
    yield ActionSpec(
        "script.comment",
        "Co&mment lines",
        "Make the selected lines comments, or code again; Ctrl+/ does so while the keyboard is in the text",
        "comment",
        ("Ctrl+M",),
        lambda w, _: _script(w).session.panel.editor.toggle_comment(),
        (possible("script.comment", _NONE_OPEN),),
        Scope.SCRIPT,
    )
    yield ActionSpec(
        "script.complete",
        "Names that &fit here",
        "Suggest names at the cursor, with their units",
        "complete",
        ("Ctrl+Space",),
        lambda w, _: _script(w).session.panel.editor.offer(is_asked=True),
        (possible("script.complete", _NONE_OPEN),),
        Scope.SCRIPT,
    )
    yield ActionSpec(
        "script.next_problem",
        "Next &problem",
        "Go to the next place where something is wrong with the script",
        "error",
        ("F8",),
        lambda w, _: _script(w).session.panel.next_problem(),
        (possible("script.next_problem", translatable("nothing is wrong with the script")),),
        Scope.SCRIPT,
    )
    yield ActionSpec(
        "script.check",
        "&Try it out",
        "Try the script with loss, timeouts, a small buffer, an outage, a hundred flows, and next to NewReno",
        "conformance",
        ("F9",),
        lambda w, _: _script(w).session.check(),
        (possible("script.check", _NONE_OPEN),),
        Scope.SCRIPT,
    )
    yield ActionSpec(
        "script.compare",
        "Compare &versions",
        "Compare the runs of the two selected versions, or of the two latest",
        "compare",
        ("Ctrl+J",),
        lambda w, _: _script(w).session.compare(),
        (possible("script.compare", translatable("select two versions of the script")),),
        Scope.SCRIPT,
    )
    yield ActionSpec(
        "script.restore",
        "&Restore version",
        "Load the selected version into the editor",
        "restore",
        ("Ctrl+B",),
        lambda w, _: _script(w).session.restore(),
        (possible("script.restore", translatable("select another version than the one in the editor")),),
        Scope.SCRIPT,
    )


def _script(holder: FeatureHolder) -> ScriptFeature:
    return holder.features[ScriptFeature]
