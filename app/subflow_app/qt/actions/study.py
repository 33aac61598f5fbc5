"""What is learnt from several runs."""

from __future__ import annotations

from collections.abc import Iterator

from subflow_app.qt.action_spec import ActionSpec
from subflow_app.qt.comparison.feature import CompareFeature
from subflow_app.qt.fairness.feature import FairnessFeature


def import_rows() -> Iterator[ActionSpec]:
    """In the File menu."""
    yield ActionSpec(
        "file.import_trace",
        "Import measured t&race…",
        "Make a run of what was measured: CSV, a log of ss -tin, or a capture; dropping the file does the same",
        "import",
        ("Ctrl+Alt+Y",),
        lambda w, _: w.features[CompareFeature].ask_import(),
        lambda s: s.can_write,
    )


def rows() -> Iterator[ActionSpec]:
    """The Study menu."""
    yield ActionSpec(
        "study.compare",
        "&Compare runs",
        "Compare the selected runs, or those that the plots show: means with intervals, differences and significance",
        "compare",
        ("Ctrl+Alt+U",),
        lambda w, _: w.features[CompareFeature].compare(),
        lambda s: s.runs_selected > 1 or s.runs_shown > 1,
    )
    yield ActionSpec(
        "study.trade_offs",
        "&Trade-offs of the runs",
        "Weigh throughput against delay or friendliness for the runs that the plots show, with their Pareto front",
        "trade_offs",
        ("Ctrl+Alt+F",),
        lambda w, _: w.features[FairnessFeature].show_trade_offs(),
    )
    yield ActionSpec(
        "study.export_trade_offs",
        "&Export trade-offs…",
        "Write the trade-offs that are shown as PNG, SVG, PDF or CSV",
        "export_figure",
        ("Ctrl+Alt+R",),
        lambda w, _: w.features[FairnessFeature].ask_export(),
        lambda s: "study.export_trade_offs" in s.features,
    )
    yield ActionSpec(
        "study.kernel",
        "Compare with the &kernel",
        "Run the scenario on this machine's own TCP and MPTCP, in real time, and lay that over a simulation of it",
        "kernel",
        ("Ctrl+Alt+Q",),
        lambda w, _: w.features[CompareFeature].run_kernel(),
        lambda s: s.can_write and "study.kernel" in s.features,
    )
    yield ActionSpec(
        "study.stop_kernel",
        "Sto&p the kernel's run",
        "End the comparison with the kernel; nothing of it is kept",
        "stop",
        ("Ctrl+Alt+Shift+Q",),
        lambda w, _: w.features[CompareFeature].stop_kernel(),
        lambda s: "study.stop_kernel" in s.features,
    )
