"""What is learnt from several runs.

Training agents.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from subflow_app.features.comparison.qt.feature import CompareFeature
from subflow_app.features.fairness.qt.feature import FairnessFeature
from subflow_app.features.labs.qt.feature import LabFeature
from subflow_app.toolkit.action_bar import COMPLETE, NOT_RUNNING, VALID, WRITABLE, ActionSpec, Scope, possible
from subflow_app.toolkit.feature import FeatureHolder
from subflow_app.vocabulary.language import translatable

if TYPE_CHECKING:
    from subflow_app.shell.main_window import MainWindow


def import_rows() -> Iterator[ActionSpec[FeatureHolder]]:
    """In the File menu."""
    yield ActionSpec(
        "file.import_trace",
        "Import measured t&race…",
        "Make a run from a measurement: CSV, a log of ss -tin, or a capture; dropping the file does the same",
        "import",
        ("Ctrl+Alt+Y",),
        lambda w, _: w.features[CompareFeature].ask_import(),
        (WRITABLE,),
    )


def study_rows() -> Iterator[ActionSpec[FeatureHolder]]:
    """The Study menu."""
    yield ActionSpec(
        "study.compare",
        "&Compare runs…",
        "Compare the selected runs, or those that the plots show: settings that differ, means, and their differences",
        "compare",
        ("Ctrl+Alt+U", "Ctrl+Shift+M"),
        lambda w, _: w.features[CompareFeature].compare(),
    )
    yield ActionSpec(
        "study.trade_offs",
        "&Trade-offs of the runs",
        "Plot throughput against delay or friendliness for the runs in the plots, with their Pareto front",
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
        (possible("study.export_trade_offs", translatable("the Fairness panel shows no trade-offs")),),
        is_contextual=True,
    )
    yield ActionSpec(
        "study.kernel",
        "Compare with the &kernel…",
        "Run the scenario on this machine's own TCP and MPTCP, in real time, and overlay that on a simulation",
        "kernel",
        ("Ctrl+Alt+Q",),
        lambda w, _: w.features[CompareFeature].run_kernel(),
        (WRITABLE, possible("study.kernel", translatable("the kernel is running a scenario"))),
    )
    yield ActionSpec(
        "study.stop_kernel",
        "Sto&p the kernel's run",
        "End the comparison with the kernel; nothing of it is kept",
        "stop",
        ("Ctrl+Alt+Shift+Q",),
        lambda w, _: w.features[CompareFeature].stop_kernel(),
        (possible("study.stop_kernel", translatable("the kernel is not running a scenario")),),
        is_contextual=True,
    )


def lab_rows() -> Iterator[ActionSpec[FeatureHolder]]:
    """Guided labs, in the Study menu."""
    yield ActionSpec(
        "study.labs",
        "&Labs…",
        "Show the guided labs: what each teaches, and how far you are",
        "example",
        ("Ctrl+Alt+B",),
        lambda w, _: w.features[LabFeature].session.show_list(),
    )
    yield ActionSpec(
        "study.lab_next",
        "Ne&xt step of the lab",
        "Go on to the next step of the lab, once this one is done",
        "next",
        ("Ctrl+Alt+Shift+I",),
        lambda w, _: w.features[LabFeature].session.go_on(),
        (possible("study.lab_next", translatable("no lab is open, or its step is not done yet")),),
    )
    yield ActionSpec(
        "study.lab_hint",
        "&Hint of the lab",
        "Show another hint for this step of the lab",
        "help",
        ("Ctrl+Alt+I",),
        lambda w, _: w.features[LabFeature].session.hint(),
        (possible("study.lab_hint", translatable("no lab is open, or its step has no hint left")),),
    )
    yield ActionSpec(
        "study.lab_result",
        "&Write result of the lab…",
        "Write what you did in this lab to a file that your lecturer can verify",
        "export_data",
        ("Ctrl+Alt+Shift+B",),
        lambda w, _: w.features[LabFeature].session.write_result(),
        (possible("study.lab_result", translatable("no lab is open")),),
    )
    yield ActionSpec(
        "study.lab_class",
        "&Grade a class…",
        "Grade the results of a class: steps, tries, first-try score, confirmed runs, and oddities",
        "compare",
        ("Ctrl+Alt+Shift+4",),
        lambda w, _: w.features[LabFeature].grade_class(),
    )


def training_rows() -> Iterator[ActionSpec[MainWindow]]:
    """The Train menu."""
    yield ActionSpec(
        "train.start",
        "&Start training",
        "Train an agent with the settings of the Train page; several trainings can run at once",
        "train",
        ("F9",),
        lambda w, _: w.training_session.start(),
        (possible("train.start", translatable("open the Train page first: its form defines the training")),),
        Scope.TRAINING,
    )
    yield ActionSpec(
        "train.toggle",
        "&Pause",
        "Pause the selected trainings, resume them, or continue interrupted ones from their last checkpoint",
        "pause",
        ("Shift+F9",),
        lambda w, _: w.training_session.content.toggle(),
        (
            possible(
                "train.toggle", translatable("select a training on the Train page that can be paused or continued")
            ),
        ),
        Scope.TRAINING,
    )
    yield ActionSpec(
        "train.stop",
        "S&top",
        "End the selected trainings with a checkpoint, from which they can be continued",
        "stop",
        ("Ctrl+F9",),
        lambda w, _: w.training_session.content.command("stop"),
        (possible("train.stop", translatable("no selected training is running")),),
        Scope.TRAINING,
    )
    yield ActionSpec(
        "train.checkpoint",
        "Write &checkpoint",
        "Write checkpoints of the selected trainings now",
        "checkpoint",
        ("Ctrl+Shift+K",),
        lambda w, _: w.training_session.content.command("checkpoint"),
        (possible("train.checkpoint", translatable("no selected training is running")),),
        Scope.TRAINING,
    )
    yield ActionSpec(
        "train.evaluate",
        "&Evaluate now",
        "Compare the selected trainings with the classic controllers on held-out seeds now",
        "evaluate",
        ("F8",),
        lambda w, _: w.training_session.content.command("evaluate"),
        (possible("train.evaluate", translatable("no selected training is running")),),
        Scope.TRAINING,
    )
    yield ActionSpec(
        "train.race",
        "&Race",
        "Run the scenario in the window with the policy of the selected training and with another controller",
        "race",
        ("Shift+F8",),
        lambda w, _: w.training_session.race(),
        (
            possible("train.race", translatable("select one training on the Train page that has a policy")),
            COMPLETE,
            VALID,
            NOT_RUNNING,
        ),
        Scope.TRAINING,
    )
    yield ActionSpec(
        "train.promote",
        "Promote to &library…",
        "Put the best policy of the selected training into your library, where every scenario can name it",
        "promote",
        ("Ctrl+Alt+P",),
        lambda w, _: w.training_session.promote(),
        (possible("train.promote", translatable("select one training on the Train page that has a policy")),),
        Scope.TRAINING,
    )
