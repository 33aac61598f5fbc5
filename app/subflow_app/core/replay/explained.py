"""A decision of a stored run, whether it kept its decisions or not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from subflow_app.core.errors import InputError
from subflow_app.core.explanations import decisions_around
from subflow_app.core.replay.origin import recorded_by
from subflow_app.core.replay.replay import DEFAULT_BUDGET_BYTES, Replay
from subflow_app.core.replay.told_decisions import ToldDecisions, recorded_decisions

if TYPE_CHECKING:
    from subflow_store import Store


def explained(
    store: Store,
    run_id: int,
    owner: str,
    at_s: float,
    *,
    before: int = 1,
    after: int = 0,
    budget_bytes: int = DEFAULT_BUDGET_BYTES,
) -> tuple[ToldDecisions, str]:
    """Decisions next to a time, from the records of the run or else by simulating it again.

    Args:
        store: an open store.
        run_id: the run.
        owner: a subflow or, for its scheduler, a flow.
        at_s: the time.
        before: how many at or before it, one at least.
        after: how many after it.
        budget_bytes: memory for going through the run again.

    Returns:
        The decisions, and what a person has to know of where they are from; empty for records of the run.

    Raises:
        InputError: if there is no such owner or none of its decisions is so early, the time is not of the run, or the
            run kept no decisions and cannot be simulated again.
        SimError: if the simulation fails.
        StoreError: if there is no such run or the database cannot be read.
    """
    recorded = recorded_by(store, run_id, owner, at_s, before, after)
    told = None if recorded is None else recorded_decisions(recorded, owner, at_s, before, after)
    # Of a time beyond the run, its last decision is not the answer.
    if told is not None and at_s <= max(store.run(run_id).simulated_s, told.current.time_s):
        return told, ""
    try:
        replay = Replay.stored(store, run_id, budget_bytes=budget_bytes)
    except InputError:
        if recorded is None:
            raise
        earlier, later = decisions_around(store, run_id, owner, at_s, before=before, after=after)
        return ToldDecisions(tuple(earlier), tuple(later), is_resimulated=False), ""
    replay.check_time(at_s)
    told = replay.explain(owner, at_s, before=before, after=after)
    if not told.is_resimulated:
        return told, ""
    # Whether it is the same run is known at its end alone.
    if replay.notice:
        replay.prepare()
    notice = f"{replay.title} kept no decisions of that time: it was simulated again."
    return told, f"{notice} {replay.notice}".rstrip()
