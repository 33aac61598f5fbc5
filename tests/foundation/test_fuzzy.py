"""Fuzzy search finds the intended entry from a few letters."""

from __future__ import annotations

from tests.helpers.members import for_each

from subflow_app.shell.command_palette import rank

TITLES = ["Save", "Save as", "Run", "Resume", "Reset layout", "Export figure", "Round-trip time plot", "Show runs"]


def found(query: str) -> list[str]:
    return rank(query, TITLES, lambda title: (title,))


@for_each(
    ("query", "first"),
    [
        ("sav", "Save"),
        ("run", "Run"),
        ("rl", "Reset layout"),
        ("ef", "Export figure"),
        ("rttp", "Round-trip time plot"),
    ],
)
def test_best_match_comes_first(query: str, first: str) -> None:
    assert found(query)[0] == first


def test_every_word_has_to_match() -> None:
    assert found("plot time") == ["Round-trip time plot"]
    assert found("plot figure") == []


def test_nothing_typed_finds_everything_in_order() -> None:
    assert found("") == TITLES


def test_letters_in_another_order_match_nothing() -> None:
    assert found("evas") == []


def test_later_texts_count_less() -> None:
    entries = [("Stop", "ends the run"), ("Run", "starts it")]
    assert rank("run", entries, lambda entry: entry) == [entries[1], entries[0]]
