"""Parts of the window that work by themselves: each is a file or a folder, and a line in `features`.

A feature gets what it needs through its ports: a Protocol that names the parts of the window that it uses, and that
a test can fill without a window. The window asks the feature for its panel, for the actions that are possible now, and
for leave to close.
"""

from __future__ import annotations

from typing import Any, Generic, Protocol, TypeVar

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from subflow_app.toolkit.widgets.empty_state import LazyPanel
from subflow_app.vocabulary.language import tr

C = TypeVar("C", bound=QWidget)
S = TypeVar("S", bound="Session")
F = TypeVar("F", bound="Feature")


class FeatureMap(Protocol):
    """The features of a window."""

    def __getitem__(self, kind: type[F]) -> F:
        """The feature of that class."""


class FeatureHolder(Protocol):
    """A window, as the actions of a feature see it."""

    @property
    def features(self) -> FeatureMap:
        """The features of the window."""


class Feature(QObject):
    """One of them. It is made before the window has docks and plots, cheaply: what costs time waits until it is shown.

    Attributes:
        panel_name: object name of its panel, a key of `panels.PANELS`; empty without a panel.
        panel: the content of that panel.
        strip: goes below the panels, as wide as the window.
    """

    changed = Signal()  # what `possible` says

    panel_name = ""
    panel: QWidget | None = None
    strip: QWidget | None = None

    def connect_parts(self) -> None:
        """Connects with the other parts, which are all there now."""

    def possible(self) -> frozenset[str]:
        """Ids of what can be done with it now, as a rule those of its actions."""
        return frozenset()

    def may_close(self) -> bool:
        """True if the window may close; asks the person if something would be lost."""
        return True

    def close(self) -> None:
        """Ends all work, because the window closes."""


class LazyFeature(Feature):
    """A feature whose panel is filled when it is first shown or asked for.

    Attributes:
        title: accessible name of the panel, English.
        panel_object: object name of the panel; empty: `panel_name` with "_panel".
        room: width and height, px, that the content has at least.
        scrolls: the panel may become smaller than its content.
    """

    title = ""
    panel_object = ""
    room = (0, 0)
    scrolls = False

    def __init__(self) -> None:
        """An empty panel."""
        super().__init__()
        name = self.panel_object or f"{self.panel_name}_panel"
        self.panel: LazyPanel = LazyPanel(name, tr(self.title), room=self.room)
        self.panel.first_shown.connect(self.fill)

    def fill(self) -> None:
        """Fills the panel, unless it is filled."""
        raise NotImplementedError


class PanelFeature(LazyFeature, Generic[C]):
    """A feature whose panel has a widget as its content."""

    room = (430, 240)
    scrolls = True

    def __init__(self) -> None:
        """An empty panel."""
        super().__init__()
        self.shown: C | None = None

    @property
    def content(self) -> C:
        """The content of the panel; `shown` is None until it was asked for."""
        if self.shown is None:
            self.shown = self.make()
            self.panel.put_in(self.shown, scrolls=self.scrolls)
            self.on_made()
        return self.shown

    def fill(self) -> None:
        """Asks for the content."""
        _ = self.content

    def make(self) -> C:
        """Builds the content; its modules are imported here, because most sessions never open the panel."""
        raise NotImplementedError

    def on_made(self) -> None:
        """Fills the content for the first time."""


class Session(Protocol):
    """The working part of a feature, with the content of its panel."""

    panel: Any  # QWidget
    changed: Any  # Signal()

    def possible(self) -> frozenset[str]:
        """Ids of the actions that are possible now."""

    def may_close(self) -> bool:
        """True if the window may close."""

    def close(self) -> None:
        """Ends all work."""


class SessionFeature(LazyFeature, Generic[S]):
    """A feature whose session, with all that it imports, is made when its panel is filled."""

    def __init__(self) -> None:
        """An empty panel."""
        super().__init__()
        self.made: S | None = None

    @property
    def session(self) -> S:
        """The session; `made` is None until it was asked for."""
        if self.made is None:
            self.made = self.make()
            self.panel.put_in(self.made.panel, scrolls=self.scrolls)
            self.made.changed.connect(self.changed)
            self.changed.emit()  # with the session more is possible
        return self.made

    def fill(self) -> None:
        """Asks for the session."""
        _ = self.session

    def make(self) -> S:
        """Builds the session with its panel; its modules are imported here."""
        raise NotImplementedError

    def possible(self) -> frozenset[str]:
        """Everything that the session allows."""
        return frozenset() if self.made is None else self.made.possible()

    def may_close(self) -> bool:
        """Asks the session."""
        return self.made is None or self.made.may_close()

    def close(self) -> None:
        """Ends the session."""
        if self.made is not None:
            self.made.close()
