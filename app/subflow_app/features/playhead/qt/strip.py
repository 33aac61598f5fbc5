"""Transport bar below the panels, with which the user chooses a run and a time, and plays the run."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QSignalBlocker, QSize, Qt, Signal
from PySide6.QtGui import QAction, QKeyEvent
from PySide6.QtWidgets import QComboBox, QLineEdit, QSizePolicy, QToolButton, QWidget

from subflow_app.features.explain.core.transport import SPEEDS, parse_time, shown_time, speed_label
from subflow_app.features.history.core.run_names import shared_words
from subflow_app.features.playhead.qt.playhead import Playhead
from subflow_app.foundation.errors import InputError
from subflow_app.toolkit import format as fmt
from subflow_app.toolkit.icons import icon
from subflow_app.toolkit.theme import current_tokens, muted, set_style
from subflow_app.toolkit.widgets.shorthand import Choice, Label, as_written, h_box, named
from subflow_app.vocabulary.language import tr, trn

_ICON = 16
_TRACK_HEIGHT = 26
"""Height of the time track in px; defined here because the space is reserved before the track exists."""
_ABOVE, _AROUND = 1, 1  # px: edge of the strip, and space above and below its parts
BUTTONS = ("start", "previous_event", "step_back", "play_back", "play", "step_forward", "next_event", "end")
"""Actions with a button, in order; their ids begin with ``playhead.``."""


class TransportStrip(QWidget):
    """Transport bar. Its parts are created for the first run; until then, their space is reserved."""

    said = Signal(str)  # message about time or picture; empty clears the message

    def __init__(self, playhead: Playhead, actions: dict[str, QAction], parent: QWidget | None = None) -> None:
        """``actions`` are the actions of the Time menu, by their ids without ``playhead.``."""
        super().__init__(parent)
        named(self, "transport_strip", tr("Time of the run"))
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._playhead = playhead
        self._actions = actions
        self._is_built = False
        self._said: set[str] = set()
        self._picture_says = self._notice = ""
        self._failure = ""
        self.message = ""
        playhead.changed.connect(self._on_changed)
        playhead.moved.connect(lambda _time_s: self._show_time())
        playhead.left.connect(self._show_time)
        playhead.events_changed.connect(self._show_ticks)
        playhead.failed.connect(self._on_failed)
        policy = self.sizePolicy()
        policy.setVerticalPolicy(QSizePolicy.Policy.Maximum)
        policy.setRetainSizeWhenHidden(True)
        self.setSizePolicy(policy)
        self.setMinimumHeight(self._row_height())
        self.hide()

    # ---- interface for the window ----

    def say_of_picture(self, text: str) -> None:
        """Shows the reason why the picture does not follow the run; empty if it does."""
        self._picture_says = text
        self._show_message()

    def say_left_out(self, count: int) -> None:
        """Shows the number of omitted packets."""
        if self._is_built:
            self._left_out.setText(f"+{count}" if count else "")
            told = trn(
                "{count} packet is not drawn: a link has more than can be distinguished",
                "{count} packets are not drawn: a link has more than can be distinguished",
                count,
            )
            self._left_out.setToolTip(told if count else "")
            self._left_out.setAccessibleName(self._left_out.toolTip())

    def focus_time(self) -> None:
        """Moves the focus to the time field."""
        if self._is_built and self.isVisible():
            self.field.setFocus(Qt.FocusReason.ShortcutFocusReason)
            self.field.selectAll()

    # ---- building ----

    def _build(self) -> None:
        from subflow_app.features.playhead.qt.time_track import TimeTrack

        self._is_built = True
        self.choice = Choice("playhead_run", parent=self, text=tr("Run to look through"), letters=12)
        self.choice.setToolTip(tr("Run to look through"))
        self.choice.activated.connect(self._playhead.set_run)
        self.buttons = {name: self._button(name) for name in BUTTONS}
        self.field = named(QLineEdit(self, alignment=Qt.AlignmentFlag.AlignRight), "playhead_time", tr("Time to go to"))
        self.field.setToolTip(tr("Type a time, such as 12.5s or 12500ms, and press Enter"))
        self.field.setFixedWidth(self.field.fontMetrics().horizontalAdvance("1200.000000 s") + 16)
        self.field.returnPressed.connect(self._on_typed)
        self.field.textEdited.connect(lambda _text: self._complain(""))
        self.field.editingFinished.connect(self._show_time)
        self._end = named(muted(Label(self)), "playhead_end")
        self._left_out = named(muted(Label(self)), "playhead_left_out")
        # Wide enough for usual numbers, because a change of width would move the track under the mouse.
        self._left_out.setMinimumWidth(self._left_out.fontMetrics().horizontalAdvance("+99999"))
        self.track = TimeTrack(_TRACK_HEIGHT, self)
        self.track.wanted.connect(self._playhead.seek)
        self.track.play_wanted.connect(self._actions["play"].trigger)
        speeds = ((speed, speed_label(speed)) for speed in SPEEDS)
        self.speed = Choice("playhead_speed", speeds, self, text=tr("Speed of playing"))
        self.speed.setToolTip(tr("Speed of playing: simulated seconds per second"))
        self.speed.setMaxVisibleItems(len(SPEEDS))
        self.speed.setCurrentIndex(SPEEDS.index(1.0))
        self.speed.currentIndexChanged.connect(lambda row: self._playhead.set_speed(SPEEDS[row]))
        self.live = named(QToolButton(self), "playhead_live")
        self.live.setDefaultAction(self._actions["live"])
        self.live.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.live.setIconSize(QSize(_ICON, _ICON))
        self._close = named(QToolButton(self), "playhead_leave", self._actions["leave"].text().replace("&", ""))
        self._close.setIcon(icon("close", "muted_text"))
        self._close.setAutoRaise(True)
        self._close.setToolTip(self._actions["leave"].toolTip())
        self._close.clicked.connect(self._actions["leave"].trigger)
        times = (self.field, self._end, self._left_out, (self.track, 1))
        last = (self.live, self.speed, self._close)
        margins = (8, _ABOVE + _AROUND, 6, _AROUND)
        h_box(self, self.choice, *self.buttons.values(), 4, *times, *last, margins=margins, spacing=3)
        set_style(
            self,
            lambda t: (
                f"#transport_strip {{ background: {t.window}; border-top: 1px solid {t.border}; }}"
                f"QToolButton:checked {{ background: {t.info_fill}; border-radius: 4px; }}"
            ),
        )
        self._show_playing()
        self._show_ticks()

    def _row_height(self) -> int:
        """Height of the bar with its tallest widgets, computed before they exist."""
        probes = (QLineEdit(self), QComboBox(self))
        height = max(_TRACK_HEIGHT, *(probe.sizeHint().height() for probe in probes))
        for probe in probes:
            probe.deleteLater()
        return height + _ABOVE + 2 * _AROUND

    def _button(self, name: str) -> QToolButton:
        action = self._actions[name]
        button = named(QToolButton(self), f"playhead_{name}", action.text().replace("&", ""), action.toolTip())
        button.setAutoRaise(True)
        button.setIconSize(QSize(_ICON, _ICON))
        button.setIcon(action.icon())
        button.setEnabled(action.isEnabled())
        button.clicked.connect(action.trigger)
        action.enabledChanged.connect(button.setEnabled)
        return button

    # ---- following the playhead ----

    def _on_changed(self) -> None:
        runs = self._playhead.runs
        if not runs:
            self.hide()
            return
        if not self._is_built:
            self._build()
        titles = [run.traces.title for run in runs]
        if [self.choice.itemData(row) for row in range(self.choice.count())] != titles:
            with QSignalBlocker(self.choice):
                self.choice.clear()
                for title, text in zip(titles, told_apart(titles), strict=True):
                    self.choice.addItem(text, title)
                    self.choice.setItemData(self.choice.count() - 1, as_written(title), Qt.ItemDataRole.ToolTipRole)
        with QSignalBlocker(self.choice):
            self.choice.setCurrentIndex(self._playhead.run_shown)
        self.choice.setVisible(len(runs) > 1)
        run = self._playhead.run
        self.live.setVisible(run is not None and run.goes_on)
        self._close.setEnabled(self._playhead.time_s is not None)
        self._show_playing()
        self._show_time()
        self._show_progress()
        self._show_notice()
        self.show()

    def _show_playing(self) -> None:
        direction = self._playhead.transport.direction
        for name, own in (("play", 1), ("play_back", -1)):
            is_on = direction == own
            self.buttons[name].setIcon(icon("pause") if is_on else self._actions[name].icon())
        speed = self._playhead.transport.speed
        with QSignalBlocker(self.speed):
            self.speed.setCurrentIndex(SPEEDS.index(min(SPEEDS, key=lambda each: abs(each - speed))))

    def _show_time(self) -> None:
        if not self._is_built or self._playhead.run is None:
            return
        transport = self._playhead.transport
        text = shown_time(transport.shown_s, transport.speed)
        if not (self.field.hasFocus() and self.field.isModified()):
            self.field.setText(text)
        self.track.show_time(transport.shown_s, transport.known_s, transport.end_s, text)
        self._end.setText(tr("of {end} s", end=fmt.number(transport.end_s, 6)))

    def _show_ticks(self) -> None:
        if self._is_built:
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


def told_apart(titles: Sequence[str]) -> list[str]:
    """Titles without their common first words; a repeated title is numbered."""
    common = shared_words(titles) if len(titles) > 1 else 0
    cut = [f"… {rest}" if common and (rest := " ".join(title.split(" ")[common:])) else title for title in titles]
    return [
        title if cut.count(title) == 1 else f"{title} ({cut[: place + 1].count(title)})"
        for place, title in enumerate(cut)
    ]
