"""The panel with the programs of an emulation: their output, their ends, and a line for further commands."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QFontDatabase
from PySide6.QtWidgets import QLineEdit, QPlainTextEdit, QToolButton, QWidget

from subflow_app.features.emulation.core.program_log import MOST_LINES
from subflow_app.toolkit import format as fmt
from subflow_app.toolkit.icons import icon
from subflow_app.toolkit.theme import muted
from subflow_app.toolkit.widgets.labels import ElidedLabel
from subflow_app.toolkit.widgets.shorthand import Choice, h_box, named, v_box
from subflow_app.vocabulary.language import tr

if TYPE_CHECKING:
    from subflow_app.features.emulation.core.program_log import ProgramLine, ProgramLog, ProgramState

_ALL = -1
_LETTERS = 14


class ProgramsPanel(QWidget):
    """The programs of the latest emulation; `start_wanted` carries a node and a command, `end_wanted` a number."""

    start_wanted = Signal(str, str)
    end_wanted = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        """Start without programs."""
        super().__init__(parent)
        self.setObjectName("programs_view")
        self._log: ProgramLog | None = None
        self._states: tuple[ProgramState, ...] = ()
        self._next = 0
        self._lines: list[ProgramLine] = []
        self._is_running = False
        self.program = Choice("programs_program", parent=self, text=tr("Program"), letters=_LETTERS)
        self.program.currentIndexChanged.connect(self._show_all)
        self.end = named(QToolButton(self, autoRaise=True), "programs_end", tr("End this program"))
        self.end.setIcon(icon("stop", "error"))
        self.end.setToolTip(self.end.accessibleName())
        self.end.clicked.connect(lambda: self.end_wanted.emit(int(self.program.currentData())))
        self.state = named(muted(ElidedLabel(self, Qt.TextElideMode.ElideRight)), "programs_state")
        self.text = named(QPlainTextEdit(self, readOnly=True), "programs_text", tr("Output of the programs"))
        self.text.setFrameShape(QPlainTextEdit.Shape.NoFrame)
        self.text.setFont(QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont))
        self.text.setMaximumBlockCount(MOST_LINES)
        self.text.setPlaceholderText(tr("Run › On this computer… starts programs on the nodes of the network."))
        self.node = Choice("programs_node", parent=self, text=tr("Node"), letters=8)
        self.command = named(QLineEdit(self), "programs_command", tr("Command to start now"))
        self.command.setPlaceholderText(tr("Command to start now"))
        self.command.returnPressed.connect(self._on_start)
        self.command.textChanged.connect(self._show_states)
        self.start = named(QToolButton(self, autoRaise=True), "programs_start", tr("Start the command"))
        self.start.setIcon(icon("run", "ok"))
        self.start.setToolTip(self.start.accessibleName())
        self.start.clicked.connect(self._on_start)
        head = h_box(None, self.program, self.end, (self.state, 1), margins=(6, 4, 6, 4), spacing=6)
        foot = h_box(None, self.node, (self.command, 1), self.start, margins=(6, 4, 6, 4), spacing=6)
        v_box(self, head, (self.text, 1), foot, margins=0, spacing=0)
        self.setFocusProxy(self.command)
        self._show_states()

    def show_log(self, log: ProgramLog, nodes: Sequence[str]) -> None:
        """Show the programs of a run that starts now."""
        self._log, self._next, self._lines, self._states = log, 0, [], ()
        self._is_running = True
        self.program.clear()
        self.program.addItem(tr("All programs"), _ALL)
        self.node.clear()
        for name in nodes:
            self.node.addItem(name, name)
        self.text.clear()
        self.refresh()

    def refresh(self) -> None:
        """Show new lines and states."""
        log = self._log
        if log is None:
            return
        states, count = log.states, log.count
        new = log.since(self._next)
        self._next = count
        self._lines = [*self._lines, *new][-MOST_LINES:]
        if states != self._states:
            self._states = states
            for state in states:
                if state.number + 1 >= self.program.count():
                    self.program.addItem("", state.number)
                self.program.setItemText(state.number + 1, f"{state.program.node}: {state.program.name}")
        self._append([line for line in new if self._matches(line)])
        self._show_states()

    def end_run(self) -> None:
        """Show that the run has ended."""
        self._is_running = False
        self.refresh()

    # ---- internals ----

    @property
    def _chosen(self) -> ProgramState | None:
        number = self.program.currentData()
        return self._states[number] if number is not None and 0 <= number < len(self._states) else None

    def _matches(self, line: ProgramLine) -> bool:
        return self.program.currentData() in (_ALL, line.number) or line.number < 0

    def _show_all(self) -> None:
        self.text.clear()
        self._append([line for line in self._lines if self._matches(line)])
        self._show_states()

    def _append(self, lines: Sequence[ProgramLine]) -> None:
        if not lines:
            return
        bar = self.text.verticalScrollBar()
        was_at_end = bar.value() == bar.maximum()
        has_names = self.program.currentData() == _ALL
        # `appendPlainText` never interprets markup.
        for line in lines:
            name = self._states[line.number].program.name if line.number >= 0 else ""
            parts = (name if has_names else "", "⚠" if line.is_notice else "", line.text)
            self.text.appendPlainText(" │ ".join(filter(None, parts)))
        if was_at_end:
            bar.setValue(bar.maximum())

    def _show_states(self) -> None:
        chosen, running = self._chosen, sum(state.code is None for state in self._states)
        if chosen is not None:
            text = f"{chosen.program.text} · {_words(chosen)}" if self._is_running or chosen.code is not None else ""
        elif not self._states:
            text = tr("Making the network…") if self._is_running else ""
        elif running and self._is_running:
            text = tr("{running} of {count} run", running=running, count=len(self._states))
        else:
            text = " · ".join(f"{state.program.name} {_words(state)}" for state in self._states)
        self.state.setText(text)
        self.end.setEnabled(self._is_running and chosen is not None and chosen.code is None)
        for part in (self.node, self.command):
            part.setEnabled(self._is_running)
        self.start.setEnabled(self._is_running and bool(self.command.text().strip()))

    def _on_start(self) -> None:
        if self.start.isEnabled():
            self.start_wanted.emit(str(self.node.currentData()), self.command.text())
            self.command.clear()


def _words(state: ProgramState) -> str:
    """The state of a program in words."""
    if state.code is None or state.ended_s is None:
        return tr("runs")
    at = fmt.time(state.ended_s)
    if state.code == 0:
        return tr("ended at {time}", time=at)
    if state.code < 0:
        return tr("ended by signal {number} at {time}", number=-state.code, time=at)
    return tr("ended with code {code} at {time}", code=state.code, time=at)
