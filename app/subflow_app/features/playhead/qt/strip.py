"""Time bar below the panels: lanes of timed events, the track with the time shown, and buttons that play the run."""

from __future__ import annotations

from PySide6.QtCore import QPoint, QSignalBlocker, QSize, Qt, Signal
from PySide6.QtGui import QAction, QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QLineEdit, QSizePolicy, QToolButton, QWidget

from subflow_app.features.editor.qt.topology.event_strip import EventStrip
from subflow_app.features.explain.core.transport import SPEEDS, parse_time, shown_time, speed_label
from subflow_app.features.playhead.qt.playhead import Playhead
from subflow_app.features.playhead.qt.time_track import LEFT, RIGHT_MARGIN, TimeTrack
from subflow_app.foundation.errors import InputError
from subflow_app.toolkit import format as fmt
from subflow_app.toolkit.icons import icon
from subflow_app.toolkit.theme import current_tokens, muted, set_style
from subflow_app.toolkit.widgets.shorthand import Choice, Label, h_box, named
from subflow_app.toolkit.workspaces import SIDE_WIDTH
from subflow_app.vocabulary.language import tr, trn

_ICON = 16
_TRACK_HEIGHT, _LEAST_HEIGHT = 16, 36  # px
_LEAST_CELL, _LEAST_TRACK = 236, 200  # px, widths of the cell with the buttons and of the track
BUTTONS = ("start", "previous_event", "step_back", "play_back", "play", "step_forward", "next_event", "end")
"""Actions that move the playhead, in order; their ids begin with ``playhead.``."""
_SHOWN = ("previous_event", "play", "next_event")  # those with a button; all are in the menu Time and have keys


class TransportStrip(QWidget):
    """Time bar: lanes of timed events above the time track, both below the plots' time axis, and buttons at the right.

    The lanes are those of the scenario; track and buttons are disabled while no run is shown.
    """

    said = Signal(str)  # message about time or picture; empty clears the message
    pointed = Signal(object)  # time under the mouse, s, or None

    def __init__(
        self,
        playhead: Playhead,
        actions: dict[str, QAction],
        lanes: EventStrip,
        run_status: QWidget,
        parent: QWidget | None = None,
    ) -> None:
        """Creates the bar.

        Args:
            playhead: the time that the bar shows and changes.
            actions: the actions of the Time menu, by their ids without ``playhead.``.
            lanes: the lanes of timed events.
            run_status: state of a run in progress, shown in place of the speed of playing.
            parent: Qt parent.
        """
        super().__init__(parent)
        named(self, "transport_strip", tr("Time of the run"))
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._playhead = playhead
        self._actions = actions
        self._said: set[str] = set()
        self._picture_says = self._notice = ""
        self._failure = ""
        self.message = ""
        self._axis: tuple[int, int] | None = None  # global x of both ends of the plots' time axis
        self.lanes = lanes
        lanes.setParent(self)
        self._status = run_status
        self._build()
        playhead.changed.connect(self._on_changed)
        playhead.moved.connect(lambda _time_s: self._show_time())
        playhead.left.connect(self._show_time)
        playhead.events_changed.connect(self._show_ticks)
        playhead.failed.connect(self._on_failed)
        lanes.resized.connect(self._fit_height)
        lanes.pointed.connect(self.pointed)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self._on_changed()
        self._fit_height()

    # ---- interface for the window ----

    def say_of_picture(self, text: str) -> None:
        """Shows the reason why the picture does not follow the run; empty if it does."""
        self._picture_says = text
        self._show_message()

    def say_left_out(self, count: int) -> None:
        """Shows the number of omitted packets."""
        self._left_out.setVisible(count > 0)
        self._left_out.setText(f"+{count}" if count else "")
        text = trn(
            "{count} packet is not drawn: a link has more than can be distinguished",
            "{count} packets are not drawn: a link has more than can be distinguished",
            count,
        )
        self._left_out.setToolTip(text if count else "")
        self._left_out.setAccessibleName(self._left_out.toolTip())

    def align(self, ends: tuple[int, int] | None, seen_s: tuple[float, float] | None) -> None:
        """Puts the track below the plots' time axis.

        Args:
            ends: global x of both ends of the axis, px; None while no plot over time is visible.
            seen_s: first and last time that the plots show, s; None: the whole run.
        """
        self.track.show_seen(seen_s)
        if ends != self._axis:
            self._axis = ends
            self._place()

    def set_lanes_shown(self, are_shown: bool) -> None:
        """Shows or hides the lanes of timed events."""
        self.lanes.setVisible(are_shown)
        self._fit_height()

    def focus_time(self) -> None:
        """Moves the focus to the time field."""
        if self.field.isEnabled() and self.isVisible():
            self.field.setFocus(Qt.FocusReason.ShortcutFocusReason)
            self.field.selectAll()

    # ---- building ----

    def _build(self) -> None:
        self._cell = QWidget(self)
        self.buttons = {name: self._button(name) for name in _SHOWN}
        self.field = named(
            QLineEdit(self._cell, alignment=Qt.AlignmentFlag.AlignRight), "playhead_time", tr("Time to go to")
        )
        self.field.setToolTip(tr("Type a time, such as 12.5s or 12500ms, and press Enter"))
        self.field.setMinimumWidth(self.field.fontMetrics().horizontalAdvance("888.88 s") + 10)
        self.field.setMaximumWidth(self.field.fontMetrics().horizontalAdvance("1200.000 s") + 12)
        self.field.returnPressed.connect(self._on_typed)
        self.field.textEdited.connect(lambda _text: self._complain(""))
        self.field.editingFinished.connect(self._show_time)
        self._end = named(muted(Label(self._cell)), "playhead_end")
        self._left_out = named(muted(Label(self._cell)), "playhead_left_out")
        self._left_out.hide()
        self.track = TimeTrack(_TRACK_HEIGHT, self)
        self.track.wanted.connect(self._playhead.seek)
        self.track.pointed.connect(self.pointed)
        self.track.play_wanted.connect(self._actions["play"].trigger)
        speeds = ((speed, speed_label(speed)) for speed in SPEEDS)
        self.speed = Choice("playhead_speed", speeds, self._cell, text=tr("Speed of playing"))
        self.speed.setToolTip(tr("Speed of playing: simulated seconds per second"))
        self.speed.setMaxVisibleItems(len(SPEEDS))
        self.speed.setFixedWidth(self.speed.fontMetrics().horizontalAdvance("100×") + 24)
        self.speed.view().setMinimumWidth(self.speed.sizeHint().width())
        self.speed.setCurrentIndex(SPEEDS.index(1.0))
        self.speed.currentIndexChanged.connect(lambda row: self._playhead.set_speed(SPEEDS[row]))
        self.live = named(QToolButton(self._cell), "playhead_live")
        self.live.setDefaultAction(self._actions["live"])
        self.live.setIconSize(QSize(_ICON, _ICON))
        self._fold = named(QToolButton(self, autoRaise=True), "lanes_fold")
        self._fold.setIconSize(QSize(10, 10))
        self._fold.clicked.connect(lambda: self.lanes.set_unfolded(not self.lanes.is_unfolded))
        self._status.setParent(self._cell)
        times = (self.field, self._end, self._left_out)
        last = (self.live, (self._status, 1), self.speed)
        row = h_box(self._cell, *self.buttons.values(), 4, *times, *last, margins=(6, 2, 4, 2), spacing=2)
        row.addStretch(0)
        set_style(
            self,
            lambda t: (
                f"#transport_strip {{ background: {t.window}; border-top: 1px solid {t.border}; }}"
                f"QToolButton:checked {{ background: {t.info_fill}; border-radius: 4px; }}"
                "#lanes_fold { padding: 0; border: none; }"
            ),
        )
        self._show_playing()
        self._show_ticks()

    def _fit_height(self) -> None:
        """Takes the height of the lanes in view and the track."""
        lanes = 0 if self.lanes.isHidden() else self.lanes.sizeHint().height()
        self._fold.setVisible(lanes > 0 and self.lanes.can_unfold)
        self._fold.setIcon(icon("unfolded" if self.lanes.is_unfolded else "folded"))
        text = tr("Show one lane of events") if self.lanes.is_unfolded else tr("Show all lanes of events")
        self._fold.setToolTip(text)
        self._fold.setAccessibleName(text)
        least = max(_LEAST_HEIGHT, self._cell.sizeHint().height())
        self.setFixedHeight(max(least, lanes + _TRACK_HEIGHT + 1))
        self._place()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Places track and cell."""
        super().resizeEvent(event)
        self._place()

    def _place(self) -> None:
        """Puts lanes and track below the plots' axis if it is known, and the cell into the rest of the width."""
        cell = max(_LEAST_CELL, self._cell.minimumSizeHint().width())
        left, right = LEFT, self.width() - SIDE_WIDTH - RIGHT_MARGIN
        if self._axis is not None:
            origin = self.mapToGlobal(QPoint(0, 0)).x()
            first, last = self._axis[0] - origin, self._axis[1] - origin
            if last - first >= _LEAST_TRACK:
                left, right = first, last
        end = max(min(right + RIGHT_MARGIN, self.width() - cell), left + 1)
        margin = max(end - right, 0) if end >= right else RIGHT_MARGIN
        lanes = 0 if self.lanes.isHidden() else self.height() - _TRACK_HEIGHT - 1
        self.lanes.setGeometry(0, 1, end, max(lanes, 0))
        self.track.setGeometry(0, self.height() - _TRACK_HEIGHT, end, _TRACK_HEIGHT)
        for part in (self.lanes, self.track):
            part.set_sides(left, margin)
        self._cell.setGeometry(end, 1, self.width() - end, self.height() - 1)
        self._fold.setGeometry(0, 3, 14, 14)
        self._fold.raise_()

    def _button(self, name: str) -> QToolButton:
        action = self._actions[name]
        button = named(QToolButton(self._cell), f"playhead_{name}", action.text().replace("&", ""), action.toolTip())
        button.setAutoRaise(True)
        button.setIconSize(QSize(_ICON, _ICON))
        button.setIcon(action.icon())
        button.setEnabled(action.isEnabled())
        button.clicked.connect(action.trigger)
        action.enabledChanged.connect(button.setEnabled)
        return button

    # ---- following the playhead ----

    def _on_changed(self) -> None:
        run = self._playhead.run
        for part in (self.field, self.track, self.speed):
            part.setEnabled(run is not None)
        self.live.setVisible(run is not None and run.goes_on and not self._playhead.transport.follows)
        self.speed.setVisible(run is None or not run.goes_on)
        if run is None:
            self.field.clear()
            self._end.clear()
            self.track.show_time(0.0, 0.0, 1.0, "")
            return
        self._show_playing()
        self._show_time()
        self._show_progress()
        self._show_notice()

    def _show_playing(self) -> None:
        direction = self._playhead.transport.direction
        for name, own in (("play", 1), ("play_back", -1)):
            is_on = direction == own
            if name in self.buttons:
                self.buttons[name].setIcon(icon("pause") if is_on else self._actions[name].icon())
        speed = self._playhead.transport.speed
        with QSignalBlocker(self.speed):
            self.speed.setCurrentIndex(SPEEDS.index(min(SPEEDS, key=lambda each: abs(each - speed))))

    def _show_time(self) -> None:
        if self._playhead.run is None:
            return
        transport = self._playhead.transport
        preview_s = self._playhead.preview_s
        looked_s = transport.shown_s if preview_s is None else preview_s
        text = shown_time(looked_s, transport.speed)
        if not (self.field.hasFocus() and self.field.isModified()):
            self.field.setText(text)
        self.track.show_time(transport.shown_s, transport.known_s, transport.end_s, text)
        self._end.setText(tr("/ {end} s", end=fmt.number(transport.end_s, 6)))
        # No position on the lanes of a scenario that lasts longer or shorter than the run.
        is_same_length = abs(self.lanes.duration_s - transport.end_s) < 1e-6 * max(transport.end_s, 1e-9)
        self.lanes.set_position(looked_s if is_same_length else None)

    def _show_ticks(self) -> None:
        events = self._playhead.events
        self.track.show_ticks(events.ticks_s() if events is not None else {})

    def _show_progress(self) -> None:
        self.track.show_prepared(self._playhead.progress)
        if self._playhead.progress < 1.0:
            share = f"{self._playhead.progress * 100:.0f}"
            self.track.setToolTip(
                tr("Simulating the run once, so that any time can be shown at once: {share} %", share=share)
            )
        else:
            self.track.setToolTip(tr("Drag through the time of the run; ticks are losses, timeouts and changes"))

    # ---- messages ----

    def _on_typed(self) -> None:
        try:
            time_s = parse_time(self.field.text(), self._playhead.transport.end_s)
        except InputError as error:
            self._complain(str(error))
            return
        self.field.setModified(False)
        self._complain("")
        self._playhead.seek(time_s)

    def _complain(self, text: str) -> None:
        self._failure = text
        self.field.setProperty("invalid", bool(text))
        self.field.setStyleSheet(f"border: 1px solid {current_tokens().error};" if text else "")
        self.field.setAccessibleDescription(text)
        self._show_message()

    def _on_failed(self, text: str) -> None:
        self._notice = tr("Packets and queues cannot be shown: {reason}", reason=text)
        self._show_message()

    def _show_notice(self) -> None:
        if self._playhead.notice and self._playhead.notice != self._notice:
            self._notice = self._playhead.notice
            self._show_message()
        elif not self._playhead.notice and not self._playhead.is_waiting and self._playhead.time_s is None:
            self._notice = ""
            self._show_message()

    def _show_message(self) -> None:
        text = self._failure or self._picture_says or self._notice
        if text != self.message:
            self.message = text
            self.said.emit(text)

    @property
    def is_of_picture(self) -> bool:
        """True if the message is the reason why the picture does not follow the run."""
        return bool(self._picture_says) and not self._failure

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Stops showing the time of the playhead on Escape."""
        if event.key() == Qt.Key.Key_Escape and self._playhead.time_s is not None:
            self._complain("")
            self.field.setModified(False)
            self._playhead.leave()
            event.accept()
            return
        super().keyPressEvent(event)
