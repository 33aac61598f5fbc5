"""Distinct names of runs that are shown together, and columns for runs that are shown side by side."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile

from subflow_app.features.traces.core.traces import Traces, is_measured_run
from subflow_app.vocabulary.language import tr

_PART_ENDS = (": ", " = ", ", ")


def run_names(runs: Sequence[Traces]) -> list[str]:
    """A distinct name for each run, for legends and bars.

    Runs of the same name, e.g. of one scenario with different controllers, are distinguished by the controllers of the
    flows that differ, by "programs" for measured and "simulated" for other runs, else by their seeds, and by numbers
    if necessary.

    Args:
        runs: runs in the order of their line styles.
    """
    titles = Counter(traces.title for traces in runs)
    names = []
    for traces in runs:
        alike = [other for other in runs if other.title == traces.title]
        differing = []
        if titles[traces.title] > 1:
            differing = [*_controllers_of_their_own(traces, alike), *_kind_of_its_own(traces, alike)]
        names.append(f"{traces.title}: {', '.join(differing)}" if differing else traces.title)
    return numbered(_with_seeds(names, runs))


def _with_seeds(names: Sequence[str], runs: Sequence[Traces]) -> list[str]:
    """The names, with the seed of each run whose name and seed no other run has, while another has its name."""
    seeds = [None if traces.row is None else traces.row.seed for traces in runs]
    count, known = Counter(names), Counter(zip(names, seeds, strict=True))
    return [
        tr("{name}, seed {seed}", name=name, seed=seed)
        if count[name] > 1 and seed is not None and known[name, seed] == 1
        else name
        for name, seed in zip(names, seeds, strict=True)
    ]


def told_apart(names: Sequence[str]) -> tuple[str, list[str]]:
    """The common beginning of names, and the rest of each as a short name.

    Names are cut after a colon or a comma, or after the equals sign of a varied value. No name is cut if the names have
    no common beginning, or if a short name would be empty.
    """
    if len(names) < 2:
        return "", list(names)
    first, last = min(names), max(names)
    common = first[: next((place for place, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), len(first))]
    end = max((common.rfind(part) + len(part) for part in _PART_ENDS if part in common), default=0)
    rests = [name[end:].strip() for name in names]
    return (common[:end].rstrip(" :=,"), rests) if end and all(rests) else ("", list(names))


def shared_words(titles: Sequence[str]) -> int:
    """Number of words at the beginning that all titles share."""
    beginnings = zip(*(title.split(" ") for title in titles), strict=False)
    return sum(1 for _ in takewhile(lambda words: len(set(words)) == 1, beginnings))


def _controllers_of_their_own(traces: Traces, alike: Sequence[Traces]) -> list[str]:
    """Controllers, each once, of those flows of a run for which a run in `alike` uses a different controller.

    Two versions of a script are different controllers.
    """
    others = [_named_controllers(other) for other in alike]
    return list(
        dict.fromkeys(
            controller
            for flow, controller in _named_controllers(traces).items()
            if any(other.get(flow) != controller for other in others)
        )
    )


def _kind_of_its_own(traces: Traces, alike: Sequence[Traces]) -> list[str]:
    """The kind of a run, if some of these runs are measured and others simulated."""
    if len({is_measured_run(each) for each in alike}) == 1:
        return []
    return [tr("programs") if is_measured_run(traces) else tr("simulated")]


def _named_controllers(traces: Traces) -> dict[str, str]:
    """Controllers by flow; a script whose text differs between the runs is named with its version."""
    return {flow: traces.versions.get(name, name) for flow, name in traces.controllers.items()}


def numbered(names: Sequence[str]) -> list[str]:
    """Append numbers to names that occur several times."""
    count, seen = Counter(names), Counter[str]()
    found = []
    for name in names:
        seen[name] += 1
        found.append(name if count[name] == 1 else f"{name} ({seen[name]})")
    return found


@dataclass(frozen=True, slots=True)
class PlotColumn:
    """A column of plots for one run.

    Attributes:
        runs: positions of the runs in the column: one run, or a fork with its originals.
        title: name of the run or fork.
        short_title: title without the common first words of all columns.
    """

    runs: frozenset[int]
    title: str
    short_title: str


def plot_columns(names: Sequence[str], forks: Mapping[int, int]) -> list[PlotColumn]:
    """A column for each run, in order; an original shares the column of its fork, which is drawn over the original.

    Args:
        names: names of the runs, by position.
        forks: position of the fork, by position of its original.
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
    """Return the last fork in the chain of forks that starts at a run."""
    seen = {run}
    while forks.get(run, run) not in seen:
        run = forks[run]
        seen.add(run)
    return run


def _without_shared_start(titles: Sequence[str]) -> list[str]:
    """Titles without common words: "Two paths: lia" and "Two paths: olia" become "… lia" and "… olia"."""
    words = [title.split(" ") for title in titles]
    # At least one word of the shortest title remains, so that each column has a name.
    shared = min(shared_words(titles), min(map(len, words), default=1) - 1)
    return [" ".join(["…", *each[shared:]]) for each in words] if shared > 0 and len(titles) > 1 else list(titles)
