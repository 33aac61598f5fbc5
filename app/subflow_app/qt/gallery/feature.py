"""The gallery as a part of the window: everything but an empty panel comes when it is first looked at."""

from __future__ import annotations

from typing import TYPE_CHECKING

from subflow_app.qt.feature import Feature
from subflow_app.qt.menus import GALLERY_BUTTONS, GALLERY_MENU, GALLERY_PAGE_BUTTONS
from subflow_app.qt.widgets.lazy_panel import LazyPanel
from subflow_app.vocabulary.language import tr

if TYPE_CHECKING:
    from subflow_app.qt.gallery.session import GallerySession
    from subflow_app.qt.main_window import MainWindow

_ROOM = (430, 240)  # px


class GalleryFeature(Feature):
    """The panel of experiments and what its actions do."""

    panel_name = "gallery"

    def __init__(self, window: MainWindow) -> None:
        """An empty panel."""
        super().__init__()
        self.window = window
        self.panel: LazyPanel = LazyPanel("gallery_panel", tr("Experiments of the papers"), room=_ROOM)
        self._session: GallerySession | None = None

    @property
    def session(self) -> GallerySession:
        """The experiments, which come when they are first asked for."""
        if self._session is None:
            from subflow_app.qt.gallery.panel import GalleryPanel
            from subflow_app.qt.gallery.session import GallerySession

            bar = self.window.bar
            content = GalleryPanel(
                [bar[name] for name in GALLERY_BUTTONS], [bar[name] for name in GALLERY_PAGE_BUTTONS]
            )
            content.menu_requested.connect(lambda at: self.window.bar.pop_up(GALLERY_MENU, at))
            self.panel.put_in(content, scrolls=True)
            self._session = GallerySession(content, self.window)
            self._session.changed.connect(self.changed)
        return self._session

    def connect_parts(self) -> None:
        """The panel wakes when it is first shown."""
        self.panel.first_shown.connect(lambda: self.session)

    def possible(self) -> frozenset[str]:
        """Everything that the selected experiments allow."""
        return frozenset() if self._session is None else self._session.possible()

    def may_close(self) -> bool:
        """Asks about experiments that go on."""
        return self._session is None or self._session.may_close()

    def close(self) -> None:
        """Ends them."""
        if self._session is not None:
            self._session.close()
