"""The editors of single values: a line of text with its unit, a choice, a check box.

Each reports `edited` while it is being changed and `committed` when the change is meant: on Enter, when the focus
leaves, or at once for a choice. None of them touches the document.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence

from PySide6.QtCore import QEvent, QModelIndex, QPersistentModelIndex, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QFocusEvent,
    QFontMetrics,
    QKeyEvent,
    QPainter,
    QPaintEvent,
    QPalette,
    QPen,
    QResizeEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QLineEdit,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)

from subflow_app.features.editor.core.form import FieldOption
from subflow_app.toolkit.theme import current_tokens
from subflow_app.toolkit.widgets.shorthand import Label, as_written, h_box
from subflow_app.vocabulary.language import tr
from subflow_store.recording_texts import folded, unfolded

_TEXT_MARGIN = 3
_FRAME = 14  # px around text and suffix
_CHOICE_INSET, _CHOICE_GAP = 8, 4
_LEAST_CHOICE = 48  # px, of the choice of an end
_SUMMARY_ROLE = Qt.ItemDataRole.UserRole + 1
_SESSIONS = itertools.count(1_000_000)  # apart from those of the canvas


def commit_before_shortcut(
    event: QEvent, handle: Callable[[QEvent], bool], commit: Callable[[], object], *, leaves_undo: bool
) -> bool:
    """Commits an editor before a shortcut of the window acts.

    Args:
        event: of the editor.
        handle: the ordinary handler.
        commit: called first.
        leaves_undo: undo and redo go to the window.
    """
    if event.type() != QEvent.Type.ShortcutOverride or not isinstance(event, QKeyEvent):
        return handle(event)
    key = Qt.Key(event.key())
    with_control = event.modifiers() & ~Qt.KeyboardModifier.ShiftModifier == Qt.KeyboardModifier.ControlModifier
    if with_control and key in (Qt.Key.Key_Z, Qt.Key.Key_Y) and leaves_undo:
        commit()
        event.ignore()
        return False
    handled = handle(event)
    is_command = (with_control and key != Qt.Key.Key_Control) or Qt.Key.Key_F1 <= key <= Qt.Key.Key_F12
    if is_command and not event.isAccepted():
        commit()
    return handled


class TextEditor(QLineEdit):
    """A line of text. `suffix` stands right-aligned inside it: the unit, or what a bare number amounts to."""

    edited = Signal(str)
    committed = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.session = 0
        self.suffix = ""  # what stands at the right edge
        self._has_room = False  # for the suffix
        self._shown = ""
        self._recordings: dict[str, str] = {}  # what those hold of which the hash is shown
        self._is_wrong = False
        self.setTextMargins(_TEXT_MARGIN, 0, 0, 0)
        self.textEdited.connect(lambda text: self.edited.emit(unfolded(text, self._recordings)))
        self.textChanged.connect(self._make_room)
        self.editingFinished.connect(self._commit)

    def set_wrong(self, wrong: bool) -> None:
        """Show with a red frame that the value is not possible."""
        if wrong != self._is_wrong:
            self._is_wrong = wrong
            self.update()

    def set_suffix(self, suffix: str) -> None:
        """Show something at the right edge."""
        if suffix != self.suffix:
            self.suffix = suffix
            self._make_room()
            self.update()

    def show_value(self, text: str) -> None:
        """Show what the file says, unless that is what it said before and the person is typing something else."""
        is_typing = self.hasFocus() and self.text() != self._shown
        if is_typing and text == unfolded(self._shown, self._recordings):
            return
        # Of a long recording the hash is shown: a line takes 32 767 characters, and would give back no more.
        text, self._recordings = folded(text)
        self._shown = text
        if self.text() != text:
            self.setText(text)
            if not self.hasFocus():
                self.setCursorPosition(0)

    @property
    def is_changed(self) -> bool:
        """Whether something is typed that is not in the file yet."""
        return self.text() != self._shown

    def commit(self) -> None:
        """Report what is typed, if it is not in the file yet."""
        self._commit()

    def _commit(self) -> None:
        if self.is_changed and not self.isReadOnly():
            self._shown = self.text()
            self.committed.emit(unfolded(self.text(), self._recordings))

    def _make_room(self) -> None:
        """Keep the text clear of the suffix; in a narrow field the text goes first."""
        metrics = self.fontMetrics()
        width = metrics.horizontalAdvance(self.suffix) + 8
        text = metrics.horizontalAdvance(self.text() or self.placeholderText())
        self._has_room = bool(self.suffix) and text + width + _FRAME <= self.width()
        self.setTextMargins(_TEXT_MARGIN, 0, width if self._has_room else 0, 0)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """See whether there is room for the suffix now."""
        super().resizeEvent(event)
        self._make_room()

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Begin a session: all commits until the focus leaves are one step to undo."""
        self.session = next(_SESSIONS)
        super().focusInEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Escape takes back what is typed."""
        if event.key() == Qt.Key.Key_Escape and self.is_changed:
            self.setText(self._shown)
            self.edited.emit(unfolded(self._shown, self._recordings))
            event.accept()
            return
        super().keyPressEvent(event)

    def event(self, event: QEvent) -> bool:
        """Let shortcuts of the window find what is typed: saving or running means the value that one sees."""
        # While nothing is typed that could be undone here, undo and redo are the document's.
        return commit_before_shortcut(event, super().event, self.commit, leaves_undo=not self.is_changed)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the suffix too."""
        super().paintEvent(event)
        if self._is_wrong:
            paint_error_frame(self)
        if self._has_room:
            painter = QPainter(self)
            painter.setPen(self.palette().color(QPalette.ColorRole.PlaceholderText))
            rect = self.rect().adjusted(0, 0, -8, 0)
            painter.drawText(rect, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, self.suffix)


class ChoiceEditor(QComboBox):
    """One of several values, each with a line about it. A value that is none of them is shown as it is."""

    committed = Signal(object)  # str, or None for the default

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.session = 0
        self._options: tuple[FieldOption, ...] = ()
        self._is_wrong = False
        self.setItemDelegate(_ChoiceDelegate(self))
        self.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.setMinimumContentsLength(6)
        self.setMaxVisibleItems(16)
        # A wheel that scrolls the form must not change values on the way.
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.activated.connect(self._on_activated)

    def show_options(self, options: Sequence[FieldOption], value: str | None) -> None:
        """Offer these values and show the present one; None is the option that stands for the default."""
        listed = list(options)
        if value is not None and all(option.value != value for option in listed):
            listed.append(FieldOption(value, value, tr("not one of the choices")))
        if tuple(listed) != self._options:
            self._options = tuple(listed)
            self.clear()
            for option in listed:
                self.addItem(option.text, option.value)
                self.setItemData(self.count() - 1, option.summary, _SUMMARY_ROLE)
                self.setItemData(
                    self.count() - 1, as_written(option.details or option.summary), Qt.ItemDataRole.ToolTipRole
                )
        index = next((i for i, option in enumerate(listed) if option.value == value), -1)
        self.setCurrentIndex(index)

    def set_wrong(self, wrong: bool) -> None:
        """Show with a red frame that the value is not possible."""
        if wrong != self._is_wrong:
            self._is_wrong = wrong
            self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the red frame too."""
        super().paintEvent(event)
        if self._is_wrong:
            paint_error_frame(self)

    def showPopup(self) -> None:
        """Make the list wide enough for the summaries."""
        metrics = QFontMetrics(self.font())
        widest = max(
            (max(metrics.horizontalAdvance(o.text), metrics.horizontalAdvance(o.summary)) for o in self._options),
            default=0,
        )
        room = self.screen().availableGeometry().width() * 2 // 3
        self.view().setMinimumWidth(min(max(widest + 28, self.width()), room))
        super().showPopup()

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Leave the wheel to the form."""
        event.ignore()

    def _on_activated(self, index: int) -> None:
        self.committed.emit(self.itemData(index))


class PairEditor(QWidget):
    """Two choices side by side, for the ends of a link."""

    committed = Signal(object)  # list of two str

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.session = 0
        self._value: list[str] = ["", ""]
        self._editors = (ChoiceEditor(self), ChoiceEditor(self))
        h_box(self, (self._editors[0], 1), Label("↔", self), (self._editors[1], 1), margins=0, spacing=6)
        for number, (editor, name) in enumerate(zip(self._editors, (tr("First end"), tr("Second end")), strict=True)):
            editor.setMinimumContentsLength(3)
            editor.setMinimumWidth(_LEAST_CHOICE)  # elsewhere the form would be wider than its panel
            editor.setAccessibleName(name)
            editor.setProperty("number", number)
            editor.committed.connect(self._on_committed)

    @property
    def choices(self) -> tuple[ChoiceEditor, ChoiceEditor]:
        """The two choices."""
        return self._editors

    def show_pair(self, options: Sequence[FieldOption], value: Sequence[str]) -> None:
        """Offer these values for both and show the present ones."""
        self._value = list(value)
        for editor, each in zip(self._editors, value, strict=True):
            editor.show_options(options, each)

    def set_wrong(self, wrong: bool) -> None:
        """Show with red frames that the value is not possible."""
        for editor in self._editors:
            editor.set_wrong(wrong)

    def _on_committed(self, chosen: object) -> None:
        number = self.sender().property("number")
        self._value = [str(chosen) if index == number else each for index, each in enumerate(self._value)]
        self.committed.emit(self._value)


class _ChoiceDelegate(QStyledItemDelegate):
    """Draws a choice as two lines: its name, and its summary in the muted colour."""

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        """Draw one choice."""
        tokens = current_tokens()
        metrics = QFontMetrics(option.font)
        is_selected = bool(option.state & QStyle.StateFlag.State_Selected)
        rect: QRect = option.rect
        inside = rect.adjusted(_CHOICE_INSET, _CHOICE_GAP, -_CHOICE_INSET, -_CHOICE_GAP)
        lines = [(str(index.data()), tokens.text), (str(index.data(_SUMMARY_ROLE) or ""), tokens.muted_text)]
        painter.save()
        painter.setFont(option.font)
        if is_selected:
            painter.fillRect(rect, QColor(tokens.highlight))
        for number, (text, colour) in enumerate(lines):
            painter.setPen(QColor(tokens.highlighted_text if is_selected else colour))
            line = QRect(inside.left(), inside.top() + number * metrics.height(), inside.width(), metrics.height())
            elided = metrics.elidedText(text, Qt.TextElideMode.ElideRight, line.width())
            painter.drawText(line, Qt.AlignmentFlag.AlignVCenter, elided)
        painter.restore()

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        """Return two lines' height where there is a summary."""
        metrics = QFontMetrics(option.font)
        summary = str(index.data(_SUMMARY_ROLE) or "")
        width = max(metrics.horizontalAdvance(str(index.data() or "")), metrics.horizontalAdvance(summary))
        height = metrics.height() * (2 if summary else 1)
        return QSize(width + 2 * _CHOICE_INSET, height + 2 * _CHOICE_GAP)


class FlagEditor(QCheckBox):
    """Yes or no; says when it shows a default that the file does not have."""

    committed = Signal(object)  # bool

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.session = 0
        self.clicked.connect(self._on_clicked)

    def _on_clicked(self, checked: bool) -> None:
        self.committed.emit(checked)

    def set_wrong(self, _wrong: bool) -> None:
        """A check box has no frame: the message says it all."""

    def show_flag(self, value: bool | None, default: bool) -> None:
        """Show a value, or the default for None."""
        shown = default if value is None else value
        self.setChecked(shown)
        word = tr("yes") if shown else tr("no")
        self.setText(word if value is not None else tr("{value} (default)", value=word))


def paint_error_frame(widget: QWidget) -> None:
    """Draw a red frame around an editor; the message beside it says the same in words.

    Painted over the editor, because a style sheet would change its size and the form would jump while one types.
    """
    painter = QPainter(widget)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(QPen(QColor(current_tokens().error), 1.6))
    painter.drawRoundedRect(QRectF(widget.rect()).adjusted(0.8, 0.8, -0.8, -0.8), 2.5, 2.5)
