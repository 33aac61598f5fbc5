"""Loss traces: recordings of the loss probability of a link, as a table of times and losses.

The first line names the columns, for example `time_s,loss_percent`. Each value holds until the next line; after the
last line, the recording repeats.
"""

from __future__ import annotations

import numpy as np

from subflow_sim.errors import ParamError
from subflow_sim.recording import column_of, has_columns

MOST_CHANGES = 20_000
"""Maximum number of changes of the loss in a run, because each of them is an event."""


def parse_losses(text: str, duration_s: float | None) -> tuple[tuple[tuple[float, float], ...], str]:
    """Reads the losses of a trace, up to the end of a run.

    Args:
        text: content of the file.
        duration_s: duration of the run, s; None if unknown: the recording does not repeat.

    Returns:
        Pairs of time in s and loss probability from 0 to 1, the first at 0 s, whose successive losses differ; and the
        recording as a table in SI units.

    Raises:
        ParamError: if the text is not such a table, a loss exceeds 1, or the changes are too many.
    """
    if not has_columns(text):
        raise ParamError("no column names in it", "a table whose first line is time_s,loss_percent")
    times_s, losses, _ = column_of(text, "loss")
    if (losses > 1).any():
        line = int(np.argmax(losses > 1))
        raise ParamError(
            f"line {line + 2}: a loss of {losses[line] * 100:g} %; is its unit another one?", "at most 100 %"
        )
    is_change = np.append(True, np.diff(losses) != 0)
    period_s = float(times_s[-1] + np.median(np.diff(times_s)))
    rounds = 1 if duration_s is None else max(1, int(np.ceil(duration_s / period_s)))
    if rounds * int(np.count_nonzero(is_change)) > MOST_CHANGES:
        raise ParamError(
            f"its loss changes {rounds * int(np.count_nonzero(is_change))} times in the run",
            f"at most {MOST_CHANGES} changes",
        )
    changes: list[tuple[float, float]] = []
    pairs = list(zip(times_s[is_change].tolist(), losses[is_change].tolist(), strict=True))
    for start_s in (number * period_s for number in range(rounds)):
        for time_s, loss in pairs:
            at_s = start_s + time_s
            if not changes or (loss != changes[-1][1] and (duration_s is None or at_s < duration_s)):
                changes.append((at_s, loss))
    rows = zip(times_s.tolist(), losses.tolist(), strict=True)
    table = "".join(f"{time_s:.9g},{loss:.9g}\n" for time_s, loss in rows)
    return tuple(changes), f"time_s,loss_ratio\n{table}"
