"""What a fork changes, in words: ``wifi loss 2 % → 5 %``; from plain values, so that it can be said in any language."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from subflow_app.core.language import tr, translatable

BEFORE = "before"
"""Key of a stored change under which the values are that it replaced; the others are those of its event."""

_TARGET_KEYS = ("link", "flow", "direction", "subflow", BEFORE)
_WORDS = {
    "rate": translatable("rate"),
    "delay": translatable("delay"),
    "loss": translatable("loss"),
    "queue": translatable("queue limit"),
    "controller": translatable("controller"),
}
_STATES = {
    ("up", True): translatable("in service"),
    ("up", False): translatable("out of service"),
    ("open", True): translatable("open"),
    ("open", False): translatable("closed"),
    ("backup", True): translatable("backup"),
    ("backup", False): translatable("no backup"),
    ("announce", True): translatable("announced"),
    ("announce", False): translatable("withdrawn"),
    ("refuse", True): translatable("refused"),
    ("refuse", False): translatable("not refused"),
}
_DIRECTIONS = {"forward": translatable("forward"), "reverse": translatable("reverse")}
_QUANTITY = re.compile(r"(?<=\d)(?=[%A-Za-z])")
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
    target = str(change.get("link", change.get("flow", "")))
    if change.get("direction", "both") in _DIRECTIONS:
        target += f" {tr(_DIRECTIONS[change['direction']])}"
    if "subflow" in change:
        target += f" {tr('subflow {number}', number=change['subflow'])}"
    before = change.get(BEFORE, {})
    texts = []
    for key, value in change.items():
        if key in _TARGET_KEYS:
            continue
        name = f"{target} {tr(_WORDS[key])}" if key in _WORDS else target
        now = _value_text(key, value)
        earlier = _value_text(key, before[key]) if key in before else ""
        texts.append(f"{name} {earlier} {_ARROW} {now}" if earlier else f"{name} {_ARROW} {now}")
    return texts


def _value_text(key: str, value: Any) -> str:
    if isinstance(value, bool) and (key, value) in _STATES:
        return tr(_STATES[key, value])
    if isinstance(value, Mapping):
        # A controller with options, a loss model, a queue limit: what it is called, and what it is told.
        name = value.get("name", value.get("model", value.get("limit", "")))
        rest = [f"{option} {_value_text('', each)}" for option, each in value.items() if each is not name]
        return f"{_value_text('', name)} ({', '.join(rest)})" if rest else _value_text("", name)
    if key == "loss" and isinstance(value, int | float):
        return f"{value * 100:.10g} %"
    return _QUANTITY.sub(" ", str(value)) if re.match(r"[\d.]", str(value)) else str(value)
