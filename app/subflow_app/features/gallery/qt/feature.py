"""Gallery in the window: the panel of the papers' experiments, and actions to run, show and report them.

The panel is a placeholder until it is first shown; only then are experiments and widgets loaded.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from subflow_app.toolkit.action_bar import WRITABLE, ActionSpec, possible
from subflow_app.toolkit.feature import FeatureHolder, SessionFeature
from subflow_app.vocabulary.language import translatable

if TYPE_CHECKING:
    from subflow_app.features.gallery.qt.session import GalleryPorts, GallerySession


GALLERY_BUTTONS = ("gallery.run_quick", "gallery.run_full", "gallery.resume", "gallery.stop", "gallery.report")
GALLERY_PAGE_BUTTONS = ("gallery.show_runs", "gallery.open_scenario", "gallery.export_figure")
GALLERY_MENU = (
    "gallery.run_quick",
    "gallery.run_full",
    "gallery.resume",
    "gallery.stop",
    "-",
    "gallery.show_runs",
    "gallery.open_scenario",
    "-",
    "gallery.export_figure",
    "gallery.report",
)
"""Actions on the selected experiments."""


class GalleryFeature(SessionFeature["GallerySession"]):
    """The panel of experiments and its actions."""

    panel_name = "gallery"
    export_action = "gallery.export_figure"
    title = translatable("Experiments of the papers")
    room = (430, 240)
    scrolls = True

    def __init__(self, ports: GalleryPorts) -> None:
        """Start with an empty panel."""
        super().__init__()
        self.ports = ports

    def make(self) -> GallerySession:
        """Create the panel and the session behind it."""
        from subflow_app.features.gallery.qt.panel import GalleryPanel
        from subflow_app.features.gallery.qt.session import GallerySession

        bar = self.ports.bar
        panel = GalleryPanel([bar[name] for name in GALLERY_BUTTONS], [bar[name] for name in GALLERY_PAGE_BUTTONS])
        panel.menu_requested.connect(lambda at: bar.pop_up(GALLERY_MENU, at))
        return GallerySession(panel, self.ports, self)

    def show(self) -> None:
        """Bring the panel of the gallery to the front."""
        self.ports.workspaces.go_to(self.panel_name)


def rows() -> Iterator[ActionSpec[FeatureHolder]]:
    """Actions for the gallery's part of the Study menu."""
    yield ActionSpec(
        "gallery.show",
        "Sho&w the experiments of the papers",
        "Show the experiments of the papers: what each measures, its figure, and what the paper prints",
        "gallery",
        (),
        lambda w, _: w.features[GalleryFeature].show(),
    )
    yield ActionSpec(
        "gallery.run_quick",
        "Run &quick",
        "Run the selected experiments shortened: fewer seeds and points; a paper's heading selects all of its "
        "experiments",
        "run_quick",
        (),
        lambda w, _: w.features[GalleryFeature].session.run(is_quick=True),
        (
            WRITABLE,
            possible("gallery.run_quick", translatable("no experiment is selected, or it is running")),
        ),
    )
    yield ActionSpec(
        "gallery.run_full",
        "Run in &full",
        "Run the selected experiments in full, as in the paper, which may take hours; existing runs are kept",
        "run",
        (),
        lambda w, _: w.features[GalleryFeature].session.run(is_quick=False),
        (
            WRITABLE,
            possible("gallery.run_full", translatable("no experiment is selected, or it is running")),
        ),
    )
    yield ActionSpec(
        "gallery.resume",
        "&Resume",
        "Make the missing runs of the selected experiments, quick or full as they were begun",
        "retry",
        (),
        lambda w, _: w.features[GalleryFeature].session.resume(),
        (
            WRITABLE,
            possible("gallery.resume", translatable("select an interrupted experiment")),
        ),
    )
    yield ActionSpec(
        "gallery.stop",
        "&Stop",
        "End the selected experiments; finished runs are kept, and the others can be made later",
        "stop",
        (),
        lambda w, _: w.features[GalleryFeature].session.stop(),
        (possible("gallery.stop", translatable("no selected experiment is running")),),
    )
    yield ActionSpec(
        "gallery.show_runs",
        "Show the r&uns",
        "Open the curves of the runs of the experiment in the plots, one of each series",
        "plots",
        (),
        lambda w, _: w.features[GalleryFeature].session.show_runs(),
        (possible("gallery.show_runs", translatable("choose an experiment that has runs")),),
    )
    yield ActionSpec(
        "gallery.open_scenario",
        "&Open the scenario",
        "Open the scenario of the experiment in the editor, to change it and to run it alone",
        "topology",
        (),
        lambda w, _: w.features[GalleryFeature].session.open_scenario(),
        (possible("gallery.open_scenario", translatable("choose an experiment that has a scenario")),),
    )
    yield ActionSpec(
        "gallery.export_figure",
        "&Export the figure…",
        "Write the figure of the experiment to a file, with the paper's values",
        "export_figure",
        (),
        lambda w, _: w.features[GalleryFeature].session.ask_export_figure(),
        (possible("gallery.export_figure", translatable("choose an experiment that has a figure")),),
    )
    yield ActionSpec(
        "gallery.report",
        "Write a repor&t…",
        "Write a report on the selected experiments: figures, verdicts, readings and settings as HTML, PDF and CSV",
        "export_report",
        (),
        lambda w, _: w.features[GalleryFeature].session.ask_report(),
        (possible("gallery.report", translatable("select experiments that have results")),),
    )
