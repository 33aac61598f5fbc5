"""The card of the Explain panel: cause with a picture of the queue, notice of the sender, rule, and changes to try."""

from __future__ import annotations

import html

from PySide6.QtCore import QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen, QPolygonF
from PySide6.QtWidgets import QPushButton, QSizePolicy, QVBoxLayout, QWidget

from subflow_app.features.explain.core.causes import QueueCurve
from subflow_app.features.explain.core.story import CAUSE, RULE, Story, StoryStep, Try, link_text
from subflow_app.toolkit.icons import icon
from subflow_app.toolkit.theme import current_tokens, muted
from subflow_app.toolkit.widgets.shorthand import Label, h_box, heading, named, sized, v_box
from subflow_app.vocabulary.language import tr

_HEIGHT, _LABEL_WIDTH, _CROSS = 52, 72, 4
_TIME_WIDTH, _ICON = 64, 16
_MARK_ICONS = {"cause": "error", "noticed": "events", "rule": "inspector"}
_CALM = frozenset({"none", "unknown"})  # causes without a loss


class QueuePicture(QWidget):
    """The queue of a link around a drop: a filled curve, its limit as a dashed line, and the drop as a cross."""

    def __init__(self, parent: QWidget | None = None) -> None:
        """Create an empty picture, which is hidden."""
        super().__init__(parent)
        self.setObjectName("explain_queue")
        self.setFixedHeight(_HEIGHT)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.curve: QueueCurve | None = None
        self.hide()

    def show_curve(self, curve: QueueCurve | None) -> None:
        """Show the queue around a drop or mark; None hides the picture."""
        self.curve = curve
        self.setVisible(curve is not None)
        if curve is not None:
            self.setAccessibleName(
                tr(
                    "Queue of {link}: {count} packets at {time} s",
                    link=link_text(curve.link),
                    count=curve.at_pkts,
                    time=f"{curve.at_s:.3f}",
                )
            )
        self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw the curve."""
        curve = self.curve
        if curve is None or len(curve.times_s) < 2:
            return
        tokens = current_tokens()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        width, floor = float(max(40, self.width() - _LABEL_WIDTH)), float(_HEIGHT - 4)
        first_s, last_s = curve.times_s[0], curve.times_s[-1]
        top = max(*curve.pkts, curve.at_pkts, curve.limit_pkts or 0, 1)

        def at(time_s: float, pkts: float) -> QPointF:
            x = (time_s - first_s) / max(last_s - first_s, 1e-9) * width
            return QPointF(x, floor - pkts / top * (floor - 10.0))

        fill = QColor(tokens.accent)
        fill.setAlphaF(0.3)
        shape = [at(time_s, pkts) for time_s, pkts in zip(curve.times_s, curve.pkts, strict=True)]
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(fill)
        painter.drawPolygon(QPolygonF([*shape, QPointF(width, floor), QPointF(0.0, floor)]))
        painter.setPen(QPen(QColor(tokens.border), 1))
        painter.drawLine(QPointF(0.0, floor), QPointF(width, floor))
        if curve.limit_pkts is not None:
            limit = at(first_s, curve.limit_pkts)
            painter.setPen(QPen(QColor(tokens.muted_text), 1, Qt.PenStyle.DashLine))
            painter.drawLine(limit, QPointF(width, limit.y()))
            painter.setFont(sized(self.font(), 0.9))
            painter.drawText(
                QRectF(width + 6, limit.y() - 9, _LABEL_WIDTH - 6, 18),
                Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter,
                tr("full: {count}", count=curve.limit_pkts),
            )
        drop = at(curve.at_s, curve.at_pkts)
        painter.setPen(QPen(QColor(tokens.error), 2))
        painter.drawLine(drop + QPointF(-_CROSS, -_CROSS), drop + QPointF(_CROSS, _CROSS))
        painter.drawLine(drop + QPointF(-_CROSS, _CROSS), drop + QPointF(_CROSS, -_CROSS))


class StepRow(QWidget):
    """A step of the story: time, symbol, title, text, and an optional part below the text."""

    def __init__(self, kind: str, *below: QWidget, parent: QWidget | None = None) -> None:
        """Create a hidden row for steps of this kind; ``below`` are shown under its text."""
        super().__init__(parent)
        self.setObjectName(f"explain_{kind}")
        self.time = named(muted(Label(self)), f"explain_{kind}_time")
        self.time.setFixedWidth(_TIME_WIDTH)
        self.time.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignTop)
        self._mark = Label(self)
        self._mark.setFixedWidth(_ICON)
        self._mark.setAlignment(Qt.AlignmentFlag.AlignTop)
        self.title = named(Label(self, wordWrap=True), f"explain_{kind}_title")
        self.title.setFont(sized(self.title.font(), is_bold=True))
        self.text = named(Label(self, wordWrap=True), f"explain_{kind}_text")
        self.picture = QueuePicture(self) if kind == CAUSE else None
        self.link = named(Label(self, textFormat=Qt.TextFormat.RichText), f"explain_{kind}_link")
        for label in (self.title, self.text):
            label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._kind = kind
        parts = [self.title, *([self.picture] if self.picture is not None else []), self.text, self.link, *below]
        inner = v_box(None, *parts, margins=0, spacing=4)
        h_box(self, self.time, self._mark, (inner, 1), margins=0, spacing=8)
        self.hide()

    def show_step(self, step: StoryStep, story: Story) -> None:
        """Show a step of a story."""
        tokens = current_tokens()
        colour = "error" if self._kind == CAUSE and story.cause not in _CALM else "muted_text"
        self._mark.setPixmap(icon(_MARK_ICONS[self._kind], colour).pixmap(_ICON, _ICON))
        self.time.setText(f"{step.time_s:.3f} s")
        self.title.setText(step.title)
        # The rule's formula is typeset below.
        self.text.setText("" if self._kind == RULE else step.text)
        self.text.setVisible(bool(self.text.text()))
        link = html.escape(tr("Show at {link}", link=link_text(step.link))) if step.link else ""
        self.link.setText(f'<a href="#" style="color: {tokens.link}">{link}</a>')
        self.link.setVisible(bool(link))
        if self.picture is not None:
            self.picture.show_curve(story.queue)
        self.show()


class StoryCard(QWidget):
    """Title, steps in order of time, and buttons for changes to try."""

    show_wanted = Signal(float, str)  # time in s and link direction of the cause
    try_wanted = Signal(object)  # the Try to prepare as a fork

    def __init__(self, rule: QWidget, parent: QWidget | None = None) -> None:
        """Create an empty card; ``rule`` shows the formulas of the rule."""
        super().__init__(parent)
        self.story: Story | None = None
        self.quiet = named(muted(Label(self, wordWrap=True)), "explain_quiet")
        self.title = named(Label(self, wordWrap=True), "explain_title")
        heading(self.title, 1.15)
        self.title.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.rows = {CAUSE: StepRow(CAUSE), "noticed": StepRow("noticed"), RULE: StepRow(RULE, rule)}
        self.rows[CAUSE].link.linkActivated.connect(lambda _url: self._ask_to_show())
        self._steps = QVBoxLayout()
        self._steps.setSpacing(12)
        for row in self.rows.values():
            self._steps.addWidget(row)
        self._buttons: list[QPushButton] = []
        self._tries = h_box(None, None, spacing=6)
        v_box(self, self.quiet, self.title, self._steps, self._tries, margins=0, spacing=6)

    @property
    def try_buttons(self) -> tuple[QPushButton, ...]:
        """The buttons for changes to try."""
        return tuple(self._buttons)

    def show_story(self, story: Story) -> None:
        """Show a story."""
        self.story = story
        self.quiet.setText(story.quiet)
        self.quiet.setVisible(bool(story.quiet))
        self.title.setText(story.title)
        for row in self.rows.values():
            row.hide()
            self._steps.removeWidget(row)
        for step in story.steps:  # in order of time: a rule may follow its cause at once, or much later
            self._steps.addWidget(self.rows[step.kind])
            self.rows[step.kind].show_step(step, story)
        for button in self._buttons:
            self._tries.removeWidget(button)
            button.setParent(None)
            button.deleteLater()
        self._buttons = [self._button(each) for each in story.tries]
        for place, button in enumerate(self._buttons):
            self._tries.insertWidget(place, button)

    def _button(self, change: Try) -> QPushButton:
        button = named(QPushButton(icon("fork"), change.text, self), "explain_try")
        button.setToolTip(tr("Opens What if with this change"))
        button.clicked.connect(lambda: self.try_wanted.emit(change))
        return button

    def _ask_to_show(self) -> None:
        step = next((each for each in self.story.steps if each.kind == CAUSE), None) if self.story else None
        if step is not None:
            self.show_wanted.emit(step.time_s, step.link)
