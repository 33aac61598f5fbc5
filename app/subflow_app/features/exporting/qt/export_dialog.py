"""The dialog that exports every figure of the window, with a preview of the file.

The preview is drawn by the process that draws the file, and is scaled to the available space.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from PySide6.QtCore import QEvent, QObject, QPoint, QSize, Qt, Signal
from PySide6.QtGui import QGuiApplication, QImage, QMouseEvent, QPixmap, QResizeEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QButtonGroup,
    QCheckBox,
    QDialog,
    QDoubleSpinBox,
    QFormLayout,
    QFrame,
    QHeaderView,
    QPushButton,
    QScrollArea,
    QSizePolicy,
    QSpinBox,
    QTableView,
    QWidget,
)

from subflow_app.features.paper.core.exported_figure import ExportedFigure
from subflow_app.features.paper.core.figure_plan import (
    AS_SHOWN,
    CUSTOM,
    TITLE,
    FigureChoice,
    FigureKind,
    FigurePlan,
    PlacedWord,
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
from subflow_app.features.paper.core.plot_forms import names_in
from subflow_app.toolkit import format as fmt
from subflow_app.toolkit.theme import muted, set_style
from subflow_app.toolkit.widgets.labels import ProblemLabel
from subflow_app.toolkit.widgets.shorthand import Choice, Label, accept_buttons, h_box, heading, named, timer, v_box
from subflow_app.toolkit.widgets.tables import Index, TableModel, set_up_table
from subflow_app.toolkit.workers import LatestReader, Workers
from subflow_app.vocabulary.language import tr, translatable, trn
from subflow_app.vocabulary.tables import Column

# Delay after the last change, so that no figure is drawn while a person types a number.
_DELAY_MS = 150
_DPI_RANGE = (72, 400)
_MARGIN = 12
_COPY_DPI = 300

PAGE: Literal["page"] = "page"
"""Stands for a web page among the formats."""
DATA: Literal["csv"] = "csv"
"""Stands for the table of data among the formats."""
Format = FigureKind | Literal["page", "csv"]
_FORMATS: Mapping[Format, tuple[str, str]] = {
    "pdf": ("PDF", translatable("Vector drawing, for papers")),
    "svg": ("SVG", translatable("Vector drawing, for the web and for editing")),
    "png": ("PNG", translatable("Pixels, for slides")),
    DATA: ("CSV", translatable("Table of the data, for spreadsheets and programs")),
    PAGE: (translatable("Web page"), translatable("One file for any browser, which simulates the runs again")),
}


class FigurePreview(QFrame):
    """A picture of the figure, above its description or the reason why the picture is missing."""

    word_chosen = Signal(str)  # a text was double-clicked; as it is before replacement

    def __init__(self, process: FigureProcess, workers: Workers, parent: QWidget | None = None) -> None:
        """Draw figures in ``process``, called by tasks of ``workers``."""
        super().__init__(parent)
        self.setObjectName("figure_preview")
        self.setFrameShape(QFrame.Shape.StyledPanel)
        self._process = process
        self._wanted: tuple[FigureChoice, FigurePlan] | None = None
        self.pixmap = QPixmap()  # the drawn picture, before scaling
        self.places: tuple[PlacedWord, ...] = ()
        self._told = ""
        self.picture = named(Label(self), "figure_picture", tr("Preview of the figure"))
        self.picture.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.picture.setMinimumSize(QSize(260, 160))
        # The available space determines the size of the picture, not vice versa.
        self.picture.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Ignored)
        self.picture.installEventFilter(self)
        self.caption = named(Label(tr("Drawing…"), self, alignment=Qt.AlignmentFlag.AlignCenter), "figure_caption")
        self.caption.setWordWrap(True)
        v_box(self, (self.picture, 1), muted(self.caption))
        self._delay = timer(self, self._draw, _DELAY_MS, is_single=True)
        self._reader = LatestReader(workers, self, "draw figure")
        self._reader.read.connect(self._show)
        self._reader.failed.connect(lambda error: self.say(str(error)))

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

    def say(self, text: str) -> None:
        """Show a text in place of a picture."""
        self.pixmap, self.places = QPixmap(), ()
        self.picture.setPixmap(self.pixmap)
        self.caption.setText(text)

    def word_at(self, point: QPoint) -> str:
        """The text at a point of the label, as it is before replacement; empty where the figure has no text."""
        shown = self.picture.pixmap()
        if shown.isNull():
            return ""
        size = shown.deviceIndependentSize()
        x = (point.x() - (self.picture.width() - size.width()) / 2) / size.width()
        y = (point.y() - (self.picture.height() - size.height()) / 2) / size.height()
        at = (text for text, left, top, right, bottom in self.places if left <= x <= right and top <= y <= bottom)
        return next(at, "")

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Report the text that is double-clicked."""
        if event.type() == QEvent.Type.MouseButtonDblClick and isinstance(event, QMouseEvent):
            word = self.word_at(event.position().toPoint())
            if word:
                self.word_chosen.emit(word)
                return True
        return super().eventFilter(watched, event)

    def _draw(self) -> None:
        if self._wanted is None:
            return
        choice, plan = self._wanted
        self._wanted = None
        pages = [*choice.pages(plan).values()]
        self.caption.setText(tr("Drawing…"))
        self._told = self._described(plan.style.width_mm, choice, len(pages))
        # The first figure represents all figures, which differ only in their curves.
        page = replace(pages[0], kind="png", dpi=self._dpi(plan.style.width_mm))
        self._reader.ask(lambda _is_given_up: self._process.preview(page), is_other=True)

    def _show(self, drawn: tuple[bytes, tuple[PlacedWord, ...]]) -> None:
        content, self.places = drawn
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


@dataclass(frozen=True, slots=True)
class FigureWord:
    """A text of a figure in the table.

    Attributes:
        source: the text before replacement; `TITLE` for the heading.
        role: name of its place in the figure.
        text: the text that the figure shows.
    """

    source: str
    role: str
    text: str


class WordModel(TableModel[FigureWord]):
    """The texts of a figure; the second column can be edited."""

    translates = False
    edited = Signal(str, str)  # source, and its new text

    def __init__(self, parent: QObject | None = None) -> None:
        """Make an empty table."""
        super().__init__((Column(tr("Where"), lambda row: row.role), Column(tr("Text"), lambda row: row.text)), parent)

    def flags(self, index: Index) -> Qt.ItemFlag:
        """Texts can be edited."""
        flags = super().flags(index)
        return flags | Qt.ItemFlag.ItemIsEditable if index.column() == 1 else flags

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Text and appearance of a cell."""
        if role == Qt.ItemDataRole.EditRole and index.isValid():
            return self.rows[index.row()].text
        return super().data(index, role)

    def setData(self, index: Index, value: Any, role: int = Qt.ItemDataRole.EditRole) -> bool:
        """Replace a text; an empty one restores the original."""
        if role != Qt.ItemDataRole.EditRole or not index.isValid():
            return False
        self.edited.emit(self.rows[index.row()].source, str(value).strip())
        return True


# Size of a figure in the style "As shown", mm.
_SHOWN_SIZE = (170.0, 150.0)
_SMALLEST = QSize(760, 333)
_FORM = 345  # least width of the form, px
_WORD_ROWS = 6


class FigureDialog(QDialog):
    """Choices for a figure, with a preview. It stays open until the file is written, and reports a failure."""

    export_wanted = Signal()

    def __init__(
        self,
        figure: ExportedFigure,
        choice: FigureChoice,
        process: FigureProcess,
        workers: Workers,
        parent: QWidget | None = None,
        first: Format | None = None,
    ) -> None:
        """Begin with the previous choice; ``process`` draws the preview, called by tasks of ``workers``.

        Args:
            figure: the figure.
            choice: the previous choice.
            process: the process that draws.
            workers: threads that call it.
            parent: the window.
            first: format to begin with; None: that of ``choice``.
        """
        super().__init__(parent)
        self.setObjectName("figure_dialog")
        self.setWindowTitle(tr("Export figure"))
        self.figure = figure
        self._process = process
        self._words = dict(choice.words)
        self._title = ""
        self.formats = QButtonGroup(self)
        self.format_buttons = {name: self._format_button(name, *texts) for name, texts in _FORMATS.items()}
        self.style_box = self._combo("figure_style", {AS_SHOWN: translatable("As shown")})
        for style in STYLES:
            self.style_box.addItem(tr(style.title), style.id)
        self.style_box.addItem(tr("Another size…"), CUSTOM)
        self.width_mm = self._millimetres("figure_width", WIDTH_RANGE_MM, tr("Width"))
        self.height_mm = self._millimetres("figure_height", HEIGHT_RANGE_MM, tr("Height"))
        self.dpi = named(QSpinBox(self, suffix=tr(" px per inch")), "figure_dpi")
        self.dpi.setRange(*DPI_RANGE)
        self.plots = [self._plot_box(part, title) for part, title in figure.plan.parts]
        self.files = self._combo(
            "figure_files",
            {True: translatable("One, plots on top of each other"), False: translatable("One for each plot")},
        )
        self.legend = self._combo("figure_legend", LEGENDS)
        self.data = named(QCheckBox(tr("&Beside it, as CSV"), self), "figure_data")
        self.words = WordModel(self)
        self.word_table = set_up_table(
            QTableView(self), "figure_words", tr("Words in the figure"), self.words, is_single=True
        )
        self.preview = FigurePreview(process, workers, self)
        self.problem = ProblemLabel("figure_problem", parent=self)
        self._copy_reader = LatestReader(workers, self, "copy figure")
        self._lay_out()
        self._show(choice)
        if first is not None and self.format_buttons[first].isEnabled():
            self.format_buttons[first].setChecked(True)
        self._connect()
        self._on_changed()
        self.style_box.setFocus()

    # ---- answer ----

    @property
    def format(self) -> Format:
        """The chosen format."""
        return next(name for name, button in self.format_buttons.items() if button.isChecked())

    @property
    def choice(self) -> FigureChoice:
        """The current choices, without title and plots; web page and CSV keep the previous format of a picture."""
        legend: Legend = self.legend.currentData()
        format_ = self.format
        return FigureChoice(
            style=str(self.style_box.currentData()),
            kind=self._kind if format_ in (PAGE, DATA) else format_,
            width_mm=self.width_mm.value(),
            height_mm=self.height_mm.value(),
            dpi=self.dpi.value(),
            legend=legend,
            is_stacked=bool(self.files.currentData()),
            has_data=self.data.isChecked(),
            words=self._words,
        )

    @property
    def content(self) -> FigurePlan:
        """The selected plots before any choice of looks; the style "As shown" includes all plots."""
        if self.choice.style == AS_SHOWN:
            return self.figure.as_shown or self.figure.plan
        return self.figure.plan.only([part for part, box in self._part_boxes() if box.isChecked()])

    @property
    def plan(self) -> FigurePlan:
        """The figure in the selected style, with the selected plots."""
        choice = self.choice
        return replace(choice.look(self._title).of(self.content, choice.kind), words=self._words)

    def set_word(self, source: str, text: str) -> None:
        """Show ``text`` in place of a text of the figure, or the original if it is empty; `TITLE` is the heading."""
        if source == TITLE:
            self._title = text
        elif text and text != source:
            self._words[source] = text
        else:
            self._words.pop(source, None)
        self._on_changed()

    def edit_word(self, source: str) -> None:
        """Start editing a text of the figure in the table."""
        for row, word in enumerate(self.words.rows):
            if word.source == source:
                index = self.words.index(row, 1)
                self.word_table.setFocus()
                self.word_table.setCurrentIndex(index)
                self._scroll.ensureWidgetVisible(self.word_table)
                self.word_table.edit(index)

    def say(self, problem: str) -> None:
        """Show why an export failed; an empty text removes the message."""
        self.problem.say(problem)

    def set_busy(self, is_busy: bool) -> None:
        """Disable or enable exports; a running export can only be cancelled."""
        self.export_button.setEnabled(not is_busy)
        self.export_button.setText(tr("Exporting…") if is_busy else tr("Export…"))

    def done(self, result: int) -> None:
        """Stop the preview and close the dialog, accepted or not."""
        self.preview.stop()
        self._copy_reader.forget()
        super().done(result)

    # ---- internals ----

    def _lay_out(self) -> None:
        form = QFormLayout()
        self._form = form
        form.addRow(Label(tr("Format:")), h_box(None, *self.format_buttons.values(), None, margins=0, spacing=0))
        form.addRow(tr("&Width:"), self.style_box)
        self._size = QWidget(self)
        h_box(self._size, (self.width_mm, 1), (self.height_mm, 1), margins=0)
        size = Label(tr("&Size:"))
        size.setBuddy(self.width_mm)
        form.addRow(size, self._size)
        form.addRow(tr("&Resolution:"), self.dpi)
        form.addRow(tr("&Legend:"), self.legend)
        parts = v_box(None, *self.plots, spacing=2)
        form.addRow(tr("Plots:"), parts)
        form.addRow(tr("F&iles:"), self.files)
        form.addRow(tr("Data:"), self.data)
        form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
        form.setRowVisible(parts, len(self.plots) > 1)
        form.setRowVisible(self.files, len(self.plots) > 1)
        hint = muted(Label(tr("or double-click in the preview")))
        head = h_box(None, heading(Label(tr("Words in the figure"))), None, hint)
        choices = QWidget()
        v_box(choices, form, 4, head, (self.word_table, 1), margins=(0, 0, 8, 0))
        self._set_up_words()
        self._scroll = named(QScrollArea(self), "figure_choices")
        self._scroll.setWidget(choices)
        self._scroll.setWidgetResizable(True)
        self._scroll.setFrameShape(QScrollArea.Shape.NoFrame)
        self._scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        # Tab reaches the fields; focus on the area around them would be useless.
        self._scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        bar = self._scroll.verticalScrollBar().sizeHint().width()
        self._scroll.setMinimumWidth(max(_FORM, choices.minimumSizeHint().width() + bar))
        buttons, self.export_button = accept_buttons(self, tr("Export…"), self.export_wanted.emit)
        self.copy_button = named(QPushButton(tr("&Copy"), self), "figure_copy", tip=tr("Copy the figure as an image"))
        self.copy_button.setAutoDefault(False)
        v_box(
            self,
            (h_box(None, self._scroll, (self.preview, 1)), 1),
            self.problem,
            h_box(None, self.copy_button, (buttons, 1)),
        )
        self.setMinimumSize(_SMALLEST)
        room = self.screen().availableSize() - QSize(_MARGIN, 3 * _MARGIN)
        self.resize(QSize(872, 528).boundedTo(room).expandedTo(_SMALLEST))

    def _set_up_words(self) -> None:
        table = self.word_table
        table.setEditTriggers(
            QAbstractItemView.EditTrigger.DoubleClicked
            | QAbstractItemView.EditTrigger.SelectedClicked
            | QAbstractItemView.EditTrigger.EditKeyPressed
            | QAbstractItemView.EditTrigger.AnyKeyPressed
        )
        table.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        table.horizontalHeader().hide()
        table.horizontalHeader().setSectionResizeMode(0, QHeaderView.ResizeMode.Interactive)
        table.horizontalHeader().resizeSection(0, 130)
        row = table.verticalHeader().defaultSectionSize()
        table.setMinimumHeight(_WORD_ROWS * row + 2 * table.frameWidth())

    def _connect(self) -> None:
        self.formats.buttonToggled.connect(lambda _button, is_on: self._on_changed() if is_on else None)
        self.style_box.currentIndexChanged.connect(self._on_style_changed)
        for combo in (self.files, self.legend):
            combo.currentIndexChanged.connect(self._on_changed)
        for spin in (self.width_mm, self.height_mm):
            spin.valueChanged.connect(self._on_changed)
        self.dpi.valueChanged.connect(self._on_changed)
        for box in self.plots:
            box.toggled.connect(self._on_changed)
        self.words.edited.connect(self.set_word)
        self.preview.word_chosen.connect(self.edit_word)
        self.copy_button.clicked.connect(self._copy)
        self._copy_reader.read.connect(self._on_copied)
        self._copy_reader.failed.connect(lambda error: self.say(str(error)))

    def _show(self, choice: FigureChoice) -> None:
        self.style_box.choose(choice.style)
        self._kind: FigureKind = choice.kind
        self.format_buttons[choice.kind].setChecked(True)
        self.width_mm.setValue(choice.width_mm)
        self.height_mm.setValue(choice.height_mm)
        self.dpi.setValue(choice.dpi)
        self.legend.choose(choice.legend)
        self.files.choose(choice.is_stacked)
        self.data.setEnabled(self.figure.write_data is not None)
        self.data.setChecked(choice.has_data and self.data.isEnabled())
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
        choice, is_page, is_data = self.choice, self.format == PAGE, self.format == DATA
        is_drawn = not (is_page or is_data)
        is_shown = choice.style == AS_SHOWN
        if is_drawn:
            self._kind = choice.kind
        self.width_mm.setEnabled(is_drawn and (is_shown or choice.style == CUSTOM))
        self.width_mm.setSuffix(tr(" mm wide"))
        self.height_mm.setSuffix(tr(" mm high") if is_shown else tr(" mm each plot"))
        self._form.setRowVisible(self.dpi, choice.kind == "png" and is_drawn)
        for widget in (*self.plots, self.files, self.legend):
            widget.setEnabled(not is_shown and is_drawn)
        for widget in (self.style_box, self.word_table, self.copy_button):
            widget.setEnabled(is_drawn)
        # The shape of a topology determines its height, unless the whole figure has one.
        has_height = is_shown or any(part.form != "topology" for part in self.content.panels) or self.content.plots
        self.height_mm.setEnabled(is_drawn and bool(has_height))
        self.data.setEnabled(not is_data and self.figure.write_data is not None)
        chosen = [box for box in self.plots if box.isChecked()]
        if not is_shown and len(chosen) == 1:
            chosen[0].setEnabled(False)  # the last plot must remain, as in the window
        self.files.setEnabled(self.files.isEnabled() and len(chosen) > 1)
        self.say("")
        self._show_words()
        if is_data:
            self.preview.stop()
            self.preview.say(tr("A table in SI units: a heading, and the values that the figure shows, for programs."))
        elif is_page:
            self.preview.stop()
            self.preview.say(tr("A page for any browser: it simulates the runs again, and lets readers change them."))
        else:
            self.preview.show_figure(choice, self.plan)

    def _show_words(self) -> None:
        content = self.content
        texts = content.texts()
        places = (
            (texts.across, tr("Horizontal axis")),
            (texts.up, tr("Vertical axis")),
            (texts.others, tr("Heading")),
        )
        words = [FigureWord(TITLE, tr("Title"), self._title)]
        words += [FigureWord(text, role, self._words.get(text, text)) for each, role in places for text in each]
        words += [FigureWord(text, text, self._words.get(text, text)) for text in names_in(content)]
        if [each.source for each in words] == [each.source for each in self.words.rows]:
            self.words.rows = words
            self.words.say_changed()
        else:
            self.words.show_rows(words)

    def _copy(self) -> None:
        page = replace(next(iter(self.choice.pages(self.plan).values())), kind="png", dpi=_COPY_DPI)
        self.copy_button.setEnabled(False)
        self._copy_reader.ask(lambda _is_given_up: self._process.draw(page), is_other=True)

    def _on_copied(self, content: bytes) -> None:
        QGuiApplication.clipboard().setImage(QImage.fromData(content))
        self.copy_button.setEnabled(True)
        self.preview.caption.setText(tr("Copied as an image"))

    def _part_boxes(self) -> list[tuple[str, QCheckBox]]:
        return [(part, box) for (part, _), box in zip(self.figure.plan.parts, self.plots, strict=True)]

    def _format_button(self, name: Format, text: str, tip: str) -> QPushButton:
        button = named(QPushButton(tr(text), self), f"figure_format_{name}", tip=tr(tip))
        button.setCheckable(True)
        set_style(
            button,
            lambda t: (
                # The five formats fit side by side, also in German.
                "QPushButton { min-width: 0px; padding-left: 8px; padding-right: 8px; }"
                f"QPushButton:checked {{ color: {t.accent}; font-weight: bold; }}"
            ),
        )
        button.setAutoDefault(False)
        if name == PAGE and self.figure.write_page is None:
            button.setEnabled(False)
            button.setToolTip(self.figure.no_page or tr("This figure has no web page."))
        if name == DATA and self.figure.write_data is None:
            button.setEnabled(False)
            button.setToolTip(tr("This figure has no table of data."))
        self.formats.addButton(button)
        return button

    def _combo(self, name: str, items: Mapping[Any, str]) -> Choice:
        return Choice(name, ((data, tr(text)) for data, text in items.items()), self)

    def _plot_box(self, part: str, title: str) -> QCheckBox:
        box = named(QCheckBox(tr(title), self), f"figure_plot_{part}")
        box.setChecked(True)
        return box

    def _millimetres(self, name: str, allowed: tuple[float, float], text: str) -> QDoubleSpinBox:
        box = named(QDoubleSpinBox(self, decimals=1, suffix=tr(" mm")), name, text)
        box.setRange(*allowed)
        return box
