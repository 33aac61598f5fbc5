"""Scripts as a part of the window: written, run as soon as they are saved, compared with what they were, and tried."""

from __future__ import annotations

from typing import TYPE_CHECKING

from subflow_app.foundation.errors import InputError
from subflow_app.toolkit.feature import SessionFeature
from subflow_app.vocabulary.language import tr, translatable

if TYPE_CHECKING:
    from subflow_app.features.editor.core.recovery import UnsavedText
    from subflow_app.features.script.qt.moment import ScriptMoment
    from subflow_app.features.script.qt.ports import ScriptPorts
    from subflow_app.features.script.qt.session import ScriptSession
    from subflow_sim.scenario_model import ScriptKind

_SUFFIX = ".py"


class ScriptFeature(SessionFeature["ScriptSession"]):
    """The panel of scripts, and what brings it to the front."""

    panel_name = "script"
    title = translatable("Script")
    room = (430, 240)  # px
    scrolls = True

    def __init__(self, ports: ScriptPorts) -> None:
        """An empty panel."""
        super().__init__()
        self.ports = ports
        self._moment: ScriptMoment | None = None  # of the decision that is explained

    def make(self) -> ScriptSession:
        """The editor with what is known of its script."""
        from subflow_app.features.script.qt.session import ScriptSession

        session = ScriptSession(self.ports, self)
        session.mark_moment(self._moment)
        return session

    def connect_parts(self) -> None:
        """Unsaved text may be a script."""
        self.ports.recovery.takers[_SUFFIX] = self._recover

    def show(self) -> None:
        """Brings the panel to the front, with the keyboard in the text."""
        self.ports.workspaces.go_to(self.panel_name)
        if self.session.desk.is_open:
            self.session.panel.editor.setFocus()

    def show_moment(self, moment: ScriptMoment) -> None:
        """Opens the script that decided something, at the line that was executed.

        Raises:
            InputError: if the open scenario has no such script, or it cannot be read.
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
        """Marks the line that a decision is at, where the editor has that script as the run has it; None: none."""
        self._moment = moment
        if self.made is not None:
            self.made.mark_moment(moment)

    def new(self, kind: ScriptKind) -> None:
        """Begins a controller or scheduler."""
        self.show()
        if self.session.desk.ask_new(kind):
            self.session.panel.editor.setFocus()

    def open_copy(self) -> None:
        """Copies a script that ships into the scenario."""
        self.show()
        if self.session.desk.ask_copy():
            self.session.panel.editor.setFocus()

    def _recover(self, unsaved: UnsavedText) -> bool:
        self.show()
        return self.session.desk.recover(unsaved)
