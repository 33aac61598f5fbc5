"""A decision of a stored run, whether it kept its decisions or not."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from subflow_app.features.explain.core.decisions import ToldDecisions, is_scripted, recorded_decisions
from subflow_app.features.explain.core.origin import readable_scenario, recorded_by
from subflow_app.features.explain.core.replay import DEFAULT_BUDGET_BYTES, Replay
from subflow_app.features.explain.core.worked_rules import all_worked
from subflow_app.features.traces.core.events import DECISION
from subflow_app.features.traces.core.traces import NANOSECONDS
from subflow_app.foundation.errors import InputError
from subflow_app.vocabulary.plain_text import capitalised

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
    row = store.run(run_id)

    def with_worked(told: ToldDecisions) -> ToldDecisions:
        """As many as were asked for: one more was fetched, because a loss is told to the controller and the sender."""
        everything = (*told.before, *told.after)
        worked = [all_worked(each, everything[:position], row.mss_bytes) for position, each in enumerate(everything)]
        first = max(0, len(told.before) - before)
        return replace(told, before=told.before[first:], worked=tuple(worked[first:]))

    recorded = recorded_by(store, run_id, owner, at_s, before + 1, after)
    told = None
    if recorded is not None:
        counts = (before + 1, before)  # of a run that kept the end of its decisions there may be no more than asked for
        found = (recorded_decisions(recorded, owner, at_s, count, after) for count in counts)
        told = next((each for each in found if each is not None), None)
    scenario = readable_scenario(row)
    has_lines = recorded is not None and scenario is not None and is_scripted(scenario, (), owner)
    # Of a time beyond the run, its last decision is not the answer.
    if told is not None and not has_lines and at_s <= max(row.simulated_s, told.current.time_s):
        return with_worked(told if scenario is None else told.of_run(scenario)), ""
    try:
        replay = Replay.stored(store, run_id, budget_bytes=budget_bytes)
    except InputError:
        if recorded is None:
            raise
        extents = store.event_extents(run_id, DECISION.name)
        # Samples may end before the run does, by less than their distance.
        end_s = max(row.simulated_s, *(extent.t_last_ns / NANOSECONDS for extent in extents.values()))
        if not 0 <= at_s <= end_s:
            raise InputError(f"run {run_id} is from 0 s to {end_s:g} s; {at_s:g} s is not in it") from None
        told = recorded_decisions(recorded, owner, at_s, before, after, may_be_fewer=True)
        if told is None:
            first_s = extents[owner].t_first_ns / NANOSECONDS
            raise InputError(f"the decisions that run {run_id} has of {owner} begin at {first_s:.6f} s") from None
        return with_worked(told), ""
    replay.check_time(at_s)
    told = with_worked(replay.explain(owner, at_s, before=before + 1, after=after))
    if not told.is_resimulated:
        return told, ""
    # Whether it is the same run is known at its end alone.
    if replay.notice:
        replay.prepare()
    missing = "record of the lines that scripts execute" if has_lines else "stored decisions for this time"
    notice = f"{capitalised(replay.title)} has no {missing}, so it was simulated again."
    return told, f"{notice} {replay.notice}".rstrip()
