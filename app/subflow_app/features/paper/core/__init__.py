"""Figures and reports for print. Start reading at `figure_plan`, `figures` and `report`."""

from __future__ import annotations

from subflow_app.features.paper.core.matplotlib_home import prepare_matplotlib

# All code that draws imports a module of this package first, so the folder is set before matplotlib is imported.
prepare_matplotlib()
