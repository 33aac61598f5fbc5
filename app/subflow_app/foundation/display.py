"""Why no window can be opened, in one line for the terminal: Qt says it in five, and then aborts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

_WAY_ON = "`subflow --help` lists what works without one"
_UNREACHABLE = "could not connect to display"


def no_display_text(said: Sequence[str], environment: Mapping[str, str]) -> str:
    """The line.

    Args:
        said: what Qt said while it looked for a display, oldest first.
        environment: the variables that name the display.
    """
    platform = environment.get("QT_QPA_PLATFORM", "")
    named = [f"{name}={environment[name]}" for name in ("WAYLAND_DISPLAY", "DISPLAY") if environment.get(name)]
    if platform:
        why = f"no window can be opened on the display that QT_QPA_PLATFORM={platform} selects"
    elif not named:
        why = "no window can be opened: neither DISPLAY nor WAYLAND_DISPLAY names a display"
    elif any(line.startswith(_UNREACHABLE) for line in said):
        why = f"no window can be opened: the display cannot be reached ({', '.join(named)})"
    else:
        # A library of the system is missing: which one, only Qt knows.
        reasons = " ".join(" ".join(line.split()) for line in said)
        why = f"no window can be opened on the display ({', '.join(named)}): {reasons}"
    return f"{why}; {_WAY_ON}"
