"""From "Start training" to a policy in the library: joins page, trainings, scenario and runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QTimer, Signal

from subflow_app.core.jobs.progress import JobState
from subflow_app.core.scenarios.problem_texts import problem_text
from subflow_app.qt.feature import Feature
from subflow_app.qt.menus import TRAINING_MENU
from subflow_app.qt.widgets.lazy_panel import LazyPanel
from subflow_app.vocabulary.language import tr

if TYPE_CHECKING:
    # What knows trainings is imported where it is used: most sessions never train.
    from subflow_app.core.learning.training_draft import DocumentText
    from subflow_app.core.learning.training_progress import Training
    from subflow_app.core.learning.trainings import Trainings
    from subflow_app.qt.main_window import MainWindow
    from subflow_app.qt.training.page import TrainPage
    from subflow_store import Store

_ROOM = (420, 200)  # px, of the panel

DeskMaker = Callable[["Store | None"], "Trainings"]


class TrainingSession(Feature):
    """What happens around the trainings of one window, and the panel that shows them."""

    panel_name = "train"

    ended = Signal(object)  # Training, which is over in whatever way

    def __init__(self, window: MainWindow) -> None:
        """An empty panel."""
        super().__init__()
        self.window = window
        self.panel: LazyPanel = LazyPanel("train_page", tr("Training"), room=_ROOM)
        self._page: TrainPage | None = None
        self._bar = window.bar
        self._documents = window.documents
        self._database = window.database
        self._notices = window.notices
        self._tell = window.tell
        self.dialogs = window.dialogs
        self._workers = window.workers
        self._is_wanted = False
        self._is_left = False  # trainings may go on without the window
        self._closes_when_ended = False
        self.panel.first_shown.connect(lambda: self.page)
        self.panel.first_shown.connect(self._on_woken)
        window.database.opened.connect(self._on_database_settled)
        window.database.failed.connect(self._on_database_settled)
        window.documents.edited.connect(self._on_document_edited)

    # ---- what the window and its actions use ----

    @property
    def page(self) -> TrainPage:
        """What is in the panel; it comes when it is first asked for."""
        if self._page is None:
            from subflow_app.core.learning.training_progress import TRAINING_ACTIONS
            from subflow_app.qt.training.page import TrainPage

            actions = {name: self._bar[f"train.{name}"] for name in ("start", *TRAINING_ACTIONS)}
            page = self._page = TrainPage(self._workers, self.dialogs, actions)
            page.selection_changed.connect(self._on_selection_changed)
            page.menu_requested.connect(lambda position: self._bar.pop_up(TRAINING_MENU, position))
            page.failed.connect(self._notices.training_failed)
            page.told.connect(self._tell)
            page.ended.connect(self._on_ended)
            # Form and curves side by side are wider than the panel may be beside others on a small screen.
            self.panel.put_in(page, scrolls=True)
        return self._page

    @property
    def desk(self) -> Trainings | None:
        """The trainings, once they have been asked for."""
        return None if self._page is None else self._page.desk

    @property
    def is_busy(self) -> bool:
        """Whether any training goes on or waits for its turn."""
        return self.desk is not None and self.desk.is_busy

    def possible(self) -> frozenset[str]:
        """What can be done with the form, with the selected trainings, and that some can be waited for."""
        if self._page is None:
            return frozenset()
        found = {*self._page.possible(), *(["start"] if self._page.form is not None else ())}
        return frozenset(f"train.{what}" for what in (*found, *(["wait"] if self.is_busy else ())))

    def start(self) -> None:
        """Begins what the form says."""
        self._notices.training_began()
        # The title and text of this very moment: what is typed in the inspector but not entered counts too.
        self._documents.settling.emit()
        self._on_document_edited()
        self.page.start()

    def race(self) -> None:
        """Runs the scenario in the window with the policy of the selected training, then with the chosen rival."""
        from subflow_app.core.learning.race import race_sources

        selected = self.page.selected()
        if len(selected) != 1 or self.page.rival.currentData() is None:
            return
        self._documents.settling.emit()
        document = self._document()
        sources = race_sources(
            document.text, document.folder, selected[0], self.page.rival.currentData(), title=document.title
        )
        self.window.docks.raise_panel("plots")
        self.window.session.run_together(sources)

    def promote(self) -> None:
        """Puts the best policy of the selected training into the library."""
        selected = self.page.selected()
        path = self.page.promote()
        if path is not None:
            self._notices.promoted(path.stem, selected[0].controller)

    def may_close(self) -> bool:
        """Asks what is to become of trainings that go on; False if the window is to stay, for now or for good."""
        desk = self.desk
        if desk is None or not desk.is_busy or self._is_left:
            return True
        count = sum(not training.state.is_over for training in desk.trainings())
        answer = self.dialogs.ask_trainings(count)
        if answer == "background":
            desk.leave_running()
            self._is_left = True
        elif answer == "stop":
            desk.stop_all()
            self._closes_when_ended = True
            self.window.tell(tr("Waiting for the last checkpoints…"))
        return answer == "background"

    def close(self) -> None:
        """Lets go of the trainings; what is to become of their processes has been said."""
        if self._page is not None:
            self._page.let_go()

    # ---- facts ----

    def _on_woken(self) -> None:
        self._is_wanted = True
        if not self._database.is_opening:
            self._open()

    def _on_database_settled(self, _store_or_error: object) -> None:
        if self._is_wanted:
            self._open()

    def _open(self) -> None:
        store = self._database.writable
        # In the background: it reads what has gone on since the last session.
        self._workers.start(
            "open trainings",
            lambda: self.window.desk_maker(store),
            succeeded=lambda desk: self._on_opened(store, desk),
            failed=self._on_open_failed,
        )

    def _on_opened(self, store: Store | None, desk: Trainings) -> None:
        if store is not (self._database.writable):
            # Another database was opened meanwhile, and another desk is on its way.
            desk.close()
            return
        self.page.open(desk)
        self.page.load_choices()
        self._on_document_edited()

    def _on_open_failed(self, error: Exception) -> None:
        self._notices.training_failed(str(error))

    def _on_document_edited(self) -> None:
        if self._page is not None:
            self._page.set_document(self._document())

    def _on_selection_changed(self) -> None:
        self._bar.set_word("train.toggle", self.page.toggle_word)
        self.changed.emit()

    def _document(self) -> DocumentText:
        from subflow_app.core.learning.training_draft import DocumentText

        doc = self._documents.doc
        folder = doc.path.parent if doc.path is not None else None
        return DocumentText(self._documents.name, doc.text, folder)

    def _on_ended(self, training: Training) -> None:
        if training.state in (JobState.FAILED, JobState.INTERRUPTED):
            self._notices.training_failed(
                f"{training.name} {tr(training.state.value)}: {problem_text(training.message)}"
            )
        self.window.tell(f"{training.name}: {tr(training.state.value)}")
        self.ended.emit(training)
        if self._closes_when_ended and not self.is_busy:
            self._closes_when_ended = False
            # Not from inside the signal: others have not heard yet that it is over.
            QTimer.singleShot(0, self.window, self.window.close)


def open_desk(store: Store | None) -> Trainings:
    """Brings the trainings of a database; what training needs is imported by the thread that asks for it."""
    from subflow_app.core.learning.trainings import Trainings

    return Trainings(store)
