"""Comparisons in the window: simulating runs for one, and the panel, which also compares runs that are stored."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol, TypeVar

from PySide6.QtWidgets import QStackedWidget, QWidget

from subflow_app.features.sweeps.qt.feature import SweepFeature
from subflow_app.foundation.errors import InputError
from subflow_app.foundation.jobs.executors import jobs_beside_window
from subflow_app.foundation.jobs.progress import JobState
from subflow_app.foundation.paths import file_stem
from subflow_app.toolkit import format as fmt
from subflow_app.toolkit.action_bar import COMPLETE, VALID, WRITABLE, ActionSpec, Scope, possible
from subflow_app.toolkit.dialogs import Dialogs, open_dialog
from subflow_app.toolkit.feature import Feature, FeatureHolder
from subflow_app.toolkit.ports import PanelPorts
from subflow_app.toolkit.study import Study
from subflow_app.toolkit.widgets.banner import Way
from subflow_app.toolkit.widgets.empty_state import EmptyState
from subflow_app.toolkit.widgets.shorthand import v_box
from subflow_app.vocabulary.language import tr, translatable

if TYPE_CHECKING:
    from subflow_app.features.comparison.core.batch import ComparisonDraft, ComparisonEstimate
    from subflow_app.features.comparison.core.compared_runs import Choices, ComparedRuns, ComparedTraces
    from subflow_app.features.comparison.qt.dialog import CompareDialog
    from subflow_app.features.comparison.qt.panel import ComparisonView, KernelStrip
    from subflow_app.features.editor.qt.documents import Documents
    from subflow_app.features.editor.qt.inspector.inspector import Inspector
    from subflow_app.features.exporting.qt.export_dialog import Format
    from subflow_app.features.exporting.qt.exporting import Exports
    from subflow_app.features.history.qt import History
    from subflow_app.features.kernel.core.study import KernelStudy
    from subflow_app.features.running.qt.shown_runs import ShownRuns
    from subflow_app.features.sweeps.core.sweep_job import SweepJob
    from subflow_app.features.sweeps.core.sweep_plan import SweepPlan
    from subflow_app.foundation.jobs.job import JobOutcome
    from subflow_app.toolkit.notices import Notices
    from subflow_app.toolkit.preferences import Preferences
    from subflow_app.toolkit.widgets.banner import Banners
    from subflow_store.values import RunRow

T = TypeVar("T")

_COMPARING = "compare runs"
# Overlaying more curves than this would be unreadable.
_MOST_PLOTTED = 30


class ComparePorts(FeatureHolder, PanelPorts, Protocol):
    """Parts of the window that comparisons use."""

    banners: Banners
    dialogs: Dialogs
    documents: Documents
    history: History
    inspector: Inspector
    exports: Exports
    notices: Notices
    preferences: Preferences
    shown: ShownRuns

    def window(self) -> QWidget:
        """The window on which dialogs open."""


class CompareFeature(Feature):
    """Runs controllers for a comparison, and compares stored runs and the TCP and MPTCP of the Linux kernel."""

    panel_name = "compare"
    export_action = "compare.export_figure"

    def __init__(self, ports: ComparePorts) -> None:
        """Starts with an empty panel; its content is created for the first comparison."""
        super().__init__()
        self.ports = ports
        self.panel: QWidget = QWidget()
        self.panel.setObjectName("compare_view")
        self.pages = QStackedWidget(self.panel)
        self._layout = v_box(self.panel, (self.pages, 1), margins=0)
        self._strip: KernelStrip | None = None
        self.study: Study[KernelStudy] = Study(ports.workers, self, "kernel", self._on_kernel_failed)
        self.study.changed.connect(self.changed)
        self.study.ended.connect(self._on_kernel_ended)
        self._empty = EmptyState(
            "compare",
            tr("Nothing to compare yet"),
            tr(
                "Compare controllers of the scenario over several seeds. Or select runs in the history, and choose "
                "Tabulate runs: those that differ only in their seed form one group."
            ),
            ports.bar["run.compare"],
        )
        self.pages.addWidget(self._empty)
        self._view: ComparisonView | None = None
        self._runs: tuple[RunRow, ...] = ()
        self._versions: Mapping[tuple[str, int], str] = {}  # names of script versions in the runs
        self._is_shown_last = False  # True if runs were shown after the last selection in the history
        self._selected = frozenset[int]()
        self._asked = Counter[str]()  # number of queries by kind, used to drop outdated results
        self._title, self._wanted = "", 0  # title of the comparison, and the number of its runs; 0: no run is missing
        self.dialog: CompareDialog | None = None  # while it is open
        self._drafts: dict[SweepJob, ComparisonDraft] = {}  # contents of the dialog by comparison
        self._draft: ComparisonDraft | None = None  # of the comparison shown, if it came from the dialog

    # ---- runs for a comparison ----

    def ask(self, draft: ComparisonDraft | None = None) -> None:
        """Opens the dialog for a comparison of the open scenario, filled with an earlier one if given.

        Raises:
            InputError: if no writable database is open, or no flow has a controller.
        """
        from subflow_app.features.catalog.core.uses import Use
        from subflow_app.features.comparison.core.batch import estimate_comparison, suited_flows
        from subflow_app.features.comparison.qt.dialog import CompareDialog, ComparisonSubject
        from subflow_app.features.editor.core.algorithm_choices import controller_choices
        from subflow_app.features.editor.core.scenario_source import source_of_document
        from subflow_app.features.sweeps.core.axes import sweep_parameters
        from subflow_app.foundation.toml_edit import read_toml

        ports, doc = self.ports, self.ports.documents.doc
        if self.dialog is not None:
            self.dialog.raise_()
            self.dialog.activateWindow()
            return
        ports.documents.settling.emit()
        source = source_of_document(Use.SWEEP, doc)
        if source is None:
            return
        if ports.database.writable is None:
            raise InputError(tr("A comparison needs a database that can be written: open one first."))
        text = source.text
        folder = None if doc.path is None else doc.path.parent
        choices = controller_choices(read_toml(text), source.scenario, folder)
        flows = suited_flows(source.scenario)
        if not flows:
            raise InputError(tr("Only flows with a congestion controller can be compared: add one."))
        interval_s = ports.preferences.settings.sample_interval_s
        limits = ports.features[SweepFeature].session.limits

        def estimate(draft: ComparisonDraft) -> ComparisonEstimate:
            store = ports.database.writable
            return estimate_comparison(draft, text, folder, sample_interval_s=interval_s, store=store, limits=limits)

        keys = [f"flows.{flow}.controller" for flow in flows]
        parameters = [each for each in sweep_parameters(doc) if each.key not in keys]
        subject = ComparisonSubject(
            source.scenario.name or doc.title,
            source.scenario.seed,
            {flow: choices[flow] for flow in flows},
            parameters,
            jobs_beside_window(),
            estimate,
        )
        dialog = self.dialog = CompareDialog(subject, ports.workers, ports.window())
        dialog.started.connect(self._start_batch)
        dialog.completing.connect(self._complete_batch)
        dialog.show_wanted.connect(lambda: self._show_batch(dialog.job))
        dialog.finished.connect(self._on_dialog_closed)
        if draft is not None:
            dialog.fill(draft)
        open_dialog(dialog)

    def _on_dialog_closed(self) -> None:
        self.dialog = None

    def _start_batch(self, found: ComparisonEstimate) -> None:
        assert found.plan is not None
        self._run_batch(found.plan, None)

    def _complete_batch(self) -> None:
        """Simulates the missing runs of the comparison in the dialog."""
        job = None if self.dialog is None else self.dialog.job
        if job is not None:
            self._run_batch(job.plan, job.sweep_id)

    def _run_batch(self, plan: SweepPlan, sweep_id: int | None) -> None:
        from subflow_app.features.comparison.core.batch import comparison_job

        ports, dialog = self.ports, self.dialog
        store = ports.database.writable
        if store is None or dialog is None:
            return
        sweeps = ports.features[SweepFeature].session
        job = comparison_job(plan, store, jobs_beside_window(), limits=sweeps.limits, sweep_id=sweep_id)
        study = sweeps.start(job, reports_end=False)
        self._drafts[job] = dialog.draft
        # Connected before the dialog, which may close when the comparison ends.
        study.ended.connect(lambda job, outcome: self._on_batch_ended(job, outcome))
        dialog.follow(study, job)

    def _on_batch_ended(self, job: SweepJob | None, outcome: JobOutcome | None) -> None:
        """Offers the comparison, unless the dialog shows its end."""
        if job is None or (self.dialog is not None and self.dialog.job is job):
            return
        progress = job.progress
        ways = [Way(tr("Show"), lambda: self._show_batch(job))] if progress.finished > 1 else []
        if progress.state is JobState.FINISHED:
            self.ports.banners.show_banner("comparison", "info", tr("{title} is done.", title=job.plan.name), ways)
        else:
            problem = outcome.problems[0] if outcome is not None and outcome.problems else ""
            text = tr(
                "{title}: {done} of {total} runs.", title=job.plan.name, done=progress.finished, total=progress.runs
            )
            text = " ".join(filter(None, (text, problem)))
            self.ports.banners.show_banner("comparison", "warning", text, ways)

    def _show_batch(self, job: SweepJob | None) -> None:
        """Compares the finished runs of a comparison."""
        from subflow_app.features.comparison.core.batch import compared_ids

        store = self.ports.database.store
        if job is None or job.sweep_id is None or store is None:
            return
        sweep_id = job.sweep_id
        draft = self._drafts.get(job)
        self._compare(lambda: compared_ids(store, sweep_id), title=job.plan.name, wanted=job.plan.n_runs, draft=draft)

    def back(self) -> None:
        """Returns to the panels that were shown before the comparison, or before one of its runs."""
        self.ports.banners.close_banner("compared_run")
        self.ports.workspaces.go_back()

    def _open_runs(self, run_ids: Sequence[int], text: str) -> None:
        """Shows runs of the comparison in the plots, with a way back."""
        store = self.ports.database.store
        if store is None:
            return
        # The plots are shown in the workspace from which the comparison was opened.
        workspaces = self.ports.workspaces
        if workspaces.can_go_back:
            workspaces.go_back()
        self.ports.shown.show_stored(store, run_ids[:_MOST_PLOTTED])
        way = Way(tr("Back to the comparison"), lambda: workspaces.visit(self.panel_name))
        self.ports.banners.show_banner(
            "compared_run", "warning" if len(run_ids) > _MOST_PLOTTED else "info", text, [way]
        )

    # ---- called by actions ----

    def compare(self) -> None:
        """Compares the runs of the visible sweep, or else the runs last shown in the plots or selected in the history.

        The oldest run is in group A. If only one run is selected, this run is compared with the shown runs of its
        scenario, or else with the latest other run of the same scenario. If fewer than two runs are found, the panel
        shows an instruction.
        """
        ports = self.ports
        of_sweep = ports.features[SweepFeature].runs_at_hand()
        if len(of_sweep) > 1:
            self.compare_runs(sorted(of_sweep))
            return
        selected = sorted(row.id for row in ports.history.selected())
        numbers = (ports.shown.id_of(run) for run in range(ports.shown.count))
        shown = [number for number in numbers if number is not None]
        if len(selected) < 2:
            selected = self._of_one_scenario(shown, selected)
        wanted = shown if self._is_shown_last and len(shown) > 1 else selected
        if len(wanted) > 1:
            self.compare_runs(sorted(wanted))
        else:
            ports.workspaces.go_to(self.panel_name)

    def _of_one_scenario(self, shown: Sequence[int], selected: Sequence[int]) -> list[int]:
        """Numbers of the shown and selected runs of one scenario, preferably the scenario of the selected run.

        If only one run is found, the latest other run of the same scenario is added.
        """
        rows = {row.id: row for row in self.ports.history.runs()}
        meant = next((rows[number] for number in (*selected, *shown) if number in rows), None)
        if meant is None:
            return list(dict.fromkeys((*shown, *selected)))
        same = [number for number, row in rows.items() if row.scenario_name == meant.scenario_name]
        found = [number for number in dict.fromkeys((*shown, *selected)) if number in same]
        if len(found) == 1:
            found = sorted((*found, *sorted(set(same) - set(found))[-1:]))
        return found

    def compare_runs(self, run_ids: Sequence[int], pair: tuple[int, int] | None = None) -> None:
        """Compares stored runs; with ``pair``, also aligns the traces of these two runs, which share a clock."""
        if len(run_ids) > 1:
            self._compare(lambda: run_ids, pair=pair)

    def _compare(
        self,
        numbers: Callable[[], Sequence[int]],
        *,
        title: str = "",
        wanted: int = 0,
        pair: tuple[int, int] | None = None,
        draft: ComparisonDraft | None = None,
    ) -> None:
        """Compares the runs that `numbers` returns in a worker thread; `wanted` is the number of runs asked for."""
        from subflow_app.features.comparison.core.compared_runs import Choices, compare, read_runs
        from subflow_app.features.history.core.script_versions import version_names

        store = self.ports.database.store
        if store is None:
            return
        if not self.ports.workspaces.can_go_back:
            self.ports.workspaces.visit(self.panel_name)
        else:
            self.ports.workspaces.go_to(self.panel_name)
        choices = self.view.choices = Choices(has_all=self.view.choices.has_all)

        def work() -> ComparedRuns:
            runs = read_runs(store, numbers())
            return compare(runs, choices, version_names(store, runs))

        def succeeded(compared: ComparedRuns) -> None:
            self._title, self._wanted = title, wanted
            self._draft = draft
            self._show(compared)
            if pair is not None:
                self.view.choose_pair(*pair)
                self.view.choose_offset(0.0)
                self.view.align()

        self._start(_COMPARING, work, succeeded)

    def export_figure(self) -> None:
        """Opens the dialog that exports the figures of the comparison, with its table beside them."""
        from subflow_app.features.comparison.core.group_table import table_csv

        table = self.view.model.table
        if table is not None:
            self._export(table_csv(table, table.rows), None)

    def export_table(self) -> None:
        """Opens the same dialog for the rows that the table shows, as CSV."""
        self._export(self.view.csv(), "csv")

    def _export(self, text: str, first: Format | None) -> None:
        from subflow_app.features.exporting.core.web_page import is_offered, write_page
        from subflow_app.features.paper.core.exported_figure import ExportedFigure
        from subflow_app.features.paper.core.figure_plan import FigurePlan
        from subflow_app.foundation.files import write_file

        view, store = self.view, self.ports.database.store
        panels = tuple(replace(figure.panel, title=figure.title) for figure in view.page.figures)
        if not panels:
            return
        ids = [run.id for run in self._runs][:_MOST_PLOTTED]
        self.ports.exports.export(
            ExportedFigure(
                file_stem(view.page.title.text()),
                FigurePlan(panels=panels),
                write_data=lambda path: write_file(path, text),
                write_page=(lambda path: write_page(store, ids, path)) if store is not None and is_offered() else None,
            ),
            first,
        )

    def possible(self) -> frozenset[str]:
        """Names of the enabled actions; the kernel runs one scenario at a time."""
        back = {"compare.back"} if self.ports.workspaces.can_go_back else set()
        if self._view is not None and self._view.page.figures:
            back.add("compare.export_figure")
        return frozenset({"study.stop_kernel" if self.study.is_running else "study.kernel", *back})

    def run_kernel(self) -> None:
        """Runs the scenario of the window in the kernel of this machine and in the simulator."""
        from subflow_app.features.catalog.core.uses import Use
        from subflow_app.features.comparison.qt.panel import KernelStrip
        from subflow_app.features.editor.core.scenario_source import source_of_document
        from subflow_app.features.kernel.core.plan import plan_network
        from subflow_app.features.kernel.core.study import KernelStudy

        ports, doc = self.ports, self.ports.documents.doc
        ports.inspector.commit_pending()
        store = ports.database.store
        if self.study.is_running or store is None or store.is_read_only:
            return
        source = source_of_document(Use.KERNEL, doc)
        if source is None:
            ports.notices.scenario_refused(tr("The scenario has problems: the inspector lists them."))
            return
        # Scenarios that the kernel cannot run are refused before the user has to confirm.
        plan_network(source.scenario, seed=source.scenario.seed)
        if not ports.dialogs.confirm(
            tr("Compare with the kernel"),
            tr("Also run {name} on the TCP and MPTCP of this machine?", name=ports.documents.shown_name),
            tr(
                "It is simulated first, then its packets go through Subflow's link emulator in real time, which "
                "takes {time}. That needs Linux with user namespaces, or root; the settings of this machine stay as "
                "they are.",
                time=fmt.duration(source.scenario.duration_s),
            ),
            tr("Run it"),
        ):
            return
        ports.workspaces.go_to(self.panel_name)
        if self._strip is None:
            self._strip = KernelStrip(self.study, self.panel)
            self._layout.insertWidget(0, self._strip)
        self.study.start(KernelStudy(source, store))

    def stop_kernel(self) -> None:
        """Stops the kernel's run and discards it."""
        self.study.stop()

    def close(self) -> None:
        """Stops the kernel's run."""
        self.study.forget()

    def connect_parts(self) -> None:
        """Tracks whether runs were last shown in the plots or selected in the history, and the way back."""
        self.ports.workspaces.visited.connect(self.changed)
        self.ports.workspaces.changed.connect(lambda _name: self.changed.emit())
        self.ports.shown.changed.connect(self._on_shown)
        self.ports.history.selection_changed.connect(self._on_selected)

    def _on_shown(self) -> None:
        self._is_shown_last = True

    def _on_selected(self) -> None:
        # The signal is also emitted after each reload of the history, even if the selection is unchanged.
        selected = frozenset(row.id for row in self.ports.history.selected())
        if selected != self._selected:
            self._selected, self._is_shown_last = selected, False

    @property
    def view(self) -> ComparisonView:
        """The content of the panel, created on first use."""
        if self._view is None:
            from subflow_app.features.comparison.qt.panel import ComparisonView

            self._view = ComparisonView()
            self._view.choices_changed.connect(self._recompare)
            self._view.align_requested.connect(self._align)
            self._view.shown_requested.connect(self._show_in_plots)
            self._view.csv_wanted.connect(self.export_table)
            self._view.page.back.clicked.connect(self.back)
            self._view.page.runs_wanted.connect(self._open_runs)
            self._view.page.export_button.setDefaultAction(self.ports.bar["compare.export_figure"])
            self._view.page.change_wanted.connect(lambda: self.ask(self._draft))
            self.pages.addWidget(self._view)
        return self._view

    # ---- internals ----

    def _on_kernel_ended(self, job: KernelStudy | None, outcome: JobOutcome | None) -> None:
        if job is not None and job.run_ids is not None:
            self.ports.history.reload()
            self.compare_runs(job.run_ids, pair=job.run_ids)
        elif outcome is not None and outcome.error is None:
            self.ports.banners.show_banner("kernel", "info", tr("The comparison with the kernel was stopped."))

    def _on_kernel_failed(self, error: Exception) -> None:
        self.ports.banners.show_banner("kernel", "error", str(error))

    def _recompare(self, choices: Choices) -> None:
        from subflow_app.features.comparison.core.compared_runs import compare

        runs, versions = self._runs, self._versions
        self._start(_COMPARING, lambda: compare(runs, choices, versions), self._show)

    def _show(self, compared: ComparedRuns) -> None:
        self._runs, self._versions = compared.runs, compared.versions
        self.view.show_compared(compared, title=self._title, wanted=self._wanted)
        self.view.page.change.setVisible(self._draft is not None)
        self.pages.setCurrentWidget(self.view)
        self.changed.emit()

    def _align(self, reference: int, other: int, method: str, with_skew: bool, offset_s: float) -> None:
        from subflow_app.features.comparison.core.alignment import METHODS
        from subflow_app.features.comparison.core.compared_runs import compare_traces

        store = self.ports.database.store
        if store is None:
            return

        def work() -> ComparedTraces:
            return compare_traces(store, reference, other, METHODS[method], with_skew=with_skew, offset_s=offset_s)

        self._start("align runs", work, self.view.show_aligned)

    def _show_in_plots(self, traces: ComparedTraces) -> None:
        store = self.ports.database.store
        if store is not None:
            self.ports.shown.show_aligned(store, traces.reference, traces.other, traces.alignment)

    def _start(self, name: str, work: Callable[[], T], succeeded: Callable[[T], None]) -> None:
        self._asked[name] += 1

        def question() -> tuple[int, int]:
            # A new comparison also invalidates an alignment, but not vice versa.
            return self._asked[name], self._asked[_COMPARING]

        asked = question()

        def on_success(result: T) -> None:
            if asked == question():
                succeeded(result)

        def on_failure(error: Exception) -> None:
            self.view.say(str(error))
            self.view.told.setText(str(error))

        self.ports.workers.start(name, work, succeeded=on_success, failed=on_failure)


def compare_rows() -> Iterator[ActionSpec[FeatureHolder]]:
    """Actions of comparisons in the menus Run, History and View."""
    yield ActionSpec(
        "run.compare",
        "&Compare…",
        "Run the scenario with several controllers and seeds, and compare them",
        "compare",
        ("Ctrl+Shift+M",),
        lambda w, _: w.features[CompareFeature].ask(),
        (COMPLETE, VALID, WRITABLE),
    )
    yield ActionSpec(
        "history.tabulate",
        "Ta&bulate runs…",
        "Compare the selected runs, or those that the plots show: settings that differ, means, and their differences",
        "compare",
        (),
        lambda w, _: w.features[CompareFeature].compare(),
    )
    yield ActionSpec(
        "compare.export_figure",
        "E&xport the comparison…",
        "Write the figures of the comparison to a PDF, SVG or PNG file for a paper, or its runs to a web page",
        "export_figure",
        (),
        lambda w, _: w.features[CompareFeature].export_figure(),
        (possible("compare.export_figure", translatable("no comparison is shown")),),
        Scope.COMPARE,
        is_contextual=True,
    )
    yield ActionSpec(
        "compare.back",
        "&Back from the comparison",
        "Return to the panels that were shown before the comparison",
        "back",
        ("Esc",),
        lambda w, _: w.features[CompareFeature].back(),
        (possible("compare.back", translatable("no comparison was opened from other panels")),),
        Scope.COMPARE,
        is_contextual=True,
    )


def kernel_rows() -> Iterator[ActionSpec[FeatureHolder]]:
    """Actions of the kernel comparison in the Study menu."""
    yield ActionSpec(
        "study.kernel",
        "Compare with the &kernel…",
        "Run the scenario on this machine's own TCP and MPTCP, in real time, and overlay that on a simulation",
        "kernel",
        (),
        lambda w, _: w.features[CompareFeature].run_kernel(),
        (WRITABLE, possible("study.kernel", translatable("the kernel is running a scenario"))),
    )
    yield ActionSpec(
        "study.stop_kernel",
        "Sto&p the kernel's run",
        "End the comparison with the kernel; nothing of it is kept",
        "stop",
        (),
        lambda w, _: w.features[CompareFeature].stop_kernel(),
        (possible("study.stop_kernel", translatable("the kernel is not running a scenario")),),
        is_contextual=True,
    )
