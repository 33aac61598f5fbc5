"""Timed changes in words."""

from __future__ import annotations

from typing import Any

import pytest

from subflow_app.features.editor.core.event_words import change_text


@pytest.mark.parametrize(
    ("values", "text"),
    [
        ({"link": "wifi", "rate": "4Mbit/s", "up": True}, "wifi: up, rate 4 Mbit/s"),
        ({"link": "wifi", "direction": "forward", "loss": 0.02}, "wifi, forward: loss 2 %"),
        ({"flow": "download", "subflow": 2, "open": False}, "download, subflow 2: closed"),
        ({"flow": "download", "backup": True}, "download: backup"),
    ],
)
def test_changes_are_told_in_words(values: dict[str, Any], text: str) -> None:
    assert change_text(values) == text
