"""Actions that export figures, data, runs and topologies, and actions that verify files."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Protocol

from subflow_app.toolkit.action_bar import HAS_NODES, ONE_SELECTED, PLOTS_SHOWN, ActionSpec, Need, Scope
from subflow_app.vocabulary.language import translatable

if TYPE_CHECKING:
    from subflow_app.features.exporting.qt.exporting import Exports, RunExports
    from subflow_app.features.exporting.qt.topology_files import TopologyFiles
    from subflow_app.features.history.qt import History

FIGURE_ACTIONS = frozenset(
    {
        "arena.export",
        "break.export",
        "compare.export_figure",
        "gallery.export_figure",
        "study.export_trade_offs",
        "sweep.export_figure",
        "train.export_figure",
    }
)
"""Actions of features that export the figures of their panels."""
FIGURE_SHOWN = Need(
    lambda s: s.runs_shown > 0 or bool(FIGURE_ACTIONS & s.features), translatable("no panel shows a figure")
)


class ExportHolder(Protocol):
    """Parts of the window that these actions call."""

    exports: Exports
    history: History
    run_exports: RunExports
    topology_files: TopologyFiles


def rows() -> Iterator[ActionSpec[ExportHolder]]:
    """Entries of the File menu and the History menu."""
    yield ActionSpec(
        "file.export_graphml",
        "Export topology as &GraphML…",
        "Write nodes and links to a GraphML file, for other programs",
        "topology",
        (),
        lambda w, _: w.topology_files.ask_graphml(),
        (HAS_NODES,),
    )
    yield ActionSpec(
        "file.export_testbed",
        "Export to a test&bed…",
        "Write a script that builds the topology from real hosts: network namespaces, Mininet, containerlab, or tc",
        "topology",
        (),
        lambda w, _: w.topology_files.ask_testbed(),
        (HAS_NODES,),
    )
    yield ActionSpec(
        "file.export_drawing",
        "Export dra&wing of the topology…",
        "Write the drawing of the topology with its legend to a PDF, SVG or PNG file for a paper",
        "export_figure",
        (),
        lambda w, _: w.topology_files.ask_drawing(),
        (HAS_NODES,),
    )
    yield ActionSpec(
        "file.export_figure",
        "&Export figure…",
        "Write the figure in front to a PDF, SVG or PNG file for a paper, or to a web page: plots, sweep, comparison",
        "export_figure",
        ("Ctrl+E",),
        lambda w, _: w.exports.ask_figure(),
        (FIGURE_SHOWN,),
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
        "file.verify_bundle",
        "&Verify bundle…",
        "Simulate the run of a bundle again and compare it with what the bundle holds, sample by sample",
        "compare",
        (),
        lambda w, _: w.run_exports.ask_verify(),
    )
    yield ActionSpec(
        "history.export",
        "&Export run…",
        "Write the selected run to a folder: tables (CSV, Parquet), packets (pcapng, qlog), a bundle to verify",
        "export_data",
        (),
        lambda w, _: w.run_exports.ask_run(w.history.selected()[0]),
        (ONE_SELECTED,),
        Scope.HISTORY,
    )
