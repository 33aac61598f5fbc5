"""Putting nodes in order on the canvas, and what the topology panel shows beside the picture."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from subflow_app.features.editor.core.layout import EDGES
from subflow_app.toolkit.action_spec import HAS_NODES, ActionSpec, Need
from subflow_app.vocabulary.language import translatable

if TYPE_CHECKING:
    from subflow_app.shell.main_window import MainWindow

# Edge or middle: (text, where, shortcut).
_ALIGNMENTS = {
    "left": ("Align &left", "with the leftmost", "Ctrl+Alt+Left"),
    "right": ("Align &right", "with the rightmost", "Ctrl+Alt+Right"),
    "top": ("Align &top", "with the topmost", "Ctrl+Alt+Up"),
    "bottom": ("Align &bottom", "with the lowest", "Ctrl+Alt+Down"),
    "centre_x": ("Align in a &column", "in one column, by their centres", "Ctrl+Alt+V"),
    "centre_y": ("Align in a ro&w", "in one row, by their centres", "Ctrl+Alt+H"),
}


_MOVABLE = Need(lambda s: s.can_move_nodes, translatable("nodes are locked, or the scenario cannot be edited"))
_SEVERAL = Need(lambda s: s.nodes_selected >= 2, translatable("select two nodes on the canvas first"))
_MANY = Need(lambda s: s.nodes_selected >= 3, translatable("select three nodes on the canvas first"))


def rows() -> Iterator[ActionSpec[MainWindow]]:
    """The part of the Topology menu that arranges."""
    for edge in EDGES:
        text, where, shortcut = _ALIGNMENTS[edge]
        yield ActionSpec(
            f"arrange.align_{edge}",
            text,
            f"Align the selected nodes {where}",
            f"align_{edge}",
            (shortcut,),
            lambda w, _, edge=edge: w.topology.arranging.align(edge),  # type: ignore[misc]
            (_MOVABLE, _SEVERAL),
        )
    yield ActionSpec(
        "arrange.distribute_x",
        "Distribute &horizontally",
        "Give the selected nodes equal distances from left to right",
        "distribute_x",
        ("Ctrl+Alt+Shift+H",),
        lambda w, _: w.topology.arranging.distribute("x"),
        (_MOVABLE, _MANY),
    )
    yield ActionSpec(
        "arrange.distribute_y",
        "Distribute &vertically",
        "Give the selected nodes equal distances from top to bottom",
        "distribute_y",
        ("Ctrl+Alt+Shift+V",),
        lambda w, _: w.topology.arranging.distribute("y"),
        (_MOVABLE, _MANY),
    )
    yield ActionSpec(
        "arrange.lay_out",
        "Lay out &automatically",
        "Find new places for the selected nodes, or for all of them if fewer than two are selected",
        "layout",
        ("Ctrl+Alt+A",),
        lambda w, _: w.topology.arranging.lay_out(),
        (_MOVABLE, HAS_NODES),
    )
    yield ActionSpec(
        "arrange.grid",
        "Snap to &grid",
        "Let nodes that are dragged snap to a grid, which is drawn faintly",
        "grid",
        ("Ctrl+Alt+G",),
        lambda w, on: w.topology.arranging.set_grid(on),
        checkable=True,
    )
    yield ActionSpec(
        "arrange.lock",
        "Loc&k nodes",
        "Keep nodes from being moved by accident; everything else stays possible",
        "lock",
        ("Ctrl+Alt+K",),
        lambda w, on: w.topology.set_locked(on),
        checkable=True,
    )
    yield ActionSpec(
        "arrange.minimap",
        "Overview &map",
        "Show an overview in a corner while the picture is larger than the view",
        "minimap",
        ("Ctrl+Alt+M",),
        lambda w, on: w.topology.minimap.set_wanted(on),
        checkable=True,
        is_on=True,
    )
    yield ActionSpec(
        "arrange.timeline",
        "Timeline of &events",
        "Show what changes during the run on a timeline below the picture",
        "timeline",
        ("Ctrl+Alt+J",),
        lambda w, on: w.topology.set_strip_shown(on),
        checkable=True,
        is_on=True,
    )
