"""The leaderboard: run, stopped, and written."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from subflow_app.core.language import translatable
from subflow_app.qt.action_spec import WRITABLE, ActionSpec, possible
from subflow_app.qt.leaderboard.feature import LeaderboardFeature

if TYPE_CHECKING:
    from subflow_app.qt.main_window import MainWindow


def rows() -> Iterator[ActionSpec]:
    """Its part of the Study menu."""
    yield ActionSpec(
        "leaderboard.show",
        "Sho&w the leaderboard",
        "Show how the controllers stand in the contests, with their scores and values",
        "leaderboard",
        ("Ctrl+Alt+Shift+Z",),
        lambda w, _: w.workspaces.go_to("leaderboard"),
    )
    yield ActionSpec(
        "leaderboard.run_quick",
        "Run contests &quickly",
        "Let every controller play every contest, shortened; runs that are there are kept",
        "run_quick",
        ("Ctrl+Alt+Shift+L",),
        lambda w, _: _leaderboard(w).run(is_quick=True),
        (
            WRITABLE,
            possible("leaderboard.run_quick", translatable("the contests are running")),
        ),
    )
    yield ActionSpec(
        "leaderboard.run_full",
        "Run contests in f&ull",
        "Let every controller play every contest in full, with five seeds; runs that are there are kept",
        "run",
        ("Ctrl+Alt+Shift+K",),
        lambda w, _: _leaderboard(w).run(is_quick=False),
        (
            WRITABLE,
            possible("leaderboard.run_full", translatable("the contests are running")),
        ),
    )
    yield ActionSpec(
        "leaderboard.stop",
        "St&op the contests",
        "End the contests; what has ended is kept, and running them again makes what is missing",
        "stop",
        ("Ctrl+Alt+Shift+S",),
        lambda w, _: _leaderboard(w).stop(),
        (possible("leaderboard.stop", translatable("no contest is running")),),
    )
    yield ActionSpec(
        "leaderboard.export",
        "Export the lea&derboard…",
        "Write every value as CSV, or the picture that is shown as SVG or PNG",
        "export_figure",
        ("Ctrl+Alt+Shift+G",),
        lambda w, _: _leaderboard(w).ask_export(),
        (possible("leaderboard.export", translatable("the leaderboard shows nothing yet")),),
    )


def _leaderboard(window: MainWindow) -> LeaderboardFeature:

    return window.features[LeaderboardFeature]
