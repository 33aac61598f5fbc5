"""The C library's rules for upper and lower case, which must not decide what a library's names are.

Libraries change the case of ASCII identifiers with `toupper` of the C library: PySide makes "setInterval" out of the
keyword "interval". Locales of Turkish, Azerbaijani and Kurdish have another capital for "i", and the setter is not
found.
"""

from __future__ import annotations

import locale
import os
import re
import string

_NEUTRAL = ("C.UTF-8", "C.utf8", "en_US.UTF-8", "C")


def keep_ascii_case() -> None:
    """Give this process, and those that it starts, the usual case of ASCII letters; all else of the locale stays.

    The variables of the environment change, not the setting alone: Qt and GTK set the locale from the environment
    anew when they begin. Where the user's locale has the usual rules, nothing changes: X11 chooses the sequences of
    dead keys by LC_CTYPE, and Portuguese, Greek and others have sequences of their own.
    """
    before = locale.setlocale(locale.LC_CTYPE)
    try:
        locale.setlocale(locale.LC_CTYPE, "")
    except locale.Error:
        return  # not on this system: every library stays with "C"
    if _has_ascii_case():
        locale.setlocale(locale.LC_CTYPE, before)
        return
    everything = os.environ.pop("LC_ALL", "")
    if everything:
        # It would win over LC_CTYPE. LANG says the same of all categories that no variable of their own decides.
        for name in [name for name in os.environ if name.startswith("LC_")]:
            del os.environ[name]
        os.environ["LANG"] = everything
    for name in _NEUTRAL:
        try:
            locale.setlocale(locale.LC_CTYPE, name)
        except locale.Error:
            continue
        os.environ["LC_CTYPE"] = name
        return


def _has_ascii_case() -> bool:
    """True if the current locale pairs the letters of ASCII; a pattern of bytes with re.LOCALE asks the C library."""
    small = re.compile(string.ascii_lowercase.encode(), re.IGNORECASE | re.LOCALE)
    return small.fullmatch(string.ascii_uppercase.encode()) is not None
