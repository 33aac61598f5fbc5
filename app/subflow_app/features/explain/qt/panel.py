"""The panel that explains a point on a curve: the cause in the network, the notice of the sender, and the rule.

A table lists the numbers of a decision or, for a script, the values of its names. For a script, the panel also shows
the executed lines with their numbers filled in, and marks the current line.

Watches are entered in a text field, and each watch has a button that removes it.
"""

from __future__ import annotations

import html
import math
from collections.abc import Mapping, Sequence
from functools import cache

from PySide6.QtCore import QModelIndex, Qt, QUrl, Signal
from PySide6.QtGui import QAction, QDesktopServices, QFontDatabase, QResizeEvent
from PySide6.QtWidgets import (
    QBoxLayout,
    QLabel,
    QLineEdit,
    QProgressBar,
    QPushButton,
    QScrollArea,
    QTableView,
    QToolButton,
    QWidget,
)

from subflow_app.features.explain.core.decisions import WorkedRule, rule_sources
from subflow_app.features.explain.core.explained import CAUSES, ExplainedDecision, amount_text
from subflow_app.features.explain.core.watches import Watch, known_names
from subflow_app.features.explain.qt.story_card import StoryCard
from subflow_app.toolkit.icons import icon
from subflow_app.toolkit.theme import Tokens, current_tokens, follow_theme, muted
from subflow_app.toolkit.widgets.empty_state import EmptyState
from subflow_app.toolkit.widgets.formula_view import FormulaView, Span
from subflow_app.toolkit.widgets.labels import ElidedLabel, ProblemLabel
from subflow_app.toolkit.widgets.list_beside import action_buttons
from subflow_app.toolkit.widgets.shorthand import Label, as_written, h_box, named, pages, v_box
from subflow_app.toolkit.widgets.tables import TableModel, set_up_table
from subflow_app.vocabulary.language import tr, translatable
from subflow_app.vocabulary.number_text import typeset
from subflow_app.vocabulary.tables import Column, NumberColumn
from subflow_sim.decisions import Explanation, Number, claim_meaning, meanings
from subflow_sim.script.vocabulary import OBJECTS
from subflow_sim.script_steps import ExecutedLine, Step, last_values

_CLAIM = "is_"


def meaning_of(number: Number) -> str:
    """The meaning of a number; empty for numbers that only older versions recorded."""
    meaning = tr(meanings().get(number.name, ""))
    return claim_meaning(meaning) if number.is_claim else meaning


def value_text(number: Number) -> str:
    """The value of a number as text, without its name and unit."""
    if number.subflows is not None:
        return "{" + ", ".join(map(str, number.subflows)) + "}"
    if number.is_claim:
        return tr("yes") if number.value else tr("no")
    if math.isnan(number.value):
        return "–"
    return typeset(f"{number.value:.6g}".replace("inf", "∞"))


@cache
def _fields() -> Mapping[str, tuple[str, str]]:
    """Unit and help of the names that scripts can read ("w.cwnd"), by name."""
    return {f"{kind}.{field.name}": (field.symbol, field.help) for kind, own in OBJECTS.items() for field in own}


def script_numbers(steps: Sequence[Step]) -> list[Number]:
    """The values of a script's names after these steps, in order of first assignment."""
    return [Number(name, _fields().get(name, ("", ""))[0], value) for name, value in last_values(steps).items()]


COLUMNS: tuple[Column[Number], ...] = (
    Column(translatable("Number"), lambda number: number.name.removeprefix(_CLAIM)),
    NumberColumn(translatable("Value"), value_text),
    Column(translatable("Unit"), lambda number: number.unit),
    Column(translatable("Meaning"), meaning_of),
)

SCRIPT_COLUMNS: tuple[Column[Number], ...] = (
    Column(translatable("Name"), lambda number: number.name),
    *COLUMNS[1:3],
    Column(translatable("Meaning"), lambda number: _fields().get(number.name, ("", ""))[1]),
)


_MARGIN = 8  # px
_LEAST_WIDTH = 120  # minimum width of the column with the executed lines, px


def _with_numbers(line: ExecutedLine) -> str:
    result = {"yes": tr("yes"), "no": tr("no")}.get(line.result, line.result)
    says_more = line.filled not in (line.source, line.result.removeprefix("= "))
    return f"{line.filled} {result}".rstrip() if says_more else result


_COLUMNS: tuple[Column[ExecutedLine], ...] = (
    NumberColumn(translatable("Line"), lambda line: line.line),
    Column(translatable("Executed"), lambda line: line.source),
    Column(translatable("With its numbers"), _with_numbers),
)


class ScriptLines(QWidget):
    """Table of the script lines executed for one decision; hidden while it is empty."""

    moved = Signal()  # the current line changed
    opened = Signal()  # a request to open the script at the current line

    def __init__(self, actions: Sequence[QAction], parent: QWidget | None = None) -> None:
        """Create an empty list; ``actions`` step from line to line."""
        super().__init__(parent)
        self.told: Explanation | None = None  # the shown decision; None if no script made it
        self.lines: Sequence[ExecutedLine] = ()
        self.title = named(muted(ElidedLabel(self)), "explain_script")
        self._model: TableModel[ExecutedLine] = TableModel(_COLUMNS, self, tip=lambda line: line.text)
        self._model.aligns_headings = False
        words = tr("Lines of the script that were executed")
        self.table = set_up_table(QTableView(self), "explain_lines", words, self._model, is_single=True)
        self.table.setFont(QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont))
        self.table.selectionModel().currentRowChanged.connect(self._on_row)
        self.table.doubleClicked.connect(lambda _index: self.opened.emit())
        head = h_box(None, (self.title, 1), *action_buttons(actions), spacing=2)
        v_box(self, head, (self.table, 1), margins=0, spacing=2)

    def show_lines(self, decision: Explanation | None) -> None:
        """Show the lines of a decision and mark the first; ``told`` is None if no script made the decision."""
        self.told = decision
        self.lines = decision.lines if decision is not None else ()
        self._model.show_rows(self.lines)
        self.table.resizeColumnsToContents()
        self.setVisible(bool(self.lines))
        self._share_width()
        if self.lines:
            self.table.selectRow(0)

    @property
    def position(self) -> int:
        """Index of the current line, from 0; -1 if the table is empty."""
        return self.table.currentIndex().row() if self.lines else -1

    @property
    def line(self) -> ExecutedLine | None:
        """The current line; None if the table is empty."""
        return self.lines[self.position] if self.position >= 0 else None

    def step(self, by: int) -> None:
        """Move to the previous (-1) or next (1) line."""
        wanted = self.position + by
        if 0 <= wanted < len(self.lines):
            self.table.selectRow(wanted)
            self.table.scrollTo(self._model.index(wanted, 0))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Limit the column with the executed lines to half of the width, so that the numbers remain visible."""
        super().resizeEvent(event)
        self._share_width()

    def _share_width(self) -> None:
        self.table.setColumnWidth(
            1, min(self.table.sizeHintForColumn(1) + _MARGIN, max(_LEAST_WIDTH, self.width() // 2))
        )

    def _on_row(self, _row: QModelIndex, _before: QModelIndex) -> None:
        self.moved.emit()


_MOST_LETTERS = 24


class WatchRow(QWidget):
    """Input for watch expressions, and buttons that remove watches."""

    asked = Signal(str)  # the expression to watch
    removed = Signal(object)  # the Watch to remove

    def __init__(self, parent: QWidget | None = None) -> None:
        """Create a row without watches."""
        super().__init__(parent)
        self.problem = ProblemLabel("explain_watch_problem", 200, self)
        self.line = named(
            QLineEdit(self),
            "explain_watch",
            tr("Expression to watch"),
            tr("Its value at each decision of the script becomes a curve"),
        )
        self.line.setClearButtonEnabled(True)
        self.line.returnPressed.connect(self._ask)
        self.line.textEdited.connect(lambda _text: self.problem.say(""))
        self.button = named(QPushButton(tr("Watch"), self), "explain_watch_add")
        self.button.clicked.connect(self._ask)
        self._shown = h_box(None, spacing=4)
        v_box(self, h_box(None, (self.line, 1), self.button, self._shown), self.problem, margins=0, spacing=2)

    def set_names(self, names: Sequence[str]) -> None:
        """Show the first three names as an example of an expression."""
        example = ", ".join(names[:3])
        self.line.setPlaceholderText(tr("Watch an expression over {names} …", names=example))

    def show_watches(self, watches: Sequence[Watch], share: float | None) -> None:
        """Show the watches and ``share``, the simulated fraction of the runs, 0 to 1; None if no replay runs."""
        buttons = self.buttons
        if [each.property("watch") for each in buttons] != list(watches):
            for button in buttons:
                self._shown.removeWidget(button)
                button.setParent(None)
                button.deleteLater()
            for watch in watches:
                self._shown.addWidget(self._made(watch))
        self.button.setText(tr("Watch") if share is None else tr("{percent} %", percent=round(100 * share)))

    @property
    def buttons(self) -> list[QToolButton]:
        """The buttons that remove watches."""
        return [each for each in self.findChildren(QToolButton) if each.objectName() == "explain_watched"]

    def _made(self, watch: Watch) -> QToolButton:
        text = watch.text if len(watch.text) <= _MOST_LETTERS else f"{watch.text[: _MOST_LETTERS - 1]}…"
        button = named(QToolButton(self), "explain_watched", tr("Do not watch {expression}", expression=watch.text))
        button.setToolTip(as_written(tr("Do not watch {expression}", expression=watch.text)))
        button.setText(text.replace("&", "&&"))
        button.setIcon(icon("close"))
        button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        button.setProperty("watch", watch)
        button.clicked.connect(lambda: self.removed.emit(watch))
        return button

    def _ask(self) -> None:
        self.problem.say("")
        self.asked.emit(self.line.text())


_EMPTY_TITLE = translatable("Click a curve")
_EMPTY_TEXT = translatable(
    "Click any point on a cwnd or rate curve in the plots: this panel shows what happened there, the rule that "
    "decided, its formula with the numbers filled in, and its source. Click another curve of a subflow for its "
    "latest decision, or one of a flow with several subflows for the choice of its scheduler."
)
_LEAST_PART = 44  # px
_LEAST_WIDTH_BESIDE = 640  # px


class ExplainPanel(QWidget):
    """Shows one decision, or a hint on how to choose one."""

    agent_wanted = Signal()  # a request to show the learning agent's decision behind the shown decision
    guide_wanted = Signal(str)  # topic of the user guide, about the algorithm that made the decision
    given_up = Signal()  # a request to cancel the search for the decision
    show_wanted = Signal(float, str)  # a request to show a link direction at a time, s
    try_wanted = Signal(object)  # a request to prepare a change (`core.story.Try`) as a fork

    def __init__(
        self, steps: Sequence[QAction], line_actions: Sequence[QAction] = (), parent: QWidget | None = None
    ) -> None:
        """Create a panel without a decision.

        Args:
            steps: actions that step from decision to decision.
            line_actions: actions for the lines of a script.
            parent: Qt parent.
        """
        super().__init__(parent)
        self.setObjectName("explain_content")
        self.point: ExplainedDecision | None = None  # the shown decision
        self._label = ""
        self._empty = EmptyState("explain", tr(_EMPTY_TITLE), tr(_EMPTY_TEXT))
        self._numbers: TableModel[Number] = TableModel(
            COLUMNS, self, tip=lambda number: self._numbers.columns[-1].text(number) or None
        )
        self._numbers.aligns_headings = False
        self.where, self.change, self.source, self.notice = (
            self._text(name) for name in ("explain_where", "explain_change", "explain_source", "notice")
        )
        self.why = named(muted(Label(self, wordWrap=True)), "explain_why")
        self.rule, self.worked = (FormulaView(name, self) for name in ("explain_rule", "explain_worked"))
        self.source.setTextInteractionFlags(Qt.TextInteractionFlag.TextBrowserInteraction)
        self.source.linkActivated.connect(lambda url: QDesktopServices.openUrl(QUrl(url)))
        words = tr("Numbers that went into the decision")
        self.numbers = set_up_table(QTableView(), "explain_numbers", words, self._numbers, is_single=True)
        self.formulas = QWidget(self)
        self.card = StoryCard(self.formulas, self)
        self.card.show_wanted.connect(self.show_wanted)
        self.card.try_wanted.connect(self.try_wanted)
        self.lines = ScriptLines(line_actions, self)
        self.lines.moved.connect(self._show_moment)
        self.watches = WatchRow(self)
        self.agent = named(QPushButton(tr("Observations and actions of the agent"), self), "explain_agent")
        self.agent.clicked.connect(self.agent_wanted)
        self.guide = named(QPushButton(tr("Help on this algorithm"), self), "explain_guide")
        self.guide.clicked.connect(self._ask_for_guide)
        self._waiting = self._waiting_row()
        self._pages = pages(self, self._empty, self._content(steps))
        v_box(self, self._waiting, (self._pages, 1), margins=0)
        muted(self.notice)
        follow_theme(self._recolour)

    def _text(self, name: str) -> QLabel:
        label = named(Label(self, wordWrap=True, textFormat=Qt.TextFormat.RichText), name)
        label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        return label

    def _waiting_row(self) -> QWidget:
        row = named(QWidget(self), "explain_waiting")
        bar = self.progress = named(QProgressBar(row), "explain_progress", tr("Simulating again to find the decision"))
        text = Label(tr("Simulating again to find the decision …"), row)
        cancel = named(QPushButton(tr("Cancel"), row), "explain_cancel")
        cancel.clicked.connect(self.given_up)
        h_box(row, text, (bar, 1), cancel, margins=(6, 4, 6, 0))
        row.hide()
        return row

    def _content(self, steps: Sequence[QAction]) -> QWidget:
        content = QWidget(self)
        head = h_box(None, (self.where, 1), *action_buttons(steps), spacing=4)
        foot = h_box(None, (self.source, 1), self.agent, self.guide)
        text = QWidget(content)
        v_box(self.formulas, self.rule, self.worked, self.change, margins=0, spacing=6)
        v_box(text, self.why, self.card, None, foot, self.notice, margins=0, spacing=6)
        self._body = QBoxLayout(QBoxLayout.Direction.TopToBottom)
        self._body.setSpacing(8)
        scroll = self._words = named(QScrollArea(content, widgetResizable=True), "explain_words")
        scroll.setFrameShape(QScrollArea.Shape.NoFrame)
        scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        scroll.setWidget(text)
        text.setAutoFillBackground(False)  # shows the background of the panel
        scroll.viewport().setAutoFillBackground(False)
        self._body.addWidget(scroll, 5)
        self._body.addWidget(self.lines, 4)
        self._body.addWidget(self.numbers, 3)
        for part in (scroll, self.lines, self.numbers):
            # All of them scroll, and the panel must fit below the plots of a small window.
            part.setMinimumHeight(_LEAST_PART)
        v_box(content, head, (self._body, 1), self.watches, margins=(8, 6, 8, 6), spacing=6)
        return content

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Place the numbers to the right of the text in a wide panel, or below it in a narrow one."""
        super().resizeEvent(event)
        is_wide = self.width() >= _LEAST_WIDTH_BESIDE
        self._body.setDirection(QBoxLayout.Direction.LeftToRight if is_wide else QBoxLayout.Direction.TopToBottom)

    # ---- interface for the feature ----

    def show_point(self, point: ExplainedDecision, label: str, why: str = "") -> None:
        """Show a decision, the name of its curve, and the reason for showing it."""
        self.point, self._label = point, label
        self.why.setText(why)
        self.why.setVisible(bool(why))
        self.lines.show_lines(point.scripted)
        program = point.scripted.script if point.scripted is not None else None
        self.watches.setVisible(program is not None)
        if program is not None:
            self.watches.set_names(known_names(program))
        if point.scripted is None:
            # If the sender only carries out the controller's decision, it has no numbers: show the controller's.
            has_own = bool(point.told.numbers) or point.reduced_by is None
            told = point.told if has_own else point.reduced_by
            self._show_numbers(() if told is None else told.numbers)
        self.agent.setVisible(point.agent is not None)
        self._pages.setCurrentIndex(1)
        self._write()

    def show_nothing(self, title: str = "", text: str = "") -> None:
        """Show a hint on how to choose a decision, or the reason why none can be shown."""
        self.point = None
        self.lines.show_lines(None)
        self._empty.set_text(title or tr(_EMPTY_TITLE), text or ("" if title else tr(_EMPTY_TEXT)))
        self._pages.setCurrentIndex(0)

    def set_waiting(self, is_waiting: bool, share: float = 0.0) -> None:
        """Show the progress of a search that can be cancelled; ``share`` is the simulated fraction, 0 to 1.

        At 0 and at 1, the bar shows no fraction, because the remaining work is unknown.
        """
        is_known = 0.0 < share < 1.0
        self.progress.setRange(0, 100 if is_known else 0)
        self.progress.setValue(round(100 * share))
        self.progress.setTextVisible(is_known)
        self._waiting.setVisible(is_waiting)

    # ---- internals ----

    def _show_moment(self) -> None:
        """Show the values of a script's names after the current line."""
        told, line = self.lines.told, self.lines.line
        if told is not None and line is not None:
            self._show_numbers(script_numbers(told.steps[: line.position + 1]), SCRIPT_COLUMNS)

    def _show_numbers(self, numbers: Sequence[Number], columns: Sequence[Column[Number]] = COLUMNS) -> None:
        self._numbers.show_rows(numbers, columns)
        self.numbers.resizeColumnsToContents()
        self.numbers.setVisible(bool(numbers))

    def _recolour(self, _tokens: Tokens) -> None:
        if self.point is not None:
            self._write()

    def _ask_for_guide(self) -> None:
        if self.point is not None:
            self.guide_wanted.emit(self.point.topic)

    def _write(self) -> None:
        point = self.point
        assert point is not None
        told, tokens = point.told, current_tokens()
        time = tr("{line} at {time} s", line=html.escape(self._label), time=f"{told.time_s:.6f}")
        cause = html.escape(tr(CAUSES[told.detection or told.cause]))
        self.card.show_story(point.story)
        # The lines of a script replace the formulas, if they explain the whole decision.
        is_all_script = point.scripted is told and point.agent is None
        self.formulas.setVisible(not is_all_script)
        self.where.setText(f"<b>{time}</b><br>{cause}{' · ' + html.escape(change_text(told)) if is_all_script else ''}")
        what_follows = prr_text(point)
        self.change.setText(
            f"<b>{html.escape(change_text(told))}</b>" + (f"<br>{html.escape(what_follows)}" if what_follows else "")
        )
        decided = [told] if point.reduced_by is None else [point.reduced_by, told]
        deciding = [each.rule for each in decided if each.script is None]  # for a script, its lines replace the rule
        self.rule.set_lines(
            [
                line
                for rule in deciding
                for line in (
                    *(((Span(rule.name.replace("_", " "), is_bold=True),),) if len(decided) > 1 else ()),
                    (Span(rule.formula, tokens.muted_text, is_formula=True),),
                )
            ]
        )
        self.worked.setVisible(bool(point.worked))
        self.worked.set_lines([self._worked_line(each) for each in point.worked])
        sources = [
            f'<a href="{html.escape(part.url)}" style="color: {tokens.link}">{html.escape(part.text)}</a>'
            if part.url
            else html.escape(part.text)
            for rule in deciding
            for part in rule_sources(rule.source)
        ]
        self.source.setText(f"{tr('Source:')} {'; '.join(sources)}" if sources else "")
        again = tr("The run has no stored decisions for this time, so it was simulated again.")
        if point.scripted is not None:
            again = tr("Found by simulating the run again: runs do not record which lines of a script were executed.")
        notes = [again] if point.is_resimulated else []
        notes += [point.notice] if point.notice else []
        if point.scripted is not None and point.scripted.script is not None:
            name, function = point.scripted.script.name, point.scripted.rule.name
            said = [tr("{script}, {function}", script=name, function=function), *(notes if is_all_script else [])]
            self.lines.title.setText(" · ".join(said))
        self.notice.setText(html.escape(" ".join(notes)))
        self.notice.setVisible(bool(notes))

    def _worked_line(self, worked: WorkedRule) -> tuple[Span, ...]:
        filled = Span(f"{worked.result} = {worked.filled}", is_formula=True)
        value = Span(amount_text(worked.result, worked.value), is_bold=True)
        end = Span(" ✓", current_tokens().ok)
        if not worked.is_same:
            end = Span(f" ≠ {amount_text(worked.result, worked.recorded)}", current_tokens().error)
        return filled, Span(" = "), value, end


def change_text(decision: Explanation) -> str:
    """The effect of a decision, in the language of the window."""
    if decision.scope == "flow":
        room = ", ".join(map(str, decision.available)) or "–"
        if decision.chosen is None:
            return tr("Packet {packet} waits; room on: {room}", packet=decision.data_seq, room=room)
        return tr(
            "Packet {packet} → subflow {subflow}; room on: {room}",
            packet=decision.data_seq,
            subflow=decision.chosen,
            room=room,
        )
    parts = [_change("cwnd", "cwnd", *decision.cwnd_pkts)]
    if any(decision.rate_bps):
        parts.append(_change("rate", tr("rate"), *decision.rate_bps))
    return " · ".join(parts)


def prr_text(point: ExplainedDecision) -> str:
    """Hint that PRR reduces the window gradually; empty for decisions of other rules, or if ssthresh is unknown.

    Without the hint, a reader could miss the reduction, because the first steps of a halving by PRR are small.
    """
    if point.reduced_by is None or point.told.rule.name != "proportional_rate_reduction":
        return ""
    ssthresh = next((each.recorded for each in point.worked if each.result == "ssthresh"), None)
    if ssthresh is None:
        return ""
    return tr(
        "With PRR the window goes down to ssthresh, {value}, over the acknowledgements that follow.",
        value=amount_text("ssthresh", ssthresh),
    )


def _change(result: str, name: str, before: float, after: float) -> str:
    if before != before:  # NaN: no previous value
        return f"{name} {amount_text(result, after)}"
    if before == after:
        return tr("{name} stays {value}", name=name, value=amount_text(result, after))
    return f"{name} {amount_text(result, before)} → {amount_text(result, after)}"
