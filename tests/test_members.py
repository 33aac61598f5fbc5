"""A test for all members of a list fails with each member that fails, and with no other."""

from __future__ import annotations

import inspect
import logging
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.helpers.members import for_each


def failed(test: Callable[..., None], **fixtures: object) -> str:
    """The message with which a test fails."""
    with pytest.raises(pytest.fail.Exception) as caught:
        test(**fixtures)
    return str(caught.value)


def test_all_members_that_fail_are_named_with_the_reason() -> None:
    @for_each("number, word", [(1, "one"), (2, "two"), pytest.param(3, "three", id="the third"), (4, "four")])
    def check(number: int, word: str) -> None:
        assert number != 2, word
        if number == 3:
            raise KeyError("lost")
        if number == 4:
            pytest.fail("not raised")

    head, *reasons = [line for line in failed(check).splitlines() if "assert" not in line]
    assert head == "3 of 4 fail"
    assert [reason.split(": ")[0] for reason in reasons] == ["2-'two'", "the third", "4-'four'"]
    assert [reason.split(": ", 2)[2] for reason in reasons] == ["two", "KeyError: 'lost'", "not raised"]
    assert all(reason.split(": ")[1].startswith(Path(__file__).name) for reason in reasons)


@for_each("ids", [str.upper, ["A", "B"]])
def test_members_are_called_as_the_list_says(ids: Callable[[str], object] | list[str]) -> None:
    @for_each("letter", "ab", ids=ids)
    def check(letter: str) -> None:
        assert letter == "a"

    assert failed(check).startswith("1 of 2 fail\nB: ")


def test_no_member_finds_what_another_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    @for_each("number", range(2))
    def check(number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
        assert (list(tmp_path.iterdir()), os.environ.get("OF_A_MEMBER"), caplog.records) == ([], None, [])
        monkeypatch.setenv("OF_A_MEMBER", str(number))
        (tmp_path / "file").touch()
        logging.getLogger().warning("of member %s", number)

    assert list(inspect.signature(check).parameters) == ["tmp_path", "monkeypatch", "caplog"]
    check(tmp_path=tmp_path, monkeypatch=monkeypatch, caplog=caplog)


def test_a_list_whose_test_could_not_fail_is_refused() -> None:
    with pytest.raises(ValueError, match="without members of number"):
        for_each("number", [])
    with pytest.raises(ValueError, match="a mark holds for a case"):
        for_each("number", [pytest.param(1, marks=pytest.mark.skip)])
