"""Actions of the File, Edit and Help menus.

The rows of the File menu cover scenario files, the database and the settings; features add exports. The Edit menu
covers undo, redo and search.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from subflow_app.toolkit.action_bar import NOT_RUNNING, STORE, ActionSpec, Need
from subflow_app.vocabulary.language import translatable

if TYPE_CHECKING:
    from subflow_app.shell.main_window import MainWindow


def file_rows() -> Iterator[ActionSpec[MainWindow]]:
    """Rows of the File menu."""
    yield ActionSpec(
        "file.new",
        "&New scenario",
        "Start a new scenario: one download over two paths",
        "new",
        ("Ctrl+N",),
        lambda w, _: w.show_scenario(w.documents.new()),
    )
    yield ActionSpec(
        "file.new_empty",
        "New e&mpty scenario",
        "Start with an empty canvas, to draw a topology from scratch",
        "new_empty",
        (),
        lambda w, _: w.show_scenario(w.documents.new_empty()),
    )
    yield ActionSpec(
        "file.new_template",
        "New from &template or example…",
        "Start with a topology from the literature and choose its rates, or with one of the shipped examples",
        "template",
        (),
        lambda w, _: w.show_scenario(w.documents.ask_template()),
    )
    yield ActionSpec(
        "file.open",
        "&Open scenario…",
        "Open a scenario file; dropping one on the window does the same",
        "open",
        ("Ctrl+O",),
        lambda w, _: w.show_scenario(w.documents.ask_open()),
    )
    yield ActionSpec(
        "file.save",
        "&Save",
        "Save the scenario to its file, or the script if you have worked in its editor",
        "save",
        ("Ctrl+S",),
        lambda w, _: w.save(),
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
        (
            NOT_RUNNING,
            Need(lambda s: "train.wait" not in s.features, translatable("a training is in progress")),
            Need(lambda s: "queue.toggle" not in s.features, translatable("the queue has running or waiting runs")),
        ),
    )
    yield ActionSpec(
        "file.copy_database",
        "Save a &copy of the database…",
        "Write all stored runs to a new file, to share or to keep",
        "database_copy",
        (),
        lambda w, _: w.database.ask_save_copy(),
        (STORE,),
    )
    yield ActionSpec(
        "file.settings",
        "Se&ttings…",
        "Choose the theme, the language, what runs keep, and what needs confirmation",
        "settings",
        ("Ctrl+,",),
        lambda w, _: w.window_dialogs.show_settings(),
    )
    yield ActionSpec(
        "file.quit",
        "&Quit",
        "Close Subflow; a run in progress is stopped and kept",
        "quit",
        ("Ctrl+Q",),
        lambda w, _: w.close(),
    )


def edit_rows() -> Iterator[ActionSpec[MainWindow]]:
    """Rows of the Edit menu."""
    yield ActionSpec(
        "edit.undo",
        "&Undo",
        "Undo the last change of the scenario or of the history, whichever was later",
        "undo",
        ("Ctrl+Z",),
        lambda w, _: w.undo_order.undo(),
        (Need(lambda s: s.can_undo, translatable("nothing to undo")),),
    )
    yield ActionSpec(
        "edit.redo",
        "&Redo",
        "Redo the change that was undone",
        "redo",
        ("Ctrl+Shift+Z", "Ctrl+Y"),
        lambda w, _: w.undo_order.redo(),
        (Need(lambda s: s.can_redo, translatable("nothing to redo")),),
    )
    yield ActionSpec(
        "edit.find_run",
        "&Find run",
        "Search the history by name, scenario, controller, tag or note",
        "search",
        ("Ctrl+F",),
        lambda w, _: w.find_run(),
        (STORE,),
    )


def help_rows() -> Iterator[ActionSpec[MainWindow]]:
    """Rows of the Help menu."""
    yield ActionSpec(
        "help.panel",
        "&Help on this panel",
        "Explain the panel that has the keyboard focus",
        "help",
        ("F1",),
        lambda w, _: w.window_dialogs.show_help(),
    )
    yield ActionSpec(
        "help.welcome",
        "&Welcome",
        "Show the three ways into the program: demo, labs, new topology",
        "welcome",
        (),
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
        "help.about",
        "&About Subflow",
        "Version, licences and where files are kept",
        "about",
        (),
        lambda w, _: w.window_dialogs.show_about(),
    )
