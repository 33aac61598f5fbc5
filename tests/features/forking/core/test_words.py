"""The description of a fork in words."""

from __future__ import annotations

from typing import Any

from tests.helpers.members import for_each

from subflow_app.features.forking.core.words import difference_text, fork_text
from subflow_app.foundation.resources import use_language

LOSS: dict[str, Any] = {"link": "wifi", "loss": "5%", "before": {"loss": "2%"}}


@for_each(
    ("change", "text"),
    [
        (LOSS, "wifi loss 2 % → 5 %"),
        ({"link": "wifi", "rate": 4e6, "before": {"rate": "8Mbit/s"}}, "wifi rate 8 Mbit/s → 4000000"),
        ({"link": "wifi", "loss": 0.05, "before": {"loss": "2%"}}, "wifi loss 2 % → 5 %"),
        (
            {"link": "wifi", "direction": "reverse", "queue": "10pkt", "before": {"queue": "unlimited"}},
            "wifi reverse queue unlimited → 10 pkt",
        ),
        (
            {"link": "wifi", "direction": "reverse", "loss": "5%", "before": {"loss": "2%"}, "way": "data"},
            "wifi (direction of data) loss 2 % → 5 %",
        ),
        ({"link": "wifi", "loss": "5%", "before": {"loss": "2% / 1%"}}, "wifi loss 2 % / 1 % → 5 %"),
        ({"link": "wifi", "up": False, "before": {"up": True}}, "wifi up → down"),
        ({"flow": "d.3", "subflow": 2, "open": False, "before": {"open": True}}, "d.3 subflow 2 open → closed"),
        ({"flow": "d", "controller": "olia", "before": {"controller": "lia"}}, "d controller lia → olia"),
        (
            {"flow": "d", "controller": {"name": "mpcc", "alpha": 0.9}, "before": {"controller": "lia"}},
            "d controller lia → mpcc (alpha 0.9)",
        ),
        ({"flow": "d", "open": False, "before": {}}, "d → closed"),
    ],
)
def test_a_change_says_what_was_and_what_is(change: dict[str, Any], text: str) -> None:
    assert difference_text([change]) == text


def test_several_changes_and_none() -> None:
    both: list[dict[str, Any]] = [
        LOSS | {"delay": "5ms", "before": {"loss": "2%", "delay": "50ms"}},
        {"flow": "d", "open": True},
    ]
    assert fork_text(12.5, both) == "from 12.5 s: wifi loss 2 % → 5 %, wifi delay 50 ms → 5 ms, d → open"
    assert fork_text(0.0, []) == "from 0 s: no change"
    use_language("de")
    try:
        assert fork_text(12.5, [LOSS]) == "ab 12.5 s: wifi Verlust 2 % → 5 %"
    finally:
        use_language("en")
