"""Finds and outlines the parts of the window that steps mention, and declares the ports of labs.

Targets are panels, buttons, plots, parts of the topology, and fields of the inspector. The outline follows a target
when it moves in the window.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol

from PySide6.QtCore import QElapsedTimer, QPoint, QRect, QRectF, Qt
from PySide6.QtGui import QAction, QColor, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QApplication, QGraphicsView, QMenu, QMenuBar, QScrollArea, QStyle, QToolBar, QWidget

from subflow_app.features.editor.qt.topology.items import NODE_RADIUS
from subflow_app.features.labs.core.lab import Target
from subflow_app.features.plots.core import PLOTS_BY_ID
from subflow_app.toolkit.feature import FeatureHolder
from subflow_app.toolkit.ports import PanelPorts
from subflow_app.toolkit.theme import current_tokens
from subflow_app.toolkit.widgets.shorthand import timer
from subflow_app.toolkit.workspaces import PANELS

if TYPE_CHECKING:
    from subflow_app.features.editor.qt.documents import Documents
    from subflow_app.features.editor.qt.inspector.inspector import Inspector
    from subflow_app.features.editor.qt.topology.view import TopologyView
    from subflow_app.features.exporting.qt.exporting import Exports
    from subflow_app.features.guide.qt import HelpPanel
    from subflow_app.features.plots.qt.plot_view import PlotView
    from subflow_app.features.running.qt.run_control import RunControl
    from subflow_app.features.running.qt.run_session import RunSession
    from subflow_app.features.running.qt.shown_runs import ShownRuns
    from subflow_app.toolkit.dialogs import Dialogs
    from subflow_app.toolkit.docks import Docks
    from subflow_app.toolkit.preferences import Preferences


PREDICTION = Target("prediction", "")
"""Target for the prediction form in the panel of labs."""

# Actions that labs of older versions name, and those that have replaced them.
_FORMER_ACTIONS = {"queue.add_several": "run.compare", "study.compare": "history.tabulate"}

_LINE = 6  # margin around a link of the topology, px


def place_of(ports: LabPorts, target: Target) -> QRect | None:
    """Rectangle of a target in the window, px; None for a hidden or unknown target."""
    match target.kind:
        case "panel":
            return _panel(ports, target.name)
        case "action":
            return _action(ports, target.name)
        case "plot":
            return _plot(ports, target.name)
        case "node" | "link" | "flow":
            return _part(ports, target.kind, target.name)
        case _:
            return _field(ports, target.name)


def reveal(ports: LabPorts, target: Target) -> bool:
    """Makes a target visible: opens its panel, or switches its plot on.

    Returns:
        True if a plot was switched on.
    """
    switches = target.name in PLOTS_BY_ID and not any(spec.id == target.name for spec in ports.plots.wanted)
    match target.kind:
        case "panel" if target.name in PANELS:
            _bring(ports, target.name)
        case "panel" | "plot":
            ports.docks.raise_panel("plots")
            if target.name in PLOTS_BY_ID:
                ports.set_plot_shown(target.name, True)
                ports.plots.scroll_to(target.name)
        case "node" | "link" | "flow":
            _bring(ports, "topology")
        case "field":
            _bring(ports, "inspector")
            _show_field(ports, target.name)
    return target.kind == "plot" and switches


def _bring(ports: LabPorts, panel: str) -> None:
    if not ports.docks.content(panel).isVisible():
        ports.docks.set_open(panel, True)


def _show_field(ports: LabPorts, key: str) -> None:
    ports.inspector.show_form()
    ports.inspector.show_key(_owner(key))
    row = ports.inspector.form.row(key)
    around = None if row is None else row.editor.parentWidget()
    while around is not None and not isinstance(around, QScrollArea):
        around = around.parentWidget()
    if row is not None and around is not None:
        around.ensureWidgetVisible(row.editor, 0, 50)


def _panel(ports: LabPorts, name: str) -> QRect | None:
    """Rectangle of a panel, of its tab if the panel is hidden, or of the action that opens it if it is closed."""
    window, docks = ports.window(), ports.docks
    if name == "plots":
        return place_of_widget(window, ports.plots) or place_of_widget(window, docks.tab(name))
    if name not in PANELS:
        return None
    if not docks.is_open(name):
        return _action(ports, f"view.{name}")
    return (
        place_of_widget(window, docks.content(name)) or place_of_widget(window, docks.tab(name)) or _around(ports, name)
    )


def _around(ports: LabPorts, name: str) -> QRect | None:
    """Rectangle of a panel whose parts cover it completely; None if it is hidden."""
    content, window = ports.docks.content(name), ports.window()
    if not content.isVisible() or content.window() is not window:
        return None
    return QRect(content.mapTo(window, QPoint()), content.size())


def _action(ports: LabPorts, name: str) -> QRect | None:
    name = _FORMER_ACTIONS.get(name, name)
    if name not in ports.bar.ids():
        return None
    action = ports.bar[name]
    button: QWidget | None = ports.toolbar.widgetForAction(action)
    if button is not None and button.isVisible():
        return place_of_widget(ports.window(), button)
    # For an action without a visible button, outline the title of its menu.
    bar = ports.menuBar()
    for title in bar.actions():
        if _leads_to(title, action):
            return bar.actionGeometry(title).translated(bar.mapTo(ports.window(), QPoint()))
    return None


def _leads_to(title: QAction, action: QAction) -> bool:
    menu = title.menu()
    return isinstance(menu, QMenu) and any(each is action or _leads_to(each, action) for each in menu.actions())


def _plot(ports: LabPorts, name: str) -> QRect | None:
    """Rectangle of a plot, or of the plot panel if the plot is not shown; None for an unknown plot."""
    if name not in PLOTS_BY_ID:
        return None
    for stack in ports.plots.stacks:
        for spec, plots in stack.plots_by_spec():
            if spec.id == name and plots and stack.isVisible() and stack.window() is ports.window():
                area = plots[0].item.sceneBoundingRect()
                for plot in plots[1:]:
                    area = area.united(plot.item.sceneBoundingRect())
                view = plots[0].item.scene().views()[0]
                return _in_view(ports.window(), view, view.mapFromScene(area).boundingRect())
    return _panel(ports, "plots")


def _part(ports: LabPorts, kind: str, name: str) -> QRect | None:
    """Rectangle of a node, of a link, or of all links of a flow; None if nothing is visible."""
    canvas, scene = ports.topology.canvas, ports.topology.scene
    if not canvas.isVisible():
        return None
    if kind == "node":
        middle = scene.node_positions().get(name)
        if middle is None:
            return None
        around = QRectF(-NODE_RADIUS, -NODE_RADIUS, 2 * NODE_RADIUS, 2 * NODE_RADIUS).translated(middle)
        return _in_view(ports.window(), canvas, canvas.mapFromScene(around).boundingRect())
    links = [name]
    if kind == "flow":
        scenario = ports.documents.doc.sketch
        flow = None if scenario is None else scenario.flows.get(name)
        links = [] if flow is None else [link for path in flow.paths for link in path]
    items = scene.link_items()
    curves = [curve for link in links if link in items and (curve := items[link].curve) is not None]
    if not curves:
        return None
    area = curves[0].bounds
    for curve in curves[1:]:
        area = area.united(curve.bounds)
    seen = canvas.mapFromScene(area).boundingRect()
    # A horizontal link has no height, so a margin is added.
    return _in_view(ports.window(), canvas, seen.adjusted(-_LINE, -_LINE, _LINE, _LINE))


def _field(ports: LabPorts, key: str) -> QRect | None:
    """Rectangle of a field or, if the field is hidden, of the node, link or flow to select; None if both are hidden."""
    row = ports.inspector.form.row(key)
    editor = None if row is None else place_of_widget(ports.window(), row.editor)
    if row is None or editor is None:
        owner, _, name = _owner(key).partition(".")
        return _part(ports, owner.removesuffix("s"), name) if owner in ("nodes", "links", "flows") else None
    label = place_of_widget(ports.window(), row.label)
    return editor if label is None else editor.united(label)


def _owner(key: str) -> str:
    parts = key.split(".")
    return ".".join(parts[:2]) if parts[0] in ("nodes", "links", "flows", "events") else ""


def place_of_widget(window: QWidget, widget: QWidget) -> QRect | None:
    """Rectangle of the visible part of a widget in the window, px; None if no part is visible."""
    if not widget.isVisible() or widget.window() is not window:
        return None
    # Parts scrolled out of sight are excluded.
    seen = widget.visibleRegion().boundingRect()
    return None if seen.isEmpty() else seen.translated(widget.mapTo(window, QPoint()))


def _in_view(window: QWidget, view: QGraphicsView, area: QRect) -> QRect | None:
    viewport = view.viewport()
    # Clip to the part that surrounding scroll areas leave visible.
    shown = area.intersected(viewport.visibleRegion().boundingRect())
    if shown.isEmpty() or not viewport.isVisible():
        return None
    return shown.translated(viewport.mapTo(window, QPoint()))


Finder = Callable[[Target], QRect | None]
"""Function that returns the rectangle of a target in the window, px; None for a hidden target."""

_TICK_MS = 60
_STILL_TICK_MS = 250
_PULSE_MS = 1600
_MARGIN = 3


class Spotlight(QWidget):
    """Transparent overlay that outlines targets and ignores the mouse. It is hidden when it has no targets."""

    def __init__(self, window: QWidget, find: Finder) -> None:
        super().__init__(window)
        self.setObjectName("lab_spotlight")
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.setAttribute(Qt.WidgetAttribute.WA_NoSystemBackground)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._window = window
        self._find = find
        self.targets: tuple[Target, ...] = ()  # the outlined targets
        self.places: list[QRect] = []  # rectangles of the targets in the window, px
        self._clock = QElapsedTimer()
        self._timer = timer(self, self._follow)
        self.hide()

    def point_at(self, targets: Sequence[Target]) -> None:
        """Outlines these targets, or hides the overlay if the list is empty."""
        self.targets = tuple(targets)
        if not self.targets:
            self._timer.stop()
            self.places = []
            self.hide()
            return
        self._clock.start()
        # Even without pulsing, the outline must follow moving targets.
        self._timer.start(_TICK_MS if moves() else _STILL_TICK_MS)
        self._follow()

    def _follow(self) -> None:
        found = [place for target in self.targets if (place := self._find(target)) is not None]
        places = [place.adjusted(-_MARGIN, -_MARGIN, _MARGIN, _MARGIN) for place in found]
        is_elsewhere = places != self.places
        self.places = places
        if not places:
            self.hide()
            return
        around = places[0]
        for place in places[1:]:
            around = around.united(place)
        around = around.adjusted(-3, -3, 3, 3).intersected(self._window.rect())
        if is_elsewhere or not self.isVisible():
            self.setGeometry(around)
            self.show()
            self.raise_()
        if is_elsewhere or moves():
            self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draws the outlines with pulsing strength."""
        strength = 1.0
        if moves():
            strength = 0.65 + 0.35 * math.cos(2 * math.pi * self._clock.elapsed() / _PULSE_MS)
        colour = QColor(current_tokens().warning)
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.translate(-self.pos())
        for width, alpha in ((4.0, 0.25), (2.0, 1.0)):
            colour.setAlphaF(alpha * strength)
            painter.setPen(QPen(colour, width))
            for place in self.places:
                painter.drawRoundedRect(place, 6, 6)


def moves() -> bool:
    """True if the desktop allows animations."""
    duration = QApplication.style().styleHint(QStyle.StyleHint.SH_Widget_Animation_Duration)
    return duration > 0 and QApplication.isEffectEnabled(Qt.UIEffect.UI_General)


class LabPorts(FeatureHolder, PanelPorts, Protocol):
    """Parts of the window that labs use or mention."""

    dialogs: Dialogs
    docks: Docks
    documents: Documents
    exports: Exports
    help: HelpPanel
    inspector: Inspector
    plots: PlotView
    preferences: Preferences
    runs: RunControl
    session: RunSession
    shown: ShownRuns

    @property
    def toolbar(self) -> QToolBar:
        """The toolbar of the window."""

    topology: TopologyView

    def menuBar(self) -> QMenuBar:
        """The menu bar; steps mention its menus."""

    def set_plot_shown(self, plot_id: str, is_shown: bool) -> None:
        """Switches a plot on or off."""

    def window(self) -> QWidget:
        """The widget over which outlines are drawn."""
