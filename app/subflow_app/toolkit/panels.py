"""The panels of the window, and the workspaces that arrange them."""

from __future__ import annotations

# Panels: object name -> (title, icon, shortcut). The plots are the centre and stay.
PANELS = {
    "topology": ("Topology", "topology", "Ctrl+1"),
    "inspector": ("Inspector", "inspector", "Ctrl+2"),
    "history": ("History", "history", "Ctrl+3"),
    "agent": ("Agent", "agent", "Ctrl+4"),
    "explain": ("Explain", "explain", "Ctrl+Shift+7"),
    "train": ("Train", "train", "Ctrl+5"),
    "queue": ("Queue", "queue", "Ctrl+6"),
    "fairness": ("Fairness", "fairness", "Ctrl+Shift+9"),
    "events": ("Events", "events", "Ctrl+7"),
    "compare": ("Compare", "compare", "Ctrl+Alt+Shift+U"),
    "log": ("Log", "log_panel", "Ctrl+8"),
    "help": ("Help", "help", "Ctrl+9"),
    "sweeps": ("Sweeps", "sweeps", "Ctrl+Shift+8"),
    "lab": ("Lab", "example", "Ctrl+Alt+9"),
    "gallery": ("Experiments", "gallery", "Ctrl+Alt+8"),
    "arena": ("Arena", "arena", "Ctrl+Alt+7"),
    "break": ("Breaking claims", "break", "Ctrl+Alt+Shift+F2"),
    "script": ("Script", "script", "Ctrl+Alt+6"),
}

# Workspaces: id -> (title, what its panels are for, icon, shortcut).
WORKSPACES = {
    "design": ("Drawing", "to draw: a large topology and the inspector", "topology", "Ctrl+Shift+1"),
    "run": ("Simulation", "to run and watch: topology, inspector, plots and history", "run", "Ctrl+Shift+2"),
    "analyse": ("Analysis", "to compare: plots and the history of runs", "plots", "Ctrl+Shift+3"),
    "study": (
        "Parameter study",
        "to vary and compare: large sweeps, comparison, fairness and history",
        "sweeps",
        "Ctrl+Shift+4",
    ),
    "train": ("Agent training", "to train agents: the Train page, topology and agent", "train", "Ctrl+Shift+5"),
    "lab": ("Guided lab", "to follow a lab: its steps, the topology and the plots", "example", "Ctrl+Shift+6"),
    "script": (
        "Writing scripts",
        "to write controllers and schedulers: the script and the plots",
        "script",
        "Ctrl+Alt+5",
    ),
}
DEFAULT_WORKSPACE = "run"
