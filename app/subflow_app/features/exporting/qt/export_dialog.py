"""The dialog for the look of an exported figure, with a preview of the file.

The preview is drawn by the process that draws the file, and is scaled to the available space.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QEvent, QObject, QSize, Qt
from PySide6.QtGui import QPixmap, QResizeEvent
from PySide6.QtWidgets import (
    QCheckBox,
    QDialog,
    QDoubleSpinBox,
    QFormLayout,
    QFrame,
    QLineEdit,
    QScrollArea,
    QSizePolicy,
    QSpinBox,
    QWidget,
)

from subflow_app.features.history.core.run_names import told_apart
from subflow_app.features.paper.core.figure_plan import (
    AS_SHOWN,
    CUSTOM,
    FigureChoice,
    FigureKind,
    FigurePlan,
    plot_data,
)
from subflow_app.features.paper.core.figure_process import FigureProcess
from subflow_app.features.paper.core.paper_styles import (
    DPI_RANGE,
    HEIGHT_RANGE_MM,
    LEGENDS,
    MM_PER_INCH,
    STYLES,
    STYLES_BY_ID,
    WIDTH_RANGE_MM,
    Legend,
)
from subflow_app.features.plots.core import TIME
from subflow_app.features.plots.qt.curve_id import run_names
from subflow_app.toolkit import format as fmt
from subflow_app.toolkit.widgets.shorthand import Choice, Label, accept_buttons, h_box, named, timer, v_box
from subflow_app.toolkit.workers import LatestReader, Workers
from subflow_app.vocabulary.language import tr, translatable, trn

if TYPE_CHECKING:
    from subflow_app.features.plots.qt.plot_stack import PlotStack
    from subflow_app.features.plots.qt.stacked_plot import StackedPlot


class FigureSource(QObject):
    """Figures of a stack of plots, with the content that the stack shows when this object is created."""

    def __init__(self, shown: PlotStack, workers: Workers, process: FigureProcess, parent: QObject) -> None:
        """Draw figures in ``process``, called by tasks of ``workers``."""
        super().__init__(parent)
        self.workers = workers
        self._process = process
        self.plan = shown_plan(shown)
        self.as_shown = shown_plan(shown, has_all=True)

    def draw(self, plan: FigurePlan) -> bytes:
        """Draw a figure in the other process, and wait for the result."""
        return self._process.draw(plan)


def shown_plan(shown: PlotStack, *, has_all: bool = False) -> FigurePlan:
    """The content of the plots in the window: visible curves, time range, and manual value ranges.

    Args:
        shown: the plots.
        has_all: whether the plan includes marks, columns of runs and short names of runs.
    """
    by_spec = shown.plots_by_spec()
    if has_all:
        by_spec = [(spec, [plot]) for spec, plots in by_spec for plot in plots]
    plots = tuple(
        plot_data(
            spec,
            [curve for plot in plots for curve in plot.shown_curves()],
            [bar for plot in plots for bar in plot.shown_bars()],
            value_range=_value_range(plots[0], is_log=shown.is_log),
            bin_s=shown.bin_s(spec),
            ticks=shown.ticks(plots[0]) if has_all else (),
            column=shown.column_title(plots[0]) if has_all else "",
        )
        for spec, plots in by_spec
    )
    low_s, high_s = shown.time_range
    # The window can show empty time before the start and after the end of a run.
    end_s = max((run.duration_s for run in shown.runs), default=high_s)
    plan = FigurePlan(plots, (max(0.0, low_s), min(end_s, high_s)), is_log=shown.is_log)
    names = run_names(curve for plot in plots for curve in plot.curves) if has_all else {}
    return plan.with_run_names(dict(zip(names, told_apart([*names.values()])[1], strict=True)))


def _value_range(plot: StackedPlot, *, is_log: bool) -> tuple[float, float] | None:
    if plot.spec.kind != TIME or plot.view.is_fitting_values:
        return None
    low, high = plot.view.viewRange()[1]
    # On logarithmic axes, pyqtgraph gives ranges as exponents.
    return (10.0**low, 10.0**high) if is_log else (float(low), float(high))


# Delay after the last change, so that no figure is drawn while a person types a number.
_DELAY_MS = 150
_DPI_RANGE = (72, 400)
_MARGIN = 12


class FigurePreview(QFrame):
    """A picture of the figure, above its description or the reason why the picture is missing."""

    def __init__(self, source: FigureSource, parent: QWidget | None = None) -> None:
        """Show figures of ``source``."""
        super().__init__(parent)
        self.setObjectName("figure_preview")
        self.setFrameShape(QFrame.Shape.StyledPanel)
        self._source = source
        self._wanted: tuple[FigureChoice, FigurePlan] | None = None
        self.pixmap = QPixmap()  # the drawn picture, before scaling
        self._told = ""
        self.picture = named(Label(self), "figure_picture", tr("Preview of the figure"))
        self.picture.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.picture.setMinimumSize(QSize(320, 260))
        # The available space determines the size of the picture, not vice versa.
        self.picture.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Ignored)
        self.caption = named(Label(tr("Drawing…"), self, alignment=Qt.AlignmentFlag.AlignCenter), "figure_caption")
        self.caption.setWordWrap(True)
        v_box(self, (self.picture, 1), self.caption)
        self._delay = timer(self, self._draw, _DELAY_MS, is_single=True)
        self._reader = LatestReader(source.workers, self, "draw figure")
        self._reader.read.connect(self._show)
        self._reader.failed.connect(lambda error: self._tell(str(error)))

    @property
    def is_up_to_date(self) -> bool:
        """True if the picture shows the figure requested last."""
        return not self._reader.is_busy and not self._delay.isActive()

    def show_figure(self, choice: FigureChoice, plan: FigurePlan) -> None:
        """Show a figure after a short delay."""
        self._wanted = (choice, plan)
        self._delay.start()

    def stop(self) -> None:
        """Stop drawing."""
        self._delay.stop()
        self._reader.forget()

    def _draw(self) -> None:
        if self._wanted is None:
            return
        choice, plan = self._wanted
        self._wanted = None
        pages = choice.pages(plan)
        self.caption.setText(tr("Drawing…"))
        self._told = self._described(plan.style.width_mm, choice, len(pages))
        # The first figure represents all figures, which differ only in their curves.
        page = replace(pages[0], kind="png", dpi=self._dpi(plan.style.width_mm))
        self._reader.ask(lambda _is_given_up: self._source.draw(page), is_other=True)

    def _tell(self, text: str) -> None:
        self.pixmap = QPixmap()
        self.picture.setPixmap(self.pixmap)
        self.caption.setText(text)

    def _show(self, content: bytes) -> None:
        self.pixmap = QPixmap()
        self.pixmap.loadFromData(content)
        self.caption.setText(self._told)
        self._fit()

    def _fit(self) -> None:
        if self.pixmap.isNull():
            return
        ratio = self.devicePixelRatioF()
        room = (self.picture.size() - QSize(_MARGIN, _MARGIN)) * ratio
        scaled = self.pixmap.scaled(
            room, Qt.AspectRatioMode.KeepAspectRatio, Qt.TransformationMode.SmoothTransformation
        )
        scaled.setDevicePixelRatio(ratio)
        self.picture.setPixmap(scaled)

    def _dpi(self, width_mm: float) -> int:
        """Resolution at which the figure fills the width of the picture; a higher resolution would take longer."""
        pixels = max(self.picture.width(), self.picture.minimumWidth()) * self.devicePixelRatioF()
        low, high = _DPI_RANGE
        return round(min(high, max(low, pixels / (width_mm / MM_PER_INCH))))

    def _described(self, width_mm: float, choice: FigureChoice, files: int) -> str:
        width = fmt.number(width_mm, 4)
        told = tr("{width} mm wide, {kind}", width=width, kind=choice.kind.upper())
        if choice.kind == "png":
            told += tr(", {pixels} px", pixels=fmt.count(width_mm / MM_PER_INCH * choice.dpi))
        if files > 1:
            told += trn(", the first of {count} file", ", the first of {count} files", files)
        return told

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Fit the picture to the available space."""
        super().resizeEvent(event)
        self._fit()


FORMATS: dict[FigureKind, str] = {
    "pdf": translatable("PDF — vector, for papers"),
    "svg": translatable("SVG — vector, for the web and for editing"),
    "png": translatable("PNG — pixels, for slides"),
}
# Size of a figure in the style "As shown", mm.
_SHOWN_SIZE = (170.0, 150.0)


class FigureDialog(QDialog):
    """Choices for a figure, with a preview. The caller then opens the dialog for the file."""

    def __init__(self, source: FigureSource, choice: FigureChoice, parent: QWidget | None = None) -> None:
        """Begin with the previous choice; ``source`` draws the preview."""
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
        """The current choices, without title and plots."""
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
        """The figure in the selected style, with the selected plots; the style "As shown" includes all plots."""
        wanted = {box.objectName() for box in self.plots if box.isChecked()}
        plan = self._source.plan
        chosen = replace(plan, plots=tuple(plot for plot in plan.plots if _box_name(plot.id) in wanted))
        chosen = self._source.as_shown if self.choice.style == AS_SHOWN else chosen
        return self.choice.look(self.heading.text().strip()).of(chosen, self.choice.kind)

    def done(self, result: int) -> None:
        """Stop the preview and close the dialog, accepted or not."""
        self.preview.stop()
        super().done(result)

    # ---- internals ----

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
        # Tab reaches the fields; focus on the area around them would be useless.
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
            chosen[0].setEnabled(False)  # the last plot must remain, as in the window
        self.files.setEnabled(not is_shown and len(chosen) > 1)
        self.preview.show_figure(choice, self.plan)

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
    """A scroll area that is always as wide as its content, whose width changes when combo boxes are first shown."""

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Adapt the width to the content."""
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
