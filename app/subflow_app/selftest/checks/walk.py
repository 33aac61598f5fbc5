"""A walk through the window: menus, workspaces, panels and dialogs, with mouse and keys."""

from __future__ import annotations

import json
import os
from pathlib import Path

from subflow_app.selftest.check import Check, Place, require

SCREEN_PX = (1920, 1080)
_LIMIT_S = 240.0


def check(place: Place) -> str:
    """Takes it on a screen of memory, where the window has the size that it likes best."""
    from subflow_app.selftest.walk.route import take_walk

    screen = {"name": "screen", "x": 0, "y": 0, "logicalDpi": 96, "logicalBaseDpi": 96, "dpr": 1}
    screen |= dict(zip(("width", "height"), SCREEN_PX, strict=True))
    # Below the working directory: Qt takes the colon of a Windows drive for the next option.
    description = Path("screen.json")
    description.write_text(json.dumps({"screens": [screen]}), encoding="utf-8")
    os.environ["QT_QPA_PLATFORM"] = f"offscreen:configfile={description}"
    walk = take_walk(place.folder, depth="texts")
    require(not walk.found, f"{len(walk.found)} faults: {'; '.join(walk.told())}")
    return f"{walk.seen} places at {SCREEN_PX[0]} × {SCREEN_PX[1]} pixels, all in order"


CHECK = Check("walk", check, _LIMIT_S)
