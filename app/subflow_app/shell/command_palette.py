"""The command palette: fuzzy search over actions, panels, files and runs.

A title matches a word if it contains the letters of the word in order; other texts must contain the whole word.
Matches at the beginnings of words rank highest.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeVar

from PySide6.QtCore import QEvent, QModelIndex, QObject, QPersistentModelIndex, QRect, QSize, Qt
from PySide6.QtGui import QColor, QKeyEvent, QKeySequence, QPainter, QPalette
from PySide6.QtWidgets import (
    QApplication,
    QDialog,
    QLineEdit,
    QListView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)

from subflow_app.foundation.resources import scenario_names
from subflow_app.shell.menus import MENUS, SUBMENUS
from subflow_app.toolkit.icons import icon
from subflow_app.toolkit.theme import current_tokens
from subflow_app.toolkit.widgets.shorthand import Label, named, v_box
from subflow_app.toolkit.widgets.tables import ROW_ROLE, ListModel
from subflow_app.toolkit.workspaces import PANELS
from subflow_app.vocabulary.language import tr
from subflow_sim.gate import is_there

if TYPE_CHECKING:
    from subflow_app.features.editor.qt.documents import Documents
    from subflow_app.features.history.qt import History
    from subflow_app.features.running.qt.shown_runs import ShownRuns
    from subflow_app.toolkit.action_bar import ActionBar
    from subflow_app.toolkit.database import DatabaseControl
    from subflow_app.toolkit.docks import Docks
    from subflow_app.toolkit.preferences import Preferences


T = TypeVar("T")

# Points for a letter that matches directly after the preceding letter, at the beginning of a word, or anywhere else.
_IN_SEQUENCE, _AT_WORD, _ELSEWHERE = 8, 7, 1
# A match in the second text of an entry scores half as much as in the first, and in the third a quarter.
_LATER_TEXT = 0.5


def rank(query: str, entries: Iterable[T], texts: Callable[[T], Sequence[str]]) -> list[T]:
    """The matching entries, best first; entries with equal scores keep their order.

    Args:
        query: search words; each must match in some text of an entry.
        entries: the entries to search.
        texts: returns the texts of an entry, the most important first.
    """
    words = query.lower().split()
    scored = []
    for entry in entries:
        lowered = [text.lower() for text in texts(entry)]
        score = 0.0
        for word in words:
            best = max(_score(word, text, is_title=n == 0) * _LATER_TEXT**n for n, text in enumerate(lowered))
            if best == 0:
                break
            score += best
        else:
            # At equal scores, the shorter title is closer to the query.
            scored.append((score - 0.01 * len(lowered[0]) * bool(words), entry))
    return [entry for _score, entry in sorted(scored, key=lambda pair: -pair[0])]


def _score(word: str, text: str, *, is_title: bool) -> float:
    """Score of a word in a text; 0 if it does not match."""
    whole = text.find(word)
    if whole >= 0:
        begins = whole == 0 or not text[whole - 1].isalnum()
        # A contiguous match is better than scattered letters, and best at the beginning of a title.
        return _IN_SEQUENCE * (2.2 if is_title and whole == 0 else 2.0 if begins else 1.4) + len(word)
    if not is_title:
        # Scattered letters are no evidence in a long text, which contains most letters in any order.
        return 0.0
    points, at, before = 0, 0, -2
    for letter in word:
        found = text.find(letter, at)
        beginning = _next_beginning(text, letter, at)
        if found < 0:
            return 0.0
        if found != before + 1 and beginning >= 0:
            found = beginning
        if found == before + 1:
            points += _IN_SEQUENCE
        else:
            points += _AT_WORD if beginning == found else _ELSEWHERE
        before, at = found, found + 1
    mean = points / len(word)
    # A low mean means scattered letters, which match nearly every text.
    return mean if mean >= 0.5 * _AT_WORD else 0.0


def _next_beginning(text: str, letter: str, at: int) -> int:
    """Position of the next word that begins with this letter; -1 if none does."""
    while (at := text.find(letter, at)) >= 0:
        if at == 0 or not text[at - 1].isalnum():
            return at
        at += 1
    return -1


_MOST_RUNS = 500
_ROWS_SHOWN = 11
_WIDTH = 640


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry of the palette.

    Attributes:
        title: name of the action, panel, file or run.
        path: menu path of an action; the kind of any other entry.
        keys: shortcut; may be empty.
        icon_name: name of the icon.
        words: further text to search.
        run: function that carries out the entry.
        refusal: reason why it cannot be carried out now; empty if it can.
    """

    title: str
    path: str
    keys: str
    icon_name: str
    words: str
    run: Callable[[], object]
    refusal: str = ""


class PalettePorts(Protocol):
    """Parts of the window with entries for the palette."""

    bar: ActionBar
    docks: Docks
    documents: Documents
    preferences: Preferences
    database: DatabaseControl
    history: History
    shown: ShownRuns


def entries_of(ports: PalettePorts) -> list[Entry]:
    """All current entries: actions, panels, files and runs."""
    return [
        *_actions(ports.bar),
        *_panels(ports.docks),
        *_files(ports.documents, ports.preferences),
        *_runs(ports.database, ports.history, ports.shown),
    ]


class CommandPalette(QDialog):
    """A search field with the matching entries; Enter runs the chosen one."""

    def __init__(self, entries: Sequence[Entry], window: QWidget) -> None:
        """Show these entries, at the top of ``window``."""
        super().__init__(window, Qt.WindowType.Dialog | Qt.WindowType.FramelessWindowHint)
        self.setObjectName("command_palette")
        self.setWindowTitle(tr("Command palette"))
        self.model = _Entries(entries, self)
        self.search = named(QLineEdit(self, clearButtonEnabled=True), "palette_search", tr("Command"))
        self.search.setPlaceholderText(tr("Type what you want to do or open…"))
        self.list = named(QListView(self), "palette_entries", tr("Matching commands"))
        self.list.setModel(self.model)
        self.list.setItemDelegate(_Delegate(self.list))
        self.list.setUniformItemSizes(True)
        # The search field keeps the keyboard focus, and its arrow keys move the selection.
        self.list.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.hint = named(Label(self, wordWrap=True), "palette_hint")
        v_box(self, self.search, self.list, self.hint, margins=8)
        tokens = current_tokens()
        self.setStyleSheet(f"#command_palette {{ background: {tokens.window}; border: 1px solid {tokens.border}; }}")
        self.search.textChanged.connect(self._on_typed)
        self.search.returnPressed.connect(self._run_chosen)
        self.search.installEventFilter(self)
        self.list.clicked.connect(self._run_chosen)
        self.list.selectionModel().currentChanged.connect(self._show_hint)
        self._on_typed("")
        width = min(_WIDTH, window.width() - 40)
        row = self.list.sizeHintForRow(0)
        height = row * _ROWS_SHOWN + self.search.sizeHint().height() + 3 * self.fontMetrics().height() + 24
        self.resize(width, min(height, window.height() - 60))
        self.move(window.mapToGlobal(QRect(0, 0, window.width(), 0).center()).x() - width // 2, window.y() + 60)

    def chosen(self) -> Entry | None:
        """The entry that Enter would run; None if no entry matches."""
        entry: Entry | None = self.list.currentIndex().data(ROW_ROLE)
        return entry

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Pass the keys that move the selection to the list."""
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            moves = (Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_PageUp, Qt.Key.Key_PageDown)
            if event.key() in moves:
                QApplication.sendEvent(self.list, event)
                return True
        return super().eventFilter(watched, event)

    def _on_typed(self, query: str) -> None:
        self.model.search(query)
        self.list.setCurrentIndex(self.model.index(0, 0))
        if not self.model.rowCount():
            self.hint.setText(tr("Nothing matches. Try fewer letters, or another word for it."))

    def _show_hint(self, current: QModelIndex) -> None:
        entry: Entry | None = current.data(ROW_ROLE)
        if entry is not None:
            self.hint.setText(tr("Not now: {reason}.", reason=entry.refusal) if entry.refusal else entry.words)

    def _run_chosen(self) -> None:
        entry = self.chosen()
        if entry is None or entry.refusal:
            return
        # Close first, because the entry may open a dialog or move the focus.
        self.accept()
        entry.run()


class _Entries(ListModel[Entry]):
    def __init__(self, entries: Sequence[Entry], parent: QObject) -> None:
        super().__init__(lambda entry: entry.title, parent)
        # At equal scores, entries that can run now come first.
        self._all = sorted(entries, key=lambda entry: bool(entry.refusal))
        self.rows = self._all

    def search(self, query: str) -> None:
        self.show_rows(rank(query, self._all, lambda entry: (entry.title, f"{entry.path} {entry.words}")))

    def other_data(self, row: Entry, column: int, role: int) -> str | None:
        if role != Qt.ItemDataRole.AccessibleTextRole:
            return None
        return ", ".join(filter(None, (row.title, row.path, row.keys, row.refusal)))


class _Delegate(QStyledItemDelegate):
    """Draws icon, title and path at the left, and the shortcut at the right."""

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        return QSize(0, option.fontMetrics.height() + 12)

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        entry: Entry = index.data(ROW_ROLE)
        tokens = current_tokens()
        is_chosen = bool(option.state & QStyle.StateFlag.State_Selected)
        painter.save()
        if is_chosen:
            painter.fillRect(option.rect, QColor(tokens.highlight))
        faded = option.palette.color(QPalette.ColorGroup.Disabled, QPalette.ColorRole.Text).name()
        title = tokens.highlighted_text if is_chosen else faded if entry.refusal else tokens.text
        beside = tokens.highlighted_text if is_chosen else faded if entry.refusal else tokens.muted_text
        rect = option.rect.adjusted(8, 0, -8, 0)
        side = option.fontMetrics.height()
        icon(entry.icon_name, title).paint(painter, QRect(rect.left(), rect.center().y() - side // 2, side, side))
        rect.setLeft(rect.left() + side + 8)
        metrics = option.fontMetrics
        painter.setPen(QColor(beside))
        painter.drawText(rect, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, entry.keys)
        rect.setRight(rect.right() - metrics.horizontalAdvance(entry.keys) - 12)
        text = metrics.elidedText(entry.title, Qt.TextElideMode.ElideMiddle, rect.width())
        painter.setPen(QColor(title))
        painter.drawText(rect, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, text)
        rect.setLeft(rect.left() + metrics.horizontalAdvance(text) + 10)
        painter.setPen(QColor(beside))
        path = metrics.elidedText(entry.path, Qt.TextElideMode.ElideRight, max(0, rect.width()))
        painter.drawText(rect, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, path)
        painter.restore()


def _actions(bar: ActionBar) -> Iterator[Entry]:
    paths = _menu_paths()
    for spec in bar.specs:
        if spec.id == "help.palette":
            continue
        action = bar[spec.id]
        yield Entry(
            action.text().replace("&", "").rstrip("…"),
            paths[spec.id],
            action.shortcut().toString(QKeySequence.SequenceFormat.NativeText),
            spec.icon,
            f"{tr(spec.tip)} ({spec.id})",
            action.trigger,
            tr(refusal) if (refusal := spec.refusal(bar.state)) else "",
        )


def _menu_paths() -> dict[str, str]:
    """Menu path of each action, e.g. ``View › Plots › Interval plots``."""
    paths: dict[str, str] = {}

    def note(entries: Sequence[str], above: str) -> None:
        for entry in entries:
            if entry[0] == ">":
                title = entry[1:]
                note(SUBMENUS.get(title, ()), f"{above} › {tr(title).replace('&', '')}")
            else:
                paths[entry] = above

    for title, entries in MENUS.items():
        note(entries, tr(title).replace("&", ""))
    return paths


def _panels(docks: Docks) -> Iterator[Entry]:
    for name, (title, icon_name, _shortcut) in PANELS.items():
        yield Entry(
            tr("Go to {panel}", panel=tr(title)),
            tr("Panel"),
            "",
            icon_name,
            tr("Open the panel and put the keyboard there"),
            lambda name=name: docks.go_to(name),  # type: ignore[misc]
        )


def _files(documents: Documents, preferences: Preferences) -> Iterator[Entry]:
    for file in preferences.settings.recent_files:
        yield Entry(
            Path(file).name,
            tr("Recent file"),
            "",
            "recent",
            file,
            lambda file=file: documents.open(file),  # type: ignore[misc]
            "" if is_there(Path(file)) else tr("the file is gone"),
        )
    for name in scenario_names():
        yield Entry(
            name,
            tr("Example"),
            "",
            "example",
            tr("Open a copy of this shipped scenario"),
            lambda name=name: documents.open_example(name),  # type: ignore[misc]
        )


def _runs(database: DatabaseControl, history: History, shown: ShownRuns) -> Iterator[Entry]:
    store = database.store
    if store is None:
        return
    for row in history.runs()[:_MOST_RUNS]:
        yield Entry(
            row.name,
            tr("Run {number}", number=row.id),
            "",
            "plots",
            f"{row.scenario_name} · {row.controllers} · {tr('Show it in the plots')}",
            lambda run=row.id: shown.show_stored(store, [run]),  # type: ignore[misc]
        )
