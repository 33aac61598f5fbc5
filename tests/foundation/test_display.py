"""The message about a missing display names the attempted displays."""

from __future__ import annotations

from tests.helpers.members import for_each

from subflow_app.foundation.surroundings import no_display_text

REFUSED = ("could not connect to display :7", "From 6.5.0, xcb-cursor0 or libxcb-cursor0 is needed")


@for_each(
    ("said", "environment", "named"),
    [
        (("could not connect to display ",), {}, "neither DISPLAY nor WAYLAND_DISPLAY"),
        (REFUSED, {"DISPLAY": ":7"}, "cannot be reached (DISPLAY=:7)"),
        (REFUSED, {"DISPLAY": ":7", "WAYLAND_DISPLAY": "w-0"}, "cannot be reached (WAYLAND_DISPLAY=w-0, DISPLAY=:7)"),
        (REFUSED[1:], {"DISPLAY": ":7"}, "libxcb-cursor0 is needed"),
        (("Could not find\nthe plugin",), {"QT_QPA_PLATFORM": "odd", "DISPLAY": ":7"}, "QT_QPA_PLATFORM=odd"),
    ],
)
def test_no_display_is_told_in_one_line(said: tuple[str, ...], environment: dict[str, str], named: str) -> None:
    text = no_display_text(said, environment)

    assert named in text
    assert "display" in text
    assert "subflow --help" in text
    assert "\n" not in text
