"""What a fork changes, in words: ``wifi loss 2 % → 5 %``; from plain values, so that it can be said in any language."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from subflow_app.features.editor.core.event_words import key_text, side_text, value_text
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
