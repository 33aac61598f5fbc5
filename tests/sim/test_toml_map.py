"""The scanner for the places of values: checked on hand-made texts, and against tomllib on generated ones."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.helpers.members import for_each

from subflow_sim.toml_map import Path, dotted, toml_lines


def paths_of(value: Any, path: Path = ()) -> Iterator[Path]:
    """Every path in a result of tomllib."""
    if path:
        yield path
    if isinstance(value, dict):
        for key, item in value.items():
            yield from paths_of(item, (*path, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from paths_of(item, (*path, index))


EXAMPLE = '''\
format = 1
# a comment = 3
[links.wifi]   # links.lte = "no"
ends = ["client",
  # between
  "server"]
rate = { steps = [["0s", "4Mbit/s"], ["70s", "8Mbit/s"]] }
[links.wifi.reverse]
loss = 0
[links."l t e"]
note = """
two = 2
"quoted" \\""" ends here""""
[[events]]
at = "60s"
link.name = 'wifi'
[[events]]
at = 1979-05-27T07:32:00Z
[events.more]
x = 1
'''


@for_each(
    ("path", "line"),
    [
        (("format",), 1),
        (("links",), 3),
        (("links", "wifi"), 3),
        (("links", "wifi", "ends"), 4),
        (("links", "wifi", "ends", 0), 4),
        (("links", "wifi", "ends", 1), 6),
        (("links", "wifi", "rate", "steps", 1, 0), 7),
        (("links", "wifi", "reverse"), 8),
        (("links", "wifi", "reverse", "loss"), 9),
        (("links", "l t e"), 10),
        (("links", "l t e", "note"), 11),
        (("events",), 14),
        (("events", 0), 14),
        (("events", 0, "at"), 15),
        (("events", 0, "link", "name"), 16),
        (("events", 1), 17),
        (("events", 1, "more", "x"), 20),
    ],
)
def test_a_value_stands_in_the_line_of_its_key(path, line):
    assert toml_lines(EXAMPLE)[path] == line


def test_a_table_stands_in_the_line_of_its_own_header():
    text = "[a.b.c]\nx = 1\n[a.b]\ny = 2\n"
    lines = toml_lines(text)
    assert (lines["a",], lines["a", "b"], lines["a", "b", "c"]) == (1, 3, 1)


def test_nested_arrays_of_tables_are_counted_for_each_parent():
    lines = toml_lines("[[a]]\n[[a.b]]\n[[a.b]]\n[[a]]\n[[a.b]]\nx = 1\n")
    assert lines["a", 0, "b", 1] == 3
    assert lines["a", 1, "b", 0, "x"] == 6


def test_windows_line_ends_count_once():
    assert toml_lines('a = """x\r\ny"""\r\nb = 1\r\n')["b",] == 3


@pytest.mark.parametrize(
    ("path", "text"),
    [
        (("links", "wifi", "loss"), "links.wifi.loss"),
        (("events", 0, "at"), "events[0].at"),
        (("flows", "d", "paths", 1, 0), "flows.d.paths[1][0]"),
        (("links", 'a "b".c\n', "loss"), 'links."a \\"b\\".c\\u000a".loss'),
    ],
)
def test_a_path_is_shown_as_toml_writes_it(path, text):
    assert dotted(path) == text


SCALARS = st.sampled_from(
    [
        "1",
        "-0.5e3",
        "true",
        "1979-05-27 07:32:00",
        "07:32:00",
        "inf",
        '"plain"',
        '"hash # equals = bracket ] brace } comma , quote \\" end"',
        "'literal \\'",
        '""',
        "''",
        '""" "" """""',
        '"""\nfirst = 1\n[no.table]\n"""',
        "'''\n''two = 2\n[[no]]\n'''''",
        '"""\\\n  folded \\""" still"""',
    ]
)
BLANKS = st.sampled_from(["", " ", "\n", " # comment ] = } ' \"\n", "\n\n\t"])
SPACES = st.sampled_from(["", " ", "\t "])


@st.composite
def toml_texts(draw: st.DrawFn) -> str:
    """TOML in every style of the language. Each key is used once, so that a search finds its line."""
    counter = iter(range(10**6))

    def key(kind: str = "key") -> str:
        name = f"{kind}{next(counter)}_"
        quote = draw(st.sampled_from(["{}", '"{} .#"', "'{}\" ]'", '"{}\\u0041"']))
        return quote.format(name)

    def dotted_key() -> str:
        parents = [key() for _ in range(draw(st.integers(0, 2)))]
        dot = draw(SPACES) + "." + draw(SPACES)
        return dot.join([*parents, key("leaf")])

    def value(depth: int) -> str:
        shape = draw(st.sampled_from(["scalar", "scalar", "array", "table"] if depth < 3 else ["scalar"]))
        if shape == "scalar":
            return draw(SCALARS)
        if shape == "array":
            items = [draw(BLANKS) + value(depth + 1) + draw(BLANKS) for _ in range(draw(st.integers(0, 3)))]
            comma = draw(st.sampled_from(["", ","])) if items else ""
            return "[" + ",".join(items) + comma + draw(BLANKS) + "]"
        pairs = [pair(depth + 1) + draw(SPACES) for _ in range(draw(st.integers(0, 3)))]
        return "{" + draw(SPACES) + ", ".join(pairs) + draw(SPACES) + "}"

    def pair(depth: int) -> str:
        return f"{dotted_key()}{draw(SPACES)}={draw(SPACES)}{value(depth)}"

    lines: list[str] = []
    tables: list[str] = []
    for _ in range(draw(st.integers(0, 6))):
        header = draw(st.sampled_from(["", "[{}]", "[[{}]]", "[{}]"]))
        if header:
            parent = draw(st.sampled_from(["", *tables]))
            name = f"{parent} . {key()}" if parent else key()
            tables.append(name)
            lines.append(draw(SPACES) + header.format(name) + draw(st.sampled_from(["", " # [no]"])))
            if header == "[[{}]]" and draw(st.booleans()):
                lines.append(header.format(name))
        lines += [draw(BLANKS) + draw(SPACES) + pair(0) + draw(SPACES) for _ in range(draw(st.integers(0, 3)))]
    return draw(st.sampled_from(["\n", "\r\n"])).join(lines)


@given(toml_texts())
def test_the_scanner_finds_the_same_keys_as_tomllib(text):
    assert set(toml_lines(text)) == set(paths_of(tomllib.loads(text)))


@given(toml_texts())
def test_the_line_of_a_key_is_the_line_that_shows_it(text):
    shown = {}
    for number, line in enumerate(text.split("\n"), 1):
        for word in line.split("leaf")[1:]:
            shown["leaf" + word.split("_")[0] + "_"] = number
    for path, line in toml_lines(text).items():
        step = path[-1]
        if isinstance(step, str) and step.startswith("leaf"):
            assert line == shown[step[: step.index("_") + 1]]


PIECES = st.sampled_from(
    [*"[]{}=.,#\n\"' ", "[[", "]]", "a", '"a"', "1", "'''", '"""', "\\", "\n[[a]]\n", "\na.b = 1\n"]
)


@given(toml_texts(), st.data())
def test_whatever_tomllib_accepts_the_scanner_reads_alike(text, data):
    for _ in range(data.draw(st.integers(1, 3))):
        cut = data.draw(st.integers(0, len(text)))
        text = text[:cut] + data.draw(PIECES) + text[cut + data.draw(st.integers(0, 2)) :]
    try:
        tree = tomllib.loads(text)
    except ValueError:
        return  # most damage makes the text invalid; the scanner is specified for valid texts only
    assert set(toml_lines(text)) == set(paths_of(tree))


def test_long_strings_and_arrays_take_time_in_proportion():
    text = f"a = {json.dumps('x' * 10**6)}\nb = '''{'y' * 10**6}'''\nc = [{'1, ' * 20_000}]\nd = 1\n"
    assert toml_lines(text)["d",] == 4
