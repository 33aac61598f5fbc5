"""The leaderboard: run, stopped, and written."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from subflow_app.qt.action_spec import ActionSpec

if TYPE_CHECKING:
    from subflow_app.qt.leaderboard.feature import LeaderboardFeature
    from subflow_app.qt.main_window import MainWindow


def rows() -> Iterator[ActionSpec]:
    """Its part of the Study menu."""
    yield ActionSpec(
        "leaderboard.run_quick",
        "Run contests &quickly",
        "Let every controller play every contest, shortened; runs that are there are kept",
        "run_quick",
        ("Ctrl+Alt+Shift+L",),
        lambda w, _: _leaderboard(w).run(is_quick=True),
        lambda s: "leaderboard.run_quick" in s.features,
    )
    yield ActionSpec(
        "leaderboard.run_full",
        "Run contests in f&ull",
        "Let every controller play every contest in full, with five seeds; runs that are there are kept",
        "run",
        ("Ctrl+Alt+Shift+K",),
        lambda w, _: _leaderboard(w).run(is_quick=False),
        lambda s: "leaderboard.run_full" in s.features,
    )
    yield ActionSpec(
        "leaderboard.stop",
        "St&op the contests",
        "End the contests; what has ended is kept, and running them again makes what is missing",
        "stop",
        ("Ctrl+Alt+Shift+S",),
        lambda w, _: _leaderboard(w).stop(),
        lambda s: "leaderboard.stop" in s.features,
    )
    yield ActionSpec(
        "leaderboard.export",
        "Export the lea&derboard…",
        "Write every value as CSV, or the picture that is shown as SVG or PNG",
        "export_figure",
        ("Ctrl+Alt+Shift+G",),
        lambda w, _: _leaderboard(w).ask_export(),
        lambda s: "leaderboard.export" in s.features,
    )


def _leaderboard(window: MainWindow) -> LeaderboardFeature:
    from subflow_app.qt.leaderboard.feature import LeaderboardFeature

    return window.features[LeaderboardFeature]
