"""Shows a training run on the terminal, as a live table or as one line of JSON for each report."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from subflow_app.features.training.core.training_metrics import SATURATION_WARNING
from subflow_app.features.training.core.training_text import (
    budget_fraction,
    evaluation_line,
    metric_rows,
    progress_line,
)
from subflow_app.foundation.json_document import plain
from subflow_app.terminal.terminal import stderr_console
from subflow_app.vocabulary.trace_measures import REPORT_MEASURES

if TYPE_CHECKING:
    from rich.table import Table

    from subflow_app.features.training.core.training import TrainingJob


class JsonLines:
    """Prints each report immediately, as one JSON object on a line of stdout."""

    def show(self, reports: list[Mapping[str, Any]]) -> None:
        for report in reports:
            sys.stdout.write(json_line(report))
        sys.stdout.flush()

    def close(self) -> None:
        """Does nothing, because all reports have been printed already."""


def json_line(document: Mapping[str, Any]) -> str:
    """A document as a line of JSON."""
    return json.dumps(plain(document), allow_nan=False) + "\n"


class LiveTable:
    """A live table on stderr, redrawn by `show`; evaluations and failed checkpoints are printed above it."""

    def __init__(self, job: TrainingJob, title: str) -> None:
        from rich.live import Live

        self._job = job
        self._title = title
        self._console = stderr_console()
        self._live = Live(self._table(), console=self._console, auto_refresh=False, transient=True)
        self._live.start()

    def show(self, reports: list[Mapping[str, Any]]) -> None:
        """Redraw the table, and print evaluations and failed checkpoints above it."""
        from rich.text import Text

        for report in reports:
            values = report["values"]
            if report["kind"] == "evaluation":
                self._live.console.print(Text(evaluation_line(values)))
            elif report["kind"] == "checkpoint" and values.get("error"):
                self._live.console.print(Text(f"a checkpoint could not be written: {values['error']}", style="red"))
        self._live.update(self._table(), refresh=True)

    def close(self) -> None:
        """Remove the table."""
        self._live.stop()

    def _table(self) -> Table:
        from rich.progress_bar import ProgressBar
        from rich.table import Table
        from rich.text import Text

        metrics, config = self._job.metrics, self._job.config
        grid = Table.grid(padding=(0, 2))
        for justify in ("left", "right", "left", "left", "right", "left"):
            grid.add_column(justify=justify, no_wrap=True)
        rows = metric_rows(metrics)
        half = (len(rows) + 1) // 2
        for left, right in zip(rows[:half], [*rows[half:], ("", "", "")], strict=False):
            cells = []
            for title, value, unit in (left, right):
                is_saturated = (
                    title == REPORT_MEASURES["actor_saturation"].title
                    and metrics["actor_saturation"] > SATURATION_WARNING
                )
                cells += [Text(title), Text(value, style="red bold" if is_saturated else "bold"), Text(unit)]
            grid.add_row(*cells)
        outer = Table.grid(padding=(0, 0))
        outer.add_column()
        outer.add_row(Text(f"{self._title}: {self._job.state.value}", style="bold"))
        fraction = budget_fraction(metrics, config.steps, config.minutes)
        outer.add_row(ProgressBar(total=1.0, completed=fraction, width=60))
        line = progress_line(metrics, is_spent=fraction >= 1) if metrics else "the trainer is starting"
        outer.add_row(Text(line))
        outer.add_row(grid)
        return outer
