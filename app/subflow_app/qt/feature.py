"""Parts of the window that stand by themselves: each is a file or a folder, and a line in `features`.

A feature takes what it needs of the window and wires itself; the window asks it for its panel, for what can be done
with it now, and whether it may be closed. What several parts share (documents, runs, plots) belongs to the window.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, TypeVar

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from subflow_app.qt.widgets.lazy_panel import LazyPanel
from subflow_app.vocabulary.language import tr

if TYPE_CHECKING:
    from subflow_app.qt.main_window import MainWindow

C = TypeVar("C", bound=QWidget)


class Feature(QObject):
    """One of them. It is made before the window has docks and plots, cheaply: what costs time waits until it is shown.

    Attributes:
        panel_name: object name of its panel, a key of `choices.PANELS`; empty: it has none.
        panel: the content of that panel.
        strip: goes below the panels, as wide as the window.
    """

    changed = Signal()  # what `possible` says

    panel_name = ""
    panel: QWidget | None = None
    strip: QWidget | None = None

    def __init__(self, window: MainWindow) -> None:
        """Makes the widgets; ``window`` has its parts, but no panels yet."""
        super().__init__(window)
        self.window = window

    def connect_parts(self) -> None:
        """Connects with the other parts, which are all there now."""

    def possible(self) -> frozenset[str]:
        """Ids of what can be done with it now, as a rule those of its actions."""
        return frozenset()

    def may_close(self) -> bool:
        """Whether the window may close; asks the person if something would be lost."""
        return True

    def close(self) -> None:
        """Ends what goes on: the window closes."""


class PanelFeature(Feature, Generic[C]):
    """A feature with a panel that is filled when it is first shown or asked for.

    Attributes:
        title: accessible name of the panel, English.
        room: width and height, px, that the content has at least.
        scrolls: the panel may become smaller than its content.
    """

    title = ""
    room = (430, 240)
    scrolls = True

    def __init__(self, window: MainWindow) -> None:
        """An empty panel."""
        super().__init__(window)
        self.panel: LazyPanel = LazyPanel(f"{self.panel_name}_panel", tr(self.title), room=self.room)
        self.shown: C | None = None
        self.panel.woken.connect(lambda: self.content)

    @property
    def content(self) -> C:
        """The content of the panel; `shown` is None until it was asked for."""
        if self.shown is None:
            self.shown = self.make()
            self.panel.put_in(self.shown, scrolls=self.scrolls)
            self.on_made()
        return self.shown

    def make(self) -> C:
        """Builds the content; its modules are imported here, because most sessions never open the panel."""
        raise NotImplementedError

    def on_made(self) -> None:
        """Fills the content for the first time."""
