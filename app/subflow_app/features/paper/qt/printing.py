"""Printing of a report's HTML page as a PDF with numbered sheets, by Qt without a display.

Qt lays out the page on one endless sheet, and this module divides it into sheets. If Qt divided the page, it would
split rows, and separate headings from their text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from PySide6.QtCore import QBuffer, QHashSeed, QIODevice, QMarginsF, QPointF, QRectF, Qt, QUuid
from PySide6.QtGui import (
    QAbstractTextDocumentLayout,
    QColor,
    QFont,
    QFontDatabase,
    QFontMetricsF,
    QGuiApplication,
    QPageSize,
    QPainter,
    QPdfWriter,
    QPen,
    QTextBlock,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
    QTextFrameFormat,
    QTextLength,
    QTextTable,
    QTextTableCellFormat,
)

from subflow_app.features.paper.core.report import PageSize
from subflow_app.features.paper.core.report_file import PrintJob

_SIZES: dict[PageSize, QPageSize.PageSizeId] = {"a4": QPageSize.PageSizeId.A4, "letter": QPageSize.PageSizeId.Letter}
_FONTS = ("DejaVuSans", "DejaVuSans-Bold", "DejaVuSansMono")
_DPI = 1200
_PT, _PX = _DPI / 72.0, _DPI / 96.0
_MARGIN, _FOOTER = 56.0 * _PT, 30.0 * _PT
_BODY_PT, _TABLE_PT, _LEAST_TABLE_PT, _SMALL_PT = 9.0, 7.6, 5.6, 7.5
_INK, _MUTED, _RULE = "#1b1b1b", "#555555", "#999999"
# Qt's replacement character for an image in a text.
_OBJECT = "\ufffc"
_INDENT = "\u00a0" * 5
# Tables up to this height are kept on one sheet.
_KEPT_WHOLE = 230.0 * _PT

_STYLE = f"""
body {{ font-family: "DejaVu Sans"; font-size: {_BODY_PT}pt; color: {_INK}; line-height: 120%; }}
h1 {{ font-size: 18pt; margin: 0; }}
h2 {{ margin-top: 24px; margin-bottom: 12px; }}
h3 {{ margin-top: 16px; margin-bottom: 8px; }}
h4 {{ margin-top: 14px; margin-bottom: 8px; }}
p {{ margin-top: 0; margin-bottom: 12px; }}
.title, .caption, .h2, .h3, .h4 {{ font-size: 7.6pt; }}
.h2, .h3, .h4 {{ margin-bottom: 1px; }}
.h2 {{ font-weight: bold; margin-top: 5px; }}
.subtitle, .caption, .unit {{ color: {_MUTED}; }}
.title {{ font-weight: bold; margin-bottom: 2px; }}
.caption {{ margin-bottom: 18px; }}
.drawing {{ margin-bottom: 2px; line-height: 100%; }}
.good {{ color: #19702f; }}
.bad {{ color: #b3231b; }}
a {{ color: {_INK}; text-decoration: none; }}
table {{ font-size: {_TABLE_PT}pt; margin-top: 0; margin-bottom: 16px; border-collapse: collapse; }}
th, td {{ padding: 1px 12px 1px 0; text-align: left; vertical-align: top; white-space: pre-wrap; }}
th {{ vertical-align: bottom; border-bottom: 1px solid {_MUTED}; }}
th.number, td.number {{ text-align: right; }}
td.number {{ white-space: nowrap; }}
.unit {{ font-weight: normal; }}
code {{ font-family: "DejaVu Sans Mono"; }}
pre {{ font-family: "DejaVu Sans Mono"; font-size: 7pt; white-space: pre-wrap; margin-top: 0; margin-bottom: 12px; }}
"""
# Qt renders only old HTML, which these replacements produce. The patterns cannot match text, because text is escaped.
_IN_OLD_HTML = (
    (r"<style>.*?</style>", ""),
    (r"<figure>", '<p class="drawing">'),
    (r"<figcaption>(.*?)</figcaption></figure>", r'</p><p class="caption">\1</p>'),
    (r"<table><caption>(.*?)</caption>", r'<p class="title">\1</p><table>'),
    (r"<table>", '<table cellspacing="0" cellpadding="0">'),
    (r' <span class="unit">', '<br><span class="unit">'),
)
_NO_DATES = b"""<?xpacket begin="" id="W5M0MpCehiHzreSzNTczkc9d"?>
<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"/></x:xmpmeta>
<?xpacket end="w"?>"""
_HEADINGS = re.compile(r'<h([2-4]) id="s\d+">(.*?)</h\d>', re.DOTALL)


def print_pages(job: PrintJob) -> bytes:
    """The PDF of an HTML page; its bytes depend only on the job."""
    _prepare_qt()
    content = QBuffer()
    content.open(QIODevice.OpenModeFlag.WriteOnly)
    writer = QPdfWriter(content)
    writer.setTitle(job.title)
    writer.setCreator("Subflow")
    writer.setDocumentXmpMetadata(_NO_DATES)
    writer.setDocumentId(QUuid.createUuidV5(QUuid(), job.html.encode()))
    writer.setResolution(_DPI)
    writer.setPageSize(QPageSize(_SIZES[job.page]))
    writer.setPageMargins(QMarginsF())
    document = _document(job, writer)
    sheets = list(_sheets(list(_pieces(document)), writer.height() - 2.0 * _MARGIN))
    _paint(document, sheets, writer, job)
    # Replacements keep the length, because the file contains the byte offset of each part.
    pages = content.data().data()
    dateless = re.sub(rb"/(Creation|Mod)Date \(.*?\)", lambda found: b" " * len(found[0]), pages, count=2)
    return dateless.replace(b" <0009> ", b" <0020> ")  # Qt maps blanks to tabs, which would appear in copied text


@cache
def _prepare_qt() -> QGuiApplication:
    from matplotlib import get_data_path

    QHashSeed.setDeterministicGlobalSeed()  # the order of fonts in a PDF depends on a hash
    QGuiApplication.setAttribute(Qt.ApplicationAttribute.AA_Use96Dpi)
    application = QGuiApplication(["subflow", "-platform", "offscreen"])
    for name in _FONTS:
        QFontDatabase.addApplicationFont(str(Path(get_data_path(), "fonts", "ttf", f"{name}.ttf")))
    return application


def _document(job: PrintJob, writer: QPdfWriter) -> QTextDocument:
    html = job.html
    for pattern, old in _IN_OLD_HTML:
        html = re.sub(pattern, old, html, flags=re.DOTALL)
    found = _HEADINGS.findall(html) if job.contents else []
    listed = [f'<p class="h{level}">{_INDENT * (int(level) - 2)}{text}</p>' for level, text in found]
    html = re.sub(r"<nav.*?</nav>", lambda _: "".join(listed), html, flags=re.DOTALL)
    html = re.sub(r'(<h[2-4]) id="s\d+"', r"\1", html)  # the anchor would make the first letter a separate word
    document = QTextDocument()
    document.setUndoRedoEnabled(False)
    document.setDocumentMargin(0.0)
    font = QFont("DejaVu Sans")
    font.setPointSizeF(_BODY_PT)  # headings are multiples of this size
    font.setFeature(QFont.Tag("liga"), 0)  # without ligatures, searches in the PDF find words as spelled
    document.setDefaultFont(font)
    document.setDefaultStyleSheet(_STYLE)
    document.documentLayout().setPaintDevice(writer)
    document.setHtml(html)
    edit = QTextCursor(document)
    edit.beginEditBlock()
    for frame in document.rootFrame().childFrames():
        if isinstance(frame, QTextTable):  # an image is a frame too
            _fit(frame, writer.width() - 2.0 * _MARGIN)
    edit.endEditBlock()
    document.setTextWidth(writer.width() - 2.0 * _MARGIN)
    return document


# ---- tables ----


def _fit(table: QTextTable, room: float) -> None:
    """Fits column widths to the cells, with a smaller font and line breaks if necessary; adds a rule at the bottom."""
    natural, least = [], []
    for column in range(table.columns()):
        blocks = [block for row in range(table.rows()) for block in _cell(table, row, column)]
        padding = 13.0 * _PX
        natural.append(max((_width(block, block.text()) for block in blocks), default=0.0) + padding)
        words = [
            _width(block, word)
            for block in blocks
            for word in ([block.text()] if block.blockFormat().nonBreakableLines() else block.text().split())
        ]
        least.append(max(words, default=0.0) + padding)
    size = _TABLE_PT
    while size > _LEAST_TABLE_PT and sum(least) * size / _TABLE_PT > room:
        size -= 0.4
    share = size / _TABLE_PT
    natural, least = [width * share for width in natural], [width * share for width in least]
    if sum(natural) <= room:
        widths = natural
    elif sum(least) <= room:
        part = (room - sum(least)) / (sum(natural) - sum(least))
        widths = [low + (high - low) * part for low, high in zip(least, natural, strict=True)]
    else:
        widths = [width * room / sum(least) for width in least]
    form = table.format()
    form.setColumnWidthConstraints([QTextLength(QTextLength.Type.FixedLength, width / _PX) for width in widths])
    table.setFormat(form)
    if size < _TABLE_PT:
        smaller = QTextCharFormat()
        smaller.setFontPointSize(size)
        cursor = table.firstCursorPosition()
        cursor.setPosition(table.lastPosition(), QTextCursor.MoveMode.KeepAnchor)
        cursor.mergeCharFormat(smaller)
    for column in range(table.columns()):
        cell = table.cellAt(table.rows() - 1, column)
        ruled = QTextTableCellFormat(cell.format().toTableCellFormat())
        ruled.setBottomBorder(1.0)
        ruled.setBottomBorderStyle(QTextFrameFormat.BorderStyle.BorderStyle_Solid)
        ruled.setBottomBorderBrush(QColor(_RULE))
        cell.setFormat(ruled)


def _width(block: QTextBlock, text: str) -> float:
    metrics = QFontMetricsF(block.charFormat().font(), block.document().documentLayout().paintDevice())
    return max(metrics.horizontalAdvance(line) for line in text.split("\u2028"))


def _blocks(document: QTextDocument) -> Iterator[QTextBlock]:
    """Blocks of the text outside of tables."""
    block = document.begin()
    while block.isValid():
        if _table(block) is None:
            yield block
        block = block.next()


def _table(block: QTextBlock) -> QTextTable | None:
    table: QTextTable | None = QTextCursor(block).currentTable()
    return table


def _cell(table: QTextTable, row: int, column: int) -> list[QTextBlock]:
    cell = table.cellAt(row, column)
    block, found = cell.firstCursorPosition().block(), []
    while block.isValid() and block.position() <= cell.lastPosition():
        found.append(block)
        block = block.next()
    return found


# ---- sheets ----


@dataclass(frozen=True, slots=True)
class _Piece:
    """A line, an image or a table row, which is never divided.

    Attributes:
        top, bottom: place on the endless sheet.
        stays: True if the next piece must be on the same sheet.
        head: top and bottom of the table heading that is repeated above the piece on a new sheet; zeros if no heading
            is repeated.
    """

    top: float
    bottom: float
    stays: bool = False
    head: tuple[float, float] = (0.0, 0.0)


def _pieces(document: QTextDocument) -> Iterator[_Piece]:
    block = document.begin()
    while block.isValid():
        table = _table(block)
        if table is not None:
            yield from _rows(table)
            block = QTextCursor(table.lastCursorPosition()).block().next()
            continue
        lines = block.layout()
        corner = document.documentLayout().blockBoundingRect(block).top()
        stays = block.blockFormat().headingLevel() > 1 or block.text() == _OBJECT or _table(block.next()) is not None
        for number in range(lines.lineCount() if block.text() else 0):
            line = lines.lineAt(number)
            # The first two lines of a paragraph are kept together, and so are the last two.
            is_end = number == 0 < lines.lineCount() - 1 or number == lines.lineCount() - 2
            yield _Piece(corner + line.y(), corner + line.y() + line.height(), stays or is_end)
        block = block.next()


def _rows(table: QTextTable) -> Iterator[_Piece]:
    rows = []
    for row in range(table.rows()):
        found = [_rect(each) for column in range(table.columns()) for each in _cell(table, row, column)]
        rows.append((min(each.top() for each in found) - _PX, max(each.bottom() for each in found) + 2.0 * _PX))
    rows[-1] = (rows[-1][0], rows[-1][1] + 5.0 * _PX)  # includes the rule below the table
    is_small = rows[-1][1] - rows[0][0] < _KEPT_WHOLE
    for number, (top, bottom) in enumerate(rows):
        stays = number < len(rows) - 1 and (is_small or number < 2)
        yield _Piece(top, bottom, stays, rows[0] if number else (0.0, 0.0))


def _sheets(pieces: Sequence[_Piece], height: float) -> Iterator[list[_Piece]]:
    """The pieces grouped by sheet."""
    start = 0
    while start < len(pieces):
        head = pieces[start].head
        room = height - (head[1] - head[0])
        end = start + 1
        while end < len(pieces) and pieces[end].bottom - pieces[start].top <= room:
            end += 1
        last = end
        while end < len(pieces) and last > start and pieces[last - 1].stays:
            last -= 1
        end = last if last > start else end
        yield list(pieces[start:end])
        start = end


def _paint(document: QTextDocument, sheets: Sequence[Sequence[_Piece]], writer: QPdfWriter, job: PrintJob) -> None:
    font = QFont("DejaVu Sans")
    font.setPointSizeF(_SMALL_PT)
    width = document.textWidth()
    title = QFontMetricsF(font, writer).elidedText(job.title, Qt.TextElideMode.ElideRight, 0.8 * width)
    rules = [_rect(block).bottom() for block in _blocks(document) if block.blockFormat().headingLevel() == 2]
    notes = dict(_page_numbers(document, sheets, job.contents))
    painter = QPainter(writer)
    painter.setRenderHint(QPainter.RenderHint.LosslessImageRendering)

    def write(y: float, text: str, side: Qt.AlignmentFlag) -> None:
        painter.setFont(font)
        painter.setPen(QColor(_MUTED))
        painter.drawText(QRectF(0.0, y - 20.0 * _PT, width, 20.0 * _PT), side | Qt.AlignmentFlag.AlignBottom, text)

    def draw(top: float, bottom: float) -> None:
        context = QAbstractTextDocumentLayout.PaintContext()
        context.clip = QRectF(0.0, top, width, bottom - top)
        painter.save()
        painter.setClipRect(context.clip)
        document.documentLayout().draw(painter, context)
        painter.restore()

    for number, pieces in enumerate(sheets, start=1):
        if number > 1:
            writer.newPage()
        painter.resetTransform()
        painter.translate(_MARGIN, _MARGIN)
        write(writer.height() - _MARGIN - _FOOTER, title, Qt.AlignmentFlag.AlignLeft)
        write(writer.height() - _MARGIN - _FOOTER, f"Page {number}", Qt.AlignmentFlag.AlignRight)
        (top, bottom), start, end = pieces[0].head, pieces[0].top, pieces[-1].bottom
        if bottom > top:
            painter.translate(0.0, -top)
            draw(top, bottom)
            painter.translate(0.0, bottom)
        painter.translate(0.0, -start)
        draw(start, end)
        painter.setPen(QPen(QColor(_RULE), 0.6 * _PT))
        for y in rules:
            if start <= y <= end:
                painter.drawLine(QPointF(0.0, y + 2.0 * _PT), QPointF(width, y + 2.0 * _PT))
        for y, page in notes.items():
            if start <= y <= end:
                write(y, str(page), Qt.AlignmentFlag.AlignRight)
    painter.end()


def _page_numbers(
    document: QTextDocument, sheets: Sequence[Sequence[_Piece]], contents: int
) -> Iterator[tuple[float, int]]:
    """Bottom of each line of the table of contents, with the page number of its heading."""
    blocks = list(_blocks(document))
    headings = [block for block in blocks if 2 <= block.blockFormat().headingLevel() <= contents + 1]
    # The table of contents follows title and subtitle.
    for line, heading in zip(blocks[2:], headings, strict=False):
        place = _rect(heading).center().y()
        yield _rect(line).bottom(), next(n for n, sheet in enumerate(sheets, 1) if sheet[-1].bottom > place)


def _rect(block: QTextBlock) -> QRectF:
    return block.document().documentLayout().blockBoundingRect(block)
