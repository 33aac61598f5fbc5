"""*Run > On this computer*: real programs on the nodes of the drawn network, and their output in a panel."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Protocol

from PySide6.QtWidgets import QWidget

from subflow_app.features.emulation.core.job_text import Program
from subflow_app.features.traces.core.measured import emulation_of, lateness_text
from subflow_app.foundation.errors import InputError
from subflow_app.toolkit.action_bar import COMPLETE, NOT_RUNNING, VALID, ActionSpec, possible
from subflow_app.toolkit.dialogs import open_dialog
from subflow_app.toolkit.feature import FeatureHolder, PanelFeature
from subflow_app.toolkit.ports import PanelPorts
from subflow_app.toolkit.widgets.banner import Kind, Way
from subflow_app.vocabulary.language import tr, translatable

if TYPE_CHECKING:
    from subflow_app.features.editor.qt.documents import Documents
    from subflow_app.features.editor.qt.inspector.inspector import Inspector
    from subflow_app.features.emulation.core.presets import EmulationDraft
    from subflow_app.features.emulation.core.run import EmulationRun
    from subflow_app.features.emulation.qt.dialog import EmulationDialog
    from subflow_app.features.emulation.qt.panel import ProgramsPanel
    from subflow_app.features.history.qt import History
    from subflow_app.features.plots.qt.plot_view import PlotView
    from subflow_app.features.running.core.runs import RunJob, RunResult
    from subflow_app.features.running.qt.run_control import RunControl
    from subflow_app.features.running.qt.run_session import RunSession
    from subflow_app.toolkit.widgets.banner import Banners
    from subflow_store import RunRow

_OVERLAY = "run.overlay_simulation"
_BANNER = "emulation"


class EmulationPorts(FeatureHolder, PanelPorts, Protocol):
    """Parts of the window that real programs use."""

    banners: Banners
    documents: Documents
    history: History
    inspector: Inspector
    plots: PlotView
    runs: RunControl
    session: RunSession

    def window(self) -> QWidget:
        """The window on which the dialog opens."""


class EmulationFeature(PanelFeature["ProgramsPanel"]):
    """Opens the dialog, starts the run, and shows the output of its programs."""

    panel_name = "programs"
    title = translatable("Programs")
    room = (298, 160)
    scrolls = False

    def __init__(self, ports: EmulationPorts) -> None:
        """Start without a run; the dialog remembers its contents from one start to the next."""
        super().__init__()
        self.ports = ports
        self.dialog: EmulationDialog | None = None  # while it is open
        self._draft: EmulationDraft | None = None
        self._run: EmulationRun | None = None  # the latest run

    def make(self) -> ProgramsPanel:
        """Create the panel."""
        from subflow_app.features.emulation.qt.panel import ProgramsPanel

        content = ProgramsPanel()
        content.start_wanted.connect(self._start_program)
        content.end_wanted.connect(self._end_program)
        return content

    def connect_parts(self) -> None:
        """Follow the run, and the runs in the plots."""
        self.ports.runs.ticked.connect(lambda _progress: self._refresh())
        self.ports.runs.ended.connect(self._on_ended)
        self.ports.plots.runs_changed.connect(self.changed)

    def possible(self) -> frozenset[str]:
        """Overlaying the simulation, while a run of real programs is shown."""
        return frozenset({_OVERLAY}) if self._emulated_row() is not None else frozenset()

    # ---- called by actions ----

    def ask(self) -> None:
        """Open the dialog for the open scenario.

        Raises:
            InputError: if the scenario has no node.
        """
        from subflow_app.features.catalog.core.uses import Use
        from subflow_app.features.editor.core.scenario_source import source_of_document
        from subflow_app.features.emulation.core.presets import EmulationDraft, default_choice, nodes_of
        from subflow_app.features.emulation.core.readiness import check_draft
        from subflow_app.features.emulation.qt.dialog import EmulationDialog, EmulationSubject

        if self.dialog is not None:
            self.dialog.raise_()
            self.dialog.activateWindow()
            return
        self.ports.inspector.commit_pending()
        source = source_of_document(Use.EMULATE, self.ports.documents.doc)
        if source is None:
            return
        scenario, first = source.scenario, default_choice(source.scenario)
        nodes = nodes_of(scenario)
        draft = self._draft
        if draft is None or not all({each.node, each.peer} <= {*nodes, ""} for each in draft.choices):
            is_mptcp = any(flow.kind == "mptcp" for flow in scenario.flows.values())
            draft = EmulationDraft((first,), max(1, round(scenario.duration_s)), is_mptcp)
        title = scenario.name or self.ports.documents.doc.title
        subject = EmulationSubject(title, nodes, draft, first, partial(check_draft, source.text))
        dialog = EmulationDialog(subject, self.ports.workers, self.ports.window())
        dialog.started.connect(lambda draft: self._start(source.text, draft))
        dialog.finished.connect(self._on_closed)
        self.dialog = dialog
        open_dialog(dialog)

    def overlay_simulation(self) -> None:
        """Simulate the scenario of the shown run of programs, with its changes, and draw it over that run.

        Raises:
            InputError: if no such run is shown.
            ScenarioError: if this version cannot read the scenario of the run.
        """
        from subflow_app.features.catalog.core.uses import Use
        from subflow_app.features.editor.core.scenario_source import source_of

        row = self._emulated_row()
        if row is None:
            raise InputError(tr("The plots show no run of real programs."))
        self.ports.banners.close_banner(_BANNER)
        self.ports.session.run_beside(source_of(Use.RUN, row.scenario_text or "", overrides=[f"seed={row.seed}"]))

    # ---- internals ----

    def _emulated_row(self) -> RunRow | None:
        """The first run in the plots that real programs made; None while it is in progress."""
        rows = (traces.row for traces in self.ports.plots.runs)
        return next((row for row in rows if row is not None and emulation_of(row) is not None), None)

    def _start(self, text: str, draft: EmulationDraft) -> None:
        from subflow_app.features.emulation.core.presets import nodes_of
        from subflow_app.features.emulation.core.run import EmulationRun

        ports = self.ports
        if ports.runs.is_running:
            return
        self._draft = draft
        run = self._run = EmulationRun(text, draft, ports.database.writable)
        ports.banners.close_banner(_BANNER)
        ports.runs.start_job(run, is_unlimited=True)
        self.content.show_log(run.log, nodes_of(run.scenario))
        ports.workspaces.go_to(self.panel_name)

    def _refresh(self) -> None:
        if self.shown is not None and self._run is not None and self.ports.runs.job is self._run:
            self.shown.refresh()

    def _start_program(self, node: str, command: str) -> None:
        from subflow_app.features.emulation.core.presets import shell_words

        if self._run is not None:
            self._run.start_program(Program(node, shell_words(command)))

    def _end_program(self, number: int) -> None:
        if self._run is not None:
            self._run.end_program(number)

    def _on_ended(self, job: RunJob, result: RunResult) -> None:
        if job is not self._run:
            return
        self.content.end_run()
        if result.run_id is not None:
            self.ports.history.reload()  # the run has its tag now
        emulation = result.summary.get("emulation")
        if result.error is None and emulation is not None:
            level: Kind = "info" if emulation.get("is_reliable", True) else "warning"
            way = Way(tr("Overlay the simulation"), self.ports.bar[_OVERLAY].trigger)
            text = tr("The programs have ended: {lateness}.", lateness=lateness_text(emulation))
            self.ports.banners.show_banner(_BANNER, level, text, [way])
        self.changed.emit()

    def _on_closed(self) -> None:
        self.dialog = None


def rows() -> Iterator[ActionSpec[FeatureHolder]]:
    """Real programs in the Run menu."""
    yield ActionSpec(
        "run.emulate",
        "&On this computer…",
        "Run real programs, such as iperf3 or curl, on the nodes of the drawn network",
        "emulate",
        (),
        lambda w, _: w.features[EmulationFeature].ask(),
        (COMPLETE, VALID, NOT_RUNNING),
    )
    yield ActionSpec(
        _OVERLAY,
        "O&verlay the simulation",
        "Simulate the scenario of the run of real programs in the plots, and draw it over that run",
        "overlay",
        (),
        lambda w, _: w.features[EmulationFeature].overlay_simulation(),
        (possible(_OVERLAY, translatable("the plots show no run of real programs")), NOT_RUNNING),
    )
