"""The list of everything that is wrong with the scenario; a click leads to the field."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QModelIndex, Qt, Signal
from PySide6.QtWidgets import QAbstractItemView, QFrame, QListView, QWidget

from subflow_app.foundation.problem_texts import problem_text
from subflow_app.toolkit.models.table_model import ListModel
from subflow_app.toolkit.plain_text import Label
from subflow_app.toolkit.theme import Tokens, current_tokens, follow_theme
from subflow_app.toolkit.widgets.icon_label import IconLabel
from subflow_app.toolkit.widgets.shorthand import h_box, heading, named, v_box
from subflow_app.vocabulary.language import tr, trn
from subflow_sim.errors import Problem

_MOST_ROWS = 4
_MOST_SHARE = 0.12  # of the height of the panel, for the rows


def _text(problem: Problem) -> str:
    """Where, and what."""
    where = problem.key or (tr("line {number}", number=problem.line) if problem.line else "")
    return f"{where}: {problem_text(problem.message)}" if where else problem_text(problem.message)


class ProblemModel(ListModel[Problem]):
    """One row per problem, in file order."""

    def other_data(self, row: Problem, column: int, role: int) -> str | None:
        """A screen reader tells the whole of it."""
        return str(row) if role == Qt.ItemDataRole.AccessibleTextRole else None


class ProblemList(QFrame):
    """`3 problems` and the list of them, or what a drawing needs next; invisible while there is neither."""

    activated = Signal(object)  # Problem

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("problemPanel")
        self.model = ProblemModel(_text, self, tip=str)  # the rows
        self._most_rows = _MOST_ROWS
        self._icon = IconLabel("error", "error", 15, self)
        self._title = heading(named(Label(self, wordWrap=True), "problemCount"), is_demi=True)
        self._is_hint = False
        self.view = named(QListView(self), "problemList", tr("Problems"))  # the list itself
        self.view.setModel(self.model)
        self.view.setFrameShape(QFrame.Shape.NoFrame)
        self.view.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.view.setTextElideMode(Qt.TextElideMode.ElideRight)
        self.view.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.view.clicked.connect(self._on_activated)
        self.view.activated.connect(self._on_activated)
        line = h_box(None, self._icon, (self._title, 1), spacing=6)
        v_box(self, line, self.view, margins=(14, 7, 8, 6), spacing=3)
        follow_theme(self._recolour)
        self.hide()

    def show_problems(self, problems: Sequence[Problem], next_step: str = "") -> None:
        """List other problems, or say what a scenario that is only begun needs next; without either, disappear."""
        if tuple(problems) != self.model.rows:
            self.model.show_rows(tuple(problems))
        count = len(problems)
        self._title.setText(next_step or trn("{count} problem", "{count} problems", count))
        if bool(next_step) != self._is_hint:
            self._is_hint = bool(next_step)
            self.view.setVisible(not next_step)
            self._icon.setVisible(not next_step)
            self._recolour(current_tokens())
        self._take_height()
        self.setVisible(count > 0)

    def set_room(self, height: int) -> None:
        """Take at most a share of the height there is, px; what is more than that is scrolled."""
        row = self.fontMetrics().height() + 2
        most = max(1, min(_MOST_ROWS, int(height * _MOST_SHARE / row)))
        if most != self._most_rows:
            self._most_rows = most
            self._take_height()

    def _take_height(self) -> None:
        count = self.model.rowCount()
        rows = min(max(count, 1), self._most_rows)
        height = self.view.sizeHintForRow(0) if count else 0
        self.view.setFixedHeight(rows * max(height, self.fontMetrics().height() + 2) + 4)

    def _recolour(self, tokens: Tokens) -> None:
        fill, edge, text = (
            (tokens.base, tokens.border, tokens.text)
            if self._is_hint
            else (tokens.error_fill, tokens.error, tokens.error)
        )
        self.setStyleSheet(
            f"#problemPanel {{ background: {fill}; border: none; border-top: 1px solid {edge}; }}"
            f"#problemCount {{ color: {text}; }}"
            f"QListView {{ background: transparent; border: none; color: {tokens.text}; }}"
        )

    def _on_activated(self, index: QModelIndex) -> None:
        self.activated.emit(self.model.rows[index.row()])
