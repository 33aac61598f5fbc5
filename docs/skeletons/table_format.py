"""Samples as lines of JSON. Save as app/subflow_app/features/exporting/core/json_lines.py."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from subflow_app.features.traces.core.traces import SeriesKey, Traces
from subflow_app.foundation.files import write_file
from subflow_app.vocabulary.palette import written


def write_json_lines(
    traces: Traces, keys: Sequence[SeriesKey], folder: Path, described: Mapping[str, Any]
) -> list[Path]:
    """Write `samples.jsonl`: a line with facts of the run, then a line for each series, SI, times in s."""
    lines = [json.dumps({"title": traces.title, **described})]
    for key in keys:
        time_s, values = traces.read(key)
        samples = [None if value != value else value for value in values.tolist()]  # JSON has no NaN
        lines.append(
            json.dumps(
                {
                    "scope": key.scope,
                    "owner": written(key.owner),
                    "quantity": key.name,
                    "unit": key.unit,
                    "time_s": time_s.tolist(),
                    "values": samples,
                }
            )
        )
    return [write_file(folder / "samples.jsonl", "\n".join(lines) + "\n")]
