"""Scripts in the window: their panel, and actions to start, open, run, check and compare scripts.

A script runs as soon as it is saved, and is compared with its earlier versions.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from subflow_app.foundation.errors import InputError
from subflow_app.toolkit.action_bar import ActionSpec, Scope, possible
from subflow_app.toolkit.feature import FeatureHolder, SessionFeature
from subflow_app.vocabulary.language import tr, translatable

if TYPE_CHECKING:
    from subflow_app.features.editor.core.recovery import UnsavedText
    from subflow_app.features.script.qt.ports import ScriptMoment, ScriptPorts
    from subflow_app.features.script.qt.session import ScriptSession
    from subflow_sim.scenario_model import ScriptKind


_SUFFIX = ".py"


class ScriptFeature(SessionFeature["ScriptSession"]):
    """The panel of scripts, and actions that bring it to the front."""

    panel_name = "script"
    title = translatable("Script")
    room = (430, 240)  # px
    scrolls = True

    def __init__(self, ports: ScriptPorts) -> None:
        super().__init__()
        self.ports = ports
        self._moment: ScriptMoment | None = None  # moment of the explained decision

    def make(self) -> ScriptSession:
        """Creates the editor, and marks the explained decision in it."""
        from subflow_app.features.script.qt.session import ScriptSession

        session = ScriptSession(self.ports, self)
        session.mark_moment(self._moment)
        return session

    def connect_parts(self) -> None:
        """Registers the handler that recovers scripts."""
        self.ports.recovery.takers[_SUFFIX] = self._recover

    def show(self) -> None:
        """Brings the panel to the front, with the keyboard focus in the text."""
        self.ports.workspaces.go_to(self.panel_name)
        if self.session.desk.is_open:
            self.session.panel.editor.setFocus()

    def show_moment(self, moment: ScriptMoment) -> None:
        """Opens the script that made a decision, at the executed line.

        Raises:
            InputError: if the open scenario does not contain this script, or if it cannot be read.
        """
        wanted = (moment.kind, moment.name)
        place = next((each for each in self.session.desk.places if (each.kind, each.name) == wanted), None)
        if place is None:
            raise InputError(
                tr("The open scenario has no script {name}: open that of the run first.", name=moment.name)
            )
        self.show()
        if not self.session.desk.open(place):
            return
        self.session.panel.editor.show_line(moment.line)
        if self.session.panel.editor.text != moment.text:
            self.ports.tell(tr("{name} was changed since that run: the line may differ.", name=moment.name))

    def mark_moment(self, moment: ScriptMoment | None) -> None:
        """Marks the line of a decision if the editor has the same text as the run; None removes the mark."""
        self._moment = moment
        if self.made is not None:
            self.made.mark_moment(moment)

    def new(self, kind: ScriptKind) -> None:
        """Opens the dialog for a new controller or scheduler."""
        self.show()
        if self.session.desk.ask_new(kind):
            self.session.panel.editor.setFocus()

    def open_copy(self) -> None:
        """Copies a shipped script into the scenario."""
        self.show()
        if self.session.desk.ask_copy():
            self.session.panel.editor.setFocus()

    def _recover(self, unsaved: UnsavedText) -> bool:
        self.show()
        return self.session.desk.recover(unsaved)


_NONE_OPEN = translatable("no script is open")


def rows() -> Iterator[ActionSpec[FeatureHolder]]:
    """The scripts' part of the Study menu."""
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
        "script.difference",
        "Show &differences",
        "Show the lines that differ between two selected versions, or between one and the text in the editor",
        "compare",
        (),
        lambda w, _: _script(w).session.show_difference(),
        (possible("script.difference", translatable("select one or two versions of the script that differ")),),
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
