"""Where things of the window are: panels, buttons, plots, parts of the drawing, fields of the inspector."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QPoint, QRect, QRectF
from PySide6.QtWidgets import QGraphicsView, QMenu, QScrollArea, QWidget

from subflow_app.core.labs.lab import Target
from subflow_app.qt.actions.choices import PANELS
from subflow_app.qt.topology.items import NODE_RADIUS

if TYPE_CHECKING:
    from subflow_app.qt.main_window import MainWindow

_LINE = 6  # around a line of the drawing, px


def place_of(window: MainWindow, target: Target) -> QRect | None:
    """Where it is in the window, px; None while it is not to be seen, or there is none such."""
    match target.kind:
        case "panel":
            return _panel(window, target.name)
        case "action":
            return _action(window, target.name)
        case "plot":
            return _plot(window, target.name)
        case "node" | "link" | "flow":
            return _part(window, target.kind, target.name)
        case _:
            return _field(window, target.name)


def show_field(window: MainWindow, key: str) -> None:
    """Opens the form with a field where that can be seen, so that it can be pointed at."""
    parts = key.split(".")
    owner = ".".join(parts[:2]) if parts[0] in ("nodes", "links", "flows", "events") else ""
    window.docks.set_open("inspector", True)
    window.inspector.show_form()
    window.inspector.show_key(owner)
    row = window.inspector.form.row(key)
    around = None if row is None else row.editor.parentWidget()
    while around is not None and not isinstance(around, QScrollArea):
        around = around.parentWidget()
    if row is not None and around is not None:
        around.ensureWidgetVisible(row.editor)


def _panel(window: MainWindow, name: str) -> QRect | None:
    widget = window.plots if name == "plots" else window.docks.content(name) if name in PANELS else None
    return None if widget is None else _of(window, widget)


def _action(window: MainWindow, name: str) -> QRect | None:
    if name not in window.bar.ids():
        return None
    action = window.bar[name]
    button: QWidget | None = window.toolbar.widgetForAction(action)
    if button is not None and button.isVisible():
        return _of(window, button)
    # In a menu: then its title in the menu bar.
    bar = window.menuBar()
    for title in bar.actions():
        menu = title.menu()
        if isinstance(menu, QMenu) and action in menu.actions():
            return bar.actionGeometry(title).translated(bar.mapTo(window, QPoint()))
    return None


def _plot(window: MainWindow, name: str) -> QRect | None:
    for stack in window.plots.stacks:
        for spec, plots in stack.plots_by_spec():
            if spec.id == name and plots and stack.isVisible() and stack.window() is window:
                area = plots[0].item.sceneBoundingRect()
                for plot in plots[1:]:
                    area = area.united(plot.item.sceneBoundingRect())
                view = plots[0].item.scene().views()[0]
                return _in_view(window, view, view.mapFromScene(area).boundingRect())
    return None


def _part(window: MainWindow, kind: str, name: str) -> QRect | None:
    """A node; a link; of a flow the links that it takes."""
    canvas, scene = window.topology.canvas, window.topology.scene
    if not canvas.isVisible():
        return None
    if kind == "node":
        middle = scene.node_positions().get(name)
        if middle is None:
            return None
        around = QRectF(-NODE_RADIUS, -NODE_RADIUS, 2 * NODE_RADIUS, 2 * NODE_RADIUS).translated(middle)
        return _in_view(window, canvas, canvas.mapFromScene(around).boundingRect())
    links = [name]
    if kind == "flow":
        scenario = window.documents.doc.sketch
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
    # A straight line has no height.
    return _in_view(window, canvas, seen.adjusted(-_LINE, -_LINE, _LINE, _LINE))


def _field(window: MainWindow, key: str) -> QRect | None:
    row = window.inspector.form.row(key)
    if row is None or not row.editor.isVisible():
        return None
    editor = _of(window, row.editor)
    label = _of(window, row.label)
    return editor if editor is None or label is None else editor.united(label)


def _of(window: MainWindow, widget: QWidget) -> QRect | None:
    if not widget.isVisible() or widget.window() is not window:
        return None
    # What is scrolled out of sight is not pointed at.
    seen = widget.visibleRegion().boundingRect()
    return None if seen.isEmpty() else seen.translated(widget.mapTo(window, QPoint()))


def _in_view(window: MainWindow, view: QGraphicsView, area: QRect) -> QRect | None:
    viewport = view.viewport()
    shown = area.intersected(viewport.rect())
    if shown.isEmpty() or not viewport.isVisible() or viewport.visibleRegion().isEmpty():
        return None
    return shown.translated(viewport.mapTo(window, QPoint()))
