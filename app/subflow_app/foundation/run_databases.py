"""Opens databases of runs for the whole program, so that traces which are not stored are simulated again.

Terminal and window lie below the features, which can simulate: the package of the features puts the function here.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from subflow_store import Store
    from subflow_store.again import Simulator

_provided: list[Simulator] = []


def provide_simulator(simulator: Simulator) -> None:
    """Set the function that simulates light runs again."""
    _provided[:] = [simulator]


def open_database(path: str | Path, *, read_only: bool = False) -> Store:
    """Open a database of runs; see `subflow_store.open_store`.

    Raises:
        StoreError: if the file cannot be used.
    """
    from subflow_store import open_store

    return open_store(path, read_only=read_only, simulator=_provided[0] if _provided else None)
