"""The language of the window: English texts are keys that a catalogue of each further language translates.

Texts are translated where they are shown: ``tr("Deleted {what}.", what=name)`` in a widget, ``tr(spec.title)`` for
texts that tables hold in English. Each of the latter is marked there by ``translatable("...")``, or found by the
collector of messages (``tests/helpers/messages.py``). Values are inserted after the translation, by name, because
languages order words differently.

Logs, the command line and what is stored stay English, so that scripts and reports mean the same everywhere. Services
of ``core`` may translate the texts that they make for people: the language is English until a window chooses another.
Numbers keep their decimal point in every language: fields, files and figures write them so.

Catalogues are gettext's PO files, which every translation tool edits; `foundation.resources` loads the shipped ones.
`read_po` reads the part of the format that we write, in forty lines. Babel, which reads all of it, would cost 10 MB and
a tenth of a second at start.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
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


ENGLISH = "en"
LANGUAGES: Mapping[str, str] = {ENGLISH: "English", "de": "Deutsch"}
"""Codes and what speakers call their language."""

SYSTEM = "system"
"""The setting that follows the desktop."""

_NOTHING = Catalogue({}, {})
_current = _NOTHING
_code = ENGLISH


def language_for(setting: str, preferred: Sequence[str]) -> str:
    """The code that a setting means.

    Args:
        setting: a code, or ``SYSTEM``.
        preferred: what the desktop prefers, best first, as BCP 47 has it: "de-CH", "fr", "en".
    """
    if setting != SYSTEM:
        return setting
    wanted = (tag.replace("_", "-").partition("-")[0].lower() for tag in preferred)
    return next((code for code in wanted if code in LANGUAGES), ENGLISH)


def set_language(code: str, catalogue: Catalogue = _NOTHING) -> None:
    """Translates texts that are shown from now on; texts on the screen stay as they are.

    Args:
        code: one of `LANGUAGES`.
        catalogue: its translations; empty for English.

    Raises:
        ValueError: if there is no such language.
    """
    global _current, _code
    if code not in LANGUAGES:
        raise ValueError(f"language {code!r}; allowed: {', '.join(LANGUAGES)}")
    _current, _code = catalogue, code


def current_language() -> str:
    """The code of the language that texts are shown in."""
    return _code


def translatable(text: str) -> str:
    """The text as it is: marks a text of a table for translation, which happens where it is shown."""
    return text


def tr(text: str, /, **values: object) -> str:
    """The text in the language of the window.

    Args:
        text: English, with ``{name}`` where values go.
        values: by name.
    """
    shown = _current.texts.get(text, text)
    return shown.format(**values) if values else shown


def trn(one: str, many: str, count: int, /, **values: object) -> str:
    """The text for a number of things; ``{count}`` is that number.

    Args:
        one: English for one thing, e.g. ``"{count} run"``.
        many: English for any other number, e.g. ``"{count} runs"``.
        count: how many there are.
        values: further ones, by name.
    """
    forms = _current.plurals.get((one, many), (one, many))
    # English and German count alike; a language with more forms needs its rule here.
    return forms[0 if count == 1 else 1].format(count=count, **values)
