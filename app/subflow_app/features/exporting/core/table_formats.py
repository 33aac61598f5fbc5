"""Further table formats for the samples of a run, besides the CSV tables of `exports`.

A new format needs a writer and a row in `TABLE_FORMATS`. The command line, the window and the self-test then offer it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from subflow_app.features.exporting.core.tables import write_long_csv, write_long_parquet, write_wide_parquet
from subflow_app.features.traces.core.traces import SeriesKey, Traces
from subflow_app.foundation.errors import InputError
from subflow_app.foundation.files import made_folder
from subflow_app.vocabulary.language import translatable


@dataclass(frozen=True, slots=True)
class TableFormat:
    """A table format.

    Attributes:
        name: value of `--format`.
        text: label of the check box, in English.
        write: writes and returns the files. The arguments are the run, the keys of its series (at least one), an
            existing folder, and facts about the run (seed, signature and so on). Raises `ExportError` if a file cannot
            be written, and `StoreError` if stored traces cannot be read.
    """

    name: str
    text: str
    write: Callable[[Traces, Sequence[SeriesKey], Path, Mapping[str, Any]], list[Path]]


TABLE_FORMATS: tuple[TableFormat, ...] = (
    TableFormat("csv-long", translatable("CSV, a row per sample"), write_long_csv),
    TableFormat("parquet", translatable("Parquet, a column per trace"), write_wide_parquet),
    TableFormat("parquet-long", translatable("Parquet, a row per sample"), write_long_parquet),
)


def export_table(traces: Traces, directory: Path, name: str, described: Mapping[str, Any] | None = None) -> list[Path]:
    """Write the samples of a run into a folder, creating it if necessary and replacing files of the same name.

    Args:
        traces: the run.
        directory: the folder.
        name: name of the format in `TABLE_FORMATS`.
        described: facts about the run for the metadata of Parquet files: seed, signature and so on.

    Returns:
        The files written.

    Raises:
        ExportError: if a file cannot be written.
        InputError: if the run has no samples.
        StoreError: if stored traces cannot be read.
    """
    keys = traces.keys()
    if not keys:
        raise InputError(f'run "{traces.title}" has no samples to export: its traces were not kept')
    made_folder(directory)
    write = next(table.write for table in TABLE_FORMATS if table.name == name)
    return write(traces, keys, directory, described or {})
