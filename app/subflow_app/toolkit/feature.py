"""Base classes of features: separate parts of the window, listed in `shell/features.py`.

A feature receives its ports, a Protocol of the parts of the window that it uses, which tests can satisfy without a
window. The feature supplies its panel, lists the actions that are possible now, and decides if the window may close.
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
        """The feature of a class."""


class FeatureHolder(Protocol):
    """The part of a window that the actions of a feature need: its features."""

    @property
    def features(self) -> FeatureMap:
        """The features of the window."""


class Feature(QObject):
    """Base class of all features, which are created before the docks; expensive parts are created when first shown.

    Attributes:
        panel_name: object name of its panel, a key of `workspaces.PANELS`; empty for a feature without a panel.
        panel: the content of that panel.
        strip: widget below the panels, as wide as the window.
        export_action: id of the action that exports the figure of the panel; empty for a panel without a figure.
    """

    changed = Signal()  # the result of `possible` has changed

    panel_name = ""
    panel: QWidget | None = None
    strip: QWidget | None = None
    export_action = ""

    def connect_parts(self) -> None:
        """Connect to the other parts of the window; called once all of them exist."""

    def possible(self) -> frozenset[str]:
        """Ids of the operations that are possible now, usually ids of its actions."""
        return frozenset()

    def may_close(self) -> bool:
        """True if the window may close; asks the user if data would be lost."""
        return True

    def close(self) -> None:
        """End all work; called when the window closes."""


class LazyFeature(Feature):
    """A feature whose panel is filled when first shown or requested.

    Attributes:
        title: accessible name of the panel, in English.
        panel_object: object name of the panel; empty for `panel_name` followed by "_panel".
        room: minimum width and height of the content, px.
        scrolls: whether the panel may become smaller than its content.
    """

    title = ""
    panel_object = ""
    room = (0, 0)
    scrolls = False

    def __init__(self) -> None:
        """Create an empty panel."""
        super().__init__()
        name = self.panel_object or f"{self.panel_name}_panel"
        self.panel: LazyPanel = LazyPanel(name, tr(self.title), room=self.room)
        self.panel.first_shown.connect(self.fill)

    def fill(self) -> None:
        """Fill the panel, unless it is already filled."""
        raise NotImplementedError


class PanelFeature(LazyFeature, Generic[C]):
    """A feature whose panel shows one widget, which `make` builds on first access."""

    room = (340, 240)
    scrolls = True

    def __init__(self) -> None:
        """Create an empty panel."""
        super().__init__()
        self.shown: C | None = None

    @property
    def content(self) -> C:
        """The content of the panel, built on first access; `shown` is None until then."""
        if self.shown is None:
            self.shown = self.make()
            self.panel.put_in(self.shown, scrolls=self.scrolls)
            self.on_made()
        return self.shown

    def fill(self) -> None:
        """Build the content."""
        _ = self.content

    def make(self) -> C:
        """Build the content, and import its modules only here, because most sessions never open the panel."""
        raise NotImplementedError

    def on_made(self) -> None:
        """Fill the content for the first time; called once, after `make`."""


class Session(Protocol):
    """The working part of a feature, with the content of its panel."""

    panel: Any  # QWidget
    changed: Any  # Signal()

    def possible(self) -> frozenset[str]:
        """Ids of the actions that are possible now."""

    def may_close(self) -> bool:
        """True if the window may close."""

    def close(self) -> None:
        """End all work."""


class SessionFeature(LazyFeature, Generic[S]):
    """A feature whose session is created, with all its imports, when its panel is filled."""

    def __init__(self) -> None:
        """Create an empty panel."""
        super().__init__()
        self.made: S | None = None

    @property
    def session(self) -> S:
        """The session, created on first access; `made` is None until then."""
        if self.made is None:
            self.made = self.make()
            self.panel.put_in(self.made.panel, scrolls=self.scrolls)
            self.made.changed.connect(self.changed)
            self.changed.emit()  # the session makes more actions possible
        return self.made

    def fill(self) -> None:
        """Create the session."""
        _ = self.session

    def make(self) -> S:
        """Build the session with its panel, and import its modules only here."""
        raise NotImplementedError

    def possible(self) -> frozenset[str]:
        """Ids of all actions that the session allows."""
        return frozenset() if self.made is None else self.made.possible()

    def may_close(self) -> bool:
        """True if the session allows closing."""
        return self.made is None or self.made.may_close()

    def close(self) -> None:
        """Close the session."""
        if self.made is not None:
            self.made.close()
