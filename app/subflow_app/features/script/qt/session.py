"""The script that is open: run as soon as it is saved, compared with what it was, and tried."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from subflow_app.features.comparison.qt.feature import CompareFeature
from subflow_app.features.history.core.script_versions import ScriptVersion, script_versions
from subflow_app.features.script.core import ArenaTrial, ConformanceJob, Finding, questions_of
from subflow_app.features.script.qt.desk import ScriptDesk
from subflow_app.features.script.qt.panel import ScriptPanel
from subflow_app.foundation.errors import InputError
from subflow_app.foundation.problem_texts import error_text
from subflow_app.toolkit.widgets.shorthand import timer
from subflow_app.toolkit.workers import LatestReader
from subflow_app.vocabulary.language import tr
from subflow_sim.errors import ScriptRunError
from subflow_sim.script import ScriptProblem

if TYPE_CHECKING:
    from subflow_app.features.running.core.runs import RunJob, RunResult
    from subflow_app.features.script.qt.ports import ScriptMoment, ScriptPorts
    from subflow_app.foundation.jobs.job import JobOutcome
    from subflow_sim.scenario_model import ScriptKind
    from subflow_store import Store

SCRIPT_BUTTONS = ("script.save", "script.new_controller", "script.open_copy", "script.find", "script.check")
SCRIPT_VERSION_BUTTONS = ("script.compare", "script.restore")

_FOLLOW_MS = 100

SAVE, SAVE_AS, FIND, COMMENT, COMPLETE, NEXT_PROBLEM, CHECK, COMPARE, RESTORE = (
    f"script.{name}"
    for name in ("save", "save_as", "find", "comment", "complete", "next_problem", "check", "compare", "restore")
)


class ScriptSession(QObject):
    """The panel of scripts with what it knows of the one that is open.

    Attributes:
        panel: the editor with its lists.
        desk: opens and saves.
        job: tries the script.
        reader: reads its versions.
    """

    changed = Signal()

    def __init__(self, ports: ScriptPorts, parent: QObject) -> None:
        """Opens the first script of the scenario; each run that is kept may be of another version."""
        super().__init__(parent)
        self.ports = ports
        bar = ports.bar
        panel = self.panel = ScriptPanel(
            [bar[name] for name in SCRIPT_BUTTONS],
            [bar[name] for name in SCRIPT_VERSION_BUTTONS],
            bar["script.new_controller"],
        )
        self.job: ConformanceJob | ArenaTrial | None = None
        self._asks_arena = False  # once the checks are made
        self._findings: dict[str, Finding] = {}  # by what was asked
        self._tried = ("", "")  # name and text of the script that the strip tells of
        self._moment: ScriptMoment | None = None  # of the decision that is explained
        self._possible: frozenset[str] = frozenset()
        self._follow = timer(self, self._show_conformance, _FOLLOW_MS)
        self.reader = LatestReader(ports.workers, self, "read versions")
        self.reader.read.connect(self._on_versions)
        self.reader.failed.connect(lambda error: ports.statusBar().showMessage(error_text(error)))
        self.desk = ScriptDesk(ports, panel, self)
        self.desk.changed.connect(self._on_changed)
        self.desk.saved.connect(self._on_saved)
        panel.editor.commanded.connect(lambda command: bar.trigger(f"script.{command}"))
        panel.editor.cursorPositionChanged.connect(self._on_changed)
        panel.versions.selection_changed.connect(self._on_changed)
        panel.versions.opened.connect(self._open_run)
        panel.conformance.opened.connect(self._show_finding)
        panel.conformance.asked.connect(self._ask_arena)
        ports.session.stored.connect(self.read_versions)
        ports.database.opened.connect(lambda _store: self.read_versions())
        ports.runs.ended.connect(self._on_run_ended)
        self._on_changed()
        self.read_versions()

    def possible(self) -> frozenset[str]:
        """What can be done with the script that is open."""
        if not self.desk.is_open:
            return frozenset()
        found = {SAVE, SAVE_AS, FIND, COMMENT, COMPLETE, CHECK}
        if not self.panel.problems.isHidden():
            found.add(NEXT_PROBLEM)
        selected = self.panel.versions.selected
        if len(selected) == 2 or (not selected and len(self.panel.versions.versions) > 1):
            found.add(COMPARE)
        if len(selected) == 1 and selected[0].text != self.panel.editor.text:
            found.add(RESTORE)
        return frozenset(found)

    def may_close(self) -> bool:
        """Always: the documents ask for the desk."""
        return True

    def close(self) -> None:
        """Ends what is tried, and lets go of what was kept for a crash."""
        self._stop_trying()
        self.reader.forget()
        self.desk.close(keeps_changes=self.ports.closes_unasked)

    # ---- what actions call ----

    def mark_moment(self, moment: ScriptMoment | None) -> None:
        """Marks the line that a decision is at, where the editor has that script as the run has it; None: none."""
        self._moment = moment
        self._on_changed()

    def check(self) -> None:
        """Tries what the text in the editor stands."""
        self.panel.editor.check()
        if not self.panel.editor.problems:
            self._try(asks_arena=True)

    def compare(self) -> None:
        """Compares the runs of the two versions that are selected, or else of the two latest."""
        versions = self.panel.versions.selected or self.panel.versions.versions[:2]
        if len(versions) == 2:
            numbers = sorted(each.run.id for each in versions)
            self.ports.features[CompareFeature].compare_runs(numbers)

    def restore(self) -> None:
        """Brings the text of the selected version back into the editor, as a step that undo takes back."""
        for version in self.panel.versions.selected[:1]:
            self.desk.put_text(version.text)
            self.ports.tell(tr("Version {number} is in the editor; save it to run it.", number=version.number))

    def read_versions(self) -> None:
        """Reads which versions there are runs of, in the background."""
        store = self.ports.database.store
        if store is None or not self.desk.is_open:
            self.panel.versions.show_versions((), "")
            return
        kind, name, shown = self.desk.kind, self.desk.name, self.ports.documents.doc.last_valid
        scenario = "" if shown is None else shown.name

        def work(is_given_up: Callable[[], bool]) -> tuple[Store, str, Sequence[ScriptVersion]]:
            return store, name, script_versions(store, kind, name, scenario, is_given_up)

        self.reader.ask(work, is_other=True)

    # ---- inside ----

    def _on_changed(self) -> None:
        desk, panel = self.desk, self.panel
        if not desk.is_open:
            text = ""
        elif desk.draft:
            text = tr("draft, not in the scenario yet")
        elif desk.is_modified:
            text = tr("● not saved")
        else:
            text = tr("saved") if desk.place is None or desk.place.path is None else str(desk.place.path.name)
        panel.state.setText(text)
        panel.versions.show_current(panel.editor.text)
        panel.editor.mark_moment(self._line_of_moment())
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
        moment, desk, panel = self._moment, self.desk, self.panel
        if moment is None or not desk.is_open:
            return None
        is_it = (desk.kind, desk.name, panel.editor.text) == (moment.kind, moment.name, moment.text)
        return moment.line if is_it else None

    def _on_saved(self) -> None:
        """What was saved runs at once: nothing else tells so well what it does."""
        panel, ports = self.panel, self.ports
        panel.editor.check()
        if self._tried != (self.desk.name, panel.editor.text):
            self._stop_trying()
            self._tried = (self.desk.name, "")
            self._show_conformance()
        if panel.editor.problems:
            ports.tell(tr("Saved; nothing runs, as the script has problems."))
            return
        if ports.documents.doc.scenario is None:
            ports.tell(tr("Saved; nothing runs, as the scenario has problems."))
            return
        ports.session.run_again()

    def _on_run_ended(self, job: RunJob, result: RunResult) -> None:
        desk = self.desk
        if not desk.is_open:
            return
        text = _text_in(job, desk.kind, desk.name)
        if text is None:
            return
        if result.error is not None:
            if isinstance(result.error, ScriptRunError) and result.error.script == desk.name:
                self._show_failure(result.error)
        elif text == self.panel.editor.text and result.status.value == "finished" and self._tried != (desk.name, text):
            self._try(asks_arena=False)

    def _show_failure(self, error: ScriptRunError) -> None:
        """Lists what ended the run as a problem of its line."""
        # The list says the line itself.
        told = str(error).removeprefix(f"script '{error.script}', line {error.line}, ")
        problem = ScriptProblem(max(error.line, 1), 1, 1, tr("the run failed: {error}", error=told), "")
        self.panel.show_problems((*self.panel.editor.problems, problem))
        self._on_changed()

    def _try(self, *, asks_arena: bool) -> None:
        """Makes the checks of what is in the editor, and asks the arena after that."""
        self._stop_trying()
        desk = self.desk
        self._tried = (desk.name, self.panel.editor.text)
        self._asks_arena = asks_arena and desk.kind == "controller"
        self._start(ConformanceJob(desk.kind, *self._tried))

    def _ask_arena(self) -> None:
        """Has what was tried, or is in the editor, send in the networks of the arena."""
        if self.job is not None:
            return
        if not self._tried[1]:
            self._tried = (self.desk.name, self.panel.editor.text)
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
        self._note_findings()
        questions = questions_of(self.desk.kind) if self.desk.is_open else ()
        working = self.job.asked if self.job is not None else ()
        self.panel.conformance.show_findings(questions, self._findings, working)

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
        if store is self.ports.database.store and name == self.desk.name:
            self.panel.versions.show_versions(versions, self.panel.editor.text)


def _text_in(job: RunJob, kind: ScriptKind, name: str) -> str | None:
    """The text that a run has of a script; None: it does not have the script."""
    found = next((each for each in job.scenario.scripts if (each.kind, each.name) == (kind, name)), None)
    return None if found is None else found.text
