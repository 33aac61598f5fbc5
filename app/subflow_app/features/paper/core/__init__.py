"""What leaves the program for print: figures and reports. Start reading at `figure_plan`, `figures` and `report`."""

from __future__ import annotations

from subflow_app.features.paper.core.matplotlib_home import prepare_matplotlib

# Whoever draws imports something of this package first.
prepare_matplotlib()
