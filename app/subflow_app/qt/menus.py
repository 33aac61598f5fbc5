"""Where the actions stand in menus, context menus and toolbar; a test compares with the table in ``actions``."""

from __future__ import annotations

from subflow_app.core.arrange import EDGES
from subflow_app.plots import GROUPS, PLOTS
from subflow_app.qt.actions.choices import PANELS, SPEEDS, THEMES, WORKSPACES

# Submenus of the menus below: the plots that only some runs have.
SUBMENUS: dict[str, tuple[str, ...]] = {
    f"{group} plots": tuple(f"view.plot_{spec.id}" for spec in PLOTS if spec.group == group) for group in GROUPS
} | {
    "Workspace": (*(f"view.workspace_{name}" for name in WORKSPACES), "-", "view.reset_layout", "view.reset_layouts"),
}
# Menus as lists of action ids; "-" is a separator, ">" opens a submenu with its title, one of those above or one that
# the window fills.
MENUS: dict[str, tuple[str, ...]] = {
    "&File": (
        "file.new",
        "file.new_empty",
        "file.new_template",
        "file.open",
        ">Open &example",
        ">Open &recent",
        "-",
        "file.save",
        "file.save_as",
        "-",
        "file.open_database",
        "file.copy_database",
        "-",
        "file.export_figure",
        "file.export_data",
        "-",
        "file.quit",
    ),
    "&Edit": ("edit.undo", "edit.redo", "-", "edit.find_run"),
    "&Topology": (
        *(f"topology.tool_{name}" for name in ("select", "host", "router", "link")),
        "-",
        "topology.cut",
        "topology.copy",
        "topology.paste",
        "topology.duplicate",
        "topology.delete",
        "-",
        "topology.rename",
        "topology.connect",
        "-",
        "topology.select_all",
        "topology.select_none",
        "-",
        *(f"arrange.align_{edge}" for edge in EDGES),
        "-",
        "arrange.distribute_x",
        "arrange.distribute_y",
        "-",
        "arrange.lay_out",
        "-",
        "arrange.grid",
        "arrange.lock",
        "arrange.minimap",
        "arrange.timeline",
    ),
    "&View": (
        *(f"view.{name}" for name in PANELS),
        ">Workspace",
        "-",
        *(f"view.plot_{spec.id}" for spec in PLOTS if not spec.group),
        *(f">{group} plots" for group in GROUPS),
        "-",
        "view.legend",
        "view.crosshair",
        "view.log_y",
        "view.marks",
        "-",
        "view.fit",
        "view.zoom_in",
        "view.zoom_out",
        "view.zoom_reset",
        "-",
        *(f"view.theme_{mode}" for mode in THEMES),
    ),
    "&Run": (
        "run.toggle",
        "run.stop",
        "-",
        *(f"run.speed_{speed}" for speed in SPEEDS),
        "-",
        "run.record_decisions",
        "-",
        "agent.first",
        "agent.previous",
        "agent.next",
        "agent.last",
    ),
    "&Train": (
        "train.start",
        "-",
        "train.toggle",
        "train.stop",
        "train.checkpoint",
        "-",
        "train.evaluate",
        "train.race",
        "-",
        "train.promote",
    ),
    "H&istory": (
        "history.open",
        "history.overlay",
        "history.clear_overlay",
        "-",
        "history.rename",
        "history.tag",
        "history.note",
        "-",
        "history.open_scenario",
        "history.export",
        "-",
        "history.delete",
        "history.purge",
    ),
    "&Help": ("help.palette", "help.shortcuts", "help.about"),
}

# Right-click menus of the canvas, by what is clicked: the section of its key, empty for the canvas itself.
_PART_MENU = (
    "topology.cut",
    "topology.copy",
    "topology.duplicate",
    "topology.delete",
    "topology.rename",
)
TOPOLOGY_MENUS: dict[str, tuple[str, ...]] = {
    "": ("topology.paste", "-", "topology.select_all"),
    "nodes": ("topology.connect", "-", *_PART_MENU),
    "links": _PART_MENU,
    "flows": _PART_MENU,
    "notes": ("topology.cut", "topology.copy", "topology.duplicate", "topology.delete"),
}
HISTORY_MENU = MENUS["H&istory"][:-1]
TRAINING_MENU = MENUS["&Train"][2:]
PLOT_MENU = (
    "view.fit",
    "-",
    "view.legend",
    "view.crosshair",
    "view.log_y",
    "view.marks",
    "-",
    "file.export_figure",
    "file.export_data",
    "-",
    "history.clear_overlay",
)
# ">speed" is the drop-down with the speeds, "<>" pushes the rest to the right end.
TOOLBAR = (
    "file.new",
    "file.open",
    "file.save",
    "-",
    "edit.undo",
    "edit.redo",
    "-",
    "run.toggle",
    "run.stop",
    ">speed",
    "-",
    "view.fit",
    "view.legend",
    "view.crosshair",
    "view.log_y",
    "view.marks",
    "-",
    "file.export_figure",
    "file.export_data",
    "<>",
    ">workspace",
    ">theme",
)
