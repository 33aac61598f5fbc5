"""Locales of the C library made for tests, because systems only have those of their users."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path

import pytest

_CACHE = Path(__file__).resolve().parents[2] / "build" / "test-cache" / "locales"
_SOURCES = Path("/usr/share/i18n/locales")
# Collation takes most of the time of localedef, and the program does not use it.
_CATEGORIES = (
    *("CTYPE", "NUMERIC", "TIME", "MONETARY", "MESSAGES", "PAPER"),
    *("NAME", "ADDRESS", "TELEPHONE", "MEASUREMENT", "IDENTIFICATION"),
)


def locale_source(name: str) -> str:
    """Source for localedef of a locale (``tr_TR``) without the collation of its language."""
    copied = dict.fromkeys(_CATEGORIES, name) | {"COLLATE": "POSIX"}
    return "".join(f'LC_{key}\ncopy "{of}"\nEND LC_{key}\n' for key, of in copied.items())


def made_locales(names: Iterable[str]) -> Path:
    """The folder for LOCPATH with these locales (``tr_TR``) in UTF-8, kept between runs of the tests."""
    if shutil.which("localedef") is None or not _SOURCES.is_dir():
        pytest.skip("this system has no sources of locales (the package is called locales)")
    _CACHE.mkdir(parents=True, exist_ok=True)
    for name in names:
        made = _CACHE / f"{name}.UTF-8"
        if made.is_dir():
            continue
        source = _CACHE / f"{name}.source"
        source.write_text(locale_source(name))
        part = _CACHE / f"{name}.part"
        subprocess.run(["localedef", "-c", "-i", source, "-f", "UTF-8", part], capture_output=True, check=True)
        part.rename(made)
    return _CACHE
