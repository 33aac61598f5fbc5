"""Actions of the File, Edit and Help menus.

The File menu covers scenario files, the database and exports. The Edit menu covers undo, redo and search.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from subflow_app.toolkit.action_bar import HAS_NODES, NOT_RUNNING, PLOTS_SHOWN, STORE, ActionSpec, Need
from subflow_app.vocabulary.language import translatable

if TYPE_CHECKING:
    from subflow_app.shell.main_window import MainWindow


def file_rows() -> Iterator[ActionSpec[MainWindow]]:
    """The File menu."""
    yield ActionSpec(
        "file.new",
        "&New scenario",
        "Start a new scenario: one download over two paths",
        "new",
        ("Ctrl+N",),
        lambda w, _: w.documents.new(),
    )
    yield ActionSpec(
        "file.new_empty",
        "New e&mpty scenario",
        "Start with an empty canvas, to draw a topology from scratch",
        "new_empty",
        ("Ctrl+Alt+N",),
        lambda w, _: w.documents.new_empty(),
    )
    yield ActionSpec(
        "file.new_template",
        "New from &template…",
        "Start with a topology from the literature, and choose its rates and numbers of flows",
        "template",
        ("Ctrl+Alt+T",),
        lambda w, _: w.documents.ask_template(),
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
        ("Ctrl+Shift+B",),
        lambda w, _: w.database.ask_save_copy(),
        (STORE,),
    )
    yield ActionSpec(
        "file.import_topology",
        "&Import topology…",
        "Make a scenario from a GraphML or GML file, such as those of the Topology Zoo",
        "import",
        ("Ctrl+Shift+I",),
        lambda w, _: w.topology_files.ask_import(),
    )
    yield ActionSpec(
        "file.import_page",
        "Import a &web page…",
        "Make a scenario of a run in a web page, with what was changed there",
        "import",
        ("Ctrl+Alt+Shift+7",),
        lambda w, _: w.topology_files.ask_page(),
    )
    yield ActionSpec(
        "file.export_graphml",
        "Export topology as &GraphML…",
        "Write nodes and links to a GraphML file, for other programs",
        "topology",
        ("Ctrl+Shift+G",),
        lambda w, _: w.topology_files.ask_graphml(),
        (HAS_NODES,),
    )
    yield ActionSpec(
        "file.export_svg",
        "Export drawing as S&VG…",
        "Write the drawing of the topology with its legend to an SVG file, sharp at any size",
        "export_figure",
        ("Ctrl+Shift+V",),
        lambda w, _: w.topology_files.ask_svg(),
        (HAS_NODES,),
    )
    yield ActionSpec(
        "file.export_png",
        "Export drawing as &PNG…",
        "Write the drawing of the topology with its legend to an image",
        "export_figure",
        ("Ctrl+Shift+X",),
        lambda w, _: w.topology_files.ask_png(),
        (HAS_NODES,),
    )
    yield ActionSpec(
        "file.export_figure",
        "&Export figure…",
        "Write the plots to an SVG, PDF or PNG file, as shown or for a paper",
        "export_figure",
        ("Ctrl+E",),
        lambda w, _: w.exports.ask_figure(),
        (PLOTS_SHOWN,),
    )
    yield ActionSpec(
        "file.export_data",
        "Export da&ta…",
        "Write the data of the visible curves to a CSV file",
        "export_data",
        ("Ctrl+Shift+E",),
        lambda w, _: w.exports.ask_data(),
        (PLOTS_SHOWN,),
    )
    yield ActionSpec(
        "file.export_report",
        "Export &report…",
        "Write a report on the selected runs, or those shown: setup, figures, tables, seeds, how to run them again",
        "export_report",
        ("Ctrl+Shift+R",),
        lambda w, _: w.reports.ask_report([row.id for row in w.history.selected()] or sorted(w.shown.ids)),
        (
            STORE,
            Need(
                lambda s: s.runs_selected > 0 or s.runs_shown > 0,
                translatable("no run is shown and none is selected in the history"),
            ),
        ),
    )
    yield ActionSpec(
        "file.verify_bundle",
        "&Verify bundle…",
        "Simulate the run of a bundle again and compare it with what the bundle holds, sample by sample",
        "compare",
        ("Ctrl+Alt+Shift+Y",),
        lambda w, _: w.run_exports.ask_verify(),
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
    """The Edit menu."""
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
        "help.about",
        "&About Subflow",
        "Version, licences and where files are kept",
        "about",
        ("Ctrl+Shift+F1",),
        lambda w, _: w.window_dialogs.show_about(),
    )
