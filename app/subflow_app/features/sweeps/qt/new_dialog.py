"""The dialog for a new sweep, with the parameters and their values, controllers, seeds, and an immediate estimate.

Typing searches the list of parameters. Enter or a double click adds a parameter.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from PySide6.QtCore import QEvent, QObject, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import (
    QCheckBox,
    QDialog,
    QDialogButtonBox,
    QFormLayout,
    QGridLayout,
    QGroupBox,
    QLineEdit,
    QScrollArea,
    QSpinBox,
    QSplitter,
    QTableView,
    QToolButton,
    QWidget,
)

from subflow_app.features.editor.core.algorithm_choices import AlgorithmChoice
from subflow_app.features.editor.qt.scenario_fields import AlgorithmList
from subflow_app.features.sweeps.core.axes import SweepParameter, with_units
from subflow_app.features.sweeps.core.sweep_draft import (
    SEEDS,
    DraftCheck,
    DraftEstimate,
    SweepDraft,
    check_draft,
    suggested_name,
)
from subflow_app.features.sweeps.core.sweep_plan import KINDS, SweepPlan
from subflow_app.foundation.problem_texts import problem_text
from subflow_app.foundation.toml_edit import render
from subflow_app.toolkit.icons import icon
from subflow_app.toolkit.theme import current_tokens, muted
from subflow_app.toolkit.widgets.labels import ProblemLabel
from subflow_app.toolkit.widgets.shorthand import Choice, Label, h_box, named, split, timer, v_box
from subflow_app.toolkit.widgets.tables import TableModel, set_up_table
from subflow_app.toolkit.workers import Workers
from subflow_app.vocabulary.language import tr, translatable, trn
from subflow_app.vocabulary.tables import Column
from subflow_sim.units import split_quantity

KIND_TEXTS: Mapping[str, str] = {
    "grid": translatable("Grid: every combination"),
    "list": translatable("List: values side by side"),
    "random": translatable("Random: drawn from each"),
}
_PATIENCE_MS = 350
_MOST_JOBS = 256
_MOST_DRAWS = 1_000_000
_MOST_ROWS = 4  # maximum number of visible rows


@dataclass(frozen=True, slots=True)
class SweepWish:
    """Answer of the dialog.

    Attributes:
        plan: the sweep.
        jobs: number of simultaneous runs.
    """

    plan: SweepPlan
    jobs: int


@dataclass(frozen=True, slots=True)
class SweepSuggestion:
    """Initial contents of the dialog.

    Attributes:
        seeds: seeds, as they would be typed.
        compares_controllers: whether several controllers of the first flow are initially selected.
    """

    seeds: str = "1..5"
    compares_controllers: bool = True


@dataclass(frozen=True, slots=True)
class SweepSubject:
    """The scenario to sweep, and the choices that the dialog offers.

    Attributes:
        title: title of the scenario.
        parameters: parameters that a sweep can vary.
        controllers: possible controllers of each flow, beginning with its controller in the scenario.
        jobs: suggested number of simultaneous runs.
        sample_interval_s: simulated time between two samples of the traces, s.
        estimate: estimates a draft; called in a worker thread.
        suggestion: initial contents.
    """

    title: str
    parameters: Sequence[SweepParameter]
    controllers: Mapping[str, Sequence[AlgorithmChoice]]
    jobs: int
    sample_interval_s: float
    estimate: Callable[[SweepDraft], DraftEstimate]
    suggestion: SweepSuggestion = SweepSuggestion()


class NewSweepDialog(QDialog):
    """Dialog for a new sweep; after the person has accepted it, `answer` contains the sweep."""

    def __init__(self, subject: SweepSubject, workers: Workers, parent: QWidget | None = None) -> None:
        """Starts with the contents of the suggestion."""
        super().__init__(parent)
        self.setObjectName("new_sweep_dialog")
        self.setWindowTitle(tr("New sweep"))
        self._subject = subject
        self._workers = workers
        self._asked: SweepDraft | None = None  # the draft that is being estimated
        self._estimate: DraftEstimate | None = None
        self._estimated: SweepDraft | None = None  # the draft to which the latest estimate belongs
        self._is_closed = False
        self.rows: list[ValueRow] = []
        self._timer = timer(self, self.estimate_now, _PATIENCE_MS, is_single=True)
        self._make_parts()
        self._place_parts()
        self._connect_parts()
        self._suggest()
        self.resize(1000, 640)

    # ---- used by owner and tests ----

    @property
    def answer(self) -> SweepWish | None:
        """The requested sweep; None if the draft has a problem or has not been estimated yet."""
        if self._estimate is None or self._estimate.plan is None or self._estimated != self.draft:
            return None
        return SweepWish(self._estimate.plan, self.jobs.value())

    @property
    def draft(self) -> SweepDraft:
        """The current contents of the fields."""
        axes = [(row.key, row.completed) for row in self.rows]
        if self.controllers.values and self._controller_key:
            # The controller comes before its options, because values are set in this order, and setting the controller
            # replaces options that were set earlier.
            below = (place for place, (key, _) in enumerate(axes) if key.startswith(f"{self._controller_key}."))
            place = next(below, len(axes))
            axes.insert(place, (self._controller_key, ", ".join(map(render, self.controllers.values))))
        return SweepDraft(
            name=self.name.text().strip() or suggested_name(self._subject.title, [key for key, _values in axes]),
            axes=tuple(axes),
            seeds=self.seeds.text(),
            kind=KINDS[self.kind.currentIndex()],
            draws=self.draws.value(),
            keeps_traces=self.traces.isChecked(),
            sample_interval_s=self._subject.sample_interval_s,
        )

    def add_parameter(self, key: str, values: str = "") -> ValueRow:
        """Adds a row for a parameter, or moves the focus to the row that it has already."""
        row = next((row for row in self.rows if row.key == key), None)
        if row is None:
            parameter = next((each for each in self._subject.parameters if each.key == key), None)
            row = ValueRow(key, parameter, self._rows_widget)
            row.show_kind(KINDS[self.kind.currentIndex()])
            row.values.setText(values)
            row.values.textChanged.connect(self._on_edited)
            row.removed.clicked.connect(lambda: self.remove_parameter(key))
            self.rows.append(row)
            self._rows_layout.insertWidget(len(self.rows) - 1, row)
            self._on_edited()
        row.values.setFocus()
        return row

    def remove_parameter(self, key: str) -> None:
        """Removes the row of a parameter."""
        for row in [row for row in self.rows if row.key == key]:
            self.rows.remove(row)
            self._rows_layout.removeWidget(row)
            row.hide()
            row.deleteLater()
        self._on_edited()

    @property
    def _controller_key(self) -> str:
        """Key of the controller that varies; empty if no flow is selected."""
        flow = str(self.flow.currentData() or "")
        return f"flows.{flow}.controller" if flow else ""

    def estimate_now(self) -> None:
        """Starts an estimate of the current draft, unless an estimate is in progress or the draft has a problem."""
        self._timer.stop()
        draft = self.draft
        if self._asked is not None or self._estimated == draft or check_draft(draft).problems:
            return
        self._asked = draft
        self._workers.start(
            "estimate sweep",
            lambda: self._subject.estimate(draft),
            succeeded=lambda found: self._on_estimated(draft, found),
            failed=self._on_failed,
        )

    def done(self, result: int) -> None:
        """Closes the dialog and ignores the result of an estimate in progress."""
        self._is_closed = True
        self._timer.stop()
        super().done(result)

    # ---- assembly ----

    def _make_parts(self) -> None:

        self.parameters = ParameterList(self._subject.parameters, self)
        self.add = named(QToolButton(self), "sweep_add_parameter")
        self.add.setText(tr("&Vary this parameter"))
        self.hint = named(Label(self, wordWrap=True), "sweep_hint")
        self.hint.setStyleSheet(f"color: {current_tokens().muted_text};")
        self._rows_widget = QWidget()
        self._rows_layout = v_box(self._rows_widget, None, margins=4)
        choices = [("", tr("Leave all as they are")), *((flow, flow) for flow in self._subject.controllers)]
        self.flow = Choice("sweep_flow", choices, self)
        self.controllers = AlgorithmList("sweep_controllers", self)
        self.replaced = named(muted(Label(self, wordWrap=True)), "sweep_replaced")
        self.kind = Choice("sweep_kind", ((kind, tr(KIND_TEXTS[kind])) for kind in KINDS), self)
        self.draws = self._number("sweep_draws", 100, _MOST_DRAWS)
        self.seeds = named(QLineEdit(self._subject.suggestion.seeds, self), "sweep_seeds")
        self.seeds.setToolTip(tr("Each combination runs with each of these: 1..5, or 1, 2, 7..9"))
        self.seeds_problem = ProblemLabel("sweep_seeds_problem", parent=self, keeps_line=True)
        self.jobs = self._number("sweep_jobs", self._subject.jobs, _MOST_JOBS)
        self.traces = named(QCheckBox(tr("Keep the traces of every run, not only its summary"), self), "sweep_traces")
        self.traces.setChecked(True)
        self.name = named(QLineEdit(self), "sweep_name")
        self.estimate_text = named(Label(self, wordWrap=True), "sweep_estimate")
        # The minimum height prevents a new text from moving the fields under the pointer.
        self.estimate_text.setMinimumHeight(self.fontMetrics().lineSpacing())
        self.problem = ProblemLabel("sweep_problem", parent=self, keeps_line=True)
        self._buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Cancel, self)
        self.start = self._buttons.addButton(tr("&Start the sweep"), QDialogButtonBox.ButtonRole.AcceptRole)
        self.start.setObjectName("sweep_start")

    def _place_parts(self) -> None:
        left = QWidget(self)
        v_box(left, (self.parameters, 1), self.add, margins=0)
        scroll = self._scroll = named(_RowsArea(self), "sweep_rows", tr("Parameters that vary"))
        scroll.setWidgetResizable(True)
        scroll.setFrameShape(scroll.Shape.NoFrame)
        scroll.setWidget(self._rows_widget)
        varied = QGroupBox(tr("Parameters that vary"), self)
        v_box(varied, self.hint, scroll)
        contenders = QGroupBox(tr("Controllers"), self)
        contenders_layout = QFormLayout(contenders)
        contenders_layout.addRow(tr("Vary the controller &of"), self.flow)
        contenders_layout.addRow(self.controllers)
        contenders_layout.addRow(self.replaced)
        runs = QGroupBox(tr("Runs"), self)
        form = QFormLayout(runs)
        form.addRow(tr("&Kind"), self.kind)
        form.addRow(tr("&Draws"), self.draws)
        form.addRow(tr("S&eeds"), self.seeds)
        form.addRow(self.seeds_problem)
        form.addRow(tr("&At once"), self.jobs)
        self._form = form
        lower = QWidget(self)
        h_box(lower, (contenders, 1), (runs, 1), margins=0)
        right = QWidget(self)
        kept = QFormLayout()
        kept.addRow(self.traces)
        kept.addRow(tr("&Name"), self.name)
        # The height of `varied` follows its rows; the controllers fill the rest.
        v_box(right, varied, (lower, 1), kept, margins=0)
        splitter = split(QSplitter(self), left, right, sizes=[370, 600])
        v_box(self, (splitter, 1), self.estimate_text, self.problem, self._buttons)

        # The Tab order is the reading order: available parameters, varied parameters, runs, then the buttons.
        order = (
            self.parameters.search,
            self.parameters.table,
            self.add,
            scroll,
            self.flow,
            self.controllers,
            self.kind,
            self.draws,
            self.seeds,
            self.jobs,
            self.traces,
            self.name,
            self.start,
        )
        for first, second in pairwise(order):
            QWidget.setTabOrder(first, second)

    def _connect_parts(self) -> None:
        self.parameters.taken.connect(lambda parameter: self.add_parameter(parameter.key))
        self.add.clicked.connect(self.parameters.take)
        self.flow.currentIndexChanged.connect(self._show_controllers)
        self.controllers.itemChanged.connect(self._on_edited)
        self.kind.currentIndexChanged.connect(self._on_kind_changed)
        for field in (self.draws, self.jobs):
            field.valueChanged.connect(self._on_edited)
        for text in (self.seeds, self.name):
            text.textChanged.connect(self._on_edited)
        self.traces.toggled.connect(self._on_edited)
        self._buttons.accepted.connect(self.accept)
        self._buttons.rejected.connect(self.reject)

    def _suggest(self) -> None:
        self._on_kind_changed()
        if self._subject.controllers and self._subject.suggestion.compares_controllers:
            self.flow.setCurrentIndex(1)
            own, *others = self.controllers.choices
            usual = [each.value for each in others if each.value in ("lia", "olia", "cubic", "bbr")]
            self.controllers.choose([own.value, *usual[:1]])
        self._show_controllers_enabled()
        self._on_edited()
        self.estimate_now()

    def _number(self, name: str, value: int, most: int) -> QSpinBox:
        field = named(QSpinBox(self), name)
        field.setRange(1, most)
        field.setValue(value)
        return field

    # ---- state ----

    def _on_kind_changed(self) -> None:
        kind = KINDS[self.kind.currentIndex()]
        self._form.setRowVisible(self.draws, kind == "random")
        for row in self.rows:
            row.show_kind(kind)
        self._on_edited()

    def _show_controllers(self) -> None:
        self.controllers.show_choices(self._subject.controllers.get(str(self.flow.currentData() or ""), ()))
        self._show_controllers_enabled()
        self._on_edited()

    def _show_controllers_enabled(self) -> None:
        self.controllers.setEnabled(bool(self.flow.currentData()))

    def _show_rows(self) -> None:
        """Shows the rows, or a hint if no parameter has been added."""
        self.hint.setVisible(not self.rows)
        self._scroll.setVisible(bool(self.rows))
        example = next((p.key for p in self._subject.parameters if p.key.endswith(".loss")), "links.wifi.loss")
        if self.controllers.values and self.flow.currentData():
            text = tr(
                "Choose a parameter on the left, e.g. {key}, to vary it too. The controllers below vary already.",
                key=example,
            )
        else:
            text = tr("Choose a parameter on the left, e.g. {key}, to vary it, or controllers below.", key=example)
        self.hint.setText(text)

    def _on_edited(self) -> None:
        draft = self.draft
        self.name.setPlaceholderText(suggested_name(self._subject.title, [key for key, _values in draft.axes]))
        self._show_rows()
        replaced = self.controllers.replaced(self._controller_key)
        self.replaced.setText(replaced)
        self.replaced.setVisible(bool(replaced))
        check = check_draft(draft)
        if draft == self._estimated and self._estimate is not None:
            self._show(check, self._estimate)
            return
        self._show(check, None)
        if not check.problems:
            self._timer.start()

    def _on_estimated(self, draft: SweepDraft, found: DraftEstimate) -> None:
        self._asked = None
        if self._is_closed:
            return
        self._estimated, self._estimate = draft, found
        self._on_edited()
        if draft != self.draft:
            self.estimate_now()

    def _on_failed(self, error: Exception) -> None:
        self._asked = None
        raise error

    def _show(self, check: DraftCheck, estimate: DraftEstimate | None) -> None:
        """Shows the problems and the estimate; ``estimate`` is None while it is being computed."""
        problems = dict(check.problems) | dict(estimate.problems if estimate is not None else {})
        for row in self.rows:
            row.show_state(problems.get(row.key, ""), check.counts.get(row.key))
        fields = {row.key for row in self.rows} | {SEEDS}
        rest = [text for key, text in problems.items() if key not in fields]
        self.problem.say("\n".join(rest))
        self.seeds_problem.say(problems.get(SEEDS, ""))
        if estimate is not None and estimate.cost is not None:
            text = estimate.text(self.jobs.value())
        elif check.runs:
            points = trn("{count} combination", "{count} combinations", check.points)
            text = tr(
                "{points}, {runs}; estimating…", points=points, runs=trn("{count} run", "{count} runs", check.runs)
            )
        else:
            text = ""
        self.estimate_text.setText(text)
        self.start.setEnabled(self.answer is not None)


class _RowsArea(QScrollArea):
    """Scroll area that is as high as its rows up to a limit, above which it scrolls."""

    def sizeHint(self) -> QSize:
        """The height of the rows, up to a limit."""
        return QSize(super().sizeHint().width(), self._height())

    def minimumSizeHint(self) -> QSize:
        """The same height as `sizeHint`, because other parts of the dialog can shrink instead."""
        return QSize(super().minimumSizeHint().width(), self._height())

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Updates the height when the content changes, because Qt does not do so for scroll areas."""
        if event.type() == QEvent.Type.LayoutRequest:
            self.updateGeometry()
        return super().eventFilter(watched, event)

    def _height(self) -> int:
        content = self.widget()
        layout = None if content is None else content.layout()
        needed = 0
        if layout is not None:
            # Computed for the current width, because the size hint of a wrapping label assumes a narrow width.
            wrapped = layout.totalHeightForWidth(self.viewport().width())
            needed = wrapped if layout.hasHeightForWidth() else layout.totalSizeHint().height()
        return min(needed, _MOST_ROWS * 3 * self.fontMetrics().height()) + 2 * self.frameWidth()


class ValueRow(QWidget):
    """A parameter with a field for its values, a problem text, and a button that removes the row."""

    def __init__(self, key: str, parameter: SweepParameter | None, parent: QWidget | None = None) -> None:
        """Starts with an empty field. If ``parameter`` is None, values have no unit and no examples."""
        super().__init__(parent)
        self.key = key
        self._unit = parameter.unit if parameter is not None else ""
        self._examples = parameter.examples if parameter is not None else ()
        self.values = named(QLineEdit(self), f"sweep_values:{key}", tr("Values of {key}", key=key))
        self.values.editingFinished.connect(lambda: self.values.setText(self.completed))
        label = Label(key, self)
        label.setBuddy(self.values)
        self.count = Label(self)
        self.removed = QToolButton(self, autoRaise=True)
        self.removed.setIcon(icon("delete"))
        self.removed.setToolTip(tr("Stop varying {key}", key=key))
        self.removed.setAccessibleName(tr("Stop varying {key}", key=key))
        self.problem = ProblemLabel(f"sweep_values_problem:{key}", parent=self, keeps_line=True)
        layout = QGridLayout(self)
        layout.setContentsMargins(0, 0, 0, 4)
        layout.setVerticalSpacing(2)
        layout.addWidget(label, 0, 0)
        layout.addWidget(self.count, 0, 1, Qt.AlignmentFlag.AlignRight)
        layout.addWidget(self.removed, 0, 2, 2, 1, Qt.AlignmentFlag.AlignBottom)
        layout.addWidget(self.values, 1, 0, 1, 2)
        layout.addWidget(self.problem, 2, 0, 1, 3)

    @property
    def completed(self) -> str:
        """The typed text, with the unit of the parameter added to bare numbers."""
        return with_units(self.values.text(), self._unit)

    def show_kind(self, kind: str) -> None:
        """Shows examples for this kind of sweep as the placeholder."""
        values = ", ".join(self._examples)
        ends = f"{self._examples[0]}..{self._examples[-1]}" if self._examples else ""
        has_range = bool(ends) and split_quantity(self._examples[0]) is not None
        if kind == "list":
            text = tr("{values}: as many values for each parameter", values=values) if values else ""
        elif not has_range:
            text = values
        else:
            stretch = f"{ends}/5" if kind == "grid" else ends
            text = tr("{values}   or   {range}", values=values, range=stretch)
        self.values.setPlaceholderText(text)

    def show_state(self, problem: str, count: int | None) -> None:
        """Shows a problem, and the number of values; None hides the number."""
        # An empty field shows examples as its placeholder, so that a short message suffices.
        self.problem.say(problem if self.values.text().strip() or not self._examples else tr("Values are needed."))
        self.count.setText("" if count is None else trn("{count} value", "{count} values", count))
        self.count.setStyleSheet(f"color: {current_tokens().muted_text};")


COLUMNS: tuple[Column[SweepParameter], ...] = (
    Column(translatable("Parameter"), lambda parameter: parameter.key, widest="flows.download.controller"),
    Column(translatable("Now"), lambda parameter: parameter.present, widest="unlimited (default)"),
)


def _tip(parameter: SweepParameter) -> str:
    """Tooltip with the label, help and allowed values of a parameter."""
    allowed = tr("Allowed: {allowed}", allowed=problem_text(parameter.allowed)) if parameter.allowed else ""
    help_text = tr(parameter.help) if parameter.help else ""
    return "\n".join(filter(None, (parameter.label, help_text, allowed)))


class ParameterList(QWidget):
    """Search field with a list of parameters."""

    taken = Signal(object)  # SweepParameter

    def __init__(self, parameters: Sequence[SweepParameter], parent: QWidget | None = None) -> None:
        """Starts with all parameters listed."""
        super().__init__(parent)
        self._all = parameters
        self.model: TableModel[SweepParameter] = TableModel(COLUMNS, self, tip=_tip)
        self.model.show_rows(parameters)
        self.search = named(QLineEdit(self, clearButtonEnabled=True), "sweep_search", tr("Search parameters"))
        self.search.setPlaceholderText(tr("Search, e.g. wifi loss"))
        words = tr("Parameters of the scenario")
        self.table = set_up_table(_TakingTable(self), "sweep_parameters", words, self.model, style=None, is_single=True)
        v_box(self, self.search, (self.table, 1), margins=0)
        self.search.textChanged.connect(self._on_searched)
        self.search.returnPressed.connect(self.take)
        self.table.doubleClicked.connect(lambda _index: self.take())
        self.table.taken.connect(self.take)

    def take(self) -> None:
        """Emits the selected parameter, or else the first parameter in the list."""
        row = self.table.currentIndex().row()
        row = 0 if row < 0 else row
        if row < len(self.model.rows):
            self.taken.emit(self.model.rows[row])

    def _on_searched(self, words: str) -> None:
        self.model.show_rows([parameter for parameter in self._all if parameter.matches(words)])
        if self.model.rows:
            self.table.setCurrentIndex(self.model.index(0, 0))


class _TakingTable(QTableView):
    """A table in which Enter takes the current row instead of pressing the dialog's default button."""

    taken = Signal()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Emits `taken` for Enter."""
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.taken.emit()
            return
        super().keyPressEvent(event)
