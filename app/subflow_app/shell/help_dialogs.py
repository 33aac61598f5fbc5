"""Help: the list of shortcuts, made from the table of actions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import QDialog, QLineEdit, QTextBrowser, QWidget

from subflow_app.shell.menus import MENUS, SUBMENUS
from subflow_app.toolkit.action_spec import ActionSpec, Scope
from subflow_app.toolkit.theme import current_tokens
from subflow_app.toolkit.widgets.shorthand import close_button, named, v_box
from subflow_app.vocabulary.language import tr

# Gestures and keys that are not actions: (where, what to do, what happens).
GESTURES = (
    ("Plots", "Wheel", "Zoom time at the cursor"),
    ("Plots", "Drag", "Move through time"),
    ("Plots", "Shift+drag", "Zoom to a rectangle"),
    ("Plots", "Right-drag", "Zoom both axes"),
    ("Plots", "Wheel over the value axis", "Zoom values"),
    ("Plots", "Double-click", "Show everything"),
    ("Plots", "← →, with Shift faster", "Move the crosshair"),
    ("Legend", "Click, Space", "Switch a curve on or off"),
    ("Legend", "Ctrl+click", "Show only this curve or flow"),
    ("Topology", "Space", "Run, pause, resume"),
    ("Topology", "Middle-drag, Space+drag", "Move the picture"),
    ("Topology", "Double-click", "Open the properties"),
    ("History", "Double-click", "Open the plots of a run"),
)


class ShortcutsDialog(QDialog):
    """All shortcuts, by menu, with a filter."""

    def __init__(self, specs: Sequence[ActionSpec[Any]], parent: QWidget | None = None) -> None:
        """Lists the shortcuts of this table."""
        super().__init__(parent)
        self._sections = _sections(specs)
        self.setObjectName("shortcuts_dialog")
        self.setWindowTitle(tr("Keyboard shortcuts"))
        self.resize(560, 620)
        self.filter = QLineEdit(self, placeholderText=tr("Filter…"), clearButtonEnabled=True)
        self.filter.setAccessibleName(tr("Filter of the shortcuts"))
        self.list = named(QTextBrowser(self), "shortcut_list", tr("Shortcuts"))
        buttons = close_button(self)
        v_box(self, self.filter, self.list, buttons)
        self.filter.textChanged.connect(self._show)
        self._show("")

    def _show(self, words: str) -> None:
        muted = current_tokens().muted_text
        html = []
        for title, rows in self._sections:
            matching = [row for row in rows if all(w in " ".join(row).lower() for w in words.lower().split())]
            if not matching:
                continue
            lines = "".join(
                f"<tr><td width='210'><b>{keys}</b></td><td>{what}"
                f"{f' <span style=color:{muted}>({where})</span>' if where else ''}</td></tr>"
                for keys, what, where in matching
            )
            html.append(f"<h3>{title}</h3><table cellpadding='2'>{lines}</table>")
        self.list.setHtml("".join(html) or f"<p style='color:{muted}'>{tr('Nothing matches.')}</p>")


def _sections(specs: Sequence[ActionSpec[Any]]) -> list[tuple[str, list[tuple[str, str, str]]]]:
    """Title and (keys, what happens, where) of every shortcut and gesture."""
    by_id = {spec.id: spec for spec in specs}
    sections = [
        (
            tr(title).replace("&", ""),
            [_row(by_id[entry]) for entry in entries if entry in by_id and by_id[entry].shortcuts],
        )
        for title, entries in (MENUS | SUBMENUS).items()
    ]
    mouse: dict[str, list[tuple[str, str, str]]] = {}
    for where, gesture, what in GESTURES:
        mouse.setdefault(where, []).append((tr(gesture), tr(what), ""))
    return sections + [(tr("Mouse and keys: {panel}", panel=tr(where)), rows) for where, rows in mouse.items()]


def _row(spec: ActionSpec[Any]) -> tuple[str, str, str]:
    native = QKeySequence.SequenceFormat.NativeText
    keys = tr(" or ").join(QKeySequence(shortcut).toString(native) for shortcut in spec.shortcuts)
    where = "" if spec.scope is Scope.WINDOW else tr(spec.scope.value)
    return keys.replace("<", "&lt;"), tr(spec.text).replace("&", "").rstrip("…"), where
