"""Actions for panels, plots, zoom and colours, and for the arrangement of nodes on the canvas.

The arrangement actions also choose the additional elements of the topology panel.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from subflow_app.features.editor.core.layout import EDGES
from subflow_app.features.playhead.qt.feature import PlayheadFeature
from subflow_app.features.plots.core import GROUPS, PLOTS
from subflow_app.features.plots.core.drawing import BY_SUBFLOW
from subflow_app.features.plots.qt.plot_view import DEFAULT_PLOTS
from subflow_app.shell.menus import BINS, COLOURS, PLOT_KEYS, THEMES
from subflow_app.toolkit.action_bar import HAS_NODES, PLOTS_SHOWN, ActionSpec, Need, Scope, keys
from subflow_app.toolkit.workspaces import DEFAULT_WORKSPACE, PANELS, WORKSPACES
from subflow_app.vocabulary.language import translatable

if TYPE_CHECKING:
    from subflow_app.shell.main_window import MainWindow


_MOST_DIGITS = 9


def _lower_first(title: str) -> str:
    """A title for use within a sentence; an abbreviation at its start keeps its capitals."""
    return title if title[:2].isupper() else title[0].lower() + title[1:]


def _has_data(plot_id: str) -> Need:
    return Need(
        lambda state: plot_id not in state.plots_without_data,
        translatable("the runs shown have no such data"),
    )


def view_rows() -> Iterator[ActionSpec[MainWindow]]:
    """Rows of the View menu."""
    for name, (title, icon_name, shortcut) in PANELS.items():
        yield ActionSpec(
            f"view.{name}",
            f"&{title}",
            f"Show or hide the {title.lower()} panel",
            icon_name,
            keys(shortcut),
            lambda w, on, name=name: w.docks.set_open(name, on),  # type: ignore[misc] # mypy: no default in lambdas
            checkable=True,
            is_on=True,
        )
    yield ActionSpec(
        "view.presentation",
        translatable("&Presentation"),
        translatable("Fill the screen with topology and plots, in large type and thick lines; Escape goes back"),
        "presentation",
        ("F11",),
        lambda w, on: w.presentation.set_on(on),
        checkable=True,
    )
    yield ActionSpec(
        "view.fold",
        translatable("Fold or unfold the &history"),
        translatable("Fold the panels below the plots to one line, or show them again"),
        "unfold_up",
        (),
        lambda w, _: w.panels.fold.toggle(),
    )
    yield ActionSpec(
        "view.back",
        translatable("&Back to the panels before"),
        translatable("Return to the workspace that was shown before a comparison, a sweep or a lab opened"),
        "back",
        (),
        lambda w, _: w.workspaces.go_back(),
        (Need(lambda s: s.can_go_back, translatable("no activity has changed the workspace")),),
    )
    yield ActionSpec(
        "view.reset_layout",
        "&Reset layout",
        "Put the panels of this workspace back where they were at first",
        "reset_layout",
        ("Ctrl+Shift+0",),
        lambda w, _: w.workspaces.reset(),
    )
    yield ActionSpec(
        "view.reset_layouts",
        "Reset &all layouts",
        "Put the panels of all workspaces back where they were at first",
        "reset_layout",
        (),
        lambda w, _: w.workspaces.reset_all(),
    )
    for name, (title, purpose, icon_name, shortcut) in WORKSPACES.items():
        yield ActionSpec(
            f"view.workspace_{name}",
            f"{title} workspace",
            f"Arrange the panels {purpose}",
            icon_name,
            keys(shortcut),
            lambda w, _, name=name: w.workspaces.show(name),  # type: ignore[misc]
            checkable=True,
            group="workspace",
            is_on=name == DEFAULT_WORKSPACE,
        )
    for group in ("", *GROUPS):
        for number, spec in enumerate((spec for spec in PLOTS if spec.group == group), start=1):
            yield ActionSpec(
                f"view.plot_{spec.id}",
                f"{spec.title} plot",
                f"Show or hide the plot of the {_lower_first(spec.title)}",
                "plots",
                (f"{PLOT_KEYS[group]}+{number}",) if group in PLOT_KEYS and number <= _MOST_DIGITS else (),
                lambda w, on, plot_id=spec.id: w.set_plot_shown(plot_id, on),  # type: ignore[misc]
                (_has_data(spec.id),),
                checkable=True,
                is_on=spec.id in DEFAULT_PLOTS,
            )
    yield ActionSpec(
        "view.legend",
        "&Legend",
        "Show or hide the legend of the plots",
        "legend",
        ("L",),
        lambda w, on: w.plots.set_legend_shown(on),
        scope=Scope.PLOTS,
        checkable=True,
        is_on=True,
    )
    yield ActionSpec(
        "view.crosshair",
        "&Crosshair",
        "Show the values of all curves at the time under the mouse",
        "crosshair",
        ("X",),
        lambda w, on: w.plots.set_crosshair_shown(on),
        scope=Scope.PLOTS,
        checkable=True,
        is_on=True,
    )
    for name in ("A", "B"):
        yield ActionSpec(
            f"view.cursor_{name.lower()}",
            translatable("Set cursor &A") if name == "A" else translatable("Set cursor &B"),
            translatable("Put this cursor at the crosshair; a table shows what each curve did between A and B"),
            "cursors",
            (name,),
            lambda w, _, name=name: w.plots.place_cursor(name),  # type: ignore[misc]
            (PLOTS_SHOWN,),
            scope=Scope.PLOTS,
        )
    yield ActionSpec(
        "view.pop_out",
        translatable("&Pop out this plot"),
        translatable("Open the plot under the mouse in a window of its own; closing that brings it back"),
        "pop_out",
        ("P",),
        lambda w, _: w.plots.pop_out(),
        (PLOTS_SHOWN,),
        scope=Scope.PLOTS,
    )
    yield ActionSpec(
        "view.return_plots",
        translatable("Bring all plots &back"),
        translatable("Close the windows of plots that were popped out, and show these here again"),
        "plots",
        ("Shift+P",),
        lambda w, _: w.plots.return_all(),
        (PLOTS_SHOWN,),
        scope=Scope.PLOTS,
    )
    yield ActionSpec(
        "view.find_curve_run",
        translatable("Find the r&un of this curve"),
        translatable("Open the history at the run of the curve that was clicked, or chosen in the legend"),
        "history",
        ("R",),
        lambda w, _: w.curve_finder.find_run(),
        (PLOTS_SHOWN,),
        scope=Scope.PLOTS,
    )
    yield ActionSpec(
        "view.clear_cursors",
        translatable("&Remove cursors A and B"),
        translatable("Remove the cursors and their table"),
        "cursors",
        ("C",),
        lambda w, _: w.plots.clear_cursors(),
        (PLOTS_SHOWN,),
        scope=Scope.PLOTS,
    )
    yield ActionSpec(
        "view.log_y",
        "Lo&garithmic values",
        "Switch the value axes of the plots between linear and logarithmic",
        "log",
        ("G",),
        lambda w, on: w.plots.set_log(on),
        scope=Scope.PLOTS,
        checkable=True,
    )
    yield ActionSpec(
        "view.marks",
        "Event &marks",
        "Show losses, penalties, timeouts and actions of agents as ticks below the cwnd curve, and link changes as "
        "lines",
        "marks",
        ("M",),
        lambda w, on: w.plots.set_marks_shown(on),
        scope=Scope.PLOTS,
        checkable=True,
        is_on=True,
    )
    yield ActionSpec(
        "view.ghost",
        "&Originals and runs before",
        "Draw the original of a fork, or the run before a change of a script, as a ghost behind it, where they differ",
        "ghost",
        ("O",),
        lambda w, on: w.plots.set_choices(replace(w.plots.choices, ghosts_shown=on)),
        scope=Scope.PLOTS,
        checkable=True,
        is_on=True,
    )
    yield ActionSpec(
        "view.side_by_side",
        translatable("Runs &side by side"),
        translatable("Give each run a column of its own, with the same axes, instead of overlaying them"),
        "side_by_side",
        ("J",),
        lambda w, on: w.plots.set_side_by_side(on),
        scope=Scope.PLOTS,
        checkable=True,
    )
    yield from _curves()
    yield ActionSpec(
        "view.fit",
        "&Fit plots",
        "Show the whole run in the plots; a double-click does the same",
        "fit",
        ("F",),
        lambda w, _: w.plots.fit(),
        (PLOTS_SHOWN,),
        scope=Scope.PLOTS,
    )
    yield ActionSpec(
        "view.zoom_in",
        "Zoom &in",
        "Zoom into the topology if it has the focus, else into the time of the plots",
        "zoom_in",
        ("Ctrl++", "Ctrl+="),
        lambda w, _: w.zoom(1),
    )
    yield ActionSpec(
        "view.zoom_out",
        "Zoom &out",
        "Zoom out of the topology if it has the focus, else out of the time of the plots",
        "zoom_out",
        ("Ctrl+-",),
        lambda w, _: w.zoom(-1),
    )
    yield ActionSpec(
        "view.zoom_reset",
        "Reset &zoom",
        "Show the topology at 100 % if it has the focus, else the whole run in the plots",
        "zoom_reset",
        ("Ctrl+0",),
        lambda w, _: w.zoom(0),
    )
    for mode, (text, tip, shortcut) in THEMES.items():
        yield ActionSpec(
            f"view.theme_{mode}",
            text,
            tip,
            f"theme_{mode}",
            keys(shortcut),
            lambda w, _, mode=mode: w.set_theme(mode),  # type: ignore[misc]
            checkable=True,
            group="theme",
            is_on=mode == "system",
        )


def _curves() -> Iterator[ActionSpec[MainWindow]]:
    """Rows for the drawing of curves."""
    for number, (name, (bin_s, text, tip)) in enumerate(BINS.items()):
        yield ActionSpec(
            f"view.bins_{name}",
            text,
            tip,
            "bins",
            (str(number),),
            lambda w, _, bin_s=bin_s: w.plots.set_choices(replace(w.plots.choices, bin_s=bin_s)),  # type: ignore[misc]
            scope=Scope.PLOTS,
            checkable=True,
            group="bins",
            is_on=bin_s is None,
        )
    for number, (by, (text, tip)) in enumerate(COLOURS.items(), start=1):
        yield ActionSpec(
            f"view.colour_{by}",
            text,
            tip,
            "colours",
            (f"Shift+{number}",),
            lambda w, _, by=by: w.plots.set_choices(replace(w.plots.choices, colour_by=by)),  # type: ignore[misc]
            scope=Scope.PLOTS,
            checkable=True,
            group="colours",
            is_on=by == BY_SUBFLOW,
        )
    yield ActionSpec(
        "view.seed_means",
        translatable("&Mean of seeds"),
        translatable("Draw three or more runs that differ in their seed alone as their mean with its 95 % interval"),
        "band",
        ("S",),
        lambda w, on: w.plots.set_choices(replace(w.plots.choices, seeds_averaged=on)),
        scope=Scope.PLOTS,
        checkable=True,
        is_on=True,
    )
    yield ActionSpec(
        "view.flow_medians",
        translatable("Me&dian of many flows"),
        translatable(
            "Draw more than twelve flows as their median with percentiles, and the flow that the mouse is near"
        ),
        "band",
        ("D",),
        lambda w, on: w.plots.set_choices(replace(w.plots.choices, crowds_summed_up=on)),
        scope=Scope.PLOTS,
        checkable=True,
        is_on=True,
    )


# Edge or middle: (text, where).
_ALIGNMENTS = {
    "left": ("Align &left", "with the leftmost"),
    "right": ("Align &right", "with the rightmost"),
    "top": ("Align &top", "with the topmost"),
    "bottom": ("Align &bottom", "with the lowest"),
    "centre_x": ("Align in a &column", "in one column, by their centres"),
    "centre_y": ("Align in a ro&w", "in one row, by their centres"),
}


_MOVABLE = Need(lambda s: s.can_move_nodes, translatable("nodes are locked, or the scenario cannot be edited"))
_SEVERAL = Need(lambda s: s.nodes_selected >= 2, translatable("select two nodes on the canvas first"))
_MANY = Need(lambda s: s.nodes_selected >= 3, translatable("select three nodes on the canvas first"))


def arrange_rows() -> Iterator[ActionSpec[MainWindow]]:
    """Rows of the Topology menu for arranging nodes."""
    for edge in EDGES:
        text, where = _ALIGNMENTS[edge]
        yield ActionSpec(
            f"arrange.align_{edge}",
            text,
            f"Align the selected nodes {where}",
            f"align_{edge}",
            (),
            lambda w, _, edge=edge: w.topology.arranging.align(edge),  # type: ignore[misc]
            (_MOVABLE, _SEVERAL),
        )
    yield ActionSpec(
        "arrange.distribute_x",
        "Distribute &horizontally",
        "Give the selected nodes equal distances from left to right",
        "distribute_x",
        (),
        lambda w, _: w.topology.arranging.distribute("x"),
        (_MOVABLE, _MANY),
    )
    yield ActionSpec(
        "arrange.distribute_y",
        "Distribute &vertically",
        "Give the selected nodes equal distances from top to bottom",
        "distribute_y",
        (),
        lambda w, _: w.topology.arranging.distribute("y"),
        (_MOVABLE, _MANY),
    )
    yield ActionSpec(
        "arrange.lay_out",
        "Lay out &automatically",
        "Find new places for the selected nodes, or for all of them if fewer than two are selected",
        "layout",
        (),
        lambda w, _: w.topology.arranging.lay_out(),
        (_MOVABLE, HAS_NODES),
    )
    yield ActionSpec(
        "arrange.grid",
        "Snap to &grid",
        "Let nodes that are dragged snap to a grid, which is drawn faintly",
        "grid",
        (),
        lambda w, on: w.topology.arranging.set_grid(on),
        checkable=True,
    )
    yield ActionSpec(
        "arrange.lock",
        "Loc&k nodes",
        "Keep nodes from being moved by accident; everything else stays possible",
        "lock",
        (),
        lambda w, on: w.topology.set_locked(on),
        checkable=True,
    )
    yield ActionSpec(
        "arrange.minimap",
        "Overview &map",
        "Show an overview in a corner while the picture is larger than the view",
        "minimap",
        (),
        lambda w, on: w.topology.minimap.set_wanted(on),
        checkable=True,
        is_on=True,
    )
    yield ActionSpec(
        "arrange.timeline",
        "Timeline of &events",
        "Show what changes during the run on lanes above the time track",
        "timeline",
        (),
        lambda w, on: w.features[PlayheadFeature].strip.set_lanes_shown(on),
        checkable=True,
        is_on=True,
    )
