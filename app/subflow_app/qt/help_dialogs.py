"""Help: the list of shortcuts, made from the table of actions, and what Subflow is."""

from __future__ import annotations

import platform
from pathlib import Path

from PySide6.QtCore import Qt, qVersion
from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QLabel, QLineEdit, QTextBrowser, QVBoxLayout, QWidget

from subflow_app import __version__
from subflow_app.core.language import tr, translatable
from subflow_app.core.paths import log_path, settings_path
from subflow_app.qt.action_spec import ActionSpec, Scope
from subflow_app.qt.actions import ACTIONS
from subflow_app.qt.menus import MENUS, SUBMENUS
from subflow_app.qt.theme import current_tokens

# Gestures and keys that are no actions: (where, what to do, what happens).
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
_ABOUT = translatable(
    "The desktop workbench for multipath congestion control: draw a topology, pick algorithms, run them on a "
    "packet-level simulator, and read throughput, window and round-trip time of every subflow."
)


class ShortcutsDialog(QDialog):
    """All shortcuts, by menu, with a filter."""

    def __init__(self, parent: QWidget | None = None) -> None:
        """Lists everything."""
        super().__init__(parent)
        self.setObjectName("shortcuts_dialog")
        self.setWindowTitle(tr("Keyboard shortcuts"))
        self.resize(560, 620)
        self.filter = QLineEdit(self)
        self.filter.setPlaceholderText(tr("Filter…"))
        self.filter.setAccessibleName(tr("Filter of the shortcuts"))
        self.filter.setClearButtonEnabled(True)
        self.list = QTextBrowser(self)
        self.list.setObjectName("shortcut_list")
        self.list.setAccessibleName(tr("Shortcuts"))
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close, self)
        buttons.rejected.connect(self.reject)
        layout = QVBoxLayout(self)
        layout.addWidget(self.filter)
        layout.addWidget(self.list)
        layout.addWidget(buttons)
        self.filter.textChanged.connect(self._show)
        self._show("")

    def _show(self, words: str) -> None:
        muted = current_tokens().muted_text
        html = []
        for title, rows in _sections():
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


def _sections() -> list[tuple[str, list[tuple[str, str, str]]]]:
    """Title and (keys, what happens, where) of every shortcut and gesture."""
    specs = {spec.id: spec for spec in ACTIONS}
    sections = [
        (
            tr(title).replace("&", ""),
            [_row(specs[entry]) for entry in entries if entry in specs and specs[entry].shortcuts],
        )
        for title, entries in (MENUS | SUBMENUS).items()
    ]
    mouse: dict[str, list[tuple[str, str, str]]] = {}
    for where, gesture, what in GESTURES:
        mouse.setdefault(where, []).append((tr(gesture), tr(what), ""))
    return sections + [(tr("Mouse and keys: {panel}", panel=tr(where)), rows) for where, rows in mouse.items()]


def _row(spec: ActionSpec) -> tuple[str, str, str]:
    native = QKeySequence.SequenceFormat.NativeText
    keys = tr(" or ").join(QKeySequence(shortcut).toString(native) for shortcut in spec.shortcuts)
    where = "" if spec.scope is Scope.WINDOW else tr(spec.scope.value)
    return keys.replace("<", "&lt;"), tr(spec.text).replace("&", "").rstrip("…"), where


class AboutDialog(QDialog):
    """Version, licences, and where files are."""

    def __init__(self, database: Path | None, parent: QWidget | None = None) -> None:
        """``database`` is the file in use."""
        super().__init__(parent)
        self.setObjectName("about_dialog")
        self.setWindowTitle(tr("About Subflow"))
        muted = current_tokens().muted_text
        text = QLabel(self)
        text.setTextFormat(Qt.TextFormat.RichText)
        text.setWordWrap(True)
        text.setMinimumWidth(440)
        text.setTextInteractionFlags(Qt.TextInteractionFlag.TextBrowserInteraction)
        about = (
            f"<h2>Subflow {__version__}</h2><p>{tr(_ABOUT)}</p>"
            f"<p style='color:{muted}'>Python {platform.python_version()} · Qt {qVersion()} · {platform.system()} "
            f"{platform.machine()}</p>"
            f"<p><b>{tr('Files')}</b><br>{tr('Database: {path}', path=database or tr('none is open'))}<br>"
            f"{tr('Settings: {path}', path=settings_path())}<br>{tr('Log: {path}', path=log_path())}</p>"
            f"<p><b>{tr('Licences')}</b><br>Subflow: MIT. Qt and PySide6: LGPL 3. Qt Advanced Docking System: LGPL "
            "2.1. pyqtgraph, SQLAlchemy, Alembic, qtawesome: MIT. NumPy, superqt, networkx, zstandard: BSD.</p>"
        )
        text.setText(about)
        # A small screen would otherwise be taken for a reason to show half of it.
        text.setMinimumHeight(text.heightForWidth(text.minimumWidth()))
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close, self)
        buttons.rejected.connect(self.reject)
        layout = QVBoxLayout(self)
        layout.addWidget(text)
        layout.addWidget(buttons)
