"""Undo, redo and search."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from subflow_app.toolkit.action_spec import STORE, ActionSpec, Need
from subflow_app.vocabulary.language import translatable

if TYPE_CHECKING:
    from subflow_app.shell.main_window import MainWindow


def rows() -> Iterator[ActionSpec[MainWindow]]:
    """The Edit menu."""
    yield ActionSpec(
        "edit.undo",
        "&Undo",
        "Undo the last change of the scenario or of the history, whichever was later",
        "undo",
        ("Ctrl+Z",),
        lambda w, _: w.undo_order.undo(),
        (Need(lambda s: s.can_undo, translatable("nothing to undo")),),
    )
    yield ActionSpec(
        "edit.redo",
        "&Redo",
        "Redo the change that was undone",
        "redo",
        ("Ctrl+Shift+Z", "Ctrl+Y"),
        lambda w, _: w.undo_order.redo(),
        (Need(lambda s: s.can_redo, translatable("nothing to redo")),),
    )
    yield ActionSpec(
        "edit.find_run",
        "&Find run",
        "Search the history by name, scenario, controller, tag or note",
        "search",
        ("Ctrl+F",),
        lambda w, _: w.find_run(),
        (STORE,),
    )
