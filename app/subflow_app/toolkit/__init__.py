"""Qt building blocks that are independent of features."""

from __future__ import annotations

import sys


def _stop_reading_sources() -> None:
    """Keep PySide from reading the source of every module that is imported after it.

    WORKAROUND(PySide6 6.11.2): https://github.com/napari/napari/issues/8584. PySide searches each module for the word
    "PySide6", to decide if ``from __feature__ import`` may switch the names of its methods. We never use that import,
    and the search took a tenth of a second at each start.
    """
    import PySide6.QtCore  # noqa: F401 - imports the module that is looked up below

    feature = sys.modules.get("shibokensupport.feature")
    if hasattr(feature, "_mod_uses_pyside"):
        feature._mod_uses_pyside = lambda _module: False  # type: ignore[union-attr]


_stop_reading_sources()
