"""The run that a replay repeats: scenario, seed, known time, and changes made during the run."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

import subflow_app
from subflow_app.features.catalog.core.uses import Use, open_stored
from subflow_app.features.traces.core.events import DECISION, decisions_of
from subflow_app.features.traces.core.measured import is_measured
from subflow_app.features.training.core.agent_explanations import agent_behind, steps_of, stored_agent_steps
from subflow_app.foundation.errors import InputError
from subflow_sim.errors import ScenarioError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from subflow_app.features.catalog.core.former_policies import FormerPolicy
    from subflow_app.features.running.core.runs import RunJob
    from subflow_sim.agent_steps import AgentDecision
    from subflow_sim.decisions import Decisions, Explanation
    from subflow_sim.scenario import Event, Scenario
    from subflow_store import RunRow, Store


@dataclass(frozen=True, slots=True)
class StoredOrigin:
    """A run in the database. Its scenario text includes the changes made during the run."""

    title: str
    scenario: Scenario
    seed: int
    known_until_s: float
    signature: str
    version: str
    store: Store
    run_id: int
    policy_notice: str = ""
    """Explanation of policies that have another name now; empty if all have the names of the run."""

    @classmethod
    def read(cls, store: Store, run_id: int) -> StoredOrigin:
        """Read a run from the database.

        Raises:
            InputError: if the run was measured, not simulated, or if this version cannot read its scenario.
            StoreError: if the run does not exist or the database cannot be read.
        """
        row = store.run(run_id)
        title = f"run {run_id}"
        scenario, renamed = _scenario(row, title)
        return cls(
            title=title,
            scenario=scenario,
            policy_notice=" ".join(each.text(title) for each in renamed),
            seed=row.seed,
            known_until_s=_simulated_s(row),
            signature=row.signature,
            version=row.version,
            store=store,
            run_id=run_id,
        )

    def changes_until(self, t_s: float) -> Sequence[Event]:
        """Always empty: the scenario text includes the changes."""
        del t_s
        return ()

    def recorded(self, owner: str, at_s: float, before: int, after: int) -> Decisions | None:
        """The stored decisions of an owner around a time; None if the run kept no decisions of this owner."""
        return recorded_by(self.store, self.run_id, owner, at_s, before, after)

    def agent_behind(self, decision: Explanation) -> AgentDecision | None:
        """The stored decision of the agent behind a decision; None if no agent acted or its steps are missing."""
        return agent_behind(partial(stored_agent_steps, self.store, self.run_id), decision)


class LiveOrigin:
    """A run of this process, active or ended."""

    def __init__(self, job: RunJob) -> None:
        """Refer to the run of a job; properties and methods always reflect its current progress.

        Raises:
            InputError: if the run is measured, not simulated.
        """
        self._job = job
        if job.is_measured:
            raise _not_replayed(self.title)

    @property
    def title(self) -> str:
        """Name of the run in messages."""
        return f'run "{self._job.name}"'

    @property
    def scenario(self) -> Scenario:
        """The scenario at the start of the run."""
        return self._job.scenario

    @property
    def seed(self) -> int:
        """Seed of the run."""
        return self._job.seed

    @property
    def known_until_s(self) -> float:
        """Simulated time in seconds that the run has reached."""
        return self._job.progress.sim_time_s

    def changes_until(self, t_s: float) -> Sequence[Event]:
        """Changes up to a time; complete up to the value that `known_until_s` had before this call."""
        return [change.event for change in self._job.live_changes if change.event.at_s <= t_s]

    @property
    def signature(self) -> str:
        """Empty: the simulation belongs to another thread, and a run of the same program needs no check."""
        return ""

    @property
    def version(self) -> str:
        """This version of Subflow."""
        return subflow_app.__version__

    @property
    def policy_notice(self) -> str:
        """Empty: the run uses the policies that were read for it."""
        return ""

    def recorded(self, owner: str, at_s: float, before: int, after: int) -> Decisions | None:
        """The latest decisions of all owners, which are kept in memory; None before the first decision."""
        del owner, at_s, before, after
        table = self._job.traces.events(DECISION.name)
        return decisions_of(table) if len(table) else None

    def agent_behind(self, decision: Explanation) -> AgentDecision | None:
        """The decision of the agent behind a decision, from the latest steps in memory; None if not found."""
        return agent_behind(lambda *_which: steps_of(self._job.traces), decision)


Origin: TypeAlias = StoredOrigin | LiveOrigin
"""Source of a replay: a stored run, or a run of this process."""


def recorded_by(store: Store, run_id: int, owner: str, at_s: float, before: int, after: int) -> Decisions | None:
    """Read the stored decisions of an owner around a time; None if the run kept no decisions of this owner.

    Raises:
        StoreError: if the run does not exist or the database cannot be read.
    """
    if owner not in store.event_extents(run_id, DECISION.name):
        return None
    return decisions_of(store.decisions_around(run_id, owner, at_s, before=before, after=after))


def readable_scenario(row: RunRow) -> Scenario | None:
    """The scenario of a stored run; None if the run was measured, or if its scenario is missing or unreadable."""
    try:
        return _scenario(row, row.name)[0]
    except InputError:
        return None


def _scenario(row: RunRow, title: str) -> tuple[Scenario, tuple[FormerPolicy, ...]]:
    """Parse the stored scenario, with the policies of the run that have another name now.

    Raises:
        InputError: if the run was not simulated, or if its scenario is missing or unreadable in this version.
    """
    if is_measured(row):
        raise _not_replayed(title)
    if not (row.scenario_text or "").strip():
        raise InputError(f"{title} cannot be replayed: the text of its scenario was not kept")
    try:
        return open_stored(Use.REPLAY, row.scenario_text or "", row.summary, file=title)
    except ScenarioError as error:
        made_by = f"version {row.version} made it" if row.version else "an unknown version made it"
        raise InputError(
            f"{title} cannot be replayed: {made_by}, and this one ({subflow_app.__version__}) cannot read its "
            f"scenario:\n{error}"
        ) from error


def _not_replayed(title: str) -> InputError:
    return InputError(f"{title} was measured, not simulated: it cannot be replayed")


def _simulated_s(row: RunRow) -> float:
    """Simulated time that the run reached, in seconds; the time of the last sample if its end was not recorded."""
    simulated_s = (row.summary or {}).get("simulated_s")
    return float(simulated_s) if isinstance(simulated_s, int | float) else row.simulated_s
