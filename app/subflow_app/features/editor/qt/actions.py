"""Actions on the parts of a scenario on the canvas."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from subflow_app.features.editor.qt.topology.drawing import Drawing
from subflow_app.toolkit.action_bar import ActionSpec, Need, Scope, possible
from subflow_app.toolkit.feature import FeatureHolder
from subflow_app.vocabulary.language import translatable

# Messages shown while a capability of the canvas is unavailable.
_REFUSALS = {
    "select": translatable("the text of the scenario cannot be read; the inspector shows why"),
    "edit": translatable("the scenario cannot be edited"),
    "copy": translatable("select something on the canvas first"),
    "remove": translatable("select something on the canvas first"),
    "rename": translatable("select one part on the canvas first"),
    "connect": translatable("select two nodes on the canvas first"),
    "flow": translatable("select two hosts on the canvas first"),
    "paths": translatable("select a flow on the canvas first"),
}


def _can(what: str) -> tuple[Need, ...]:
    return (possible(f"topology.{what}", _REFUSALS[what]),)


def _row(
    name: str,
    text: str,
    tip: str,
    icon: str,
    shortcuts: tuple[str, ...],
    run: Callable[[Drawing], object],
    needs: str,
) -> ActionSpec[FeatureHolder]:
    """An action on the canvas, enabled while the capability `needs` is available."""
    return ActionSpec(
        f"topology.{name}",
        text,
        tip,
        icon,
        shortcuts,
        lambda w, _: run(w.features[Drawing]),
        _can(needs),
        scope=Scope.TOPOLOGY,
    )


def _taking(tool: str) -> Callable[[FeatureHolder, bool], object]:
    return lambda w, _: w.features[Drawing].set_tool(tool)


# Tool -> (text, tip, key).
_TOOLS: dict[str, tuple[str, str, str]] = {
    "select": ("&Select", "Select and move parts of the topology; Escape comes back here", "V"),
    "host": ("&Host", "Click where a host goes, or drag one from here onto the canvas", "H"),
    "router": ("&Router", "Click where a router goes, or drag one from here onto the canvas", "R"),
    "link": ("&Link", "Drag from one node to another to connect them; or click on each", "L"),
    "flow": ("&Flow", "Drag from the sending host to the receiving one; or click on each", "T"),
    "note": ("&Note", "Click where a note goes, or drag one from here onto the canvas", "N"),
}


def rows() -> Iterator[ActionSpec[FeatureHolder]]:
    """Yield the entries of the Topology menu."""
    for name, (text, tip, key) in _TOOLS.items():
        yield ActionSpec(
            f"topology.tool_{name}",
            f"{text} tool",
            tip,
            f"tool_{name}",
            (key,),
            _taking(name),
            _can("edit") if name != "select" else _can("select"),
            scope=Scope.TOPOLOGY,
            checkable=True,
            group="tool",
            is_on=name == "select",
        )
    yield _row(
        "cut",
        "Cu&t",
        "Move the selected parts to the clipboard, as scenario text",
        "cut",
        ("Ctrl+X",),
        Drawing.cut,
        "remove",
    )
    yield _row(
        "copy",
        "&Copy",
        "Copy the selected parts as scenario text, for this or another window or a text editor",
        "copy",
        ("Ctrl+C",),
        Drawing.copy,
        "copy",
    )
    yield _row(
        "paste",
        "&Paste",
        "Add the parts on the clipboard under new names",
        "paste",
        ("Ctrl+V",),
        Drawing.paste,
        "edit",
    )
    yield _row(
        "duplicate",
        "D&uplicate",
        "Duplicate the selected parts under new names",
        "duplicate",
        ("Ctrl+D",),
        Drawing.duplicate,
        "remove",
    )
    yield _row(
        "delete",
        "&Delete",
        "Remove the selected parts with the links, flows, paths and events that need them",
        "delete",
        ("Del",),
        Drawing.delete,
        "remove",
    )
    yield _row(
        "rename",
        "&Rename…",
        "Rename the selected part everywhere",
        "rename",
        ("F2",),
        Drawing.rename,
        "rename",
    )
    yield _row(
        "connect",
        "Co&nnect",
        "Add a link between the two selected nodes",
        "connect",
        ("Ctrl+L",),
        Drawing.connect_selected,
        "connect",
    )
    yield _row(
        "add_flow",
        "Add &flow…",
        "Add a flow from the first of the two selected hosts to the second, and choose its paths",
        "tool_flow",
        ("Ctrl+Shift+F",),
        Drawing.add_flow_between_selected,
        "flow",
    )
    yield _row(
        "edit_paths",
        "Edit &paths…",
        "Choose other paths for the selected flow, or build one by clicking links",
        "paths",
        ("P",),
        Drawing.edit_paths,
        "paths",
    )
    yield _row(
        "select_all",
        "Select &all",
        "Select all nodes, links and notes",
        "select_all",
        ("Ctrl+A",),
        Drawing.select_all,
        "select",
    )
    yield _row(
        "select_none",
        "Select n&one",
        "Select nothing; Escape does the same",
        "select_none",
        ("Ctrl+Shift+A",),
        Drawing.select_none,
        "select",
    )
