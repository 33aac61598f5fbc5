"""``subflow figure-worker``: the process that draws figures for the window and prints PDF files."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from subflow_app.features.paper.core.report_file import PrintJob


def figure_worker() -> None:
    """Draw figures (used by the window)."""
    from subflow_app.features.paper.core.figure_worker import main

    raise typer.Exit(main(_printed))


def _printed(job: PrintJob) -> bytes:
    from subflow_app.foundation.errors import ExportError

    try:
        from subflow_app.features.paper.qt.printing import print_pages
    except ImportError as error:  # Qt needs system libraries that a server may lack
        raise ExportError(f"a PDF cannot be printed: {error}; HTML needs nothing more") from error
    return print_pages(job)
