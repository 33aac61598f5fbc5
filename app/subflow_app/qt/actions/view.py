"""Panels, plots, zoom and colours."""

from __future__ import annotations

from collections.abc import Iterator

from subflow_app.core.language import translatable
from subflow_app.plots import GROUPS, PLOTS
from subflow_app.qt.action_spec import ActionSpec, Scope, has_plots
from subflow_app.qt.actions.choices import (
    DEFAULT_PLOTS,
    DEFAULT_WORKSPACE,
    PANELS,
    PLOT_KEYS,
    THEMES,
    WORKSPACES,
)

_MOST_DIGITS = 9


def _lower_first(title: str) -> str:
    """A title in the middle of a sentence; an abbreviation at its start stays."""
    return title if title[:2].isupper() else title[0].lower() + title[1:]


def rows() -> Iterator[ActionSpec]:
    """The View menu."""
    for name, (title, icon_name, shortcut) in PANELS.items():
        yield ActionSpec(
            f"view.{name}",
            f"&{title}",
            f"Show or hide the {title.lower()} panel",
            icon_name,
            (shortcut,),
            lambda w, on, name=name: w.docks.set_open(name, on),  # type: ignore[misc] # mypy: no default in lambdas
            checkable=True,
            is_on=True,
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
        ("Ctrl+Alt+Shift+0",),
        lambda w, _: w.workspaces.reset_all(),
    )
    for name, (title, purpose, icon_name, shortcut) in WORKSPACES.items():
        yield ActionSpec(
            f"view.workspace_{name}",
            f"{title} workspace",
            f"Arrange the panels {purpose}",
            icon_name,
            (shortcut,),
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
                lambda s, plot_id=spec.id: plot_id not in s.plots_without_data,  # type: ignore[misc]
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
            translatable("Put this cursor where the crosshair is; between A and B, a table tells what each curve did"),
            "cursors",
            (name,),
            lambda w, _, name=name: w.plots.place_cursor(name),  # type: ignore[misc]
            has_plots,
            scope=Scope.PLOTS,
        )
    yield ActionSpec(
        "view.pop_out",
        translatable("&Pop out this plot"),
        translatable("Give the plot under the mouse a window of its own; closing that brings it back"),
        "pop_out",
        ("P",),
        lambda w, _: w.plots.pop_out(),
        has_plots,
        scope=Scope.PLOTS,
    )
    yield ActionSpec(
        "view.return_plots",
        translatable("Bring all plots &back"),
        translatable("Close the windows of plots that were popped out, and show these here again"),
        "plots",
        ("Shift+P",),
        lambda w, _: w.plots.return_all(),
        has_plots,
        scope=Scope.PLOTS,
    )
    yield ActionSpec(
        "view.find_curve_run",
        translatable("Find the r&un of this curve"),
        translatable("Open the history at the run of the curve that was clicked, or chosen in the legend"),
        "history",
        ("R",),
        lambda w, _: w.curve_finder.find_run(),
        has_plots,
        scope=Scope.PLOTS,
    )
    yield ActionSpec(
        "view.clear_cursors",
        translatable("&Remove cursors A and B"),
        translatable("Take the cursors and their table away"),
        "cursors",
        ("C",),
        lambda w, _: w.plots.clear_cursors(),
        has_plots,
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
        "Show losses, penalties, timeouts and actions of agents as ticks below the window, and link changes as lines",
        "marks",
        ("M",),
        lambda w, on: w.plots.set_marks_shown(on),
        scope=Scope.PLOTS,
        checkable=True,
        is_on=True,
    )
    yield ActionSpec(
        "view.ghost",
        "&Originals of forks",
        "Draw the original of a fork as a ghost behind it, from the time on at which they differ",
        "ghost",
        ("O",),
        lambda w, on: w.plots.set_ghosts_shown(on),
        scope=Scope.PLOTS,
        checkable=True,
        is_on=True,
    )
    yield ActionSpec(
        "view.side_by_side",
        translatable("Runs &side by side"),
        translatable("Give each run a column of its own, with the same axes, instead of laying all over each other"),
        "side_by_side",
        ("J",),
        lambda w, on: w.plots.set_side_by_side(on),
        scope=Scope.PLOTS,
        checkable=True,
    )
    yield ActionSpec(
        "view.fit",
        "&Fit plots",
        "Show the whole run in the plots; a double-click does the same",
        "fit",
        ("F",),
        lambda w, _: w.plots.fit(),
        has_plots,
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
            (shortcut,),
            lambda w, _, mode=mode: w.set_theme(mode),  # type: ignore[misc]
            checkable=True,
            group="theme",
            is_on=mode == "system",
        )
