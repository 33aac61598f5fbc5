"""Helpers that import files of measurements."""

from __future__ import annotations

from pathlib import Path

from subflow_app.features.measured.core.measured_run import MeasuredRun, make_run, read_trace
from subflow_app.features.measured.core.measured_table import ReadingOptions


def imported(path: Path, text: str | bytes | None = None, *, kind: str = "", **options: object) -> MeasuredRun:
    """The run made from a file; `text`, if given, is written to it first. `kind` forces a format."""
    if text is not None:
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
    table = read_trace(path, ReadingOptions(**options))  # type: ignore[arg-type] # options of any kind
    assert kind in ("", table.format)
    return make_run(table, name=path.stem, path=path)


def column(run: MeasuredRun, text: str) -> list[float]:
    """Samples of a trace."""
    return [float(value) for value in run.values[:, [target.text for target in run.targets].index(text)]]
