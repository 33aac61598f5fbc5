"""The panel of scripts: which one, its text, what is wrong with it, what it stands, and its versions."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QSignalBlocker, QSize, Qt, Signal
from PySide6.QtGui import QAction, QResizeEvent
from PySide6.QtWidgets import QSplitter, QStackedWidget, QWidget

from subflow_app.features.editor.core.scripts import ScriptPlace
from subflow_app.features.editor.qt.inspector.inspector import ProblemList
from subflow_app.features.script.qt.conformance_strip import ConformanceStrip
from subflow_app.features.script.qt.editor import ScriptEditor, problem_line
from subflow_app.features.script.qt.versions import VersionList
from subflow_app.toolkit.theme import muted
from subflow_app.toolkit.widgets.action_buttons import action_buttons
from subflow_app.toolkit.widgets.choice import Choice
from subflow_app.toolkit.widgets.elided_label import ElidedLabel
from subflow_app.toolkit.widgets.empty_state import EmptyState
from subflow_app.toolkit.widgets.find_bar import FindBar
from subflow_app.toolkit.widgets.shorthand import h_box, named, split, v_box
from subflow_app.vocabulary.language import tr
from subflow_sim.errors import Problem
from subflow_sim.script import ScriptProblem

_LEAST = (420, 330)  # px
_SHARES = (3, 1)  # of the text, and of the versions below it


class ScriptPanel(QWidget):
    """Shows a script; who reads, keeps and runs it is its owner's business."""

    chosen = Signal(object)  # ScriptPlace, or None: what has no place yet

    def __init__(
        self,
        actions: Sequence[QAction],
        version_actions: Sequence[QAction],
        new: QAction,
        parent: QWidget | None = None,
    ) -> None:
        """Without a script; ``new`` is offered until there is one."""
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
        self._listed: dict[Problem, ScriptProblem] = {}  # by what is listed
        self.choice.activated.connect(lambda _: self.chosen.emit(self.choice.currentData()))
        self.editor.checked.connect(self.show_problems)
        self.problems.activated.connect(self._go_to)
        self.find_bar.sought.connect(self.editor.seek)
        self.setFocusProxy(self.editor)

    def show_places(self, places: Sequence[ScriptPlace], current: ScriptPlace | None, draft: str = "") -> None:
        """Offers the scripts of the scenario.

        Args:
            places: where they are.
            current: the one that is in the editor.
            draft: name of what is in the editor and is none of them; empty: there is nothing.
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
        """Lists what is wrong, whether it was found in the text or in a run."""
        listed = [Problem("", each.line, "", "", problem_line(each), "") for each in problems]
        self._listed = dict(zip(listed, problems, strict=True))
        self.problems.show_problems(listed)

    def next_problem(self) -> None:
        """Goes to the first problem below the cursor, or to the first one."""
        problems = list(self._listed.values())
        line = self.editor.textCursor().blockNumber() + 1
        below = [problem for problem in problems if problem.line > line]
        for problem in (below or problems)[:1]:
            self.editor.show_line(problem.line, problem.column)

    def minimumSizeHint(self) -> QSize:
        """Room for a few lines."""
        return QSize(*_LEAST)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """The list of problems leaves the most to the text."""
        super().resizeEvent(event)
        self.problems.set_room(2 * event.size().height())

    def _go_to(self, row: Problem) -> None:
        problem = self._listed.get(row)
        if problem is not None:
            self.editor.show_line(problem.line, problem.column)
