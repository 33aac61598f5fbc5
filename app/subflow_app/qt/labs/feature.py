"""Guided labs in the window: the panel, the lab that is under way, and what its steps speak of."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from PySide6.QtGui import QDesktopServices

from subflow_app.core.errors import AppError
from subflow_app.core.paths import file_stem, labs_directory
from subflow_app.qt.feature import Feature
from subflow_app.qt.labs.panel import LabPanel
from subflow_app.qt.plain_text import as_written
from subflow_app.qt.sweeps.feature import SweepFeature
from subflow_app.qt.theme import Tokens, current_tokens, follow_theme
from subflow_app.vocabulary.language import tr
from subflow_store import StoreError

if TYPE_CHECKING:
    from PySide6.QtCore import QRect

    from subflow_app.core.explorables import Point
    from subflow_app.core.labs.evidence import Begin, EvidenceReader
    from subflow_app.core.labs.lab import Lab, Step, Target
    from subflow_app.core.labs.progress import Answered, PredictionValue, Progress, ProgressFolder
    from subflow_app.core.labs.session import Judgement, LabSession
    from subflow_app.core.scenarios.scenario_doc import ScenarioDoc
    from subflow_app.qt.labs.class_dialog import ClassDialog
    from subflow_app.qt.labs.spotlight import Spotlight
    from subflow_app.qt.latest_reader import LatestReader
    from subflow_app.qt.main_window import MainWindow
    from subflow_app.qt.sweeps.new_dialog import SweepSuggestion
    from subflow_store import Store

T = TypeVar("T")

COURSE_KEY = "SUBFLOW_COURSE_KEY"
"""Environment variable with the key of the course, as on the command line."""


class LabFeature(Feature):
    """Looks at what the student did whenever a run ends or the document changes; decides nothing itself."""

    panel_name = "lab"

    def __init__(self, window: MainWindow) -> None:
        """An empty panel."""
        super().__init__()
        self.window = window
        self.panel: LabPanel = LabPanel()
        self.session: LabSession | None = None
        self.reader: LatestReader | None = None
        self.spotlight: Spotlight | None = None
        self.class_dialog: ClassDialog | None = None
        self._labs: dict[str, Lab] = {}
        self._evidence: EvidenceReader | None = None
        self._doc: ScenarioDoc | None = None  # that of the lab
        self._step: Step | None = None  # that is looked at
        self._last_run = 0  # whose numbers are in a formula that is explored
        self._switched_on: set[str] = set()  # plots that were off before a step spoke of them

    def connect_parts(self) -> None:
        """Follows runs, sweeps, trainings and the document."""
        window = self.window
        self.panel.shown.connect(self._on_shown)
        self.panel.hidden.connect(self._point)
        window.runs.ended.connect(lambda _job, _result: self.look())
        window.session.stored.connect(self.look)
        window.queue_session.stored.connect(self.look)
        window.features[SweepFeature].changed.connect(self.look)
        window.features[SweepFeature].suggests = self._suggested_sweep
        window.training_session.ended.connect(lambda _training: self.look())
        window.documents.edited.connect(self.look)
        window.documents.replaced.connect(lambda _doc: self.look())
        window.documents.settling.connect(self._keep_document)
        window.plots.runs_changed.connect(self._scroll_to_plot)
        window.documents.keeps = self._is_kept
        window.database.opened.connect(lambda _store: self._on_database_opened())

    def possible(self) -> frozenset[str]:
        """What the step allows."""
        session, step = self.session, self._step
        if session is None or step is None or self.panel.step is None:
            return frozenset()
        page = self.panel.step
        found = {"study.lab_result"}
        if page.next.isEnabled():
            found.add("study.lab_next")
        if step.hints and page.hint.isEnabled():
            found.add("study.lab_hint")
        return frozenset(found)

    def close(self) -> None:
        """Keeps how the lab's document is."""
        if self.reader is not None:
            self.reader.forget()
        if self.spotlight is not None:
            self.spotlight.point_at(())
        self._keep_document()

    # ---- what actions call ----

    def show_labs(self) -> None:
        """Shows the list of labs in its workspace."""
        self.window.workspaces.show("lab")
        self.window.docks.set_open("lab", True)
        self._wake()
        self.to_list()
        assert self.panel.list is not None
        self.panel.list.setFocus()

    def begin(self, name: str, *, is_anew: bool = False) -> None:
        """Begins a lab, or goes on with it where it was left."""
        self.window.workspaces.show("lab")
        self.window.docks.set_open("lab", True)
        self._wake()
        assert self.panel.list is not None
        lab = self._labs.get(name)
        store = self.window.database.store
        if lab is None:
            return
        if store is None:
            self.panel.list.say(tr("A lab needs the database of runs, and none is open: open one from the File menu."))
            return
        from subflow_app.core.labs.evidence import Begin
        from subflow_app.core.labs.other_text import other_text_notice

        folder = self._folder()
        try:
            if is_anew:
                folder.forget(name)
        except AppError as error:
            self.panel.list.say(str(error))
            return
        kept = folder.read(name)
        if kept.notice:
            self.panel.list.say(kept.notice)
        if kept.progress is not None:
            if other_text_notice(lab, kept.progress):
                # The list says why, and offers to begin anew.
                self.to_list()
                self.panel.list.select(name)
                return
            self._take_up(lab, kept.progress)
            return
        self._work(lambda: (lab.scenario_text(), Begin.of(store)), lambda made: self._begun(lab, *made))

    def open_lab(self) -> None:
        """Asks for the file of a lab, and adds it to the list, where it is begun as the others are."""
        from subflow_app.core.labs.lab_file import load_lab

        assert self.panel.list is not None
        path = self.window.dialogs.open_path(tr("Open a lab"), tr("Labs (*.md)"), None)
        if path is None:
            return
        try:
            lab = load_lab(path)
        except AppError as error:
            self.panel.list.say(str(error))
            return
        self.window.preferences.change(self.window.preferences.settings.with_recent_lab(path))
        self._labs[lab.name] = lab
        self._list_labs()
        self.panel.list.select(lab.name)

    def go_on(self) -> None:
        """Goes on to the next step; when all are passed, to the next lab, or after the last lab to the list."""
        session, step = self.session, self._step
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
        """Shows another hint."""
        session, step = self.session, self._step
        if session is not None and step is not None:
            self._keeping(lambda: session.hint(step))
            self._show_step()
            assert self.panel.step is not None
            self.panel.step.scrolled.ensureWidgetVisible(self.panel.step.hints)

    def grade_class(self) -> None:
        """Shows the page on which a lecturer grades a class."""
        from subflow_app.qt.labs.class_dialog import ClassDialog

        if self.class_dialog is None:
            self.class_dialog = ClassDialog(self.window)
        self.class_dialog.show()
        self.class_dialog.raise_()

    def write_result(self) -> None:
        """Asks for a name and a place, and writes what is handed in."""
        session, reader, window = self.session, self._evidence, self.window
        if session is None or reader is None:
            return
        student = window.dialogs.line(tr("Your name"), tr("Your name, as your lecturer knows it:"), "")
        if not student or not student.strip():
            return
        from subflow_app.core.labs.result_file import result_document, write_result

        name = f"{session.lab.name}-{file_stem(student)}.json"
        path = window.exports.ask_path(tr("Write result"), tr("Result of a lab (*.json)"), name)
        if path is None:
            return
        progress, lab, text = session.progress, session.lab, self._text()

        def work() -> Path:
            evidence = reader.read(text, progress.step_runs())
            document = result_document(lab, progress, evidence, student.strip(), os.environ.get(COURSE_KEY, ""))
            write_result(path, document)
            return path

        self._work(work, window.exports.take)

    def look(self) -> None:
        """Looks at what was done, off this thread; nothing while nobody sees it."""
        session, evidence, reader = self.session, self._evidence, self.reader
        page = self.panel.step
        if session is None or page is None or reader is None:
            return
        page.say_reopen(is_wanted=self.window.documents.doc is not self._doc)
        if evidence is None or session.active is None or session.active is not self._step or not self.panel.isVisible():
            return
        text = self._text()
        # One that was asked for before knows less.
        reader.ask(lambda _is_cancelled: session.judge(evidence, text), is_other=True)

    def to_list(self) -> None:
        """Back to the list; the lab stays where it is, and the window gets back what it had."""
        self._keep_document()
        self._give_back()
        assert self.panel.list is not None
        self.panel.pages.setCurrentWidget(self.panel.list)
        self._list_labs()
        self._point()

    # ---- inside ----

    def _wake(self) -> None:
        if self.panel.list is not None:
            return
        from subflow_app.qt.labs.lab_page import ask_lab_page
        from subflow_app.qt.labs.list_page import LabListPage
        from subflow_app.qt.labs.spotlight import Spotlight
        from subflow_app.qt.labs.step_page import StepPage
        from subflow_app.qt.latest_reader import LatestReader

        labs, page = LabListPage(), StepPage()
        self.panel.set_pages(labs, page)
        reader = self.reader = LatestReader(self.window.workers, self, "labs", pause_ms=500)
        self.spotlight = Spotlight(self.window, self._place)
        labs.open_wanted.connect(self.open_lab)
        labs.page_wanted.connect(
            lambda name: ask_lab_page(self.window, self._labs[name], labs.say, key=os.environ.get(COURSE_KEY, ""))
        )
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
        reader.read.connect(self._on_judged)
        reader.failed.connect(self._on_failed)
        self._read_labs()
        follow_theme(self._recolour)

    def _recolour(self, _tokens: Tokens) -> None:
        if self.session is not None and self._step is not None:
            self._show_step()

    def _on_shown(self) -> None:
        self._wake()
        self._point()
        self.look()

    def _read_labs(self) -> None:
        from subflow_app.core.labs.lab_file import listed_labs

        assert self.panel.list is not None
        self._labs, problems = listed_labs(self.window.preferences.settings.recent_labs)
        self._list_labs()
        self.panel.list.say("\n".join(problems))

    def _list_labs(self) -> None:
        from subflow_app.qt.labs.list_model import ListedLab

        assert self.panel.list is not None
        folder = self._folder()
        self.panel.list.show_labs([ListedLab.of(lab, folder) for lab in self._labs.values()])

    def _folder(self) -> ProgressFolder:
        from subflow_app.core.labs.progress import ProgressFolder

        return ProgressFolder(labs_directory())

    def _begun(self, lab: Lab, text: str, begin: Begin) -> None:
        from subflow_app.core.labs.session import LabSession

        store = self.window.database.store
        if store is None or not self.window.documents.open_text(text, lab.title):
            return
        # Its questions are about its own runs.
        self.window.shown.clear()
        path = str(self.window.database.path or "")
        session = LabSession.begin_at(lab, begin, text, self._folder(), path)
        self._take(session, store)
        self._keeping(session.keep)

    def _take_up(self, lab: Lab, kept: Progress) -> None:
        from subflow_app.core.labs.session import LabSession

        store = self.window.database.store
        assert store is not None
        assert self.panel.list is not None
        if kept.database and Path(kept.database) != self.window.database.path:
            self.panel.list.say(_other_database_text(kept.database))
            return
        if self.window.documents.doc.text != kept.document and not self._open(kept.document, lab):
            return
        session = LabSession(lab, kept, self._folder())
        self._take(session, store)
        self._show_last_run(session, store)

    def _show_last_run(self, session: LabSession, store: Store) -> None:
        """What the student saw last is there again, unless it still is."""
        evidence, text = self._evidence, self._text()
        if evidence is None:
            return

        def show(run_id: int | None) -> None:
            if run_id is not None and self.session is session and run_id not in self.window.shown.ids:
                self.window.shown.show_stored(store, [run_id])

        def work() -> int | None:
            runs = evidence.read(text, session.progress.step_runs()).runs
            return runs[-1].id if runs else None

        self._work(work, show)

    def _open(self, text: str, lab: Lab) -> bool:
        return self.window.documents.open_text(text, lab.title)

    def _take(self, session: LabSession, store: Store) -> None:
        assert self.panel.step is not None
        self._give_back()
        self.session, self._doc = session, self.window.documents.doc
        self._evidence = session.reader(store)
        self._step = session.active or session.lab.steps[-1]
        self.panel.pages.setCurrentWidget(self.panel.step)
        self._show_step()
        self.look()

    def _back(self) -> None:
        if self.session is not None and self._step is not None:
            steps = self.session.lab.steps
            self._step = steps[max(0, steps.index(self._step) - 1)]
            self._show_step()

    def _reopen(self) -> None:
        if self.session is not None and self._open(self.session.progress.document, self.session.lab):
            self._doc = self.window.documents.doc
            self.look()

    def _show_step(self) -> None:
        session, step, page = self.session, self._step, self.panel.step
        assert session is not None
        assert step is not None
        assert page is not None
        page.show_step(session, step, has_following=self._following(session.lab) is not None)
        self._show_curve(step)
        self._show_points(step)
        self._point()
        self.changed.emit()

    def _show_curve(self, step: Step) -> None:
        """Lays the run's curve over the one that was drawn, once there is one."""
        page, session, evidence, store = self.panel.step, self.session, self._evidence, self.window.database.store
        assert page is not None
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
        """Lays what runs measured over the curve of the formula that a step shows."""
        page, session, evidence, exploration = self.panel.step, self.session, self._evidence, step.exploration
        view = None if page is None else page.explorable
        if view is None or session is None or evidence is None or exploration is None:
            return
        runs, text = session.progress.step_runs(), self._text()

        def show(points: list[Point]) -> None:
            if page is not None and page.explorable is view:
                view.show_points(points)

        self._work(lambda: exploration.points(evidence.read(text, runs)), show)

    def _point(self) -> None:
        if self.spotlight is None:
            return
        from subflow_app.qt.labs.places import PREDICTION

        session, step = self.session, self._step
        is_open = self.panel.isVisible() and self.panel.pages.currentWidget() is self.panel.step
        if not is_open or session is None or step is None or session.active is not step:
            self.spotlight.point_at(())
            return
        if step.prediction is not None and session.step_progress(step).prediction is None:
            # What is to be run comes after what is expected of it.
            self.spotlight.point_at((PREDICTION,))
            return
        if step.shows != self.spotlight.targets:
            from subflow_app.qt.labs.places import reveal

            # What is named first is in front of what is named later.
            for target in reversed(step.shows):
                if reveal(self.window, target):
                    self._switched_on.add(target.name)
        self.spotlight.point_at(step.shows)

    def _scroll_to_plot(self) -> None:
        """The plot that the step speaks of first comes into sight with the runs that it shows."""
        spoken = [] if self.spotlight is None else [each.name for each in self.spotlight.targets if each.kind == "plot"]
        if spoken:
            self.window.plots.scroll_to(spoken[0])

    def _give_back(self) -> None:
        """Switches off the plots that steps switched on."""
        for plot_id in self._switched_on:
            self.window.set_plot_shown(plot_id, False)
        self._switched_on.clear()

    def _following(self, lab: Lab) -> Lab | None:
        """The next lab that can be done here."""
        return next((each for each in self._labs.values() if each.number > lab.number and not each.missing), None)

    def _suggested_sweep(self) -> SweepSuggestion | None:
        """As many seeds as the step asks for, and controllers only if these are what it varies."""
        if self._step is None or not self._is_kept():
            return None
        from subflow_app.core.labs.solution import parse_order
        from subflow_app.qt.sweeps.new_dialog import SweepSuggestion

        if not self._step.do:  # a published lab: nothing says what is to vary
            return SweepSuggestion("1..3", compares_controllers=False)
        for order in map(parse_order, self._step.do):
            if order.verb == "sweep":
                values = dict(order.values)
                seeds = values.pop("seeds", "1")
                is_of_controllers = any(key.endswith(".controller") for key in values)
                return SweepSuggestion("1" if seeds == "1..1" else seeds, is_of_controllers)
        return None

    def _is_kept(self) -> bool:
        """Whether the document is that of the lab, which is kept with the progress."""
        return self._doc is not None and self._doc.path is None and self.window.documents.doc is self._doc

    def _place(self, target: Target) -> QRect | None:
        from subflow_app.qt.labs.places import PREDICTION, place_of, place_of_widget

        page = self.panel.step
        if target != PREDICTION:
            return place_of(self.window, target)
        if page is None or page.prediction is None:
            return None
        # While it is scrolled out of sight, what says that it is missing stands for it.
        return place_of_widget(self.window, page.prediction) or place_of_widget(self.window, page.verdict)

    def _on_predicted(self, value: PredictionValue) -> None:
        session, step, store = self.session, self._step, self.window.database.store
        if session is None or step is None or store is None:
            return
        from subflow_app.core.labs.evidence import Begin

        def keep(now: Begin) -> None:
            self._keeping(lambda: session.predict(step, value, now.run))
            self._show_step()
            self.look()

        self._work(lambda: Begin.of(store), keep)

    def _on_answered(self, question_id: str, said: str) -> None:
        session, step, evidence = self.session, self._step, self._evidence
        if session is None or step is None or evidence is None:
            return
        question, text = step.question(question_id), self._text()

        def keep(answered: Answered) -> None:
            self._keeping(lambda: session.answer(step, question, answered))
            self._show_step()
            assert self.panel.step is not None
            self.panel.step.show_outcome(question_id)
            self.look()

        self._work(lambda: session.judge_answer(evidence, text, step, question, said), keep)

    def _on_judged(self, judgement: Judgement | None) -> None:
        session, step, page = self.session, self._step, self.panel.step
        if judgement is None or session is None or step is None or page is None or judgement.step != step.id:
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
        from subflow_app.core.labs.outcomes import missing_text

        missing = missing_text(step, judgement)
        if not missing and step.questions:
            # It may stand below what is seen of the step.
            missing = tr("Answer the question below.")
        if judgement.check is None and judgement.ran_early:
            page.show_prediction_form()
        page.say(tr("Not yet: {why}", why=missing) if missing else "", current_tokens().muted_text)
        page.verdict.setToolTip("" if judgement.check is None else as_written(judgement.check.why))

    def _on_failed(self, error: Exception) -> None:
        if self.panel.step is not None:
            self.panel.step.say(str(error), current_tokens().error)

    def _on_database_opened(self) -> None:
        session, store = self.session, self.window.database.store
        if session is None or store is None:
            return
        is_same = Path(session.progress.database) == self.window.database.path
        self._evidence = session.reader(store) if is_same else None
        if not is_same:
            self._on_failed(StoreError(_other_database_text(session.progress.database)))
        self.look()

    def _on_link(self, link: str) -> None:
        if link.partition(":")[0] in ("http", "https"):
            from PySide6.QtCore import QUrl

            QDesktopServices.openUrl(QUrl(link))
        else:
            self.window.help.show_page(link)
            self.window.docks.set_open("help", True)

    def _keep_document(self) -> None:
        session, doc = self.session, self._doc
        if session is not None and doc is not None and self._is_kept():
            self._keeping(lambda: session.keep_document(doc.text))

    def _keeping(self, change: Callable[[], object]) -> None:
        """Does it; a progress that cannot be kept is told, and the lab goes on all the same."""
        try:
            change()
        except AppError as error:
            self._on_failed(error)

    def _text(self) -> str:
        return self.window.documents.doc.text

    def _work(self, work: Callable[[], T], then: Callable[[T], None]) -> None:
        self.window.workers.start("lab", work, succeeded=then, failed=self._on_failed)


def _other_database_text(file: str) -> str:
    return tr("This lab was begun with the runs in {file}: open that database to continue it.", file=file)
