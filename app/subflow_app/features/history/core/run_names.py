"""Names of runs that are shown together, and the column and heading of each run that is shown side by side."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile

from subflow_app.features.traces.core.traces import Traces

_PART_ENDS = (": ", " = ")


def run_names(runs: Sequence[Traces]) -> list[str]:
    """A name for each run that tells it from the others, which a legend, a dash or a bar has to do.

    Runs of the same name, e.g. of a scenario that was run again with another controller, are told apart by the
    controllers of the flows in which they differ, and numbered where that is not enough.

    Args:
        runs: in the order of their dashes.
    """
    titles = Counter(traces.title for traces in runs)
    names = []
    for traces in runs:
        alike = [other for other in runs if other.title == traces.title]
        differing = _controllers_of_their_own(traces, alike) if titles[traces.title] > 1 else []
        names.append(f"{traces.title}: {', '.join(differing)}" if differing else traces.title)
    return numbered(names)


def told_apart(names: Sequence[str]) -> tuple[str, list[str]]:
    """What names have in common at their beginning, and what is left of each: short names for where room is scarce.

    Names are cut after a colon, or the equals sign of what a sweep varies. Where nothing is in common, or nothing would
    be left of one, they stay as they are.
    """
    if len(names) < 2:
        return "", list(names)
    first, last = min(names), max(names)
    common = first[: next((place for place, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), len(first))]
    end = max((common.rfind(part) + len(part) for part in _PART_ENDS if part in common), default=0)
    rests = [name[end:].strip() for name in names]
    return (common[:end].rstrip(" :="), rests) if end and all(rests) else ("", list(names))


def shared_words(titles: Sequence[str]) -> int:
    """With how many words all of these begin."""
    beginnings = zip(*(title.split(" ") for title in titles), strict=False)
    return sum(1 for _ in takewhile(lambda words: len(set(words)) == 1, beginnings))


def _controllers_of_their_own(traces: Traces, alike: Sequence[Traces]) -> list[str]:
    """Controllers of the flows that have not the same one in all of these runs, each once."""
    return list(
        dict.fromkeys(
            controller
            for flow, controller in traces.controllers.items()
            if any(other.controllers.get(flow) != controller for other in alike)
        )
    )


def numbered(names: Sequence[str]) -> list[str]:
    """Names that stand several times, each with its number."""
    count, seen = Counter(names), Counter[str]()
    found = []
    for name in names:
        seen[name] += 1
        found.append(name if count[name] == 1 else f"{name} ({seen[name]})")
    return found


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
