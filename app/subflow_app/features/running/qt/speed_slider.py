"""The speed of a run on a logarithmic scale, from slow motion to as fast as it goes."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QSlider, QWidget

from subflow_app.features.running.core.stepping import MOST_SPEED_STEPS, position_of, speed_at, speed_text
from subflow_app.vocabulary.language import tr

_WIDTH = 110


class SpeedSlider(QSlider):
    """A slider of the toolbar; arrow keys go by a tenth of a decade, page keys by a decade."""

    limit_chosen = Signal(object)  # float, simulated seconds per second at most; None: no limit

    def __init__(self, parent: QWidget | None = None) -> None:
        """Stands at no limit."""
        super().__init__(Qt.Orientation.Horizontal, parent)
        self.setObjectName("speed_slider")
        self.setRange(0, MOST_SPEED_STEPS)
        self.setPageStep(10)
        self.setFixedWidth(_WIDTH)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.show_limit(None)
        self.valueChanged.connect(self._on_moved)

    def show_limit(self, limit: float | None) -> None:
        """Stands where that speed is, and says it, without choosing it."""
        blocked = self.blockSignals(True)
        self.setValue(position_of(limit))
        self.blockSignals(blocked)
        said = speed_text(limit) or tr("as fast as possible")
        self.setToolTip(tr("Speed of the run: {speed}", speed=said))
        self.setAccessibleName(tr("Speed of the run"))
        self.setAccessibleDescription(said)

    def _on_moved(self, position: int) -> None:
        self.limit_chosen.emit(speed_at(position))
