"""Dialog for the content of a report: figures, format and title."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtWidgets import (
    QCheckBox,
    QDialog,
    QFormLayout,
    QGridLayout,
    QGroupBox,
    QLineEdit,
    QScrollArea,
    QWidget,
)

from subflow_app.features.paper.core.report import DEFAULT_PLOTS, PAGE_SIZES, PageSize, ReportKind
from subflow_app.features.plots.core import PlotSpec
from subflow_app.toolkit.widgets.shorthand import Choice, Label, accept_buttons, named, v_box
from subflow_app.vocabulary.language import tr, translatable, trn
from subflow_store import RunRow

FORMATS: dict[ReportKind, str] = {
    "pdf": translatable("PDF — pages to print and hand in"),
    "html": translatable("HTML — one file for the browser"),
}
_COLUMNS = 2
_MOST_NAMES = 5


class ReportDialog(QDialog):
    """Dialog for the content of a report. The caller then opens the dialog for the file."""

    def __init__(self, rows: Sequence[RunRow], plots: Sequence[PlotSpec], parent: QWidget | None = None) -> None:
        """Creates the dialog for a report on the runs in ``rows``, which support these ``plots``."""
        super().__init__(parent)
        self.setObjectName("report_dialog")
        self.setWindowTitle(tr("Export report"))
        self._plots = tuple(plots)
        names = [tr("{name} (run {number})", name=row.name, number=row.id) for row in rows[:_MOST_NAMES]]
        if len(rows) > _MOST_NAMES:
            more = len(rows) - _MOST_NAMES
            names.append(trn("and {count} more", "and {count} more", more))
        about = Label(
            trn(
                "A report on {count} run: {names}.",
                "A report on {count} runs: {names}.",
                len(rows),
                names=", ".join(names),
            ),
            self,
        )
        about.setObjectName("report_runs")
        about.setWordWrap(True)
        holds = Label(
            tr(
                "It holds the topology, all parameters, the figures chosen here, tables per flow, subflow and link, "
                "seeds, versions, the exact scenario, and how to run it again."
            ),
            self,
        )
        holds.setWordWrap(True)
        self.kind = Choice("report_format", ((kind, tr(text)) for kind, text in FORMATS.items()), self)
        self.page = Choice("report_page", PAGE_SIZES.items(), self)
        self.heading = named(QLineEdit(self, placeholderText=rows[0].name if rows else ""), "report_title")
        form = QFormLayout()
        form.addRow(tr("&Title:"), self.heading)
        form.addRow(tr("&Format:"), self.kind)
        form.addRow(tr("&Pages:"), self.page)
        self.boxes = [self._box(spec) for spec in self._plots]
        buttons, _export = accept_buttons(self, tr("Export…"))
        v_box(self, about, holds, form, (self._group(), 1), buttons)
        self.kind.currentIndexChanged.connect(self._on_kind_changed)
        self._on_kind_changed()
        self.resize(560, 520)

    @property
    def chosen_kind(self) -> ReportKind:
        """Format of the file."""
        kind: ReportKind = self.kind.currentData()
        return kind

    @property
    def chosen_page(self) -> PageSize:
        """Size of the pages of a PDF."""
        page: PageSize = self.page.currentData()
        return page

    @property
    def chosen_plots(self) -> list[PlotSpec]:
        """The figures, in the order of the plots."""
        return [spec for spec, box in zip(self._plots, self.boxes, strict=True) if box.isChecked()]

    def _group(self) -> QGroupBox:
        grid = QGridLayout()
        rows = -(-len(self.boxes) // _COLUMNS)
        for number, box in enumerate(self.boxes):
            grid.addWidget(box, number % rows, number // rows)
        grid.setRowStretch(rows, 1)
        inside = QWidget()
        inside.setLayout(grid)
        scroll = named(QScrollArea(self, widgetResizable=True), "report_figures", tr("Figures"))
        scroll.setWidget(inside)
        scroll.setFrameShape(QScrollArea.Shape.NoFrame)
        group = QGroupBox(tr("Figures"), self)
        v_box(group, scroll)
        return group

    def _box(self, spec: PlotSpec) -> QCheckBox:
        box = named(QCheckBox(tr(spec.title), self), f"report_plot_{spec.id}")
        box.setChecked(spec.id in DEFAULT_PLOTS)
        return box

    def _on_kind_changed(self) -> None:
        self.page.setEnabled(self.chosen_kind == "pdf")
