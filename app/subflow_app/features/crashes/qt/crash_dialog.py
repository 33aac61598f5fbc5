"""Dialog that lists stored crash reports, to read, copy or delete them."""

from __future__ import annotations

from PySide6.QtCore import QDateTime, QLocale, Qt, QUrl
from PySide6.QtGui import QDesktopServices, QFontDatabase, QGuiApplication
from PySide6.QtWidgets import (
    QCheckBox,
    QDialog,
    QDialogButtonBox,
    QListView,
    QPlainTextEdit,
    QSplitter,
    QWidget,
)

from subflow_app.foundation.crash_reports import CrashReport, crash_reports, remove_report, with_scenario
from subflow_app.foundation.paths import crash_directory
from subflow_app.toolkit.widgets.empty_state import EmptyState
from subflow_app.toolkit.widgets.shorthand import Label, named, pages, split, v_box
from subflow_app.toolkit.widgets.tables import ListModel
from subflow_app.vocabulary.language import tr

_EMPTY, _REPORTS = 0, 1


class CrashDialog(QDialog):
    """A list of the reports, the latest first, with the text of the selected report."""

    def __init__(self, scenario: str, parent: QWidget | None = None) -> None:
        """``scenario`` is the text of the open scenario, which a report includes only if the person ticks the box."""
        super().__init__(parent)
        self.setObjectName("crash_dialog")
        self.setWindowTitle(tr("Crash reports"))
        self.resize(820, 620)
        self._scenario = scenario
        promise = Label(
            tr(
                "When Subflow shows a bug or crashes, it writes a report to this computer and sends nothing. Read a "
                "report, copy it, and send it by hand if you want the bug fixed. Your name, your home folder and "
                "your scenario are not in it."
            ),
            self,
        )
        promise.setWordWrap(True)
        self.model = ListModel(_line, self, tip=lambda report: str(report.file))
        self.list = named(QListView(self), "crash_list", tr("Crash reports"))
        self.list.setModel(self.model)
        self.list.setAlternatingRowColors(True)
        self.text = named(QPlainTextEdit(self, readOnly=True), "crash_text", tr("Text of the report"))
        self.text.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.text.setFont(QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont))
        parts = split(QSplitter(Qt.Orientation.Vertical, self), self.list, self.text, sizes=[140, 400])
        empty = EmptyState("ok", tr("No crash reports"), tr("Subflow has neither shown a bug nor crashed."))
        self._pages = pages(self, empty, parts)
        self.with_scenario = QCheckBox(tr("Add the scenario that is open now"), self)
        self.with_scenario.toggled.connect(self._show_text)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close, self)
        self.copy = buttons.addButton(tr("Copy"), QDialogButtonBox.ButtonRole.ActionRole)
        self.open_folder = buttons.addButton(tr("Open folder"), QDialogButtonBox.ButtonRole.ActionRole)
        self.delete = buttons.addButton(tr("Delete"), QDialogButtonBox.ButtonRole.ActionRole)
        self.copy.clicked.connect(lambda: QGuiApplication.clipboard().setText(self.text.toPlainText()))
        self.open_folder.clicked.connect(lambda: QDesktopServices.openUrl(QUrl.fromLocalFile(str(crash_directory()))))
        self.delete.clicked.connect(self._delete)
        buttons.rejected.connect(self.reject)
        self.list.selectionModel().currentChanged.connect(self._show_text)
        v_box(self, promise, (self._pages, 1), self.with_scenario, buttons)
        self._list(0)

    def show_report(self, report: CrashReport) -> None:
        """Selects a report, or the latest one if the report no longer exists."""
        row = next((row for row, each in enumerate(self.model.rows) if each.file == report.file), 0)
        self.list.setCurrentIndex(self.model.index(row, 0))

    def _list(self, row: int) -> None:
        """Reads the folder again and selects the report in this row, or the last report."""
        self.model.show_rows(crash_reports())
        has_reports = bool(self.model.rows)
        self._pages.setCurrentIndex(_REPORTS if has_reports else _EMPTY)
        for part in (self.copy, self.open_folder, self.delete, self.with_scenario):
            part.setEnabled(has_reports)
        self.list.setCurrentIndex(self.model.index(min(row, len(self.model.rows) - 1), 0))
        self._show_text()

    def _show_text(self) -> None:
        index = self.list.currentIndex()
        if not index.isValid():
            self.text.clear()
            return
        try:
            text = self.model.rows[index.row()].text()
        except OSError as error:
            text = tr("The report cannot be read: {reason}", reason=error.strerror or error)
        self.text.setPlainText(with_scenario(text, self._scenario) if self.with_scenario.isChecked() else text)

    def _delete(self) -> None:
        index = self.list.currentIndex()
        if index.isValid():
            remove_report(self.model.rows[index.row()])
            self._list(index.row())


def _line(report: CrashReport) -> str:
    written = QDateTime.fromSecsSinceEpoch(int(report.happened_at_s))
    return f"{QLocale().toString(written, QLocale.FormatType.ShortFormat)}   {report.title}"
