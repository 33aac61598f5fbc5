"""The list of all features, and the features of a window."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QWidget

from subflow_app.features.arena.qt.feature import ArenaFeature
from subflow_app.features.breaking.qt.feature import BreakFeature
from subflow_app.features.comparison.qt.feature import CompareFeature
from subflow_app.features.crashes.qt.feature import CrashFeature
from subflow_app.features.databases.qt import RescueFeature
from subflow_app.features.editor.qt.topology.drawing import Drawing
from subflow_app.features.emulation.qt.feature import EmulationFeature
from subflow_app.features.explain.qt.feature import ExplainFeature
from subflow_app.features.fairness.qt.feature import FairnessFeature
from subflow_app.features.forking.qt.feature import ForkFeature
from subflow_app.features.gallery.qt.feature import GalleryFeature
from subflow_app.features.guide.qt import GuideFeature
from subflow_app.features.importing.qt.feature import ImportFeature
from subflow_app.features.kernel.qt.feature import KernelFeature
from subflow_app.features.labs.qt.feature import LabFeature
from subflow_app.features.playhead.qt.context import ContextFeature
from subflow_app.features.playhead.qt.feature import PlayheadFeature
from subflow_app.features.running.qt.queue import QueueSession
from subflow_app.features.script.qt.feature import ScriptFeature
from subflow_app.features.sweeps.qt.feature import SweepFeature
from subflow_app.features.training.qt.agent_feature import AgentFeature
from subflow_app.features.training.qt.session import TrainingSession
from subflow_app.toolkit.feature import F, Feature

W = TypeVar("W", bound=QObject)

KINDS = (
    Drawing,
    QueueSession,
    TrainingSession,
    AgentFeature,
    FairnessFeature,
    CompareFeature,
    CrashFeature,
    RescueFeature,
    PlayheadFeature,
    ContextFeature,
    # After the playhead, so that a click first moves the playhead and then shows the decision at its time.
    ExplainFeature,
    ForkFeature,
    SweepFeature,
    GalleryFeature,
    GuideFeature,
    LabFeature,
    ArenaFeature,
    BreakFeature,
    ScriptFeature,
    KernelFeature,
    EmulationFeature,
    ImportFeature,
)


class Features:
    """The features of one window, one of each class."""

    def __init__(self, window: W, kinds: Sequence[Callable[[W], Feature]]) -> None:
        """Create one feature of each kind, with the window as its ports."""
        self._by_kind: dict[type[Feature], Feature] = {}
        for make in kinds:
            feature = make(window)
            feature.setParent(window)
            self._by_kind[type(feature)] = feature

    def __iter__(self) -> Iterator[Feature]:
        """Iterate over the features in the order of the list."""
        return iter(self._by_kind.values())

    def __getitem__(self, kind: type[F]) -> F:
        """The feature of a class; raises KeyError if the window lacks it."""
        found = self._by_kind[kind]
        assert isinstance(found, kind)
        return found

    def panels(self) -> dict[str, QWidget]:
        """Panels of the features by name."""
        return {feature.panel_name: feature.panel for feature in self if feature.panel is not None}

    def strips(self) -> list[QWidget]:
        """Widgets of features below the panels, as wide as the window."""
        return [feature.strip for feature in self if feature.strip is not None]

    def connect_parts(self) -> None:
        """Connect the features to parts of the window."""
        for feature in self:
            feature.connect_parts()

    def possible(self) -> frozenset[str]:
        """Ids of all actions of features that can run now."""
        return frozenset[str]().union(*(feature.possible() for feature in self))

    def may_close(self) -> bool:
        """True if all features allow the window to close; a feature may first ask the user."""
        return all(feature.may_close() for feature in self)
