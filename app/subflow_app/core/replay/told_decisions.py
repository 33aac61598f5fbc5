"""Why something was decided at a time: decisions of one subflow or flow next to it, and where they are from."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from subflow_app.core.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from subflow_app.core.replay.worked_rules import WorkedRule
    from subflow_sim.decisions import Decisions, Explanation
    from subflow_sim.scenario_model import Scenario

_MOST_NAMES = 12


@dataclass(frozen=True, slots=True)
class ToldDecisions:
    """Decisions of one subflow or flow next to a time, in order.

    Attributes:
        before: at or before it; at least one.
        after: after it.
        is_resimulated: whether the run kept no such records, so that it was simulated again with records on.
        worked: of each of them, earlier ones first, the rules that can be computed again; empty: nobody asked.
    """

    before: tuple[Explanation, ...]
    after: tuple[Explanation, ...]
    is_resimulated: bool
    worked: tuple[tuple[WorkedRule, ...], ...] = ()

    def of_run(self, scenario: Scenario) -> ToldDecisions:
        """The same, with how the run with that scenario finds losses."""
        from subflow_sim.decisions import detected
        from subflow_sim.transport_params import effective_transport

        way = str(effective_transport(scenario.profile, scenario.transport)["loss_detection"])
        told = detected([*self.before, *self.after], way)
        count = len(self.before)
        return replace(self, before=told[:count], after=told[count:])

    @property
    def current(self) -> Explanation:
        """The last one at or before the time."""
        return self.before[-1]


def recorded_decisions(decisions: Decisions, owner: str, at_s: float, before: int, after: int) -> ToldDecisions | None:
    """What records of a run tell; None if they do not reach back far enough.

    Args:
        decisions: that were recorded, those of the owner next to the time at least.
        owner: a subflow or flow.
        at_s: the time.
        before: how many at or before it, fewer only at its beginning.
        after: how many after it, fewer at the end of the run.
    """
    if owner not in decisions.owners:
        return None
    rows = decisions.rows(owner)
    current = decisions.at(owner, at_s)
    if current is None:
        return None
    position = int((rows <= current).sum())
    told = [decisions.explain(int(row)) for row in rows[max(0, position - before) : position + after]]
    count = min(position, before)
    # Only with the first of all is it known that no others were before.
    if count < before and told[0].cause != "start":
        return None
    return ToldDecisions(tuple(told[:count]), tuple(told[count:]), is_resimulated=False)


def check_owner(subflows: Sequence[str], owner: str, title: str) -> None:
    """Raise InputError unless the owner is a subflow, or a flow of several: nobody else decides anything.

    Args:
        subflows: of the run, "download.1/2", without those of flows that send at a rate of their own.
        owner: whose decisions are wanted.
        title: of the run.
    """
    counts = Counter(name.rpartition("/")[0] for name in subflows)
    deciding = [*subflows, *(flow for flow, count in counts.items() if count > 1)]
    if owner in deciding:
        return
    listed = ", ".join(deciding[:_MOST_NAMES])
    if len(deciding) > _MOST_NAMES:
        listed += f" and {len(deciding) - _MOST_NAMES} more"
    raise InputError(f'{title} has no decisions of "{owner}"; it has those of {listed or "nobody"}')
