"""A report as a file: a page of HTML, or that page printed on the sheets of a PDF.

Qt prints, and commands know no Qt: the process that draws does it for them.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass

from subflow_app.features.paper.core.figure_process import FigureProcess
from subflow_app.features.paper.core.report import PageSize, Report
from subflow_app.features.paper.core.report_html import render_html
from subflow_app.vocabulary.plain_text import readable_line


@dataclass(frozen=True, slots=True)
class PrintJob:
    """A page to print.

    Attributes:
        html: the page.
        title: of the document, on one line.
        page: size of a sheet.
        contents: deepest level of the headings that the table of contents lists.
    """

    html: str
    title: str
    page: PageSize
    contents: int


def render_report(report: Report, print_pages: Callable[[PrintJob], bytes] | None = None) -> bytes:
    """The content of the file.

    Args:
        report: the document.
        print_pages: prints a PDF; left out: a process of its own.

    Raises:
        ExportError: if that process died or took too long.
    """
    if report.kind == "html":
        return render_html(report)
    with closing(FigureProcess()) as process:
        if print_pages is None:
            process.start()  # it gets warm while the figures are drawn here
        job = PrintJob(render_html(report).decode(), readable_line(report.title), report.page, report.contents)
        return (print_pages or process.draw)(job)
