"""Labs in the window: the panel with the list and the steps, the active lab, and outlines of mentioned parts."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from PySide6.QtCore import QObject, QRect, QUrl, Signal
from PySide6.QtGui import QDesktopServices, QHideEvent, QShowEvent
from PySide6.QtWidgets import QStackedWidget, QWidget

from subflow_app.features.labs.core.evidence import Begin, EvidenceReader
from subflow_app.features.labs.core.lab_file import listed_labs, load_lab, with_code
from subflow_app.features.labs.core.progress import (
    Answered,
    PredictionValue,
    Progress,
    ProgressFolder,
    other_text_notice,
)
from subflow_app.features.labs.core.result_file import result_document, write_result
from subflow_app.features.labs.core.session import Judgement, LabSession, missing_text
from subflow_app.features.labs.core.solution import parse_order
from subflow_app.features.labs.qt.list_page import LabListPage, ListedLab, ask_lab_page
from subflow_app.features.labs.qt.places import PREDICTION, LabPorts, Spotlight, place_of, place_of_widget, reveal
from subflow_app.features.labs.qt.step_page import StepPage
from subflow_app.features.running.qt.queue import QueueSession
from subflow_app.features.sweeps.qt.feature import SweepFeature
from subflow_app.features.training.qt.session import TrainingSession
from subflow_app.foundation.errors import AppError
from subflow_app.foundation.paths import file_stem, labs_directory
from subflow_app.toolkit.theme import Tokens, current_tokens, follow_theme
from subflow_app.toolkit.widgets.shorthand import as_written
from subflow_app.toolkit.workers import LatestReader
from subflow_app.vocabulary.language import tr
from subflow_store import StoreError

if TYPE_CHECKING:
    from subflow_app.features.editor.core.scenario_doc import ScenarioDoc
    from subflow_app.features.labs.core.explorables import Point
    from subflow_app.features.labs.core.lab import Lab, Step, Target
    from subflow_app.features.sweeps.qt.new_dialog import SweepSuggestion
    from subflow_store import Store


class LabPanel(QStackedWidget):
    """Stack of two pages: the list of labs, shown first, and the page of a step."""

    seen = Signal()
    hidden = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        """Create both pages, without labs."""
        super().__init__(parent)
        self.list, self.step = LabListPage(), StepPage()
        self.addWidget(self.list)
        self.addWidget(self.step)

    def showEvent(self, event: QShowEvent) -> None:
        """Emits `seen`."""
        super().showEvent(event)
        self.seen.emit()

    def hideEvent(self, event: QHideEvent) -> None:
        """Emits `hidden`."""
        super().hideEvent(event)
        self.hidden.emit()


T = TypeVar("T")

COURSE_KEY = "SUBFLOW_COURSE_KEY"
"""Environment variable with the key of the course, which the command line also reads."""


class Teacher(QObject):
    """Controls the active lab, whose session judges the work whenever a run ends or the document changes.

    Attributes:
        panel: the panel with both pages.
        begun: session of the active lab; None if no lab is active.
    """

    changed = Signal()

    def __init__(self, ports: LabPorts, parent: QObject) -> None:
        """Lists the labs, and follows runs, sweeps, trainings and the document."""
        super().__init__(parent)
        self.ports = ports
        self.panel = LabPanel()
        self.begun: LabSession | None = None
        self.reader = LatestReader(ports.workers, self, "labs", pause_ms=500)
        self.spotlight = Spotlight(ports.window(), self._place)
        self._labs: dict[str, Lab] = {}
        self._evidence: EvidenceReader | None = None
        self._doc: ScenarioDoc | None = None  # the document of the lab
        self._step: Step | None = None  # the step on the page
        self._last_run = 0  # number of the last run whose values are in the explorable
        self._switched_on: set[str] = set()  # ids of plots that steps switched on
        self._connect_pages()
        self._connect_window()
        self._read_labs()
        follow_theme(self._recolour)

    def _connect_pages(self) -> None:
        labs, page = self.panel.list, self.panel.step
        self.panel.seen.connect(self._on_seen)
        self.panel.hidden.connect(self._point)
        labs.open_wanted.connect(self.open_lab)
        labs.page_wanted.connect(self._ask_page)
        labs.begin_wanted.connect(lambda name, is_anew: self.begin(name, is_anew=is_anew))
        page.list_wanted.connect(self.to_list)
        page.back_wanted.connect(self._back)
        page.next_wanted.connect(self.go_on)
        page.hint_wanted.connect(self.hint)
        page.result_wanted.connect(self.write_result)
        page.document_wanted.connect(self._reopen)
        page.link_clicked.connect(self._on_link)
        page.predicted.connect(self._on_predicted)
        page.answered.connect(self._on_answered)
        self.reader.read.connect(self._on_judged)
        self.reader.failed.connect(self._on_failed)

    def _connect_window(self) -> None:
        ports, sweeps = self.ports, self.ports.features[SweepFeature]
        ports.runs.ended.connect(lambda _job, _result: self.look())
        ports.session.stored.connect(self.look)
        ports.features[QueueSession].stored.connect(self.look)
        sweeps.changed.connect(self.look)
        sweeps.suggests = self._suggested_sweep
        ports.features[TrainingSession].ended.connect(lambda _training: self.look())
        ports.documents.edited.connect(self.look)
        ports.documents.replaced.connect(lambda _doc: self.look())
        ports.documents.settling.connect(self._keep_document)
        ports.documents.keeps = self._is_kept
        ports.plots.runs_changed.connect(self._scroll_to_plot)
        ports.database.opened.connect(lambda _store: self._on_database_opened())

    def possible(self) -> frozenset[str]:
        """Ids of the actions that are possible in the shown step."""
        step, page = self._step, self.panel.step
        if self.begun is None or step is None:
            return frozenset()
        found = {"study.lab_result"}
        if page.next.isEnabled():
            found.add("study.lab_next")
        if step.hints and page.hint.isEnabled():
            found.add("study.lab_hint")
        return frozenset(found)

    def may_close(self) -> bool:
        """Always True, because the progress of the lab is saved."""
        return True

    def close(self) -> None:
        """Cancels pending reads, hides the outlines and saves the document of the lab."""
        self.reader.forget()
        self.spotlight.point_at(())
        self._keep_document()

    # ---- actions ----

    def show_list(self) -> None:
        """Shows the list of labs in its workspace."""
        self._come()
        self.to_list()
        self.panel.list.setFocus()

    def begin(self, name: str, *, is_anew: bool = False) -> None:
        """Begins a lab, or continues it."""
        self._come()
        lab = self._labs.get(name)
        store = self.ports.database.store
        if lab is None:
            return
        if store is None:
            self.panel.list.say(tr("A lab needs an open database of runs: open one from the File menu."))
            return
        folder = self._folder()
        if not is_anew:
            kept = folder.read(name)
            if kept.notice:
                self.panel.list.say(kept.notice)
            if kept.progress is not None:
                if other_text_notice(lab, kept.progress):
                    # The list shows the reason, and offers to begin again.
                    self.to_list()
                    self.panel.list.select(name)
                    return
                self._take_up(lab, kept.progress)
                return
        code = self._asked_code() if lab.own else ""
        if code is None:
            return
        try:
            own = with_code(lab, code)
            if is_anew:
                folder.forget(name)
        except AppError as error:
            self.panel.list.say(str(error))
            return
        self._work(lambda: (own.scenario_text(), Begin.of(store)), lambda made: self._begun(own, *made))

    def open_lab(self) -> None:
        """Asks for a lab file, and adds the lab to the list."""
        path = self.ports.dialogs.open_path(tr("Open a lab"), tr("Labs (*.md)"), None)
        if path is None:
            return
        try:
            lab = load_lab(path)
        except AppError as error:
            self.panel.list.say(str(error))
            return
        self.ports.preferences.change(self.ports.preferences.settings.with_recent_lab(path))
        self._labs[lab.name] = lab
        self._list_labs()
        self.panel.list.select(lab.name)

    def go_on(self) -> None:
        """Shows the next step; after the last step, the next lab or the list."""
        session, step = self.begun, self._step
        if session is None or step is None:
            return
        if session.is_finished and step is session.lab.steps[-1]:
            following = self._following(session.lab)
            self.to_list()
            if following is not None:
                self.begin(following.name)
            return
        if step.is_read_only and session.active is step:
            self._keeping(lambda: session.go_on(step))
        steps = session.lab.steps
        index = steps.index(step)
        if index + 1 < len(steps) and session.step_progress(step).is_passed:
            self._step = steps[index + 1]
        self._show_step()
        self.look()

    def hint(self) -> None:
        """Shows the next hint of the step."""
        session, step = self.begun, self._step
        if session is not None and step is not None:
            self._keeping(lambda: session.hint(step))
            self._show_step()
            self.panel.step.scrolled.ensureWidgetVisible(self.panel.step.hints)

    def write_result(self) -> None:
        """Asks for the student's name and a path, and writes the result file."""
        session, reader, ports = self.begun, self._evidence, self.ports
        if session is None or reader is None:
            return
        asked = tr("Your name, as your lecturer knows it:")  # english: keep
        student = ports.dialogs.line(tr("Your name"), asked, session.progress.code)
        if not student or not student.strip():
            return
        name = f"{session.lab.name}-{file_stem(student)}.json"
        path = ports.exports.ask_path(tr("Write result"), tr("Result of a lab (*.json)"), name)
        if path is None:
            return
        progress, lab, text = session.progress, session.lab, self._text()

        def work() -> Path:
            evidence = reader.read(text, progress.step_runs())
            document = result_document(lab, progress, evidence, student.strip(), os.environ.get(COURSE_KEY, ""))
            write_result(path, document)
            return path

        self._work(work, ports.exports.take)

    def look(self) -> None:
        """Judges the active step in a worker thread, if the visible page shows this step."""
        session, evidence = self.begun, self._evidence
        if session is None:
            return
        self.panel.step.say_reopen(is_wanted=self.ports.documents.doc is not self._doc)
        if evidence is None or session.active is None or session.active is not self._step or not self.panel.isVisible():
            return
        text = self._text()
        # Replaces earlier requests, which would use outdated data.
        self.reader.ask(lambda _is_cancelled: session.judge(evidence, text), is_other=True)

    def to_list(self) -> None:
        """Saves the document, switches off the plots of the steps, and shows the list."""
        self._keep_document()
        self._give_back()
        self.panel.setCurrentWidget(self.panel.list)
        self._list_labs()
        self._point()

    # ---- helpers ----

    def _come(self) -> None:
        """Brings the panel to the front in its workspace."""
        self.ports.workspaces.enter("lab")
        self.ports.docks.set_open("lab", True)

    def _recolour(self, _tokens: Tokens) -> None:
        if self.begun is not None and self._step is not None:
            self._show_step()

    def _on_seen(self) -> None:
        self._point()
        self.look()

    def _read_labs(self) -> None:
        self._labs, problems = listed_labs(self.ports.preferences.settings.recent_labs)
        self._list_labs()
        self.panel.list.say("\n".join(problems))

    def _list_labs(self) -> None:
        folder = self._folder()
        self.panel.list.show_labs([ListedLab.of(lab, folder) for lab in self._labs.values()])

    def _asked_code(self) -> str | None:
        """The name or number from which a student's own numbers are drawn; None if cancelled.

        The dialog offers the code of another lab that was begun on this computer.
        """
        folder = self._folder()
        begun = (folder.peek(lab.name) for lab in self._labs.values() if lab.own)
        known = next((progress.code for progress in begun if progress is not None and progress.code), "")
        question = tr(
            "In this lab, each student gets other numbers. Enter your name or number as your lecturer asks for it."
        )
        empty = tr("Leave the line empty for the numbers of the book.")
        return self.ports.dialogs.line(tr("Your own numbers"), f"{question}\n{empty}", known)

    def _ask_page(self, name: str) -> None:
        ask_lab_page(self.ports.exports, self._labs[name], self.panel.list.say, key=os.environ.get(COURSE_KEY, ""))

    def _folder(self) -> ProgressFolder:
        return ProgressFolder(labs_directory())

    def _begun(self, lab: Lab, text: str, begin: Begin) -> None:
        store = self.ports.database.store
        if store is None or not self.ports.documents.open_text(text, lab.title):
            return
        # Remove earlier runs from the plots, because questions of the lab refer only to its own runs.
        self.ports.shown.clear()
        path = str(self.ports.database.path or "")
        session = LabSession.begin_at(lab, begin, text, self._folder(), path, lab.code)
        self._take(session, store)
        self._keeping(session.keep)

    def _take_up(self, lab: Lab, kept: Progress) -> None:
        store = self.ports.database.store
        assert store is not None
        if kept.database and Path(kept.database) != self.ports.database.path:
            self.panel.list.say(_other_database_text(kept.database))
            return
        if self.ports.documents.doc.text != kept.document and not self._open(kept.document, lab):
            return
        session = LabSession(lab, kept, self._folder())
        self._take(session, store)
        self._show_last_run(session, store)

    def _show_last_run(self, session: LabSession, store: Store) -> None:
        """Shows the last run of the lab, unless it is already visible."""
        evidence, text = self._evidence, self._text()
        if evidence is None:
            return

        def show(run_id: int | None) -> None:
            if run_id is not None and self.begun is session and run_id not in self.ports.shown.ids:
                self.ports.shown.show_stored(store, [run_id])

        def work() -> int | None:
            runs = evidence.read(text, session.progress.step_runs()).runs
            return runs[-1].id if runs else None

        self._work(work, show)

    def _open(self, text: str, lab: Lab) -> bool:
        return self.ports.documents.open_text(text, lab.title)

    def _take(self, session: LabSession, store: Store) -> None:
        self._give_back()
        self.begun, self._doc = session, self.ports.documents.doc
        self._evidence = session.reader(store)
        self._step = session.active or session.lab.steps[-1]
        self.panel.setCurrentWidget(self.panel.step)
        self._show_step()
        self.look()

    def _back(self) -> None:
        if self.begun is not None and self._step is not None:
            steps = self.begun.lab.steps
            self._step = steps[max(0, steps.index(self._step) - 1)]
            self._show_step()

    def _reopen(self) -> None:
        if self.begun is not None and self._open(self.begun.progress.document, self.begun.lab):
            self._doc = self.ports.documents.doc
            self.look()

    def _show_step(self) -> None:
        session, step, page = self.begun, self._step, self.panel.step
        assert session is not None
        assert step is not None
        page.show_step(session, step, has_following=self._following(session.lab) is not None)
        self._show_curve(step)
        self._show_points(step)
        self._point()
        self.changed.emit()

    def _show_curve(self, step: Step) -> None:
        """Draws the curve of the run over the predicted curve after the step is passed."""
        page, session, evidence, store = self.panel.step, self.begun, self._evidence, self.ports.database.store
        canvas = page.prediction.canvas if page.prediction is not None else None
        if canvas is None or session is None or evidence is None or store is None or canvas.curve is not None:
            return
        made, prediction, text = session.step_progress(step), step.prediction, self._text()
        if not made.is_passed or prediction is None or not made.last_run:
            return
        runs, run_id = session.progress.step_runs(), made.last_run

        def work() -> object:
            run = evidence.read(text, runs).run(run_id)
            return None if run is None else run.curve(prediction.sketch, prediction.owner)

        def show(curve: object) -> None:
            if isinstance(curve, tuple) and page.prediction is not None and page.prediction.canvas is canvas:
                canvas.show_curve(*curve)

        self._work(work, show)

    def _show_points(self, step: Step) -> None:
        """Draws the points measured by runs over the curve of the explorable."""
        page, session, evidence, exploration = self.panel.step, self.begun, self._evidence, step.exploration
        view = page.explorable
        if view is None or session is None or evidence is None or exploration is None:
            return
        runs, text = session.progress.step_runs(), self._text()

        def show(points: list[Point]) -> None:
            if page.explorable is view:
                view.show_points(points)

        self._work(lambda: exploration.points(evidence.read(text, runs)), show)

    def _point(self) -> None:
        session, step = self.begun, self._step
        is_open = self.panel.isVisible() and self.panel.currentWidget() is self.panel.step
        if not is_open or session is None or step is None or session.active is not step:
            self.spotlight.point_at(())
            return
        if step.prediction is not None and session.step_progress(step).prediction is None:
            # The prediction must precede the run.
            self.spotlight.point_at((PREDICTION,))
            return
        if step.shows != self.spotlight.targets:
            # The first target is revealed last, so that it ends up in front.
            for target in reversed(step.shows):
                if reveal(self.ports, target):
                    self._switched_on.add(target.name)
        self.spotlight.point_at(step.shows)

    def _scroll_to_plot(self) -> None:
        """Scrolls to the first plot that the step mentions, whenever the plotted runs change."""
        spoken = [each.name for each in self.spotlight.targets if each.kind == "plot"]
        if spoken:
            self.ports.plots.scroll_to(spoken[0])

    def _give_back(self) -> None:
        """Switches off the plots that steps switched on."""
        for plot_id in self._switched_on:
            self.ports.set_plot_shown(plot_id, False)
        self._switched_on.clear()

    def _following(self, lab: Lab) -> Lab | None:
        """The next lab that can be done on this installation; None if no lab follows."""
        return next((each for each in self._labs.values() if each.number > lab.number and not each.missing), None)

    def _suggested_sweep(self) -> SweepSuggestion | None:
        """Sweep to suggest: that of the step's solution, or three seeds if the solution was removed; otherwise None."""
        if self._step is None or not self._is_kept():
            return None
        from subflow_app.features.sweeps.qt.new_dialog import SweepSuggestion

        if not self._step.do:  # a published lab contains no solution
            return SweepSuggestion("1..3", compares_controllers=False)
        for order in map(parse_order, self._step.do):
            if order.verb == "sweep":
                values = dict(order.values)
                seeds = values.pop("seeds", "1")
                is_of_controllers = any(key.endswith(".controller") for key in values)
                return SweepSuggestion("1" if seeds == "1..1" else seeds, is_of_controllers)
        return None

    def _is_kept(self) -> bool:
        """True if the open document belongs to the lab and has no file, so that the progress saves its text."""
        return self._doc is not None and self._doc.path is None and self.ports.documents.doc is self._doc

    def _place(self, target: Target) -> QRect | None:
        if target != PREDICTION:
            return place_of(self.ports, target)
        page, window = self.panel.step, self.ports.window()
        if page.prediction is None:
            return None
        # If the form is scrolled out of sight, point at the message instead.
        return place_of_widget(window, page.prediction) or place_of_widget(window, page.verdict)

    def _on_predicted(self, value: PredictionValue) -> None:
        session, step, store = self.begun, self._step, self.ports.database.store
        if session is None or step is None or store is None:
            return

        def keep(now: Begin) -> None:
            self._keeping(lambda: session.predict(step, value, now.run))
            self._show_step()
            self.look()

        self._work(lambda: Begin.of(store), keep)

    def _on_answered(self, question_id: str, said: str) -> None:
        session, step, evidence = self.begun, self._step, self._evidence
        if session is None or step is None or evidence is None:
            return
        question, text = step.question(question_id), self._text()

        def keep(answered: Answered) -> None:
            self._keeping(lambda: session.answer(step, question, answered))
            self._show_step()
            self.panel.step.show_outcome(question_id)
            self.look()

        self._work(lambda: session.judge_answer(evidence, text, step, question, said), keep)

    def _on_judged(self, judgement: Judgement | None) -> None:
        session, step, page = self.begun, self._step, self.panel.step
        if judgement is None or session is None or step is None or judgement.step != step.id:
            return
        was_active, before = session.active is step, session.step_progress(step).prediction
        self._keep_document()
        self._keeping(lambda: session.take(judgement))
        if judgement.last_run != self._last_run:
            self._last_run = judgement.last_run
            self._show_points(step)
        if page.prediction is not None and session.step_progress(step).prediction != before:
            page.prediction.show_prediction(session.step_progress(step).prediction)
        if session.step_progress(step).is_passed:
            if was_active:
                self._show_step()
            return
        missing = missing_text(step, judgement)
        if not missing and step.questions:
            # The question may be below the visible part of the step.
            missing = tr("Answer the question below.")
        if judgement.check is None and judgement.ran_early:
            page.show_prediction_form()
        page.say(tr("Not yet: {why}", why=missing) if missing else "", current_tokens().muted_text)
        page.verdict.setToolTip("" if judgement.check is None else as_written(judgement.check.why))

    def _on_failed(self, error: Exception) -> None:
        self.panel.step.say(str(error), current_tokens().error)

    def _on_database_opened(self) -> None:
        session, store = self.begun, self.ports.database.store
        if session is None or store is None:
            return
        is_same = Path(session.progress.database) == self.ports.database.path
        self._evidence = session.reader(store) if is_same else None
        if not is_same:
            self._on_failed(StoreError(_other_database_text(session.progress.database)))
        self.look()

    def _on_link(self, link: str) -> None:
        if link.partition(":")[0] in ("http", "https"):
            QDesktopServices.openUrl(QUrl(link))
        else:
            self.ports.help.show_page(link)
            self.ports.docks.set_open("help", True)

    def _keep_document(self) -> None:
        session, doc = self.begun, self._doc
        if session is not None and doc is not None and self._is_kept():
            self._keeping(lambda: session.keep_document(doc.text))

    def _keeping(self, change: Callable[[], object]) -> None:
        """Applies a change; if the progress cannot be saved, shows the error and continues the lab."""
        try:
            change()
        except AppError as error:
            self._on_failed(error)

    def _text(self) -> str:
        return self.ports.documents.doc.text

    def _work(self, work: Callable[[], T], then: Callable[[T], None]) -> None:
        self.ports.workers.start("lab", work, succeeded=then, failed=self._on_failed)


def _other_database_text(file: str) -> str:
    return tr("This lab was begun with the runs in {file}: open that database to continue it.", file=file)
