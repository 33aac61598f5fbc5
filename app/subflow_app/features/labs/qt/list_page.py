"""Page of all labs: a table with progress, a description, and buttons to begin or continue a lab.

The page can also write a lab as a web page.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QItemSelection, Qt, Signal
from PySide6.QtGui import QPalette
from PySide6.QtWidgets import (
    QHeaderView,
    QPushButton,
    QScrollArea,
    QTableView,
    QWidget,
)

from subflow_app.features.exporting.core.lab_page import check_page, write_lab_page
from subflow_app.features.exporting.core.web_page import is_offered
from subflow_app.features.labs.core.lab import Lab
from subflow_app.features.labs.core.progress import ProgressFolder, other_text_notice
from subflow_app.foundation.errors import AppError
from subflow_app.foundation.resources import resource_path
from subflow_app.toolkit.widgets.shorthand import Label, h_box, named, v_box
from subflow_app.toolkit.widgets.tables import TableModel, set_up_table
from subflow_app.vocabulary.language import tr, translatable
from subflow_app.vocabulary.tables import Column

if TYPE_CHECKING:
    from subflow_app.features.exporting.qt.exporting import Exports


LEVELS = {
    "beginner": translatable("beginner"),
    "intermediate": translatable("intermediate"),
    "advanced": translatable("advanced"),
}


@dataclass(frozen=True, slots=True)
class ListedLab:
    """A lab in the list.

    Attributes:
        lab: the lab.
        passed: number of passed steps; None if the lab was not begun, or was begun with another version of its file.
        other_text: notice that the progress belongs to a different version; empty otherwise.
    """

    lab: Lab
    passed: int | None
    other_text: str = ""

    @classmethod
    def of(cls, lab: Lab, folder: ProgressFolder) -> ListedLab:
        """A lab with its stored progress."""
        progress = folder.peek(lab.name)
        other_text = other_text_notice(lab, progress)
        return cls(lab, None if progress is None or other_text else progress.passed(lab), other_text)


def _done(listed: ListedLab) -> str:
    steps = len(listed.lab.steps)
    return "" if listed.passed is None else "✓" if listed.passed == steps else f"{listed.passed} / {steps}"


COLUMNS: tuple[Column[ListedLab], ...] = (
    Column(translatable("No."), lambda listed: listed.lab.number, widest="00"),
    Column(translatable("Lab"), lambda listed: listed.lab.title),
    Column(translatable("Done"), _done, widest="0 / 00"),
    Column(translatable("Minutes"), lambda listed: listed.lab.minutes),
)


class LabListPage(QWidget):
    """The list from which the student chooses a lab."""

    begin_wanted = Signal(str, bool)  # name of the lab, whether to begin again
    open_wanted = Signal()
    page_wanted = Signal(str)  # name of the lab

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("lab_list_page")
        self.model: TableModel[ListedLab] = TableModel(COLUMNS, self, tip=lambda listed: "\n".join(listed.lab.goals))
        self.table = QTableView(self, wordWrap=True)
        set_up_table(self.table, "lab_table", tr("Labs"), self.model, style=None, is_single=True)
        header = self.table.horizontalHeader()
        header.setStretchLastSection(False)
        header.setSectionResizeMode(1, QHeaderView.ResizeMode.Stretch)
        self.table.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        self.about = named(Label(self, wordWrap=True, textFormat=Qt.TextFormat.MarkdownText), "lab_about")
        self.about.setAlignment(Qt.AlignmentFlag.AlignTop)
        # The description scrolls in an area of its own, so that long goals leave enough height for the list.
        area = named(QScrollArea(self, widgetResizable=True), "lab_about_scroll", tr("Description of the lab"))
        area.setFrameShape(area.Shape.NoFrame)
        area.setWidget(self.about)
        self.other_text = named(Label(self, wordWrap=True), "lab_other_text")
        self.other_text.setForegroundRole(QPalette.ColorRole.BrightText)
        self.notice = named(Label(self, wordWrap=True), "lab_list_notice")
        self.notice.setForegroundRole(QPalette.ColorRole.BrightText)
        self.notice.hide()
        self.begin = named(QPushButton(tr("Begin"), self), "lab_begin")
        self.anew = named(QPushButton(tr("Begin anew"), self), "lab_anew")
        self.anew.setToolTip(tr("Begin this lab from its first step; a file keeps your earlier work"))
        self.open = named(QPushButton(tr("Open a lab file…"), self), "lab_open")
        self.open.setToolTip(tr("A lab that a lecturer has handed out, or one of your own"))
        self.page = named(QPushButton(tr("Save as web page…"), self), "lab_page")
        self.page.setToolTip(tr("Students do it in a browser, without Subflow and without a network"))
        self.page.setVisible(is_offered())
        # Two rows, because in German one row would be wider than the panel.
        buttons = v_box(None, h_box(None, self.begin, self.anew, None), h_box(None, self.page, self.open, None))
        v_box(self, (self.table, 3), (area, 2), self.other_text, self.notice, buttons, margins=10)
        self.setFocusProxy(self.table)
        self.table.selectionModel().selectionChanged.connect(self._on_selected)
        self.table.activated.connect(lambda _index: self._on_begin())
        self.begin.clicked.connect(self._on_begin)
        self.open.clicked.connect(self.open_wanted)
        self.page.clicked.connect(self._on_page)
        self.anew.clicked.connect(lambda: self._want(is_anew=True))
        self._show_selected()

    @property
    def selected(self) -> ListedLab | None:
        """The selected lab; None if no lab is selected."""
        rows = self.table.selectionModel().selectedRows()
        return self.model.rows[rows[0].row()] if rows else None

    def show_labs(self, labs: Sequence[ListedLab]) -> None:
        """Lists labs and keeps the selection, or else selects a lab in progress, or else the first unfinished lab."""
        before = self.selected
        self.model.show_rows(labs)
        names = [listed.lab.name for listed in labs]
        if before is not None and before.lab.name in names:
            self.table.selectRow(names.index(before.lab.name))
        elif labs:
            open_rows = [row for row, each in enumerate(labs) if (each.passed or 0) < len(each.lab.steps)]
            begun = [row for row in open_rows if labs[row].passed is not None]
            self.table.selectRow((begun or open_rows or [0])[0])
        self._show_selected()

    def select(self, name: str) -> None:
        """Selects a lab in the list."""
        self.table.selectRow([listed.lab.name for listed in self.model.rows].index(name))

    def say(self, text: str) -> None:
        """Shows a notice above the buttons; an empty text hides it."""
        self.notice.setText(text)
        self.notice.setVisible(bool(text))

    def _on_selected(self, _selected: QItemSelection, _deselected: QItemSelection) -> None:
        self.say("")
        self._show_selected()

    def _show_selected(self) -> None:
        listed = self.selected
        is_begun = listed is not None and listed.passed is not None
        self.about.setText("" if listed is None else _about(listed.lab))
        is_finished = is_begun and listed is not None and listed.passed == len(listed.lab.steps)
        self.begin.setText(tr("Look back") if is_finished else tr("Continue") if is_begun else tr("Begin"))
        self.begin.setEnabled(listed is not None and not listed.lab.missing)
        other_text = "" if listed is None else listed.other_text
        anew = tr("“Begin anew” starts at its first step; a file keeps your earlier work.")
        self.other_text.setText(f"{other_text} {anew}")
        self.other_text.setVisible(bool(other_text))
        self.begin.setVisible(not other_text)
        self.anew.setVisible(is_begun or bool(other_text))
        self.page.setEnabled(listed is not None)

    def _on_page(self) -> None:
        if self.selected is not None:
            self.page_wanted.emit(self.selected.lab.name)

    def _on_begin(self) -> None:
        self._want(is_anew=False)

    def _want(self, *, is_anew: bool) -> None:
        listed = self.selected
        if listed is not None and not listed.lab.missing:
            self.begin_wanted.emit(listed.lab.name, is_anew)


def _about(lab: Lab) -> str:
    goals = "\n".join(f"- {goal}" for goal in lab.goals)
    missing = tr("This lab trains agents, which needs PyTorch: install Subflow with its extra “train”.")
    facts = f"{tr('Minutes')}: {lab.minutes} · {tr('Level')}: {tr(LEVELS[lab.level])}"
    is_shipped = resource_path("labs") in lab.path.parents
    head = f"**{lab.title}**" if is_shipped else f"**{lab.title}** ({lab.path.name})"
    return "\n\n".join(part for part in (head, facts, goals, missing if lab.missing else "") if part)


def ask_lab_page(exports: Exports, lab: Lab, say: Callable[[str], object], *, key: str) -> None:
    """Asks for a path, and writes the web page in the background.

    Args:
        exports: asks for the path, writes the file, and reports the result.
        lab: the lab.
        say: shows an error if the lab cannot become a web page.
        key: key of the course; may be empty.
    """
    try:
        check_page(lab)
    except AppError as error:
        say(str(error))
    else:
        exports.ask_page(lab.name, lambda path: write_lab_page(lab, path, key=key))
