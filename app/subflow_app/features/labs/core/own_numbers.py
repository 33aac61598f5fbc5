"""Numbers of one's own: values in a lab that are drawn for each student from a code, such as a name or a number.

A lab lists the values in its front matter, and refers to them anywhere in its file:

    [own]
    rate = ["6 Mbit/s", "8 Mbit/s", "12 Mbit/s"]

    [[steps]]
    id = "yours"
    check = "value(last(), 'links.bottleneck.rate') == {own:rate}"
    do = ["set links.bottleneck.rate={own:rate}", "run"]

The same code always draws the same values, on every machine, so that `subflow labs class` computes them again. An empty
code means the first value of each list.
"""

from __future__ import annotations

import hashlib
import re
import tomllib
from collections.abc import Mapping

MOST_VALUES = 1000
_PLACE = re.compile(r"\{own:([A-Za-z_][\w-]*)\}")


class OwnNumbersError(ValueError):
    """Raised if a lab refers to a number that it does not list, or if a list is empty or of another kind."""


def normal_code(code: str) -> str:
    """A code as it is used for drawing: without capitals and additional spaces, so that "Ada " equals "ada"."""
    return " ".join(code.split()).casefold()


def drawn(lists: Mapping[str, object], code: str) -> dict[str, str]:
    """The value of each list for a code, by name.

    Args:
        lists: lists of values, by name.
        code: code of the student; empty for the first value of each list.

    Raises:
        OwnNumbersError: if a list is empty, too long, or contains anything but texts.
    """
    values = {}
    for name, offered in lists.items():
        is_well = isinstance(offered, list) and all(isinstance(each, str) and each for each in offered)
        if not isinstance(offered, list) or not is_well or not 1 <= len(offered) <= MOST_VALUES:
            raise OwnNumbersError(
                f'own.{name} is not a list of values; allowed: 1 to {MOST_VALUES} texts, e.g. ["6 Mbit/s", "8 Mbit/s"]'
            )
        digest = hashlib.sha256(f"{normal_code(code)}\0{name}".encode()).digest()
        values[name] = offered[int.from_bytes(digest[:8], "big") % len(offered) if normal_code(code) else 0]
    return values


def lists_of(front: str) -> dict[str, object]:
    """The lists of values in the front matter of a lab, by name; an empty table without any, or if it is no TOML.

    Raises:
        OwnNumbersError: if the entry "own" is not a table.
    """
    try:
        table = tomllib.loads(front).get("own", {})
    except (tomllib.TOMLDecodeError, RecursionError):
        return {}  # the reader of labs reports the mistake with its line
    if not isinstance(table, dict):
        raise OwnNumbersError('own is not a table; allowed: [own] with lists, e.g. rate = ["6 Mbit/s", "8 Mbit/s"]')
    return table


def filled(text: str, values: Mapping[str, str]) -> str:
    """The text of a lab with the values of a student.

    Raises:
        OwnNumbersError: if the text refers to a number that the lab does not list.
    """

    def value(found: re.Match[str]) -> str:
        if found[1] not in values:
            allowed = ", ".join(values) or "none, because the lab has no [own]"
            raise OwnNumbersError(f"{found[0]} refers to no list of the lab; allowed: {allowed}")
        return values[found[1]]

    return _PLACE.sub(value, text)


def has_place(text: object) -> bool:
    """True if a text refers to a number of one's own."""
    return isinstance(text, str) and _PLACE.search(text) is not None
