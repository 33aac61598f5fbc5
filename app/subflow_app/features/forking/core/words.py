"""Changes of a fork in words, ``wifi loss 2 % → 5 %``, and the runs that are drawn as ghosts behind others.

The words are built from plain values, so that they work in any language. An original is the ghost behind its fork, and
an earlier run the ghost behind the next one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from subflow_app.features.editor.core.event_words import key_text, side_text, value_text
from subflow_app.features.traces.core.traces import LiveTraces, StoredTraces, Traces
from subflow_app.vocabulary.language import tr

BEFORE = "before"
"""Key of a stored change under which the values are that it replaced; the others are those of its event."""

_TARGET_KEYS = ("link", "flow", "direction", "subflow", BEFORE)
_ARROW = "\N{RIGHTWARDS ARROW}"


def difference_text(changes: Sequence[Mapping[str, Any]]) -> str:
    """All changes in one line, in the language of the window.

    Args:
        changes: keys of an `[[events]]` entry each, without the time, and under `BEFORE` the values until then.
    """
    texts = [text for change in changes for text in _texts(change)]
    return ", ".join(texts) or tr("no change")


def fork_text(at_s: float, changes: Sequence[Mapping[str, Any]]) -> str:
    """When and what: ``from 12.5 s: wifi loss 2 % → 5 %``."""
    return tr("from {time} s: {difference}", time=f"{at_s:.10g}", difference=difference_text(changes))


def _texts(change: Mapping[str, Any]) -> list[str]:
    target = " ".join(filter(None, (str(change.get("link", change.get("flow", ""))), side_text(change))))
    before = change.get(BEFORE, {})
    texts = []
    for key, value in change.items():
        if key in _TARGET_KEYS:
            continue
        name = f"{target} {key_text(key)}".rstrip()
        now = value_text(key, value)
        earlier = value_text(key, before[key]) if key in before else ""
        texts.append(f"{name} {earlier} {_ARROW} {now}" if earlier else f"{name} {_ARROW} {now}")
    return texts


@dataclass(frozen=True, slots=True)
class Ghost:
    """An original with its fork, or a run with the one that followed it after a change of the scenario.

    Attributes:
        original: position of the run that was forked, or came before.
        fork: position of the run that branched off it; the latest, where several are shown.
        at_s: until when they are the same.
        changes: what was changed then, see `words`.
        is_before: whether it came before, and was not forked: they have nothing in common but what the scenario says.
    """

    original: int
    fork: int
    at_s: float
    changes: Sequence[Mapping[str, Any]]
    is_before: bool = False

    @property
    def text(self) -> str:
        """What was changed, in the language of the window."""
        return difference_text(self.changes)


def find_ghosts(runs: Sequence[Traces]) -> dict[int, Ghost]:
    """The originals among these runs, and those that came before another, by position."""
    found: dict[int, Ghost] = {}
    for position, run in enumerate(runs):
        before = run.before if isinstance(run, LiveTraces) else None
        if before is not None:
            found |= {n: Ghost(n, position, 0.0, (), is_before=True) for n, each in enumerate(runs) if each is before}
        origin = run.fork if isinstance(run, LiveTraces | StoredTraces) else None
        if origin is None:
            continue
        for other, traces in enumerate(runs):
            if other != position and _is_origin(traces, run):
                found[other] = Ghost(other, position, origin.forked_at_s, origin.changes)
    return found


def forks_first(runs: Sequence[Traces]) -> list[int]:
    """Positions of the runs such that every fork comes before its original, and has the plainer line."""
    order = list(range(len(runs)))
    for ghost in find_ghosts(runs).values():
        original, fork = order.index(ghost.original), order.index(ghost.fork)
        if original < fork:
            order.insert(original, order.pop(fork))
    return order


def ghost_title(ghost: Ghost, title: str) -> str:
    """What a ghost is called: the word first, because names of runs are cut off at their end."""
    return tr("Before: {run}", run=title) if ghost.is_before else tr("Original: {run}", run=title)


def _is_origin(traces: Traces, fork: Traces) -> bool:
    assert isinstance(fork, LiveTraces | StoredTraces)
    if not isinstance(traces, LiveTraces | StoredTraces) or fork.fork is None:
        return False
    if fork.origin is traces:
        return True
    # A run that is not stored has no number to be known by, and runs of two databases may have the same.
    return traces.run_id is not None and traces.run_id == fork.fork.parent_id and traces.title == fork.fork.parent_name
