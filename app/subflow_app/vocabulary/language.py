"""Translation of the window. The English texts are the keys in the catalogues of the other languages.

Texts are translated where they are shown: ``tr("Deleted {what}.", what=name)`` in a widget, ``tr(spec.title)`` for
texts that tables hold in English. A text in a table is marked by ``translatable("...")``, or found by the collector of
messages (``tests/helpers/messages.py``). Values are inserted by name after the translation, because languages order
words differently.

Logs, the command line and stored texts remain English, so that scripts and reports mean the same everywhere. Cores of
features may translate texts for users, because the language is English until a window sets a different one. Numbers
have a decimal point in every language, as in fields, files and figures.

Catalogues are PO files of gettext, which all translation tools can edit; `foundation.resources` loads the shipped ones.
`read_po` reads the part of the format that we use, in forty lines. Babel, which reads all of it, would cost 10 MB and a
tenth of a second at start.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass


class PoError(Exception):
    """A malformed catalogue; the message names the line."""


@dataclass(frozen=True, slots=True)
class Catalogue:
    """Translations, by English text.

    Attributes:
        texts: translations of texts that do not depend on a number.
        plurals: translations for one and for any other number, by the English singular and plural.
    """

    texts: Mapping[str, str]
    plurals: Mapping[tuple[str, str], tuple[str, str]]


def read_po(text: str) -> Catalogue:
    """The catalogue in a file, without its header and entries that lack a translation.

    Raises:
        PoError: if a line violates the format.

    Source: GNU gettext manual, "The Format of PO Files"; our catalogues do not use contexts, previous msgids or more
    than two plural forms.
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
"""Native names of the languages, by code."""

SYSTEM = "system"
"""The setting that follows the desktop."""

_NOTHING = Catalogue({}, {})
_current = _NOTHING
_code = ENGLISH


def language_for(setting: str, preferred: Sequence[str]) -> str:
    """The language code for a setting.

    Args:
        setting: a code, or ``SYSTEM``.
        preferred: languages of the desktop, best first, as BCP 47 tags: "de-CH", "fr", "en".
    """
    if setting != SYSTEM:
        return setting
    wanted = (tag.replace("_", "-").partition("-")[0].lower() for tag in preferred)
    return next((code for code in wanted if code in LANGUAGES), ENGLISH)


def set_language(code: str, catalogue: Catalogue = _NOTHING) -> None:
    """Set the language of texts shown from now on; texts that are already visible do not change.

    Args:
        code: one of `LANGUAGES`.
        catalogue: translations into this language; empty for English.

    Raises:
        ValueError: if the language is unknown.
    """
    global _current, _code
    if code not in LANGUAGES:
        raise ValueError(f"language {code!r}; allowed: {', '.join(LANGUAGES)}")
    _current, _code = catalogue, code


def current_language() -> str:
    """The code of the current language."""
    return _code


def translatable(text: str) -> str:
    """Return the text unchanged; the call marks it for translation where it is shown."""
    return text


def tr(text: str, /, **values: object) -> str:
    """The text in the language of the window.

    Args:
        text: English text, with a placeholder such as ``{name}`` for each value.
        values: values by name.
    """
    shown = _current.texts.get(text, text)
    return shown.format(**values) if values else shown


def trn(one: str, many: str, count: int, /, **values: object) -> str:
    """The text for a number of objects; ``{count}`` is that number.

    Args:
        one: English for one object, e.g. ``"{count} run"``.
        many: English for any other number, e.g. ``"{count} runs"``.
        count: the number of objects.
        values: further values, by name.
    """
    forms = _current.plurals.get((one, many), (one, many))
    # English and German have the same plural rule; a language with more forms needs its rule here.
    return forms[0 if count == 1 else 1].format(count=count, **values)
