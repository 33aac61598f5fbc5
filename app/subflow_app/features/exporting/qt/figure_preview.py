"""The figure as it will be written, scaled to the room there is; drawn by the very code that writes it."""

from __future__ import annotations

from dataclasses import replace

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QPixmap, QResizeEvent
from PySide6.QtWidgets import QFrame, QSizePolicy, QWidget

from subflow_app.features.exporting.qt.figure_source import FigureSource
from subflow_app.features.paper.core.figure_choice import FigureChoice
from subflow_app.features.paper.core.figure_plan import FigurePlan
from subflow_app.features.paper.core.paper_styles import MM_PER_INCH
from subflow_app.foundation.errors import AppError
from subflow_app.toolkit import format as fmt
from subflow_app.toolkit.latest_reader import LatestReader
from subflow_app.toolkit.plain_text import Label
from subflow_app.toolkit.widgets.shorthand import named, timer, v_box
from subflow_app.vocabulary.language import tr, trn

# After the last change: while a number is being typed nothing is drawn.
_DELAY_MS = 150
_DPI_RANGE = (72, 400)
_MARGIN = 12


class FigurePreview(QFrame):
    """A picture on paper with a line below it that says what it is, or why there is none."""

    def __init__(self, source: FigureSource, parent: QWidget | None = None) -> None:
        """Shows figures of ``source``."""
        super().__init__(parent)
        self.setObjectName("figure_preview")
        self.setFrameShape(QFrame.Shape.StyledPanel)
        self._source = source
        self._wanted: tuple[FigureChoice, FigurePlan | None] | None = None
        self._content = QPixmap()
        self._told = ""
        self.picture = named(Label(self), "figure_picture", tr("Preview of the figure"))
        self.picture.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.picture.setMinimumSize(QSize(320, 260))
        # The picture follows the room there is, not the other way round.
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
        """Whether the picture is of what was asked for last."""
        return not self._reader.is_busy and not self._delay.isActive()

    @property
    def pixmap(self) -> QPixmap:
        """The picture as it was drawn, before it is scaled."""
        return self._content

    def show_figure(self, choice: FigureChoice, plan: FigurePlan | None) -> None:
        """Shows this figure soon; None is the figure as shown."""
        self._wanted = (choice, plan)
        self._delay.start()

    def stop(self) -> None:
        """Draws nothing any more."""
        self._delay.stop()
        self._reader.forget()

    def _draw(self) -> None:
        if self._wanted is None:
            return
        choice, plan = self._wanted
        self._wanted = None
        if plan is None:
            self._reader.forget()
            self._draw_as_shown(choice)
            return
        pages = plan.one_per_plot() if not choice.is_stacked else [plan]
        self.caption.setText(tr("Drawing…"))
        self._told = self._described(plan.style.width_mm, choice, len(pages))
        # One figure stands for all: they differ in their curves alone.
        page = replace(pages[0], kind="png", dpi=self._dpi(plan.style.width_mm))
        self._reader.ask(lambda _is_given_up: self._source.draw(page), is_other=True)

    def _draw_as_shown(self, choice: FigureChoice) -> None:
        try:
            content = self._source.as_shown(replace(choice, kind="png", dpi=self._dpi(choice.width_mm)))
        except AppError as error:
            self._tell(str(error))
            return
        self._told = self._described(choice.width_mm, choice, 1)
        self._show(content)

    def _tell(self, text: str) -> None:
        self._content = QPixmap()
        self.picture.setPixmap(self._content)
        self.caption.setText(text)

    def _show(self, content: bytes) -> None:
        self._content = QPixmap()
        self._content.loadFromData(content)
        self.caption.setText(self._told)
        self._fit()

    def _fit(self) -> None:
        if self._content.isNull():
            return
        ratio = self.devicePixelRatioF()
        room = (self.picture.size() - QSize(_MARGIN, _MARGIN)) * ratio
        scaled = self._content.scaled(
            room, Qt.AspectRatioMode.KeepAspectRatio, Qt.TransformationMode.SmoothTransformation
        )
        scaled.setDevicePixelRatio(ratio)
        self.picture.setPixmap(scaled)

    def _dpi(self, width_mm: float) -> int:
        """As many pixels as the picture is wide: fewer would be blurred, more cost time."""
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
        """Keeps the picture as large as there is room."""
        super().resizeEvent(event)
        self._fit()
