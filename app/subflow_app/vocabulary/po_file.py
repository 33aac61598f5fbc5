"""Reads catalogues of translations: the part of gettext's PO format that ours use."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass


class PoError(Exception):
    """A catalogue is malformed; says in which line."""


@dataclass(frozen=True, slots=True)
class Catalogue:
    """Translations by their English texts.

    Attributes:
        texts: of texts without a number.
        plurals: by (singular, plural): the forms for one and for any other number.
    """

    texts: Mapping[str, str]
    plurals: Mapping[tuple[str, str], tuple[str, str]]


def read_po(text: str) -> Catalogue:
    """The catalogue that a file holds; entries without a translation are left out, and so is the header.

    Raises:
        PoError: if a line is none of the format.

    Source: GNU gettext manual, "The Format of PO Files"; contexts, previous texts and more than two plural forms are
    not used by our catalogues.
    """
    texts: dict[str, str] = {}
    plurals: dict[tuple[str, str], tuple[str, str]] = {}
    entry: dict[str, str] = {}
    field = ""

    def keep() -> None:
        one, many = entry.get("msgid", ""), entry.get("msgid_plural")
        if many is not None:
            if entry.get("msgstr[0]") and entry.get("msgstr[1]"):
                plurals[one, many] = (entry["msgstr[0]"], entry["msgstr[1]"])
        elif one and entry.get("msgstr"):
            texts[one] = entry["msgstr"]
        entry.clear()

    for number, raw in enumerate(text.splitlines(), start=1):
        line = raw.strip()
        if not line or line.startswith("#"):
            continue
        if not line.startswith('"'):
            field, _, line = line.partition(" ")
            if field not in ("msgid", "msgid_plural", "msgstr", "msgstr[0]", "msgstr[1]"):
                raise PoError(f"line {number}: {field!r} is not a keyword of a catalogue")
            if field == "msgid":
                keep()
            entry[field] = ""
        try:
            part = ast.literal_eval(line)
        except (ValueError, SyntaxError) as error:
            raise PoError(f"line {number}: {line} is not text in quotes") from error
        if not field or not isinstance(part, str):
            raise PoError(f"line {number}: {line} belongs to no entry")
        entry[field] += part
    keep()
    return Catalogue(texts, plurals)
