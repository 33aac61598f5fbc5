"""Help."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from subflow_app.features.crashes.qt.feature import CrashFeature
from subflow_app.features.guide.qt import GuideFeature
from subflow_app.toolkit.action_spec import ActionSpec

if TYPE_CHECKING:
    from subflow_app.shell.main_window import MainWindow


def rows() -> Iterator[ActionSpec[MainWindow]]:
    """The Help menu."""
    yield ActionSpec(
        "help.panel",
        "&Help on this panel",
        "Explain the panel that has the keyboard focus",
        "help",
        ("F1",),
        lambda w, _: w.window_dialogs.show_help(),
    )
    yield ActionSpec(
        "help.guide_here",
        "User guide on &this",
        "Open the user guide in the browser, at the page of the algorithm or panel that has the keyboard focus",
        "guide",
        ("Shift+F1",),
        lambda w, _: w.features[GuideFeature].show_here(),
    )
    yield ActionSpec(
        "help.guide",
        "User &guide",
        "Open the user guide in the browser: every view, algorithm, command and key of a scenario file",
        "guide",
        ("Ctrl+F1",),
        lambda w, _: w.features[GuideFeature].show(),
    )
    yield ActionSpec(
        "help.welcome",
        "&Welcome",
        "Show the three ways into the program: demo, labs, new topology",
        "welcome",
        ("Ctrl+Alt+W",),
        lambda w, _: w.window_dialogs.show_welcome(),
    )
    yield ActionSpec(
        "help.palette",
        "Command &palette…",
        "Find anything that can be done or opened by typing a few letters",
        "search",
        ("Ctrl+K", "Ctrl+Shift+P"),
        lambda w, _: w.window_dialogs.show_palette(),
    )
    yield ActionSpec(
        "help.shortcuts",
        "&Keyboard shortcuts",
        "List all shortcuts and mouse gestures",
        "shortcuts",
        ("Ctrl+/",),
        lambda w, _: w.window_dialogs.show_shortcuts(),
    )
    yield ActionSpec(
        "help.crash_reports",
        "&Crash reports…",
        "Read what was written when Subflow crashed or showed a bug, to send it by hand",
        "crash",
        ("Ctrl+Alt+Shift+F1",),
        lambda w, _: w.features[CrashFeature].show(),
    )
    yield ActionSpec(
        "help.about",
        "&About Subflow",
        "Version, licences and where files are kept",
        "about",
        ("Ctrl+Shift+F1",),
        lambda w, _: w.window_dialogs.show_about(),
    )
