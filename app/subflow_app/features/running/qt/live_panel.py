"""Panel that shows the current values of the selected link or flow in the current run, and changes them."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QSignalBlocker, QSize, Qt, Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QFormLayout,
    QGridLayout,
    QLabel,
    QLineEdit,
    QScrollArea,
    QSizePolicy,
    QWidget,
)

from subflow_app.features.catalog.core.catalog import app_catalog
from subflow_app.features.catalog.core.uses import written_choice
from subflow_app.features.editor.core.algorithm_choices import own_or_named
from subflow_app.features.editor.core.form import FieldOption, change_labels
from subflow_app.features.editor.core.form_text import completed
from subflow_app.features.editor.qt.inspector.editors import ChoiceEditor
from subflow_app.features.running.core.live_changes import live_controller, live_link, live_subflows
from subflow_app.features.running.core.runs import RunJob
from subflow_app.toolkit.theme import muted
from subflow_app.toolkit.widgets.shorthand import Choice, Label, heading, named, v_box
from subflow_app.vocabulary.language import tr
from subflow_app.vocabulary.link_ways import way_words
from subflow_sim.link_state import LiveLink
from subflow_sim.params import params_by_key
from subflow_sim.scenario import Flow

_LEAST_SEEN = 120  # px, minimum height of the scrolled form


class LivePanel(QWidget):
    """Form for live changes, visible only while the current run has the selected link or flow with subflows.

    The inspector below edits the scenario. Separate panels make it clear whether a change affects the run or the
    scenario.
    """

    changed = Signal()  # the panel was hidden, or shows a different link or flow
    change_wanted = Signal(object)  # keys of an [[events]] entry: {"link": "wifi", "rate": "4Mbit/s"}

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        named(self, "live_panel", tr("Change the run"))
        self._job: RunJob | None = None
        self._key = ""
        self._shown = ""  # "links", "flows", or empty
        self._title = heading(named(Label(self), "live_title"))
        text = tr(
            "A change takes effect now and is recorded, so the run can be repeated. The scenario does not change."
        )
        self._hint = named(muted(Label(text, self, wordWrap=True)), "live_hint")
        self._make_link_part()
        self._flow_part = named(QWidget(self), "live_flow")
        self._flow_grid = QGridLayout(self._flow_part)
        self._flow_grid.setContentsMargins(0, 0, 0, 0)
        v_box(self, self._title, self._hint, self._link_part, self._flow_part, margins=(12, 8, 12, 8), spacing=6)
        self.hide()

    @property
    def link(self) -> str:
        """Name of the link shown; empty if the panel shows no link."""
        return self._key.removeprefix("links.") if self._shows_link() else ""

    def show_job(self, job: RunJob | None) -> None:
        """Shows and changes this run from now on; None if no run is active."""
        self._job = job
        self._show_part()

    def show_key(self, key: str) -> None:
        """Shows the link or flow that contains the part with this dotted key."""
        self._key = ".".join(key.split(".")[:2])
        self._show_part()

    def refresh(self) -> None:
        """Shows the current values of the run, except in a field that is being edited."""
        if self._job is None or not self._shown:
            return
        now_s = self._job.progress.sim_time_s
        if self._shows_link():
            state = live_link(
                self._job.scenario, self._job.live_changes, self._key.removeprefix("links."), self._side(), now_s
            )
            if state is not None:
                self._show_link(state)
        else:
            self._show_flow(now_s)

    # ---- internals ----

    def _make_link_part(self) -> None:
        self._link_part = named(QWidget(self), "live_link")
        form = QFormLayout(self._link_part)
        form.setContentsMargins(0, 0, 0, 0)
        form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.ExpandingFieldsGrow)
        self._up = named(QCheckBox(tr("In service"), self._link_part), "live_up")
        self._up.setToolTip(tr("Taking a link out of service loses the packets in its queue"))
        self._up.clicked.connect(lambda is_up: self._want_of_link("up", is_up))
        self._direction = Choice("live_direction", way_words(None, "").items(), self._link_part, letters=12)
        self._direction.currentIndexChanged.connect(self.refresh)
        form.addRow(tr("Direction"), self._direction)
        form.addRow("", self._up)
        self._fields: dict[str, QLineEdit] = {}
        self._present: dict[str, str] = {}  # current values in the run
        for key, label in change_labels().items():
            field = named(QLineEdit(self._link_part), f"live_{key}", label)
            field.editingFinished.connect(partial(self._on_typed, key))
            self._fields[key] = field
            form.addRow(label, field)

    def _shows_link(self) -> bool:
        return self._shown == "links"

    def _side(self) -> str:
        return "reverse" if self._direction.currentData() == "reverse" else "forward"

    def _show_part(self) -> None:
        section, _, name = self._key.partition(".")
        scenario = self._job.scenario if self._job is not None else None
        has_link = scenario is not None and section == "links" and name in scenario.links
        flow = scenario.flows.get(name) if scenario is not None and section == "flows" else None
        is_simulated = self._job is not None and not self._job.is_measured
        has_flow = flow is not None and not flow.sends_datagrams and is_simulated
        self._link_part.setVisible(has_link)
        self._flow_part.setVisible(has_flow)
        for place, words in enumerate(way_words(scenario, name).values() if has_link else ()):
            self._direction.setItemText(place, words)
        if has_link or has_flow:
            self._title.setText(tr("{name} in the run in progress", name=name))
        if flow is not None and has_flow:
            self._make_rows(flow)
        self._shown = section if has_link or has_flow else ""
        self.setVisible(bool(self._shown))
        self.refresh()
        self.changed.emit()

    def _show_link(self, state: LiveLink) -> None:
        self._up.setChecked(state.is_up)
        texts = {key: str(value) for key, value in state.values().items() if key in self._fields}
        self._present = texts
        for key, text in texts.items():
            field = self._fields[key]
            if field.text() != text and not (field.hasFocus() and field.isModified()):
                field.setText(text)

    def _make_rows(self, flow: Flow) -> None:
        """Replaces the rows of the previous flow by a row for the controller and a row for each subflow."""
        while (item := self._flow_grid.takeAt(0)) is not None:
            widget = item.widget()
            if widget is not None:
                widget.setParent(None)  # deleted later, but no longer found when searched by name
                widget.deleteLater()
        is_multipath = flow.kind == "mptcp"
        self._make_controller(flow)
        self._switches: list[tuple[QLabel, QCheckBox, QCheckBox]] = []
        for ordinal in range(1, len(flow.paths) + 1):
            name = Label(self._flow_part)
            is_open = named(QCheckBox(tr("Open"), self._flow_part), f"live_open_{ordinal}")
            is_open.clicked.connect(lambda on, which=ordinal: self._want_of_flow(which, "open", on))
            backup = named(QCheckBox(tr("Backup"), self._flow_part), f"live_backup_{ordinal}")
            backup.setEnabled(is_multipath)
            backup.clicked.connect(lambda on, which=ordinal: self._want_of_flow(which, "backup", on))
            for column, widget in enumerate((name, is_open, backup)):
                self._flow_grid.addWidget(widget, ordinal, column)
            self._switches.append((name, is_open, backup))

    def _make_controller(self, flow: Flow) -> None:
        """Creates the list of controllers to which the flow can switch; disabled if an agent controls the flow."""
        assert self._job is not None
        own, catalog = flow.controller.name, app_catalog(self._job.scenario)
        names = catalog.successors(flow.controller, is_multipath=flow.kind == "mptcp")
        self._controllers = tuple(
            FieldOption(each.name, each.name, tr(each.summary))
            for each in catalog.controllers
            if each.name in (names or (own,))
        )
        self._controller = box = named(ChoiceEditor(self._flow_part), "live_controller")
        label = Label(tr("Controller"), self._flow_part)
        label.setBuddy(box)
        box.setAccessibleName(label.text())
        box.show_options(self._controllers, own)
        box.setEnabled(bool(names))
        box.setToolTip(
            tr("Another controller takes over; cwnd, RTT and packets in flight stay as they are")
            if names
            else tr("{controller} follows an agent until the end of the run", controller=own)
        )
        # Unlike `activated`, this signal is also emitted when an entry is selected by typing.
        box.currentIndexChanged.connect(self._on_controller)
        self._flow_grid.addWidget(label, 0, 0)
        self._flow_grid.addWidget(box, 0, 1, 1, 2)

    def _on_controller(self) -> None:
        chosen, name = self._controller.currentText(), self._key.removeprefix("flows.")
        if chosen != self._controller_now:
            scenario = self._job.scenario if self._job is not None else None
            flow = None if scenario is None else scenario.flows.get(name.partition(".")[0])
            # A return to the flow's original controller restores its options from the scenario.
            own = chosen if scenario is None or flow is None else written_choice(flow.controller, scenario)
            self.change_wanted.emit({"flow": name, "controller": own_or_named(own, chosen)})

    def _show_flow(self, now_s: float) -> None:
        assert self._job is not None
        name = self._key.removeprefix("flows.")
        controller = live_controller(self._job.scenario, self._job.live_changes, name, now_s)
        self._controller_now = controller.name if controller is not None else ""
        if not self._controller.view().isVisible():  # not while the list is open
            with QSignalBlocker(self._controller):
                self._controller.setCurrentText(self._controller_now)
        states = live_subflows(self._job.scenario, self._job.live_changes, name, now_s)
        for state, (label, is_open, backup) in zip(states, self._switches, strict=True):
            route = " → ".join(state.path)
            label.setText(tr("{ordinal}: {route}", ordinal=state.ordinal, route=route))
            is_open.setChecked(state.is_open)
            is_open.setAccessibleName(tr("Subflow {ordinal} open", ordinal=state.ordinal))
            backup.setChecked(state.is_backup)
            backup.setAccessibleName(tr("Subflow {ordinal} is a backup", ordinal=state.ordinal))

    def _on_typed(self, key: str) -> None:
        field = self._fields[key]
        if field.isModified():
            field.setModified(False)
            field.setText(completed(params_by_key("event")[key], field.text(), self._present[key]).strip())
            self._want_of_link(key, field.text())

    def _want_of_link(self, key: str, value: object) -> None:
        values: dict[str, object] = {"link": self._key.removeprefix("links.")}
        if self._direction.currentData() != "both":
            values["direction"] = self._direction.currentData()
        self.change_wanted.emit({**values, key: value})

    def _want_of_flow(self, ordinal: int, key: str, is_on: bool) -> None:
        name = self._key.removeprefix("flows.")
        self.change_wanted.emit({"flow": name, "subflow": ordinal, key: is_on})


def beside_inspector(live: LivePanel, inspector: QWidget) -> QWidget:
    """Stacks the live panel above the inspector; returns the content of the inspector's dock."""
    both = named(QWidget(), "inspector_with_live")
    v_box(both, _LiveScroll(live, both), (inspector, 1), margins=0, spacing=0)
    return both


class _LiveScroll(QScrollArea):
    """Scroll area that is as high as its form if space permits, and scrolls rather than squeezing the fields if not."""

    def __init__(self, live: LivePanel, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("live_scroll")
        self.setFrameShape(QScrollArea.Shape.NoFrame)
        self.setWidgetResizable(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Maximum)
        self._live = live
        self.setWidget(live)  # this call also shows `live`
        live.hide()
        live.changed.connect(self._follow)
        self._follow()

    def _follow(self) -> None:
        self.setVisible(not self._live.isHidden())
        self.updateGeometry()

    def sizeHint(self) -> QSize:
        width = self.viewport().width()
        height = self._live.heightForWidth(width) if self._live.hasHeightForWidth() else -1
        return QSize(self._live.sizeHint().width(), max(height, self._live.sizeHint().height()))

    def minimumSizeHint(self) -> QSize:
        return QSize(self._live.minimumSizeHint().width(), min(_LEAST_SEEN, self.sizeHint().height()))
