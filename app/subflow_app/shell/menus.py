"""The order of actions in menus, context menus and toolbar, and the choices that have one action per option.

These choices are speeds, steps, bins, colours and themes. A test compares the order with the table in ``actions``.
"""

from __future__ import annotations

from subflow_app.features.editor.core.layout import EDGES
from subflow_app.features.gallery.qt.feature import GALLERY_MENU
from subflow_app.features.plots.core import GROUPS, PLOTS
from subflow_app.features.plots.core.drawing import BIN_WIDTHS_S, BY_CONTROLLER, BY_RUN, BY_SUBFLOW, RAW_S, ColourBy
from subflow_app.features.plots.core.spec import CONNECTION
from subflow_app.features.running.core.runs import StepSize
from subflow_app.features.running.qt.queue import QUEUE_MENU
from subflow_app.features.training.qt.session import TRAINING_MENU
from subflow_app.toolkit.workspaces import PANELS, WORKSPACES
from subflow_app.vocabulary.language import translatable

# Modifier keys for the plots of each group; the other key is the number of the plot in its group, 1 to 9. Further plots
# have no shortcut. No shortcut has Ctrl and Alt: AltGr sends both on many keyboards, desktops use them for themselves,
# and Linux switches consoles by Ctrl+Alt+F1 to F12.
PLOT_KEYS = {"": "Alt", CONNECTION: "Alt+Shift"}

# Speeds: (limit, text, icon, shortcut). The limit is in simulated seconds per second; None means no limit.
SPEEDS: dict[str, tuple[float | None, str, str, str]] = {
    "slower": (0.01, "Slow motion (0.01×)", "speed_slowest", ""),
    "slow": (0.1, "Slow motion (0.1×)", "speed_slower", ""),
    "real_time": (1.0, "Real time (1×)", "speed_slow", "F4"),
    "brisk": (10.0, "10× real time", "speed_medium", "Ctrl+F6"),
    "fast": (100.0, "100× real time", "speed_fast", "F6"),
    "express": (None, "As fast as possible", "speed_max", "F7"),
}
DEFAULT_SPEED = "brisk"

# Steps of a run: (text, tip, shortcut).
STEPS: dict[StepSize, tuple[str, str, str]] = {
    "sample": ("&Step to the next sample", "Advance the run to the next sample of its traces and pause", "F10"),
    "event": (
        "Step to the next &event",
        "Advance the run to the next event of its scenario, or the next start or stop of a flow, and pause",
        "Ctrl+F10",
    ),
    "1ms": ("Step by &1 ms", "Advance the run by 1 ms of simulated time and pause", "Alt+F10"),
    "100ms": ("Step by 1&00 ms", "Advance the run by 100 ms of simulated time and pause", ""),
}

# Bins of curves over time: id -> (length, text, tip). The length is in s; 0 selects raw samples, and None a length that
# follows the zoom.
BINS: dict[str, tuple[float | None, str, str]] = {
    "auto": (None, "&Automatic bins", "Draw curves as means over bins that are as long as the time in view asks for"),
    "raw": (RAW_S, "&Raw samples", "Draw every sample of the runs"),
    **{
        f"{width_s:g}".replace(".", "_"): (
            width_s,
            f"Bins of {width_s:g} s",
            f"Draw curves as means over bins of {width_s:g} s",
        )
        for width_s in BIN_WIDTHS_S
    },
}

# Meanings of curve colours: (text, tip).
COLOURS: dict[ColourBy, tuple[str, str]] = {
    BY_RUN: ("Colour by &run", "Give each run a colour; of a single run, each subflow has one"),
    BY_CONTROLLER: ("Colour by &controller", "Give the flows of each congestion controller a colour"),
    BY_SUBFLOW: ("Colour by &subflow", "Give each subflow a colour, the same in all runs, and each run a dash"),
}

# Themes: mode -> (text, tip, shortcut).
THEMES = {
    "light": ("&Light theme", "Use light colours", ""),
    "dark": ("&Dark theme", "Use dark colours", ""),
    "contrast": ("&High contrast theme", "Use black, white and yellow, with strong edges", ""),
    "system": ("&System theme", "Follow the desktop: light, dark or high contrast", ""),
}


ARENA_MENU = (
    "arena.show",
    "-",
    "arena.run_quick",
    "arena.run_full",
    "arena.stop",
    "-",
    "arena.export",
)
BREAK_MENU = (
    "break.show",
    "-",
    "break.start",
    "break.pause",
    "break.stop",
    "break.fill",
    "-",
    "break.open",
    "break.run_both",
    "break.save",
    "break.page",
    "-",
    "break.export",
)
SCRIPT_MENU = (
    "script.show",
    "-",
    "script.new_scheduler",
    "script.open_copy",
    "-",
    "script.save",
    "script.save_as",
    "-",
    "script.find",
    "script.comment",
    "script.complete",
    "script.next_problem",
    "-",
    "script.check",
    "script.compare",
    "script.difference",
    "script.restore",
)
CURVES_MENU = (
    *(f"view.bins_{name}" for name in BINS),
    "-",
    *(f"view.colour_{by}" for by in COLOURS),
    "-",
    "view.seed_means",
    "view.flow_medians",
)
# Submenus, used in the menus below and in each other.
SUBMENUS: dict[str, tuple[str, ...]] = {
    f"{group} plots": tuple(f"view.plot_{spec.id}" for spec in PLOTS if spec.group == group) for group in GROUPS
} | {
    "Export to a file": (
        "file.export_figure",
        "file.export_data",
        "file.export_report",
        "-",
        "file.export_graphml",
        "file.export_testbed",
        "file.export_drawing",
    ),
    "Tools": tuple(f"topology.tool_{name}" for name in ("select", "host", "router", "link", "flow", "note")),
    "Arrange": (
        *(f"arrange.align_{edge}" for edge in EDGES),
        "-",
        "arrange.distribute_x",
        "arrange.distribute_y",
        "-",
        "arrange.lay_out",
    ),
    "Panels": tuple(f"view.{name}" for name in PANELS),
    "Plots": (
        *(f"view.plot_{spec.id}" for spec in PLOTS if not spec.group),
        "-",
        *(f">{group} plots" for group in GROUPS),
    ),
    "Theme": tuple(f"view.theme_{mode}" for mode in THEMES),
    "Speed": tuple(f"run.speed_{speed}" for speed in SPEEDS),
    "Lines of a script": ("explain.previous_line", "explain.next_line", "explain.open_script", "-", "explain.watch"),
    "Decisions of agents": ("agent.first", "agent.previous", "agent.next", "agent.last"),
    "Curves": CURVES_MENU,
    "Reading plots": (
        "view.side_by_side",
        "-",
        "view.cursor_a",
        "view.cursor_b",
        "view.clear_cursors",
        "-",
        "view.find_curve_run",
        "-",
        "view.pop_out",
        "view.return_plots",
    ),
    "Queue": (
        "queue.add",
        "-",
        "queue.toggle",
        *QUEUE_MENU,
    ),
    "This sweep": (
        "sweep.toggle",
        "sweep.stop",
        "sweep.delete",
        "-",
        "sweep.show_runs",
        "-",
        "sweep.copy",
        "sweep.export_figure",
        "sweep.export_data",
        "sweep.page",
    ),
    "Step of the lab": ("study.lab_next", "study.lab_hint", "-", "study.lab_result"),
    "Experiments": (
        "gallery.show",
        "-",
        *GALLERY_MENU,
    ),
    "Arena": ARENA_MENU,
    "Break a claim": BREAK_MENU,
    "Script": SCRIPT_MENU,
    "Workspace": (
        *(f"view.workspace_{name}" for name in WORKSPACES),
        "-",
        "compare.back",
        "view.back",
        "view.fold",
        "view.reset_layout",
        "view.reset_layouts",
    ),
}
# Icons of submenus; all others have the icon of plots.
SUBMENU_ICONS = {
    "Export to a file": "export_data",
    "Tools": "tool_select",
    "Arrange": "layout",
    "Panels": "columns",
    "Theme": "theme",
    "Speed": "speed",
    "Decisions of agents": "agent",
    "Workspace": "workspace",
    "Queue": "queue",
    "This sweep": "sweeps",
    "Step of the lab": "example",
    "Experiments": "gallery",
    "Arena": "arena",
    "Break a claim": "break",
    "Script": "script",
}
# Menus as lists of action ids; "-" is a separator, and ">" precedes the title of a submenu, either from `SUBMENUS` or
# filled by the window.
MENUS: dict[str, tuple[str, ...]] = {
    "&File": (
        "file.new",
        "file.new_empty",
        "file.new_template",
        "file.open",
        ">Open &recent",
        "-",
        "file.save",
        "file.save_as",
        "-",
        "file.open_database",
        "file.copy_database",
        "-",
        "file.import",
        ">Export to a file",
        "file.verify_bundle",
        "-",
        "file.settings",
        "-",
        "file.quit",
    ),
    "&Edit": ("edit.undo", "edit.redo", "-", "edit.find_run"),
    "&Topology": (
        ">Tools",
        "-",
        "topology.cut",
        "topology.copy",
        "topology.paste",
        "topology.duplicate",
        "topology.delete",
        "-",
        "topology.rename",
        "topology.connect",
        "topology.add_flow",
        "topology.edit_paths",
        "-",
        "topology.select_all",
        "topology.select_none",
        "-",
        ">Arrange",
        "-",
        "arrange.grid",
        "arrange.lock",
        "arrange.minimap",
        "arrange.timeline",
    ),
    "&View": (
        ">Workspace",
        ">Panels",
        ">Plots",
        "view.presentation",
        "-",
        "view.legend",
        "view.crosshair",
        "view.log_y",
        "view.marks",
        "view.ghost",
        ">Curves",
        ">Reading plots",
        "-",
        "view.fit",
        "view.zoom_in",
        "view.zoom_out",
        "view.zoom_reset",
        "-",
        ">Theme",
    ),
    "&Run": (
        "run.toggle",
        "run.stop",
        "-",
        "run.compare",
        "run.emulate",
        "run.overlay_simulation",
        "run.try_kernel",
        "-",
        *(f"run.step_{size}" for size in STEPS),
        "run.until",
        "-",
        "run.link_down",
        "run.link_up",
        "-",
        ">Queue",
        "-",
        ">Speed",
        "-",
        "run.record_decisions",
        ">Decisions of agents",
    ),
    "Ti&me": (
        "playhead.play",
        "playhead.play_back",
        "-",
        "playhead.step_back",
        "playhead.step_forward",
        "playhead.previous_event",
        "playhead.next_event",
        "playhead.start",
        "playhead.end",
        "playhead.go_to",
        "-",
        "playhead.live",
        "playhead.leave",
        "-",
        "fork.new",
        "explain.here",
        "explain.previous",
        "explain.next",
        ">Lines of a script",
    ),
    "&Train": (
        "train.show",
        "train.start",
        "-",
        *TRAINING_MENU,
    ),
    "H&istory": (
        "history.open",
        "history.overlay",
        "history.clear_overlay",
        "history.fork",
        "history.tabulate",
        "compare.export_figure",
        "-",
        "history.rename",
        "history.tag",
        "history.note",
        "-",
        "history.open_scenario",
        "history.complete",
        "history.export",
        "-",
        "history.delete",
        "history.purge",
    ),
    "&Study": (
        "sweep.new",
        ">This sweep",
        "-",
        "study.trade_offs",
        "study.export_trade_offs",
        "study.kernel",
        "study.stop_kernel",
        "-",
        "study.labs",
        ">Step of the lab",
        "study.lab_class",
        "-",
        ">Experiments",
        ">Arena",
        ">Break a claim",
        "-",
        "script.new_controller",
        ">Script",
    ),
    "&Help": (
        "help.panel",
        "help.guide_here",
        "help.guide",
        "-",
        "help.welcome",
        "-",
        "help.palette",
        "help.shortcuts",
        "-",
        "help.crash_reports",
        "help.about",
    ),
}

HISTORY_MENU = (
    *MENUS["H&istory"][:-1],
    "-",
    "file.export_report",
)
PLOT_MENU = (
    "view.fit",
    "-",
    "explain.here",
    "fork.new",
    "-",
    "view.legend",
    "view.crosshair",
    "view.log_y",
    "view.marks",
    "view.ghost",
    "-",
    "view.bins_auto",
    "view.bins_raw",
    "-",
    *SUBMENUS["Reading plots"],
    "-",
    "file.export_figure",
    "file.export_data",
    "-",
    "history.clear_overlay",
)
# ">speed" is the drop-down of speeds, ">panels" that of panels; "<>" aligns the following entries right.
TOOLBAR = (
    "run.toggle",
    "run.stop",
    ">speed",
    "-",
    "run.compare",
    "fork.new",
    "sweep.new",
    "-",
    "edit.undo",
    "edit.redo",
    "<>",
    "view.explain",
    "view.history",
    ">panels",
    "-",
    ">workspace",
)
# Labels of toolbar buttons.
TOOLBAR_WORDS = {
    "run.compare": translatable("Compare…"),
    "fork.new": translatable("What if"),  # english: keep, the name of the feature
    "sweep.new": translatable("Sweep"),
    "view.explain": translatable("Explain"),
    "view.history": translatable("History"),
}
# Buttons of the toolbar that lose their words first where the window is too narrow for all of them.
TOOLBAR_YIELDS = ("sweep.new", "fork.new", ">panels", "view.history", "view.explain", ">workspace", ">speed")
