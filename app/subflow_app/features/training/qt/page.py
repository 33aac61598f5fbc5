"""The Train page: the start form, a table of training runs, their curves, and a picture of a policy.

The start form edits a draft with the agent, scenario and duration of a new training run. The table shows the progress
and the results of each training run, and the colour of its curves.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QPoint, QRectF, Qt, Signal
from PySide6.QtGui import QAction, QColor, QIcon, QPainter, QPen, QPixmap, QShowEvent
from PySide6.QtWidgets import (
    QComboBox,
    QHBoxLayout,
    QSizePolicy,
    QSplitter,
    QStackedWidget,
    QTableView,
    QTabWidget,
    QToolButton,
    QWidget,
)

from subflow_agents import Command
from subflow_app.features.editor.qt.inspector.param_form import ParamForm
from subflow_app.features.training.core.evaluations import rivals
from subflow_app.features.training.core.policy_surface import SeenPolicy
from subflow_app.features.training.core.training_draft import (
    DOCUMENT,
    FROM_FILE,
    DocumentText,
    TrainingChoices,
    TrainingDraft,
)
from subflow_app.features.training.core.training_grounds import TrainingGrounds, grounds_lines, grounds_text
from subflow_app.features.training.core.training_metrics import SATURATION_WARNING
from subflow_app.features.training.core.training_progress import TOGGLE_WORDS, Training, possible, toggle_word
from subflow_app.features.training.qt.curves import PolicyView, TrainingCurves
from subflow_app.features.training.qt.evaluation_view import EvaluationView
from subflow_app.foundation.errors import AppError
from subflow_app.foundation.expected_errors import is_expected
from subflow_app.foundation.jobs.progress import JobState
from subflow_app.foundation.paths import file_stem
from subflow_app.foundation.problem_texts import error_text, problem_text
from subflow_app.toolkit import format as fmt
from subflow_app.toolkit.dialogs import SCENARIO_FILTER, Dialogs
from subflow_app.toolkit.icons import STATE_ICONS, icon
from subflow_app.toolkit.theme import call_style, current_tokens, muted, set_style, tab_style
from subflow_app.toolkit.widgets.empty_state import EmptyState
from subflow_app.toolkit.widgets.shorthand import Label, h_box, heading, named, split, timer, v_box
from subflow_app.toolkit.widgets.tables import ROW_ROLE, FollowedTable, select_rows, set_up_table
from subflow_app.toolkit.workers import Workers
from subflow_app.vocabulary import palette
from subflow_app.vocabulary.language import tr, translatable
from subflow_app.vocabulary.tables import Column, NumberColumn

if TYPE_CHECKING:
    from subflow_app.features.paper.core.exported_figure import ExportedFigure
    from subflow_app.features.training.core.trainings import Trainings


class StartForm(QWidget):
    """Form that edits the draft of a training run."""

    changed = Signal()  # a person typed or chose a value
    file_wanted = Signal()  # requests a dialog in which to choose a scenario file

    def __init__(self, draft: TrainingDraft, start: QAction, parent: QWidget | None = None) -> None:
        """Shows ``draft``; ``start`` is the action of the button."""
        super().__init__(parent)
        named(self, "start_form", tr("New training"))
        self.draft = draft
        self._document = ""
        self._scenario_text = ""
        self.form = named(ParamForm(self), "training_form")
        self.form.committed.connect(self._on_committed)
        self.button = named(QToolButton(self, toolButtonStyle=Qt.ToolButtonStyle.ToolButtonTextOnly), "start_training")
        self.button.setDefaultAction(start)
        self.button.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        heading(self.button, is_demi=True)
        set_style(self.button, call_style)
        self.button.setSizePolicy(self.button.sizePolicy().Policy.Expanding, self.button.sizePolicy().Policy.Fixed)
        layout = v_box(self, (self.form, 1), margins=0, spacing=0)
        layout.addLayout(v_box(None, self.button, margins=(14, 8, 12, 10)))
        self.setFocusProxy(self.form)
        self.show_draft()

    def set_document(self, title: str) -> None:
        """Sets the title of the scenario that is open in the window."""
        if title != self._document:
            self._document = title
            self.show_draft()

    def set_scenario_text(self, text: str) -> None:
        """Sets the TOML of the chosen scenario, from which the form describes the episodes."""
        if text != self._scenario_text:
            self._scenario_text = text
            self.show_draft()

    def set_scenario(self, path: str) -> None:
        """Selects a scenario file, given by its path."""
        self.draft.set_value("scenario", path)
        self.show_draft()
        self.changed.emit()

    def commit_pending(self) -> None:
        """Commits text that is still being typed in the fields."""
        self.form.commit_pending()

    def show_problem(self) -> bool:
        """Moves the focus to the first field with a problem; returns True if the form has problems."""
        problems = self.draft.problems()
        row = self.form.row(problems[0].key) if problems else None
        if row is not None:
            row.set_focus()
        return bool(problems)

    def show_draft(self) -> None:
        """Shows the current state of the draft."""
        self.form.show_form(self.draft, self.draft.form(self._document, text=self._scenario_text))
        # Fields that are cut off cannot be read, and the form does not scroll sideways.
        fields, bar = self.form.widget(), self.form.verticalScrollBar()
        if fields is not None:
            self.form.setMinimumWidth(fields.minimumSizeHint().width() + bar.sizeHint().width())

    def _on_committed(self, key: str, value: object, _session: int) -> None:
        if key.endswith(".scenario") and value == FROM_FILE:
            # Restores the previous choice until the person has chosen a file.
            self.show_draft()
            self.file_wanted.emit()
            return
        self.draft.set_value(key, value)  # type: ignore[arg-type] # editors give values of a file
        self.show_draft()
        self.changed.emit()


_SWATCH = 12


def _latest(training: Training, metric: str) -> float:
    return training.log.latest(metric)


def _progress(training: Training) -> str:
    return fmt.MISSING if math.isnan(training.fraction) else fmt.ratio(min(1.0, training.fraction), 2)


def _versus(training: Training) -> str:
    newest = training.comparison
    if newest is None or math.isnan(newest.gain):
        return fmt.MISSING
    return f"{newest.gain:.2f}× {newest.best_classic}"


def _eta(training: Training) -> str:
    if training.state is not JobState.RUNNING:
        return fmt.MISSING
    left = fmt.duration(training.remaining_s)
    if training.fraction < 1:
        return left
    return tr("evaluating") if left == fmt.MISSING else tr("evaluating, {time}", time=left)


COLUMNS: tuple[Column[Training], ...] = (
    Column(translatable("Training"), lambda t: t.name, widest="drl-cc on drlcc-sc1, seed 1"),
    Column(translatable("State"), lambda t: tr(t.state.value), widest="      interrupted"),
    NumberColumn(translatable("Done"), _progress, widest="100 %", tip=translatable("Share of the budget that is used")),
    NumberColumn(translatable("Time left"), _eta, widest="evaluating, 00 s"),
    NumberColumn(
        translatable("Return"),
        lambda t: fmt.number(_latest(t, "return_mean")),
        widest="-12.34",
        tip=translatable("Per decision"),
    ),
    NumberColumn(
        translatable("Goodput"),
        lambda t: fmt.rate(_latest(t, "flow_goodput_bps")),
        widest="12.3 Mbit/s",
        tip=translatable("Of a flow, mean of the latest training episodes on all networks that the training draws"),
    ),
    NumberColumn(
        translatable("Against classics"),
        _versus,
        widest="1.52× wvegas",
        tip=translatable(
            "Goodput over that of the best classic controller, on the held-out seeds of the latest evaluation"
        ),
    ),
    NumberColumn(
        translatable("Decisions"),
        lambda t: fmt.count(_latest(t, "step")),
        widest="1 234 567",
        tip=translatable("Learned from so far"),
    ),
    NumberColumn(
        translatable("Updates/s"),
        lambda t: fmt.number(_latest(t, "updates_per_s")),
        widest="12 345",
        tip=translatable("Gradient steps per second"),
    ),
)
NAME_COLUMN = 0
STATE_COLUMN = 1


class TrainingTable(FollowedTable[Training]):
    """Table model of training runs, newest first."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(COLUMNS, lambda training: training.id, parent, tip=_tip)
        self._hues: dict[str, int] = {}

    def hue(self, training_id: str) -> int:
        """Index of the colour of a training run, which is constant while the training run is listed."""
        if training_id not in self._hues:
            taken = set(self._hues.values())
            self._hues[training_id] = next(hue for hue in range(len(taken) + 1) if hue not in taken)
        return self._hues[training_id]

    def update_rows(self, rows: Sequence[Training]) -> None:
        """Updates the rows, and assigns colours to new ones, oldest first. Listed training runs keep their colours."""
        listed = {training.id for training in rows}
        self._hues = {key: hue for key, hue in self._hues.items() if key in listed}
        for training in reversed(rows):
            self.hue(training.id)
        super().update_rows(rows)

    def other_data(self, row: Training, column: int, role: int) -> QIcon | None:
        """The colour swatch of the curves next to the name, and the icon of the state."""
        if role != Qt.ItemDataRole.DecorationRole:
            return None
        if column == NAME_COLUMN:
            key = palette.ColourKey(self.hue(row.id), 0)
            return _swatch(palette.hex_colour(key, dark=current_tokens().is_dark))
        if column != STATE_COLUMN:
            return None
        colours = {
            JobState.RUNNING: "ok",
            JobState.FINISHED: "ok",
            JobState.FAILED: "error",
            JobState.INTERRUPTED: "warning",
        }
        return icon(STATE_ICONS[row.state], colours.get(row.state, "muted_text"))


def _tip(training: Training) -> str:
    lines = [
        training.name,
        tr("Learns on {scenario}, seed {seed}", scenario=training.scenario, seed=training.seed),
        *(grounds_lines(training.grounds) if training.grounds is not None else ()),
        tr("Budget: {budget}", budget=training.budget),
    ]
    if training.message:
        lines.append(problem_text(training.message))
    saturation = training.log.latest("actor_saturation")
    if saturation > SATURATION_WARNING:
        share = fmt.ratio(saturation, 2)
        lines.append(tr("{share} of its actions are at their bounds: it has all but stopped learning.", share=share))
    if training.folder is not None:
        lines.append(str(training.folder))
    return "\n".join(lines)


def _swatch(colour: str) -> QIcon:
    picture = QPixmap(4 * _SWATCH, 4 * _SWATCH)  # sufficient for any scaling of the screen
    picture.fill(Qt.GlobalColor.transparent)
    painter = QPainter(picture)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    # A light rim, which is visible only on the dark background of a selected row.
    painter.setPen(QPen(QColor(current_tokens().highlighted_text), 3))
    painter.setBrush(QColor(colour))
    painter.drawRoundedRect(QRectF(picture.rect()).adjusted(4, 4, -4, -4), 8, 8)
    painter.end()
    swatch = QIcon(picture)
    # The same pixmap for selected rows, which Qt would otherwise tint.
    swatch.addPixmap(picture, QIcon.Mode.Selected)
    return swatch


# Ten updates per second are enough, because reports arrive less often.
_POLL_INTERVAL_MS = 100
_FORM_WIDTH = 370
_TABLE_ROWS = 4.5
_LEAST_TABLE, _LEAST_CURVES = 56, 96  # heights, px
_MOST_CURVES = 7  # number of hues


class TrainPage(QWidget):
    """Content of the panel, created when it is first shown. Polls the training runs ten times per second."""

    selection_changed = Signal()
    failed = Signal(str)  # a request failed
    told = Signal(str)
    ended = Signal(object)  # Training, after it has ended for any reason
    menu_requested = Signal(QPoint)  # global position

    def __init__(
        self,
        workers: Workers,
        dialogs: Dialogs,
        actions: Mapping[str, QAction],
        parent: QWidget | None = None,
    ) -> None:
        """Starts with an empty list, which `open` fills.

        Args:
            workers: runs background jobs.
            dialogs: shows dialogs.
            actions: the action "start", those of `TRAINING_ACTIONS`, and "export_figure", by name.
            parent: Qt parent.
        """
        super().__init__(parent)
        named(self, "training", tr("Training"))
        self.desk: Trainings | None = None
        self._states: dict[str, JobState] = {}
        self._timer = timer(self, self._on_tick, _POLL_INTERVAL_MS)
        self.dialogs = dialogs
        self._workers = workers
        self._actions = actions
        self._document = DocumentText("", "")
        self._shown: list[Training] = []
        self._possible: frozenset[str] = frozenset()
        self.form: StartForm | None = None
        self._model = TrainingTable(self)
        self.table = QTableView(self)
        self.curves = TrainingCurves(self)
        self.evaluation = EvaluationView(self)
        self.policy = PolicyView(workers, self._observe, self)
        self.rival = QComboBox(self)
        self._form_waits = muted(Label(self))
        self._form_pages = QStackedWidget(self)
        self._table_empty = EmptyState(
            "train", tr("Nothing trained yet"), tr("Choose what to learn and on what, then start.")
        )
        self._table_pages = QStackedWidget(self)
        self.grounds = named(muted(Label(self, wordWrap=True)), "training_grounds")
        self._place_parts()
        self._set_up_table()

    # ---- used by the window ----

    @property
    def trainings(self) -> Sequence[Training]:
        """All training runs, newest first."""
        return self.desk.trainings() if self.desk is not None else ()

    def open(self, desk: Trainings) -> None:
        """Shows these training runs from now on, and closes the previous ones."""
        self.let_go()
        self.desk = desk
        self._states = {training.id: training.state for training in desk.trainings()}
        self._timer.start()
        self._on_changed()
        self.selection_changed.emit()

    def let_go(self) -> None:
        """Closes the training service; `may_close` has already determined whether its processes continue."""
        self._timer.stop()
        if self.desk is not None:
            self.desk.close()
            self.desk = None

    def selected(self) -> list[Training]:
        """The selected training runs, from top to bottom."""
        indexes = sorted(self.table.selectionModel().selectedRows(), key=lambda index: index.row())
        return [index.data(ROW_ROLE) for index in indexes]

    def select(self, training_ids: Sequence[str]) -> None:
        """Selects those of these training runs that are listed."""
        select_rows(self.table, lambda index: index.data(ROW_ROLE).id in training_ids)

    def possible(self) -> frozenset[str]:
        """The actions that are possible on the selected training runs, and the export of the visible figure."""
        return possible(self.selected()) | ({"export_figure"} if self.has_figure else set())

    @property
    def has_figure(self) -> bool:
        """True if the visible tab shows curves or the picture of a policy."""
        if self.tabs.currentWidget() is self.policy:
            return self.policy.panel is not None
        return self.tabs.currentWidget() is self.curves and any(len(each.log) for each in self.selected())

    def figure(self) -> ExportedFigure | None:
        """The figure of the visible tab; None if it shows none."""
        from subflow_app.features.paper.core.exported_figure import ExportedFigure
        from subflow_app.features.paper.core.figure_plan import MOST_PLOTS, FigurePlan
        from subflow_app.foundation.files import write_file

        selected = self.selected()
        if not self.has_figure or not selected:
            return None
        name = file_stem(selected[0].name)
        if self.tabs.currentWidget() is self.policy:
            panel = self.policy.panel
            return None if panel is None else ExportedFigure(f"{name}-policy", FigurePlan(panels=(panel,)))
        plots = self.curves.plots
        panels = () if plots is None else plots.panels()
        if plots is None or not panels:
            return None
        text = plots.data_text()
        plan = FigurePlan(panels=panels[:MOST_PLOTS])
        return ExportedFigure(name, plan, write_data=lambda path: write_file(path, text))

    @property
    def toggle_word(self) -> str:
        """Menu text of the toggle action for the selected training runs."""
        return toggle_word(self.selected())

    def set_document(self, document: DocumentText) -> None:
        """Sets the scenario that is open in the window."""
        self._document = document
        if self.form is not None:
            self.form.set_document(document.title)
            self._show_episodes()
        self._offer_rivals()

    def load_choices(self) -> None:
        """Reads the choices of the form in the background, unless the form exists already."""
        desk = self.desk
        if desk is None or self.form is not None:
            return
        self._form_waits.setText(tr("Looking for agents…"))
        self._workers.start("list agents", desk.choices, succeeded=self._on_choices, failed=self._on_choices_failed)

    def start(self) -> None:
        """Starts the training run that the form describes, after committing text that is still being typed."""
        if self.form is None:
            return
        self.form.commit_pending()
        if self.form.show_problem():
            return
        desk, order, started = self.desk, self.form.draft.order(), []
        if desk is not None:
            self._do(lambda: started.append(desk.start(order, self._document)))
        self.select([training.id for training in started])

    def toggle(self) -> None:
        """Pauses, resumes or continues the selected training runs, according to `toggle_word`."""
        if self.toggle_word != "&Continue":
            self.command("pause" if self.toggle_word == "&Pause" else "resume")
        elif self.desk is not None:
            desk, over = self.desk, list[Training]()
            self._each(lambda training: over.append(training) if desk.go_on(training) else None)
            if over:
                named = ", ".join(training.name for training in over)
                self.told.emit(
                    tr("{names}: no checkpoint was written, the training starts over at step 0", names=named)
                )

    def command(self, word: str) -> None:
        """Sends a `Command`, given by its value, to the selected training runs."""
        desk = self.desk
        if desk is not None:
            self._each(lambda training: desk.tell(training, Command(word)))

    def promote(self, *, asks: bool = True) -> Path | None:
        """Copies the best policy of the selected training run into the library, by default under a name asked for.

        Returns the new file, or None if the person cancels or the selection is not exactly one training run.
        """
        desk, selected = self.desk, self.selected()
        if desk is None or len(selected) != 1:
            return None
        from subflow_app.features.training.qt.promote_dialog import PromoteDialog, suggestion

        training, taken = selected[0], desk.policy_names()
        answer = self.dialogs.ask(partial(PromoteDialog, training, taken)) if asks else suggestion(training, taken)
        return desk.promote(training, answer.name, answer.note) if answer is not None else None

    # ---- updates ----

    def showEvent(self, event: QShowEvent) -> None:
        """Shows changes that happened while the page was hidden."""
        super().showEvent(event)
        self._on_changed()

    def _each(self, act: Callable[[Training], object]) -> None:
        """Applies a function to each selected training run, and reports failures."""
        for training in self.selected():
            self._do(partial(act, training))

    def _do(self, act: Callable[[], object]) -> None:
        try:
            act()
        except Exception as error:
            if not is_expected(error):
                raise
            self.failed.emit(str(error))
        self._tell()

    def _on_tick(self) -> None:
        if self.desk is not None and self.desk.poll():
            self._tell()

    def _tell(self) -> None:
        states = {training.id: training.state for training in self.trainings}
        before, self._states = self._states, states
        self._on_changed()
        if states != before:
            self.selection_changed.emit()
        for training in self.trainings:
            was = before.get(training.id)
            if was is not None and not was.is_over and training.state.is_over:
                self.ended.emit(training)

    def _on_changed(self) -> None:
        if not self.isVisible():
            # A hidden page is updated when it is shown again.
            return
        before = [training.id for training in self.selected()]
        self._model.update_rows(self.trainings)
        if before != [training.id for training in self.selected()]:
            self.select(before)
        self._table_pages.setCurrentIndex(0 if self._model.rows else 1)
        self.curves.refresh()
        self.policy.refresh()
        self.evaluation.refresh()
        if self.possible() != self._possible:
            # The possible actions can change while the state does not: for example, the first policy permits a race.
            self._possible = self.possible()
            self.selection_changed.emit()

    def _on_selection_changed(self) -> None:
        selected = self.selected()
        if [training.id for training in selected] != [training.id for training in self._shown]:
            self._shown = selected
            if self.desk is not None:
                self._each(self.desk.load_log)
            self.curves.show_trainings([(each, self._model.hue(each.id)) for each in selected[:_MOST_CURVES]])
            self.policy.show_training(selected[0] if len(selected) == 1 else None)
            self.evaluation.show_training(selected[0] if len(selected) == 1 else None)
            self._show_grounds(selected[0].grounds if len(selected) == 1 else None)
            if len(selected) == 1:
                self._offer_rivals()
        self.selection_changed.emit()

    def _show_grounds(self, grounds: TrainingGrounds | None) -> None:
        """Shows the networks on which the selected training run takes place; the tool tip lists the draws."""
        self.grounds.setText("" if grounds is None else grounds_text(grounds))
        self.grounds.setToolTip("" if grounds is None else "\n".join(grounds_lines(grounds)))
        self.grounds.setVisible(grounds is not None)

    def _offer_rivals(self) -> None:
        """Lists the rivals that the selected training run can race against in the open scenario; keeps the choice."""
        selected = self.selected()
        if len(selected) != 1 or not self.isVisible():
            return
        found = rivals(selected[0].controller, self._document.text, self._document.folder)
        if found == [self.rival.itemData(number) for number in range(self.rival.count())]:
            return
        chosen = self.rival.currentText()
        self.rival.clear()
        for number, each in enumerate(found):
            self.rival.addItem(each.text, each)
            self.rival.setItemData(number, each.summary, Qt.ItemDataRole.ToolTipRole)
        self.rival.setCurrentIndex(max(0, self.rival.findText(chosen)))

    def _on_choices(self, choices: TrainingChoices) -> None:
        if self.form is not None:
            return
        if not choices.agents:
            self._form_waits.setText(tr("This installation has no agents to train."))
            return
        draft = TrainingDraft(choices.agents, choices.recipes, choices.scenarios)
        self.form = StartForm(draft, self._actions["start"], self)
        self.form.changed.connect(self._show_episodes)
        self.form.file_wanted.connect(self._on_file_wanted)
        self._form_pages.addWidget(self.form)
        self._form_pages.setCurrentWidget(self.form)
        self.set_document(self._document)
        self.selection_changed.emit()

    def _on_choices_failed(self, error: Exception) -> None:
        self._form_waits.setText(error_text(error))

    def _on_file_wanted(self) -> None:
        path = self.dialogs.open_path(tr("Scenario to learn on"), tr(SCENARIO_FILTER), self._document.folder)
        if path is not None and self.form is not None:
            self.form.set_scenario(str(path))

    def _show_episodes(self) -> None:
        desk = self.desk
        if self.form is None or desk is None:
            return
        chosen = self.form.draft.scenario
        self.form.set_scenario_text(desk.scenario_text(self._document if chosen == DOCUMENT else chosen))

    def _observe(self, training: Training) -> SeenPolicy:
        """Runs the latest policy of a training run; called in a worker thread."""
        desk = self.desk
        if desk is None:
            raise AppError(tr("the trainings are closed"))
        return desk.observe(training)

    # ---- assembly ----

    def _place_parts(self) -> None:
        self._form_waits.setObjectName("form_waits")
        self._form_waits.setWordWrap(True)
        self._form_waits.setMargin(14)
        self._form_waits.setAlignment(Qt.AlignmentFlag.AlignTop)
        self._form_pages.addWidget(self._form_waits)
        self._table_pages.addWidget(self.table)
        self._table_pages.addWidget(self._table_empty)
        self.tabs = named(QTabWidget(self), "training_tabs", tr("Curves and policy of the selected trainings"))
        self.tabs.setDocumentMode(True)
        set_style(self.tabs, tab_style)
        self.tabs.addTab(self.curves, tr("Curves"))
        self.tabs.addTab(self.evaluation, tr("Evaluation"))
        self.tabs.addTab(self.policy, tr("Policy"))
        self.tabs.currentChanged.connect(lambda _index: self._on_changed())
        top = QWidget(self)
        v_box(top, self._tool_row(), (self._table_pages, 1), self.grounds, margins=0, spacing=0)
        self.grounds.setContentsMargins(8, 2, 8, 4)
        self._show_grounds(None)
        border = named(QSplitter(Qt.Orientation.Vertical, self, childrenCollapsible=False), "training_splitter")
        # On a low screen the start button must stay in view, so that both parts may become lower than their contents.
        self._table_pages.setMinimumHeight(_LEAST_TABLE)
        self.tabs.setMinimumHeight(_LEAST_CURVES)
        right = split(border, top, self.tabs)
        row = self.table.fontMetrics().height() + 8
        right.setSizes([round(_TABLE_ROWS * row) + 60, 600])
        border = named(QSplitter(Qt.Orientation.Horizontal, self, childrenCollapsible=False), "train_splitter")
        whole = split(border, self._form_pages, right, sizes=[_FORM_WIDTH, 700])
        v_box(self, whole, margins=0)

    def _tool_row(self) -> QHBoxLayout:
        tools = [
            self._tool(name) for name in ("toggle", "stop", "checkpoint", "evaluate", "promote", "export_figure", "use")
        ]
        race = self._tool("race"), Label(tr("against"), self), self.rival
        words = tr("Controller to race against")
        named(self.rival, "race_rival", words, words)
        # The rivals depend on the selected training run, so the box adapts its width to their names.
        self.rival.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        self.rival.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        return h_box(None, *tools, 10, *race, None, margins=(6, 4, 6, 4), spacing=2)

    def _tool(self, name: str) -> QToolButton:
        button = named(QToolButton(self, autoRaise=True), f"training_{name}")
        button.setDefaultAction(self._actions[name])
        wide = name in ("toggle", "race", "use")
        if name == "use":
            self._actions[name].setIconText(tr("Use"))
        style = Qt.ToolButtonStyle.ToolButtonTextBesideIcon if wide else Qt.ToolButtonStyle.ToolButtonIconOnly
        button.setToolButtonStyle(style)
        if name == "toggle":
            # The adjacent buttons must not move, although "Pause" and "Continue" differ in length.
            metrics = button.fontMetrics()
            words = (tr(word).replace("&", "") for word in TOGGLE_WORDS)
            button.setMinimumWidth(max(map(metrics.horizontalAdvance, words)) + 44)
        return button

    def _set_up_table(self) -> None:
        table = self.table
        set_up_table(table, "training_table", tr("Trainings"), self._model, menu=self.menu_requested.emit)
        table.setFrameShape(QTableView.Shape.NoFrame)
        table.selectionModel().selectionChanged.connect(lambda *_: self._on_selection_changed())
        self._model.modelReset.connect(self._on_selection_changed)
