"""The right end of the status bar: how the run goes, the problems of the scenario, the database in use."""

from __future__ import annotations

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtWidgets import QStatusBar, QToolButton, QWidget

from subflow_app.toolkit.database import DatabaseControl
from subflow_app.toolkit.icons import icon
from subflow_app.toolkit.plain_text import as_written
from subflow_app.toolkit.widgets.shorthand import named
from subflow_app.vocabulary.language import tr, trn


class StatusButtons(QObject):
    """Three buttons behind the state of the run."""

    problems_clicked = Signal()
    database_clicked = Signal()
    warnings_clicked = Signal()

    def __init__(self, bar: QStatusBar, run_status: QWidget) -> None:
        """Fills the bar; ``run_status`` comes first."""
        super().__init__(bar)
        bar.setSizeGripEnabled(False)
        self._problems = named(QToolButton(bar), "problems_button")
        self._problems.setStatusTip(tr("Go to the first problem of the scenario"))
        self._problems.clicked.connect(self.problems_clicked)
        self._database = named(QToolButton(bar), "database_button")
        self._database.setStatusTip(tr("Keep runs in another database file from now on"))
        self._database.clicked.connect(self.database_clicked)
        self._warnings = named(QToolButton(bar), "warnings_button")
        self._warnings.setStatusTip(tr("Open the log, which has unread warnings"))
        self._warnings.clicked.connect(self.warnings_clicked)
        self._warnings.hide()
        self._warnings.setIcon(icon("warning", "warning"))
        self._problems.setIcon(icon("error", "error"))
        self._database.setIcon(icon("database", "muted_text"))
        for button in (self._warnings, self._problems, self._database):
            button.setAutoRaise(True)
            button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        for widget in (run_status, self._warnings, self._problems, self._database):
            bar.addPermanentWidget(widget)

    def show_problems(self, count: int) -> None:
        """Says how many problems the scenario has; nothing if it has none."""
        self._problems.setVisible(count > 0)
        self._problems.setText(trn("{count} problem", "{count} problems", count))

    def show_warnings(self, count: int) -> None:
        """Says how many warnings of the log nobody has looked at; nothing if there are none."""
        self._warnings.setVisible(count > 0)
        self._warnings.setText(trn("{count} warning", "{count} warnings", count))

    def show_database(self, database: DatabaseControl) -> None:
        """Says where runs are kept."""
        path, has_store = database.path, database.store is not None
        self._database.setText(path.name if path is not None and has_store else tr("no database"))
        if not has_store:
            tip = tr("Runs stay in memory")
        else:
            tip = str(path) if database.can_write else tr("{path} (read-only)", path=path)
        self._database.setToolTip(as_written(tip))
