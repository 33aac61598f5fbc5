"""The panel Break, which runs searches in the background and offers actions on the networks that they find.

A search can be started, paused and stopped. A network that it found can be opened, run, or written as files.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Protocol

from PySide6.QtCore import Qt

from subflow_app.features.explain.qt.feature import ExplainFeature
from subflow_app.foundation.errors import ExportError, InputError
from subflow_app.foundation.paths import file_stem
from subflow_app.foundation.problem_texts import error_text
from subflow_app.toolkit.action_bar import NOT_RUNNING, WRITABLE, ActionSpec, possible
from subflow_app.toolkit.dialogs import SCENARIO_FILTER
from subflow_app.toolkit.feature import FeatureHolder, PanelFeature
from subflow_app.toolkit.ports import PanelPorts
from subflow_app.toolkit.study import Study
from subflow_app.toolkit.widgets.shorthand import timer
from subflow_app.toolkit.workers import LatestReader
from subflow_app.vocabulary.language import tr, translatable
from subflow_app.vocabulary.number_text import duration_text
from subflow_app.vocabulary.plain_text import capitalised

if TYPE_CHECKING:
    from subflow_app.features.breaking.core.counterexample import CaseRun
    from subflow_app.features.breaking.core.job import BreakJob, Question
    from subflow_app.features.breaking.core.parting import Parting
    from subflow_app.features.breaking.qt.form import BreakForm
    from subflow_app.features.breaking.qt.panel import BreakPanel, Listed, Shown
    from subflow_app.features.editor.qt.documents import Documents
    from subflow_app.features.exporting.qt.exporting import Exports
    from subflow_app.features.plots.qt.plot_view import PlotView
    from subflow_app.features.running.qt.run_control import RunControl
    from subflow_app.features.running.qt.run_session import RunSession
    from subflow_app.toolkit.docks import Docks
    from subflow_store import Store
    from subflow_store.searches import SearchRecord


BREAK_BUTTONS = ("break.start", "break.pause", "break.stop", "break.fill")
BREAK_FOUND_BUTTONS = ("break.open", "break.run_both", "break.save", "break.page")

START, PAUSE, STOP, FILL, OPEN, RUN_BOTH, SAVE, PAGE, EXPORT = (
    f"break.{name}" for name in ("start", "pause", "stop", "fill", "open", "run_both", "save", "page", "export")
)

_TYPING_MS = 250
_MAP_S = 4.0  # seconds between two updates of the map of a running search
_MAKING_SMALL = 0.9  # progress from which the search simplifies the networks found
_FILTERS = translatable("Table of all networks (*.csv);;Scalable drawing (*.svg);;Image (*.png)")


class BreakPorts(FeatureHolder, PanelPorts, Protocol):
    """Parts of the window that this feature uses."""

    docks: Docks
    documents: Documents
    exports: Exports
    plots: PlotView
    runs: RunControl
    session: RunSession

    def tell(self, text: str) -> None:
        """Shows a temporary message."""

    def tell_failure(self, error: Exception) -> None:
        """Shows an error."""


class BreakFeature(PanelFeature["BreakPanel"]):
    """The panel Break and its actions.

    Attributes:
        question: content of the form; None until it has been read and checked.
    """

    panel_name = "break"
    export_action = "break.export"
    title = translatable("Break a claim")

    def __init__(self, ports: BreakPorts) -> None:
        """Connects the search and the readers; `make` creates the panel later."""
        super().__init__()
        self.ports = ports
        self.question: Question | None = None
        self._is_listed = False  # True once the running search was added to the list and selected there
        self.study: Study[BreakJob] = Study(ports.workers, self, "break", ports.tell_failure)
        self.study.changed.connect(self.changed)
        self.study.ticked.connect(self._show_progress)
        self.study.ended.connect(self._on_ended)
        self._looked_at = 0.0
        self._asked = self._reader_of("read what to break", self._on_question, self._on_refused)
        self._listed = self._reader_of("list searches", self._on_listed, ports.tell_failure)
        self._read = self._reader_of("read search", self._on_read, ports.tell_failure)
        self._typing = timer(self, self._ask, _TYPING_MS, is_single=True)
        self._wanted: int | None = None  # search to select when the list has been read

    def _reader_of(self, name: str, read: Callable[..., None], failed: Callable[[Exception], object]) -> LatestReader:
        reader = LatestReader(self.ports.workers, self, name)
        reader.read.connect(read)
        reader.failed.connect(failed)
        return reader

    def make(self) -> BreakPanel:
        """Creates the form, the list of searches and the list of networks found."""
        from subflow_app.features.breaking.qt.panel import BreakPanel

        bar = self.ports.bar
        content = BreakPanel(
            [bar[name] for name in BREAK_BUTTONS], [bar[name] for name in BREAK_FOUND_BUTTONS], bar[EXPORT]
        )
        content.form.changed.connect(self._on_form)
        self._offer(content.form)
        content.chosen.connect(self._show)
        content.taken_up.connect(bar[FILL].trigger)
        content.selection_changed.connect(self.changed)
        return content

    def on_made(self) -> None:
        """Checks the form and lists the searches."""
        self._ask()
        self.read()

    def connect_parts(self) -> None:
        """Reads the searches again after the database has changed, and the form after the scenario has changed."""
        self.ports.database.opened.connect(lambda _store: self.read())
        self.ports.documents.edited.connect(self._on_edited)

    def possible(self) -> frozenset[str]:
        """Names of the actions that the state of the search and the selection allow."""
        found = set()
        if self.study.is_running:
            found |= {PAUSE, STOP}
        elif self.question is not None:
            found.add(START)
        if self.shown is not None:
            if self.shown.row is not None and self.shown.row.record is not None:
                found.add(FILL)
            if self.shown.selected is not None:
                found |= {OPEN, RUN_BOTH, SAVE}
                from subflow_app.features.exporting.core.web_page import is_offered

                found |= {PAGE} if is_offered() else set()
            if self.shown.tried is not None:
                found.add(EXPORT)
        return frozenset(found)

    def close(self) -> None:
        """Stops the running search. The networks already tried are kept, and the next search continues from them."""
        self.study.forget()

    # ---- called by actions ----

    def show(self) -> None:
        """Brings the panel to the front."""
        self.ports.workspaces.go_to(self.panel_name)

    def start(self) -> None:
        """Starts a search, or continues an earlier search for the same question, and brings the panel to the front."""
        from subflow_app.features.breaking.core.job import BreakJob
        from subflow_app.foundation.jobs.executors import jobs_beside_window

        store, question = self.ports.database.store, self.question
        if store is None or question is None or self.study.is_running:
            return
        self.show()
        minutes = self.content.form.minutes.value()
        self._is_listed = False
        self._looked_at = time.monotonic()

        def make() -> BreakJob:
            before = store.searches.of_key(question.key)
            earlier = 0.0 if before is None else before.elapsed_s / 60
            return BreakJob(question, store, minutes=earlier + minutes, jobs=jobs_beside_window())

        self.study.start(make)

    def pause(self) -> None:
        """Pauses the running search, or resumes the paused search."""
        self.study.toggle_pause()

    def stop(self) -> None:
        """Asks the search to stop. The networks already tried are kept, and a new start continues from them."""
        self.study.stop()

    def fill(self) -> None:
        """Fills the form from the chosen search, to continue or change it.

        Raises:
            InputError: if the form cannot represent that search.
        """
        from subflow_app.features.breaking.qt.form import asked_of

        row = self.content.row
        if row is not None and row.record is not None:
            self.content.form.fill(asked_of(row.record))
            self.content.form.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def read(self) -> None:
        """Lists the searches in the database, in the background."""
        store = self.ports.database.store
        if self.shown is None or store is None:
            return
        self._listed.ask(lambda _: (store, store.searches.all()), is_other=True)

    def open_selected(self) -> None:
        """Opens the selected network as a document."""
        each = self.content.selected
        if each is not None and self.ports.documents.open_text(each.text, f"{_name_of(each)}.toml"):
            self.ports.docks.go_to("topology")

    def run_selected(self) -> None:
        """Runs the controller and the cases of the claim, plots these runs together, and explains why they diverge."""
        each, ports = self.content.selected, self.ports
        if each is None or ports.runs.is_running:
            return

        def work() -> tuple[list[CaseRun], Parting | None]:
            from subflow_app.features.breaking.core.counterexample import case_runs
            from subflow_app.features.breaking.core.parting import find_parting

            runs = case_runs(each)
            return runs, find_parting(each, runs)

        def run(found: tuple[list[CaseRun], Parting | None]) -> None:
            runs, parting = found
            ports.docks.raise_panel("plots")
            sources = [each.source for each in runs]
            ports.session.run_together(sources, is_unlimited=True, then=lambda: self._explain(len(runs), parting))

        ports.workers.start("cases of a claim", work, succeeded=run, failed=ports.tell_failure)

    def _explain(self, count: int, parting: Parting | None) -> None:
        """Opens the explanation of the decision at which the runs diverge, or reports why it is impossible."""
        ports = self.ports
        if count < 2:
            ports.tell(tr("No controller keeps the claim in this network: nothing to compare with"))
        elif parting is None:
            ports.tell(tr("The measure of the claim differs by less than a tenth between the runs"))
        elif len(ports.plots.runs) == count:
            ports.docks.go_to("explain")
            ports.features[ExplainFeature].explain(0, parting.owner, parting.at_s, parting.words)

    def ask_save(self) -> None:
        """Opens a file dialog, then writes the two files of the selected network."""
        each, exports = self.content.selected, self.ports.exports
        if each is None:
            return
        path = exports.ask_path(tr("Save the network"), tr(SCENARIO_FILTER), f"{_name_of(each)}.toml")
        if path is None:
            return

        def write() -> None:
            try:
                each.write(path.parent, path.stem)
            except OSError as error:
                raise ExportError(f"{path}: {error.strerror or error}") from error

        exports.write(path.parent / f"{path.stem}.toml", write)

    def ask_page(self) -> None:
        """Opens a file dialog, then writes the selected network with its runs as a web page, in the background."""
        from subflow_app.features.breaking.core.break_text import write_claim_page

        each = self.content.selected
        if each is not None:
            self.ports.exports.ask_page(_name_of(each), lambda path: write_claim_page(each, path))

    def ask_export(self) -> None:
        """Opens the dialog that exports the map of the search, with all networks as CSV beside it."""
        content = self.shown
        tried = None if content is None else content.tried
        panel = None if content is None else content.chart.shown_panel()
        if tried is None or panel is None:
            return
        from subflow_app.features.paper.core.exported_figure import ExportedFigure
        from subflow_app.features.paper.core.figure_plan import FigurePlan
        from subflow_app.foundation.files import write_file

        text = tried.csv()
        plan = FigurePlan(panels=(panel,))
        self.ports.exports.export(ExportedFigure("search", plan, write_data=lambda path: write_file(path, text)))

    # ---- internals ----

    def _on_form(self) -> None:
        """Discards the question after a change of the form, so that Start cannot use it."""
        self.question = None
        self._asked.forget()
        self._typing.start()
        self.changed.emit()

    def _offer(self, form: BreakForm) -> None:
        """Offers the controllers of the open scenario."""
        from subflow_app.features.arena.core.entrants import own_entries

        doc = self.ports.documents.doc
        form.offer_scripts(doc.scripts, own_entries(doc.scenario) if doc.scenario is not None else ())

    def _on_edited(self) -> None:
        from subflow_app.features.breaking.qt.form import OWN

        if self.shown is not None:
            self._offer(self.shown.form)
            if self.shown.form.asked.space == OWN:
                self._on_form()

    def _ask(self) -> None:
        from dataclasses import replace

        from subflow_app.features.breaking.qt.form import OWN

        documents = self.ports.documents
        path = documents.doc.path
        asked = self.content.form.asked
        if asked.space == OWN:
            folder = None if path is None else path.parent
            name = documents.name.removesuffix(".toml")
            asked = replace(asked, text=documents.doc.text, name=name, folder=folder)
        self._asked.ask(lambda _: asked.question(), is_other=True)

    def _on_question(self, question: Question) -> None:
        self.question = question
        self.content.form.say("")
        self.content.form.say_keys(question)
        self.changed.emit()

    def _on_refused(self, error: Exception) -> None:
        self.content.form.say(error_text(error))

    def _on_listed(self, read: tuple[Store, list[SearchRecord]]) -> None:
        store, records = read
        if store is self.ports.database.store:
            wanted, self._wanted = self._wanted, None
            self.content.show_searches(records, wanted)

    def _show(self, listed: Listed) -> None:
        store = self.ports.database.store
        if store is not None:
            self._read.ask(lambda _: _known_of(store, listed), is_other=True)

    def _on_read(self, shown: Shown) -> None:
        if self.content.row == shown.listed:
            self.content.show_search(shown)
            self.changed.emit()

    def _show_progress(self) -> None:
        content, job = self.shown, self.study.job
        if content is None:
            return
        if job is None:
            content.bar.show_told(0.0, tr("Reading what was tried …"))
            return
        progress, search = job.progress, job.search
        if self.study.is_paused:
            what = tr("paused")
        elif progress.fraction >= _MAKING_SMALL:
            what = tr("simplifying the networks found")
        else:
            what = tr("{time} to go", time=duration_text(progress.eta_s))
        text = tr(
            "{tried} networks; the claim fails in {failed}, which are of {kinds} kinds: {what}",
            tried=search.tried,
            failed=search.failed,
            kinds=sum(each.margin < 0 for each in list(search.elites.values())),
            what=what,
        )
        content.bar.show_told(progress.fraction, text)
        if job.record is not None and time.monotonic() - self._looked_at > _MAP_S:
            self._looked_at = time.monotonic()
            if not self._is_listed:  # only once, because the user may select a different search
                self._is_listed = True
                self._wanted = job.record.id
            self.read()

    def _on_ended(self, job: BreakJob | None) -> None:
        if job is not None:
            self._wanted = None if job.record is None else job.record.id
            if job.notes:
                self.ports.tell(" ".join(f"{capitalised(note)}." for note in job.notes))
        if self.shown is not None:
            self.shown.bar.hide()
        self.read()


def _known_of(store: Store, listed: Listed) -> Shown:
    """Reads the data of a row of the list; reports damaged data in `Shown.problem`."""
    from subflow_app.features.breaking.core.counterexample import of_document, shipped_counterexamples
    from subflow_app.features.breaking.core.search_map import read_map
    from subflow_app.features.breaking.qt.panel import Shown

    if listed.record is None:
        try:
            return Shown(listed, tuple(shipped_counterexamples()))
        except InputError as error:
            return Shown(listed, problem=str(error))
    tried = read_map(store, listed.record)
    try:
        found = tuple(of_document(document) for document in store.searches.found(listed.record.id))
    except ValueError as error:
        return Shown(listed, (), tried, str(error))
    return Shown(listed, found, tried)


def _name_of(each: object) -> str:
    from subflow_app.features.breaking.core.counterexample import Counterexample

    assert isinstance(each, Counterexample)
    return each.name or file_stem(f"{each.claim.name}-{each.entrant}")


_NONE_SELECTED = translatable("first select one of the networks found")
_NOT_SEARCHING = translatable("no search is running")


def rows() -> Iterator[ActionSpec[FeatureHolder]]:
    """Actions of the panel in the Study menu."""
    yield ActionSpec(
        "break.show",
        "Sho&w what breaks claims",
        "Look for networks in which a claim about a controller fails",
        "break",
        (),
        lambda w, _: w.features[BreakFeature].show(),
    )
    yield ActionSpec(
        "break.start",
        "&Look for networks",
        "Look for networks in which the claim fails; an earlier search of the same kind is continued",
        "run",
        (),
        lambda w, _: w.features[BreakFeature].start(),
        (
            WRITABLE,
            possible("break.start", translatable("a search is running, or the panel shows what is missing")),
        ),
    )
    yield ActionSpec(
        "break.pause",
        "&Pause or resume the run",
        "Pause or resume the search",
        "pause",
        (),
        lambda w, _: w.features[BreakFeature].pause(),
        (possible("break.pause", _NOT_SEARCHING),),
    )
    yield ActionSpec(
        "break.stop",
        "S&top the search",
        "End the search; networks tried so far are kept, and starting it again continues from there",
        "stop",
        (),
        lambda w, _: w.features[BreakFeature].stop(),
        (possible("break.stop", _NOT_SEARCHING),),
    )
    yield ActionSpec(
        "break.fill",
        "Fill in the &search",
        "Fill the form from the chosen search, to continue it or to change it",
        "retry",
        (),
        lambda w, _: w.features[BreakFeature].fill(),
        (possible("break.fill", translatable("choose an earlier search first")),),
    )
    yield ActionSpec(
        "break.open",
        "&Open the network",
        "Open the selected network as a scenario of its own",
        "scenario",
        (),
        lambda w, _: w.features[BreakFeature].open_selected(),
        (possible("break.open", _NONE_SELECTED),),
    )
    yield ActionSpec(
        "break.run_both",
        "&Run both",
        "Run the controller and one that keeps the claim, overlay them, and explain the moment at which they diverge",
        "overlay",
        (),
        lambda w, _: w.features[BreakFeature].run_selected(),
        (NOT_RUNNING, possible("break.run_both", _NONE_SELECTED)),
    )
    yield ActionSpec(
        "break.save",
        "&Save the network as…",
        "Write the selected network as a scenario, with a file on what fails there",
        "save_as",
        (),
        lambda w, _: w.features[BreakFeature].ask_save(),
        (possible("break.save", _NONE_SELECTED),),
    )
    yield ActionSpec(
        "break.page",
        "Save as &web page…",
        "Write the selected network as a web page with both runs, which any browser simulates again",
        "web_page",
        (),
        lambda w, _: w.features[BreakFeature].ask_page(),
        (possible("break.page", _NONE_SELECTED),),
    )
    yield ActionSpec(
        "break.export",
        "&Export the search…",
        "Write the map of the search as a figure, with every network that was tried as a table",
        "export_figure",
        (),
        lambda w, _: w.features[BreakFeature].ask_export(),
        (possible("break.export", translatable("no search with results is shown")),),
    )
