"""Where matplotlib keeps what it knows of this machine's fonts, and what it need not tell anybody.

Its own places are a folder of its own among the user's settings, and where that cannot be written a temporary one, of
which it speaks on stderr. In a frozen program it is given a temporary one each time, and looks at all fonts again.
"""

from __future__ import annotations

import logging
import os

from subflow_app.foundation.paths import font_cache, is_frozen

_VARIABLE = "MPLCONFIGDIR"
# Of matters that are nobody's: that a folder cannot be written, and that the first figure takes a moment longer.
_UNSAID = ("mkdir -p failed", "Matplotlib created a temporary cache directory", "Matplotlib is building the font cache")


def prepare_matplotlib() -> None:
    """Has matplotlib, which is not imported yet, keep its files in our cache folder; what the user has set counts."""
    # PyInstaller has set it before anything of ours runs.
    if is_frozen() or _VARIABLE not in os.environ:
        os.environ[_VARIABLE] = str(font_cache())
    for name in ("matplotlib", "matplotlib.font_manager"):
        logging.getLogger(name).addFilter(_is_worth_telling)


def _is_worth_telling(record: logging.LogRecord) -> bool:
    return not record.getMessage().startswith(_UNSAID)
