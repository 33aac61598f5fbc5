"""Without a display, or with one that cannot be reached, the window is refused in one line, and commands work."""

from __future__ import annotations

import sys

from subflow_app.selftest.check import Check, NotHereError, Place, require

_DISPLAYS: tuple[dict[str, str | None], ...] = ({"DISPLAY": None}, {"DISPLAY": ":4711"}, {"QT_QPA_PLATFORM": "no-such"})


def check(place: Place) -> str:
    """Tries to open the window."""
    if sys.platform != "linux":
        raise NotHereError("a desktop of this system always has a display")
    for display in _DISPLAYS:
        environment = {"QT_QPA_PLATFORM": None, "WAYLAND_DISPLAY": None, **display}
        said = place.subflow(code=1, may_speak=True, environment=environment).err
        lines = said.splitlines()
        require(len(lines) == 1 and "display" in said, f"{len(lines)} lines were said: {said.strip()}")
    listed = place.subflow("scenarios", environment={"QT_QPA_PLATFORM": None, "DISPLAY": None}).out
    require("demo" in listed, "no scenario is listed")
    return "refused in one line and exit code 1, also where it cannot be reached; commands work"


CHECK = Check("no display", check)
