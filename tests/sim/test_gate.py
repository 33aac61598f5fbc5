"""Checks of external input: only regular files up to a size, and documents up to a depth."""

from __future__ import annotations

import os
import time
import tomllib
from pathlib import Path

import pytest
from tests.helpers.members import for_each

from subflow_sim.gate import MOST_KEY_PARTS, TooLargeFileError, json_tree, open_file, read_file, toml_tree

SHIPPED = [path for folder in ("scenarios", "experiments", "arena") for path in Path("assets", folder).glob("*.toml")]


def test_a_pipe_is_refused_before_anybody_waits(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for path in (pipe, Path("/dev/zero"), Path("/dev/tty")):
        with pytest.raises(OSError, match=r"not a regular file|No such device"):
            read_file(path, 1000)


@pytest.mark.parametrize("name", ["", "missing", "folder", "a\0b"])
def test_what_cannot_be_read_is_an_error_of_the_system(tmp_path: Path, name: str) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(OSError, match=r"directory|null"):
        read_file(tmp_path / name, 1000)


def test_a_file_is_read_up_to_its_limit(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"x" * 1000)
    assert read_file(path, 1000) == b"x" * 1000
    with open_file(path) as file:
        assert file.read(3) == b"xxx"
    with pytest.raises(TooLargeFileError, match=r"larger than 0\.999 kB"):
        read_file(path, 999)


def test_a_file_without_a_size_is_read_up_to_its_limit_too() -> None:
    """Files in /proc report a size of 0."""
    with pytest.raises(TooLargeFileError):
        read_file(Path("/proc/self/maps"), 100)


@for_each("path", SHIPPED, ids=lambda path: path.stem)
def test_what_ships_passes_unchanged(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert toml_tree(text) == tomllib.loads(text)


@for_each(
    "text",
    [
        'a = """."" ""..\\""".""" # ........................................',
        "a = '''" + "." * 100 + "'' '''",
        f'"{"." * 100}" = "{"." * 100}"',
        f"'{'[' * 100}' = [{'1.5, ' * 100}]",
        "a = [\n" + "1.5,\n" * 100 + "]",
        f"{'.'.join('a' * MOST_KEY_PARTS)} = 1.5",
        "a = 2024-01-01T10:00:00.5Z",
        "x = {a.b = {c.d = [{e.f = 1}]}}",
    ],
)
def test_what_only_looks_deep_passes(text: str) -> None:
    assert toml_tree(text) == tomllib.loads(text)


@for_each(
    ("text", "told"),
    [
        (f"{'.'.join('a' * 1000)} = 1", "a key of more than 30 parts (at line 1, column 60)"),
        (f"\n[{'.'.join('a' * 20_000)}]", "(at line 2, column 61)"),
        (f"a = {'[' * 100_000}", "nested too deeply, more than 50 levels (at line 1, column 55)"),
        (f"a = {'{a = ' * 60}1{'}' * 60}", "nested too deeply"),
        ("x = {" + " = {".join(".".join(name * 25) for name in "abc") + " = 1}}}", "nested too deeply"),
        (f"a = {'9' * 5000}", "Exceeds the limit"),
        ("a = ", "Invalid value"),
        ('a = """', "Unterminated string"),
    ],
)
def test_toml_that_parsers_choke_on_is_refused_in_no_time(text: str, told: str) -> None:
    begun_s = time.process_time()
    with pytest.raises(tomllib.TOMLDecodeError) as refused:
        toml_tree(text)
    assert told in str(refused.value)
    assert time.process_time() - begun_s < 1.0


@for_each("quotes", ['"""\\', "'''", '"', "'", '"""a"" ', "#"])
def test_quotes_without_an_end_cost_no_more_than_others(quotes: str) -> None:
    """100 000 of them: an algorithm of quadratic cost would take hours."""
    begun_s = time.process_time()
    with pytest.raises(tomllib.TOMLDecodeError):
        toml_tree(f"a = {quotes * 100_000}")
    assert time.process_time() - begun_s < 5.0


@for_each(
    ("text", "told"),
    [
        ("[" * 100_000, "nested too deeply"),
        ('{"a": ' * 60 + "1" + "}" * 60, "nested too deeply"),
        ("[9223372036854775808]", "beyond 64 bits"),
        ("[-9223372036854775808]", "beyond 64 bits"),
        ("[1e999]", "not finite"),
        ('{"a": {"b": NaN}}', "not finite"),
        ('["\\ud800"]', "surrogate"),
        ('{"\\udfff": 1}', "surrogate"),
        ("[" + "9" * 5000 + "]", "Exceeds the limit"),
        ("", "Expecting value"),
    ],
)
def test_json_that_no_reader_reckons_with_is_refused(text: str, told: str) -> None:
    for content in (text, text.encode()):
        with pytest.raises(ValueError, match=told):
            json_tree(content)


@pytest.mark.parametrize("text", ["NaN", "[1e999, 18446744073709551616]", '"\\ud800"'])
def test_our_own_documents_may_hold_what_json_has_not(text: str) -> None:
    with pytest.raises(ValueError, match=r"finite|64 bits|surrogate"):
        json_tree(text)
    json_tree(text, is_strict=False)
