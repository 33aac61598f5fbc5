"""Editors of individual values: a line of text with its unit, a choice, a check box.

An editor emits `committed` when a change is complete: on Enter, on loss of focus, or immediately for a choice. A text
editor also emits `edited` while the user types. No editor changes the document.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence

from PySide6.QtCore import QEvent, QModelIndex, QPersistentModelIndex, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QFocusEvent,
    QFontMetrics,
    QHelpEvent,
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
    QPushButton,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionComboBox,
    QStyleOptionFrame,
    QStyleOptionViewItem,
    QStylePainter,
    QToolTip,
    QWidget,
)

from subflow_app.features.editor.core.form import FieldOption
from subflow_app.toolkit.icons import icon
from subflow_app.toolkit.theme import current_tokens, set_style
from subflow_app.toolkit.widgets.shorthand import Label, as_written, h_box
from subflow_app.vocabulary.language import tr
from subflow_store.recording_texts import folded, unfolded

_TEXT_MARGIN = 3
_CURSOR = 6  # px that a line of text keeps free around its text
_INSET = 8  # px that a style keeps free around the text of a choice
_CHOICE_INSET, _CHOICE_GAP = 8, 4
_LEAST_CHOICE = 48  # px; minimum width of the combo box for each end of a link
_PATHS_MARGIN = 44  # px beside the text of a button: its icon and its frame
_SUMMARY_ROLE = Qt.ItemDataRole.UserRole + 1
_SESSIONS = itertools.count(1_000_000)  # distinct from the sessions of the canvas


def commit_before_shortcut(
    event: QEvent, handle: Callable[[QEvent], bool], commit: Callable[[], object], *, leaves_undo: bool
) -> bool:
    """Commits the text of an editor before a window shortcut takes effect; True if the editor handled the event.

    Args:
        event: event that the editor received.
        handle: ordinary event handler of the editor.
        commit: commits the typed text; called before the shortcut acts.
        leaves_undo: whether undo and redo act on the window instead of the editor.
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
    """A line of text with a right-aligned `suffix`: the unit of the field, or the typed number with a unit."""

    edited = Signal(str)
    committed = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.session = 0
        self.suffix = ""  # text at the right edge
        self._has_room = False  # whether the suffix fits into the field
        self._shown = ""
        self._recordings: dict[str, str] = {}  # contents of the recordings whose hashes are shown
        self._is_wrong = False
        self.setTextMargins(_TEXT_MARGIN, 0, 0, 0)
        self.textEdited.connect(lambda text: self.edited.emit(unfolded(text, self._recordings)))
        self.textChanged.connect(self._make_room)
        self.editingFinished.connect(self._commit)

    def set_wrong(self, wrong: bool) -> None:
        """Show or hide a red frame for an invalid value."""
        if wrong != self._is_wrong:
            self._is_wrong = wrong
            self.update()

    def set_suffix(self, suffix: str) -> None:
        """Show text at the right edge."""
        if suffix != self.suffix:
            self.suffix = suffix
            self._make_room()
            self.update()

    def show_value(self, text: str) -> None:
        """Show the value in the file, unless that value is unchanged and the user is typing a new one."""
        is_typing = self.hasFocus() and self.text() != self._shown
        if is_typing and text == unfolded(self._shown, self._recordings):
            return
        # A long recording is shown as its hash, because a line holds at most 32 767 characters.
        text, self._recordings = folded(text)
        self._shown = text
        if self.text() != text:
            self.setText(text)
            if not self.hasFocus():
                self.setCursorPosition(0)

    @property
    def is_changed(self) -> bool:
        """True if the typed text is not yet committed."""
        return self.text() != self._shown

    def commit(self) -> None:
        """Emit the typed text, unless it is already committed."""
        self._commit()

    def _commit(self) -> None:
        if self.is_changed and not self.isReadOnly():
            self._shown = self.text()
            self.committed.emit(unfolded(self.text(), self._recordings))

    def _make_room(self) -> None:
        """Reserve space for the suffix; a narrow field shows only the text."""
        metrics = self.fontMetrics()
        width = metrics.horizontalAdvance(self.suffix) + 8
        text = metrics.horizontalAdvance(self.text() or self.placeholderText())
        option = QStyleOptionFrame()
        self.initStyleOption(option)
        room = self.style().subElementRect(QStyle.SubElement.SE_LineEditContents, option, self).width()
        self._has_room = bool(self.suffix) and text + width + _TEXT_MARGIN + _CURSOR <= room
        self.setTextMargins(_TEXT_MARGIN, 0, width if self._has_room else 0, 0)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Check again whether the suffix fits."""
        super().resizeEvent(event)
        self._make_room()

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Start a session: all commits until the editor loses the focus form one undo step."""
        self.session = next(_SESSIONS)
        super().focusInEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Discard the typed text on Escape."""
        if event.key() == Qt.Key.Key_Escape and self.is_changed:
            self.setText(self._shown)
            self.edited.emit(unfolded(self._shown, self._recordings))
            event.accept()
            return
        super().keyPressEvent(event)

    def event(self, event: QEvent) -> bool:
        """Commit before shortcuts of the window, so that saving or running includes the typed text."""
        # Without uncommitted text, undo and redo act on the document.
        return commit_before_shortcut(event, super().event, self.commit, leaves_undo=not self.is_changed)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the text, the error frame and the suffix."""
        super().paintEvent(event)
        if self._is_wrong:
            paint_error_frame(self)
        if self._has_room:
            painter = QPainter(self)
            painter.setPen(self.palette().color(QPalette.ColorRole.PlaceholderText))
            rect = self.rect().adjusted(0, 0, -8, 0)
            painter.drawText(rect, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, self.suffix)


class ChoiceEditor(QComboBox):
    """A list of values to choose from, each with a summary. A current value that is not listed is shown as well."""

    committed = Signal(object)  # str, or None for the default

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.session = 0
        self._options: tuple[FieldOption, ...] = ()
        self._default, self._is_cut = "", False
        self._is_wrong = False
        self.setItemDelegate(_ChoiceDelegate(self))
        self.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.setMinimumContentsLength(6)
        self.setMaxVisibleItems(16)
        # Scrolling the form with the wheel must not change values under the pointer.
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.activated.connect(self._on_activated)

    def show_options(self, options: Sequence[FieldOption], value: str | None, default: str = "") -> None:
        """Offer these values and show the current one.

        Args:
            options: the values.
            value: the current value; None selects the default.
            default: text of the default where its whole text does not fit.
        """
        self._default = default
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
        """Show or hide a red frame for an invalid value."""
        if wrong != self._is_wrong:
            self._is_wrong = wrong
            self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the shown text and the error frame."""
        option = QStyleOptionComboBox()
        self.initStyleOption(option)
        painter = QStylePainter(self)
        painter.drawComplexControl(QStyle.ComplexControl.CC_ComboBox, option)
        option.currentText = self.shown_text
        painter.drawControl(QStyle.ControlElement.CE_ComboBoxLabel, option)
        painter.end()
        if self._is_wrong:
            paint_error_frame(self)

    @property
    def shown_text(self) -> str:
        """The current text; the default without its remark where they do not fit together."""
        option = QStyleOptionComboBox()
        self.initStyleOption(option)
        part = QStyle.SubControl.SC_ComboBoxEditField
        room = self.style().subControlRect(QStyle.ComplexControl.CC_ComboBox, option, part, self).width() - _INSET
        self._is_cut = self.fontMetrics().horizontalAdvance(self.currentText()) > room
        return self._default if self._is_cut and self.currentData() is None and self._default else self.currentText()

    def event(self, event: QEvent) -> bool:
        """Shows the whole text as the tooltip of a choice that has no help and is cut."""
        is_cut = self._is_cut and not self.toolTip()
        if is_cut and event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            QToolTip.showText(event.globalPos(), as_written(self.currentText()), self)
            return True
        return super().event(event)

    def showPopup(self) -> None:
        """Make the list wide enough for the summaries, but at most two thirds of the screen."""
        metrics = QFontMetrics(self.font())
        widest = max(
            (max(metrics.horizontalAdvance(o.text), metrics.horizontalAdvance(o.summary)) for o in self._options),
            default=0,
        )
        room = self.screen().availableGeometry().width() * 2 // 3
        self.view().setMinimumWidth(min(max(widest + 28, self.width()), room))
        super().showPopup()

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Leave wheel events to the form."""
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
            editor.setMinimumWidth(_LEAST_CHOICE)  # wider choices would make the form wider than its panel
            editor.setAccessibleName(name)
            editor.setProperty("number", number)
            editor.committed.connect(self._on_committed)

    @property
    def choices(self) -> tuple[ChoiceEditor, ChoiceEditor]:
        """The choices of the first and of the second end."""
        return self._editors

    def show_pair(self, options: Sequence[FieldOption], value: Sequence[str]) -> None:
        """Offer these values for both ends and show the current ends."""
        self._value = list(value)
        for editor, each in zip(self._editors, value, strict=True):
            editor.show_options(options, each)

    def set_wrong(self, wrong: bool) -> None:
        """Show or hide red frames for an invalid value."""
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
        """Return the height of two lines, or of one line if the choice lacks a summary."""
        metrics = QFontMetrics(option.font)
        summary = str(index.data(_SUMMARY_ROLE) or "")
        width = max(metrics.horizontalAdvance(str(index.data() or "")), metrics.horizontalAdvance(summary))
        height = metrics.height() * (2 if summary else 1)
        return QSize(width + 2 * _CHOICE_INSET, height + 2 * _CHOICE_GAP)


class PathsEditor(QPushButton):
    """A button that shows the paths of a flow, and opens the dialog in which they are chosen on the canvas."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.session = 0
        self._paths = ""
        self.setIcon(icon("paths"))
        self.setAutoDefault(False)
        set_style(self, lambda _t: "PathsEditor { text-align: left; }")

    def show_paths(self, paths: Sequence[Sequence[str]], default: str) -> None:
        """Show these paths, or the text for the default if they are empty."""
        self._paths = ", ".join(" → ".join(path) for path in paths) or default
        self._elide()

    def set_wrong(self, _wrong: bool) -> None:
        """Do nothing: paths with a problem are shown as text."""

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Cut the text to the available width."""
        super().resizeEvent(event)
        self._elide()

    def sizeHint(self) -> QSize:
        """The height of a button, and little width, so that long paths do not make the form wider."""
        return QSize(_LEAST_CHOICE, super().sizeHint().height())

    minimumSizeHint = sizeHint

    def _elide(self) -> None:
        room = self.width() - _PATHS_MARGIN
        self.setText(self.fontMetrics().elidedText(self._paths, Qt.TextElideMode.ElideRight, room))


class FlagEditor(QCheckBox):
    """A check box whose label is marked as default while the file sets no value."""

    committed = Signal(object)  # bool

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.session = 0
        self.clicked.connect(self._on_clicked)

    def _on_clicked(self, checked: bool) -> None:
        self.committed.emit(checked)

    def set_wrong(self, _wrong: bool) -> None:
        """Do nothing: a check box has no frame, and the message below it suffices."""

    def show_flag(self, value: bool | None, default: bool) -> None:
        """Show a value, or the default if the value is None."""
        shown = default if value is None else value
        self.setChecked(shown)
        word = tr("yes") if shown else tr("no")
        self.setText(word if value is not None else tr("{value} (default)", value=word))


def paint_error_frame(widget: QWidget) -> None:
    """Draw a red frame around an editor; the message below it describes the error.

    A style sheet would change the size of the editor and move the form during typing.
    """
    painter = QPainter(widget)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(QPen(QColor(current_tokens().error), 1.6))
    painter.drawRoundedRect(QRectF(widget.rect()).adjusted(0.8, 0.8, -0.8, -0.8), 2.5, 2.5)
