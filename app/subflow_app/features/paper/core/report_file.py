"""A report as a file: a page of HTML, or the pages of a PDF."""

from __future__ import annotations

from subflow_app.features.paper.core.report import Report


def render_report(report: Report) -> bytes:
    """The content of the file."""
    if report.kind == "html":
        from subflow_app.features.paper.core.report_html import render_html

        return render_html(report)
    from subflow_app.features.paper.core.report_pages import render_pdf

    return render_pdf(report)
