"""The dialog for a comparison: choose controllers and seeds, see what they cost, and watch them run.

The same dialog shows the progress. A cancelled comparison keeps the runs that have ended, which can be shown, and the
others can be simulated later.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QCheckBox, QDialog, QFrame, QLineEdit, QPushButton, QSpinBox, QWidget

from subflow_app.features.comparison.core.batch import STARTS_APART_S, ComparisonDraft, ComparisonEstimate, points_of
from subflow_app.features.editor.core.algorithm_choices import AlgorithmChoice
from subflow_app.features.editor.qt.scenario_fields import AlgorithmList, ChoiceProgress
from subflow_app.features.sweeps.core.axes import SweepParameter, with_units
from subflow_app.foundation.jobs.progress import JobState
from subflow_app.toolkit import format as fmt
from subflow_app.toolkit.theme import muted, set_style
from subflow_app.toolkit.widgets.labels import IconLabel, ProblemLabel
from subflow_app.toolkit.widgets.list_beside import ShareBar
from subflow_app.toolkit.widgets.shorthand import Choice, Label, h_box, heading, named, timer, v_box
from subflow_app.toolkit.workers import LatestReader
from subflow_app.vocabulary.language import tr, trn

if TYPE_CHECKING:
    from subflow_app.features.sweeps.core.sweep_job import SweepJob
    from subflow_app.foundation.jobs.job import JobOutcome
    from subflow_app.toolkit.study import Study
    from subflow_app.toolkit.theme import Tokens
    from subflow_app.toolkit.workers import Workers

_PATIENCE_MS = 250
_MOST_SEEDS, _LAST_SEED = 250, 999_999_999
_SEEDS = 5
_BUTTON, _BAR = 28, 8  # heights, px
_SIZE, _LEAST = QSize(744, 500), QSize(563, 378)


@dataclass(frozen=True, slots=True)
class ComparisonSubject:
    """The scenario of a comparison, and the choices that the dialog offers.

    Attributes:
        title: title of the scenario.
        seed: its seed, the first of the comparison.
        controllers: possible controllers of each flow, beginning with its controller in the scenario.
        parameters: parameters that may vary too.
        jobs: number of simultaneous runs.
        estimate: estimates a draft; called in a worker thread.
    """

    title: str
    seed: int
    controllers: Mapping[str, Sequence[AlgorithmChoice]]
    parameters: Sequence[SweepParameter]
    jobs: int
    estimate: Callable[[ComparisonDraft], ComparisonEstimate]


class CompareDialog(QDialog):
    """Asks for a comparison, and shows its progress and its end."""

    started = Signal(object)  # ComparisonEstimate whose plan is to run
    completing = Signal()  # the missing runs of a cancelled comparison are wanted
    show_wanted = Signal()  # the finished runs are to be compared

    def __init__(self, subject: ComparisonSubject, workers: Workers, parent: QWidget | None = None) -> None:
        """Starts with the controller of the scenario, beside a script the standard one too, and five seeds."""
        super().__init__(parent)
        self.setObjectName("compare_dialog")
        self.setWindowTitle(tr("Compare"))
        self._subject = subject
        self._estimated: tuple[ComparisonDraft, ComparisonEstimate] | None = None
        self._is_impatient = False  # True if the person has asked for the start before the estimate
        self._study: Study[SweepJob] | None = None
        self.job: SweepJob | None = None
        self._outcome: JobOutcome | None = None
        self._reader = LatestReader(workers, self, "estimate comparison")
        self._reader.read.connect(lambda found: self._on_estimated(*found))
        self._timer = timer(self, self.estimate_now, _PATIENCE_MS, is_single=True)
        self._make_parts()
        self._place_parts()
        self._connect_parts()
        self._show_controllers()
        self.setMinimumSize(_LEAST)
        self.resize(_SIZE)
        self.controllers.setFocus()
        self.estimate_now()

    # ---- used by the feature and tests ----

    @property
    def draft(self) -> ComparisonDraft:
        """The current contents of the fields."""
        key = str(self.varied.currentData() or "")
        first = self.first_seed.value()
        return ComparisonDraft(
            str(self.flow.currentData() or ""),
            tuple(self.controllers.values),
            f"{first}..{first + self.seeds.value() - 1}",
            ((key, with_units(self.values.text(), self._unit(key))),) if key else (),
            STARTS_APART_S if self.apart.isChecked() else 0.0,
        )

    def fill(self, draft: ComparisonDraft) -> None:
        """Fills the fields with an earlier comparison, as far as the scenario still has its choices."""
        self.flow.choose(draft.flow)
        self.controllers.choose(draft.controllers)
        first, _, last = draft.seeds.partition("..")
        self.first_seed.setValue(int(first))
        self.seeds.setValue(int(last or first) - int(first) + 1)
        key, values = draft.varied[0] if draft.varied else ("", "")
        self.varied.choose(key)
        if key and self.varied.currentData() == key:
            self.values.setText(values)
        self.apart.setChecked(draft.starts_apart_s > 0.0)

    @property
    def estimate(self) -> ComparisonEstimate | None:
        """The estimate of the current fields; None while it is computed."""
        return self._estimated[1] if self._estimated is not None and self._estimated[0] == self.draft else None

    def estimate_now(self) -> None:
        """Starts an estimate of the current fields."""
        self._timer.stop()
        draft = self.draft
        if self.estimate is None:
            self._reader.ask(lambda _is_given_up: (draft, self._subject.estimate(draft)), is_other=True)

    def follow(self, study: Study[SweepJob], job: SweepJob) -> None:
        """Shows the progress of the comparison until it has ended, or the dialog is closed."""
        self._study, self.job, self._outcome = study, job, None
        study.ticked.connect(self._on_tick)
        study.ended.connect(self._on_ended)
        self._show_state()

    def done(self, result: int) -> None:
        """Closes the dialog; a comparison in progress continues."""
        self._timer.stop()
        self._reader.forget()
        super().done(result)

    # ---- assembly ----

    def _make_parts(self) -> None:
        subject = self._subject
        self.title = heading(Label(subject.title, self, wordWrap=True), 1.2)
        self._flow_label = heading(Label(tr("Controllers of"), self))
        self.flow = Choice("compare_flow", ((name, name) for name in subject.controllers), self, text=tr("Flow"))
        self._only = heading(named(Label(self), "compare_of"))
        self.chosen = named(muted(Label(self)), "compare_chosen")
        self.filter = named(QLineEdit(self, clearButtonEnabled=True), "compare_filter", tr("Filter controllers"))
        self.filter.setPlaceholderText(tr("Filter controllers"))
        self.controllers = AlgorithmList("compare_controllers", self)
        self.controllers.filter_with(self.filter)
        self.seeds = self._number("compare_seeds", tr("Number of seeds"), 1, _MOST_SEEDS, _SEEDS)
        self.first_seed = self._number("compare_first_seed", tr("First seed"), 0, _LAST_SEED, subject.seed)
        nothing = [("", tr("Nothing else"))]
        keys = [(each.key, each.key) for each in subject.parameters]
        self.varied = Choice("compare_varied", [*nothing, *keys], self, text=tr("Also vary"), letters=18)
        self.values = named(QLineEdit(self), "compare_values", tr("Values"))
        self.notice = _Notice("compare_notice", self)
        self.apart = named(QCheckBox(tr("&Start flows up to 100 ms apart"), self.notice), "compare_apart")
        self.notice.add(self.apart)
        self.count = heading(named(Label(self), "compare_count"), 1.1)
        self.bar = named(ShareBar(self), "compare_progress", tr("Progress of the comparison"))
        self.cost = named(muted(Label(self, wordWrap=True)), "compare_cost")
        self.hint = named(muted(Label(self, wordWrap=True)), "compare_hint")
        self.problem = ProblemLabel("compare_problem", parent=self)
        self.close_button = named(QPushButton(self), "compare_close")
        self.other = named(QPushButton(self), "compare_other")
        self.go = named(QPushButton(self), "compare_go")
        set_style(self.go, _go_style)
        self.go.setDefault(True)
        for button in (self.close_button, self.other, self.go):
            button.setAutoDefault(button is self.go)
            button.setMinimumHeight(_BUTTON)
        self.bar.setFixedHeight(_BAR)

    def _place_parts(self) -> None:
        head = h_box(None, self._flow_label, self.flow, self._only, None, self.chosen, margins=0)
        left = v_box(None, head, self.filter, (self.controllers, 1), margins=0, spacing=8)
        seeds = h_box(None, self.seeds, Label(tr("from"), self), self.first_seed, None, margins=0)
        right = v_box(
            None,
            heading(Label(tr("Seeds"), self)),
            seeds,
            8,
            heading(Label(tr("Also vary"), self)),
            self.varied,
            self.values,
            8,
            self.notice,
            None,
            self.problem,
            self.count,
            self.bar,
            self.cost,
            self.hint,
            margins=0,
            spacing=6,
        )
        line = QFrame(self, frameShape=QFrame.Shape.HLine, frameShadow=QFrame.Shadow.Plain)
        set_style(line, lambda t: f"QFrame {{ color: {t.border}; }}")
        buttons = h_box(None, None, self.close_button, self.other, self.go, margins=0)
        columns = h_box(None, (left, 4), (right, 3), margins=0, spacing=24)
        v_box(self, self.title, (columns, 1), line, buttons, margins=16, spacing=12)

    def _connect_parts(self) -> None:
        self.flow.currentIndexChanged.connect(self._show_controllers)
        self.controllers.itemChanged.connect(self._on_edited)
        for field in (self.seeds, self.first_seed):
            field.valueChanged.connect(self._on_edited)
        self.varied.currentIndexChanged.connect(self._on_varied)
        self.values.textChanged.connect(self._on_edited)
        self.apart.toggled.connect(self._on_edited)
        self.close_button.clicked.connect(self._on_close)
        self.other.clicked.connect(self._on_other)
        self.go.clicked.connect(self._on_go)

    def _number(self, name: str, text: str, least: int, most: int, value: int) -> QSpinBox:
        field = named(QSpinBox(self), name, text)
        field.setRange(least, most)
        field.setValue(value)
        return field

    def _unit(self, key: str) -> str:
        return next((each.unit for each in self._subject.parameters if each.key == key), "")

    # ---- choosing ----

    def _show_controllers(self) -> None:
        flow = str(self.flow.currentData() or "")
        is_alone = len(self._subject.controllers) < 2
        self._flow_label.setVisible(not is_alone)
        self.flow.setVisible(not is_alone)
        self._only.setVisible(is_alone)
        self._only.setText(tr("Controllers of {flow}", flow=flow))
        choices = self._subject.controllers.get(flow, ())
        self.controllers.show_choices(choices)
        self.controllers.choose([each.value for each in choices if each.is_own or each.is_reference])
        self._on_edited()

    def _on_varied(self) -> None:
        key = str(self.varied.currentData() or "")
        parameter = next((each for each in self._subject.parameters if each.key == key), None)
        self.values.setText(", ".join(parameter.examples) if parameter is not None else "")
        self._on_edited()

    def _on_edited(self) -> None:
        self._is_impatient = False
        self._timer.start()
        self._show_state()

    def _on_estimated(self, draft: ComparisonDraft, found: ComparisonEstimate) -> None:
        self._estimated = draft, found
        self._show_state()
        if self._is_impatient and self.estimate is not None:
            self._on_go()

    # ---- buttons ----

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Clears the filter with Escape before closing the dialog."""
        if event.key() == Qt.Key.Key_Escape and self.filter.text():
            self.filter.clear()
            self.controllers.setFocus()
            return
        super().keyPressEvent(event)

    def _on_go(self) -> None:
        if self.job is not None:
            (self.accept if self._outcome is None else self._show_runs)()
        elif (found := self.estimate) is None:
            # The coming estimate shows if the comparison is possible.
            self._is_impatient = True
            self.estimate_now()
        elif found.plan is not None:
            self.started.emit(found)

    def _on_close(self) -> None:
        if self.job is not None and self._outcome is None:
            self.job.stop()
        else:
            self.reject()

    def _on_other(self) -> None:
        if self._outcome is not None:
            self.completing.emit()

    def _show_runs(self) -> None:
        self.show_wanted.emit()
        self.accept()

    # ---- state ----

    def _on_tick(self) -> None:
        if self._outcome is None:
            self._show_state()

    def _on_ended(self, job: SweepJob | None, outcome: JobOutcome | None) -> None:
        if job is not self.job or outcome is None:
            return
        self._outcome = outcome
        if outcome.state is JobState.FINISHED and self.isVisible():
            self._show_runs()
        else:
            self._show_state()

    def _show_state(self) -> None:
        is_asking = self.job is None
        for part in (self.flow, self.filter, self.seeds, self.first_seed, self.varied, self.values, self.apart):
            part.setEnabled(is_asking)
        self.controllers.setEnabled(is_asking)
        self.chosen.setText(tr("{count} chosen", count=len(self.controllers.chosen)))
        self.values.setVisible(bool(self.varied.currentData()))
        self.bar.setVisible(self.job is not None and self._outcome is None)
        if self.job is None:
            self._show_asking()
        else:
            self._show_job(self.job)

    def _show_asking(self) -> None:
        found = self.estimate
        # The last estimate stays until the next, so that no widget moves under the pointer.
        last = found or (self._estimated[1] if self._estimated is not None else None)
        luck = "" if last is None else last.luck_text
        is_one_run = last is not None and last.is_one_run and bool(luck)
        replaced = self.controllers.replaced(self.draft.key)
        # The check box stays while it is on, so that it can be switched off again.
        self.notice.say("info", luck or replaced, has_more=is_one_run or self.apart.isChecked())
        self.problem.say("" if found is None else "\n".join(found.problems.values()))
        runs = 0 if last is None else last.runs
        self.count.setText(trn("{count} run", "{count} runs", runs) if runs else "")
        self.cost.setText(tr("Estimating…") if last is None else last.cost_text(self._subject.jobs))
        self.hint.setVisible(False)
        _label(self.close_button, tr("Cancel"))
        _label(self.other, "")
        _label(self.go, tr("Compare"), is_on=found is None or found.plan is not None)

    def _show_job(self, job: SweepJob) -> None:
        progress, plan = job.progress, job.plan
        shown = []
        for place in range(len(plan.axes[0])):
            points = points_of(plan, place)
            shown.append(ChoiceProgress(*job.ended_at(points), len(points) * len(plan.seeds)))
        self.controllers.show_progress(shown)
        self.count.setText(tr("{done} of {total} runs", done=progress.finished, total=progress.runs))
        self.bar.show_share(progress.fraction)
        self.problem.say("")
        if self._outcome is None:
            self._show_running(job)
            return
        left = progress.runs - progress.finished
        reason = self._outcome.problems[0] if self._outcome.problems else ""
        kept = trn(
            "Cancelled. The run that had ended is kept.",
            "Cancelled. The {count} runs that had ended are kept.",
            progress.finished,
        )
        self.notice.say("error" if reason else "ok", reason or kept)
        self.cost.setText("")
        self.hint.setVisible(False)
        _label(self.close_button, tr("Close"))
        _label(self.other, trn("Run the other", "Run the other {count}", left) if left else "")
        _label(self.go, tr("Show these {count}", count=progress.finished), is_on=progress.finished > 1)

    def _show_running(self, job: SweepJob) -> None:
        progress = job.progress
        cores = trn("{count} core", "{count} cores", progress.jobs) if progress.jobs else ""
        is_known = math.isfinite(progress.eta_s)
        self.cost.setText(
            tr("about {time} left, on {cores}", time=fmt.duration(progress.eta_s), cores=cores) if is_known else " "
        )
        self.hint.setText(tr("You may close this: the comparison is offered when it is done."))
        self.hint.setVisible(True)
        self.notice.say("info", "")
        _label(
            self.close_button,
            trn("Cancel, keep {count} run", "Cancel, keep {count} runs", progress.finished)
            if progress.finished
            else tr("Cancel"),
            is_on=not job.is_stopped,
        )
        _label(self.other, "")
        _label(self.go, tr("Continue in background"))


class _Notice(QFrame):
    """A tinted box with a sign, a text, and a widget below; hidden without both."""

    def __init__(self, name: str, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName(name)
        set_style(self, lambda t: f"#{name} {{ background: {t.info_fill}; border-radius: 4px; }}")
        self.text = named(Label(self, wordWrap=True), f"{name}_text")
        self._signs = {kind: IconLabel(kind, colour, 16, self) for kind, colour in _SIGNS.items()}
        self._column = v_box(None, self.text, margins=0, spacing=6)
        top = Qt.AlignmentFlag.AlignTop
        h_box(self, *((sign, 0, top) for sign in self._signs.values()), (self._column, 1), margins=10, spacing=8)
        self._more: QWidget | None = None
        self.hide()

    def add(self, part: QWidget) -> None:
        """Places a widget below the text."""
        self._more = part
        self._column.addWidget(part)

    def say(self, kind: str, text: str, *, has_more: bool = False) -> None:
        """Shows a text with the sign of its kind, and the widget below it if wanted."""
        for name, sign in self._signs.items():
            sign.setVisible(name == kind and bool(text))
        self.text.setText(text)
        self.text.setVisible(bool(text))
        if self._more is not None:
            self._more.setVisible(has_more)
        self.setVisible(bool(text) or has_more)


_SIGNS = {"info": "accent", "ok": "ok", "error": "error"}


def _label(button: QPushButton, text: str, *, is_on: bool = True) -> None:
    """Sets the text of a button; an empty text hides it."""
    button.setText(text)
    button.setVisible(bool(text))
    button.setEnabled(is_on)


def _go_style(tokens: Tokens) -> str:
    t = tokens
    return f"""
QPushButton {{ background: {t.accent}; color: {t.accent_text}; border: 1px solid {t.accent}; border-radius: 4px;
    padding: 5px 16px; }}
QPushButton:focus {{ border-color: {t.text}; }}
QPushButton:disabled {{ background: {t.border}; color: {t.muted_text}; border-color: {t.border}; }}
"""
