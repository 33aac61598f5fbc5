"""A report as a PDF of numbered pages: headings stay with what follows, tables break between rows, with a head again.

matplotlib writes the pages, so that figures are vectors and fonts are embedded as in single figures. A library for
documents was the alternative: it would have to take matplotlib's figures in by another library still.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import TYPE_CHECKING

from subflow_app.features.paper.core.figures import (
    POINTS_PER_INCH,
    drawing,
    figure_size_in,
    fill_figure,
    spell_controls,
)
from subflow_app.features.paper.core.page_text import FAMILIES, Face, width_pt, wrapped
from subflow_app.features.paper.core.panel_figure import fill_panels, panels_size_in
from subflow_app.features.paper.core.paper_styles import DEFAULT_STYLE, MM_PER_INCH
from subflow_app.features.paper.core.report import Heading, Listing, PageSize, Paragraph, Picture, Report
from subflow_app.features.paper.core.topology_sketch import fill_sketch, sketch_size_in
from subflow_app.vocabulary.plain_text import readable_line
from subflow_app.vocabulary.tables import TextTable

if TYPE_CHECKING:
    from matplotlib.backends.backend_pdf import PdfPages
    from matplotlib.figure import Figure, SubFigure

_MM: dict[PageSize, tuple[float, float]] = {"a4": (210.0, 297.0), "letter": (215.9, 279.4)}
_MARGIN_PT = 56.0
_FOOTER_PT = 30.0
_BODY_PT, _TABLE_PT, _LEAST_TABLE_PT, _MONO_PT, _SMALL_PT = 9.0, 7.6, 5.6, 7.0, 7.5
_HEADING_PT = {1: 13.0, 2: 10.5, 3: 9.0}
_LEADING = 1.42
_GAP_PT = 9.0
_CELL_GAP_PT = 9.0
_INK, _MUTED, _RULE = "#1B1B1B", "#555555", "#999999"
_INDENT_PT, _PAGE_NUMBER_PT = 12.0, 24.0
_MARK_INK = {"✓": "#19702f", "✗": "#b3231b"}
_CONTINUED = "      ↳ "
# Of the room on a page: a table that is not higher is not broken.
_KEPT_WHOLE = 0.35
# What a heading needs below it on the same page.
_KEPT_WITH_HEADING_PT = 90.0


def render_pdf(report: Report) -> bytes:
    """The file."""
    from matplotlib.backends.backend_pdf import PdfPages

    content = io.BytesIO()
    metadata = {"Title": readable_line(report.title), "Creator": "Subflow", "CreationDate": None}
    with drawing(DEFAULT_STYLE), PdfPages(content, metadata=metadata) as pdf:
        # Where headings stand is known once everything has been laid out: first without drawing, then for good.
        places = _laid_out(_Pages(None, report), report, None) if report.contents else None
        _laid_out(_Pages(pdf, report), report, places)
    return content.getvalue()


def _laid_out(pages: _Pages, report: Report, places: Sequence[int] | None) -> list[int]:
    """Fill pages with the report; ``places`` are the page numbers of its headings. Returns where they came to stand."""
    found = []
    headings = [block for block in report.blocks if isinstance(block, Heading)]
    pages.title(report.title, report.subtitle)
    if report.contents:
        known = places or [0] * len(headings)
        listed = [(h, page) for h, page in zip(headings, known, strict=True) if h.level <= report.contents]
        pages.contents(listed)
    for block in report.blocks:
        if isinstance(block, Heading):
            pages.heading(block)
            found.append(pages.number)
        elif isinstance(block, Paragraph):
            pages.paragraph(block.text)
        elif isinstance(block, Listing):
            pages.listing(block.text)
        elif isinstance(block, Picture):
            pages.picture(block)
        else:
            pages.table(block)
    pages.end()
    return found


class _Pages:
    """The page that is being filled; `_y` is how far, points from the top. Without a file nothing is drawn."""

    def __init__(self, pdf: PdfPages | None, report: Report) -> None:
        self._pdf = pdf
        self._title = report.title
        width, height = _MM[report.page]
        self._width = width / MM_PER_INCH * POINTS_PER_INCH
        self._height = height / MM_PER_INCH * POINTS_PER_INCH
        self._room = self._width - 2 * _MARGIN_PT
        self.number = 0
        self._page: Figure | None = None
        self._begin()

    # ---- blocks ----

    def title(self, text: str, subtitle: str) -> None:
        self._lines(wrapped(text, "bold", 18.0, self._room), "bold", 18.0, _INK)
        self._y += 3.0
        self._lines(wrapped(subtitle, "text", _BODY_PT, self._room), "text", _BODY_PT, _MUTED)
        self._y += _GAP_PT

    def contents(self, headings: Sequence[tuple[Heading, int]]) -> None:
        """Headings with their pages, as far as they are known."""
        for heading, page in headings:
            face: Face = "bold" if heading.level == 1 else "text"
            indent = (heading.level - 1) * _INDENT_PT
            told = wrapped(heading.text, face, _TABLE_PT, self._room - indent - _PAGE_NUMBER_PT)
            if self._y + _TABLE_PT * _LEADING > self._bottom:
                self._next()
            self._y += _TABLE_PT * _LEADING * (1.35 if heading.level == 1 else 1.0)
            line = told[0] + ("…" if len(told) > 1 else "")
            base = self._y - 0.35 * _TABLE_PT
            self._text(line, _MARGIN_PT + indent, base, face, _TABLE_PT, _INK)
            right = self._width - _MARGIN_PT
            self._text(str(page), right, base, "text", _TABLE_PT, _MUTED, is_right=True)
        self._y += 2.0 * _GAP_PT

    def heading(self, heading: Heading) -> None:
        size = _HEADING_PT[heading.level]
        lines = wrapped(heading.text, "bold", size, self._room)
        space = 1.6 * _GAP_PT if heading.level == 1 else _GAP_PT
        self._need(space + len(lines) * size * _LEADING + _KEPT_WITH_HEADING_PT)
        if self._y > _MARGIN_PT:
            self._y += space
        self._lines(lines, "bold", size, _INK)
        if heading.level == 1:
            self._rule(self._room, _RULE)
        self._y += 0.6 * _GAP_PT

    def paragraph(self, text: str) -> None:
        self._lines(wrapped(text, "text", _BODY_PT, self._room), "text", _BODY_PT, _INK)
        self._y += _GAP_PT

    def listing(self, text: str) -> None:
        # Letter by letter, because blanks count here; what is broken goes on further in, as no line of its own does.
        letters = int(self._room / width_pt("0", "mono", _MONO_PT))
        for line in text.splitlines():
            rest = line[letters:]
            step = letters - len(_CONTINUED)
            parts = [_CONTINUED + rest[start : start + step] for start in range(0, len(rest), step)]
            self._lines([line[:letters], *parts], "mono", _MONO_PT, _INK)
        self._y += _GAP_PT

    def picture(self, picture: Picture) -> None:
        if picture.panels is not None:
            width_in, height_in = panels_size_in(picture.panels)
        elif picture.figure is not None:
            width_in, height_in = figure_size_in(picture.figure)
        else:
            assert picture.sketch is not None
            width_in, height_in = sketch_size_in(picture.sketch, self._room / POINTS_PER_INCH)
        width, height = min(self._room, width_in * POINTS_PER_INCH), height_in * POINTS_PER_INCH
        caption = wrapped(picture.caption, "text", _SMALL_PT, self._room)
        self._need(height + len(caption) * _SMALL_PT * _LEADING + _GAP_PT)
        if self._pdf is not None:
            part = self._part(width, height)
            if picture.panels is not None:
                fill_panels(part, picture.panels)
            elif picture.figure is not None:
                fill_figure(part, picture.figure)
            else:
                assert picture.sketch is not None
                fill_sketch(part, picture.sketch)
        self._y += height + 2.0
        self._lines(caption, "text", _SMALL_PT, _MUTED)
        self._y += 1.4 * _GAP_PT

    def table(self, table: TextTable) -> None:
        size, widths = self._fitted(table)
        line = size * _LEADING
        head = [
            wrapped(column.title, "bold", size, width) + ([column.unit] if column.unit else [])
            for column, width in zip(table.columns, widths, strict=True)
        ]
        rows = [
            [wrapped(cell, "text", size, width) for cell, width in zip(row, widths, strict=True)] for row in table.rows
        ]
        title = wrapped(table.title, "bold", _SMALL_PT + 0.5, self._room) if table.title else []
        head_height = max((len(cell) for cell in head), default=1) * line + 5.0
        heights = [max(len(cell) for cell in row) * line for row in rows]
        is_small = sum(heights) < _KEPT_WHOLE * (self._bottom - _MARGIN_PT)
        together = sum(heights) + _GAP_PT if is_small else sum(heights[:2])
        self._need(len(title) * _BODY_PT * _LEADING + head_height + together)
        self._lines(title, "bold", _SMALL_PT + 0.5, _INK)
        self._y += 2.0
        self._head(table, head, widths, size)
        for row, height in zip(rows, heights, strict=True):
            if self._y + height > self._bottom:
                self._next()
                self._head(table, head, widths, size)
            self._row(table, row, widths, size, "text")
            self._y += height
        self._rule(sum(widths) + _CELL_GAP_PT * (len(widths) - 1), _RULE)
        self._y += 1.3 * _GAP_PT

    def end(self) -> None:
        """Write the last page."""
        self._finish()

    # ---- tables ----

    def _fitted(self, table: TextTable) -> tuple[float, list[float]]:
        """Size of the letters and widths of the columns: as wide as their cells, else texts are broken into lines."""
        room = self._room - _CELL_GAP_PT * (len(table.columns) - 1)
        size = _TABLE_PT
        while True:
            natural, least = [], []
            for index, column in enumerate(table.columns):
                cells = [row[index] for row in table.rows]
                words = [word for cell in (column.title, *cells) for word in cell.split()]
                heads = max(width_pt(word, "bold", size) for word in (*column.title.split(), column.unit, " "))
                widest = max([heads, width_pt(column.title, "bold", size), *(width_pt(c, "text", size) for c in cells)])
                longest = max([heads, *(width_pt(word, "text", size) for word in words)])
                natural.append(widest + 0.5)
                least.append(
                    max(heads, *(width_pt(c, "text", size) for c in cells), 0.0) + 0.5
                    if column.is_number
                    else longest + 0.5
                )
            if sum(natural) <= room:
                return size, natural
            if sum(least) <= room:
                share = (room - sum(least)) / max(1e-9, sum(natural) - sum(least))
                return size, [low + (high - low) * share for low, high in zip(least, natural, strict=True)]
            if size <= _LEAST_TABLE_PT:
                return size, [low * room / sum(least) for low in least]
            size -= 0.4

    def _head(self, table: TextTable, head: Sequence[list[str]], widths: Sequence[float], size: float) -> None:
        height = max((len(cell) for cell in head), default=1)
        aligned = [[""] * (height - len(cell)) + cell for cell in head]
        self._row(table, aligned, widths, size, "bold")
        self._y += height * size * _LEADING
        self._rule(sum(widths) + _CELL_GAP_PT * (len(widths) - 1), _MUTED)
        self._y += 2.0

    def _row(
        self, table: TextTable, cells: Sequence[list[str]], widths: Sequence[float], size: float, face: Face
    ) -> None:
        left = _MARGIN_PT
        for column, cell, width in zip(table.columns, cells, widths, strict=True):
            for number, text in enumerate(cell):
                is_unit = face == "bold" and bool(column.unit) and number == len(cell) - 1
                x = left + width if column.is_number else left
                y = self._y + (number + 1) * size * _LEADING - 0.35 * size
                ink = _MARK_INK.get(cell[0][:1], _INK) if column.is_mark else _INK
                self._text(text, x, y, "text" if is_unit else face, size, _MUTED if is_unit else ink, column.is_number)
            left += width + _CELL_GAP_PT

    # ---- the page ----

    @property
    def _bottom(self) -> float:
        return self._height - _MARGIN_PT

    def _need(self, height: float) -> None:
        """Begin a page unless so much fits on this one; what fits on no page begins on a page of its own."""
        if self._y + height > self._bottom and self._y > _MARGIN_PT:
            self._next()

    def _lines(self, lines: Sequence[str], face: Face, size: float, colour: str) -> None:
        for line in lines:
            if self._y + size * _LEADING > self._bottom:
                self._next()
            self._y += size * _LEADING
            self._text(line, _MARGIN_PT, self._y - 0.35 * size, face, size, colour)

    def _text(
        self, text: str, x: float, y: float, face: Face, size: float, colour: str, is_right: bool = False
    ) -> None:
        if self._pdf is None or not text.strip():
            return
        assert self._page is not None
        family, weight = FAMILIES[face]
        self._page.text(
            x / self._width,
            1.0 - y / self._height,
            text,
            fontsize=size,
            family=family,
            weight=weight,
            color=colour,
            ha="right" if is_right else "left",
            va="baseline",
        )

    def _rule(self, width: float, colour: str) -> None:
        from matplotlib.lines import Line2D

        if self._pdf is not None:
            assert self._page is not None
            height = 1.0 - (self._y + 1.5) / self._height
            ends = [_MARGIN_PT / self._width, (_MARGIN_PT + width) / self._width]
            self._page.add_artist(Line2D(ends, [height, height], linewidth=0.6, color=colour))
        self._y += 2.0

    def _part(self, width: float, height: float) -> SubFigure:
        """A part of the page at the place that is reached: the middle cell of a grid that fills the page."""
        from matplotlib.gridspec import GridSpec

        assert self._page is not None
        below = self._height - self._y - height
        beside = self._width - _MARGIN_PT - width
        grid = GridSpec(
            3,
            3,
            figure=self._page,
            width_ratios=[_MARGIN_PT, width, beside],
            height_ratios=[self._y, height, max(below, 1.0)],
        )
        return self._page.add_subfigure(grid[1, 1])

    def _begin(self) -> None:
        from matplotlib.figure import Figure

        size = (self._width / POINTS_PER_INCH, self._height / POINTS_PER_INCH)
        self._page = Figure(figsize=size, layout="constrained")
        self.number += 1
        self._y = _MARGIN_PT

    def _finish(self) -> None:
        assert self._page is not None
        y = self._height - _FOOTER_PT
        told = wrapped(self._title, "text", _SMALL_PT, 0.8 * self._room)
        self._text(told[0] + ("…" if len(told) > 1 else ""), _MARGIN_PT, y, "text", _SMALL_PT, _MUTED)
        self._text(f"Page {self.number}", self._width - _MARGIN_PT, y, "text", _SMALL_PT, _MUTED, is_right=True)
        if self._pdf is not None:
            spell_controls(self._page)
            self._pdf.savefig(self._page)  # type: ignore[no-untyped-call]
        self._page = None

    def _next(self) -> None:
        self._finish()
        self._begin()
