"""The lanes of timed events above the time track, in which the user adds, drags, edits and removes changes.

Each edit of the document is an undo step.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QAccessible,
    QAccessibleEvent,
    QContextMenuEvent,
    QFocusEvent,
    QHelpEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QResizeEvent,
    QUndoStack,
)
from PySide6.QtWidgets import (
    QAbstractScrollArea,
    QApplication,
    QFrame,
    QLineEdit,
    QMenu,
    QSizePolicy,
    QToolTip,
    QWidget,
)

from subflow_app.features.editor.core import event_strip as strip
from subflow_app.features.editor.core.event_strip import Part, StripBar, StripItem, StripMark, StripRow
from subflow_app.features.editor.core.form_text import check_text, completed
from subflow_app.features.editor.core.scenario_doc import Change, ScenarioDoc
from subflow_app.features.editor.qt import documents
from subflow_app.features.editor.qt.topology.strip_painter import (
    LEFT,
    RIGHT_MARGIN,
    ROW_HEIGHT,
    Hit,
    Preview,
    StripLayout,
    StripPainter,
    describe_item,
)
from subflow_app.foundation import toml_edit
from subflow_app.foundation.toml_edit import TomlEditError, TomlValue
from subflow_app.toolkit import format as fmt
from subflow_app.toolkit.theme import current_tokens, set_style
from subflow_app.toolkit.widgets.shorthand import named
from subflow_app.vocabulary.language import tr
from subflow_sim.params import params_by_key
from subflow_sim.toml_map import Path

# Initial values of a new change, used if the link's value at that time is missing, a bare number or "unlimited".
FIRST_VALUES = {"rate": "10Mbit/s", "delay": "20ms", "loss": "1%", "queue": "50pkt"}


class StripEdits:
    """Edits the timed events of one document; each edit raises `TomlEditError` if the text cannot be edited."""

    def __init__(self, doc: ScenarioDoc, undo_stack: QUndoStack) -> None:
        """Edits `doc` through `undo_stack`."""
        self._doc = doc
        self._undo_stack = undo_stack

    def add_outage(
        self, row_key: str, time_s: float, duration_s: float, step_s: float, end_s: float | None = None
    ) -> Path:
        """Add an outage of a link or of a flow's subflows, see `with_outage`; returns the path of its start time."""
        count = self._event_count()
        text = strip.with_outage(self._doc.text, row_key, time_s, duration_s, step_s, end_s)
        name = row_key.partition(".")[2]
        what = (
            tr("Add outage of {name}", name=name)
            if row_key.startswith("links.")
            else tr("Close subflows of {name}", name=name)
        )
        self._push(what, text, Change("events", (f"events.{count}", f"events.{count + 1}")))
        return ("events", count, "at")

    def add_change(self, row_key: str, key: str, time_s: float) -> Path:
        """Add a new rate, delay, loss or queue of a link, or make subflows backups; return the path of the new time."""
        count = self._event_count()
        name = row_key.partition(".")[2]
        value: TomlValue = True
        if key in FIRST_VALUES:
            found = strip.value_at(self._doc.data, name, key, time_s)
            value = found if isinstance(found, str) and found != "unlimited" else FIRST_VALUES[key]
        text = strip.with_change(self._doc.text, row_key, key, value, time_s)
        self._push(tr("Add change of {name}", name=name), text, Change("events", (f"events.{count}",)))
        return ("events", count, "at")

    def remove(self, item: StripItem) -> None:
        """Remove a bar or mark."""
        change = Change("events" if item.places[0][0] == "events" else "value", tuple(map(dotted, item.places)))
        self._push(tr("Remove event"), strip.without(self._doc.text, item), change)

    def move(self, item: StripItem, to: Preview, session: int = 0) -> None:
        """Move a bar or mark to the times in `to`, the preview of a drag."""
        places = tuple(map(dotted, item.places))
        if isinstance(item, StripBar):
            text = strip.with_bar_at(self._doc.text, item, to.start_s, to.end_s)
            adds = item.end is None and to.end_s != item.end_s
            self._push(tr("Move event"), text, Change("events" if adds else "value", places), session)
        else:
            text = strip.with_mark_at(self._doc.text, item, to.start_s)
            self._push(tr("Move event"), text, Change("value", places), session)

    def set_value(self, place: Path, value: TomlValue) -> None:
        """Change one value of a mark, given by its path in the file."""
        text = toml_edit.set_value(self._doc.text, place, value)
        self._push(tr("Change value"), text, Change("value", (dotted(place),)))

    def _event_count(self) -> int:
        return len(self._doc.data.get("events", ()))

    def _push(self, name: str, text: str, change: Change, session: int = 0) -> None:
        doc = self._doc
        self._undo_stack.push(documents.EditCommand(doc, name, lambda: doc.restore(text, change), session))


def dotted(place: Path) -> str:
    """Convert a path in the file to a dotted key."""
    return ".".join(map(str, place))


_MOST_ROWS = 5  # lanes in view at once after unfolding
_SNAP_PX = 4.0


_NEW: Path = ()  # place of an outage that is being dragged out, and is not in the file yet


@dataclass(slots=True)
class _Drag:
    row: StripRow
    item: StripItem | None  # None: a new outage
    part: Part
    from_s: float
    preview: Preview
    has_moved: bool = False


class EventStrip(QAbstractScrollArea):
    """A lane for each link or flow that changes during the run, and for the selected one.

    A drag on the free part of a lane takes the link down. One lane is in view until the lanes are unfolded.

    Keys: arrows move from item to item and row to row. Ctrl+arrows move the chosen item by a tick (with Shift, the end
    of an outage). Enter edits its value, Del removes it, Insert adds an outage.
    """

    row_chosen = Signal(str)  # key of a link or flow
    activated = Signal(str)  # key of the part whose properties to show: "events.3"
    failed = Signal(str)  # the reason why an edit was refused
    resized = Signal()  # the lanes need a different height
    pointed = Signal(object)  # time under the mouse, s, or None

    def __init__(self, doc: ScenarioDoc, undo_stack: QUndoStack, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._doc = doc
        self._undo_stack = undo_stack
        self._edits = StripEdits(doc, undo_stack)
        self._selected = ""
        self.rows: tuple[StripRow, ...] = ()
        self._duration_s = 1.0
        self._chosen: Path | None = None
        self._position_s: float | None = None
        self._drag: _Drag | None = None
        self.message = ""  # problem of the typed value
        self._rows_in_sight = 1
        self._is_unfolded = False
        self._is_read_only = False
        self._sides = (float(LEFT), float(RIGHT_MARGIN))
        self._sessions = itertools.count(1)
        self._nudge_session = 0
        self.editor: QLineEdit | None = None  # the input field of a value while open, otherwise None
        named(self, "eventStrip", tr("Timed events"))
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self.viewport().setMouseTracking(True)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        set_style(self, lambda t: f"#eventStrip {{ background: {t.window}; border: none; }}")
        self.viewport().setAutoFillBackground(False)
        self.verticalScrollBar().setSingleStep(ROW_HEIGHT)
        self._unsubscribe: Callable[[], None] = doc.subscribe(self._on_document_changed)
        self.destroyed.connect(lambda: self._unsubscribe())
        self._show_document()

    # --- interface of the panel -------------------------------------------------------------------------------------

    @property
    def chosen(self) -> StripItem | None:
        """The bar or mark that keys act on; None if nothing is chosen."""
        return next((item for row in self.rows for item in row.items if item.places[0] == self._chosen), None)

    @property
    def strip_layout(self) -> StripLayout:
        """Current layout of all rows and items."""
        scroll = self.verticalScrollBar().value()
        return StripLayout(self.rows, self._duration_s, self.viewport().width(), scroll, *self._sides)

    def set_sides(self, left: float, right_margin: float) -> None:
        """Draw time 0 at `left`, and the end of the run `right_margin` from the right edge, both px."""
        if (left, right_margin) != self._sides:
            self._sides = (left, right_margin)
            self.viewport().update()

    @property
    def duration_s(self) -> float:
        """Duration of the scenario, s."""
        return self._duration_s

    @property
    def can_unfold(self) -> bool:
        """True if several lanes exist, of which one is in view while they are folded."""
        return len(self.rows) > 1

    @property
    def is_unfolded(self) -> bool:
        """True if several lanes are in view."""
        return self._is_unfolded

    def set_unfolded(self, is_unfolded: bool) -> None:
        """Show several lanes, or only one."""
        self._is_unfolded = is_unfolded
        self._fit()

    def set_document(self, doc: ScenarioDoc, *, is_read_only: bool = False) -> None:
        """Switch to a different document, whose events may be read-only."""
        self._close_editor()
        self._end_drag()
        self._is_read_only = is_read_only
        self._unsubscribe()
        self._doc = doc
        self._edits = StripEdits(doc, self._undo_stack)
        self._unsubscribe = doc.subscribe(self._on_document_changed)
        self._chosen = None
        self._position_s = None
        self._show_document()

    def set_selected(self, key: str) -> None:
        """Show a row for the part selected on the canvas, even if no events change it."""
        if key != self._selected:
            self._selected = key
            self._show_document()
            self._show_selected()

    def set_position(self, time_s: float | None) -> None:
        """Show the current position in a run; None hides it."""
        if time_s != self._position_s:
            self._position_s = time_s
            self.viewport().update()

    def choose(self, item: StripItem | None) -> None:
        """Choose the bar or mark that keyboard commands act on; None clears the choice."""
        self._chosen = item.places[0] if item else None
        self.setAccessibleDescription(describe_item(item) if item else tr("Nothing chosen"))
        QAccessible.updateAccessibility(QAccessibleEvent(self, QAccessible.Event.DescriptionChanged))
        self.viewport().update()

    def sizeHint(self) -> QSize:
        """Return the height of the lanes in view."""
        return QSize(200, self._rows_in_sight * ROW_HEIGHT)

    def minimumSizeHint(self) -> QSize:
        """Return the required height with a small width."""
        return QSize(80, self.sizeHint().height())

    # --- document ---------------------------------------------------------------------------------------------------

    @property
    def _is_editable(self) -> bool:
        return self._doc.is_toml and not self._is_read_only

    def _on_document_changed(self, change: Change) -> None:
        if change.kind not in ("layout", "script"):
            self._end_drag()
            self._show_document()

    def _show_document(self) -> None:
        # The sketch of an incomplete drawing also has a duration.
        scenario = self._doc.last_valid or self._doc.sketch
        if scenario is not None:
            self._duration_s = max(scenario.duration_s, 1e-9)
        if self._doc.is_toml:
            self.rows = strip.strip_rows(self._doc.data, self._duration_s, self._selected)
        if self.chosen is None:
            self._chosen = None
        self._update_scrolling()
        if not self.underMouse():
            self._fit()
        self.viewport().update()

    def leaveEvent(self, event: QEvent) -> None:
        """Adapt the height only when the mouse leaves, so that rows do not move under it."""
        super().leaveEvent(event)
        self._fit()
        self.pointed.emit(None)

    def _fit(self) -> None:
        rows = min(len(self.rows), _MOST_ROWS) if self._is_unfolded else 1
        self._rows_in_sight = max(rows, 1)
        self.updateGeometry()
        self.resized.emit()
        self._show_selected()

    def _show_selected(self) -> None:
        """Bring the lane of the selected part into view."""
        row = next((number for number, row in enumerate(self.rows) if row.key == self._selected), None)
        if row is not None:
            top, bar = row * ROW_HEIGHT, self.verticalScrollBar()
            bar.setValue(min(top, max(bar.value(), top + ROW_HEIGHT - self.viewport().height())))

    def _try(self, edit: Callable[[], None]) -> None:
        try:
            edit()
        except TomlEditError as error:
            self.failed.emit(str(error))

    def add_outage(self, row_key: str, time_s: float, end_s: float | None = None) -> None:
        """Add an outage of a link or of a flow's subflows, which lasts a tenth of the run or up to `end_s`."""

        def edit() -> None:
            self._chosen = self._edits.add_outage(row_key, time_s, self._duration_s, self._snap_step(), end_s)

        if self._is_editable:
            self._try(edit)

    def add_change(self, row_key: str, key: str, time_s: float) -> None:
        """Add a change of a link's rate, delay, loss or queue and edit its value, or make a flow's subflows backups."""

        def edit() -> None:
            at_s = strip.snapped(time_s, self._snap_step(), 0.0, self._duration_s)
            self._chosen = self._edits.add_change(row_key, key, at_s)
            if key in FIRST_VALUES:
                self.edit_value()

        if self._is_editable:
            self._try(edit)

    def remove_chosen(self) -> None:
        """Remove the chosen bar or mark, unless the mark is fixed."""
        item = self.chosen
        if item is not None and self._is_editable and not (isinstance(item, StripMark) and item.is_fixed):
            self._try(lambda: self._edits.remove(item))

    def _snap_step(self, modifiers: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier) -> float:
        """Return the grid spacing of drags in seconds; Alt disables the grid."""
        if modifiers & Qt.KeyboardModifier.AltModifier:
            return 0.0
        return strip.tick_step(self._duration_s, self.strip_layout.span, _SNAP_PX)

    # --- values -----------------------------------------------------------------------------------------------------

    def edit_value(self) -> None:
        """Edit the value of the chosen mark in place, or in the inspector if it has several values or a table."""
        item = self.chosen
        if item is None or not self._is_editable:
            return
        value = (
            toml_edit.get_value(self._doc.data, item.values[0]) if isinstance(item, StripMark) and item.values else None
        )
        if (
            not isinstance(item, StripMark)
            or len(item.changes) != 1
            or isinstance(value, (dict, list))
            or value is None
        ):
            self._open_properties(item)
            return
        self._close_editor()
        index = next(i for i, row in enumerate(self.rows) if item in row.items)
        point = self.strip_layout.mark_point(index, item.time_s)
        editor = named(QLineEdit(str(item.changes[0][1]), self.viewport()), "eventValue", tr("New value"))
        editor.selectAll()
        width = editor.fontMetrics().horizontalAdvance("1000.5 Mbit/s") + 12
        left = min(point.x() + 8, self.viewport().width() - width - 2)
        editor.setGeometry(round(left), round(point.y()) - ROW_HEIGHT // 2, width, ROW_HEIGHT)
        editor.textEdited.connect(lambda _text: self._say(""))
        editor.installEventFilter(self)
        self.editor = editor
        editor.show()
        editor.setFocus()

    def _take_value(self) -> None:
        item, editor = self.chosen, self.editor
        if editor is None or not isinstance(item, StripMark):
            return
        key, place = item.changes[0][0], item.values[0]
        param = params_by_key("event")[key]
        typed = completed(param, editor.text(), str(item.changes[0][1]))
        check = check_text(self._doc, dotted(place), param, typed)
        if check.message or check.value is None:
            allowed = tr("{message}; allowed: {allowed}", message=check.message, allowed=check.allowed)
            self._say(allowed if check.message else tr("a value is needed"))
            return
        value = check.value
        self._close_editor()
        self.setFocus()
        self._try(lambda: self._edits.set_value(place, value))

    def _say(self, message: str) -> None:
        self.message = message
        self.viewport().update()

    def _close_editor(self) -> None:
        editor, self.editor = self.editor, None
        self._say("")
        if editor is not None:
            editor.removeEventFilter(self)
            editor.hide()
            editor.deleteLater()

    def _open_properties(self, item: StripItem) -> None:
        place = item.places[0]
        self.activated.emit(f"events.{place[1]}" if place[0] == "events" else f"{place[0]}.{place[1]}")

    def eventFilter(self, watched: object, event: QEvent) -> bool:
        """Discard the typed value on Escape, and commit it on Enter and on loss of focus."""
        if watched is not self.editor:
            return False
        if event.type() == QEvent.Type.KeyPress and isinstance(event, QKeyEvent):
            # Enter and Escape are handled here. Otherwise they would reach the strip, which would open the field again.
            if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
                self._take_value()
                return True
            if event.key() == Qt.Key.Key_Escape:
                self._close_editor()
                self.setFocus()
                return True
        elif event.type() == QEvent.Type.FocusOut:
            self._take_value()
        return False

    # --- mouse ------------------------------------------------------------------------------------------------------

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Choose the item under the mouse, and start a drag."""
        hit = self._hit(event.position())
        self._close_editor()
        self.choose(hit.item if hit else None)
        if hit is None:
            return
        if event.position().x() < self.strip_layout.left - 8:
            self.row_chosen.emit(hit.row.key)
        if event.button() != Qt.MouseButton.LeftButton or not self._is_editable:
            return
        from_s = self.strip_layout.time_at(event.position().x())
        if hit.item is None:
            if event.position().x() >= self.strip_layout.left - 4:
                number = self.rows.index(hit.row)
                self._drag = _Drag(hit.row, None, "end", from_s, Preview(_NEW, from_s, from_s, number))
        elif not (isinstance(hit.item, StripMark) and hit.item.is_fixed):
            self._drag = _Drag(hit.row, hit.item, hit.part, from_s, Preview.of(hit.item))

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Preview the drag; the document changes when the drag ends."""
        if self._drag is None:
            self._show_cursor(self._hit(event.position()))
            self.pointed.emit(self.strip_layout.time_at(event.position().x()))
            return
        now_s = self.strip_layout.time_at(event.position().x())
        moved_px = abs(now_s - self._drag.from_s) / self._duration_s * self.strip_layout.span
        if not self._drag.has_moved and moved_px < QApplication.startDragDistance() / 2:
            return
        self._drag.has_moved = True
        drag = self._drag
        if drag.item is None:
            step = self._snap_step(event.modifiers())
            ends = (strip.snapped(time_s, step, 0.0, self._duration_s) for time_s in (drag.from_s, now_s))
            first_s, last_s = sorted(ends)
            drag.preview = Preview(_NEW, first_s, last_s, drag.preview.new_row)
        else:
            drag.preview = self._dragged(drag.item, drag.part, now_s - drag.from_s, event.modifiers())
        self.viewport().update()

    def _dragged(self, item: StripItem, part: Part, by_s: float, modifiers: Qt.KeyboardModifier) -> Preview:
        step = self._snap_step(modifiers)
        if isinstance(item, StripMark):
            time_s = strip.dragged_mark(item, item.time_s + by_s, step)
            return Preview(item.at, time_s, time_s)
        return Preview(item.start, *strip.dragged_bar(item, part, by_s, step))

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Apply the drag as one undo step."""
        drag, self._drag = self._drag, None
        self.viewport().update()
        if drag is not None and drag.has_moved:
            item = drag.item
            if item is None and drag.preview.end_s > drag.preview.start_s:
                self.add_outage(drag.row.key, drag.preview.start_s, drag.preview.end_s)
            elif item is not None and drag.preview != Preview.of(item):
                self._try(lambda: self._edits.move(item, drag.preview))
        event.accept()

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Edit the item under the mouse, or add an outage where the row is empty."""
        hit = self._hit(event.position())
        self._end_drag()
        if hit is None or event.button() != Qt.MouseButton.LeftButton:
            return
        self.choose(hit.item)
        if hit.item is not None:
            self.edit_value()
        elif event.position().x() >= self.strip_layout.left:
            self.add_outage(hit.row.key, self.strip_layout.time_at(event.position().x()))

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Show the menu of the item under the mouse, or of the chosen item."""
        layout = self.strip_layout
        hit = self._hit(QPointF(event.pos())) if event.reason() != QContextMenuEvent.Reason.Keyboard else None
        item = hit.item if hit else self.chosen
        row = hit.row if hit else self._row_of(item)
        if row is None:
            return
        self.choose(item)
        time_s = layout.time_at(event.pos().x()) if hit else self._duration_s / 2
        menu = self.build_menu(row, item, time_s)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.popup(event.globalPos())

    def build_menu(self, row: StripRow, item: StripItem | None, time_s: float) -> QMenu:
        """Build the context menu for a row and a time, with actions on the item if `item` is given."""
        menu = QMenu(self)
        at = fmt.time(strip.snapped(time_s, self._snap_step(), 0.0, self._duration_s), 6)
        if item is not None:
            menu.addAction(tr("Edit value…")).triggered.connect(self.edit_value)
            menu.addAction(tr("Properties")).triggered.connect(lambda: self._open_properties(item))
            remove = menu.addAction(tr("Remove"))
            remove.setShortcut("Del")
            remove.setShortcutContext(Qt.ShortcutContext.WidgetShortcut)
            remove.setEnabled(self._is_editable and not (isinstance(item, StripMark) and item.is_fixed))
            remove.triggered.connect(self.remove_chosen)
            menu.addSeparator()
        if row.key.startswith("links."):
            menu.addAction(tr("Link down at {time}", time=at)).triggered.connect(
                lambda: self.add_outage(row.key, time_s)
            )
            names = {
                "rate": tr("Rate step at {time}…", time=at),
                "delay": tr("Delay step at {time}…", time=at),
                "loss": tr("Loss step at {time}…", time=at),
                "queue": tr("Queue step at {time}…", time=at),
            }
        else:
            menu.addAction(tr("Close subflows at {time}", time=at)).triggered.connect(
                lambda: self.add_outage(row.key, time_s)
            )
            names = {"backup": tr("Make it a backup at {time}", time=at)}
        for key, name in names.items():
            menu.addAction(name).triggered.connect(
                lambda _checked=False, key=key: self.add_change(row.key, key, time_s)
            )
        if not self._is_editable:
            for action in menu.actions():
                action.setEnabled(False)
        return menu

    def _hit(self, at: QPointF) -> Hit | None:
        return self.strip_layout.hit(at)

    def _row_of(self, item: StripItem | None) -> StripRow | None:
        return next(
            (row for row in self.rows if item in row.items or (item is None and row.key == self._selected)), None
        )

    def _show_cursor(self, hit: Hit | None) -> None:
        shape = Qt.CursorShape.ArrowCursor
        if hit is not None and hit.item is not None and self._is_editable:
            is_fixed = isinstance(hit.item, StripMark) and hit.item.is_fixed
            shape = Qt.CursorShape.ArrowCursor if is_fixed else Qt.CursorShape.SizeHorCursor
        self.viewport().setCursor(shape)

    def _end_drag(self) -> None:
        self._drag = None
        self.viewport().update()

    # --- keyboard ---------------------------------------------------------------------------------------------------

    def event(self, event: QEvent) -> bool:
        """Claim Del and Insert before shortcuts of the window receive them."""
        claimed = (Qt.Key.Key_Delete, Qt.Key.Key_Insert)
        if (
            event.type() == QEvent.Type.ShortcutOverride
            and isinstance(event, QKeyEvent)
            and event.key() in claimed
            and not event.modifiers()
        ):
            event.accept()
            return True
        return super().event(event)

    def viewportEvent(self, event: QEvent) -> bool:
        """Show the tooltip of the item under the mouse."""
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            hit = self._hit(QPointF(event.pos()))
            if hit is not None and hit.item is not None:
                QToolTip.showText(event.globalPos(), describe_item(hit.item), self.viewport())
            else:
                QToolTip.hideText()
            return True
        return super().viewportEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Handle the keys that move between items, and that move, edit, add and remove items."""
        key, modifiers = Qt.Key(event.key()), event.modifiers()
        steps = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}
        if key in steps and modifiers & Qt.KeyboardModifier.ControlModifier:
            self._nudge(steps[key], "end" if modifiers & Qt.KeyboardModifier.ShiftModifier else "body")
        elif key in steps:
            self._walk(steps[key])
        elif key in (Qt.Key.Key_Up, Qt.Key.Key_Down):
            self._walk_rows(-1 if key == Qt.Key.Key_Up else 1)
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_F2):
            self.edit_value()
        elif key in (Qt.Key.Key_Delete, Qt.Key.Key_Backspace):
            self.remove_chosen()
        elif key == Qt.Key.Key_Insert:
            row = self._row_of(self.chosen)
            if row is not None:
                self.add_outage(row.key, self._duration_s / 2)
        elif key == Qt.Key.Key_Escape and (self._drag is not None or self._chosen is not None):
            if self._drag is None:
                self.choose(None)
            self._end_drag()
        else:
            super().keyPressEvent(event)
            return
        event.accept()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """End a series of key presses, so that the next series starts its own undo step."""
        self._nudge_session = 0
        super().focusOutEvent(event)
        self.viewport().update()

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Show the focus frame of the chosen item."""
        super().focusInEvent(event)
        self.viewport().update()

    def _nudge(self, direction: int, part: Part) -> None:
        item = self.chosen
        if item is None or not self._is_editable:
            return
        if not self._nudge_session:
            self._nudge_session = next(self._sessions)
        step = self._snap_step()
        preview = self._dragged(item, part, direction * step, Qt.KeyboardModifier.NoModifier)
        if preview != Preview.of(item):
            self._try(lambda: self._edits.move(item, preview, self._nudge_session))

    def _walk(self, direction: int) -> None:
        items = [item for row in self.rows for item in row.items]
        self._nudge_session = 0
        if items:
            chosen = self.chosen
            index = items.index(chosen) + direction if chosen in items else 0 if direction > 0 else len(items) - 1
            self.choose(items[index % len(items)])

    def _walk_rows(self, direction: int) -> None:
        chosen_row = self._row_of(self.chosen)
        rows = [row for row in self.rows if row.items]
        self._nudge_session = 0
        if rows:
            index = rows.index(chosen_row) + direction if chosen_row in rows else 0
            self.choose(rows[index % len(rows)].items[0])

    # --- drawing ----------------------------------------------------------------------------------------------------

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw rows, axis and the preview of a drag."""
        painter = QPainter(self.viewport())
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        area = QRectF(self.viewport().rect())
        preview = self._drag.preview if self._drag is not None and self._drag.has_moved else None
        StripPainter(
            painter, area, self.strip_layout, current_tokens(), self.font(), self._chosen, preview, self.hasFocus()
        ).paint(self._selected, self._position_s, self.message)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Update the scroll range to the new height."""
        super().resizeEvent(event)
        self._update_scrolling()

    def _update_scrolling(self) -> None:
        room = self.viewport().height()
        self.verticalScrollBar().setRange(0, max(ROW_HEIGHT * len(self.rows) - room, 0))
        self.verticalScrollBar().setPageStep(max(room, 1))
