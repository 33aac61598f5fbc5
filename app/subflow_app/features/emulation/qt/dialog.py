"""The dialog that chooses programs for the nodes of a drawn network, and lists what this computer lacks for them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QFontDatabase
from PySide6.QtWidgets import (
    QCheckBox,
    QDialog,
    QFrame,
    QLineEdit,
    QPlainTextEdit,
    QScrollArea,
    QSpinBox,
    QToolButton,
    QWidget,
)

from subflow_app.features.emulation.core.presets import PRESETS, Chosen, EmulationDraft
from subflow_app.foundation.errors import AppError
from subflow_app.toolkit.icons import icon
from subflow_app.toolkit.theme import muted
from subflow_app.toolkit.widgets.labels import ProblemLabel, SaidLine
from subflow_app.toolkit.widgets.shorthand import Choice, Label, accept_buttons, h_box, heading, named, timer, v_box
from subflow_app.toolkit.workers import LatestReader
from subflow_app.vocabulary.language import tr
from subflow_sim.errors import SimError

if TYPE_CHECKING:
    from subflow_app.features.emulation.core.readiness import Readiness
    from subflow_app.toolkit.workers import Workers

_PATIENCE_MS = 250
_MOST_SECONDS = 86_400
_MOST_ROWS = 12
_SIZE, _LEAST = QSize(740, 400), QSize(563, 378)
_NODE_LETTERS = 9
_LIST_LINES = 5


@dataclass(frozen=True, slots=True)
class EmulationSubject:
    """The scenario of an emulation, and its initial choices.

    Attributes:
        title: title of the scenario.
        nodes: names of the nodes that can run programs.
        draft: initial contents of the dialog.
        new: initial content of a further row.
        check: checks the contents of the dialog; called in a worker thread.
    """

    title: str
    nodes: Sequence[str]
    draft: EmulationDraft
    new: Chosen
    check: Callable[[EmulationDraft], Readiness]


class PresetRow(QWidget):
    """One chosen preset: its name, its nodes, and its text."""

    changed = Signal()
    removed = Signal()

    def __init__(self, number: int, chosen: Chosen, nodes: Sequence[str], parent: QWidget | None = None) -> None:
        """Show a preset; `number` distinguishes the object names of several rows."""
        super().__init__(parent)
        named(self, f"emulation_row_{number}")
        presets = [(key, tr(preset.title)) for key, preset in PRESETS.items()]
        self.preset = Choice(f"emulation_preset_{number}", presets, self, text=tr("Program"))
        pairs = [(node, node) for node in nodes]
        self.node = Choice(f"emulation_node_{number}", pairs, self, text=tr("Node"), letters=_NODE_LETTERS)
        self.peer = Choice(f"emulation_peer_{number}", pairs, self, text=tr("Second node"), letters=_NODE_LETTERS)
        self._on, self._to = Label(tr("on"), self), Label("→", self)
        self.text = named(QLineEdit(self), f"emulation_text_{number}")
        self.text.setMinimumWidth(60)
        self.remove = named(QToolButton(self, autoRaise=True), f"emulation_remove_{number}", tr("Remove this program"))
        self.remove.setIcon(icon("close"))
        self.remove.setToolTip(self.remove.accessibleName())
        # The text keeps its place while it is hidden, so that the buttons of all rows stay below each other.
        policy = self.text.sizePolicy()
        policy.setRetainSizeWhenHidden(True)
        self.text.setSizePolicy(policy)
        parts = (self.preset, self._on, self.node, self._to, self.peer, (self.text, 1))
        h_box(self, *parts, self.remove, margins=0, spacing=6)
        self.preset.choose(chosen.preset)
        self.node.choose(chosen.node)
        self.peer.choose(chosen.peer)
        self._show_preset()
        if chosen.text:
            self.text.setText(chosen.text)
        self.preset.currentIndexChanged.connect(self._on_preset)
        self.node.currentIndexChanged.connect(self.changed)
        self.peer.currentIndexChanged.connect(self.changed)
        self.text.textChanged.connect(self.changed)
        self.remove.clicked.connect(self.removed)

    @property
    def chosen(self) -> Chosen:
        """The current content of the row."""
        preset = PRESETS[self._key]
        peer = str(self.peer.currentData()) if preset.has_peer else ""
        text = self.text.text() if preset.text else ""
        return Chosen(self._key, str(self.node.currentData()), peer, text)

    @property
    def _key(self) -> str:
        return str(self.preset.currentData())

    def _on_preset(self) -> None:
        self.text.clear()
        self._show_preset()
        self.changed.emit()

    def _show_preset(self) -> None:
        preset = PRESETS[self._key]
        self.preset.setToolTip(tr(preset.tip))
        self._on.setVisible(not preset.has_peer)
        for part in (self._to, self.peer):
            part.setVisible(preset.has_peer)
        self.text.setVisible(bool(preset.text))
        words = tr(preset.text) if preset.text else ""
        self.text.setAccessibleName(words)
        self.text.setPlaceholderText(words)
        if not self.text.text():
            self.text.setText(preset.default)


class EmulationDialog(QDialog):
    """Asks for programs; `started` carries the checked contents."""

    started = Signal(object)  # EmulationDraft

    def __init__(self, subject: EmulationSubject, workers: Workers, parent: QWidget | None = None) -> None:
        """Show the initial choices, and check them at once."""
        super().__init__(parent)
        self.setObjectName("emulation_dialog")
        self.setWindowTitle(tr("On this computer"))
        self._subject = subject
        self._checked: tuple[EmulationDraft, Readiness] | None = None
        self._next_number = 1
        self.rows: list[PresetRow] = []
        self._reader = LatestReader(workers, self, "check emulation")
        self._reader.read.connect(lambda found: self._on_checked(*found))
        self._reader.failed.connect(self._on_refused)
        self._timer = timer(self, self._check, _PATIENCE_MS, is_single=True)
        text = tr(
            "The programs run unchanged on this computer. Their packets cross links that Subflow emulates as drawn; "
            "nothing outside this network can be reached, and nothing remains of it afterwards."
        )
        promise = muted(Label(text, self, wordWrap=True))
        self._list = QWidget(self)
        self._rows_layout = v_box(self._list, None, margins=0, spacing=6)
        scroll = named(QScrollArea(self), "emulation_rows", tr("Programs"))
        scroll.setFrameShape(QFrame.Shape.NoFrame)
        scroll.setWidgetResizable(True)
        scroll.setWidget(self._list)
        self.add = named(QToolButton(self, autoRaise=True), "emulation_add")
        self.add.setText(tr("Add a program"))
        self.add.setIcon(icon("add"))
        self.add.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.add.clicked.connect(lambda: self._add_row(subject.new))
        self.mptcp = named(QCheckBox(tr("Programs use &MPTCP"), self), "emulation_mptcp")
        tip = tr("TCP connections become MPTCP connections over all paths; not those of statically linked programs")
        self.mptcp.setToolTip(tip)
        self.mptcp.setChecked(subject.draft.mptcp)
        self.mptcp.toggled.connect(self._on_edited)
        self.seconds = named(QSpinBox(self), "emulation_seconds", tr("Length of the run"))
        self.seconds.setRange(1, _MOST_SECONDS)
        self.seconds.setSuffix(" s")
        self.seconds.setValue(subject.draft.seconds)
        self.seconds.valueChanged.connect(self._on_edited)
        length = Label(tr("&Length"), self)
        length.setBuddy(self.seconds)
        self.commands = named(QPlainTextEdit(self, readOnly=True), "emulation_commands", tr("Commands to be started"))
        self.commands.setFont(QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont))
        self.commands.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.commands.setTabChangesFocus(True)
        self.commands.setFixedHeight((_LIST_LINES + 1) * self.commands.fontMetrics().lineSpacing())
        self.notes = muted(SaidLine("emulation_notes", self))
        self.problem = ProblemLabel("emulation_problem", _LEAST.width(), self)
        buttons, self.start = accept_buttons(self, tr("Start the programs"), self._on_start)
        self.start.setObjectName("emulation_start")
        options = h_box(None, self.add, None, self.mptcp, 12, length, self.seconds, margins=0)
        v_box(
            self,
            heading(Label(subject.title, self, wordWrap=True), 1.2),
            promise,
            (scroll, 1),
            options,
            self.commands,
            self.notes,
            self.problem,
            buttons,
            spacing=8,
        )
        for chosen in subject.draft.choices:
            self._add_row(chosen)
        self.setMinimumSize(_LEAST)
        self.resize(_SIZE)
        self.start.setFocus()
        self._check()

    @property
    def draft(self) -> EmulationDraft:
        """The current contents."""
        return EmulationDraft(tuple(row.chosen for row in self.rows), self.seconds.value(), self.mptcp.isChecked())

    @property
    def readiness(self) -> Readiness | None:
        """The check of the current contents; None until it is known, or if the contents were refused."""
        return self._checked[1] if self._checked is not None and self._checked[0] == self.draft else None

    def done(self, result: int) -> None:
        """Close the dialog, and cancel a check."""
        self._timer.stop()
        self._reader.forget()
        super().done(result)

    # ---- rows ----

    def _add_row(self, chosen: Chosen) -> None:
        row = PresetRow(self._next_number, chosen, self._subject.nodes, self._list)
        self._next_number += 1
        row.changed.connect(self._on_edited)
        row.removed.connect(lambda: self._remove_row(row))
        self._rows_layout.insertWidget(len(self.rows), row)
        self.rows.append(row)
        row.show()
        self._on_edited()

    def _remove_row(self, row: PresetRow) -> None:
        self.rows.remove(row)
        row.hide()
        row.setParent(None)
        row.deleteLater()
        self.add.setFocus()
        self._on_edited()

    def _on_edited(self) -> None:
        self.add.setEnabled(len(self.rows) < _MOST_ROWS)
        self.start.setEnabled(False)
        self._timer.start()

    # ---- check ----

    def _check(self) -> None:
        draft = self.draft
        self._reader.ask(lambda _is_given_up: (draft, self._subject.check(draft)), is_other=True)

    def _on_checked(self, draft: EmulationDraft, found: Readiness) -> None:
        self._checked = draft, found
        if self.readiness is None:
            return  # edited in the meantime
        lines = [f"{each.node}: {each.text}" for each in found.programs]
        self.commands.setPlainText("\n".join(lines))
        self.notes.say("\n".join(found.notes))
        self.problem.say("\n".join(found.reasons))
        self.start.setEnabled(not found.reasons)

    def _on_refused(self, error: Exception) -> None:
        if not isinstance(error, AppError | SimError):
            raise error
        self.commands.clear()
        self.notes.say("")
        self.problem.say(str(error))

    def _on_start(self) -> None:
        found = self.readiness
        if found is not None and not found.reasons:
            self.started.emit(self.draft)
            self.accept()
