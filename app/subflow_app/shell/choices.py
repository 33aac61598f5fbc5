"""Choices of several actions: speeds, steps, bins, colours, themes."""

from __future__ import annotations

from subflow_app.features.plots.core.drawing import BIN_WIDTHS_S, BY_CONTROLLER, BY_RUN, BY_SUBFLOW, RAW_S, ColourBy
from subflow_app.features.plots.core.spec import AGENTS, CONNECTION, INTERVALS
from subflow_app.features.running.core.stepping import StepSize

# With the number of the plot in its group, 1 to 9. Others have no key: keyboards have no more that are free everywhere.
PLOT_KEYS = {"": "Alt", CONNECTION: "Alt+Shift", INTERVALS: "Ctrl+Alt", AGENTS: "Ctrl+Alt+Shift"}

# Simulated seconds per second at most, None for no limit: (id, text, tip, icon, shortcut).
SPEEDS: dict[str, tuple[float | None, str, str, str]] = {
    "slower": (0.01, "Slow motion (0.01×)", "speed_slowest", "Ctrl+Shift+F4"),
    "slow": (0.1, "Slow motion (0.1×)", "speed_slower", "Ctrl+Shift+F6"),
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
    "100ms": ("Step by 1&00 ms", "Advance the run by 100 ms of simulated time and pause", "Ctrl+Alt+F10"),
}

# Bins of curves over time: id -> (length, s, zero for the samples and None for what the zoom asks for; text; tip).
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

# What colours of curves tell apart: (text, tip).
COLOURS: dict[ColourBy, tuple[str, str]] = {
    BY_RUN: ("Colour by &run", "Give each run a colour; of a single run, each subflow has one"),
    BY_CONTROLLER: ("Colour by &controller", "Give the flows of each congestion controller a colour"),
    BY_SUBFLOW: ("Colour by &subflow", "Give each subflow a colour, the same in all runs, and each run a dash"),
}

# Themes: mode -> (text, tip, shortcut).
THEMES = {
    "light": ("&Light theme", "Use light colours", "Ctrl+Alt+L"),
    "dark": ("&Dark theme", "Use dark colours", "Ctrl+Alt+D"),
    "contrast": ("&High contrast theme", "Use black, white and yellow, with strong edges", "Ctrl+Alt+C"),
    "system": ("&System theme", "Follow the desktop: light, dark or high contrast", "Ctrl+Alt+S"),
}
