"""What runs are called where several of them are shown together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
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
