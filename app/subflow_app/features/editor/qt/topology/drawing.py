"""Actions and gestures on the canvas that edit the scenario, each as one undo step."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol

from PySide6.QtCore import QPointF, Signal
from PySide6.QtGui import QGuiApplication, QUndoStack

from subflow_app.features.editor.core.scenario_clipboard import PASTE_SHIFT, copy_parts, paste_parts
from subflow_app.features.editor.core.scenario_doc import ScenarioDoc
from subflow_app.features.editor.core.scenario_edits import (
    Edited,
    add_link,
    add_node,
    add_note,
    remove_parts,
)
from subflow_app.features.editor.core.scenario_parts import NAMED
from subflow_app.features.editor.qt import documents
from subflow_app.features.editor.qt.topology.flow_drawing import FlowDrawing
from subflow_app.features.editor.qt.topology.tools import JoinTool, PlaceTool, Tool
from subflow_app.foundation.errors import AppError
from subflow_app.toolkit.feature import Feature
from subflow_app.vocabulary.language import tr, trn

if TYPE_CHECKING:
    from subflow_app.features.editor.qt.topology.view import TopologyView
    from subflow_app.toolkit.action_bar import ActionBar
    from subflow_app.toolkit.dialogs import Dialogs
    from subflow_app.toolkit.notices import Notices

_PART_MENU = (
    "topology.cut",
    "topology.copy",
    "topology.duplicate",
    "topology.delete",
    "topology.rename",
)
_EXPORTS = ("file.export_graphml", "file.export_testbed", "file.export_drawing")
# Context menus of the canvas by the section of the clicked key; the empty section is the background.
TOPOLOGY_MENUS: dict[str, tuple[str, ...]] = {
    "": ("topology.paste", "-", "topology.select_all", "-", *_EXPORTS),
    "nodes": ("topology.connect", "topology.add_flow", "-", *_PART_MENU),
    "links": ("run.link_down", "run.link_up", "fork.new", "-", *_PART_MENU),
    "flows": ("topology.edit_paths", "fork.new", "-", *_PART_MENU),
    "notes": ("topology.cut", "topology.copy", "topology.duplicate", "topology.delete"),
}

SELECT = "select"
TOOLS = (SELECT, "host", "router", "link", "flow", "note")
"""Names of the tools, in the order of the tool bar."""


class DrawingPorts(Protocol):
    """Parts of the window that this feature uses."""

    bar: ActionBar
    topology: TopologyView
    document_stack: QUndoStack
    dialogs: Dialogs
    notices: Notices


class Drawing(Feature):
    """Edits the document shown in a topology view, depending on the selection.

    An impossible edit raises an `AppError` with the reason, which the action shows.
    """

    panel_name = "topology"

    canvas_wanted = Signal()  # the canvas is about to be edited
    name_wanted = Signal(str)  # key of a part whose name is to be edited

    def __init__(self, ports: DrawingPorts) -> None:
        super().__init__()
        self.panel = self._view = view = ports.topology
        self._bar = ports.bar
        self._undo_stack = undo_stack = ports.document_stack
        self._dialogs = ports.dialogs
        self._notices = ports.notices
        self._pasted = ""
        self._times_pasted = 0
        self.tool = SELECT  # tool of the left button
        self.flows = FlowDrawing(view, undo_stack, self)
        self.flows.failed.connect(self._notices.action_failed)
        self.flows.picking_ended.connect(lambda: self.set_tool(SELECT))
        view.scene.chosen_changed.connect(self.changed)
        view.canvas.part_dropped.connect(self._place)
        view.canvas.tool_given_up.connect(self._give_up_tool)

    def connect_parts(self) -> None:
        """Fill the context menus and the tool bar of the canvas with actions."""
        actions = self._bar
        self._view.set_menu_entries(
            {
                section: [None if entry == "-" else actions[entry] for entry in entries]
                for section, entries in TOPOLOGY_MENUS.items()
            }
        )
        self._view.tools.set_actions([actions[f"topology.tool_{name}"] for name in TOOLS])

    @property
    def doc(self) -> ScenarioDoc:
        """The drawn document."""
        return self._view.doc

    def possible(self) -> frozenset[str]:
        """Return the names of the available capabilities, each with the prefix `topology.`.

        The capabilities are `edit` and `select` and, depending on the selection, `copy`, `remove`, `rename`, `connect`,
        `flow` and `paths`.
        """
        if not self.doc.is_toml:
            return frozenset()
        chosen = self._view.scene.chosen
        found = {"select"}
        if chosen:
            found.add("copy")
        if self._view.is_editable:
            found.add("edit")
            if chosen:
                found.add("remove")
            if len(chosen) == 1 and chosen[0].partition(".")[0] in (*NAMED, "notes"):
                found.add("rename")
            if len(self._chosen_nodes()) == 2:
                found |= {"connect", "flow"}
            if len(chosen) == 1 and chosen[0].startswith("flows."):
                found.add("paths")
        return frozenset(f"topology.{what}" for what in found)

    # --- tools ------------------------------------------------------------------------------------------------------

    def set_tool(self, name: str) -> None:
        """Activate a tool, one of `TOOLS`."""
        self.tool = name
        made: dict[str, Callable[[], Tool]] = {
            "host": lambda: PlaceTool("host", self._place),
            "router": lambda: PlaceTool("router", self._place),
            "link": lambda: JoinTool("link", self._join),
            "flow": lambda: JoinTool("flow", self._join),
            "note": lambda: PlaceTool("note", self._place),
        }
        self._view.canvas.set_tool(made[name]() if name in made else None)
        self._bar.set_on(f"topology.tool_{name}", True)
        if name != SELECT:
            self.canvas_wanted.emit()

    def _place(self, part: str, at: QPointF) -> None:
        point = (at.x(), at.y())
        if part == "host":
            self._attempt(lambda: self._edit(tr("Add host"), lambda text: add_node(text, "host", point)))
        elif part == "router":
            self._attempt(lambda: self._edit(tr("Add router"), lambda text: add_node(text, "router", point)))
        else:
            # One note at a time: the next click on the background does not add another.
            self.set_tool(SELECT)
            words = self._dialogs.paragraph(tr("New note"), tr("Text"), "")
            if words and words.strip():
                self._attempt(lambda: self._edit(tr("Add note"), lambda text: add_note(text, point, words)))

    def _join(self, what: str, first: str, second: str) -> None:
        if what == "link":
            self._attempt(lambda: self.connect_nodes(first, second))
        else:
            self._attempt(lambda: self.flows.ask_new(first, second))

    def _give_up_tool(self) -> None:
        dialog = self.flows.dialog
        if dialog is not None and dialog.pick.isChecked():
            dialog.pick.setChecked(False)
        else:
            self.set_tool(SELECT)

    def _attempt(self, edit: Callable[[], None]) -> None:
        """Make the edit of a gesture and report its errors; actions report their own errors."""
        try:
            edit()
        except AppError as error:
            self._notices.action_failed(str(error))

    # --- clipboard --------------------------------------------------------------------------------------------------

    def copy(self) -> None:
        """Put the selected parts on the clipboard, as scenario text."""
        text = copy_parts(self.doc.text, self._view.scene.chosen)
        if text:
            QGuiApplication.clipboard().setText(text)
            # The first paste is shifted from the original, each further paste from the previous one.
            self._pasted, self._times_pasted = text, 0

    def cut(self) -> None:
        """Move the selected parts to the clipboard."""
        self.copy()
        self._remove(tr("Cut {what}", what=self._chosen_text()))
        # The original is removed, so the first paste needs no shift.
        self._times_pasted = -1

    def paste(self) -> None:
        """Add the parts on the clipboard."""
        text = QGuiApplication.clipboard().text()
        if text != self._pasted:
            self._pasted, self._times_pasted = text, 0
        self._times_pasted += 1
        shift = PASTE_SHIFT * self._times_pasted
        self._edit(tr("Paste"), lambda before: paste_parts(before, text, shift))

    def duplicate(self) -> None:
        """Add copies of the selected parts."""
        text = copy_parts(self.doc.text, self._view.scene.chosen)
        if text:
            self._edit(
                tr("Duplicate {what}", what=self._chosen_text()), lambda before: paste_parts(before, text, PASTE_SHIFT)
            )

    # --- parts ------------------------------------------------------------------------------------------------------

    def delete(self) -> None:
        """Remove the selected parts with everything that depends on them."""
        self._remove(tr("Delete {what}", what=self._chosen_text()))

    def rename(self) -> None:
        """Edit the name of the selected part where its properties are, or ask for the new text of a note."""
        chosen = self._view.scene.chosen
        if len(chosen) != 1:
            return
        key = chosen[0]
        if key.startswith("notes."):
            self.edit_note(key)
            return
        self.name_wanted.emit(key)

    def edit_note(self, key: str) -> None:
        """Ask for the new text of a note."""
        before = str(self.doc.value(f"{key}.text") or "")
        words = self._dialogs.paragraph(tr("Edit note"), tr("Text"), before)
        if words and words.strip() and words != before and self._view.is_editable:
            documents.set_value(self._undo_stack, self.doc, f"{key}.text", words)

    def connect_selected(self) -> None:
        """Add a link between the two selected nodes."""
        nodes = self._chosen_nodes()
        if len(nodes) == 2:
            self.connect_nodes(*nodes)

    def connect_nodes(self, first: str, second: str) -> None:
        """Add a link between two nodes."""
        self._edit(
            tr("Connect {first} and {second}", first=first, second=second), lambda text: add_link(text, first, second)
        )

    def add_flow_between_selected(self) -> None:
        """Open the dialog for a new flow from the first of the two selected hosts to the second."""
        nodes = self._chosen_nodes()
        if len(nodes) == 2:
            self.flows.ask_new(*nodes)

    def edit_paths(self) -> None:
        """Open the dialog with the paths of the selected flow."""
        chosen = self._view.scene.chosen
        if len(chosen) == 1 and chosen[0].startswith("flows."):
            self.flows.ask_paths(chosen[0].partition(".")[2])

    # --- selection --------------------------------------------------------------------------------------------------

    def select_all(self) -> None:
        """Select everything on the canvas."""
        self._view.scene.choose(self._view.scene.keys_in_reading_order())

    def select_none(self) -> None:
        """Clear the selection."""
        self._view.scene.choose([])

    # --- internals --------------------------------------------------------------------------------------------------

    def _edit(self, text: str, edit: Callable[[str], Edited]) -> None:
        """Make an edit as one undo step, and select the resulting parts."""
        self.canvas_wanted.emit()
        keys = documents.edit_parts(self._undo_stack, self.doc, text, edit)
        self._view.scene.choose(self._on_canvas(keys))

    def _remove(self, text: str) -> None:
        chosen = self._view.scene.chosen
        if chosen:
            self._view.scene.choose([])
            documents.edit_parts(self._undo_stack, self.doc, text, lambda before: remove_parts(before, chosen))

    def _on_canvas(self, keys: Sequence[str]) -> list[str]:
        """Return the keys of drawn parts, or only the first key of a flow if no part is drawn."""
        drawn = set(self._view.scene.keys_in_reading_order())
        return [key for key in keys if key in drawn] or [key for key in keys if key.startswith("flows.")][:1]

    def _chosen_nodes(self) -> list[str]:
        return [key.partition(".")[2] for key in self._view.scene.chosen if key.startswith("nodes.")]

    def _chosen_text(self) -> str:
        chosen = self._view.scene.chosen
        if len(chosen) == 1 and chosen[0].partition(".")[0] in NAMED:
            return chosen[0].partition(".")[2]
        return trn("{count} part", "{count} parts", len(chosen))
