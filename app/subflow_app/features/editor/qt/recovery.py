"""Keeps the scenario that is being edited in its recovery file, and offers what an earlier session could not save."""

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

# More banners would leave no room to work; the others are offered by the next start.
_MOST_OFFERED = 4


class Recovery(QObject):
    """Autosave of one window, and its offers to recover."""

    failed = Signal(str)  # unsaved changes cannot be kept: where and why

    def __init__(
        self,
        documents: Documents,
        preferences: Preferences,
        banners: Banners,
        workers: Workers,
        parent: QObject,
        folder: Path | None = None,
    ) -> None:
        """Keeps the document from its first change on; :meth:`offer` looks for what is left of others."""
        super().__init__(parent)
        self._documents = documents
        self._preferences = preferences
        self._banners = banners
        self._workers = workers
        self.folder = folder
        self.takers: dict[str, Callable[[UnsavedText], bool]] = {}
        """Take what is not a scenario, by the suffix of its name; False: the person would rather go on as it is."""
        # Emitted by the thread that writes, heard on the GUI thread.
        self.file = RecoveryFile(self.failed.emit, folder)
        self._base = documents.doc.text
        # An edit is told before its command is on the stack: looked at when both are done.
        self._look = timer(self, self._keep, is_single=True)
        documents.replaced.connect(self._on_replaced)
        documents.edited.connect(self._look.start)
        documents.undo_stack.indexChanged.connect(self._look.start)
        documents.undo_stack.cleanChanged.connect(self._on_clean)
        preferences.changed.connect(self._look.start)

    # ---- keeping ----

    def settle(self) -> None:
        """Waits until the disk has what the window holds."""
        self._look.stop()
        self._keep()
        self.file.settle()

    def close(self, *, keeps_changes: bool) -> None:
        """Ends it: the file goes, unless nobody was asked about the changes in it."""
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
        """Looks in the background for what processes that are gone have left behind, and offers it."""
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
        # Not before this session keeps it: dying in between must not lose it after all.
        self.settle()
        orphan.discard()

    def _show_differences(self, orphan: Orphan) -> None:
        dialog = DifferencesDialog(orphan, self._banners.window())
        dialog.recover_wanted.connect(lambda: self._recover(orphan))
        dialog.discard_wanted.connect(lambda: orphan.discard())  # a slot needs weak references, values have none
        dialog.rejected.connect(lambda: self._offer(orphan))
        open_dialog(dialog)


class DifferencesDialog(QDialog):
    """What recovering would change, line by line."""

    recover_wanted = Signal()
    discard_wanted = Signal()

    def __init__(self, orphan: Orphan, parent: QWidget | None = None) -> None:
        """Shows the differences of ``orphan`` to the file that it belongs to."""
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
        """Colours a line by its mark."""
        if text[:1] in self._formats:
            self.setFormat(0, len(text), self._formats[text[:1]])
