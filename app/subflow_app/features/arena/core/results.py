"""Entries of the arena, and their known results from the database and from the shipped files."""

from __future__ import annotations

import logging
import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, Literal

from subflow_app.features.arena.core.entrants import Contest, Entrant, chosen_entrants, load_contests
from subflow_app.features.gallery.core.recipe import PAPERS
from subflow_app.foundation.errors import InputError
from subflow_app.foundation.resources import way_on
from subflow_sim.arena.families import EDITION, FAMILIES, SPLITS, Split
from subflow_sim.arena.networks import FINAL_NUMBERS, Network, network

if TYPE_CHECKING:
    from subflow_store import Store
    from subflow_store.arena import ArenaOutcome

_log = logging.getLogger(__name__)

QUICK_NUMBERS, FULL_NUMBERS = range(1, 11), range(1, 21)
"""Numbers of the networks in each family. A number is the seed, and selects a contest of a paper in rotation."""

FINAL: Literal["final"] = "final"
"""Name of the split for the final comparison: the networks `FINAL_NUMBERS` of the test split, without papers.

It is run once, at the end; nothing may be chosen by its results.
"""

BoardSplit = Split | Literal["final"]
BOARD_SPLITS: tuple[BoardSplit, ...] = (*SPLITS, FINAL)


@dataclass(frozen=True, slots=True)
class Entry:
    """Entrants and networks of an arena.

    Attributes:
        entrants: all entrants in order, including those that cannot take part.
        families: names of the families: families of papers first, then families of random networks.
        contests: contests of the papers in `families`.
        numbers: numbers of the networks of each family.
        split: split of the random networks; "final" contains the last numbers of the test split.
    """

    entrants: tuple[Entrant, ...]
    families: tuple[str, ...]
    contests: tuple[Contest, ...]
    numbers: Sequence[int]
    split: BoardSplit = "test"

    @property
    def is_quick(self) -> bool:
        """True if each family has fewer networks than in the full form."""
        return len(self.numbers) < len(FULL_NUMBERS)

    @property
    def taking_part(self) -> tuple[Entrant, ...]:
        """Entrants without a problem."""
        return tuple(each for each in self.entrants if not each.problem)

    @property
    def problems(self) -> tuple[str, ...]:
        """Reasons for excluding entrants, a line each."""
        return tuple(f"{each.name} does not take part: {each.problem}" for each in self.entrants if each.problem)

    def names(self, family: str) -> list[str]:
        """Names of the networks of a family, in the order of their numbers."""
        own = [each for each in self.contests if each.paper == family]
        if own:
            return [f"{family}/{own[(number - 1) % len(own)].id}/{number}" for number in self.numbers]
        return [f"{family}/{self._drawn_split}/{number}" for number in self.numbers]

    def networks(self) -> Iterator[Network]:
        """All networks, family by family.

        Raises:
            ArenaError: if a contest is not usable.
        """
        for family in self.families:
            own = [each for each in self.contests if each.paper == family]
            for number in self.numbers:
                if own:
                    yield own[(number - 1) % len(own)].network(number)
                else:
                    yield network(family, self._drawn_split, number)

    @property
    def _drawn_split(self) -> Split:
        return "test" if self.split == FINAL else self.split

    @property
    def drawn_families(self) -> tuple[str, ...]:
        """Families whose networks are drawn, without the experiments of papers."""
        return tuple(name for name in self.families if not any(each.paper == name for each in self.contests))

    @property
    def edition(self) -> int:
        """The first edition of the families that includes all of these families."""
        return max(map(family_edition, self.families), default=1)

    @property
    def n_networks(self) -> int:
        """Number of networks in all families together."""
        return len(self.families) * len(self.numbers)


def family_titles() -> dict[str, str]:
    """Descriptions of the families by name, in order."""
    papers = {each: f"Experiments of {PAPERS[each]}" for each in PAPERS}
    return papers | {name: family.title for name, family in FAMILIES.items()}


def family_edition(name: str) -> int:
    """The first edition of the families that includes a family; papers are in all of them."""
    return FAMILIES[name].edition if name in FAMILIES else 1


def entry(
    entrants: Sequence[str] = (),
    *,
    families: Sequence[str] = (),
    contests: Sequence[str] = (),
    numbers: Sequence[int] | None = None,
    is_quick: bool = False,
    split: str = "test",
    edition: int = EDITION,
) -> Entry:
    """The entry for the given names, or with all entrants and families if no names are given.

    Args:
        entrants: names of entrants.
        families: names of families of networks.
        contests: ids or files of contests, which are used instead of the families.
        numbers: numbers of the networks in each family; None for the numbers of the quick or full form.
        is_quick: whether to use ten networks of each family instead of twenty.
        split: split of the random networks; experiments of papers exist only in the test split.
        edition: edition of the families, from 1; families that were added later are left out.

    Raises:
        InputError: if an entrant, family, contest, split or edition is unknown, or if the final split is asked for
            with numbers or in the quick form.
        ArenaError: if an entrant or contest is not usable.
    """
    asked_split = next((each for each in BOARD_SPLITS if each == split), None)
    if asked_split is None:
        raise InputError(f'unknown split "{split}"; allowed: {", ".join(BOARD_SPLITS)}')
    if not 1 <= edition <= EDITION:
        raise InputError(f"--edition {edition}: unknown edition of the families; allowed: 1 to {EDITION}")
    if asked_split == FINAL and (numbers is not None or is_quick):
        raise InputError(
            f"--split {FINAL}: its numbers are {FINAL_NUMBERS[0]} to {FINAL_NUMBERS[-1]}; "
            "allowed: neither --numbers nor --quick"
        )
    titles = family_titles()
    for name in families:
        if name not in titles:
            listed = f"allowed: {', '.join(titles)}"
            raise InputError(f'unknown family of networks "{name}"; {way_on(name, list(titles), listed)}')
    numbers_of_form = FINAL_NUMBERS if asked_split == FINAL else QUICK_NUMBERS if is_quick else FULL_NUMBERS
    chosen = numbers or numbers_of_form
    who = chosen_entrants(entrants)
    if contests:
        own = load_contests(contests)
        papers = tuple(dict.fromkeys(each.paper for each in own))
        return Entry(who, papers, own, chosen)
    wanted = tuple(name for name in titles if not families or name in families)
    wanted = tuple(name for name in wanted if family_edition(name) <= edition)
    if not wanted:
        raise InputError(f"--edition {edition}: none of the families {', '.join(families)} is in it")
    if split != "test":
        wanted = tuple(name for name in wanted if name in FAMILIES)
        if not wanted:
            raise InputError(f"--split {split}: experiments of papers are only in the test split")
    own = tuple(each for each in load_contests() if each.paper in wanted) if set(wanted) & set(PAPERS) else ()
    return Entry(who, wanted, own, chosen, asked_split)


@dataclass(frozen=True, slots=True)
class Result:
    """Result of an entrant in a network; see `subflow_sim.arena.utility.Outcome`.

    Attributes:
        utility: bounded below by `WORST`.
        throughput: mean of ln(goodput / fair share).
        queueing: mean queueing delay in base round-trip times.
        loss: loss ratio beyond the random loss of the links, 0..1.
        friendliness: goodput of the competing TCP flows over their reference goodput; NaN if no flows compete.
        convergence: convergence time in seconds; NaN if the capacity does not change.
        cpu: CPU time per packet in microseconds.
        reason: reason for the lowest utility; empty if the run passed.
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
        """Reads a stored result.

        Raises:
            ValueError: if the utility is missing or not finite, or if a string is not a number.
            TypeError: if a value is neither a number nor a string.
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
    """The known results of an entry.

    Attributes:
        entry: entrants and networks.
        results: known results by entrant and network.
        n_shipped: number of results that ship with the program; the others were computed locally.
        versions: versions of the simulator that computed the results, with the number of results of each.
        unknown: families of the original entry that the board leaves out, because no entrant has a result there.
        made: date of the latest result, e.g. 2026-11-23; empty if the board is empty.
        tries: number of different entries that were tried in the networks of the test split, or of the final split if
            the board shows it, by name of entrant.
    """

    entry: Entry
    results: Mapping[tuple[str, str], Result]
    n_shipped: int = 0
    versions: Mapping[str, int] = field(default_factory=dict)
    made: str = ""
    tries: Mapping[str, int] = field(default_factory=dict)
    unknown: tuple[str, ...] = ()

    @property
    def n_wanted(self) -> int:
        """Number of results of a complete board."""
        return len(self.entry.taking_part) * self.entry.n_networks

    @property
    def n_finished(self) -> int:
        """Number of known results."""
        return len(self.results)

    @property
    def is_empty(self) -> bool:
        """True if no result is known."""
        return not self.results

    def of_family(self, entrant: str, family: str) -> list[Result | None]:
        """Results of an entrant in the networks of a family, in order; None for unknown results."""
        return [self.results.get((entrant, name)) for name in self.entry.names(family)]


def known_board(
    asked: Entry,
    store: Store,
    shipped: Sequence[ArenaOutcome] = (),
    is_cancelled: Callable[[], bool] = lambda: False,
) -> Board:
    """Build the board from stored outcomes, and fill its gaps with shipped outcomes.

    Scores do not depend on the other entrants, so outcomes of different runs of the arena can be combined. Families in
    which no entrant has an outcome are left out, so that outcomes of an earlier edition of the families still rank.

    Args:
        asked: entrants and networks.
        store: source of the outcomes.
        shipped: outcomes that fill gaps in the store.
        is_cancelled: polled after reading the store; True cancels.

    Raises:
        InterruptedError: after a cancellation.
        StoreError: if the store cannot be read.
    """
    own = list(store.arena.outcomes().values())
    if is_cancelled():
        raise InterruptedError
    wanted = {each.entry(): each.name for each in asked.taking_part}
    networks = {name for family in asked.families for name in asked.names(family)}
    results: dict[tuple[str, str], Result] = {}
    newest: dict[tuple[str, str], ArenaOutcome] = {}
    by_shipped: set[tuple[str, str]] = set()
    for outcomes, is_shipped in ((shipped, True), (own, False)):
        for each in outcomes:  # later outcomes replace earlier ones
            place = (wanted.get(each.entry, ""), each.network)
            if not place[0] or each.network not in networks:
                continue
            try:
                results[place] = Result.of_document(each.result)
            except (ValueError, TypeError) as error:
                _log.warning("outcome %s of the arena cannot be used: %s", each.key, error)
                continue
            newest[place] = each
            by_shipped.discard(place)
            if is_shipped:
                by_shipped.add(place)
    shown = in_known_families(asked, newest.values())
    return Board(
        shown,
        results,
        len(by_shipped),
        dict(sorted(Counter(each.version for each in newest.values()).items())),
        max((each.made_at for each in newest.values()), default="")[:10],
        _tries([*shipped, *own], is_final=asked.split == FINAL),
        tuple(name for name in asked.families if name not in shown.families),
    )


def in_known_families(asked: Entry, outcomes: Iterable[ArenaOutcome]) -> Entry:
    """The entry without families in which no outcome is known; unchanged if no outcome is known at all."""
    known = {each.network for each in outcomes}
    families = tuple(name for name in asked.families if not known.isdisjoint(asked.names(name)))
    return replace(asked, families=families) if families else asked


def _tries(outcomes: Sequence[ArenaOutcome], *, is_final: bool) -> dict[str, int]:
    """Number of entries tried under each name of an entrant, e.g. with different policies.

    Args:
        outcomes: all known outcomes.
        is_final: whether to count the final networks, instead of the other test networks.
    """
    found: dict[str, set[str]] = {}
    for each in outcomes:
        if is_final_network(each.network) if is_final else _is_test_network(each.network):
            found.setdefault(each.entrant, set()).add(each.entry)
    return {name: len(entries) for name, entries in found.items()}


def is_final_network(name: str) -> bool:
    """True for the networks of the final split, which are named as those of the test split."""
    family, split, number = name.split("/")
    return family in FAMILIES and split == "test" and int(number) in FINAL_NUMBERS


def _is_test_network(name: str) -> bool:
    return name.split("/")[1] not in ("train", "validation") and not is_final_network(name)
