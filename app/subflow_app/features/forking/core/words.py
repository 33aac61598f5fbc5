"""Describes the changes of a fork, as in ``wifi loss 2 % → 5 %``, and finds the runs that plots draw as ghosts.

Descriptions are built from stored values in the current language. A ghost is drawn behind another run: the original
behind its fork, or a run behind the next run after a change of the scenario.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from subflow_app.features.editor.core.event_words import key_text, side_text, value_text
from subflow_app.features.traces.core.traces import LiveTraces, StoredTraces, Traces
from subflow_app.vocabulary.language import tr
from subflow_app.vocabulary.link_ways import WAY

BEFORE = "before"
"""Key of the replaced values in a stored change; the other keys are those of the event."""

_TARGET_KEYS = ("link", "flow", "direction", "subflow", BEFORE, WAY)
_ARROW = "\N{RIGHTWARDS ARROW}"


def difference_text(changes: Sequence[Mapping[str, Any]]) -> str:
    """All changes in one line, in the language of the window.

    Args:
        changes: changes, each with the keys of an `[[events]]` entry except the time; `BEFORE` has the replaced values,
            and `WAY` what a single direction of a link carries.
    """
    texts = [text for change in changes for text in _texts(change)]
    return ", ".join(texts) or tr("no change")


def fork_text(at_s: float, changes: Sequence[Mapping[str, Any]]) -> str:
    """Time and changes of a fork: ``from 12.5 s: wifi loss 2 % → 5 %``."""
    return tr("from {time} s: {difference}", time=f"{at_s:.10g}", difference=difference_text(changes))


def _texts(change: Mapping[str, Any]) -> list[str]:
    side = side_text(change)
    part = f"({side})" if WAY in change else side
    target = " ".join(filter(None, (str(change.get("link", change.get("flow", ""))), part)))
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
    """A pair of runs: an original and its fork, or a run and the next run after a change of the scenario.

    Attributes:
        original: position of the original or earlier run among the shown runs.
        fork: position of the latest fork, or of the next run, among the shown runs.
        at_s: time up to which both runs are equal, s.
        changes: changes at that time, see `difference_text`.
        is_before: whether the pair consists of an earlier run and the next run, which have no common past.
    """

    original: int
    fork: int
    at_s: float
    changes: Sequence[Mapping[str, Any]]
    is_before: bool = False

    @property
    def text(self) -> str:
        """The changes in one line, in the language of the window."""
        return difference_text(self.changes)


def find_ghosts(runs: Sequence[Traces]) -> dict[int, Ghost]:
    """Find the ghosts among some runs, by the position of the original or earlier run."""
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
    """Positions of the runs, reordered so that a fork or next run precedes its ghost and gets the plainer line."""
    order = list(range(len(runs)))
    for ghost in find_ghosts(runs).values():
        original, fork = order.index(ghost.original), order.index(ghost.fork)
        if original < fork:
            order.insert(original, order.pop(fork))
    return order


def ghost_title(ghost: Ghost, title: str, *, is_only: bool) -> str:
    """Title of a ghost; begins with the distinguishing word, and the only ghost needs no more."""
    tag = _ghost_tags()[0 if ghost.is_before else 1]
    return tag if is_only else f"{tag}: {title}"


def split_ghost_title(text: str) -> tuple[str, str]:
    """The distinguishing word of the title of a ghost, and the title of its run."""
    tag = next((tag for tag in _ghost_tags() if text.startswith(f"{tag}: ")), "")
    return tag, text.removeprefix(f"{tag}: ") if tag else text


def _ghost_tags() -> tuple[str, str]:
    return tr("Before"), tr("Original")


def _is_origin(traces: Traces, fork: Traces) -> bool:
    assert isinstance(fork, LiveTraces | StoredTraces)
    if not isinstance(traces, LiveTraces | StoredTraces) or fork.fork is None:
        return False
    if fork.origin is traces:
        return True
    # Unstored runs have no number, and runs of two databases may share one, so the title is compared as well.
    return traces.run_id is not None and traces.run_id == fork.fork.parent_id and traces.title == fork.fork.parent_name
