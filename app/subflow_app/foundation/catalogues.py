"""The catalogues of translations that ship with the program."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from functools import cache

from subflow_app.foundation.resources import resource_path
from subflow_app.vocabulary.language import ENGLISH, Catalogue, PoError, read_po, set_language

_log = logging.getLogger(__name__)


def use_language(code: str) -> None:
    """Translates texts that are shown from now on with the shipped catalogue of a language.

    A catalogue that cannot be read is named in the log and leaves the texts English, so that the window opens.

    Raises:
        ValueError: if there is no such language.
    """
    set_language(code)
    if code != ENGLISH:
        set_language(code, _catalogue(code))


def translated(texts: Iterable[str], code: str) -> dict[str, str]:
    """Those of some texts that have a translation, whatever the language of the window."""
    known = _catalogue(code).texts
    return {text: known[text] for text in texts if text in known}


@cache
def _catalogue(code: str) -> Catalogue:
    path = resource_path(f"languages/{code}.po")
    try:
        return read_po(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, PoError) as error:
        _log.error("texts stay English: %s cannot be read: %s", path, error)
        return Catalogue({}, {})
