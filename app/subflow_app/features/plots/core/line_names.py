"""Names of the lines of a legend, which contain what differs between the lines, and are never alike."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import NamedTuple

from subflow_app.features.history.core.run_names import numbered
from subflow_app.features.plots.core.spec import Curve
from subflow_app.vocabulary.language import tr

_JOIN = " · "
_ARROW = "→"
_DOTS = "…"


class LineName(NamedTuple):
    """Name of a line in a legend.

    Attributes:
        whole: name with the whole path.
        short: name with only the link by which its path differs from all others; the whole name without such a link.
    """

    whole: str
    short: str


def line_names(lines: Sequence[tuple[str, Curve]]) -> list[LineName]:
    """Names of lines, each of what distinguishes the line from the others: its run, its flow and its path.

    Args:
        lines: short name of the run, and curve of each line.
    """
    runs = _without_common_end(list(dict.fromkeys(run for run, _curve in lines)))
    parts = [(runs[run], *_flow_and_rest(curve)) for run, curve in lines]
    has_runs = len({run for run, _flow, _rest in parts}) > 1
    flows = {flow for _run, flow, _rest in parts if flow}
    links = {curve.label: curve.label for _run, curve in lines if curve.kind == "link"}
    shorts = _short_paths({rest for _run, _flow, rest in parts} - links.keys()) | links
    found = []
    for run, flow, rest in parts:
        before = [run] if has_runs else []
        if flow and (len(flows) > 1 or not rest):
            before.append(flow)
        found.append(
            (_JOIN.join([*before, *([rest] if rest else [])]), _JOIN.join([*before, *([shorts[rest]] if rest else [])]))
        )
    wholes, briefs = numbered([whole for whole, _short in found]), numbered([short for _whole, short in found])
    return [LineName(whole, short) for whole, short in zip(wholes, briefs, strict=True)]


def _without_common_end(runs: Sequence[str]) -> dict[str, str]:
    """Names of runs without the parts after commas with which all of them end, such as "mean of 5 seeds"."""
    words = [run.split(", ") for run in runs]
    common = 0
    least = min(map(len, words), default=1) - 1
    while len(runs) > 1 and common < least and len({each[-1 - common] for each in words}) == 1:
        common += 1
    return {run: ", ".join(each[: len(each) - common]) for run, each in zip(runs, words, strict=True)}


def _flow_and_rest(curve: Curve) -> tuple[str, str]:
    """Flow and path of a line; the flow is empty for a link."""
    name, separator, rest = curve.label.partition(_JOIN)
    if curve.kind == "link":
        return "", curve.label
    if separator:
        return name, tr("total") if curve.kind == "total" else rest
    return name, tr("total") if curve.kind == "total" else ""


def _short_paths(paths: set[str]) -> dict[str, str]:
    """For each path, its last link that no other path has, or the whole path."""
    links = {path: path.split(_ARROW) for path in paths}
    count = Counter(link for each in links.values() for link in set(each))
    return {path: next((link for link in reversed(each) if count[link] == 1), path) for path, each in links.items()}


def fitted(names: Sequence[str], room: int, width: Callable[[str], int]) -> list[str]:
    """Names cut to a width, so that no two of them are alike.

    Args:
        names: distinct names.
        room: width for each name.
        width: returns the width of a text.
    """
    if all(width(name) <= room for name in names):
        return list(names)
    for cut in (_cut_middle, _cut_start, _cut_end):
        shown = [name if width(name) <= room else cut(name, room, width) for name in names]
        if len(set(shown)) == len(names):
            return shown
    # The names differ only in the middle: a number keeps them apart.
    digits = len(str(len(names)))
    least = room - width(" " + "8" * digits)
    return [f"{_cut_end(name, least, width)} {number}" for number, name in enumerate(names, start=1)]


def _cut_middle(name: str, room: int, width: Callable[[str], int]) -> str:
    for kept in range(len(name) - 1, 1, -1):
        text = name[: (kept + 1) // 2].rstrip() + _DOTS + name[len(name) - kept // 2 :].lstrip()
        if width(text) <= room:
            return text
    return _DOTS


def _cut_start(name: str, room: int, width: Callable[[str], int]) -> str:
    return next((text for place in range(1, len(name)) if width(text := _DOTS + name[place:].lstrip()) <= room), _DOTS)


def _cut_end(name: str, room: int, width: Callable[[str], int]) -> str:
    kept = range(len(name) - 1, 0, -1)
    return next((text for place in kept if width(text := name[:place].rstrip() + _DOTS) <= room), _DOTS)
