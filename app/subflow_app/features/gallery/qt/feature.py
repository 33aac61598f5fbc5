"""The gallery as a part of the window: everything but an empty panel comes when it is first looked at."""

from __future__ import annotations

from typing import TYPE_CHECKING

from subflow_app.toolkit.feature import SessionFeature
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
    """The panel of experiments and what its actions do."""

    panel_name = "gallery"
    title = translatable("Experiments of the papers")
    room = (430, 240)
    scrolls = True

    def __init__(self, ports: GalleryPorts) -> None:
        """An empty panel."""
        super().__init__()
        self.ports = ports

    def make(self) -> GallerySession:
        """The experiments."""
        from subflow_app.features.gallery.qt.panel import GalleryPanel
        from subflow_app.features.gallery.qt.session import GallerySession

        bar = self.ports.bar
        panel = GalleryPanel([bar[name] for name in GALLERY_BUTTONS], [bar[name] for name in GALLERY_PAGE_BUTTONS])
        panel.menu_requested.connect(lambda at: bar.pop_up(GALLERY_MENU, at))
        return GallerySession(panel, self.ports, self)

    def show(self) -> None:
        """Brings its panel to the front."""
        self.ports.workspaces.go_to(self.panel_name)
