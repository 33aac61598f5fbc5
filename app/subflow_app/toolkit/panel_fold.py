"""Folding a place of panels to one line: its tabs, and what its panel says in short."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QObject, QSize, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QSplitter, QToolButton, QWidget

from subflow_app.toolkit.icons import icon
from subflow_app.toolkit.plain_text import as_written
from subflow_app.toolkit.widgets.shorthand import timer
from subflow_app.vocabulary.language import tr

_NO_LIMIT = 16_777_215  # of a height, as Qt has it, px
_SHARE = 0.34  # of the height, for a place that is unfolded and never had one
_LEAST_LINE = 40  # px, of the line beside the tabs
_BUTTONS = 60  # px, for the buttons at the end of a bar


class PanelFold(QObject):
    """Folds the place where one panel lies, as long as that is below or above others; elsewhere it does nothing.

    A person moves panels about, so the place is looked for again whenever places come or go.
    """

    chosen = Signal(bool)  # the person folded or unfolded it

    def __init__(self, manager: Any, dock: Any) -> None:
        """Unfolded.

        Args:
            manager: the `ads.CDockManager`.
            dock: the `ads.CDockWidget` whose place it is.
        """
        super().__init__(manager)
        self._dock = dock
        self.is_folded = False  # whether the place is folded, or would be if it lay above or below others
        self._text = ""
        self._line: _Line | None = None
        # Of the place whose height is held. Places themselves are never kept: QtAds deletes them when layouts change.
        self._held: list[Any] = []
        self._height = 0  # of the place before it was folded, px
        self._timer = timer(self, self.follow, is_single=True)
        manager.dockAreaCreated.connect(self._timer.start)
        dock.topLevelChanged.connect(self._timer.start)

    def set_folded(self, is_folded: bool) -> None:
        """Folds or unfolds the place."""
        self.is_folded = is_folded
        self.follow()

    def toggle(self) -> None:
        """What the person does: folds or unfolds it."""
        self.set_folded(not self.is_folded)
        self.chosen.emit(self.is_folded)

    def set_text(self, text: str) -> None:
        """Says something else beside the tabs while it is folded."""
        self._text = text
        self._say()

    def show_panel(self, dock: Any) -> None:
        """Unfolds the place if this panel lies in it: somebody wants to see it, so it stays unfolded."""
        if dock in self._held:
            self.toggle()

    def release(self) -> None:
        """Lets the place have any height and show its panels, until `follow`: panels are about to be moved."""
        held, self._held = self._held, []
        for dock in held:
            dock.widget().show()
            dock.setMaximumHeight(_NO_LIMIT)
            area = dock.dockAreaWidget()
            if area is not None:
                area.setMinimumHeight(0)
                area.setMaximumHeight(_NO_LIMIT)

    def follow(self) -> None:
        """Folds or unfolds the place where the panel lies now."""
        area = self._dock.dockAreaWidget()
        # Kept as long as the place is used: PySide gives up its children with the last reference to a splitter.
        splitter = area.parentWidget()
        can_fold = _can_fold(area, splitter)
        if self.is_folded and can_fold:
            if self._held != area.dockWidgets():
                self.release()
                self._hold(area)
        elif self._held:
            self.release()
            if can_fold:
                self._give_back_height(splitter, splitter.indexOf(area))
        self._put_line_into(area)
        if self._line is not None:
            self._line.setVisible(can_fold)
        self._say()

    # ---- inside ----

    def _hold(self, area: Any) -> None:
        line = area.titleBar().sizeHint().height()
        if area.height() > 2 * line:
            self._height = area.height()
        self._held = area.dockWidgets()
        for dock in self._held:
            # What cannot be seen shall not take the keyboard, nor be kept up to date.
            dock.widget().hide()
            dock.setMaximumHeight(0)
        area.setFixedHeight(line)

    def _give_back_height(self, splitter: QSplitter, place: int) -> None:
        sizes = splitter.sizes()
        wanted = self._height or round(_SHARE * sum(sizes))
        giver = max((index for index in range(len(sizes)) if index != place), key=lambda index: sizes[index])
        sizes[giver] -= wanted - sizes[place]
        sizes[place] = wanted
        splitter.setSizes(sizes)

    def _put_line_into(self, area: Any) -> None:
        if self._line is not None and area.isAncestorOf(self._line):
            return
        bar = area.titleBar()
        if self._line is None:
            self._line = _Line(bar)
            self._line.clicked.connect(self.toggle)
            # With the place where it is, when QtAds makes others.
            self._line.destroyed.connect(self._on_line_gone)
        bar.insertWidget(bar.indexOf(bar.tabBar()) + 1, self._line)

    def _on_line_gone(self) -> None:
        self._line = None

    def _say(self) -> None:
        if self._line is None:
            return
        is_held = bool(self._held)
        self._line.setIcon(icon("unfold_up" if is_held else "unfolded"))
        told = tr("Show these panels again") if is_held else tr("Fold these panels to one line")
        self._line.setToolTip(as_written(told))
        self._line.setAccessibleName(told)
        self._line.say(self._text if is_held else "")


def _can_fold(area: Any, splitter: QWidget | None) -> bool:
    return (
        isinstance(splitter, QSplitter)
        and splitter.orientation() == Qt.Orientation.Vertical
        and not area.containsCentralWidget()
        and sum(part is not None and not part.isHidden() for part in map(splitter.widget, range(splitter.count()))) > 1
    )


class _Line(QToolButton):
    """The button at the end of the tabs, with as much of the text as there is room for."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("panel_fold")
        self.setAutoRaise(True)
        self.setIconSize(QSize(14, 14))
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setLayoutDirection(Qt.LayoutDirection.RightToLeft)  # the arrow at the end of the line
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Preferred)
        self._text = ""

    def say(self, text: str) -> None:
        self._text = text
        style = Qt.ToolButtonStyle
        self.setToolButtonStyle(style.ToolButtonTextBesideIcon if text else style.ToolButtonIconOnly)
        self.updateGeometry()
        self._elide()

    def sizeHint(self) -> QSize:
        hint = super().sizeHint()
        if self._text:
            bar: Any = self.parentWidget()  # of QtAds
            room = bar.width() - bar.tabBar().sizeHint().width() - _BUTTONS
            whole = self.fontMetrics().horizontalAdvance(self._text) + self._beside()
            hint.setWidth(min(whole, max(room, _LEAST_LINE)))
        return hint

    def minimumSizeHint(self) -> QSize:
        hint = self.sizeHint()
        return QSize(min(hint.width(), _LEAST_LINE), hint.height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._elide()

    def _elide(self) -> None:
        room = max(0, self.width() - self._beside())
        self.setText(self.fontMetrics().elidedText(self._text, Qt.TextElideMode.ElideRight, room))

    def _beside(self) -> int:
        return self.iconSize().width() + 20
