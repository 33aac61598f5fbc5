"""A lab as a web page, from the list of labs."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from subflow_app.features.exporting.core.lab_page import check_page, write_lab_page
from subflow_app.foundation.errors import AppError

if TYPE_CHECKING:
    from subflow_app.features.exporting.qt.exporting import Exports
    from subflow_app.features.labs.core.lab import Lab


def ask_lab_page(exports: Exports, lab: Lab, say: Callable[[str], object], *, key: str) -> None:
    """Asks for a place, and writes the page in the background.

    Args:
        exports: ask, write and tell of it.
        lab: of the page.
        say: tells why the lab cannot be one, before a place is asked for.
        key: of the course; empty: it is for none.
    """
    try:
        check_page(lab)
    except AppError as error:
        say(str(error))
    else:
        exports.ask_page(lab.name, lambda path: write_lab_page(lab, path, key=key))
