"""Parts of the window that stand by themselves: each is a file or a folder, and a line in `Features`.

A feature takes what it needs of the window and wires itself; the window asks it for its panel, for what can be done
with it now, and whether it may be closed. What several parts share (documents, runs, plots) belongs to the window.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, TypeVar

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from subflow_app.qt.theme import Tokens

if TYPE_CHECKING:
    from subflow_app.qt.main_window import MainWindow

F = TypeVar("F", bound="Feature")


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
        """Ids of those of its actions that can be done now."""
        return frozenset()

    def apply_tokens(self, tokens: Tokens) -> None:
        """Recolours what does not follow the palette by itself."""

    def may_close(self) -> bool:
        """Whether the window may close; asks the person if something would be lost."""
        return True

    def close(self) -> None:
        """Ends what goes on: the window closes."""


class Features:
    """Those of one window."""

    def __init__(self, window: MainWindow) -> None:
        """Makes all of them."""
        from subflow_app.qt.agent_feature import AgentFeature
        from subflow_app.qt.comparison.feature import CompareFeature
        from subflow_app.qt.crash_feature import CrashFeature
        from subflow_app.qt.explain.feature import ExplainFeature
        from subflow_app.qt.fairness.feature import FairnessFeature
        from subflow_app.qt.forking.feature import ForkFeature
        from subflow_app.qt.gallery.feature import GalleryFeature
        from subflow_app.qt.guide_feature import GuideFeature
        from subflow_app.qt.labs.feature import LabFeature
        from subflow_app.qt.leaderboard.feature import LeaderboardFeature
        from subflow_app.qt.playhead.feature import PlayheadFeature
        from subflow_app.qt.sweeps.feature import SweepFeature

        kinds: tuple[type[Feature], ...] = (
            AgentFeature,
            ExplainFeature,
            FairnessFeature,
            CompareFeature,
            CrashFeature,
            PlayheadFeature,
            ForkFeature,
            SweepFeature,
            GalleryFeature,
            GuideFeature,
            LabFeature,
            LeaderboardFeature,
        )
        self._by_kind = {kind: kind(window) for kind in kinds}

    def __iter__(self) -> Iterator[Feature]:
        """Each of them, in the order of the list."""
        return iter(self._by_kind.values())

    def __getitem__(self, kind: type[F]) -> F:
        """The one of that class."""
        found = self._by_kind[kind]
        assert isinstance(found, kind)
        return found

    def panels(self) -> dict[str, QWidget]:
        """Their panels by name."""
        return {feature.panel_name: feature.panel for feature in self if feature.panel is not None}

    def strips(self) -> list[QWidget]:
        """What goes below the panels."""
        return [feature.strip for feature in self if feature.strip is not None]

    def connect_parts(self, window: MainWindow) -> None:
        """Connects them with the parts of the window, and its actions with what can be done with them."""
        for feature in self:
            feature.connect_parts()
            feature.changed.connect(window.update_actions)

    def possible(self) -> frozenset[str]:
        """Ids of their actions that can be done now."""
        return frozenset[str]().union(*(feature.possible() for feature in self))

    def may_close(self) -> bool:
        """Whether all of them may be closed."""
        return all(feature.may_close() for feature in self)
