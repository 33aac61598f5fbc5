"""Which run stands in which column where runs are shown side by side, and what is written above it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from subflow_app.features.history.core.run_names import shared_words


@dataclass(frozen=True, slots=True)
class PlotColumn:
    """One column.

    Attributes:
        runs: positions of the runs in it: one, or a fork with its originals.
        title: name of that run, or what the fork differs in.
        short_title: the same without the words that the titles of all columns begin with.
    """

    runs: frozenset[int]
    title: str
    short_title: str


def plot_columns(names: Sequence[str], forks: Mapping[int, int]) -> list[PlotColumn]:
    """A column for each run, in their order; an original stands with its fork, behind which it is drawn.

    Args:
        names: of the runs, by position.
        forks: by position of an original the position of the run that branched off it.
    """
    members: dict[int, list[int]] = {}
    for run in range(len(names)):
        members.setdefault(_latest_fork(run, forks), []).append(run)
    columns = sorted(members.items(), key=lambda item: min(item[1]))
    titles = [names[fork] for fork, _runs in columns]
    return [
        PlotColumn(frozenset(runs), title, short)
        for (_fork, runs), title, short in zip(columns, titles, _without_shared_start(titles), strict=True)
    ]


def _latest_fork(run: int, forks: Mapping[int, int]) -> int:
    """The fork of the fork of a run, and so on."""
    seen = {run}
    while forks.get(run, run) not in seen:
        run = forks[run]
        seen.add(run)
    return run


def _without_shared_start(titles: Sequence[str]) -> list[str]:
    """Whole words only: of "Two paths: lia" and "Two paths: olia" stay "… lia" and "… olia"."""
    words = [title.split(" ") for title in titles]
    # One word is left of the shortest, so that no column is without a name.
    shared = min(shared_words(titles), min(map(len, words), default=1) - 1)
    return [" ".join(["…", *each[shared:]]) for each in words] if shared > 0 and len(titles) > 1 else list(titles)
