from __future__ import annotations

from subflow_app.vocabulary import plain_text
from subflow_store import rows


def test_the_store_and_the_window_spell_the_same_characters() -> None:
    assert plain_text.CONTROLS == rows.CONTROLS


def test_controls_are_spelled_and_lines_stay() -> None:
    assert plain_text.readable("a\x1b[2Jb\n\tc\u202e") == "a\\u001b[2Jb\n\tc\\u202e"
    assert plain_text.readable_line("a\nb") == "a\\u000ab"
