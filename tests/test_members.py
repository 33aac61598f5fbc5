"""A test for all members of a list fails with each member that fails, and with no other."""

from __future__ import annotations

import inspect
import logging
import os
from pathlib import Path

import pytest
from tests.helpers.members import for_each


def test_all_members_that_fail_are_named_with_the_reason() -> None:
    @for_each("number, word", [(1, "one"), (2, "two"), pytest.param(3, "three", id="the third"), (4, "four"), (5, "")])
    def check(number: int, word: str) -> None:
        assert number != 2, word
        if number == 3:
            raise KeyError("lost")
        if number == 4:
            pytest.fail("not raised")
        if number == 5:
            pytest.skip("not here")

    with pytest.raises(pytest.fail.Exception) as caught:
        check()
    head, *reasons = [line for line in str(caught.value).splitlines() if "assert" not in line]
    assert head == "4 of 5 fail"
    assert [reason.split(": ")[0] for reason in reasons] == ["2-'two'", "the third", "4-'four'", "5-''"]


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
