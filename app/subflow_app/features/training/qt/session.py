"""The training runs of one window, from start to promotion. Connects the Train page, the scenario and the runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Protocol

from PySide6.QtCore import QTimer, Signal

from subflow_app.features.catalog.core.catalog import app_catalog
from subflow_app.features.catalog.core.uses import policies_of
from subflow_app.features.editor.qt.documents import set_value
from subflow_app.foundation.errors import InputError
from subflow_app.foundation.jobs.progress import JobState
from subflow_app.foundation.problem_texts import problem_text
from subflow_app.toolkit.action_bar import COMPLETE, NOT_RUNNING, VALID, ActionSpec, Scope, possible
from subflow_app.toolkit.feature import FeatureHolder, PanelFeature
from subflow_app.toolkit.ports import PanelPorts
from subflow_app.vocabulary.language import tr, translatable

if TYPE_CHECKING:
    from subflow_app.features.editor.qt.documents import Documents
    from subflow_app.features.exporting.qt.exporting import Exports
    from subflow_app.features.running.qt.run_session import RunSession
    from subflow_app.features.training.core.training_draft import DocumentText
    from subflow_app.features.training.core.training_progress import Training
    from subflow_app.features.training.core.trainings import Trainings
    from subflow_app.features.training.qt.page import TrainPage
    from subflow_app.toolkit.dialogs import Dialogs
    from subflow_app.toolkit.docks import Docks
    from subflow_app.toolkit.notices import Notices
    from subflow_store import Store

TRAINING_MENU = (
    "train.toggle",
    "train.stop",
    "train.checkpoint",
    "-",
    "train.evaluate",
    "train.race",
    "-",
    "train.use",
    "train.promote",
    "-",
    "train.export_figure",
)
"""Menu of the actions on the selected training runs."""

DeskMaker = Callable[["Store | None"], "Trainings"]


class TrainingPorts(PanelPorts, Protocol):
    """Parts of the window that the Train page uses."""

    documents: Documents
    exports: Exports
    session: RunSession
    docks: Docks
    notices: Notices
    dialogs: Dialogs
    desk_maker: DeskMaker

    def tell(self, text: str) -> None:
        """Shows a message for a while."""

    def close(self) -> bool:
        """Closes the window."""


class TrainingSession(PanelFeature["TrainPage"]):
    """The training runs of one window, and the panel that shows them."""

    panel_name = "train"
    export_action = "train.export_figure"
    title = translatable("Training")
    panel_object = "train_page"
    room = (340, 200)  # px

    ended = Signal(object)  # Training, after it has ended for any reason

    def __init__(self, ports: TrainingPorts) -> None:
        super().__init__()
        self.ports = ports
        self._documents = ports.documents
        self._database = ports.database
        self._notices = ports.notices
        self._is_wanted = False
        self._is_left = False  # the processes may continue without the window
        self._closes_when_ended = False
        ports.database.opened.connect(self._on_database_settled)
        ports.database.failed.connect(self._on_database_settled)
        ports.documents.edited.connect(self._on_document_edited)

    # ---- used by the window and its actions ----

    def make(self) -> TrainPage:
        """Creates the page with its actions, and connects its signals."""
        from subflow_app.features.training.core.training_progress import TRAINING_ACTIONS
        from subflow_app.features.training.qt.page import TrainPage

        bar = self.ports.bar
        actions = {name: bar[f"train.{name}"] for name in ("start", *TRAINING_ACTIONS, "export_figure")}
        page = TrainPage(self.ports.workers, self.ports.dialogs, actions)
        page.selection_changed.connect(self._on_selection_changed)
        page.menu_requested.connect(lambda position: bar.pop_up(TRAINING_MENU, position))
        page.failed.connect(self._notices.training_failed)
        page.told.connect(self.ports.tell)
        page.ended.connect(self._on_ended)
        return page

    def fill(self) -> None:
        """Creates the page, and opens the training runs of the database."""
        super().fill()
        self._is_wanted = True
        if not self._database.is_opening:
            self._open()

    @property
    def desk(self) -> Trainings | None:
        """The training service; None before it is opened."""
        return None if self.shown is None else self.shown.desk

    @property
    def is_busy(self) -> bool:
        """True if any training run is active or waiting."""
        return self.desk is not None and self.desk.is_busy

    def possible(self) -> frozenset[str]:
        """Names of the possible actions, including "train.wait" if a training run is active or waiting."""
        if self.shown is None:
            return frozenset()
        found = {*self.shown.possible(), *(["start"] if self.shown.form is not None else ())}
        return frozenset(f"train.{what}" for what in (*found, *(["wait"] if self.is_busy else ())))

    def start(self) -> None:
        """Starts the training run that the form describes."""
        self._notices.training_began()
        # First commit text that is still being typed in the inspector, so that it becomes part of the scenario.
        self._documents.settling.emit()
        self._on_document_edited()
        self.content.start()

    def export_figure(self) -> None:
        """Opens the dialog that exports the visible curves, or the picture of the policy."""
        figure = self.content.figure()
        if figure is not None:
            self.ports.exports.export(figure)

    def race(self) -> None:
        """Runs the open scenario with the policy of the selected training run, and then with the chosen rival."""
        from subflow_app.features.training.core.evaluations import is_raced, race_sources

        selected = self.content.selected()
        if len(selected) != 1 or self.content.rival.currentData() is None:
            return
        self._documents.settling.emit()
        document = self._document()
        sources = race_sources(
            document.text, document.folder, selected[0], self.content.rival.currentData(), title=document.title
        )
        self.ports.docks.raise_panel("plots")
        self.ports.session.run_together(sources)
        names = {policy.name for _flow, policy in policies_of(sources[0].scenario) if is_raced(policy.name)}
        self.ports.tell(tr("Your library keeps the policy that races: {names}", names=", ".join(sorted(names))))

    def promote(self) -> None:
        """Copies the best policy of the selected training run into the library."""
        selected = self.content.selected()
        path = self.content.promote()
        if path is not None:
            name, controller = path.stem, selected[0].controller
            flows = self._flows_for(controller)
            use = partial(self._use, name, controller, flows) if flows else None
            self._notices.promoted(name, controller, use)

    def use(self) -> None:
        """Copies the best policy of the selected training run into the library, and uses it in the open scenario.

        Raises:
            InputError: if no flow of the scenario can use the controller of the policy.
        """
        selected = self.content.selected()
        if len(selected) != 1:
            return
        self._documents.settling.emit()
        controller = selected[0].controller
        flows = self._flows_for(controller)
        if not flows:
            raise InputError(tr("No flow of the scenario can use {controller}: add one.", controller=controller))
        path = self.content.promote(asks=False)
        if path is not None:
            self._use(path.stem, controller, flows)

    def _flows_for(self, controller: str) -> list[str]:
        """Flows of the open scenario that use a controller, or else all flows that can."""
        scenario = self._documents.doc.scenario
        if scenario is None:
            return []
        own = [name for name, flow in scenario.flows.items() if flow.controller.name == controller]
        catalog = app_catalog(scenario)
        return own or [
            name
            for name, flow in scenario.flows.items()
            if not flow.sends_datagrams and controller in catalog.controllers_for(is_multipath=flow.kind == "mptcp")
        ]

    def _use(self, name: str, controller: str, flows: Sequence[str]) -> None:
        """Sets the policy in flows of the open scenario, as one undo step."""
        doc, stack = self._documents.doc, self._documents.undo_stack
        stack.beginMacro(tr("Use the policy {name}", name=name))
        for flow in flows:
            set_value(stack, doc, f"flows.{flow}.controller", {"name": controller, "policy": name})
        stack.endMacro()
        self.ports.tell(
            tr("{name} is now the policy of {flows}; Undo takes it back.", name=name, flows=", ".join(flows))
        )

    def may_close(self) -> bool:
        """Asks whether to stop active training runs or leave them running; returns False to keep the window open."""
        desk = self.desk
        if desk is None or not desk.is_busy or self._is_left:
            return True
        count = sum(not training.state.is_over for training in desk.trainings())
        answer = self.ports.dialogs.ask_trainings(count)
        if answer == "background":
            desk.leave_running()
            self._is_left = True
        elif answer == "stop":
            desk.stop_all()
            self._closes_when_ended = True
            self.ports.tell(tr("Waiting for the last checkpoints…"))
        return answer == "background"

    def close(self) -> None:
        """Closes the training service; `may_close` has already determined whether its processes continue."""
        if self.shown is not None:
            self.shown.let_go()

    # ---- updates ----

    def _on_database_settled(self, _store_or_error: object) -> None:
        if self._is_wanted:
            self._open()

    def _open(self) -> None:
        store = self._database.writable
        # Done in the background, because all reports since the last session are read.
        self.ports.workers.start(
            "open trainings",
            lambda: self.ports.desk_maker(store),
            succeeded=lambda desk: self._on_opened(store, desk),
            failed=self._on_open_failed,
        )

    def _on_opened(self, store: Store | None, desk: Trainings) -> None:
        if store is not (self._database.writable):
            # A different database was opened in the meantime, and its training runs are also being opened.
            desk.close()
            return
        self.content.open(desk)
        self.content.load_choices()
        self._on_document_edited()

    def _on_open_failed(self, error: Exception) -> None:
        self._notices.training_failed(str(error))

    def _on_document_edited(self) -> None:
        if self.shown is not None:
            self.shown.set_document(self._document())

    def _on_selection_changed(self) -> None:
        self.ports.bar.set_word("train.toggle", self.content.toggle_word)
        self.changed.emit()

    def _document(self) -> DocumentText:
        from subflow_app.features.training.core.training_draft import DocumentText

        doc = self._documents.doc
        folder = doc.path.parent if doc.path is not None else None
        return DocumentText(self._documents.name, doc.text, folder)

    def _on_ended(self, training: Training) -> None:
        if training.state in (JobState.FAILED, JobState.INTERRUPTED):
            self._notices.training_failed(
                f"{training.name} {tr(training.state.value)}: {problem_text(training.message)}"
            )
        self.ports.tell(f"{training.name}: {tr(training.state.value)}")
        self.ended.emit(training)
        if self._closes_when_ended and not self.is_busy:
            self._closes_when_ended = False
            # Deferred, because other slots of this signal have not handled the end yet.
            QTimer.singleShot(0, self, self.ports.close)


def open_desk(store: Store | None) -> Trainings:
    """Opens the training runs of a database; called in a worker thread, because it imports the training packages."""
    from subflow_app.features.training.core.trainings import Trainings

    return Trainings(store)


def rows() -> Iterator[ActionSpec[FeatureHolder]]:
    """Entries of the Train menu."""
    yield ActionSpec(
        "train.show",
        "Show the &trainings",
        "Show the page on which agents are trained, and their trainings",
        "train",
        (),
        lambda w, _: w.features[TrainingSession].ports.workspaces.go_to(TrainingSession.panel_name),
    )
    yield ActionSpec(
        "train.start",
        "&Start training",
        "Train an agent with the settings of the Train page; several trainings can run at once",
        "train",
        ("F9",),
        lambda w, _: w.features[TrainingSession].start(),
        (possible("train.start", translatable("open the Train page first: its form defines the training")),),
        Scope.TRAINING,
    )
    yield ActionSpec(
        "train.toggle",
        "&Pause",
        "Pause the selected trainings, resume them, or continue interrupted ones from their last checkpoint",
        "pause",
        ("Shift+F9",),
        lambda w, _: w.features[TrainingSession].content.toggle(),
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
        lambda w, _: w.features[TrainingSession].content.command("stop"),
        (possible("train.stop", translatable("no selected training is running")),),
        Scope.TRAINING,
    )
    yield ActionSpec(
        "train.checkpoint",
        "Write &checkpoint",
        "Write checkpoints of the selected trainings now",
        "checkpoint",
        ("Ctrl+Shift+K",),
        lambda w, _: w.features[TrainingSession].content.command("checkpoint"),
        (possible("train.checkpoint", translatable("no selected training is running")),),
        Scope.TRAINING,
    )
    yield ActionSpec(
        "train.evaluate",
        "&Evaluate now",
        "Compare the selected trainings with the classic controllers on held-out seeds now",
        "evaluate",
        ("F8",),
        lambda w, _: w.features[TrainingSession].content.command("evaluate"),
        (possible("train.evaluate", translatable("no selected training is running")),),
        Scope.TRAINING,
    )
    yield ActionSpec(
        "train.race",
        "&Race",
        "Run the scenario in the window with the policy of the selected training and with another controller",
        "race",
        ("Shift+F8",),
        lambda w, _: w.features[TrainingSession].race(),
        (
            possible("train.race", translatable("select one training on the Train page that has a policy")),
            COMPLETE,
            VALID,
            NOT_RUNNING,
        ),
        Scope.TRAINING,
    )
    yield ActionSpec(
        "train.use",
        "&Use in this scenario",
        "Put the best policy of the selected training into your library, and use it in the scenario in the window",
        "accept",
        (),
        lambda w, _: w.features[TrainingSession].use(),
        (possible("train.use", translatable("select one training on the Train page that has a policy")), VALID),
        Scope.TRAINING,
    )
    yield ActionSpec(
        "train.promote",
        "Promote to &library…",
        "Put the best policy of the selected training into your library, where every scenario can name it",
        "promote",
        (),
        lambda w, _: w.features[TrainingSession].promote(),
        (possible("train.promote", translatable("select one training on the Train page that has a policy")),),
        Scope.TRAINING,
    )
    yield ActionSpec(
        "train.export_figure",
        "E&xport the curves…",
        "Write the curves of the selected trainings, or the picture of the policy, to a file for a paper",
        "export_figure",
        (),
        lambda w, _: w.features[TrainingSession].export_figure(),
        (possible("train.export_figure", translatable("select a training with curves on the Train page")),),
        Scope.TRAINING,
    )
