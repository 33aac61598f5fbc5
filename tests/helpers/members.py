"""One test for all members of a list: it fails with the name of every failing member, and the reason."""

from __future__ import annotations

import functools
import inspect
import reprlib
import traceback
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import pytest

_Set = type(pytest.param())  # a member with a separate name
_WRITTEN = reprlib.Repr()
_WRITTEN.maxstring = _WRITTEN.maxother = 60


def for_each(
    names: str | Sequence[str], members: Iterable[Any], ids: Callable[[Any], object] | Iterable[str] | None = None
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Makes one test from a function that checks one member of a list.

    Arguments are those of ``pytest.mark.parametrize``, which makes a case of each member. Members share the fixtures of
    the test; but each has a separate ``tmp_path`` and ``monkeypatch``, and ``caplog`` begins empty. A member that skips
    fails, because it would skip the others too.

    Raises ``ValueError`` for a list without members, because its test could not fail, and for members with marks.
    """
    words = [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)
    chosen = list(_named(words, list(members), ids))
    if not chosen:
        raise ValueError(f"a list without members of {', '.join(words)}")

    def fold(check: Callable[..., None]) -> Callable[..., None]:
        parameters = inspect.signature(check).parameters
        source = inspect.unwrap(check).__code__.co_filename

        @functools.wraps(check)
        def test(**fixtures: Any) -> None:
            found = []
            for number, (name, values) in enumerate(chosen):
                with pytest.MonkeyPatch.context() as patched:
                    arguments = {**_own(fixtures, patched, number), **dict(zip(words, values, strict=True))}
                    try:
                        check(**arguments)
                    except (Exception, pytest.fail.Exception, pytest.skip.Exception) as error:
                        found.append(f"{name}: {_reason(error, source)}")
            if found:
                pytest.fail(f"{len(found)} of {len(chosen)} fail\n" + "\n".join(found), pytrace=False)

        left = [parameter for name, parameter in parameters.items() if name not in words]
        test.__signature__ = inspect.Signature(left)  # type: ignore[attr-defined] # read by pytest
        return test

    return fold


def _named(
    words: list[str], members: list[Any], ids: Callable[[Any], object] | Iterable[str] | None
) -> Iterable[tuple[str, Sequence[Any]]]:
    """Each member as a name and its values; a bare value becomes a single-element list."""
    given = [None] * len(members) if ids is None or callable(ids) else list(ids)
    for member, name in zip(members, given, strict=True):
        if isinstance(member, _Set):
            if member.marks:
                raise ValueError(f"a mark holds for a case, and {member} is none")
            name, values = None if member.id is None else str(member.id), member.values
        else:
            values = (member,) if len(words) == 1 else member
        written = ids if callable(ids) else _WRITTEN.repr
        yield str(name or "-".join(str(written(value)) for value in values)), values


def _own(fixtures: dict[str, Any], patched: pytest.MonkeyPatch, number: int) -> dict[str, Any]:
    """The fixtures of a member, without traces of earlier members."""
    own = dict(fixtures)
    if "monkeypatch" in own:
        own["monkeypatch"] = patched
    if "tmp_path" in own:
        own["tmp_path"] = own["tmp_path"] / f"member-{number}"
        own["tmp_path"].mkdir()
    if "caplog" in own:
        own["caplog"].clear()
    return own


def _reason(error: BaseException, source: str) -> str:
    """The error with the last line of the test in its traceback."""
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == source]
    kind = "" if isinstance(error, AssertionError | pytest.fail.Exception) else f"{type(error).__name__}: "
    place = f"{Path(source).name}:{lines[-1]}: " if lines else ""
    return f"{place}{kind}{error}"
