"""Dialog that grades a class: reads a folder of results, and shows a table of students with their anomalies."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QDialog, QLineEdit, QPlainTextEdit, QPushButton, QTableView, QWidget

from subflow_app.features.labs.core.grading import COLUMNS, Grade, class_csv, grade_class, result_files, steps_csv
from subflow_app.features.labs.core.lab_file import load_lab
from subflow_app.foundation.files import write_file
from subflow_app.toolkit.widgets.shorthand import Label, h_box, named, v_box
from subflow_app.toolkit.widgets.tables import TableModel, set_up_table
from subflow_app.vocabulary.language import tr

if TYPE_CHECKING:
    from collections.abc import Callable

    from subflow_app.features.exporting.qt.exporting import Exports
    from subflow_app.toolkit.dialogs import Dialogs
    from subflow_app.toolkit.workers import Workers


class ClassDialog(QDialog):
    """Dialog that grades a class. It is not modal, so that the lecturer can open runs and labs while it is open."""

    def __init__(self, dialogs: Dialogs, workers: Workers, exports: Exports, parent: QWidget) -> None:
        super().__init__(parent)
        named(self, "lab_class", tr("Grade a class"))
        self.setWindowTitle(tr("Grade a class"))
        self.resize(1000, 600)
        self._dialogs = dialogs
        self._workers = workers
        self._exports = exports
        self._lab: Path | None = None
        self.grades: list[Grade] = []
        about = Label(
            tr(
                "The check proves that the runs are real and meet the steps. It proves nothing about the author, "
                "with or without a course key, nor that students did not share the answers."
            ),
            self,
            wordWrap=True,
        )
        self.lab = named(QPushButton(tr("Lab that you handed out…"), self), "lab_class_lab")
        self.lab_name = Label(tr("a shipped one"), self)
        self.key = named(QLineEdit(self), "lab_class_key", tr("Course key"))
        self.key.setEchoMode(QLineEdit.EchoMode.Password)
        self.key.setPlaceholderText(tr("Course key"))
        self.key.setMaximumWidth(220)
        self.folder = named(QPushButton(tr("Folder of results…"), self), "lab_class_folder")
        self.csv = named(QPushButton(tr("Write CSV…"), self), "lab_class_csv")
        self.steps = named(QPushButton(tr("Write CSV of all steps…"), self), "lab_class_steps")
        self.model: TableModel[Grade] = TableModel(COLUMNS, self, tip=lambda grade: "\n".join(grade.anomalies) or None)
        self.table = set_up_table(QTableView(self), "lab_class_table", tr("Students"), self.model, is_single=True)
        self.table.selectionModel().selectionChanged.connect(lambda *_: self._show_selected())
        self.odd = named(QPlainTextEdit(self, readOnly=True), "lab_class_odd", tr("Oddities"))
        self.said = named(Label(self, wordWrap=True), "lab_class_said")
        v_box(
            self,
            about,
            h_box(None, self.lab, self.lab_name, None, self.key, self.folder),
            (self.table, 3),
            (self.odd, 1),
            h_box(None, (self.said, 1), self.steps, self.csv),
            margins=12,
        )
        self.lab.clicked.connect(self._choose_lab)
        self.folder.clicked.connect(self._choose_folder)
        self.csv.clicked.connect(lambda: self._write("class.csv", class_csv))
        self.steps.clicked.connect(lambda: self._write("steps.csv", steps_csv))
        self._show([])
        self._say(tr("Choose the lab that you handed out and enter its key, then choose the folder."))

    def _choose_lab(self) -> None:
        path = self._dialogs.open_path(self.lab.text(), tr("Labs (*.md)"), None)
        if path is not None:
            self._lab = path
            self.lab_name.setText(path.name)

    def _choose_folder(self) -> None:
        folder = self._dialogs.folder(self.folder.text(), None)
        if folder is None:
            return
        lab, key = self._lab, self.key.text()

        def work() -> list[Grade]:
            return grade_class(result_files(folder), None if lab is None else load_lab(lab), key=key)

        self.folder.setEnabled(False)
        self._say(tr("Simulating the runs of all results again …"))
        self._workers.start("class", work, succeeded=self._show, failed=self._on_failed)

    def _show(self, grades: list[Grade]) -> None:
        self.grades = grades
        self.model.show_rows(grades)
        self.table.resizeColumnsToContents()
        self.folder.setEnabled(True)
        for button in (self.csv, self.steps):
            button.setEnabled(bool(grades))
        self._say("")
        self._show_selected()

    def _show_selected(self) -> None:
        rows = self.table.selectionModel().selectedRows()
        shown = [self.grades[row.row()] for row in rows] or self.grades
        lines = [f"{grade.student or grade.file}: {anomaly}" for grade in shown for anomaly in grade.anomalies]
        self.odd.setPlainText("\n".join(lines) or (tr("No oddities.") if shown else ""))

    def _on_failed(self, error: Exception) -> None:
        self._show([])
        self._say(str(error))

    def _write(self, name: str, text: Callable[[list[Grade]], str]) -> None:
        path = self._exports.ask_path(tr("Write CSV"), tr("CSV (*.csv)"), name)
        if path is not None:
            self._exports.write(path, lambda: write_file(path, text(self.grades)))

    def _say(self, text: str) -> None:
        self.said.setText(text)
