"""The trainings of the window: polls them at display rate, and does with the selected ones what the actions ask for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Signal

from subflow_app.core.errors import AppError
from subflow_sim.errors import SimError
from subflow_store import StoreError

if TYPE_CHECKING:
    # What knows trainings is imported where it is used: most sessions never train.
    from subflow_app.core.jobs.progress import JobState
    from subflow_app.core.learning.training_desk import DocumentText, TrainingDesk
    from subflow_app.core.learning.training_draft import TrainingOrder
    from subflow_app.core.learning.training_progress import Training

# Ten pictures a second: reports come slower than that, and a curve of minutes needs no more.
POLL_INTERVAL_MS = 100


class TrainingControl(QObject):
    """Knows the desk; widgets know this."""

    changed = Signal()  # a training came, went, or told something
    state_changed = Signal()  # what can be done may be different
    failed = Signal(str)  # something asked for did not work
    ended = Signal(object)  # Training, which is over in whatever way

    def __init__(self, parent: QObject) -> None:
        """No desk yet: :meth:`open` brings one."""
        super().__init__(parent)
        self._desk: TrainingDesk | None = None
        self._states: dict[str, JobState] = {}
        self._timer = QTimer(self)
        self._timer.setInterval(POLL_INTERVAL_MS)
        self._timer.timeout.connect(self._on_tick)

    @property
    def desk(self) -> TrainingDesk | None:
        """Where trainings are kept."""
        return self._desk

    @property
    def trainings(self) -> Sequence[Training]:
        """All trainings, newest first."""
        return self._desk.trainings() if self._desk is not None else ()

    @property
    def is_busy(self) -> bool:
        """Whether any training goes on or waits for its turn."""
        return self._desk is not None and self._desk.is_busy

    def open(self, desk: TrainingDesk) -> None:
        """Shows the trainings of this desk from now on."""
        self.close()
        self._desk = desk
        self._states = {training.id: training.state for training in desk.trainings()}
        self._timer.start()
        self.changed.emit()
        self.state_changed.emit()

    def close(self) -> None:
        """Lets go of the desk; what is to become of its processes has been said."""
        self._timer.stop()
        if self._desk is not None:
            self._desk.close()
            self._desk = None

    def start(self, order: TrainingOrder, document: DocumentText) -> Training | None:
        """Begins a training; None, and a reason told, if it cannot be."""
        desk = self._desk
        started: list[Training] = []
        if desk is not None:
            self._do(lambda: started.append(desk.start(order, document)))
        return started[0] if started else None

    def toggle(self, trainings: Sequence[Training]) -> None:
        """Pauses, resumes or continues, as :func:`toggle_word` says."""
        from subflow_app.core.learning.training_progress import toggle_word

        desk = self._desk
        if desk is None:
            return
        act = {"&Pause": desk.pause, "&Resume": desk.resume, "&Continue": desk.go_on}[toggle_word(trainings)]
        self.each(trainings, act)

    def each(self, trainings: Sequence[Training], act: Callable[[Training], None]) -> None:
        """Does something with each of these trainings; the first that fails is told, the others are done."""
        for training in trainings:
            self._do(lambda training=training: act(training))  # type: ignore[misc] # mypy: no default in lambdas

    def load_logs(self, trainings: Sequence[Training]) -> None:
        """Reads the curves of trainings of earlier sessions."""
        if self._desk is not None:
            self.each(trainings, self._desk.load_log)

    # ---- inside ----

    def _do(self, act: Callable[[], object]) -> None:
        try:
            act()
        except (AppError, SimError, StoreError) as error:
            self.failed.emit(str(error))
        self._tell()

    def _on_tick(self) -> None:
        if self._desk is not None and self._desk.poll():
            self._tell()

    def _tell(self) -> None:
        states = {training.id: training.state for training in self.trainings}
        before, self._states = self._states, states
        self.changed.emit()
        if states != before:
            self.state_changed.emit()
        for training in self.trainings:
            was = before.get(training.id)
            if was is not None and not was.is_over and training.state.is_over:
                self.ended.emit(training)
