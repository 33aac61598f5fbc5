"""Builds the window with every panel filled, and prints its names: `python -m tools.surface.window FOLDER`.

Runs as a separate process in the environment of `commands`. The window comes from `tests.helpers.window`, which moves
together with the window; the functions for file locations come from the module named ``paths``, wherever it lies.
"""

from __future__ import annotations

import importlib
import inspect
import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from PySide6 import QtCore, QtGui, QtWidgets
from PySide6.QtCore import QObject, QThread
from PySide6.QtGui import QAction
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from tests.helpers.window import TWO_PATHS, at_rest, make_window

APP = Path(__file__).resolve().parents[2] / "app"
PATIENCE_S = 90.0
_LOOK_MS = 50

# Parts with different forms in the inspector.
PARTS = ("", "nodes.client", "links.wifi", "flows.download")


def wait_until(condition: Callable[[], bool], reason: str) -> None:
    """Processes events until the condition holds.

    Raises:
        SystemExit: if it does not hold within `PATIENCE_S`.
    """
    end = time.monotonic() + PATIENCE_S
    while not condition():
        if time.monotonic() > end:
            raise SystemExit(f"the window: {reason} did not come")
        QTest.qWait(_LOOK_MS)


def qt_class(thing: QObject) -> str:
    """Name of the Qt class of an object, also for our subclasses."""
    meta: Any = thing.metaObject()
    while not any(hasattr(module, meta.className()) for module in (QtCore, QtGui, QtWidgets)):
        meta = meta.superClass()
    return str(meta.className())


def things(*roots: QObject) -> dict[str, list[QObject]]:
    """Objects by name, at or below the given roots; without threads, which exist only at times."""
    found: dict[str, list[QObject]] = {}
    for each in (thing for root in roots for thing in (root, *root.findChildren(QObject))):
        if each.objectName() and not isinstance(each, QThread):
            found.setdefault(each.objectName(), []).append(each)
    return found


def object_names(*roots: QObject) -> list[str]:
    """All names, each with its Qt class."""
    return sorted({f"{name} ({qt_class(each)})" for name, named in things(*roots).items() for each in named})


def actions(*roots: QObject) -> dict[str, dict[str, Any]]:
    """Text and shortcuts of each named action."""
    return {
        name: {
            "text": each.text(),
            "keys": [key.toString() for key in each.shortcuts()],
            "is_checkable": each.isCheckable(),
        }
        for name, named in things(*roots).items()
        for each in named
        if isinstance(each, QAction)
    }


def fill(window: Any) -> None:
    """Fills every panel that is otherwise filled when first shown."""
    for feature in window.features:
        if hasattr(feature, "fill"):
            feature.fill()
    for panel in QApplication.topLevelWidgets():
        for part in panel.findChildren(QObject):
            if hasattr(part, "first_shown"):
                part.first_shown.emit()


def built(folder: Path) -> dict[str, Any]:
    """Names and actions of the window after a run of its scenario."""
    application = QApplication([])
    window = make_window(application, folder)
    window.show()
    window.load()
    wait_until(lambda: not window.database.is_opening, "its database")
    window.documents.open_text(TWO_PATHS, "two-paths")
    fill(window)
    window.bar.trigger("run.speed_express")
    window.bar.trigger("run.toggle")
    wait_until(lambda: window.runs.is_running, "a run")
    wait_until(lambda: not window.runs.is_running, "the end of the run")
    names: set[str] = set()
    for part in PARTS:
        window.inspector.show_key(part)
        # Closed panels are not children of the window.
        wait_until(at_rest(lambda: object_names(*application.topLevelWidgets()), 20), "rest")
        names.update(object_names(*application.topLevelWidgets()))
    return {"names": sorted(names), "actions": actions(*application.topLevelWidgets())}


def paths(home: Path) -> dict[str, str]:
    """Locations of the program's files, by the functions that return them."""
    (file,) = (each for each in APP.rglob("paths.py") if "def settings_path" in each.read_text(encoding="utf-8"))
    module = importlib.import_module(".".join(file.relative_to(APP).with_suffix("").parts))
    found = {}
    for name, function in inspect.getmembers(module, inspect.isfunction):
        if function.__module__ == module.__name__ and not name.startswith("_"):
            signature = inspect.signature(function)
            if not signature.parameters and signature.return_annotation in ("Path", Path):
                found[name] = Path(function()).relative_to(home).as_posix()
    return found


def main(folder: Path) -> None:
    """Prints the document."""
    home = Path(os.environ["HOME"])
    document = {"paths": paths(home), "window": built(folder)}
    sys.stdout.write(json.dumps(document))
    sys.stdout.flush()
    os._exit(0)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
