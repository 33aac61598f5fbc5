"""Asks how an exported figure should be, and shows what will be written while it is being chosen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from PySide6.QtCore import QEvent, QObject, QSize, Qt
from PySide6.QtWidgets import (
    QCheckBox,
    QDialog,
    QDoubleSpinBox,
    QFormLayout,
    QLineEdit,
    QScrollArea,
    QSpinBox,
    QWidget,
)

from subflow_app.features.exporting.qt.figure_preview import FigurePreview
from subflow_app.features.exporting.qt.figure_source import FigureSource
from subflow_app.features.paper.core.figure_choice import AS_SHOWN, CUSTOM, FigureChoice
from subflow_app.features.paper.core.figure_plan import FigureKind, FigurePlan
from subflow_app.features.paper.core.paper_styles import (
    DPI_RANGE,
    HEIGHT_RANGE_MM,
    LEGENDS,
    STYLES,
    STYLES_BY_ID,
    WIDTH_RANGE_MM,
    Legend,
)
from subflow_app.toolkit.plain_text import Label
from subflow_app.toolkit.widgets.choice import Choice
from subflow_app.toolkit.widgets.shorthand import accept_buttons, h_box, named, v_box
from subflow_app.vocabulary.language import tr, translatable

FORMATS: dict[FigureKind, str] = {
    "pdf": translatable("PDF — vector, for papers"),
    "svg": translatable("SVG — vector, for the web and for editing"),
    "png": translatable("PNG — pixels, for slides"),
}
# Of a figure as shown, mm.
_SHOWN_SIZE = (170.0, 150.0)


class FigureDialog(QDialog):
    """The choices, with a preview; the file is asked for afterwards."""

    def __init__(self, source: FigureSource, choice: FigureChoice, parent: QWidget | None = None) -> None:
        """Begins with what was chosen last time; ``source`` draws what the preview shows."""
        super().__init__(parent)
        self.setObjectName("figure_dialog")
        self.setWindowTitle(tr("Export figure"))
        self._source = source
        self.style_box = self._combo("figure_style", {AS_SHOWN: translatable("As shown")})
        for style in STYLES:
            self.style_box.addItem(tr(style.title), style.id)
        self.style_box.addItem(tr("Another size…"), CUSTOM)
        self.kind = self._combo("figure_format", FORMATS)
        self.width_mm = self._millimetres("figure_width", WIDTH_RANGE_MM)
        self.height_mm = self._millimetres("figure_height", HEIGHT_RANGE_MM)
        self.height_label = Label(self)
        self.height_label.setBuddy(self.height_mm)
        self.dpi = named(QSpinBox(self, suffix=tr(" px per inch")), "figure_dpi")
        self.dpi.setRange(*DPI_RANGE)
        self.plots = [self._plot_box(plot.id, plot.title) for plot in source.plan.plots]
        self.files = self._combo(
            "figure_files",
            {True: translatable("One, plots on top of each other"), False: translatable("One for each plot")},
        )
        self.legend = self._combo("figure_legend", LEGENDS)
        self.heading = named(QLineEdit(self, placeholderText=tr("None: papers have captions")), "figure_title")
        self.data = named(QCheckBox(tr("&Data shown as CSV beside it"), self), "figure_data")
        self.preview = FigurePreview(source, self)
        self._lay_out()
        self._show(choice)
        self._connect()
        self._on_changed()

    # ---- answer ----

    @property
    def choice(self) -> FigureChoice:
        """What is chosen, title and plots apart."""
        legend: Legend = self.legend.currentData()
        kind: FigureKind = self.kind.currentData()
        return FigureChoice(
            style=str(self.style_box.currentData()),
            kind=kind,
            width_mm=self.width_mm.value(),
            height_mm=self.height_mm.value(),
            dpi=self.dpi.value(),
            legend=legend,
            is_stacked=bool(self.files.currentData()),
            has_data=self.data.isChecked(),
        )

    @property
    def plan(self) -> FigurePlan:
        """The figure with the plots that are chosen, in the style that is; not of a figure as shown."""
        wanted = {box.objectName() for box in self.plots if box.isChecked()}
        plan = self._source.plan
        chosen = replace(plan, plots=tuple(plot for plot in plan.plots if _box_name(plot.id) in wanted))
        return self.choice.look(self.heading.text().strip()).of(chosen, self.choice.kind)

    def done(self, result: int) -> None:
        """Lets the preview go, however the dialog ends."""
        self.preview.stop()
        super().done(result)

    # ---- inside ----

    def _lay_out(self) -> None:
        form = QFormLayout()
        form.addRow(tr("&Style:"), self.style_box)
        form.addRow(tr("&Format:"), self.kind)
        form.addRow(tr("&Width:"), self.width_mm)
        form.addRow(self.height_label, self.height_mm)
        form.addRow(tr("&Resolution:"), self.dpi)
        boxes = v_box(None, *self.plots)
        form.addRow(tr("Plots:"), boxes)
        form.addRow(tr("F&iles:"), self.files)
        form.addRow(tr("&Legend:"), self.legend)
        form.addRow(tr("&Title:"), self.heading)
        form.addRow("", self.data)
        form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.ExpandingFieldsGrow)
        choices = QWidget()
        choices.setLayout(form)
        scroll = named(_Upright(self), "figure_choices")
        scroll.setWidget(choices)
        scroll.setWidgetResizable(True)
        scroll.setFrameShape(QScrollArea.Shape.NoFrame)
        scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        # The fields are reached by Tab; the area around them would be a stop without a use.
        scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        buttons, self.export_button = accept_buttons(self, tr("Export…"))
        beside = h_box(None, scroll, (self.preview, 1))
        v_box(self, (beside, 1), buttons)
        self.resize(QSize(960, 560))

    def _connect(self) -> None:
        self.style_box.currentIndexChanged.connect(self._on_style_changed)
        for combo in (self.kind, self.files, self.legend):
            combo.currentIndexChanged.connect(self._on_changed)
        for spin in (self.width_mm, self.height_mm):
            spin.valueChanged.connect(self._on_changed)
        self.dpi.valueChanged.connect(self._on_changed)
        self.heading.textChanged.connect(self._on_changed)
        for box in self.plots:
            box.toggled.connect(self._on_changed)

    def _show(self, choice: FigureChoice) -> None:
        self.style_box.choose(choice.style)
        self.kind.choose(choice.kind)
        self.width_mm.setValue(choice.width_mm)
        self.height_mm.setValue(choice.height_mm)
        self.dpi.setValue(choice.dpi)
        self.legend.choose(choice.legend)
        self.files.choose(choice.is_stacked)
        self.data.setChecked(choice.has_data)
        if choice.style in STYLES_BY_ID:
            self.width_mm.setValue(STYLES_BY_ID[choice.style].width_mm)

    def _on_style_changed(self) -> None:
        style = str(self.style_box.currentData())
        paper = STYLES_BY_ID.get(style)
        if paper is not None:
            size = (paper.width_mm, paper.plot_height_mm)
        elif style == AS_SHOWN:
            size = _SHOWN_SIZE
        else:
            size = (self.width_mm.value(), self.height_mm.value())
        for spin, value in zip((self.width_mm, self.height_mm), size, strict=True):
            spin.blockSignals(True)
            spin.setValue(value)
            spin.blockSignals(False)
        self._on_changed()

    def _on_changed(self) -> None:
        choice = self.choice
        is_shown = choice.style == AS_SHOWN
        self.width_mm.setEnabled(is_shown or choice.style == CUSTOM)
        self.height_label.setText(tr("&Height:") if is_shown else tr("&Height of a plot:"))
        self.dpi.setEnabled(choice.kind == "png")
        for widget in (*self.plots, self.files, self.legend, self.heading):
            widget.setEnabled(not is_shown)
        chosen = [box for box in self.plots if box.isChecked()]
        if not is_shown and len(chosen) == 1:
            chosen[0].setEnabled(False)  # the last one stays, as in the window
        self.files.setEnabled(not is_shown and len(chosen) > 1)
        self.preview.show_figure(choice, None if is_shown else self.plan)

    def _combo(self, name: str, items: Mapping[Any, str]) -> Choice:
        return Choice(name, ((data, tr(text)) for data, text in items.items()), self)

    def _plot_box(self, plot_id: str, title: str) -> QCheckBox:
        box = named(QCheckBox(tr(title), self), _box_name(plot_id))
        box.setChecked(True)
        return box

    def _millimetres(self, name: str, allowed: tuple[float, float]) -> QDoubleSpinBox:
        box = named(QDoubleSpinBox(self, decimals=1, suffix=tr(" mm")), name)
        box.setRange(*allowed)
        return box


class _Upright(QScrollArea):
    """As wide as what it scrolls, whenever that changes: combo boxes take their width when they are first shown."""

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Follows the content."""
        content = self.widget()
        if (
            content is not None
            and watched is content
            and event.type() in (QEvent.Type.LayoutRequest, QEvent.Type.Resize)
        ):
            bar = self.verticalScrollBar().sizeHint().width()
            self.setMinimumWidth(content.minimumSizeHint().width() + bar + 2 * self.frameWidth())
        return super().eventFilter(watched, event)


def _box_name(plot_id: str) -> str:
    return f"figure_plot_{plot_id}"
