"""A lab as a web page, from the list of labs."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from subflow_app.core.errors import AppError
from subflow_app.core.exporting.lab_page import check_page, write_lab_page
from subflow_app.core.file_kinds import PAGE_SUFFIX
from subflow_app.core.language import tr
from subflow_app.qt.dialogs import PAGE_FILTER

if TYPE_CHECKING:
    from subflow_app.core.labs.lab import Lab
    from subflow_app.qt.main_window import MainWindow


def ask_lab_page(window: MainWindow, lab: Lab, say: Callable[[str], object], *, key: str) -> None:
    """Asks for a place, and writes the page in the background.

    Args:
        window: whose dialogs and banners tell of it.
        lab: of the page.
        say: tells why the lab cannot be one, before a place is asked for.
        key: of the course; empty: it is for none.
    """
    exports = window.exports
    try:
        check_page(lab)
    except AppError as error:
        say(str(error))
        return
    path = exports.ask_path(tr("Save as web page"), tr(PAGE_FILTER), f"{lab.name}{PAGE_SUFFIX}")
    if path is not None:
        window.workers.start(
            "web page", lambda: write_lab_page(lab, path, key=key), succeeded=exports.take, failed=exports.refuse
        )
