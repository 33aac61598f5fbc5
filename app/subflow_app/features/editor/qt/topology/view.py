"""The topology panel: the canvas, under its tools, notices, zoom buttons and legend, synchronized with a document.

Actions arrange the nodes of the picture, each as one undo step.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from PySide6.QtCore import QEvent, QMargins, QObject, QPoint, QPointF, QSize, Qt, Signal
from PySide6.QtGui import QAccessible, QAccessibleEvent, QAction, QResizeEvent, QUndoStack
from PySide6.QtWidgets import QMenu, QWidget

from subflow_app.features.editor.core import layout
from subflow_app.features.editor.core.layout import GRID, Axis, Edge, Point
from subflow_app.features.editor.core.scenario_doc import Change, ScenarioDoc
from subflow_app.features.editor.core.topology import picture_of
from subflow_app.features.editor.qt import documents
from subflow_app.features.editor.qt.topology.canvas import TopologyCanvas
from subflow_app.features.editor.qt.topology.items import Look
from subflow_app.features.editor.qt.topology.labels import UNREAD, copies_text, describe_link, describe_path
from subflow_app.features.editor.qt.topology.overlays import Legend, LegendEntry, Minimap, Notice, ZoomBar
from subflow_app.features.editor.qt.topology.scene import TopologyScene
from subflow_app.features.editor.qt.topology.tools import LEAST_HEIGHT_OF_COLUMN, ToolStrip
from subflow_app.toolkit.theme import Tokens, current_tokens, follow_theme
from subflow_app.toolkit.widgets.shorthand import named, v_box
from subflow_app.toolkit.workers import Workers
from subflow_app.vocabulary.language import tr, trn
from subflow_app.vocabulary.palette import hex_colour

_EDGE = 8  # px between the edge of the canvas and what lies over it
_MOST_AT_ONCE = 100  # largest number of nodes to lay out on the GUI thread, which takes no noticeable time


class Arranging(QObject):
    """Arranges the selected nodes of one panel.

    Args:
        canvas: canvas that allows or forbids moves.
        scene: scene of the canvas.
        document: returns the shown document.
        undo_stack: undo stack that receives the steps.
        parent: Qt parent.
    """

    changed = Signal()  # the layout of a large picture started or ended
    dropped = Signal(str)  # the reason why a new layout was dropped, and the next step

    def __init__(
        self,
        canvas: TopologyCanvas,
        scene: TopologyScene,
        document: Callable[[], ScenarioDoc],
        undo_stack: QUndoStack,
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self._canvas = canvas
        self._scene = scene
        self._document = document
        self._undo_stack = undo_stack
        self._workers: Workers | None = None
        self._is_laying_out = False

    def use_workers(self, workers: Workers) -> None:
        """Lay out large pictures in the background with these workers, so that the window stays responsive."""
        self._workers = workers

    @property
    def selected(self) -> tuple[str, ...]:
        """Names of the selected nodes."""
        return tuple(key.partition(".")[2] for key in self._scene.chosen if key.startswith("nodes."))

    @property
    def is_allowed(self) -> bool:
        """True if nodes can be moved: the file is editable, nodes are not locked, and no layout is in progress."""
        return not self._is_laying_out and self._document().is_toml and self._canvas.can_move_nodes

    def align(self, edge: Edge) -> None:
        """Align the selected nodes."""
        self._move(layout.aligned(self._places(), edge))

    def distribute(self, axis: Axis) -> None:
        """Space the selected nodes evenly."""
        self._move(layout.distributed(self._places(), axis))

    def lay_out(self) -> None:
        """Lay out the selected nodes again, or all nodes if fewer than two are selected."""
        picture, scenario = self._scene.picture, self._document().sketch
        if picture is None or scenario is None:
            return
        names = self.selected if len(self.selected) > 1 else tuple(picture.places)
        places = self._places(names)
        find = partial(
            layout.laid_out,
            list(places),
            [item.link.ends for item in picture.links.values()],
            {flow.source for flow in scenario.flows.values()},
            {flow.destination for flow in scenario.flows.values()},
            places,
        )
        if self._workers is None or len(places) <= _MOST_AT_ONCE:
            self._take(find())
            return
        self._set_laying_out(True)
        doc, text = self._document(), self._document().text
        self._workers.start(
            "lay-out",
            find,
            succeeded=lambda found: self._on_found(doc, text, found),
            failed=self._on_failed,
        )

    def set_grid(self, is_on: bool) -> None:
        """Enable or disable snapping to the grid."""
        self._canvas.set_grid(GRID if is_on else None)

    def set_locked(self, is_locked: bool) -> None:
        """Lock nodes in place, or unlock them."""
        self._canvas.set_locked(is_locked)

    def _on_found(self, doc: ScenarioDoc, text: str, found: Mapping[str, Point]) -> None:
        self._set_laying_out(False)
        if self._document() is doc and doc.text == text:
            self._take(found)
        else:
            self.dropped.emit(tr("The scenario changed during the layout, so nothing was moved. Lay it out again."))

    def _on_failed(self, error: Exception) -> None:
        self._set_laying_out(False)
        self.dropped.emit(tr("The nodes cannot be laid out: {reason}", reason=error))

    def _set_laying_out(self, is_laying_out: bool) -> None:
        self._is_laying_out = is_laying_out
        self.changed.emit()

    def _take(self, found: Mapping[str, Point]) -> None:
        self._move(found)
        if self._scene.picture is not None and len(found) == len(self._scene.picture.places):
            self._canvas.fit()

    def _places(self, names: tuple[str, ...] | None = None) -> dict[str, Point]:
        positions = self._scene.node_positions()
        return {name: (positions[name].x(), positions[name].y()) for name in (names or self.selected)}

    def _move(self, places: Mapping[str, Point]) -> None:
        before = self._places(tuple(places)) if places else {}
        moved = {name: at for name, at in places.items() if at != before[name]}
        if moved and self.is_allowed:
            documents.move_nodes(self._undo_stack, self._document(), moved)


class TopologyView(QWidget):
    """Panel that shows the picture of the scenario, and lets the user select parts and move nodes.

    Args:
        doc: document to show; moving nodes edits it.
        undo_stack: undo stack that receives the edits.
    """

    selection_changed = Signal(str)  # dotted key: "links.wifi", "nodes.client", "flows.download"; "" is the scenario
    activated = Signal(str)  # key of the part whose properties to show
    zoom_changed = Signal(float)
    space_tapped = Signal()
    chosen_changed = Signal()  # any change of the selection, including the selection of several parts
    lock_changed = Signal()  # the lock of the nodes changed
    unlock_wanted = Signal()  # request to unlock the nodes
    edit_refused = Signal(str)  # the reason why an edit was refused

    def __init__(
        self,
        doc: ScenarioDoc,
        undo_stack: QUndoStack,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.doc = doc  # the drawn document
        self._undo_stack = undo_stack
        self.selected = ""  # key of the selected part; empty for the whole scenario
        self._is_selecting = False
        self._stand_in: QWidget | None = None
        self._banner: QWidget | None = None
        self._is_read_only = False
        self._shows_tools = True
        self._menu_entries: Mapping[str, Sequence[QAction | None]] = {}
        named(self, "topologyView", tr("Topology panel"))
        self.scene = TopologyScene(Look.of(current_tokens(), self.font()), self)
        self.canvas = TopologyCanvas(self.scene, self)
        self.minimap = Minimap(self.canvas, self.scene)  # the overview in the corner of the canvas
        self.arranging = Arranging(self.canvas, self.scene, lambda: self.doc, undo_stack, self)
        self.legend = Legend(self)  # the list of subflows over the lower end of the canvas
        self._notice = Notice(self.canvas)
        self._zoom_bar = ZoomBar(self)
        self.tools = ToolStrip(self)  # the bar over the left end of the canvas
        v_box(self, self.canvas, margins=0, spacing=0)
        self.setFocusProxy(self.canvas)
        self.scene.chosen_changed.connect(self._on_chosen_changed)
        self.scene.chosen_changed.connect(self.chosen_changed)
        self._zoom_bar.unlock_wanted.connect(self.unlock_wanted)
        self.canvas.nodes_moved.connect(self._on_nodes_moved)
        self.canvas.activated.connect(self.activated)
        self.canvas.space_tapped.connect(self.space_tapped)
        self.canvas.zoom_changed.connect(self._on_zoom_changed)
        self.canvas.menu_wanted.connect(self._show_menu)
        self.legend.chosen.connect(self.select)
        self.legend.menu_wanted.connect(self._show_menu)
        self._zoom_bar.fit_wanted.connect(self.fit)
        self._zoom_bar.zoom_in_wanted.connect(self.zoom_in)
        self._zoom_bar.zoom_out_wanted.connect(self.zoom_out)
        self._zoom_bar.reset_wanted.connect(self.reset_zoom)
        self._unsubscribe: Callable[[], None] = doc.subscribe(self._on_document_changed)
        # A lambda, because `_unsubscribe` changes with the document.
        self.destroyed.connect(lambda: self._unsubscribe())
        follow_theme(self._recolour)
        self._show_document()

    # --- interface of the window ------------------------------------------------------------------------------------

    @property
    def is_editable(self) -> bool:
        """True if the document can be edited: its text is TOML, and it is not that of a stored run."""
        return self.doc.is_toml and not self._is_read_only

    @property
    def notice(self) -> str:
        """The notice over the canvas; empty if hidden."""
        return self._notice.text_shown

    def set_menu_entries(self, entries: Mapping[str, Sequence[QAction | None]]) -> None:
        """Set the actions of the context menus by section of the clicked key; None is a separator."""
        self._menu_entries = entries

    def set_banner(self, banner: QWidget) -> None:
        """Put a banner over the upper end of the canvas, whose visibility its owner changes."""
        banner.setParent(self)
        self._banner = banner

    def set_document(self, doc: ScenarioDoc, *, is_read_only: bool = False) -> None:
        """Switch to a different document; that of a stored run is read-only, and has no tools."""
        self._is_read_only = is_read_only
        self.tools.setVisible(self._shows_tools and not is_read_only)
        self._unsubscribe()
        self.doc = doc
        self._unsubscribe = doc.subscribe(self._on_document_changed)
        self.clear_link_states()
        self.scene.choose([])
        self.scene.show_picture(None)
        self._show_document()
        self.fit()

    def select(self, key: str) -> None:
        """Select a part by its dotted key; the key of a value (`links.wifi.loss`) selects the part that contains it."""
        key = ".".join(key.split(".")[:2])
        # After a selection, the inspector sends back the key of the latest part, which must not deselect the others.
        if key != self.selected or key not in self.scene.chosen:
            self._is_selecting = True
            self.scene.choose([key] if key else [])
            self._is_selecting = False
        if self.canvas.isVisible():
            self.canvas.reveal(key)
        self._set_selected(key)

    def set_tools_shown(self, are_shown: bool) -> None:
        """Show or hide the tools; those of a read-only document stay hidden."""
        self._shows_tools = are_shown
        self.tools.setVisible(are_shown and not self._is_read_only)
        self.lay_over()

    def set_locked(self, is_locked: bool) -> None:
        """Lock nodes in place and show the lock, or unlock them."""
        self.arranging.set_locked(is_locked)
        self._zoom_bar.show_locked(is_locked)
        self.lay_over()
        self.lock_changed.emit()

    def set_stand_in(self, widget: QWidget) -> None:
        """Add a widget, hidden at first, that can replace the legend; its height must depend on its width."""
        widget.setParent(self)
        widget.hide()
        self._stand_in = widget

    def show_stand_in(self, is_shown: bool) -> None:
        """Show or hide the replacement of the legend; the picture is not moved, even if the two differ in height."""
        assert self._stand_in is not None
        if is_shown == self._stand_in.isVisibleTo(self):
            return
        self.legend.setVisible(not is_shown)
        self._stand_in.setVisible(is_shown)
        self.lay_over()
        if not is_shown:
            self.canvas.content_changed()  # the panel may have been resized while labels were hidden

    def set_quiet(self, is_quiet: bool) -> None:
        """Mute the picture while packets are drawn, or restore it."""
        self.scene.set_quiet(is_quiet)

    def fit(self) -> None:
        """Fit the whole picture."""
        self.canvas.fit()

    def zoom_in(self) -> None:
        """Zoom in by one step."""
        self.canvas.zoom_in()

    def zoom_out(self) -> None:
        """Zoom out by one step."""
        self.canvas.zoom_out()

    def reset_zoom(self) -> None:
        """Zoom to 100 %."""
        self.canvas.reset_zoom()

    def set_link_state(self, owner: str, utilisation: float, queue_pkts: float, up: bool) -> None:
        """Show the state of a link direction during a run.

        Args:
            owner: `wifi/forward` or `wifi/reverse`.
            utilisation: utilisation, 0 to 1.
            queue_pkts: queue length in packets.
            up: whether the link is in service.
        """
        self.scene.set_link_state(owner, utilisation, queue_pkts, up=up)

    def clear_link_states(self) -> None:
        """Stop showing the state of a run on the links."""
        self.scene.clear_link_states()

    def _recolour(self, tokens: Tokens) -> None:
        self.scene.set_look(Look.of(tokens, self.font()))
        self._show_legend()

    # --- document -> picture ----------------------------------------------------------------------------------------

    def _on_document_changed(self, change: Change) -> None:
        scenario, shown = self.doc.sketch, self.scene.picture
        if change.kind == "layout" and scenario is not None and shown is not None:
            self.scene.show_places(picture_of(scenario, self.doc.positions(), self.doc.unread))
            self._show_notice()
            self.canvas.content_changed()
            return
        if change.kind == "script":
            self._show_notice()
            return
        self._show_document()
        if change.kind in ("text", "parts"):
            # The change may have renamed the selected part.
            self._on_chosen_changed()

    def _show_document(self) -> None:
        scenario = self.doc.sketch
        self.scene.show_picture(picture_of(scenario, self.doc.positions(), self.doc.unread) if scenario else None)
        self._show_legend()
        self._show_notice()
        self._update_editable()
        self.canvas.content_changed()

    def _show_notice(self) -> None:
        problems = trn("{count} problem", "{count} problems", len(self.doc.problems))
        picture = self.scene.picture
        has_nodes = bool(picture and (picture.places or picture.notes))
        next_step = self.doc.missing_part
        if not has_nodes and (self.doc.is_valid or next_step):
            self._notice.say(
                tr("Nothing here yet.\nDrag a host from the bar on the left, or press H and click where it goes.")
            )
        elif self.doc.is_valid:
            self._notice.say("")
        elif not has_nodes:
            self._notice.say(
                tr(
                    "This scenario has {problems}.\nThe picture appears when they are fixed in the inspector.",
                    problems=problems,
                )
            )
        elif next_step == "links":
            self._notice.say(tr("Next: connect nodes. Press L, then drag from one to another."), "hint")
        elif next_step == "flows":
            self._notice.say(tr("Next: add a flow. Press T, then drag from the sender to the receiver."), "hint")
        elif not self.doc.is_toml:
            self._notice.say(tr("{problems}: the picture shows the last valid state", problems=problems), "banner")
        elif self.doc.unread:
            self._notice.say(
                tr("{problems}: unreadable values are shown as {sign}", problems=problems, sign=UNREAD), "banner"
            )
        else:
            self._notice.say(
                tr("{problems}: affected parts are drawn in their last valid state", problems=problems), "banner"
            )

    def _show_legend(self) -> None:
        paths = list(self.scene.picture.paths.values()) if self.scene.picture else []
        # If all subflows belong to one flow, only their paths distinguish them.
        is_only_flow = len({path.flow for path in paths}) == 1 < len(paths)
        self.legend.set_entries(
            [
                LegendEntry(
                    f"flows.{path.flow}",
                    (path.route if is_only_flow else path.label) + copies_text(path),
                    hex_colour(path.colour, dark=current_tokens().is_dark),
                    describe_path(path),
                    path.sends_datagrams,
                    bool(path.events),
                )
                for path in paths
            ]
        )

    def _update_editable(self) -> None:
        self.canvas.set_editable(self.is_editable)

    # --- selection --------------------------------------------------------------------------------------------------

    def _on_chosen_changed(self) -> None:
        chosen = self.scene.chosen
        if not self._is_selecting:
            self._set_selected(chosen[-1] if chosen else "")

    def _set_selected(self, key: str) -> None:
        self.legend.set_chosen(key)
        self.canvas.setAccessibleDescription(self._describe(key))
        QAccessible.updateAccessibility(QAccessibleEvent(self.canvas, QAccessible.Event.DescriptionChanged))
        if key != self.selected:
            self.selected = key
            self.selection_changed.emit(key)

    def _describe(self, key: str) -> str:
        """Describe the selection for screen readers."""
        section, _, name = key.partition(".")
        picture = self.scene.picture
        if picture is None:
            return self._notice.text_shown
        if section == "links" and name in picture.links:
            return describe_link(picture.links[name])
        if section == "nodes" and name in picture.places:
            links = [link for link, item in picture.links.items() if name in item.link.ends]
            kind = tr("Router") if name in picture.routers else tr("Host")
            return tr("{kind} {name}, links: {links}", kind=kind, name=name, links=", ".join(links) or tr("none"))
        if section == "flows":
            return tr("Flow {name}", name=name)
        if section == "notes" and int(name) < len(picture.notes):
            return tr("Note: {text}", text=picture.notes[int(name)].text)
        return tr(
            "{nodes} nodes, {links} links, {subflows} subflows",
            nodes=len(picture.places),
            links=len(picture.links),
            subflows=len(picture.paths),
        )

    # --- edits ------------------------------------------------------------------------------------------------------

    def _on_nodes_moved(self, places: Mapping[str, QPointF], session: int) -> None:
        points = {name: (at.x(), at.y()) for name, at in places.items()}
        documents.move_nodes(self._undo_stack, self.doc, points, session)

    def _show_menu(self, key: str, position: QPoint) -> None:
        menu = self.build_menu(key)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.popup(position)

    def build_menu(self, key: str) -> QMenu:
        """Build the context menu of a part, or of the canvas for the empty key."""
        menu = QMenu(self)
        can_edit = self.is_editable
        section, _, name = key.partition(".")
        if section == "notes":
            menu.addAction(tr("Edit note…")).triggered.connect(lambda: self.activated.emit(key))
        elif key:
            menu.addAction(tr("Properties of {name}", name=name)).triggered.connect(lambda: self.activated.emit(key))
        if section == "links":
            action = menu.addAction(tr("Add timed change…"))
            action.setEnabled(can_edit)
            action.triggered.connect(lambda: self._add_event(name))
        if section == "nodes":
            action = menu.addAction(tr("Place automatically"))
            action.setEnabled(can_edit and name in self.doc.positions())
            action.triggered.connect(lambda: self._place_automatically(name))
        for entry in self._menu_entries.get(section, ()):
            if entry is None:
                menu.addSeparator()
            else:
                menu.addAction(entry)
        menu.addSeparator()
        fit = menu.addAction(tr("Fit to view"))
        fit.setShortcut("F")
        fit.setShortcutContext(Qt.ShortcutContext.WidgetShortcut)
        fit.triggered.connect(self.fit)
        return menu

    def _add_event(self, link: str) -> None:
        scenario = self.doc.last_valid
        half = scenario.duration_s / 2 if scenario else 1.0
        documents.add_event(self._undo_stack, self.doc, {"at": f"{half:g}s", "link": link, "up": False})
        events = self.doc.data.get("events", [])
        self.activated.emit(f"events.{len(events) - 1}")

    def _place_automatically(self, node: str) -> None:
        documents.set_value(self._undo_stack, self.doc, f"nodes.{node}.at", None)

    # --- Qt events --------------------------------------------------------------------------------------------------

    def _on_zoom_changed(self, zoom: float) -> None:
        self._zoom_bar.show_zoom(zoom)
        self.minimap.refresh()
        self.zoom_changed.emit(zoom)

    def changeEvent(self, event: QEvent) -> None:
        """Redraw the picture if the desktop's font changes."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self.scene.set_look(Look.of(current_tokens(), self.font()))

    def minimumSizeHint(self) -> QSize:
        """Return a size at which the tools still fit."""
        return QSize(240, 96)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Keep everything over the canvas in place."""
        super().resizeEvent(event)
        self.lay_over()

    def lay_over(self) -> None:
        """Place tools, legend and zoom buttons over the canvas, and keep the picture clear of them."""
        width, height = self.width(), self.height()
        top = 0
        if self._banner is not None and not self._banner.isHidden():
            top = self._banner.height()
            self._banner.setGeometry(0, 0, width, top)
            self._banner.raise_()
        self.tools.fit_over(height)
        self.tools.move(_EDGE, _EDGE + top)
        self._zoom_bar.resize(self._zoom_bar.sizeHint())
        self._zoom_bar.move(width - self._zoom_bar.width() - _EDGE, height - self._zoom_bar.height() - 2)
        is_column = not self.tools.isHidden() and self.tools.height() > self.tools.width()
        left = self.tools.width() + 2 * _EDGE if is_column else _EDGE
        below = self._zoom_bar.height()
        is_low = height < LEAST_HEIGHT_OF_COLUMN
        room = max(width - left - self._zoom_bar.width() - 2 * _EDGE, 80)
        for widget in (self.legend, self._stand_in):
            if widget is None:
                continue
            shown = 0 if is_low else min(widget.heightForWidth(room), max(height // 3, below))
            wide = min(self.legend.width_in(room), room) if widget is self.legend else room
            widget.setGeometry(left, height - shown - 2, wide, shown)
            if widget is self.legend:
                below = max(below, shown)  # whatever replaces the legend, so that the picture keeps its place
        # A low canvas shows no legend, and its tools lie beside the picture.
        self.canvas.set_inset(QMargins(left - _EDGE, top, 0, 0 if is_low else below))
        for widget in (self.legend, self._stand_in, self._zoom_bar, self.tools):
            if widget is not None:
                widget.raise_()
        self._notice.place()

    def event(self, event: QEvent) -> bool:
        """Place the widgets over the canvas again after their contents have changed."""
        handled = super().event(event)
        if event.type() == QEvent.Type.LayoutRequest:
            self.lay_over()
        return handled
