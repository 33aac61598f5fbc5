"""The licences of everything that is delivered with the program: listed, there, and not empty."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from subflow_app.selftest.check import Check, NotHereError, Place, is_frozen, require

_NEVER_MISSING = ("CPython", "Qt", "PySide6", "torch", "numpy", "PyInstaller", "Subflow")


def check(_place: Place) -> str:
    """Reads the list and each text."""
    if not is_frozen():
        raise NotHereError("the packaged program alone has the parts of others with it")
    folder = Path(getattr(sys, "_MEIPASS", ""), "licenses")
    parts = json.loads((folder / "index.json").read_text(encoding="utf-8"))
    for part in parts:
        require(part["licence"] and part["files"], f"{part['name']} has no licence")
        for name in part["files"]:
            require((folder / name).stat().st_size > 0, f"{name} of {part['name']} is empty")
    names = " ".join(part["name"] for part in parts).casefold()
    missing = [name for name in _NEVER_MISSING if name.casefold() not in names]
    require(not missing, f"nothing is said of {', '.join(missing)}")
    return f"{len(parts)} parts, {sum(len(part['files']) for part in parts)} texts"


CHECK = Check("licences", check)
