"""Autosaves the open scenario to its recovery file, and offers to recover scenarios from earlier sessions."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QDateTime, QLocale, QObject, Signal
from PySide6.QtGui import QBrush, QColor, QFontDatabase, QSyntaxHighlighter, QTextCharFormat, QTextDocument
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QPlainTextEdit, QWidget

from subflow_app.features.editor.core.recovery import Orphan, RecoveryFile, UnsavedText, find_orphans
from subflow_app.toolkit.dialogs import open_dialog
from subflow_app.toolkit.theme import current_tokens
from subflow_app.toolkit.widgets.banner import Banners, Way
from subflow_app.toolkit.widgets.shorthand import Label, named, timer, v_box
from subflow_app.vocabulary.language import tr

if TYPE_CHECKING:
    from subflow_app.features.editor.qt.documents import Documents
    from subflow_app.toolkit.preferences import Preferences
    from subflow_app.toolkit.workers import Workers

# More banners would leave no room to work; the next start offers the other scenarios.
_MOST_OFFERED = 4


class Recovery(QObject):
    """Autosaves the scenario of one window, and offers to recover others."""

    failed = Signal(str)  # the folder and the reason, if unsaved changes cannot be stored

    def __init__(
        self,
        documents: Documents,
        preferences: Preferences,
        banners: Banners,
        workers: Workers,
        parent: QObject,
        folder: Path | None = None,
    ) -> None:
        """Starts autosave; :meth:`offer` searches for recovery files of earlier sessions."""
        super().__init__(parent)
        self._documents = documents
        self._preferences = preferences
        self._banners = banners
        self._workers = workers
        self.folder = folder
        self.takers: dict[str, Callable[[UnsavedText], bool]] = {}
        """Handlers for unsaved content other than scenarios, by file suffix; they return False if the user declines."""
        # The writing thread emits `failed`; slots receive it on the GUI thread.
        self.file = RecoveryFile(self.failed.emit, folder)
        self._base = documents.doc.text
        # An edit emits its signal before its command is on the stack; the timer runs after both.
        self._look = timer(self, self._keep, is_single=True)
        documents.replaced.connect(self._on_replaced)
        documents.edited.connect(self._look.start)
        documents.undo_stack.indexChanged.connect(self._look.start)
        documents.undo_stack.cleanChanged.connect(self._on_clean)
        preferences.changed.connect(self._look.start)

    # ---- keeping ----

    def settle(self) -> None:
        """Waits until the recovery file holds the unsaved changes, or is removed if nothing needs to be kept."""
        self._look.stop()
        self._keep()
        self.file.settle()

    def close(self, *, keeps_changes: bool) -> None:
        """Ends autosave and removes the file; with ``keeps_changes``, keeps the file if autosave is on."""
        self._look.stop()
        if keeps_changes:
            self._keep()
        self.file.close(keeps_file=keeps_changes)

    def _on_replaced(self) -> None:
        self._base = self._documents.doc.text

    def _on_clean(self, is_clean: bool) -> None:
        if is_clean:
            self._base = self._documents.doc.text
        self._look.start()

    def _keep(self) -> None:
        documents = self._documents
        if documents.is_modified and self._preferences.settings.autosave:
            self.file.keep(UnsavedText(documents.name, documents.doc.path, documents.doc.text, self._base))
        else:
            self.file.drop()

    # ---- offering ----

    def offer(self) -> None:
        """Searches in the background for files of ended processes, and offers them."""
        self._workers.start(
            "recovery", lambda: find_orphans(self.folder), succeeded=self._offer_all, failed=lambda _error: None
        )

    def _offer_all(self, orphans: tuple[Orphan, ...]) -> None:
        for orphan in reversed(orphans[:_MOST_OFFERED]):
            self._offer(orphan)

    def _offer(self, orphan: Orphan) -> None:
        written = QDateTime.fromSecsSinceEpoch(int(orphan.saved_at_s))
        text = tr(
            "Subflow ended without saving {name}; its changes of {time} can be recovered.",
            name=orphan.unsaved.path or orphan.unsaved.name,
            time=QLocale().toString(written, QLocale.FormatType.ShortFormat),
        )
        if orphan.is_outdated:
            text += " " + tr("The file itself was changed since: look at the differences first.")
        ways = [
            Way(tr("Recover"), lambda: self._recover(orphan)),
            Way(tr("Show differences…"), lambda: self._show_differences(orphan)),
            Way(tr("Discard"), orphan.discard),
        ]
        self._banners.show_banner(f"recovery_{orphan.file.stem}", "warning", text, ways)

    def _recover(self, orphan: Orphan) -> None:
        take = self.takers.get(Path(orphan.unsaved.name).suffix, self._documents.recover)
        if not take(orphan.unsaved):
            self._offer(orphan)
            return
        # Discard the file only after this session has stored its content, so that a crash in between loses nothing.
        self.settle()
        orphan.discard()

    def _show_differences(self, orphan: Orphan) -> None:
        dialog = DifferencesDialog(orphan, self._banners.window())
        dialog.recover_wanted.connect(lambda: self._recover(orphan))
        # A lambda, because a slot needs weak references, which the dataclass does not support.
        dialog.discard_wanted.connect(lambda: orphan.discard())
        dialog.rejected.connect(lambda: self._offer(orphan))
        open_dialog(dialog)


class DifferencesDialog(QDialog):
    """Shows the changes that a recovery would make, line by line."""

    recover_wanted = Signal()
    discard_wanted = Signal()

    def __init__(self, orphan: Orphan, parent: QWidget | None = None) -> None:
        """Shows the differences between ``orphan`` and its file."""
        super().__init__(parent)
        self.setObjectName("differences_dialog")
        self.setWindowTitle(tr("Unsaved changes of {name}", name=orphan.unsaved.name))
        self.resize(720, 480)
        label = Label(
            tr("Lines with - are in the file now, lines with + were not saved. Undo reverts a recovery."),
            self,
        )
        label.setWordWrap(True)
        self.text = named(QPlainTextEdit(orphan.differences(), self, readOnly=True), "differences", tr("Differences"))
        self.text.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.text.setFont(QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont))
        self._colours = _DiffColours(self.text.document())
        buttons = QDialogButtonBox(self)
        recover = buttons.addButton(tr("Recover"), QDialogButtonBox.ButtonRole.AcceptRole)
        discard = buttons.addButton(tr("Discard"), QDialogButtonBox.ButtonRole.DestructiveRole)
        buttons.addButton(tr("Decide later"), QDialogButtonBox.ButtonRole.RejectRole)
        recover.setDefault(True)
        buttons.accepted.connect(self.accept)
        buttons.rejected.connect(self.reject)
        discard.clicked.connect(lambda: self.done(QDialog.DialogCode.Accepted + 1))
        self.finished.connect(self._on_finished)
        v_box(self, label, self.text, buttons)

    def _on_finished(self, result: int) -> None:
        if result == QDialog.DialogCode.Accepted:
            self.recover_wanted.emit()
        elif result > QDialog.DialogCode.Accepted:
            self.discard_wanted.emit()


class _DiffColours(QSyntaxHighlighter):
    def __init__(self, document: QTextDocument) -> None:
        super().__init__(document)
        tokens = current_tokens()
        self._formats = {"+": QTextCharFormat(), "-": QTextCharFormat(), "@": QTextCharFormat()}
        for mark, colour in (("+", tokens.ok), ("-", tokens.error), ("@", tokens.muted_text)):
            self._formats[mark].setForeground(QBrush(QColor(colour)))

    def highlightBlock(self, text: str) -> None:
        """Colour a line by its first character."""
        if text[:1] in self._formats:
            self.setFormat(0, len(text), self._formats[text[:1]])
