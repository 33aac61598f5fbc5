"""Folder for matplotlib's font cache, and a filter for log messages that do not concern the user.

By default, matplotlib uses its own folder in the user's settings. If that folder is not writable, it creates a
temporary one and logs a warning. A frozen program gets a new temporary folder at each start, and would search all fonts
again.
"""

from __future__ import annotations

import logging
import os

from subflow_app.foundation.paths import font_cache, is_frozen

_VARIABLE = "MPLCONFIGDIR"
# Beginnings of suppressed log messages, which are about an unwritable folder and about the slower first figure.
_UNSAID = ("mkdir -p failed", "Matplotlib created a temporary cache directory", "Matplotlib is building the font cache")


def prepare_matplotlib() -> None:
    """Sets matplotlib's folder to the font cache before matplotlib is imported, unless the user has chosen a folder."""
    # In a frozen program, PyInstaller has already set the variable.
    if is_frozen() or _VARIABLE not in os.environ:
        os.environ[_VARIABLE] = str(font_cache())
    for name in ("matplotlib", "matplotlib.font_manager"):
        logging.getLogger(name).addFilter(_is_worth_telling)


def _is_worth_telling(record: logging.LogRecord) -> bool:
    return not record.getMessage().startswith(_UNSAID)
