"""The open script: run after each save, compared with its earlier versions, and checked."""

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
from subflow_app.toolkit.study import Study
from subflow_app.toolkit.workers import LatestReader
from subflow_app.vocabulary.language import tr
from subflow_app.vocabulary.plain_text import difference
from subflow_sim.errors import ScriptRunError
from subflow_sim.script import ScriptProblem

if TYPE_CHECKING:
    from subflow_app.features.running.core.runs import RunJob, RunResult
    from subflow_app.features.script.qt.ports import ScriptMoment, ScriptPorts
    from subflow_app.foundation.jobs.job import JobOutcome
    from subflow_sim.scenario_model import ScriptKind
    from subflow_store import Store

SCRIPT_BUTTONS = ("script.save", "script.new_controller", "script.open_copy", "script.find", "script.check")
SCRIPT_VERSION_BUTTONS = ("script.compare", "script.difference", "script.restore")

SAVE, SAVE_AS, FIND, COMMENT, COMPLETE, NEXT_PROBLEM, CHECK, COMPARE, RESTORE = (
    f"script.{name}"
    for name in ("save", "save_as", "find", "comment", "complete", "next_problem", "check", "compare", "restore")
)


class ScriptSession(QObject):
    """The panel of scripts with the results of the open script.

    Attributes:
        panel: the editor with its lists.
        desk: opens and saves scripts.
        study: runs conformance checks.
        reader: reads the versions of the script.
    """

    changed = Signal()

    def __init__(self, ports: ScriptPorts, parent: QObject) -> None:
        """Opens the first script of the scenario, and reads the versions of the script in stored runs."""
        super().__init__(parent)
        self.ports = ports
        bar = ports.bar
        panel = self.panel = ScriptPanel(
            [bar[name] for name in SCRIPT_BUTTONS],
            [bar[name] for name in SCRIPT_VERSION_BUTTONS],
            bar["script.new_controller"],
        )
        self.study: Study[ConformanceJob | ArenaTrial] = Study(ports.workers, self, "conformance", ports.tell_failure)
        self.study.reports_problems = False  # the strip shows them
        self.study.ticked.connect(self._show_conformance)
        self.study.ended.connect(self._on_tried)
        self._asks_arena = False  # whether the arena follows the conformance checks
        self._findings: dict[str, Finding] = {}  # by id of the question
        self._tried = ("", "")  # name and text of the script whose results the strip shows
        self._moment: ScriptMoment | None = None  # moment of the explained decision
        self._possible: frozenset[str] = frozenset()
        self.reader = LatestReader(ports.workers, self, "read versions")
        self.reader.read.connect(self._on_versions)
        self.reader.failed.connect(lambda error: ports.tell(error_text(error)))
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
        """Names of the possible actions on the open script."""
        if not self.desk.is_open:
            return frozenset()
        found = {SAVE, SAVE_AS, FIND, COMMENT, COMPLETE, CHECK}
        if not self.panel.problems.isHidden():
            found.add(NEXT_PROBLEM)
        selected = self.panel.versions.selected
        if len(selected) == 2 or (not selected and len(self.panel.versions.versions) > 1):
            found.add(COMPARE)
        if self._compared_texts() is not None:
            found.add("script.difference")
        if len(selected) == 1 and selected[0].text != self.panel.editor.text:
            found.add(RESTORE)
        return frozenset(found)

    def may_close(self) -> bool:
        """Always True: the documents already ask about unsaved scripts."""
        return True

    def close(self) -> None:
        """Ends checks in progress, and closes the recovery file."""
        self._stop_trying()
        self.reader.forget()
        self.desk.close(keeps_changes=self.ports.closes_unasked)

    # ---- called by actions ----

    def mark_moment(self, moment: ScriptMoment | None) -> None:
        """Marks the line of a decision if the editor has the same text as the run; None removes the mark."""
        self._moment = moment
        self._on_changed()

    def check(self) -> None:
        """Runs the conformance checks, and for a controller the arena, unless the text in the editor has problems."""
        self.panel.editor.check()
        if not self.panel.editor.problems:
            self._try(asks_arena=True)

    def compare(self) -> None:
        """Compares the runs of the two selected versions; without a selection, those of the two latest versions."""
        versions = self.panel.versions.selected or self.panel.versions.versions[:2]
        if len(versions) == 2:
            numbers = sorted(each.run.id for each in versions)
            self.ports.features[CompareFeature].compare_runs(numbers)

    def show_difference(self) -> None:
        """Shows the difference of the two selected versions, or of the selected one and the text in the editor."""
        texts = self._compared_texts()
        if texts is not None:
            (old_name, old), (new_name, new) = texts
            title = tr("From {old} to {new}", old=old_name, new=new_name)
            self.ports.dialogs.report(title, difference(old, new, old_name, new_name))

    def _compared_texts(self) -> tuple[tuple[str, str], tuple[str, str]] | None:
        """Two different texts with their names, the older first; None without them."""
        chosen = sorted(self.panel.versions.selected, key=lambda version: version.number)
        texts = [(tr("version {number}", number=each.number), each.text) for each in chosen]
        if len(texts) == 1:
            texts.append((tr("the editor"), self.panel.editor.text))
        if len(texts) != 2 or texts[0][1] == texts[1][1]:
            return None
        return texts[0], texts[1]

    def restore(self) -> None:
        """Loads the text of the selected version into the editor, as one undoable step."""
        for version in self.panel.versions.selected[:1]:
            self.desk.put_text(version.text)
            self.ports.tell(tr("Version {number} is in the editor; save it to run it.", number=version.number))

    def read_versions(self) -> None:
        """Reads the versions that have runs, in the background."""
        store = self.ports.database.store
        if store is None or not self.desk.is_open:
            self.panel.versions.show_versions((), "")
            return
        kind, name, shown = self.desk.kind, self.desk.name, self.ports.documents.doc.last_valid
        scenario = "" if shown is None else shown.name

        def work(is_given_up: Callable[[], bool]) -> tuple[Store, str, Sequence[ScriptVersion]]:
            return store, name, script_versions(store, kind, name, scenario, is_given_up)

        self.reader.ask(work, is_other=True)

    # ---- internals ----

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
        """Runs the scenario immediately after a script is saved, unless script or scenario has problems."""
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
        """Lists the failure of the run as a problem of the line that caused it."""
        # Script and line are removed, because the list already shows them.
        text = str(error).removeprefix(f"script '{error.script}', line {error.line}, ")
        problem = ScriptProblem(max(error.line, 1), 1, 1, tr("the run failed: {error}", error=text), "")
        self.panel.show_problems((*self.panel.editor.problems, problem))
        self._on_changed()

    def _try(self, *, asks_arena: bool) -> None:
        """Runs the checks of the text in the editor, then the arena if requested."""
        self._stop_trying()
        desk = self.desk
        self._tried = (desk.name, self.panel.editor.text)
        self._asks_arena = asks_arena and desk.kind == "controller"
        self.study.start(ConformanceJob(desk.kind, *self._tried))

    def _ask_arena(self) -> None:
        """Runs the checked text, or else the text in the editor, in the networks of the arena."""
        if self.study.is_running:
            return
        if not self._tried[1]:
            self._tried = (self.desk.name, self.panel.editor.text)
        self.study.start(ArenaTrial(*self._tried))

    def _stop_trying(self) -> None:
        self.study.forget()
        self._asks_arena = False
        self._findings = {}

    def _on_tried(self, job: ConformanceJob | ArenaTrial | None, outcome: JobOutcome | None) -> None:
        self._note_findings(job)
        asks_arena, self._asks_arena = self._asks_arena, False
        if asks_arena and outcome is not None and outcome.error is None:
            self._ask_arena()
        self._show_conformance()

    def _note_findings(self, job: ConformanceJob | ArenaTrial | None) -> None:
        if job is not None:
            self._findings |= {each.check.id: each for each in job.findings}

    def _show_conformance(self) -> None:
        job = self.study.job
        self._note_findings(job)
        questions = questions_of(self.desk.kind) if self.desk.is_open else ()
        self.panel.conformance.show_findings(questions, self._findings, () if job is None else job.asked)

    def _show_finding(self, finding: Finding) -> None:
        """Runs the scenario of a finding and shows this run."""
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
    """The text of a script in a run; None if the run does not contain the script."""
    found = next((each for each in job.scenario.scripts if (each.kind, each.name) == (kind, name)), None)
    return None if found is None else found.text
