"""The panel of scripts: choice, text, problems, conformance checks and stored versions of a script.

The list holds the versions of a script that have runs, with the results of these runs. Each chip shows the result of a
conformance check, and opens the run of the check.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from PySide6.QtCore import QItemSelectionModel, QSignalBlocker, QSize, Qt, Signal
from PySide6.QtGui import QAction, QResizeEvent
from PySide6.QtWidgets import QAbstractItemView, QSplitter, QStackedWidget, QTableView, QToolButton, QWidget

from subflow_app.features.editor.core.scripts import ScriptPlace
from subflow_app.features.editor.qt.inspector.inspector import ProblemList
from subflow_app.features.history.core.script_versions import ScriptVersion
from subflow_app.features.script.core import ARENA, Finding, Question
from subflow_app.features.script.qt.editor import ScriptEditor, problem_line
from subflow_app.toolkit import format as fmt
from subflow_app.toolkit.icons import icon
from subflow_app.toolkit.theme import Tokens, follow_theme, muted
from subflow_app.toolkit.widgets.code_editor import FindBar
from subflow_app.toolkit.widgets.empty_state import EmptyState
from subflow_app.toolkit.widgets.labels import ElidedLabel
from subflow_app.toolkit.widgets.list_beside import action_buttons
from subflow_app.toolkit.widgets.shorthand import (
    Choice,
    Label,
    WrapLayout,
    as_written,
    h_box,
    heading,
    named,
    split,
    v_box,
)
from subflow_app.toolkit.widgets.tables import TableModel, bold, set_up_table
from subflow_app.vocabulary.language import tr, translatable, trn
from subflow_app.vocabulary.measure import Measure
from subflow_app.vocabulary.measures import MEASURES, headline_measures
from subflow_app.vocabulary.plain_text import capitalised
from subflow_app.vocabulary.tables import Column, NumberColumn
from subflow_sim.errors import Problem
from subflow_sim.script import ScriptProblem


def _columns(versions: Sequence[ScriptVersion]) -> list[Column[ScriptVersion]]:
    """Columns for these versions: the headline measures of the flows with the script, RTT and loss."""
    flows = [flow for version in versions for flow in version.flows]
    return [
        NumberColumn(translatable("Version"), lambda each: each.number, widest="12"),
        NumberColumn(translatable("Run"), lambda each: each.run.id, widest="1234"),
        *(_column(each) for each in (*headline_measures(flows), MEASURES["mean_rtt_s"], MEASURES["loss_ratio"])),
        Column(translatable("Started"), lambda each: each.run.started_at, fmt.moment, widest="28 Nov 2026 09:12"),
    ]


def _column(shown: Measure) -> Column[ScriptVersion]:
    widest = "Goodput, Mbit/s" if shown.unit == "Mbit/s" else "12.345"
    return NumberColumn(
        shown.heading,
        lambda each: each.figure(shown),
        shown.text,
        shown.unit,
        widest=widest,
        tip=shown.definition,
    )


class VersionModel(TableModel[ScriptVersion]):
    """Table model of the versions; the version in the editor is bold."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(_columns(()), parent, tip=_tip)
        self.current = ""

    def other_data(self, row: ScriptVersion, column: int, role: int) -> object | None:
        if role == Qt.ItemDataRole.FontRole and row.text == self.current:
            return bold()
        return None


class VersionList(QWidget):
    """A row for each version, the latest at the top."""

    selection_changed = Signal()
    opened = Signal(object)  # ScriptVersion whose run is to be shown

    def __init__(self, actions: Sequence[QAction], parent: QWidget | None = None) -> None:
        """Starts empty, with a button for each action."""
        super().__init__(parent)
        self.setObjectName("script_versions")
        self.model = VersionModel(self)
        self.table = set_up_table(
            QTableView(self), "script_version_table", tr("Versions of the script with their results"), self.model
        )
        self.table.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.table.selectionModel().selectionChanged.connect(self.selection_changed)
        self.table.activated.connect(lambda index: self.opened.emit(self.model.row_at(index.row())))
        none = muted(Label(tr("Each run of this script is kept with its text, and listed here."), self, wordWrap=True))
        none.setContentsMargins(8, 4, 8, 4)
        none.setAlignment(Qt.AlignmentFlag.AlignTop)
        self._pages = QStackedWidget(self)
        self._pages.addWidget(none)
        self._pages.addWidget(self.table)
        title = heading(Label(tr("Versions"), self), is_demi=True)
        v_box(
            self, h_box(None, (title, 1), *action_buttons(actions), margins=(8, 2, 6, 0)), (self._pages, 1), margins=0
        )
        self.setFocusProxy(self.table)

    @property
    def versions(self) -> Sequence[ScriptVersion]:
        """All listed versions."""
        return self.model.rows

    @property
    def selected(self) -> tuple[ScriptVersion, ...]:
        """The selected versions, from top to bottom."""
        rows = sorted(index.row() for index in self.table.selectionModel().selectedRows())
        return tuple(self.model.row_at(row) for row in rows)

    def show_versions(self, versions: Sequence[ScriptVersion], current: str) -> None:
        """Lists these versions and keeps the selection. ``current`` is the text in the editor."""
        selected = {each.text for each in self.selected}
        self.model.current = current
        self.model.show_rows(tuple(versions), _columns(versions))
        self._pages.setCurrentIndex(1 if versions else 0)
        flags = QItemSelectionModel.SelectionFlag
        for row, version in enumerate(versions):
            if version.text in selected:
                self.table.selectionModel().select(self.model.index(row, 0), flags.Select | flags.Rows)
        self.selection_changed.emit()

    def show_current(self, text: str) -> None:
        """Shows in bold the version whose text equals ``text``, the text in the editor."""
        if text != self.model.current:
            self.model.current = text
            self.model.say_changed()


def _tip(version: ScriptVersion) -> str:
    runs = trn("{count} run", "{count} runs", version.count)
    return tr("Version {number}, {runs}; the latest: {name}", number=version.number, runs=runs, name=version.run.name)


_ICONS = {"pass": ("ok", "ok"), "fail": ("error", "error"), "error": ("error", "error"), "": ("recent", "muted_text")}


class ConformanceStrip(QWidget):
    """A button for each check, with its result as soon as it is known."""

    opened = Signal(object)  # Finding whose run is to be shown
    asked = Signal()  # click on the button of the arena while it has no result

    def __init__(self, after: QWidget, parent: QWidget | None = None) -> None:
        """Starts empty; its buttons follow ``after`` in the tab order."""
        super().__init__(parent)
        self._after = after
        named(self, "conformance", tr("Trials of the script"))
        self._layout = WrapLayout(self)
        self._chips: dict[str, QToolButton] = {}
        self._findings: Mapping[str, Finding] = {}
        follow_theme(self._recolour)

    def show_findings(
        self, questions: Sequence[Question], findings: Mapping[str, Finding], working: Sequence[Question]
    ) -> None:
        """Shows the results.

        Args:
            questions: questions that apply to the script.
            findings: results by id of the question.
            working: questions in progress.
        """
        if [question.id for question in questions] != list(self._chips):
            self._make(questions)
        self._findings = dict(findings)
        at_work = {question.id for question in working}
        for question in questions:
            is_offered = question is ARENA and not at_work
            self._tell(question, self._findings.get(question.id), question.id in at_work, is_offered=is_offered)

    def text_of(self, check_id: str) -> str:
        """Text of a button."""
        return self._chips[check_id].text()

    def chip(self, check_id: str) -> QToolButton:
        """The button of a check."""
        return self._chips[check_id]

    def _make(self, questions: Sequence[Question]) -> None:
        for chip in self._chips.values():
            self._layout.removeWidget(chip)
            chip.deleteLater()
        self._chips = {}
        before = self._after
        for question in questions:
            chip = named(QToolButton(self, autoRaise=False), f"conformance_{question.id}")
            chip.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
            chip.clicked.connect(lambda _on=False, question_id=question.id: self._open(question_id))
            self._layout.addWidget(chip)
            self._chips[question.id] = chip
            # The tab order is explicit, because these buttons are created after the widgets that follow on the screen.
            QWidget.setTabOrder(before, chip)
            before = chip

    def _open(self, question_id: str) -> None:
        if question_id in self._findings:
            self.opened.emit(self._findings[question_id])
        else:
            self.asked.emit()

    def _tell(self, question: Question, finding: Finding | None, is_at_work: bool, *, is_offered: bool) -> None:
        chip = self._chips[question.id]
        title, asks = tr(question.title), tr(question.question)
        asks = capitalised(asks)
        chip.setEnabled(finding is not None or is_offered)
        if finding is not None:
            chip.setText(f"{title} {finding.number}".rstrip())
            verdict = {"pass": tr("yes"), "fail": tr("no"), "error": tr("the run failed")}[finding.verdict]
            says = finding.text if question is ARENA else f"{verdict}: {finding.text}"
            tip = (asks, says, tr("Click to see that run."))
        else:
            chip.setText(tr("{title} …", title=title) if is_at_work else title)
            says = tr("being tried") if is_at_work else tr("not tried yet")
            tip = (asks, says, *((tr("Click to ask: it takes half a minute at most."),) if is_offered else ()))
        chip.setToolTip(as_written("\n".join(tip)))
        chip.setAccessibleName(f"{chip.text()}: {says}")
        chip.setIcon(icon(*_ICONS[finding.verdict if finding is not None else ""]))

    def _recolour(self, _tokens: Tokens) -> None:
        for question_id, chip in self._chips.items():
            finding = self._findings.get(question_id)
            chip.setIcon(icon(*_ICONS[finding.verdict if finding is not None else ""]))


_LEAST = (420, 330)  # px
_SHARES = (3, 1)  # heights of the text and of the versions below it


class ScriptPanel(QWidget):
    """Shows a script; the panel's owner reads, stores and runs it."""

    chosen = Signal(object)  # ScriptPlace, or None for a draft

    def __init__(
        self,
        actions: Sequence[QAction],
        version_actions: Sequence[QAction],
        new: QAction,
        parent: QWidget | None = None,
    ) -> None:
        """Starts without a script, and offers ``new`` until a script is open."""
        super().__init__(parent)
        self.setObjectName("script")
        self.choice = Choice("script_choice", (), self, text=tr("Script"), letters=14)
        self.choice.setToolTip(tr("The scripts of the open scenario"))
        self.state = named(muted(ElidedLabel(self)), "script_state")
        top = h_box(None, (self.choice, 2), (self.state, 3), *action_buttons(actions), margins=(6, 4, 6, 2), spacing=4)
        self.editor = ScriptEditor(self)
        self.find_bar = FindBar(self.editor, self)
        self.problems = ProblemList(self)
        self.conformance = ConformanceStrip(self.problems.view, self)
        self.versions = VersionList(version_actions, self)
        text = QWidget(self)
        v_box(text, (self.editor, 1), self.find_bar, self.problems, self.conformance, margins=0, spacing=2)
        border = named(QSplitter(Qt.Orientation.Vertical, self, childrenCollapsible=False), "script_split")
        split(border, text, self.versions, shares=_SHARES)
        border.setSizes([share * 200 for share in _SHARES])
        self.empty = EmptyState(
            "script",
            tr("No script yet"),
            tr(
                "Write a congestion controller or a packet scheduler here, in a few lines. Saving runs the scenario "
                "again at once, over the previous run."
            ),
            new,
            self,
        )
        self._pages = QStackedWidget(self)
        self._pages.addWidget(self.empty)
        self._pages.addWidget(border)
        v_box(self, top, (self._pages, 1), margins=0, spacing=0)
        self._listed: dict[Problem, ScriptProblem] = {}  # by their row in the list
        self.choice.activated.connect(lambda _: self.chosen.emit(self.choice.currentData()))
        self.editor.checked.connect(self.show_problems)
        self.problems.activated.connect(self._go_to)
        self.find_bar.sought.connect(self.editor.seek)
        self.setFocusProxy(self.editor)

    def show_places(self, places: Sequence[ScriptPlace], current: ScriptPlace | None, draft: str = "") -> None:
        """Offers the scripts of the scenario.

        Args:
            places: locations of all scripts.
            current: location of the script in the editor; None for a draft, or if no script is open.
            draft: name of the draft in the editor; empty if the script is not a draft.
        """
        with QSignalBlocker(self.choice):
            self.choice.clear()
            for place in places:
                self.choice.addItem(place.name, place)
            if draft:
                self.choice.addItem(draft, None)
            keys = [place.key for place in places]
            at = keys.index(current.key) if current is not None and current.key in keys else self.choice.count() - 1
            self.choice.setCurrentIndex(at if current is not None or draft else -1)
        self.choice.setEnabled(self.choice.count() > 0)
        self._pages.setCurrentIndex(1 if current is not None or draft else 0)

    def show_problems(self, problems: Sequence[ScriptProblem]) -> None:
        """Lists problems of the text or of a run."""
        listed = [Problem("", each.line, "", "", problem_line(each), "") for each in problems]
        self._listed = dict(zip(listed, problems, strict=True))
        self.problems.show_problems(listed)

    def next_problem(self) -> None:
        """Goes to the first problem below the cursor, or else to the first problem of the list."""
        problems = list(self._listed.values())
        line = self.editor.textCursor().blockNumber() + 1
        below = [problem for problem in problems if problem.line > line]
        for problem in (below or problems)[:1]:
            self.editor.show_line(problem.line, problem.column)

    def minimumSizeHint(self) -> QSize:
        """Returns a size with space for a few lines."""
        return QSize(*_LEAST)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Limits the list of problems, so that most of the space remains for the text."""
        super().resizeEvent(event)
        self.problems.set_room(2 * event.size().height())

    def _go_to(self, row: Problem) -> None:
        problem = self._listed.get(row)
        if problem is not None:
            self.editor.show_line(problem.line, problem.column)
