"""``subflow figure-worker``: the process that draws for the window."""

from __future__ import annotations

import typer


def figure_worker() -> None:
    """Draw figures (used by the window)."""
    from subflow_app.features.paper.core.figure_worker import main

    raise typer.Exit(main())
