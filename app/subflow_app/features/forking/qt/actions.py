"""Forks of runs."""

from __future__ import annotations

from collections.abc import Iterator

from subflow_app.features.forking.qt.feature import ForkFeature
from subflow_app.toolkit.action_spec import ActionSpec, Need
from subflow_app.toolkit.feature import FeatureHolder
from subflow_app.vocabulary.language import translatable


def rows() -> Iterator[ActionSpec[FeatureHolder]]:
    """Its part of the Time menu."""
    yield ActionSpec(
        "fork.new",
        "&What if…",
        "Fork the run that is shown, or selected: change a link or a flow from a time on, with the original as a ghost",
        "fork",
        ("Ctrl+Shift+W",),
        lambda w, _: w.features[ForkFeature].fork(),
        (
            Need(
                lambda s: "fork.new" in s.features or s.runs_selected == 1,
                translatable("the plots show no run, and not just one is selected in the history"),
            ),
        ),
    )
