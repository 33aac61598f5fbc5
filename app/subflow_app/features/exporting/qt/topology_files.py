"""Import and export of topologies in the file formats of other programs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from subflow_app.features.editor.core.topology import picture_of
from subflow_app.foundation.errors import AppError
from subflow_app.foundation.paths import file_stem
from subflow_app.toolkit.dialogs import Dialogs
from subflow_app.toolkit.widgets.banner import Banners, Way
from subflow_app.vocabulary.language import tr
from subflow_app.vocabulary.picture import Panel
from subflow_sim.scenario import Scenario

if TYPE_CHECKING:
    from subflow_app.features.editor.core.graph_import import Imported
    from subflow_app.features.editor.qt.documents import Documents
    from subflow_app.features.exporting.qt.exporting import Exports


class TopologyFiles:
    """Imports topologies and web pages into the documents of one window, and exports topologies."""

    def __init__(self, documents: Documents, dialogs: Dialogs, banners: Banners, exports: Exports) -> None:
        """Show the results of imports in ``banners``."""
        self._documents = documents
        self._dialogs = dialogs
        self._banners = banners
        self._exports = exports

    def import_file(self, path: Path) -> bool:
        """Make a scenario from a graph file; False if this fails or the user keeps the current scenario."""
        # Imported here, because graph files are not read at program start.
        from subflow_app.features.editor.core.graph_import import import_graph

        try:
            found = import_graph(path)
        except AppError as error:
            self._banners.show_banner("import", "error", str(error))
            return False
        if not self._documents.open_text(found.text, file_stem(found.name)):
            return False
        self._tell(found)
        return True

    def import_page(self, path: Path) -> bool:
        """Make a scenario from a run in a web page; False if this fails or the user cancels."""
        from subflow_app.features.exporting.core.page_import import read_page
        from subflow_app.features.policies.core import keep_policies

        try:
            page = read_page(path)
            number = self._run_of_page(page.names)
            if number is None:
                return False
            found = page.scenario(number)
            added = keep_policies(found.policies)
        except AppError as error:
            self._banners.show_banner("import", "error", str(error))
            return False
        if not self._documents.open_text(found.text, file_stem(found.name)):
            return False
        told = tr("Imported from {file}: {name}.", file=path.name, name=found.name)
        if found.signature:
            told += " " + tr("Run it: its signature in the page is {signature}.", signature=found.signature)
        if added:
            told += " " + tr("Added to the library of policies: {names}.", names=", ".join(added))
        self._banners.show_banner("import", "warning" if found.notices else "info", "\n".join([told, *found.notices]))
        return True

    def _run_of_page(self, names: Sequence[str]) -> int | None:
        """Number of the only or chosen run of a page, from 1; None if cancelled."""
        if len(names) == 1:
            return 1
        options = [f"{number}: {name}" for number, name in enumerate(names, 1)]
        chosen = self._dialogs.choice(tr("Import a web page"), tr("Run of the page:"), options, 0)
        return None if chosen is None else options.index(chosen) + 1

    def ask_graphml(self) -> None:
        """Ask for a file and write the topology as GraphML."""
        from subflow_app.features.editor.core.graph_files import export_graphml, left_out

        def write(scenario: Scenario, path: Path) -> None:
            export_graphml(scenario, picture_of(scenario, self._documents.doc.positions()).places, path)
            missing = left_out(scenario)
            if missing:
                text = tr(
                    "{file} has only the topology. GraphML has no place for: {what}.",
                    file=path,
                    what=", ".join(missing),
                )
                self._banners.show_banner("left_out", "info", text)

        self._ask_export(tr("Export topology"), tr("GraphML (*.graphml)"), ".graphml", write)

    def ask_testbed(self) -> None:
        """Ask for a format and a file, and write the topology as a script for a testbed."""
        from subflow_app.features.testbed.core.formats import TESTBEDS, export_topology

        titles = {tr(each.title): each for each in TESTBEDS}
        chosen = self._dialogs.choice(tr("Export to a testbed"), tr("The script is for:"), list(titles), 0)
        if chosen is None:
            return
        made = titles[chosen]

        def write(scenario: Scenario, path: Path) -> None:
            missing = export_topology(scenario, {}, path, made.name)
            text = tr(
                "{file}: the testbed differs from the simulation in {count} points.", file=path, count=len(missing)
            )
            details = "\n".join(missing)
            ways = [Way(tr("Details…"), lambda: self._dialogs.report(tr("Export to a testbed"), details))]
            self._banners.show_banner("left_out", "info", text, ways)

        filters = f"{tr(made.title)} (*{made.suffix})"
        self._ask_export(tr("Export to a testbed"), filters, made.suffix, write)

    def ask_drawing(self) -> None:
        """Open the dialog that exports the drawing of the topology as a figure."""
        from subflow_app.features.paper.core.exported_figure import ExportedFigure
        from subflow_app.features.paper.core.figure_plan import FigurePlan
        from subflow_app.features.paper.core.topology_sketch import sketch_of

        scenario = self._documents.doc.sketch
        if scenario is not None:
            panel = Panel.of_topology(sketch_of(scenario, self._documents.doc.positions()))
            self._exports.export(ExportedFigure(file_stem(scenario.name), FigurePlan(panels=(panel,))))

    # ---- internals ----

    def _ask_export(self, title: str, filters: str, suffix: str, write: Callable[[Scenario, Path], None]) -> None:
        scenario = self._documents.doc.sketch
        if scenario is None:
            return
        path = self._exports.ask_path(title, filters, f"{file_stem(scenario.name)}{suffix}")
        if path is not None:
            self._exports.write(path, lambda: write(scenario, path))

    def _tell(self, found: Imported) -> None:
        text = found.summary + " " + tr("No flows yet: add one to run it.")
        self._banners.show_banner(
            "import",
            "warning" if found.guessed_count else "info",
            text,
            [Way(tr("Details…"), lambda: self._dialogs.report(tr("Imported: {name}", name=found.name), found.details))],
        )
