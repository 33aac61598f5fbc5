"""Wording of timed changes, shared by lists, tooltips, captions, reports and forks.

Changes are given as the mapping of an `[[events]]` entry, which `entry_of` builds from a parsed event. Reports pass
`say=str`, because stored text is always English.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from itertools import chain
from typing import TYPE_CHECKING, Any

from subflow_app.features.editor.core.form_text import text_of
from subflow_app.vocabulary.language import tr, translatable
from subflow_app.vocabulary.link_ways import WAY
from subflow_sim.params import EVENT_CHANGES

if TYPE_CHECKING:
    from subflow_sim.scenario import Event

# Changes that switch a state, such as `up`, come first.
_CHANGES = {
    param.key: param
    for param in sorted(chain.from_iterable(EVENT_CHANGES.values()), key=lambda param: not param.states)
}
_SUBFLOW = translatable("subflow {number}")
_SIDES = {"forward": translatable("forward"), "reverse": translatable("reverse")}
_WAYS = {"data": translatable("direction of data"), "ACKs": translatable("direction of ACKs")}
_UNLIMITED = translatable("unlimited")
_NUMBER = re.compile(r"^([-\d.]+)(?=[%A-Za-z])")


def entry_of(event: Event) -> dict[str, Any]:
    """Return the changes of a parsed event in the form of its `[[events]]` entry, without time and target."""
    entry: dict[str, Any] = {}
    for key, param in _CHANGES.items():
        value = getattr(event, param.attribute)
        is_quantity = isinstance(value, int | float) and not isinstance(value, bool)
        entry[key] = param.format(value) if is_quantity else value
    if event.queue is not None:
        packets, size = event.queue.limit_pkts, event.queue.limit_bytes
        entry["queue"] = f"{packets}pkt" if packets is not None else f"{size}B" if size is not None else _UNLIMITED
    if event.controller is not None:
        entry["controller"] = event.controller.name
    return {key: value for key, value in entry.items() if value is not None}


def value_text(key: str, value: Any, say: Callable[[str], str] = tr) -> str:
    """Format the new value of one key: ``down``, ``5 %``, ``mpcc (alpha 0.9)``."""
    if isinstance(value, bool) and key in _CHANGES and _CHANGES[key].states:
        return say(_CHANGES[key].states[not value])
    if isinstance(value, Mapping):
        # For a controller with options, a loss model or a queue limit, the name comes first.
        name = next((value[each] for each in ("name", "model", "limit") if each in value), "")
        rest = [f"{option} {value_text('', each, say)}" for option, each in value.items() if each is not name]
        return f"{value_text('', name, say)} ({', '.join(rest)})" if rest else value_text("", name, say)
    if key == "loss" and isinstance(value, int | float):
        return f"{value * 100:.10g} %"
    # The earlier values of both directions of a link may be joined: ``2 % / 1 %``.
    parts = text_of(value).split(" / ")
    return say(_UNLIMITED) if value == _UNLIMITED else " / ".join(_NUMBER.sub(r"\1 ", part) for part in parts)


def key_text(key: str, say: Callable[[str], str] = tr) -> str:
    """Return the label of a key, e.g. ``queue``; empty for a switch, whose value needs no label."""
    return say(key.replace("_", " ")) if key in _CHANGES and not _CHANGES[key].states else ""


def change_words(changes: Mapping[str, Any], say: Callable[[str], str] = tr) -> list[str]:
    """Describe each change in a few words: ``rate 4 Mbit/s``, ``down``; keys that describe no change are skipped."""
    present = [key for key in _CHANGES if key in changes]
    return [f"{key_text(key, say)} {value_text(key, changes[key], say)}".strip() for key in present]


def side_text(changes: Mapping[str, Any], say: Callable[[str], str] = tr) -> str:
    """Return the part of the target that changes, empty for the whole target.

    It is ``direction of data``, ``subflow 2``, or ``forward`` for a change without `WAY`.
    """
    if "subflow" in changes:
        return say(_SUBFLOW).format(number=changes["subflow"])
    if WAY in changes:
        return say(_WAYS.get(changes[WAY], changes[WAY]))
    return say(_SIDES.get(changes.get("direction", "both"), ""))


def change_text(changes: Mapping[str, Any], *, has_target: bool = True) -> str:
    """Describe an entry in one line: ``wifi, forward: rate 4 Mbit/s, up``, optionally without its target."""
    target = str(changes.get("link", changes.get("flow", ""))) if has_target else ""
    head = ", ".join(filter(None, (target, side_text(changes))))
    words = ", ".join(change_words(changes))
    return f"{head}: {words}" if head else words
