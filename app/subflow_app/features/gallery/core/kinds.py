"""Table of the kinds of experiments: simulation runs, trainings and cost measurements."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from subflow_app.features.gallery.core.kind import Kind


def _runs() -> Kind:
    from subflow_app.features.gallery.core.runs_kind import RunsKind

    return RunsKind()


def _training() -> Kind:
    from subflow_app.features.gallery.core.training_kind import TrainingKind

    return TrainingKind()


def _cost() -> Kind:
    from subflow_app.features.gallery.core.cost_kind import CostKind

    return CostKind()


KINDS: Mapping[str, Callable[[], Kind]] = {"runs": _runs, "training": _training, "cost": _cost}
"""The function that imports and creates each kind, by the name of the kind."""
