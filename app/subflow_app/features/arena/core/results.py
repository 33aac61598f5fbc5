"""What was entered in which networks, and what is known of it: from the database, and from what ships."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

from subflow_app.features.arena.core.entrants import Contest, Entrant, chosen_entrants, load_contests
from subflow_app.features.gallery.core.recipe import PAPERS
from subflow_app.foundation.errors import InputError
from subflow_app.foundation.resources import way_on
from subflow_sim.arena.families import FAMILIES, SPLITS, Split
from subflow_sim.arena.networks import Network, network

if TYPE_CHECKING:
    from subflow_store import Store
    from subflow_store.arena import ArenaOutcome

_log = logging.getLogger(__name__)

QUICK_NUMBERS, FULL_NUMBERS = range(1, 11), range(1, 21)
"""Networks of each family, by number: a paper's contests take turns, each number being the seed as well."""


@dataclass(frozen=True, slots=True)
class Entry:
    """What is asked for.

    Attributes:
        entrants: in order, those that cannot take part among them.
        families: names, in order: papers, then those that are drawn.
        contests: of the papers among them.
        numbers: of the networks of each family.
        split: of the networks that are drawn.
    """

    entrants: tuple[Entrant, ...]
    families: tuple[str, ...]
    contests: tuple[Contest, ...]
    numbers: Sequence[int]
    split: Split = "test"

    @property
    def is_quick(self) -> bool:
        """Whether there are fewer networks than in the full form."""
        return len(self.numbers) < len(FULL_NUMBERS)

    @property
    def taking_part(self) -> tuple[Entrant, ...]:
        """Those that can."""
        return tuple(each for each in self.entrants if not each.problem)

    @property
    def problems(self) -> tuple[str, ...]:
        """Why others cannot, a line each."""
        return tuple(f"{each.name} does not take part: {each.problem}" for each in self.entrants if each.problem)

    def names(self, family: str) -> list[str]:
        """Names of the networks of a family, by number."""
        own = [each for each in self.contests if each.paper == family]
        if own:
            return [f"{family}/{own[(number - 1) % len(own)].id}/{number}" for number in self.numbers]
        return [f"{family}/{self.split}/{number}" for number in self.numbers]

    def networks(self) -> Iterator[Network]:
        """All networks, family by family.

        Raises:
            ArenaError: if a contest is not usable.
        """
        for family in self.families:
            own = [each for each in self.contests if each.paper == family]
            for number in self.numbers:
                yield own[(number - 1) % len(own)].network(number) if own else network(family, self.split, number)

    @property
    def n_networks(self) -> int:
        """How many that are."""
        return len(self.families) * len(self.numbers)


def family_titles() -> dict[str, str]:
    """What each family is about, by name, in order."""
    papers = {each: f"Experiments of {PAPERS[each]}" for each in PAPERS}
    return papers | {name: family.title for name, family in FAMILIES.items()}


def entry(
    entrants: Sequence[str] = (),
    *,
    families: Sequence[str] = (),
    contests: Sequence[str] = (),
    numbers: Sequence[int] | None = None,
    is_quick: bool = False,
    split: str = "test",
) -> Entry:
    """What is asked for by names; without any, all.

    Args:
        entrants: who is entered.
        families: of networks.
        contests: of papers, by id or file; they alone are taken then.
        numbers: of the networks of each family; None: as the form says.
        is_quick: whether there are ten of each family and not twenty.
        split: of the networks that are drawn; papers have only one to be tested in.

    Raises:
        InputError: if there is no such entrant, family, contest or split; `ArenaError` if one is not usable.
    """
    if split not in SPLITS:
        raise InputError(f'unknown split "{split}"; allowed: {", ".join(SPLITS)}')
    titles = family_titles()
    for name in families:
        if name not in titles:
            listed = f"allowed: {', '.join(titles)}"
            raise InputError(f'unknown family of networks "{name}"; {way_on(name, list(titles), listed)}')
    chosen = numbers or (QUICK_NUMBERS if is_quick else FULL_NUMBERS)
    who = chosen_entrants(entrants)
    if contests:
        own = load_contests(contests)
        papers = tuple(dict.fromkeys(each.paper for each in own))
        return Entry(who, papers, own, chosen)
    wanted = tuple(name for name in titles if not families or name in families)
    if split != "test":
        wanted = tuple(name for name in wanted if name in FAMILIES)
        if not wanted:
            raise InputError(f"--split {split}: experiments of papers are in the test split alone")
    own = tuple(each for each in load_contests() if each.paper in wanted) if set(wanted) & set(PAPERS) else ()
    return Entry(who, wanted, own, chosen, split)


@dataclass(frozen=True, slots=True)
class Result:
    """What an entrant came to in a network; see `subflow_sim.arena.utility.Outcome`.

    Attributes:
        utility: at least the worst.
        throughput: mean of ln(x / fair).
        queueing: over base round-trip times.
        loss: beyond the links' own, 0..1.
        friendliness: to the connections beside; NaN: there are none.
        convergence: s; NaN: nothing to converge to.
        cpu: of a packet, microseconds.
        reason: why it counts as the worst; may be empty.
    """

    utility: float
    throughput: float = math.nan
    queueing: float = math.nan
    loss: float = math.nan
    friendliness: float = math.nan
    convergence: float = math.nan
    cpu: float = math.nan
    reason: str = ""

    @classmethod
    def of_document(cls, document: Mapping[str, Any]) -> Result:
        """Of what the store has.

        Raises:
            ValueError: if that is not a result.
        """
        values: dict[str, Any] = {}
        for each in fields(cls):
            value = document.get(each.name)
            if each.name == "reason":
                values["reason"] = str(value or "")
            elif value is not None:
                values[each.name] = float(value)
        if not math.isfinite(values.get("utility", math.nan)):
            raise ValueError("it has no utility")
        return cls(**values)


@dataclass(frozen=True, slots=True)
class Board:
    """What is known.

    Attributes:
        entry: what was asked for.
        results: by entrant and network, of those that are known.
        n_shipped: how many of them ship with the program; the others were made here.
        versions: of the simulators that made them.
        made: day of the last of them, as 2026-11-23; empty: nothing is known.
        tries: by entrant, how many different things were entered under its name in the test split.
    """

    entry: Entry
    results: Mapping[tuple[str, str], Result]
    n_shipped: int = 0
    versions: tuple[str, ...] = ()
    made: str = ""
    tries: Mapping[str, int] = field(default_factory=dict)

    @property
    def n_wanted(self) -> int:
        """How many results there can be."""
        return len(self.entry.taking_part) * self.entry.n_networks

    @property
    def n_finished(self) -> int:
        """How many are known."""
        return len(self.results)

    @property
    def is_empty(self) -> bool:
        """Whether nothing is known."""
        return not self.results

    def of_family(self, entrant: str, family: str) -> list[Result | None]:
        """Results in a family, by number; None: not known."""
        return [self.results.get((entrant, name)) for name in self.entry.names(family)]


def known_board(
    asked: Entry,
    store: Store,
    shipped: Sequence[ArenaOutcome] = (),
    is_cancelled: Callable[[], bool] = lambda: False,
) -> Board:
    """What a store has, and what ships of the rest: scores do not depend on who else takes part.

    Args:
        asked: what is asked for.
        store: whose outcomes count.
        shipped: outcomes that count as far as the store has none.
        is_cancelled: whether all this is in vain.

    Raises:
        InterruptedError: if it was cancelled.
        StoreError: if the store cannot be read.
    """
    own = list(store.arena.outcomes().values())
    if is_cancelled():
        raise InterruptedError
    wanted = {each.entry(): each.name for each in asked.taking_part}
    networks = {name for family in asked.families for name in asked.names(family)}
    results: dict[tuple[str, str], Result] = {}
    told: dict[tuple[str, str], ArenaOutcome] = {}
    by_shipped: set[tuple[str, str]] = set()
    for outcomes, is_shipped in ((shipped, True), (own, False)):
        for each in outcomes:  # the latest counts
            place = (wanted.get(each.entry, ""), each.network)
            if not place[0] or each.network not in networks:
                continue
            try:
                results[place] = Result.of_document(each.result)
            except (ValueError, TypeError) as error:
                _log.warning("outcome %s of the arena cannot be used: %s", each.key, error)
                continue
            told[place] = each
            by_shipped.discard(place)
            if is_shipped:
                by_shipped.add(place)
    return Board(
        asked,
        results,
        len(by_shipped),
        tuple(sorted({each.version for each in told.values()})),
        max((each.made_at for each in told.values()), default="")[:10],
        _tries([*shipped, *own]),
    )


def _tries(outcomes: Sequence[ArenaOutcome]) -> dict[str, int]:
    """By entrant, how many different entries have been in networks of the test split: policies that were tried."""
    found: dict[str, set[str]] = {}
    for each in outcomes:
        if each.network.split("/")[1] not in ("train", "validation"):
            found.setdefault(each.entrant, set()).add(each.entry)
    return {name: len(entries) for name, entries in found.items()}
