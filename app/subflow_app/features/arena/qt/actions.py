"""The arena: run, stopped, and written."""

from __future__ import annotations

from collections.abc import Iterator

from subflow_app.features.arena.qt.feature import ArenaFeature
from subflow_app.toolkit.action_spec import WRITABLE, ActionSpec, possible
from subflow_app.toolkit.feature import FeatureHolder
from subflow_app.vocabulary.language import translatable


def rows() -> Iterator[ActionSpec[FeatureHolder]]:
    """Its part of the Study menu."""
    yield ActionSpec(
        "arena.show",
        "Sho&w the arena",
        "Rank controllers and agents in families of networks, with intervals",
        "arena",
        ("Ctrl+Alt+Shift+Z",),
        lambda w, _: w.features[ArenaFeature].show(),
    )
    yield ActionSpec(
        "arena.run_quick",
        "Run the arena &quickly",
        "Enter everyone in ten networks of each family; existing outcomes are kept",
        "run_quick",
        ("Ctrl+Alt+Shift+L",),
        lambda w, _: w.features[ArenaFeature].run(is_quick=True),
        (
            WRITABLE,
            possible("arena.run_quick", translatable("the arena is running")),
        ),
    )
    yield ActionSpec(
        "arena.run_full",
        "Run the arena in f&ull",
        "Enter everyone in twenty networks of each family; existing outcomes are kept",
        "run",
        ("Ctrl+Alt+Shift+K",),
        lambda w, _: w.features[ArenaFeature].run(is_quick=False),
        (
            WRITABLE,
            possible("arena.run_full", translatable("the arena is running")),
        ),
    )
    yield ActionSpec(
        "arena.stop",
        "St&op the arena",
        "End the arena; finished outcomes are kept, and running it again computes the missing ones",
        "stop",
        ("Ctrl+Alt+Shift+S",),
        lambda w, _: w.features[ArenaFeature].stop(),
        (possible("arena.stop", translatable("the arena is not running")),),
    )
    yield ActionSpec(
        "arena.export",
        "Export the lea&derboard…",
        "Write every value as CSV, or the picture that is shown as SVG or PNG",
        "export_figure",
        ("Ctrl+Alt+Shift+G",),
        lambda w, _: w.features[ArenaFeature].ask_export(),
        (possible("arena.export", translatable("the arena shows nothing yet")),),
    )
