"""The dialog that tries a controller in the kernel: its requirements, and both curves as they grow."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QFormLayout, QWidget

from subflow_app.features.kernel.core.loading import grant_command
from subflow_app.features.kernel.core.study import Curves, KernelStudy, Sample
from subflow_app.features.kernel.core.trial import DURATION_S, NETWORKS, requirements, trial_source
from subflow_app.features.plots.qt.panel_plot import PanelPlot
from subflow_app.foundation.errors import AppError
from subflow_app.toolkit import format as fmt
from subflow_app.toolkit.study import Study
from subflow_app.toolkit.theme import muted
from subflow_app.toolkit.widgets.labels import ProblemLabel
from subflow_app.toolkit.widgets.shorthand import Choice, Label, h_box, named, v_box
from subflow_app.toolkit.workers import LatestReader
from subflow_app.vocabulary.language import tr
from subflow_app.vocabulary.palette import CONTROLLER_COLOURS, OURS
from subflow_app.vocabulary.picture import FloatArray, Hit, Panel, PanelSeries
from subflow_sim.errors import SimError

if TYPE_CHECKING:
    from subflow_app.features.editor.core.scenario_source import ScenarioSource
    from subflow_app.features.kernel.core.trial import Requirement
    from subflow_app.foundation.jobs.job import JobOutcome
    from subflow_app.toolkit.workers import Workers
    from subflow_sim.scenario_model import ScriptFile
    from subflow_store import Store

_SMOOTHED = 5  # samples per point of a curve
_WIDTH = 620
_PLOT_HEIGHT = 200
_COLOURS = (CONTROLLER_COLOURS["lia"], OURS)  # of the simulator and of the kernel


class TrialDialog(QDialog):
    """Tries a controller; `kept` carries nothing, `wanted` the numbers of both runs."""

    kept = Signal()
    wanted = Signal(object)

    def __init__(
        self, controllers: Mapping[str, ScriptFile], store: Store, workers: Workers, parent: QWidget | None = None
    ) -> None:
        """Show the controllers, the first one selected, and ask at once what this machine lacks for it."""
        super().__init__(parent)
        self.setObjectName("trial_dialog")
        self.setWindowTitle(tr("Try in the kernel"))
        self.setMinimumWidth(_WIDTH)
        self._controllers, self._store = controllers, store
        self._source: ScenarioSource | None = None
        self._run_ids: tuple[int, int] | None = None
        self.study: Study[KernelStudy] = Study(workers, self, "trial", self._on_failed)
        self.study.changed.connect(self._draw)
        self.study.ticked.connect(self._draw)
        self.study.ended.connect(self._on_ended)
        self._reader = LatestReader(workers, self, "requirements")
        self._reader.read.connect(self._show_requirements)
        self._reader.failed.connect(self._on_refused)

        promise = tr(
            "The text of the controller runs unchanged in the Linux kernel of this machine, over a link that Subflow "
            "emulates, for {time}. Other connections and the settings of the machine stay as they are, and the "
            "controller leaves the kernel at the end. Both runs are kept.",
            time=fmt.duration(DURATION_S),
        )
        text = muted(Label(promise, self, wordWrap=True))
        self.controller = Choice(
            "trial_controller", [(name, name) for name in controllers], parent=self, text=tr("Controller")
        )
        networks = [(key, tr(network.title)) for key, network in NETWORKS.items()]
        self.network = Choice("trial_network", networks, parent=self, text=tr("Network"))
        form = QFormLayout()
        form.addRow(tr("Controller"), self.controller)
        form.addRow(tr("Network"), self.network)
        self.needs = named(Label(self, wordWrap=True), "trial_needs", tr("Requirements of the trial"))
        self.needs.setTextInteractionFlags(Qt.TextInteractionFlag.TextBrowserInteraction)
        self.problem = ProblemLabel("trial_problem", _WIDTH, self)
        self.goodput = PanelPlot("trial_goodput", tr("Goodput in the simulator and in the kernel"))
        self.window_plot = PanelPlot("trial_window", tr("Window in the simulator and in the kernel"))
        for plot in (self.goodput, self.window_plot):
            plot.setMinimumHeight(_PLOT_HEIGHT)
        self.outcome = named(Label(self, wordWrap=True), "trial_result")
        self.outcome.setMinimumHeight(2 * self.outcome.fontMetrics().lineSpacing())
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close, self)
        role = QDialogButtonBox.ButtonRole.ActionRole
        self.start = named(buttons.addButton(tr("Start"), role), "trial_start")
        self.copy = named(buttons.addButton(tr("Copy the command"), role), "trial_copy")
        self.compare = named(buttons.addButton(tr("Compare in detail"), role), "trial_compare")
        self.start.clicked.connect(self._toggle)
        self.copy.clicked.connect(self._copy_command)
        self.compare.clicked.connect(self._on_compare)
        buttons.rejected.connect(self.reject)
        plots = h_box(None, (self.goodput, 1), (self.window_plot, 1), margins=0)
        v_box(self, text, form, self.needs, self.problem, (plots, 1), self.outcome, buttons)
        self.controller.currentIndexChanged.connect(self._prepare)
        self.network.currentIndexChanged.connect(self._prepare)
        self._prepare()

    def reject(self) -> None:
        """End a trial in progress, and close."""
        self.study.forget()
        self._reader.forget()
        super().reject()

    # ---- requirements ----

    def _prepare(self) -> None:
        """Make the scenario of the choices, and look up what this machine lacks for it."""
        self._source, self._run_ids = None, None
        self._met: bool | None = None
        self._lacks: Sequence[str] = ()
        self.problem.say("")
        self.outcome.setText("")
        self.needs.setText(tr("Looking at this machine…"))
        self._show_curves(Curves((), ()))
        script, network = self._controllers[str(self.controller.currentData())], str(self.network.currentData())

        def work(_is_given_up: Callable[[], bool]) -> tuple[ScenarioSource, tuple[Requirement, ...]]:
            source = trial_source(script, network)
            return source, requirements(source)

        self._reader.ask(work, is_other=True)
        self._draw()

    def _show_requirements(self, read: tuple[ScenarioSource, tuple[Requirement, ...]]) -> None:
        self._source, needed = read
        self._lacks = [each.lacks for each in needed if each.lacks]
        lines = [f"{'✗' if each.lacks else '✓'} {each.text}" for each in needed]
        self.needs.setText("\n".join([tr("Needed:"), *lines]))
        self.problem.say("\n".join(dict.fromkeys(self._lacks)))
        self._met = not self._lacks
        self._draw()

    def _on_refused(self, error: Exception) -> None:
        if not isinstance(error, AppError | SimError):
            raise error
        self._met = False
        self.needs.setText("")
        self.problem.say(str(error))
        self._draw()

    def _copy_command(self) -> None:
        QGuiApplication.clipboard().setText(grant_command())

    # ---- the trial ----

    def _toggle(self) -> None:
        if self.study.is_running:
            self.study.stop()
        elif self._source is not None:
            self._run_ids = None
            self.problem.say("")
            self.study.start(KernelStudy(self._source, self._store))

    def _draw(self) -> None:
        is_running, job = self.study.is_running, self.study.job
        self.start.setText(tr("S&top") if is_running else tr("Start"))
        self.start.setEnabled(is_running or bool(self._met))
        self.copy.setVisible(any("setcap" in each for each in self._lacks))
        self.compare.setEnabled(self._run_ids is not None)
        for choice in (self.controller, self.network):
            choice.setEnabled(not is_running)
        if job is None:
            return
        self._show_curves(job.curves)
        eta_s = job.progress.eta_s
        self.outcome.setText(
            tr("{time} to go", time=fmt.duration(eta_s))
            if math.isfinite(eta_s)
            else tr("Simulating, and loading the controller…")
        )

    def _on_ended(self, job: KernelStudy | None, outcome: JobOutcome | None) -> None:
        if job is not None and job.run_ids is not None and job.comparison is not None:
            self._run_ids = job.run_ids
            self._show_curves(job.curves)
            document = job.comparison.document()
            goodput = document["flows"][0]["goodput_bps"]
            scripts = job.comparison.kernel[0].recording.summary()["kernel"]["scripts"]
            self.outcome.setText(
                tr(
                    "Goodput: {simulated} simulated, {kernel} in the kernel. Kept as runs {first} and {second}.",
                    simulated=fmt.rate(goodput["simulated"]["mean"]),
                    kernel=fmt.rate(goodput["kernel"]["mean"]),
                    first=job.run_ids[0],
                    second=job.run_ids[1],
                )
            )
            failed = [each for each in scripts.values() if each["failures"]]
            if failed:
                self.problem.say(
                    tr(
                        "{count} calls failed in the kernel, at last in line {line}: {reason}",
                        count=failed[0]["failures"],
                        line=failed[0]["line"],
                        reason=failed[0]["reason"],
                    )
                )
            if document["is_late"]:
                self.problem.say(tr("This machine was too busy for the emulator: try again on a quieter one."))
            self.kept.emit()
        elif outcome is not None and outcome.error is None:
            self.outcome.setText(tr("The trial was stopped, and nothing of it is kept."))
        self._draw()

    def _on_failed(self, error: Exception) -> None:
        self.problem.say(str(error))
        self.outcome.setText("")

    def _on_compare(self) -> None:
        run_ids = self._run_ids
        self.reject()
        self.wanted.emit(run_ids)

    # ---- the curves ----

    def _show_curves(self, curves: Curves) -> None:
        sides = ((tr("simulator"), curves.simulated), (tr("kernel"), curves.kernel))
        goodput = _panel(
            tr("Goodput (Mbit/s)"), sides, lambda samples: _smoothed([each.goodput_bps / 1e6 for each in samples])
        )
        window = _panel(tr("Window (packets)"), sides, lambda samples: np.array([each.cwnd_pkts for each in samples]))
        for plot, panel in ((self.goodput, goodput), (self.window_plot, window)):
            plot.show_panel(panel, _hits(panel))


def _smoothed(values: Sequence[float]) -> FloatArray:
    """Means over the latest samples, float64 [n]."""
    sums = np.cumsum([0.0, *values])
    ends = np.arange(1, len(values) + 1)
    begins = np.maximum(ends - _SMOOTHED, 0)
    means: FloatArray = (sums[ends] - sums[begins]) / (ends - begins)
    return means


def _hits(panel: Panel) -> list[Hit]:
    """The points that the mouse and the keys read."""
    return [
        Hit(float(x), float(y), f"{series.name}: {fmt.number(float(y))} ({x:g} s)", (number,))
        for number, series in enumerate(panel.series)
        for x, y in zip(panel.positions, series.means, strict=True)
        if math.isfinite(y)
    ]


def _panel(
    title: str,
    sides: Sequence[tuple[str, tuple[Sample, ...]]],
    values: Callable[[tuple[Sample, ...]], FloatArray],
) -> Panel:
    """Both curves over the time of the run; the curve of the kernel ends at its latest sample."""
    times = max((np.array([each.at_s for each in samples]) for _, samples in sides), key=len)
    series = []
    for number, ((name, samples), colour) in enumerate(zip(sides, _COLOURS, strict=True)):
        means = np.full(len(times), np.nan)
        means[: len(samples)] = values(samples)
        shown = means[::_SMOOTHED]
        series.append(PanelSeries(name, colour, number, False, shown, np.full(len(shown), np.nan)))
    points = times[::_SMOOTHED]
    texts = tuple(f"{each:g}" for each in points)
    return Panel("lines", "", tr("Time (s)"), title, texts, points, tuple(series), legend=tr("Run"))
