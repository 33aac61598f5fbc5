"""The dialog for the parts of a run to export: tables, packets for Wireshark or qvis, a bundle, or a web page."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QDialog,
    QFormLayout,
    QGroupBox,
    QLineEdit,
    QWidget,
)

from subflow_app.features.capture.core.packet_capture import STATIONS, CapturePlan
from subflow_app.features.editor.core.form_text import with_unit
from subflow_app.features.exporting.core.run_export import RunExport
from subflow_app.features.exporting.core.table_formats import TABLE_FORMATS
from subflow_app.features.exporting.core.web_page import is_offered
from subflow_app.toolkit.widgets.labels import ProblemLabel
from subflow_app.toolkit.widgets.shorthand import Choice, Label, accept_buttons, h_box, named, v_box
from subflow_app.vocabulary.language import tr, translatable
from subflow_sim.errors import ParamError
from subflow_sim.units import Dimension, parse_quantity
from subflow_store import RunRow

_STATIONS = {
    "sender": translatable("at the sending host"),
    "receiver": translatable("at the receiving host"),
    "both": translatable("at both hosts"),
}
_PACKET_FILES = {
    "pcapng": translatable("a capture for Wireshark (pcapng)"),
    "qlog": translatable("events of QUIC for qvis (qlog)"),
    "both": translatable("both"),
}


class RunExportDialog(QDialog):
    """Choices for the export of a run. The caller then opens the dialog for the folder."""

    def __init__(self, row: RunRow, flows: Sequence[str], parent: QWidget | None = None) -> None:
        """Offer the parts of a run; ``flows`` are the flows whose packets can be captured, if any."""
        super().__init__(parent)
        self.setObjectName("run_export_dialog")
        self.setWindowTitle(tr("Export run"))
        about = Label(tr("Everything goes into a new folder of {name} (run {number}).", name=row.name, number=row.id))
        about.setWordWrap(True)
        self.run_data = self._box("run_export_csv", tr("CSV, a column per trace; with summary and scenario"))
        self.run_data.setChecked(True)
        self.tables = {table.name: self._box(f"run_export_{table.name}", tr(table.text)) for table in TABLE_FORMATS}
        text = tr("A bundle: the whole run in one file, to verify elsewhere")
        self.bundle = self._box("run_export_bundle", text)
        self.bundle.setToolTip(
            tr("Scenario, seed, versions, policies, traces and figures; File › Verify bundle simulates it again.")
        )
        self.bundle.setEnabled(bool(flows) and row.status == "finished")
        self.light_bundle = self._box("run_export_light_bundle", tr("A bundle without traces, which is smaller"))
        self.light_bundle.setToolTip(
            tr("Scenario, seed, versions, policies and one figure; the simulation gives the traces again.")
        )
        self.light_bundle.setEnabled(self.bundle.isEnabled())
        text = tr("A web page: simulates the run again in any browser, and lets you change it")
        self.page = self._box("run_export_page", text)
        self.page.setToolTip(tr("One file without a network; `subflow import` takes back what was changed in it."))
        self.page.setEnabled(self.bundle.isEnabled())
        self.page.setVisible(is_offered())
        self.problem = ProblemLabel("run_export_problem", parent=self)
        self.buttons, export = accept_buttons(self, tr("Export…"), self._accept_if_right)
        export.setObjectName("run_export_button")
        tables = QGroupBox(tr("Tables of the samples"), self)
        v_box(tables, self.run_data, *self.tables.values())
        v_box(self, about, tables, self._packets(flows), *self._whole(), self.problem, None, self.buttons)
        self.resize(520, self.sizeHint().height())

    @property
    def wanted(self) -> RunExport:
        """The selected parts.

        Raises:
            ParamError: if a time is invalid.
        """
        capture = qlog = None
        if self.packets.isChecked():
            since_s, until_s = _seconds(self.since.text()), _seconds(self.until.text())
            plan = CapturePlan(self.flow.currentText(), self.station.currentData(), since_s or 0.0, until_s)
            capture = plan if self.packet_file.currentData() != "qlog" else None
            qlog = plan if self.packet_file.currentData() != "pcapng" else None
        tables = tuple(name for name, box in self.tables.items() if box.isChecked())
        return RunExport(self.run_data.isChecked(), tables, capture, qlog, *(box.isChecked() for box in self._whole()))

    # ---- internals ----

    def _whole(self) -> tuple[QCheckBox, ...]:
        """The boxes of the files that contain the whole run, in the order of `RunExport`."""
        return self.bundle, self.light_bundle, self.page

    def _packets(self, flows: Sequence[str]) -> QGroupBox:
        self.packets = QGroupBox(tr("Packets of a flow"), self, checkable=True)
        named(self.packets, "run_export_packets", self.packets.title())
        self.packets.setChecked(False)
        self.packets.setEnabled(bool(flows))
        files = ((each, tr(text)) for each, text in _PACKET_FILES.items())
        self.packet_file = Choice("run_export_packet_file", files, self)
        self.flow = named(QComboBox(self), "run_export_flow")
        self.flow.addItems(list(flows))
        self.station = Choice("run_export_station", ((each, tr(_STATIONS[each])) for each in STATIONS), self)
        self.since = named(QLineEdit(self), "run_export_since", tr("Beginning of the packets"))
        self.until = named(QLineEdit(self), "run_export_until", tr("End of the packets"))
        self.since.setPlaceholderText(tr("the beginning, or a time such as 12.5s"))
        self.until.setPlaceholderText(tr("the end, or a time such as 20s"))
        form = QFormLayout(self.packets)
        form.addRow(tr("F&ile:"), self.packet_file)
        form.addRow(tr("&Flow:"), self.flow)
        form.addRow(tr("&Seen:"), self.station)
        to = Label(tr("&To:"), self)
        to.setBuddy(self.until)
        form.addRow(tr("F&rom:"), h_box(None, (self.since, 1), to, (self.until, 1)))
        told = Label(
            tr("The run is simulated again for this. Data are zeros; the opening of connections is invented."), self
        )
        told.setWordWrap(True)
        form.addRow(told)
        return self.packets

    def _box(self, name: str, text: str) -> QCheckBox:
        return named(QCheckBox(text, self), name)

    def _accept_if_right(self) -> None:
        try:
            wanted = self.wanted
        except ParamError as error:
            self.problem.say(tr("A time of the capture: {problem}", problem=str(error)))
            return
        if wanted == RunExport(run_data=False):
            self.problem.say(tr("Nothing is chosen."))
            return
        self.accept()


def _seconds(text: str) -> float | None:
    """Parse a typed time; a number without unit is in seconds. None for an empty text."""
    return parse_quantity(with_unit(text.strip(), "s"), Dimension.TIME) if text.strip() else None
