"""Report as a file: an HTML page, or the same page printed as a PDF.

The HTML file contains its figures, loads nothing, and runs no scripts. All text in it is escaped. The page for a PDF
differs only in its figures, which are bitmaps, because Qt's SVG renderer neither clips nor hatches well.

Qt prints the PDF. Commands do not load Qt, so they leave printing to the drawing process.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, replace

from subflow_app.features.paper.core.figure_plan import FigureKind
from subflow_app.features.paper.core.figure_process import FigureProcess
from subflow_app.features.paper.core.figures import render_figure
from subflow_app.features.paper.core.report import Block, Heading, Listing, PageSize, Paragraph, Picture, Report
from subflow_app.vocabulary.plain_text import readable_line
from subflow_app.vocabulary.tables import html_text, table_html

# Always light, like paper. Printed pages break neither after headings nor within figures and rows.
_STYLE = """
:root { color-scheme: light; }
body { margin: 2rem auto; max-width: 62rem; padding: 0 1.5rem; background: #fff; color: #1b1b1b;
  font: 16px/1.5 "DejaVu Sans", Verdana, "Segoe UI", sans-serif; }
h1 { font-size: 1.7rem; line-height: 1.25; margin-bottom: 0.2rem; }
h2 { font-size: 1.3rem; margin-top: 2.4rem; border-bottom: 1px solid #999; padding-bottom: 0.2rem; }
h3 { font-size: 1.05rem; margin-top: 1.6rem; }
h4 { font-size: 0.95rem; margin: 1.2rem 0 0.3rem; }
.subtitle, figcaption, .unit { color: #555; }
nav ul { columns: 2; padding-left: 1.2rem; }
nav ul ul { columns: 1; }
nav li { break-inside: avoid-column; }
nav a { display: inline-block; min-height: 24px; }
.good { color: #19702f; font-weight: bold; }
.bad { color: #b3231b; font-weight: bold; }
a { color: #00548a; }
.table { overflow-x: auto; margin: 1.2rem 0; }
table { border-collapse: collapse; font-size: 0.85rem; }
caption { text-align: left; font-weight: bold; padding-bottom: 0.3rem; }
th, td { padding: 0.2rem 0.9rem 0.2rem 0; text-align: left; vertical-align: top; white-space: pre-wrap; }
th { border-bottom: 1px solid #555; vertical-align: bottom; }
tr:last-child td { border-bottom: 1px solid #999; }
th.number, td.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
.unit { font-weight: normal; display: block; }
figure { margin: 1.6rem 0; break-inside: avoid; }
figure svg { max-width: 100%; height: auto; }
pre { background: #f5f5f5; padding: 0.8rem 1rem; overflow-x: auto; font-size: 0.8rem; line-height: 1.35; }
@media print { body { margin: 0; max-width: none; font-size: 10pt; } tr { break-inside: avoid; }
  h2, h3, caption { break-after: avoid; } pre { white-space: pre-wrap; } }
"""

_PRINTED_DPI, _CSS_DPI = 300, 96
_WIDEST = 644.0  # page width between the margins of A4, px

# If a text were not escaped, this policy would still prevent scripts and downloads.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"


def render_html(report: Report) -> bytes:
    """The report as an HTML page; its figures are SVG, or bitmaps if the page is printed as a PDF."""
    deepest = max(1, report.contents)
    # Anchors of the headings that the table of contents lists, by position in the document.
    anchors: dict[int, str] = {}
    for number, block in enumerate(report.blocks):
        if isinstance(block, Heading) and block.level <= deepest:
            anchors[number] = f"s{len(anchors)}"
    contents = _contents([(report.blocks[number], anchor) for number, anchor in anchors.items()])
    parts = [
        "<!DOCTYPE html>",
        '<html lang="en">',
        "<head>",
        '<meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>{html_text(report.title)} – Subflow report</title>",
        '<link rel="icon" href="data:,">',  # otherwise browsers ask the server for favicon.ico
        f"<style>{_STYLE}</style>",
        "</head>",
        "<body>",
        f"<header><h1>{html_text(report.title)}</h1>",
        f'<p class="subtitle">{html_text(report.subtitle)}</p></header>',
        f'<nav aria-label="Contents">{contents}</nav>',
        "<main>",
    ]
    draw = _svg_figure if report.kind == "html" else _pixel_figure
    parts += [_element(block, number, anchors.get(number), draw) for number, block in enumerate(report.blocks)]
    parts += ["</main>", "</body>", "</html>", ""]
    return "\n".join(parts).encode()


def _contents(headings: Sequence[tuple[Block, str]]) -> str:
    """Table of contents as nested lists of links."""
    parts, open_levels = [], 0
    for heading, anchor in headings:
        assert isinstance(heading, Heading)
        while open_levels > heading.level:
            parts.append("</li></ul>")
            open_levels -= 1
        if open_levels == heading.level:
            parts.append("</li>")
        while open_levels < heading.level:
            parts.append("<ul>" if open_levels + 1 == heading.level else "<ul><li>")
            open_levels += 1
        parts.append(f'<li><a href="#{anchor}">{html_text(heading.text)}</a>')
    return "".join(parts) + "</li></ul>" * open_levels


def _element(block: Block, number: int, anchor: str | None, draw: Callable[[Picture, int, str], str]) -> str:
    if isinstance(block, Heading):
        name = f"h{block.level + 1}"
        named = "" if anchor is None else f' id="{anchor}"'
        return f"<{name}{named}>{html_text(block.text)}</{name}>"
    if isinstance(block, Paragraph):
        return f"<p>{html_text(block.text)}</p>"
    if isinstance(block, Listing):
        return f'<pre tabindex="0"><code>{html_text(block.text)}</code></pre>'
    if isinstance(block, Picture):
        caption = html_text(block.caption)
        return f"<figure>{draw(block, number, caption)}<figcaption>{caption}</figcaption></figure>"
    # The keyboard reaches a table that is wider than the screen.
    name = html_text(block.title or ", ".join(column.title for column in block.columns))
    return f'<div class="table" tabindex="0" role="region" aria-label="{name}">{table_html(block)}</div>'


def _svg_figure(picture: Picture, number: int, caption: str) -> str:
    return _inline(_drawing(picture, "svg").decode(), f"p{number}-", caption)


def _pixel_figure(picture: Picture, _number: int, caption: str) -> str:
    content = _drawing(picture, "png")
    width = min(_WIDEST, int.from_bytes(content[16:20]) * _CSS_DPI / _PRINTED_DPI)
    data = base64.b64encode(content).decode()
    return f'<img alt="{caption}" width="{width:.1f}" src="data:image/png;base64,{data}">'


def _drawing(picture: Picture, kind: FigureKind) -> bytes:
    # Text becomes paths, because the reader may lack the font.
    style = replace(picture.figure.style, text_in_svg=False)
    return render_figure(replace(picture.figure, kind=kind, dpi=_PRINTED_DPI, style=style))


def _inline(svg: str, prefix: str, label: str) -> str:
    """The SVG as an element of the page; the prefix makes its ids unique on the page."""
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>|<!--.*?-->", "", svg, flags=re.DOTALL)
    svg = re.sub(r'\bid="([^"]*)"', rf'id="{prefix}\1"', svg)
    svg = re.sub(r'href="#([^"]*)"', rf'href="#{prefix}\1"', svg)
    svg = re.sub(r"url\(#([^)]*)\)", rf"url(#{prefix}\1)", svg)
    return svg.replace("<svg", f'<svg role="img" aria-label="{label}"', 1)


@dataclass(frozen=True, slots=True)
class PrintJob:
    """HTML page to be printed as a PDF.

    Attributes:
        html: the page.
        title: title of the document, on one line.
        page: size of a sheet.
        contents: deepest level of headings in the table of contents; 0 for a PDF without a table of contents.
    """

    html: str
    title: str
    page: PageSize
    contents: int


def render_report(report: Report, print_pages: Callable[[PrintJob], bytes] | None = None) -> bytes:
    """Renders a report, and returns the content of its file.

    Args:
        report: the document.
        print_pages: prints a PDF; None starts a new process for printing.

    Raises:
        ExportError: if the process died or took too long.
    """
    if report.kind == "html":
        return render_html(report)
    if print_pages is not None:
        return print_pages(_print_job(report))
    with closing(FigureProcess()) as process:
        process.start()  # the process loads matplotlib while the figures are drawn here
        return process.draw(_print_job(report))


def _print_job(report: Report) -> PrintJob:
    return PrintJob(render_html(report).decode(), readable_line(report.title), report.page, report.contents)
