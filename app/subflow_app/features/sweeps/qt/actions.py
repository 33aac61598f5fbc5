"""Sweeps: many runs of one scenario, and what they have come to."""

from __future__ import annotations

from collections.abc import Iterator

from subflow_app.features.sweeps.qt.feature import SweepFeature
from subflow_app.toolkit.action_spec import COMPLETE, VALID, WRITABLE, ActionSpec, Scope, possible
from subflow_app.toolkit.feature import FeatureHolder
from subflow_app.vocabulary.language import translatable


def rows() -> Iterator[ActionSpec[FeatureHolder]]:
    """Their part of the Study menu."""
    yield ActionSpec(
        "sweep.new",
        "&New sweep…",
        "Run the scenario with other values of its parameters and several seeds",
        "add",
        ("Ctrl+Shift+U",),
        lambda w, _: w.features[SweepFeature].new(),
        (COMPLETE, VALID, WRITABLE),
    )
    yield ActionSpec(
        "sweep.toggle",
        "&Pause or resume the run",
        "Pause the selected sweeps, resume them, or make the missing runs of interrupted ones",
        "pause",
        ("Ctrl+Alt+O",),
        lambda w, _: w.features[SweepFeature].session.toggle(),
        (
            WRITABLE,
            possible("sweep.toggle", translatable("select a sweep that can be continued or paused")),
        ),
    )
    yield ActionSpec(
        "sweep.stop",
        "&Stop",
        "End the selected sweeps; finished runs are kept, and the others can be made later",
        "stop",
        ("Ctrl+Shift+Alt+W",),
        lambda w, _: w.features[SweepFeature].session.stop(),
        (possible("sweep.stop", translatable("no selected sweep is running")),),
    )
    yield ActionSpec(
        "sweep.delete",
        "&Delete the sweep",
        "Remove the selected sweeps from the list; their runs stay in the history",
        "delete",
        ("Del",),
        lambda w, _: w.features[SweepFeature].session.delete(),
        (
            WRITABLE,
            possible("sweep.delete", translatable("select a sweep in the Sweeps panel that is not running")),
        ),
        Scope.SWEEPS,
    )
    yield ActionSpec(
        "sweep.show_runs",
        "Show the &runs",
        "Open the plots of the runs that were clicked in the view of a sweep",
        "plots",
        ("Ctrl+Alt+Shift+O",),
        lambda w, _: w.features[SweepFeature].session.show_runs(),
        (possible("sweep.show_runs", translatable("click a point in the view of a sweep first")),),
    )
    yield ActionSpec(
        "sweep.copy",
        "&Copy the table",
        "Copy the selected rows of the table of a sweep, or all of them",
        "copy",
        ("Ctrl+C",),
        lambda w, _: w.features[SweepFeature].copy(),
        (possible("sweep.copy", translatable("show the table of a sweep in the Sweeps panel first")),),
        Scope.SWEEPS,
    )
    yield ActionSpec(
        "sweep.export_figure",
        "Export this &view…",
        "Write the view of the sweep as SVG, PDF or PNG",
        "export_figure",
        ("Ctrl+Alt+Shift+E",),
        lambda w, _: w.features[SweepFeature].export_figure(),
        (possible("sweep.export_figure", translatable("show a sweep as a picture in the Sweeps panel first")),),
    )
    yield ActionSpec(
        "sweep.export_data",
        "Export the &data…",
        "Write every run of the sweep with its parameters and figures as CSV",
        "export_data",
        ("Ctrl+Alt+Shift+D",),
        lambda w, _: w.features[SweepFeature].export_data(),
        (possible("sweep.export_data", translatable("select a sweep in the Sweeps panel that has results")),),
    )
    yield ActionSpec(
        "sweep.page",
        "Save as &web page…",
        "Write the sweep as a web page: its figures, and the run of each point, which any browser simulates again",
        "web_page",
        ("Ctrl+Alt+Shift+6",),
        lambda w, _: w.features[SweepFeature].save_page(),
        (possible("sweep.page", translatable("select a sweep in the Sweeps panel that has results")),),
    )
