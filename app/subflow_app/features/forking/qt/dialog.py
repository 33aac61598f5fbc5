"""The dialog for the time and the changes of a fork, which edits a `ForkDraft`."""

from __future__ import annotations

import json
from functools import partial

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QDialog,
    QFormLayout,
    QGridLayout,
    QLabel,
    QLineEdit,
    QToolButton,
    QWidget,
)

from subflow_app.features.editor.core.form import change_labels
from subflow_app.features.forking.core.draft import BOTH, FLOWS, LINKS, ForkDraft, Target
from subflow_app.features.forking.core.plan import ForkPlan
from subflow_app.toolkit.theme import muted, set_style
from subflow_app.toolkit.widgets.labels import ProblemLabel
from subflow_app.toolkit.widgets.shorthand import Choice, Label, accept_buttons, h_box, heading, named, v_box
from subflow_app.vocabulary.language import tr
from subflow_app.vocabulary.link_ways import way_words

_WIDTH = 460


class ForkDialog(QDialog):
    """The dialog "What if…", which emits `started` with the plan."""

    started = Signal(object)  # ForkPlan

    def __init__(self, draft: ForkDraft, key: str = "", parent: QWidget | None = None) -> None:
        """Show a draft, and select the link or flow ``key`` if it exists."""
        super().__init__(parent)
        self.setObjectName("fork_dialog")
        self.setWindowTitle(tr("What if…"))  # english: keep, the name of the feature
        self.setMinimumWidth(_WIDTH)
        self._draft = draft
        origin = draft.origin
        numbered = tr("{name} (run {number})", name=origin.name, number=origin.run_id)
        title = named(Label(origin.name if origin.run_id is None else numbered, self, wordWrap=True), "fork_run")
        heading(title)
        text = tr("Until then the fork equals this run; from then on it has your changes and the same random numbers.")
        hint = named(muted(Label(text, self, wordWrap=True)), "fork_hint")
        self.notice = named(Label(draft.origin.notice, self, wordWrap=True), "fork_notice")
        set_style(self.notice, lambda t: f"color: {t.text}; background: {t.warning_fill}; padding: 4px;")
        self.notice.setVisible(bool(draft.origin.notice))
        self.time = named(QLineEdit(draft.time_text, self), "fork_time", tr("Time of the fork"))
        self.time.textChanged.connect(self._on_time)
        self.time.editingFinished.connect(lambda: self.time.setText(ForkDraft.completed_time(self.time.text())))
        self._time_problem = ProblemLabel("fork_time_problem", _WIDTH // 2, self)
        self.thing = Choice("fork_thing", parent=self, text=tr("Link or flow to change"))
        for each in draft.changeable():
            section, _, name = each.partition(".")
            self.thing.addItem(tr("Link {name}", name=name) if section == LINKS else tr("Flow {name}", name=name), each)
        self.thing.choose(key)
        self.thing.currentIndexChanged.connect(self._show_thing)
        self._form = QFormLayout()
        self._form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.ExpandingFieldsGrow)
        texts = [tr("At"), tr("Change"), tr("Direction"), *change_labels().values()]
        self._label_width = max(self.fontMetrics().horizontalAdvance(text) for text in texts)
        self._form.addRow(self._label(tr("At")), self.time)
        self._form.addRow("", self._time_problem)
        self._form.addRow(self._label(tr("Change")), self.thing)
        self._part = QWidget(self)
        self._summary = named(Label(self, wordWrap=True), "fork_summary")
        self._summary.setMinimumHeight(2 * self._summary.fontMetrics().lineSpacing())
        self._summary.setAlignment(Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignLeft)
        buttons, self.start = accept_buttons(self, tr("Start the fork"), self._on_start)
        self.start.setObjectName("fork_start")
        self._changes = named(QWidget(self), "fork_changes")
        self._shown_changes: list[str] = []
        self.removers: list[QToolButton] = []  # buttons that take back the changes, in their order
        v_box(self._changes, heading(Label(tr("Changes"), self._changes)), margins=0, spacing=2)
        parts = (title, hint, self.notice, self._form, self._part, self._changes, None, self._summary, buttons)
        self._layout = v_box(self, *parts)
        self._fields: dict[str, QLineEdit] = {}
        self._problems: dict[str, ProblemLabel] = {}
        self.direction: QComboBox | None = None
        self.controller: QComboBox | None = None
        self._show_thing()

    @property
    def summary(self) -> str:
        """The displayed description of the fork."""
        return self._summary.text()

    def field(self, key: str) -> QLineEdit:
        """The field for a value of the selected link; raises KeyError for other keys, or if a flow is selected."""
        return self._fields[key]

    # ---- internals ----

    def _label(self, text: str) -> QLabel:
        label = Label(text, self)
        label.setMinimumWidth(self._label_width)
        return label

    def _target(self, subflow: int | None = None) -> Target:
        section, _, name = str(self.thing.currentData()).partition(".")
        direction = BOTH if self.direction is None else str(self.direction.currentData())
        return Target(section, name, direction if section == LINKS else BOTH, subflow)

    def _show_thing(self) -> None:
        """Create the fields of the selected link or flow."""
        self.direction = self.controller = None
        self._fields.clear()
        self._problems.clear()
        part = named(QWidget(self), "fork_values")
        section = str(self.thing.currentData()).partition(".")[0]
        if section == LINKS:
            self._make_link(part)
        elif section == FLOWS:
            self._make_flow(part)
        old = self._layout.replaceWidget(self._part, part)
        if old is not None:
            self._part.setParent(None)
            self._part.deleteLater()
        self._part = part
        part.show()
        self._show_state()

    def _make_link(self, part: QWidget) -> None:
        form = QFormLayout(part)
        form.setContentsMargins(0, 0, 0, 0)
        form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.ExpandingFieldsGrow)
        words = way_words(self._draft.origin.scenario, str(self.thing.currentData()).partition(".")[2])
        self.direction = Choice("fork_direction", words.items(), part, text=tr("Direction"), letters=20)
        form.addRow(self._label(tr("Direction")), self.direction)
        self.up = named(QCheckBox(tr("In service"), part), "fork_up")
        self.up.clicked.connect(lambda is_up: self._set("up", is_up))
        form.addRow("", self.up)
        for key, label in change_labels().items():
            field = named(QLineEdit(part), f"fork_{key}", label)
            field.textEdited.connect(partial(self._set, key))
            field.editingFinished.connect(partial(self._complete, key))
            self._fields[key] = field
            form.addRow(self._label(label), field)
            self._problems[key] = ProblemLabel(f"fork_{key}_problem", _WIDTH // 2, part)
            form.addRow("", self._problems[key])
        self.direction.currentIndexChanged.connect(self._show_link)
        self._show_link()

    def _show_link(self) -> None:
        """Show the values of the fork in the selected direction."""
        shown = self._draft.shown(self._target())
        self.up.setChecked(shown["up"] is True)
        for key, field in self._fields.items():
            field.setText(str(shown[key]))
        self._show_state()

    def _make_flow(self, part: QWidget) -> None:
        grid = QGridLayout(part)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setColumnStretch(0, 1)
        flow = self._draft.origin.scenario.flows[self._target().name]
        present = self._draft.shown(self._target())
        controllers = self._draft.controllers(flow.name)
        if controllers:
            names = ((name, name) for name in controllers)
            box = self.controller = Choice("fork_controller", names, part, text=tr("Controller"))
            box.choose(_name_of(present["controller"]))
            self.options = named(QLineEdit(_options_of(present["controller"]), part), "fork_options")
            self.options.setAccessibleName(tr("Options of the controller"))
            self._problems["controller"] = ProblemLabel("fork_options_problem", _WIDTH // 2, part)
            # Options belong to one controller, so a new controller begins with its defaults.
            box.currentIndexChanged.connect(lambda _index: self.options.clear())
            box.currentIndexChanged.connect(lambda _index: self._set_controller())
            self.options.textEdited.connect(lambda _text: self._set_controller())
            text = tr("Learned controllers are not in the list: they stay for the whole run.")
            learned = named(muted(Label(text, part, wordWrap=True)), "fork_learned")
            form = QFormLayout()
            form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.ExpandingFieldsGrow)
            form.addRow(self._label(tr("Controller")), box)
            form.addRow(self._label(tr("Options")), self.options)
            form.addRow("", self._problems["controller"])
            form.addRow("", learned)
            grid.addLayout(form, 0, 0, 1, 3)
            self._show_hint()
        below = grid.rowCount()
        for ordinal, path in enumerate(flow.paths, start=1):
            row = below + ordinal
            target = self._target(ordinal)
            states = self._draft.shown(target)
            grid.addWidget(Label(tr("{ordinal}: {route}", ordinal=ordinal, route=" → ".join(path)), part), row, 0)
            is_open = named(QCheckBox(tr("Open"), part), f"fork_open_{ordinal}")
            is_open.setAccessibleName(tr("Subflow {ordinal} open", ordinal=ordinal))
            is_open.setChecked(states.get("open") is True)
            is_open.clicked.connect(lambda on, which=ordinal: self._set("open", on, subflow=which))
            backup = named(QCheckBox(tr("Backup"), part), f"fork_backup_{ordinal}")
            backup.setAccessibleName(tr("Subflow {ordinal} is a backup", ordinal=ordinal))
            backup.setChecked(states.get("backup") is True)
            backup.setEnabled(flow.kind == "mptcp")
            backup.clicked.connect(lambda on, which=ordinal: self._set("backup", on, subflow=which))
            grid.addWidget(is_open, row, 1)
            grid.addWidget(backup, row, 2)

    def _set_controller(self) -> None:
        assert self.controller is not None
        self._draft.set_controller(self._target(), str(self.controller.currentData()), self.options.text())
        self._show_hint()
        self._show_state()

    def _show_hint(self) -> None:
        """Show the options of the selected controller."""
        assert self.controller is not None
        hint = self._draft.options_hint(str(self.controller.currentData()))
        self.options.setEnabled(bool(hint))
        self.options.setPlaceholderText(hint or tr("none"))
        self.options.setToolTip(hint)

    def _set(self, key: str, value: str | bool, *, subflow: int | None = None) -> None:
        self._draft.set(self._target(subflow), key, value)
        self._show_state()

    def _complete(self, key: str) -> None:
        """Show the unit that is assumed for a number without a unit."""
        field = self._fields[key]
        field.setText(self._draft.completed(self._target(), key, field.text()))

    def _on_time(self, text: str) -> None:
        self._draft.set_time(text)
        if not self._draft.time_problem:
            self._show_thing()  # at the new time, the run may have other values
        self._show_state()

    def _show_state(self) -> None:
        """Show errors below their fields, and the fork in one line."""
        self._time_problem.say(self._draft.time_problem)
        for key, label in self._problems.items():
            label.say(self._draft.problem(self._target(), key))
        self._show_changes()
        self._summary.setText(self._draft.summary)
        self.start.setEnabled(self._draft.plan is not None)
        # Resize for the error messages, because a form layout would cut off their second line.
        self._layout.activate()
        self.resize(self.width(), max(self.minimumSizeHint().height(), self.heightForWidth(self.width())))

    def _show_changes(self) -> None:
        """List the changes of all links and flows, each with a button that takes it back."""
        texts = self._draft.change_texts
        self._changes.setVisible(bool(texts))
        if texts == self._shown_changes:
            return
        self._shown_changes = texts
        layout = self._changes.layout()
        assert layout is not None
        while layout.count() > 1:
            item = layout.takeAt(1)
            part = item.widget() if item is not None else None
            if part is not None:
                part.hide()
                part.deleteLater()
        self.removers = []
        for number, text in enumerate(texts):
            line = QWidget(self._changes)
            button = named(
                QToolButton(line, autoRaise=True), f"fork_remove_{number}", tr("Take back: {text}", text=text)
            )
            button.setText("×")
            button.setToolTip(tr("Take this change back"))
            button.clicked.connect(partial(self._take_back, number))
            h_box(line, (Label(text, line, wordWrap=True), 1), button, margins=0)
            layout.addWidget(line)
            line.show()
            self.removers.append(button)

    def _take_back(self, number: int) -> None:
        self._draft.drop(number)
        self._show_thing()

    def _on_start(self) -> None:
        plan: ForkPlan | None = self._draft.plan
        if plan is not None:
            self.accept()
            self.started.emit(plan)


def _options_of(controller: object) -> str:
    """The options of a controller as the input field shows them."""
    options = controller.items() if isinstance(controller, dict) else ()
    return ", ".join(f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in options if key != "name")


def _name_of(controller: object) -> str:
    return str(controller.get("name", "")) if isinstance(controller, dict) else str(controller)
