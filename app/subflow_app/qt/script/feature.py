"""Scripts as a part of the window: written, run as soon as they are saved, compared with what they were, and tried."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from subflow_app.core.errors import InputError
from subflow_app.core.scenarios.problem_texts import error_text
from subflow_app.qt.comparison.feature import CompareFeature
from subflow_app.qt.feature import PanelFeature
from subflow_app.qt.latest_reader import LatestReader
from subflow_app.qt.menus import SCRIPT_BUTTONS, SCRIPT_VERSION_BUTTONS
from subflow_app.qt.widgets.shorthand import timer
from subflow_app.vocabulary.language import tr, translatable
from subflow_sim.errors import ScriptRunError

if TYPE_CHECKING:
    from subflow_app.core.conformance import ArenaTrial, ConformanceJob, Finding
    from subflow_app.core.history.script_versions import ScriptVersion
    from subflow_app.core.jobs.job import JobOutcome
    from subflow_app.core.running.runs import RunJob, RunResult
    from subflow_app.core.scenarios.recovery import UnsavedText
    from subflow_app.qt.script.desk import ScriptDesk
    from subflow_app.qt.script.panel import ScriptPanel
    from subflow_app.qt.script.ports import ScriptPorts
    from subflow_sim.scenario_model import ScriptKind
    from subflow_store import Store

_FOLLOW_MS = 100
_SUFFIX = ".py"

SAVE, SAVE_AS, FIND, COMMENT, COMPLETE, NEXT_PROBLEM, CHECK, COMPARE, RESTORE = (
    f"script.{name}"
    for name in ("save", "save_as", "find", "comment", "complete", "next_problem", "check", "compare", "restore")
)


@dataclass(frozen=True, slots=True)
class ScriptMoment:
    """Where a decision of a script stands.

    Attributes:
        kind: of the script.
        name: of it.
        text: that the run has of it.
        line: that is executed, from 1.
    """

    kind: ScriptKind
    name: str
    text: str
    line: int


class ScriptFeature(PanelFeature["ScriptPanel"]):
    """The panel of scripts and what its actions do."""

    panel_name = "script"
    title = translatable("Script")

    def __init__(self, ports: ScriptPorts) -> None:
        """An empty panel."""
        super().__init__()
        self.ports = ports
        self._desk: ScriptDesk | None = None
        self.job: ConformanceJob | ArenaTrial | None = None  # that tries the script
        self._asks_arena = False  # once the checks are made
        self._findings: dict[str, Finding] = {}  # by what was asked
        self._tried = ("", "")  # name and text of the script that the strip tells of
        self._moment: ScriptMoment | None = None  # of the decision that is explained
        self._possible: frozenset[str] = frozenset()
        self._follow = timer(self, self._show_conformance, _FOLLOW_MS)
        self.reader = LatestReader(ports.workers, self, "read versions")
        self.reader.read.connect(self._on_versions)
        self.reader.failed.connect(lambda error: ports.statusBar().showMessage(error_text(error)))

    def make(self) -> ScriptPanel:
        """The editor with what is known of its script."""
        from subflow_app.qt.script.panel import ScriptPanel

        bar = self.ports.bar
        content = ScriptPanel(
            [bar[name] for name in SCRIPT_BUTTONS],
            [bar[name] for name in SCRIPT_VERSION_BUTTONS],
            bar["script.new_controller"],
        )
        content.editor.commanded.connect(lambda command: bar.trigger(f"script.{command}"))
        content.editor.cursorPositionChanged.connect(self._on_changed)
        content.versions.selection_changed.connect(self._on_changed)
        content.versions.opened.connect(self._open_run)
        content.conformance.opened.connect(self._show_finding)
        content.conformance.asked.connect(self._ask_arena)
        return content

    def on_made(self) -> None:
        """Opens the first script of the scenario."""
        from subflow_app.qt.script.desk import ScriptDesk

        self._desk = ScriptDesk(self.ports, self.content, self)
        self._desk.changed.connect(self._on_changed)
        self._desk.saved.connect(self._on_saved)
        self._on_changed()
        self.read_versions()

    @property
    def desk(self) -> ScriptDesk:
        """What is open in the panel."""
        self.fill()
        assert self._desk is not None
        return self._desk

    def connect_parts(self) -> None:
        """Each run that is kept may be of another version."""
        ports = self.ports
        ports.session.stored.connect(self.read_versions)
        ports.database.opened.connect(lambda _store: self.read_versions())
        ports.runs.ended.connect(self._on_run_ended)
        ports.recovery.takers[_SUFFIX] = self._recover

    def possible(self) -> frozenset[str]:
        """What can be done with the script that is open."""
        if self.shown is None or self._desk is None or not self._desk.is_open:
            return frozenset()
        found = {SAVE, SAVE_AS, FIND, COMMENT, COMPLETE, CHECK}
        if not self.shown.problems.isHidden():
            found.add(NEXT_PROBLEM)
        selected = self.shown.versions.selected
        if len(selected) == 2 or (not selected and len(self.shown.versions.versions) > 1):
            found.add(COMPARE)
        if len(selected) == 1 and selected[0].text != self.shown.editor.text:
            found.add(RESTORE)
        return frozenset(found)

    def close(self) -> None:
        """Ends what is tried, and lets go of what was kept for a crash."""
        self._stop_trying()
        self.reader.forget()
        if self._desk is not None:
            self._desk.close(keeps_changes=self.ports.closes_unasked)

    # ---- what actions call ----

    def show(self) -> None:
        """Brings the panel to the front, with the keyboard in the text."""
        self.ports.workspaces.go_to(self.panel_name)
        if self.desk.is_open:
            self.content.editor.setFocus()

    def show_moment(self, moment: ScriptMoment) -> None:
        """Opens the script that decided something, at the line that was executed.

        Raises:
            InputError: if the open scenario has no such script, or it cannot be read.
        """
        wanted = (moment.kind, moment.name)
        place = next((each for each in self.desk.places if (each.kind, each.name) == wanted), None)
        if place is None:
            raise InputError(
                tr("The open scenario has no script {name}: open that of the run first.", name=moment.name)
            )
        self.show()
        if not self.desk.open(place):
            return
        self.content.editor.show_line(moment.line)
        if self.content.editor.text != moment.text:
            self.ports.tell(tr("{name} was changed since that run: the line may differ.", name=moment.name))

    def mark_moment(self, moment: ScriptMoment | None) -> None:
        """Marks the line that a decision is at, where the editor has that script as the run has it; None: none."""
        self._moment = moment
        self._on_changed()

    def new(self, kind: ScriptKind) -> None:
        """Begins a controller or scheduler."""
        self.show()
        if self.desk.ask_new(kind):
            self.content.editor.setFocus()

    def open_copy(self) -> None:
        """Copies a script that ships into the scenario."""
        self.show()
        if self.desk.ask_copy():
            self.content.editor.setFocus()

    def save(self) -> None:
        """Saves, and runs the scenario again unless something is wrong."""
        self.desk.save()

    def check(self) -> None:
        """Tries what the text in the editor stands."""
        self.content.editor.check()
        if not self.content.editor.problems:
            self._try(asks_arena=True)

    def compare(self) -> None:
        """Compares the runs of the two versions that are selected, or else of the two latest."""
        versions = self.content.versions.selected or self.content.versions.versions[:2]
        if len(versions) == 2:
            numbers = sorted(each.run.id for each in versions)
            self.ports.features[CompareFeature].compare_runs(numbers)

    def restore(self) -> None:
        """Brings the text of the selected version back into the editor, as a step that undo takes back."""
        for version in self.content.versions.selected[:1]:
            self.desk.put_text(version.text)
            self.ports.tell(tr("Version {number} is in the editor; save it to run it.", number=version.number))

    def read_versions(self) -> None:
        """Reads which versions there are runs of, in the background."""
        store = self.ports.database.store
        if self.shown is None or self._desk is None:
            return
        if store is None or not self._desk.is_open:
            self.shown.versions.show_versions((), "")
            return
        from subflow_app.core.history.script_versions import script_versions

        kind, name, shown = self._desk.kind, self._desk.name, self.ports.documents.doc.last_valid
        scenario = "" if shown is None else shown.name

        def work(is_given_up: Callable[[], bool]) -> tuple[Store, str, Sequence[ScriptVersion]]:
            return store, name, script_versions(store, kind, name, scenario, is_given_up)

        self.reader.ask(work, is_other=True)

    # ---- inside ----

    def _on_changed(self) -> None:
        if self.shown is None or self._desk is None:
            return
        desk, content = self._desk, self.shown
        if not desk.is_open:
            text = ""
        elif desk.draft:
            text = tr("draft, not in the scenario yet")
        elif desk.is_modified:
            text = tr("● not saved")
        else:
            text = tr("saved") if desk.place is None or desk.place.path is None else str(desk.place.path.name)
        content.state.setText(text)
        content.versions.show_current(content.editor.text)
        content.editor.mark_moment(self._line_of_moment())
        name = desk.name if desk.is_open else ""
        if name != self._tried[0]:
            self._stop_trying()
            self._tried = (name, "")
            self._show_conformance()
            self.read_versions()
        possible = self.possible()
        if possible != self._possible:
            self._possible = possible
            self.changed.emit()

    def _line_of_moment(self) -> int | None:
        moment, desk, content = self._moment, self._desk, self.shown
        if moment is None or desk is None or content is None or not desk.is_open:
            return None
        is_it = (desk.kind, desk.name, content.editor.text) == (moment.kind, moment.name, moment.text)
        return moment.line if is_it else None

    def _on_saved(self) -> None:
        """What was saved runs at once: nothing else tells so well what it does."""
        content, ports = self.content, self.ports
        content.editor.check()
        if self._tried != (self.desk.name, content.editor.text):
            self._stop_trying()
            self._tried = (self.desk.name, "")
            self._show_conformance()
        if content.editor.problems:
            ports.tell(tr("Saved; nothing runs, as the script has problems."))
            return
        if ports.documents.doc.scenario is None:
            ports.tell(tr("Saved; nothing runs, as the scenario has problems."))
            return
        ports.session.run_again()

    def _on_run_ended(self, job: RunJob, result: RunResult) -> None:
        desk, content = self._desk, self.shown
        if desk is None or content is None or not desk.is_open:
            return
        text = _text_in(job, desk.kind, desk.name)
        if text is None:
            return
        if result.error is not None:
            if isinstance(result.error, ScriptRunError) and result.error.script == desk.name:
                self._show_failure(result.error)
        elif text == content.editor.text and result.status.value == "finished" and self._tried != (desk.name, text):
            self._try(asks_arena=False)

    def _show_failure(self, error: ScriptRunError) -> None:
        """Lists what ended the run as a problem of its line."""
        from subflow_sim.script import ScriptProblem

        # The list says the line itself.
        told = str(error).removeprefix(f"script '{error.script}', line {error.line}, ")
        problem = ScriptProblem(max(error.line, 1), 1, 1, tr("the run failed: {error}", error=told), "")
        self.content.show_problems((*self.content.editor.problems, problem))
        self._on_changed()

    def _try(self, *, asks_arena: bool) -> None:
        """Makes the checks of what is in the editor, and asks the arena after that."""
        from subflow_app.core.conformance import ConformanceJob

        self._stop_trying()
        desk = self.desk
        self._tried = (desk.name, self.content.editor.text)
        self._asks_arena = asks_arena and desk.kind == "controller"
        self._start(ConformanceJob(desk.kind, *self._tried))

    def _ask_arena(self) -> None:
        """Has what was tried, or is in the editor, send in the networks of the arena."""
        from subflow_app.core.conformance import ArenaTrial

        if self.job is not None:
            return
        if not self._tried[1]:
            self._tried = (self.desk.name, self.content.editor.text)
        self._start(ArenaTrial(*self._tried))

    def _start(self, job: ConformanceJob | ArenaTrial) -> None:
        self.job = job
        self.ports.workers.start(
            job.name,
            job.run,
            succeeded=lambda outcome: self._on_tried(job, outcome),
            failed=lambda error: self._on_trial_failed(job, error),
            cancel=job.stop,
        )
        self._follow.start()
        self._show_conformance()

    def _stop_trying(self) -> None:
        if self.job is not None:
            self.job.stop()
        self.job = None
        self._asks_arena = False
        self._follow.stop()
        self._findings = {}

    def _on_tried(self, job: ConformanceJob | ArenaTrial, outcome: JobOutcome | None) -> None:
        if job is not self.job:
            return
        self._note_findings()
        self.job = None
        self._follow.stop()
        if outcome is not None and outcome.error is not None:
            self.ports.tell_failure(outcome.error)
        elif self._asks_arena:
            self._asks_arena = False
            self._ask_arena()
        self._show_conformance()

    def _on_trial_failed(self, job: ConformanceJob | ArenaTrial, error: Exception) -> None:
        self._on_tried(job, None)
        self.ports.tell_failure(error)

    def _note_findings(self) -> None:
        if self.job is not None:
            self._findings |= {each.check.id: each for each in self.job.findings}

    def _show_conformance(self) -> None:
        from subflow_app.core.conformance import questions_of

        if self.shown is None or self._desk is None:
            return
        self._note_findings()
        questions = questions_of(self._desk.kind) if self._desk.is_open else ()
        working = self.job.asked if self.job is not None else ()
        self.shown.conformance.show_findings(questions, self._findings, working)

    def _show_finding(self, finding: Finding) -> None:
        """Runs what shows it, and shows that run."""
        if self.ports.runs.is_running:
            self.ports.tell_failure(InputError(tr("A run is in progress: stop it first.")))
            return
        self.ports.session.run_together([finding.source], is_unlimited=True)

    def _open_run(self, version: ScriptVersion) -> None:
        store = self.ports.database.store
        if store is not None:
            self.ports.shown.show_stored(store, [version.run.id])

    def _on_versions(self, read: tuple[Store, str, Sequence[ScriptVersion]]) -> None:
        store, name, versions = read
        if self.shown is None or self._desk is None or store is not self.ports.database.store:
            return
        if name == self._desk.name:
            self.shown.versions.show_versions(versions, self.shown.editor.text)

    def _recover(self, unsaved: UnsavedText) -> bool:
        self.show()
        return self.desk.recover(unsaved)


def _text_in(job: RunJob, kind: ScriptKind, name: str) -> str | None:
    """The text that a run has of a script; None: it does not have the script."""
    found = next((each for each in job.scenario.scripts if (each.kind, each.name) == (kind, name)), None)
    return None if found is None else found.text
