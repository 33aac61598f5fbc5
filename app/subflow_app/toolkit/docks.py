"""Docking of panels, with the docking library hidden behind one class, and the folding of a panel to one line.

Panels are arranged around a centre, and their layout is saved. A folded dock area shows its tabs and a short summary.

QtAds rather than ``QDockWidget``: QtAds supports pinned side tabs, floating groups and a fixed centre. Its style sheet
is designed for light palettes: on a dark one, the text of an inactive tab is almost invisible. :func:`_style_sheet`
replaces it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import Enum
from typing import Any

import PySide6QtAds as ads  # noqa: N813 - its own examples call it so
from PySide6.QtCore import QByteArray, QObject, QPoint, QRect, QSize, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractScrollArea,
    QApplication,
    QFrame,
    QMainWindow,
    QSizePolicy,
    QSplitter,
    QToolButton,
    QWidget,
)

from subflow_app.toolkit.icons import icon
from subflow_app.toolkit.theme import Tokens, set_style
from subflow_app.toolkit.widgets.shorthand import as_written, named, timer
from subflow_app.vocabulary.language import tr

_NO_LIMIT = 16_777_215  # largest height of a Qt widget, px
_SHARE = 0.34  # share of the height for an unfolded area whose earlier height is unknown
_LEAST_LINE = 40  # px, minimum width of the summary beside the tabs
_BUTTONS = 60  # px, for the buttons at the end of a bar


class PanelFold(QObject):
    """Folds the dock area of one panel if another area is above or below; has no effect otherwise.

    The user may move panels, so the panel's area is looked up again whenever an area is created, and when the panel is
    floated or docked.
    """

    chosen = Signal(bool)  # the user folded or unfolded the area

    def __init__(self, manager: Any, dock: Any) -> None:
        """Start unfolded.

        Args:
            manager: the `ads.CDockManager`.
            dock: the `ads.CDockWidget` whose area is folded.
        """
        super().__init__(manager)
        self._dock = dock
        self.is_folded = False  # the requested state, even while the area cannot be folded
        self._text = ""
        self._line: _Line | None = None
        # Panels in the folded area. The area itself is never stored, because QtAds deletes areas when layouts change.
        self._held: list[Any] = []
        self._height = 0  # height of the area before it was folded, px
        self._timer = timer(self, self.follow, is_single=True)
        manager.dockAreaCreated.connect(self._timer.start)
        dock.topLevelChanged.connect(self._timer.start)

    def set_folded(self, is_folded: bool) -> None:
        """Fold or unfold the area."""
        self.is_folded = is_folded
        self.follow()

    def toggle(self) -> None:
        """Fold or unfold the area on the user's request."""
        self.set_folded(not self.is_folded)
        self.chosen.emit(self.is_folded)

    def set_text(self, text: str) -> None:
        """Set the summary shown beside the tabs while the area is folded."""
        self._text = text
        self._say()

    def show_panel(self, dock: Any) -> None:
        """Unfold the area if it contains this panel, which is about to be shown."""
        if dock in self._held:
            self.toggle()

    def release(self) -> None:
        """Show the folded panels without a height limit until `follow` is called; call this before panels are moved."""
        held, self._held = self._held, []
        for dock in held:
            dock.widget().show()
            dock.setMaximumHeight(_NO_LIMIT)
            area = dock.dockAreaWidget()
            if area is not None:
                area.setMinimumHeight(0)
                area.setMaximumHeight(_NO_LIMIT)

    def follow(self) -> None:
        """Fold or unfold the current area of the panel, as requested."""
        area = self._dock.dockAreaWidget()
        # Hold a reference to the splitter during this method: when PySide drops its last reference to a splitter, it
        # also releases the splitter's children.
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

    # ---- internals ----

    def _hold(self, area: Any) -> None:
        line = area.titleBar().sizeHint().height()
        if area.height() > 2 * line:
            self._height = area.height()
        self._held = area.dockWidgets()
        for dock in self._held:
            # A hidden panel receives no keyboard focus and needs no updates.
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
            # The line is deleted with its area when QtAds creates new areas.
            self._line.destroyed.connect(self._on_line_gone)
        bar.insertWidget(bar.indexOf(bar.tabBar()) + 1, self._line)

    def _on_line_gone(self) -> None:
        self._line = None

    def _say(self) -> None:
        if self._line is None:
            return
        is_held = bool(self._held)
        self._line.setIcon(icon("unfold_up" if is_held else "unfolded"))
        text = tr("Show these panels again") if is_held else tr("Fold these panels to one line")
        self._line.setToolTip(as_written(text))
        self._line.setAccessibleName(text)
        self._line.say(self._text if is_held else "")


def _can_fold(area: Any, splitter: QWidget | None) -> bool:
    return (
        isinstance(splitter, QSplitter)
        and splitter.orientation() == Qt.Orientation.Vertical
        and not area.containsCentralWidget()
        and sum(part is not None and not part.isHidden() for part in map(splitter.widget, range(splitter.count()))) > 1
    )


class _Line(QToolButton):
    """The button after the tabs that folds the area and shows the summary, cut to the available width."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("panel_fold")
        self.setAutoRaise(True)
        self.setIconSize(QSize(14, 14))
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setLayoutDirection(Qt.LayoutDirection.RightToLeft)  # puts the arrow at the end of the line
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
            bar: Any = self.parentWidget()  # belongs to QtAds
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


# Raise this number when panels are added or removed: layouts saved by older versions are then ignored instead of being
# restored incompletely.
LAYOUT_VERSION = 9


# Panels, and the centre, without a title row: their contents name themselves.
UNTITLED = frozenset({"topology", "inspector", "plots"})


class Side(Enum):
    """Initial place of a panel."""

    LEFT = ads.LeftDockWidgetArea
    RIGHT = ads.RightDockWidgetArea
    TOP = ads.TopDockWidgetArea
    BOTTOM = ads.BottomDockWidgetArea
    TAB = ads.CenterDockWidgetArea  # as another tab of the same area


@dataclass(frozen=True, slots=True)
class _Panel:
    dock: Any  # ads.CDockWidget; QtAds has no type information
    icon_name: str


class Docks(QObject):
    """The panels of one main window."""

    visibility_changed = Signal(str, bool)  # panel name, true if it is open
    opened = Signal(str)  # panel name; not emitted while several panels are rearranged

    def __init__(self, window: QMainWindow) -> None:
        """Take over the central area of ``window``."""
        super().__init__(window)
        self._window = window
        flags = ads.CDockManager.eConfigFlag
        # Without DisableStylesheet, QtAds restores its own style sheet whenever the palette changes.
        ads.CDockManager.setConfigFlags(
            flags.DefaultOpaqueConfig | flags.FocusHighlighting | flags.EqualSplitOnInsertion | flags.DisableStylesheet
        )
        # One close button per tab; the buttons of the whole area would only repeat functions of tabs and the View menu.
        for flag in (flags.DockAreaHasCloseButton, flags.DockAreaHasUndockButton, flags.DockAreaHasTabsMenuButton):
            ads.CDockManager.setConfigFlag(flag, False)
        self._manager = named(ads.CDockManager(window), "docks")
        self._panels: dict[str, _Panel] = {}
        self._is_rearranging = False
        self._titles = timer(self, self._show_titles, is_single=True)
        self._manager.dockAreaCreated.connect(self._titles.start)
        self.fold: PanelFold | None = None
        # `colour` sets the style sheet later: with a style sheet, each new panel and each restored layout polishes all
        # widgets, which took a quarter of the startup time.

    def set_centre(self, name: str, title: str, widget: QWidget) -> None:
        """Put ``widget`` in the fixed centre, which cannot be closed or moved."""
        dock = named(ads.CDockWidget(self._manager, title), name)
        dock.setWidget(widget)
        around = dock.findChild(QAbstractScrollArea, "dockWidgetScrollArea")
        if around is not None:
            around.setAccessibleName(title)
            around.setFrameShape(QFrame.Shape.NoFrame)
        area = self._manager.setCentralWidget(dock)
        area.setAllowedAreas(ads.DockWidgetArea.OuterDockAreas)

    def add(self, name: str, title: str, widget: QWidget, *, icon_name: str) -> None:
        """Add a panel as a tab of the centre; :meth:`place` moves it to its final position.

        Args:
            name: object name, stable across versions because saved layouts refer to it.
            title: text of its tab.
            widget: the content, owned by the panel from now on.
            icon_name: icon of its tab, see ``icons``.
        """
        dock = named(ads.CDockWidget(self._manager, title), name)
        # The content has its own scroll bars, which would conflict with those of a second scroll area.
        dock.setWidget(widget, ads.CDockWidget.eInsertMode.ForceNoScrollArea)
        dock.setMinimumSizeHintMode(ads.CDockWidget.eMinimumSizeHintMode.MinimumSizeHintFromContent)
        self._manager.addDockWidgetTabToArea(dock, self._manager.centralWidget().dockAreaWidget())
        # Connect to the tab, which remains with its panel; areas are deleted and recreated when layouts change.
        dock.tabWidget().clicked.connect(lambda dock=dock: self._unfold(dock))
        dock.viewToggled.connect(lambda is_open, name=name: self._on_toggled(name, is_open))
        self._panels[name] = _Panel(dock, icon_name)
        self._draw_icons(self._panels[name])

    def make_foldable(self, name: str) -> PanelFold:
        """Let the area of a panel be folded to one line while another area is above or below."""
        self.fold = PanelFold(self._manager, self._panels[name].dock)
        return self.fold

    def set_sizes(self, name: str, sizes: list[int]) -> None:
        """Set the sizes, px, in the splitter that contains a panel or the centre, left to right or top to bottom."""
        around = self.splitter_of(name)
        if around is not None:
            _share_out(around, sizes)

    def splitter_of(self, name: str) -> QSplitter | None:
        """The splitter that contains a panel or the centre; None for a panel that floats alone."""
        around = self._manager.findDockWidget(name).dockAreaWidget().parentWidget()
        while around is not None and not isinstance(around, QSplitter):
            around = around.parentWidget()
        return around

    @property
    def outer_splitter(self) -> QSplitter:
        """The splitter between the columns of panels."""
        splitter: QSplitter = self._manager.rootSplitter()
        return splitter

    def is_over_centre(self, name: str) -> bool:
        """True if a panel is a tab beside the centre."""
        area = self._panels[name].dock.dockAreaWidget()
        return area is not None and bool(area.containsCentralWidget())

    def neighbours(self, name: str) -> tuple[str, ...]:
        """Names of the other open panels in the dock area of a panel, without the centre."""
        area = self._panels[name].dock.dockAreaWidget()
        docks = area.openedDockWidgets() if area is not None else ()
        return tuple(n for n in (str(dock.objectName()) for dock in docks) if n != name and n in self._panels)

    def set_outer_sizes(self, sizes: list[int]) -> None:
        """Divide the whole width between the columns of panels, px from left to right."""
        _share_out(self._manager.rootSplitter(), sizes)

    @contextmanager
    def rearranging(self) -> Iterator[None]:
        """Context for moving several panels, in which drawing and polishing are suspended."""
        style, focused = self._manager.styleSheet(), QApplication.focusWidget()
        if self.fold is not None:
            self.fold.release()
        self._window.setUpdatesEnabled(False)
        # Each panel that is added as a tab is in front until the next one is added. Hide all panels meanwhile, so that
        # none of them counts as viewed by the user.
        self._manager.hide()
        self._manager.setStyleSheet("")
        self._is_rearranging = True
        try:
            yield
        finally:
            self._is_rearranging = False
            self._show_titles()
            self._manager.setStyleSheet(style)
            self._manager.show()
            self._window.setUpdatesEnabled(True)
            if focused is not None and focused.isVisible():
                focused.setFocus()

    def place(self, name: str, side: Side, beside: str | None = None) -> None:
        """Move a panel to a side of the window, or of the panel ``beside``, and open it."""
        dock = self._panels[name].dock
        # Open the panel first: if it is moved while closed, its tab does not reappear.
        dock.toggleView(True)
        neighbour = self._manager.findDockWidget(beside).dockAreaWidget() if beside else None
        self._manager.addDockWidget(side.value, dock, neighbour)

    def save_state(self) -> QByteArray:
        """The current layout, for the window-state file."""
        state: QByteArray = self._manager.saveState(LAYOUT_VERSION)
        return state

    def restore_state(self, state: QByteArray) -> bool:
        """Restore a layout of :meth:`save_state`; False, without any change, if it is from another version."""
        with self.rearranging():
            return bool(self._manager.restoreState(state, LAYOUT_VERSION))

    def names(self) -> tuple[str, ...]:
        """Names of all panels except the centre, in the order in which they were added."""
        return tuple(self._panels)

    def is_open(self, name: str) -> bool:
        """True if the panel is open (it may still be hidden behind another tab)."""
        return not self._panels[name].dock.isClosed()

    def set_open(self, name: str, is_open: bool) -> None:
        """Open or close a panel; an opened panel comes to the front."""
        dock = self._panels[name].dock
        dock.toggleView(is_open)
        if is_open:
            self._unfold(dock)
            dock.setAsCurrentTab()
            dock.raise_()

    def go_to(self, name: str) -> None:
        """Open a panel, bring it to the front and focus its first control."""
        self.set_open(name, True)
        content = self.content(name)
        inside = [content, *content.findChildren(QWidget)]
        takes_keys = (part for part in inside if part.focusPolicy() & Qt.FocusPolicy.TabFocus and part.isEnabled())
        first = next((part for part in takes_keys if part.isVisibleTo(content)), content)
        first.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def contains(self, name: str, widget: QWidget) -> bool:
        """True if a widget is part of a panel."""
        return bool(self._panels[name].dock.isAncestorOf(widget))

    def content(self, name: str) -> QWidget:
        """The widget that a panel shows."""
        widget: QWidget = self._panels[name].dock.widget()
        return widget

    def tab(self, name: str) -> QWidget:
        """The tab of a panel, or of the centre."""
        widget: QWidget = self._manager.findDockWidget(name).tabWidget()
        return widget

    def close_panel(self, name: str) -> None:
        """Close a panel, if it is open."""
        self._panels[name].dock.toggleView(False)

    def raise_panel(self, name: str) -> None:
        """Bring a panel (or the centre) to the front of its dock area; a closed panel remains closed."""
        dock = self._manager.findDockWidget(name)
        if not dock.isClosed():
            self._unfold(dock)
            dock.setAsCurrentTab()

    def _unfold(self, dock: Any) -> None:
        if self.fold is not None:
            self.fold.show_panel(dock)

    def _on_toggled(self, name: str, is_open: bool) -> None:
        self.visibility_changed.emit(name, is_open)
        if is_open and not self._is_rearranging:
            self.opened.emit(name)
        self._titles.start()

    def _show_titles(self) -> None:
        """Hide the title rows of areas that show only one of the panels without titles."""
        for area in self._manager.openedDockAreas():
            names = {str(dock.objectName()) for dock in area.openedDockWidgets()}
            area.setDockAreaFlag(ads.CDockAreaWidget.eDockAreaFlag.HideSingleWidgetTitleBar, names <= UNTITLED)
            area.updateTitleBarVisibility()

    def front_of(self, name: str) -> str:
        """Name of the front panel (or the centre) in the dock area that contains a panel."""
        area = self._manager.findDockWidget(name).dockAreaWidget()
        return str(area.currentDockWidget().objectName())

    def place_of(self, name: str, ancestor: QWidget) -> QRect:
        """Rectangle of the dock area of a panel (or the centre) in the coordinates of an ancestor."""
        area: QWidget = self._manager.findDockWidget(name).dockAreaWidget()
        return QRect(area.mapTo(ancestor, QPoint()), area.size())

    def colour(self) -> None:
        """Apply colours to tabs and splitters, which follow the theme from now on."""
        set_style(self._manager, _style_sheet)

    def _draw_icons(self, panel: _Panel) -> None:
        panel.dock.setIcon(icon(panel.icon_name))
        tab = panel.dock.tabWidget()
        tab.setIconSize(QSize(14, 14))
        close = tab.findChild(QAbstractButton, "tabCloseButton")
        close.setIcon(icon("close"))
        close.setIconSize(QSize(14, 14))
        close.setToolTip(tr("Close {panel}; the View menu brings it back", panel=panel.dock.windowTitle()))
        close.setAccessibleName(tr("Close {panel}", panel=panel.dock.windowTitle()))


def _share_out(splitter: QSplitter, sizes: list[int]) -> None:
    """Set the sizes of visible parts; areas of closed panels remain in the splitter with size 0."""
    left = iter(sizes)
    parts = [splitter.widget(index) for index in range(splitter.count())]
    splitter.setSizes([0 if part is None or part.isHidden() else next(left, 0) for part in parts])


def _style_sheet(t: Tokens) -> str:
    return f"""
ads--CDockContainerWidget {{ background: {t.window}; }}
ads--CDockContainerWidget > QSplitter {{ padding: 0; }}
ads--CDockContainerWidget ads--CDockSplitter::handle {{ background: {t.border}; }}
ads--CDockContainerWidget ads--CDockSplitter::handle:horizontal {{ width: 1px; }}
ads--CDockContainerWidget ads--CDockSplitter::handle:vertical {{ height: 1px; }}
ads--CDockContainerWidget ads--CDockSplitter::handle:hover {{ background: {t.accent}; }}
ads--CDockAreaWidget {{ background: {t.window}; }}
ads--CDockAreaTitleBar {{ background: {t.window}; border: none; padding: 0; }}
ads--CDockWidget {{ background: {t.base}; border: none; }}
ads--CDockWidgetTab {{ background: {t.window}; border: none; border-bottom: 2px solid transparent; padding: 2px 4px; }}
ads--CDockWidgetTab QLabel {{ color: {t.muted_text}; }}
ads--CDockWidgetTab[activeTab="true"] {{ background: {t.window}; }}
ads--CDockWidgetTab[activeTab="true"] QLabel {{ color: {t.text}; font-weight: 600; }}
ads--CDockWidgetTab[focused="true"] {{ background: {t.window}; border-bottom: 2px solid {t.accent}; }}
ads--CDockWidgetTab[focused="true"] QLabel {{ color: {t.text}; }}
ads--CDockWidgetTab:hover QLabel {{ color: {t.text}; }}
#tabCloseButton {{ background: none; border: none; border-radius: 3px; padding: 0; margin: 2px 0 0 2px; }}
#tabCloseButton:hover {{ background: {t.button_hover}; }}
#panel_fold {{ background: none; border: none; border-radius: 3px; padding: 1px 4px; color: {t.muted_text}; }}
#panel_fold:hover, #panel_fold:focus {{ background: {t.button_hover}; color: {t.text}; }}
ads--CTitleBarButton {{ background: none; border: none; border-radius: 3px; padding: 0 2px; }}
ads--CTitleBarButton:hover {{ background: {t.button_hover}; }}
ads--CAutoHideTab {{ background: {t.window}; color: {t.muted_text}; border: none; padding: 4px; }}
ads--CAutoHideTab:hover, ads--CAutoHideTab[activeTab="true"] {{ color: {t.text}; }}
ads--CFloatingDockContainer {{ background: {t.window}; }}
"""
