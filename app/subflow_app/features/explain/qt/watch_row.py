"""The line in which a watch is written, and the watches there are, each with a button that removes it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QLineEdit, QPushButton, QToolButton, QWidget

from subflow_app.toolkit.icons import icon
from subflow_app.toolkit.plain_text import as_written
from subflow_app.toolkit.widgets.problem_label import ProblemLabel
from subflow_app.toolkit.widgets.shorthand import h_box, named, v_box
from subflow_app.vocabulary.language import tr

if TYPE_CHECKING:
    from subflow_app.features.explain.core.watches import Watch

_MOST_LETTERS = 24


class WatchRow(QWidget):
    """Asks for expressions and shows those that are watched."""

    asked = Signal(str)  # an expression shall be watched
    removed = Signal(object)  # Watch: no more

    def __init__(self, parent: QWidget | None = None) -> None:
        """Nothing is watched."""
        super().__init__(parent)
        self.problem = ProblemLabel("explain_watch_problem", 200, self)
        self.line = named(
            QLineEdit(self),
            "explain_watch",
            tr("Expression to watch"),
            tr("Its value at each decision of the script becomes a curve"),
        )
        self.line.setClearButtonEnabled(True)
        self.line.returnPressed.connect(self._ask)
        self.line.textEdited.connect(lambda _text: self.problem.say(""))
        self.button = named(QPushButton(tr("Watch"), self), "explain_watch_add")
        self.button.clicked.connect(self._ask)
        self._shown = h_box(None, spacing=4)
        v_box(self, h_box(None, (self.line, 1), self.button, self._shown), self.problem, margins=0, spacing=2)

    def set_names(self, names: Sequence[str]) -> None:
        """Tells what expressions may name; the first of them stand there as an example."""
        example = ", ".join(names[:3])
        self.line.setPlaceholderText(tr("Watch an expression over {names} …", names=example))

    def show_watches(self, watches: Sequence[Watch], share: float | None) -> None:
        """Shows these, and how much of the runs is simulated again for them, 0 to 1; None: nothing is."""
        buttons = self.buttons
        if [each.property("watch") for each in buttons] != list(watches):
            for button in buttons:
                self._shown.removeWidget(button)
                button.setParent(None)
                button.deleteLater()
            for watch in watches:
                self._shown.addWidget(self._made(watch))
        self.button.setText(tr("Watch") if share is None else tr("{percent} %", percent=round(100 * share)))

    @property
    def buttons(self) -> list[QToolButton]:
        """Those that remove watches."""
        return [each for each in self.findChildren(QToolButton) if each.objectName() == "explain_watched"]

    def _made(self, watch: Watch) -> QToolButton:
        text = watch.text if len(watch.text) <= _MOST_LETTERS else f"{watch.text[: _MOST_LETTERS - 1]}…"
        button = named(QToolButton(self), "explain_watched", tr("Do not watch {expression}", expression=watch.text))
        button.setToolTip(as_written(tr("Do not watch {expression}", expression=watch.text)))
        button.setText(text.replace("&", "&&"))
        button.setIcon(icon("close"))
        button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        button.setProperty("watch", watch)
        button.clicked.connect(lambda: self.removed.emit(watch))
        return button

    def _ask(self) -> None:
        self.problem.say("")
        self.asked.emit(self.line.text())
