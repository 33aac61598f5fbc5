"""The leaderboard that ships: the values of every contest, in a file beside the library, and so there at once.

The library has the runs themselves, but putting the board together from them takes seconds.
"""

from __future__ import annotations

import json
import logging
import math
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from subflow_app.core.leaderboard.board import Board, Entry, Place, Shipped, stored_board
from subflow_app.core.leaderboard.contest_recipe import RECIPE_PREFIX
from subflow_app.core.leaderboard.metrics import BOARD_METRICS
from subflow_app.core.library import shipped
from subflow_sim.stats import Estimate
from subflow_sim.whole_file import write_whole

if TYPE_CHECKING:
    from subflow_store import Store

_log = logging.getLogger(__name__)

_FORMAT = 1


def board_file(library: Path) -> Path:
    """Where the values of the leaderboard of a library are."""
    return shipped.companion_path(library, "leaderboard.json")


def write_board_file(board: Board, library: Path, shipped: Shipped) -> Path:
    """Write the values of every contest, one for each seed.

    Raises:
        OSError: if the file cannot be written.
    """
    contests: dict[str, dict[str, dict[str, list[float | None]]]] = {}
    for (contest, metric, name), cell in board.cells.items():
        values = [value if math.isfinite(value) else None for value in cell.values]
        contests.setdefault(contest, {}).setdefault(metric, {})[name] = values
    document = {
        "format": _FORMAT,
        "version": shipped.version,
        "made": shipped.date,
        "note": board.note,
        "contests": contests,
    }
    path = board_file(library)
    # A line for each metric of a contest: what changes is seen.
    text = json.dumps(document, indent=1, ensure_ascii=False)
    write_whole(path, (_in_lines(text) + "\n").encode())
    return path


def shipped_board(asked: Entry) -> Board | None:
    """The leaderboard that ships: quick runs, whatever was asked for; None if there is none, or it cannot be used.

    Args:
        asked: which contests and controllers.
    """
    library = shipped.shipped_library()
    if library is None or not board_file(library).is_file():
        return None
    quick = replace(asked, is_quick=True, seeds=None)
    try:
        document = json.loads(board_file(library).read_text(encoding="utf-8"))
        cells = dict(_cells(document, quick))
        made = Shipped(str(document["version"]), str(document["made"]))
        note = str(document["note"])
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        _log.warning("%s cannot be read: %s", board_file(library), error)
        return None
    if not cells:
        return None
    wanted, finished = 0, 0
    for contest in quick.contests:
        for each in quick.competitors:
            if each.takes_part(contest):
                wanted += len(quick.seeds_of(contest))
                cell = cells.get((contest.id, "goodput", each.name))
                finished += 0 if cell is None else cell.n
    return Board(quick, cells, wanted, finished, note, made)


def known_board(asked: Entry, store: Store, is_cancelled: Callable[[], bool] = lambda: False) -> Board:
    """What a store has; as long as it has nothing, what ships.

    Raises:
        InterruptedError: if it was cancelled.
        LeaderboardError: if a contest is not usable.
        StoreError: if the store cannot be read.
    """
    # Before all contests are put together, which takes seconds.
    prefix = f"experiment {RECIPE_PREFIX}"
    if any(record.name.startswith(prefix) for record in store.sweeps.rows()):
        own = stored_board(asked, store, is_cancelled)
        if not own.is_empty:
            return own
    return shipped_board(asked) or stored_board(asked, store, is_cancelled)


def _cells(document: dict[str, Any], asked: Entry) -> list[tuple[Place, Estimate]]:
    if document["format"] != _FORMAT:
        raise ValueError(f"its format is {document['format']}; allowed is {_FORMAT}")
    found = []
    for contest in asked.contests:
        for metric, by_name in document["contests"].get(contest.id, {}).items():
            for each in asked.competitors:
                if metric in BOARD_METRICS and each.name in by_name and each.takes_part(contest):
                    values = [math.nan if value is None else float(value) for value in by_name[each.name]]
                    found.append(((contest.id, metric, each.name), Estimate.of(values)))
    return found


def _in_lines(text: str) -> str:
    """JSON whose innermost lists are in one line."""
    return re.sub(r"\[\s+([^\[\]{}]*?)\s+\]", lambda found: f"[{' '.join(found[1].split())}]", text)
