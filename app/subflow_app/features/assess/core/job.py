"""Assesses a controller: runs the criteria, then searches for networks in which claims about it fail."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

from subflow_app.features.arena.core.entrants import Entrant
from subflow_app.features.assess.core.criteria import (
    Untried,
    check_entrant,
    criterion_names,
    load_dossier,
    written_criteria,
)
from subflow_app.features.breaking.core.job import BreakJob, Question
from subflow_app.features.breaking.core.space import load_space
from subflow_app.features.gallery.core.reproduction import Reproduction
from subflow_app.features.gallery.core.results import Results, VerdictKind
from subflow_app.foundation.errors import InputError
from subflow_app.foundation.jobs.executors import Shared, executor_maker
from subflow_app.foundation.jobs.job import Job, Series
from subflow_app.foundation.resources import way_on
from subflow_app.vocabulary.language import translatable

if TYPE_CHECKING:
    from subflow_store import Store

MINUTES = 5.0
"""Default duration of each search, minutes."""
QUICK_MINUTES = 0.05

_RUN_S = 0.1  # estimated duration of a run of a criterion
_FOUND, _QUICK_FOUND = 3, 1  # maximum number of counterexamples for each claim
_SHRINKING_S = 30.0  # estimated duration of shrinking after a search


class Judgement(StrEnum):
    """Verdict on a criterion or a claim."""

    MET = translatable("met")
    NOT_MET = translatable("not met")
    NOT_TRIED = translatable("not tried")


def judgement(results: Results) -> Judgement:
    """Verdict on a criterion: not met if a check fails, not tried if a check was not measured, otherwise met."""
    kinds = {verdict.kind for verdict in results.verdicts()}
    if kinds & {VerdictKind.FAILS, VerdictKind.OUTSIDE}:
        return Judgement.NOT_MET
    return Judgement.NOT_TRIED if VerdictKind.NOT_MEASURED in kinds else Judgement.MET


def search_judgement(search: BreakJob) -> Judgement:
    """Verdict on a claim: not met if a counterexample was found, otherwise met if any network was tried."""
    if search.found:
        return Judgement.NOT_MET
    return Judgement.MET if search.search.tried else Judgement.NOT_TRIED


@dataclass(frozen=True, slots=True)
class Extent:
    """Size of an assessment.

    Attributes:
        is_quick: whether to use fewer seeds and points, and shorter searches.
        seeds: seeds of each point; None for ten, or five in a quick assessment.
        minutes: duration of each search; 0 for no search; None for five minutes, or 3 s in a quick assessment.
        only: names of criteria and claims; empty for all.
    """

    is_quick: bool = False
    seeds: Sequence[int] | None = None
    minutes: float | None = None
    only: tuple[str, ...] = ()

    @property
    def search_minutes(self) -> float:
        """Duration of each search in minutes."""
        if self.minutes is not None:
            return self.minutes
        return QUICK_MINUTES if self.is_quick else MINUTES


class Assessment(Series[Job]):
    """Runs all criteria and searches. Call `run` in a worker thread, because it blocks; the rest is thread-safe.

    Args:
        entrant: controller to assess.
        store: keeps runs and searches, so that a later assessment continues from them.
        folder: folder for criteria and scenarios with the controller filled in.
        extent: size of the assessment.
        jobs: number of parallel tasks on this machine.
        cluster: address of a Ray cluster to use instead, or None.

    Attributes:
        entrant: controller to assess.
        extent: size of the assessment.
        criteria: experiments in the order of the sections.
        searches: searches for counterexamples.
        untried: requirements of RFC 9743 that the assessment does not test.

    Raises:
        InputError: if the controller cannot be assessed, or a named criterion or claim is unknown.
        ExportError: if criteria cannot be written.
    """

    def __init__(
        self,
        entrant: Entrant,
        store: Store,
        folder: Path,
        *,
        extent: Extent = Extent(),
        jobs: int = 1,
        cluster: str | None = None,
    ) -> None:
        check_entrant(entrant)
        dossier = load_dossier()
        known = [*criterion_names(), *(claim.name for claim in dossier.claims)]
        for name in extent.only:
            if name not in known:
                listed = f"allowed: {', '.join(known)}"
                raise InputError(f'unknown criterion or claim "{name}"; {way_on(name, known, listed)}')
        self._shared = Shared(executor_maker(jobs, cluster))
        self.entrant = entrant
        self.extent = extent
        self.untried: tuple[Untried, ...] = dossier.untried
        self.criteria = tuple(
            Reproduction(recipe, store, is_quick=extent.is_quick, seeds=extent.seeds, executor=self._shared)
            for recipe in written_criteria(entrant, folder)
            if not extent.only or recipe.name in extent.only
        )
        for each in self.criteria:
            each.prepare()
        claims = [claim for claim in dossier.claims if not extent.only or claim.name in extent.only]
        self.searches = tuple(
            BreakJob(
                Question(claim, entrant, load_space(claim.spaces[0])),
                store,
                minutes=extent.search_minutes,
                most=_QUICK_FOUND if extent.is_quick else _FOUND,
                executor=self._shared,
            )
            for claim in claims
            if extent.search_minutes
        )
        super().__init__((*self.criteria, *self.searches), entrant.name)

    def results(self) -> list[Results]:
        """The current results of the criteria.

        Raises:
            StoreError: if the store cannot be read.
        """
        return [each.results() for each in self.criteria]

    def _weight(self, job: Job) -> float:
        if isinstance(job, BreakJob):
            return 60 * self.extent.search_minutes + (0 if self.extent.is_quick else _SHRINKING_S)
        return _RUN_S * super()._weight(job)

    def _work(self) -> None:
        try:
            super()._work()
        finally:
            self._shared.close()
