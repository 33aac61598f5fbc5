"""Everything a person can do in the window, in one table: menus, toolbar, shortcuts and the shortcut list come from it.

A new action is one row here, whose callback is one call to the part of the window that knows how, and its place in
``menus``.
"""

from __future__ import annotations

from collections.abc import Iterator

from subflow_app.plots import GROUPS, PLOTS
from subflow_app.qt.action_spec import ActionSpec, Scope, WindowState

# The plots a person sees first; the others are one click away in the View menu.
DEFAULT_PLOTS = ("throughput", "cwnd", "rtt")

# With the number of the plot in its group.
_PLOT_KEYS = dict(zip(("", *GROUPS), ("Alt", "Alt+Shift", "Ctrl+Alt", "Ctrl+Alt+Shift"), strict=True))

# Panels: object name -> (title, icon, shortcut). The plots are the centre and stay.
PANELS = {
    "topology": ("Topology", "topology", "Ctrl+1"),
    "inspector": ("Inspector", "inspector", "Ctrl+2"),
    "history": ("History", "history", "Ctrl+3"),
    "agent": ("Agent", "agent", "Ctrl+4"),
    "train": ("Train", "train", "Ctrl+5"),
}

# Simulated seconds per second at most, None for no limit: (id, text, tip, icon, shortcut).
SPEEDS: dict[str, tuple[float | None, str, str, str]] = {
    "real_time": (1.0, "Real time (1×)", "speed_slow", "F4"),
    "brisk": (10.0, "10× real time", "speed_medium", "Ctrl+F6"),
    "fast": (100.0, "100× real time", "speed_fast", "F6"),
    "express": (None, "As fast as possible", "speed_max", "F7"),
}
DEFAULT_SPEED = "brisk"

THEMES = {"light": "Ctrl+Alt+L", "dark": "Ctrl+Alt+D", "system": "Ctrl+Alt+S"}


def _has_plots(state: WindowState) -> bool:
    return state.runs_shown > 0


def _one_selected(state: WindowState) -> bool:
    return state.runs_selected == 1


def _one_writable(state: WindowState) -> bool:
    return state.runs_selected == 1 and state.can_write


def _some_writable(state: WindowState) -> bool:
    return state.runs_selected >= 1 and state.can_write


def _file_rows() -> Iterator[ActionSpec]:
    yield ActionSpec(
        "file.new",
        "&New scenario",
        "Start a new scenario: one download over two paths",
        "new",
        ("Ctrl+N",),
        lambda w, _: w.documents.new(),
    )
    yield ActionSpec(
        "file.open",
        "&Open scenario…",
        "Open a scenario file; dropping one on the window does the same",
        "open",
        ("Ctrl+O",),
        lambda w, _: w.documents.ask_open(),
    )
    yield ActionSpec(
        "file.save", "&Save", "Save the scenario to its file", "save", ("Ctrl+S",), lambda w, _: w.documents.save()
    )
    yield ActionSpec(
        "file.save_as",
        "Save &as…",
        "Save the scenario to another file",
        "save_as",
        ("Ctrl+Shift+S",),
        lambda w, _: w.documents.save_as(),
    )
    yield ActionSpec(
        "file.open_database",
        "Open &database…",
        "Keep runs in another database file from now on",
        "database",
        ("Ctrl+Shift+O",),
        lambda w, _: w.database.ask_open(),
        lambda s: not s.is_running and not s.is_training,
    )
    yield ActionSpec(
        "file.copy_database",
        "Save a &copy of the database…",
        "Write all stored runs to a new file, to share or to keep",
        "database_copy",
        ("Ctrl+Shift+B",),
        lambda w, _: w.database.ask_save_copy(),
        lambda s: s.has_store,
    )
    yield ActionSpec(
        "file.export_figure",
        "&Export figure…",
        "Write the plots as they are shown to an SVG, PDF or PNG file",
        "export_figure",
        ("Ctrl+E",),
        lambda w, _: w.exports.ask_figure(),
        _has_plots,
    )
    yield ActionSpec(
        "file.export_data",
        "Export da&ta…",
        "Write the data of the visible curves to a CSV file",
        "export_data",
        ("Ctrl+Shift+E",),
        lambda w, _: w.exports.ask_data(),
        _has_plots,
    )
    yield ActionSpec(
        "file.quit",
        "&Quit",
        "Close Subflow; a run that is going on is stopped and kept",
        "quit",
        ("Ctrl+Q",),
        lambda w, _: w.close(),
    )


def _lower_first(title: str) -> str:
    """A title in the middle of a sentence; an abbreviation at its start stays."""
    return title if title[:2].isupper() else title[0].lower() + title[1:]


def _edit_rows() -> Iterator[ActionSpec]:
    yield ActionSpec(
        "edit.undo",
        "&Undo",
        "Take back the last change of the scenario or of the history",
        "undo",
        ("Ctrl+Z",),
        lambda w, _: w.undo_group.undo(),
        lambda s: s.can_undo,
    )
    yield ActionSpec(
        "edit.redo",
        "&Redo",
        "Make the change again that was taken back",
        "redo",
        ("Ctrl+Shift+Z", "Ctrl+Y"),
        lambda w, _: w.undo_group.redo(),
        lambda s: s.can_redo,
    )
    yield ActionSpec(
        "edit.find_run",
        "&Find run",
        "Search the history by name, scenario, controller, tag or note",
        "search",
        ("Ctrl+F",),
        lambda w, _: w.find_run(),
        lambda s: s.has_store,
    )


def _view_rows() -> Iterator[ActionSpec]:
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
        "Put all panels back where they were at first",
        "reset_layout",
        ("Ctrl+Shift+0",),
        lambda w, _: w.reset_layout(),
    )
    for group, keys in _PLOT_KEYS.items():
        for number, spec in enumerate((spec for spec in PLOTS if spec.group == group), start=1):
            yield ActionSpec(
                f"view.plot_{spec.id}",
                f"{spec.title} plot",
                f"Show or hide the plot of the {_lower_first(spec.title)}",
                "plots",
                (f"{keys}+{number}",),
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
        "view.fit",
        "&Fit plots",
        "Show the whole run in the plots; a double-click does the same",
        "fit",
        ("F",),
        lambda w, _: w.plots.fit(),
        _has_plots,
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
    for mode, shortcut in THEMES.items():
        yield ActionSpec(
            f"view.theme_{mode}",
            f"&{mode.capitalize()} theme",
            "Follow the desktop's light or dark setting" if mode == "system" else f"Use {mode} colours",
            f"theme_{mode}",
            (shortcut,),
            lambda w, _, mode=mode: w.set_theme(mode),  # type: ignore[misc]
            checkable=True,
            group="theme",
            is_on=mode == "system",
        )


def _run_rows() -> Iterator[ActionSpec]:
    yield ActionSpec(
        "run.toggle",
        "&Run",
        "Run the scenario; while it runs, pause and resume",
        "run",
        ("F5",),
        lambda w, _: w.toggle_run(),
        lambda s: s.is_valid or s.is_running,
    )
    yield ActionSpec(
        "run.stop",
        "&Stop",
        "End the run now; what was simulated so far is kept",
        "stop",
        ("Shift+F5",),
        lambda w, _: w.runs.stop(),
        lambda s: s.is_running,
    )
    yield ActionSpec(
        "run.record_decisions",
        "Record &decisions",
        "Keep with new runs why controllers and schedulers did what they did; such a run stores much more",
        "decisions",
        ("Ctrl+Shift+D",),
        lambda w, on: w.set_decisions_recorded(on),
        checkable=True,
    )
    for speed, (_limit, text, icon_name, shortcut) in SPEEDS.items():
        yield ActionSpec(
            f"run.speed_{speed}",
            text,
            "Simulate as fast as this computer can"
            if speed == "express"
            else f"Let the run go at {text.lower()}, to watch it",
            icon_name,
            (shortcut,),
            lambda w, _, speed=speed: w.set_speed(speed),  # type: ignore[misc]
            checkable=True,
            group="speed",
            is_on=speed == DEFAULT_SPEED,
        )


def _agent_rows() -> Iterator[ActionSpec]:
    yield ActionSpec(
        "agent.first",
        "&First decision",
        "Go to the first decision of the learning agent that the agent panel shows",
        "first",
        ("Alt+Home",),
        lambda w, _: w.agent.go_to_first(),
        lambda s: s.has_earlier_decision,
    )
    yield ActionSpec(
        "agent.previous",
        "Pre&vious decision",
        "Go back by one decision of the learning agent; a click into the plots goes to the nearest",
        "previous",
        ("Alt+Left",),
        lambda w, _: w.agent.step(-1),
        lambda s: s.has_earlier_decision,
    )
    yield ActionSpec(
        "agent.next",
        "Ne&xt decision",
        "Go on by one decision of the learning agent; a click into the plots goes to the nearest",
        "next",
        ("Alt+Right",),
        lambda w, _: w.agent.step(1),
        lambda s: s.has_later_decision,
    )
    yield ActionSpec(
        "agent.last",
        "L&atest decision",
        "Go to the latest decision of the learning agent; while a run goes on, stay with it",
        "last",
        ("Alt+End",),
        lambda w, _: w.agent.go_to_last(),
        lambda s: s.has_later_decision,
    )


def _training_rows() -> Iterator[ActionSpec]:
    yield ActionSpec(
        "train.start",
        "&Start training",
        "Train an agent as the form of the Train page says; several trainings can go on at once",
        "train",
        ("F9",),
        lambda w, _: w.training_session.start(),
        lambda s: s.can_train,
        Scope.TRAINING,
    )
    yield ActionSpec(
        "train.toggle",
        "&Pause",
        "Pause the selected trainings, resume them, or continue those that were interrupted from their last checkpoint",
        "pause",
        ("Shift+F9",),
        lambda w, _: w.train.toggle(),
        lambda s: "toggle" in s.training,
        Scope.TRAINING,
    )
    yield ActionSpec(
        "train.stop",
        "S&top",
        "End the selected trainings with a checkpoint, from which they can be continued",
        "stop",
        ("Ctrl+F9",),
        lambda w, _: w.train.stop(),
        lambda s: "stop" in s.training,
        Scope.TRAINING,
    )
    yield ActionSpec(
        "train.checkpoint",
        "Write &checkpoint",
        "Write checkpoints of the selected trainings now",
        "checkpoint",
        ("Ctrl+Shift+K",),
        lambda w, _: w.train.checkpoint(),
        lambda s: "checkpoint" in s.training,
        Scope.TRAINING,
    )
    yield ActionSpec(
        "train.evaluate",
        "&Evaluate now",
        "Compare the selected trainings with the classic controllers on held-out seeds now",
        "evaluate",
        ("F8",),
        lambda w, _: w.train.evaluate(),
        lambda s: "evaluate" in s.training,
        Scope.TRAINING,
    )
    yield ActionSpec(
        "train.race",
        "&Race",
        "Run the scenario in the window with the policy of the selected training and with a classic controller",
        "race",
        ("Shift+F8",),
        lambda w, _: w.training_session.race(),
        lambda s: "race" in s.training and s.is_valid and not s.is_running,
        Scope.TRAINING,
    )
    yield ActionSpec(
        "train.promote",
        "Promote to &library…",
        "Put the best policy of the selected training into your library, where every scenario can name it",
        "promote",
        ("Ctrl+Alt+P",),
        lambda w, _: w.training_session.promote(),
        lambda s: "promote" in s.training,
        Scope.TRAINING,
    )


def _history_rows() -> Iterator[ActionSpec]:
    yield ActionSpec(
        "history.open",
        "&Open plots",
        "Show the selected runs in the plots; several are laid over each other",
        "plots",
        ("Return",),
        lambda w, _: w.open_selected_runs(),
        lambda s: s.runs_selected >= 1,
        Scope.HISTORY,
    )
    yield ActionSpec(
        "history.overlay",
        "Over&lay with current",
        "Lay the selected runs over those that the plots show now",
        "overlay",
        ("Ctrl+Return",),
        lambda w, _: w.overlay_selected_runs(),
        lambda s: s.runs_selected >= 1 and s.runs_shown >= 1,
        Scope.HISTORY,
    )
    yield ActionSpec(
        "history.clear_overlay",
        "&Clear overlay",
        "Show only the first of the runs in the plots",
        "clear",
        ("Ctrl+Backspace",),
        lambda w, _: w.shown.keep_first(),
        lambda s: s.runs_shown > 1,
    )
    yield ActionSpec(
        "history.rename",
        "&Rename…",
        "Give the selected run another name",
        "rename",
        ("F2",),
        lambda w, _: w.history.rename_selected(),
        _one_writable,
        Scope.HISTORY,
    )
    yield ActionSpec(
        "history.tag",
        "&Tags…",
        "Set the tags of the selected runs, to find them again",
        "tag",
        ("Ctrl+T",),
        lambda w, _: w.history.tag_selected(),
        _some_writable,
        Scope.HISTORY,
    )
    yield ActionSpec(
        "history.note",
        "&Note…",
        "Write a note on the selected run",
        "note",
        ("Ctrl+Shift+N",),
        lambda w, _: w.history.note_selected(),
        _one_writable,
        Scope.HISTORY,
    )
    yield ActionSpec(
        "history.open_scenario",
        "Open its &scenario",
        "Open the scenario of the selected run in the editor, to change it or to run it again",
        "scenario",
        ("Ctrl+Shift+Return",),
        lambda w, _: w.open_scenario_of_selected_run(),
        _one_selected,
        Scope.HISTORY,
    )
    yield ActionSpec(
        "history.export",
        "&Export run…",
        "Write all data of the selected run to a folder: CSV tables, summary and scenario",
        "export_data",
        ("Ctrl+Alt+E",),
        lambda w, _: w.exports.ask_run(),
        _one_selected,
        Scope.HISTORY,
    )
    yield ActionSpec(
        "history.delete",
        "&Delete",
        "Delete the selected runs; undo brings them back",
        "delete",
        ("Del",),
        lambda w, _: w.history.delete_selected(),
        _some_writable,
        Scope.HISTORY,
    )
    yield ActionSpec(
        "history.purge",
        "Remove deleted runs for &good…",
        "Free the disk space of all deleted runs; they cannot be brought back then",
        "purge",
        ("Ctrl+Shift+Del",),
        lambda w, _: w.database.ask_purge(),
        lambda s: s.can_write and not s.is_running,
    )


def _help_rows() -> Iterator[ActionSpec]:
    yield ActionSpec(
        "help.shortcuts",
        "&Keyboard shortcuts",
        "List all shortcuts and mouse gestures",
        "shortcuts",
        ("Ctrl+/",),
        lambda w, _: w.show_shortcuts(),
    )
    yield ActionSpec(
        "help.about",
        "&About Subflow",
        "Version, licences and where files are kept",
        "about",
        ("Shift+F1",),
        lambda w, _: w.show_about(),
    )


ACTIONS: tuple[ActionSpec, ...] = (
    *_file_rows(),
    *_edit_rows(),
    *_view_rows(),
    *_run_rows(),
    *_agent_rows(),
    *_training_rows(),
    *_history_rows(),
    *_help_rows(),
)
