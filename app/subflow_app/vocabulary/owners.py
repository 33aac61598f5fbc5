"""Owners of traces: a flow, a copy of one, a subflow of it, or a direction of a link, as one text.

``download.3/2`` is the second subflow of the third copy of `download`, ``wifi/forward`` a direction of `wifi`. Names
in scenarios are letters, digits, ``-`` and ``_``. Names from elsewhere, as of a measurement or a database of somebody
else, are any text: `trace_owner` spells the characters of the grammar in them, so that nothing of a name is ever taken
for it, and `written` has the name as it was.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from subflow_app.vocabulary.number_text import ordinal
from subflow_app.vocabulary.plain_text import readable_line

_COPY = re.compile(r"[A-Za-z0-9_-]*(\.[1-9][0-9]{0,4})?")
"""Flows and links of scenarios; any other name is spelled."""
_SPELLED = {"%": "%25", ".": "%2E", "/": "%2F"}
_SIDES = ("forward", "reverse")


class Owner(NamedTuple):
    """The parts of an owner.

    Attributes:
        name: of the flow, as the scenario defines it.
        instance: which copy of it, from 0.
        ordinal: which subflow, from 1; 0 is the flow itself.
    """

    name: str
    instance: int = 0
    ordinal: int = 0


def trace_owner(scope: str, text: str) -> str:
    """The owner of a trace, of which a file or a database has this text.

    Args:
        scope: "flow", "subflow" or "link": only the last two have a number or a direction behind a slash.
        text: such as ``10.0.0.1/2``.
    """
    if scope != "flow":
        name, slash, part = text.rpartition("/")
        if slash and (part in _SIDES if scope == "link" else ordinal(part) and part.isascii()):
            return f"{_spelled(name)}/{part}"
    return _spelled(text)


def written(owner: str) -> str:
    """The text that `trace_owner` made an owner of."""
    if "%" not in owner:
        return owner
    for character in reversed(_SPELLED):
        owner = owner.replace(_SPELLED[character], character)
    return owner


def label_of(owner: str) -> str:
    """An owner as people read it, on one line."""
    return readable_line(written(owner))


def split_owner(owner: str) -> Owner:
    """The parts of an owner: ``"download.3/2"`` is ``("download", 2, 2)``."""
    flow, _, part = owner.partition("/")
    name, _, instance = flow.partition(".")
    return Owner(name, int(instance) - 1 if instance else 0, (ordinal(part) or 0) if part else 0)


def _spelled(name: str) -> str:
    if _COPY.fullmatch(name):
        return name
    for character, spelling in _SPELLED.items():
        name = name.replace(character, spelling)
    return name
