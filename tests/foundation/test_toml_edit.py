"""An edit changes its place and keeps every other byte of the file."""

from __future__ import annotations

import tomllib
from difflib import unified_diff

import pytest
import tomlkit
from tests.helpers.members import for_each

from subflow_app.foundation import toml_edit
from subflow_app.foundation.toml_edit import TomlEditError, TomlValue
from subflow_sim.toml_map import Path

DEMO = """\
format = 1
name = "Two paths"         # a name
# what stands above the first table

[nodes.client]             # host by default
at = [0, 0]                # canvas position

[nodes.bare]

[links.wifi]               # full duplex
ends = ["client", "bare"]
rate   = "8Mbit/s"         # or a trace
queue = "67pkt"
loss = "2%"                # Bernoulli

# the second path
[links.lte]
ends = ["client", "bare"]
rate = "8Mbit/s"
  delay = "5ms"

[links.lte.reverse]
rate = "1Mbit/s"

[flows.download]
controller = "lia"         # coupled
paths = [
  ["wifi"],  # first
  ["lte"]
]

[[events]]
at = "60s"
link = "wifi"
up = false

# and back again
[[events]]
at = "70s"
link = "wifi"
up = true
"""


def changed_lines(before: str, after: str) -> list[str]:
    return [
        line
        for line in unified_diff(before.splitlines(), after.splitlines(), lineterm="", n=0)
        if not line.startswith(("---", "+++", "@@"))
    ]


@for_each(
    ("path", "value", "expected"),
    [
        (
            ("links", "wifi", "rate"),
            "9Mbit/s",
            ['-rate   = "8Mbit/s"         # or a trace', '+rate   = "9Mbit/s"         # or a trace'],
        ),
        (
            ("links", "wifi", "loss"),
            0.05,
            ['-loss = "2%"                # Bernoulli', "+loss = 0.05                # Bernoulli"],
        ),
        (
            ("nodes", "client", "at"),
            [30, -20],
            ["-at = [0, 0]                # canvas position", "+at = [30, -20]                # canvas position"],
        ),
        # A new key is the last line of its own table, before the comment that introduces the next table.
        (("links", "wifi", "delay"), "9ms", ['+delay = "9ms"']),
        (("nodes", "bare", "at"), [1.0, 2.5], ["+at = [1, 2.5]"]),
        (("seed",), 7, ["+seed = 7"]),
        (("events", 1, "at"), "80s", ['-at = "70s"', '+at = "80s"']),
        (("events", 0, "direction"), "forward", ['+direction = "forward"']),
        (("links", "lte", "reverse", "rate"), "2Mbit/s", ['-rate = "1Mbit/s"', '+rate = "2Mbit/s"']),
        (("links", "lte", "reverse", "loss"), 0, ["+loss = 0"]),
        (("links", "wifi", "reverse", "rate"), "1Mbit/s", ['+reverse = { rate = "1Mbit/s" }']),
        (("flows", "download", "kind"), "mptcp", ['+kind = "mptcp"']),
        (
            ("flows", "download", "controller"),
            {"name": "uncoupled", "base": "newreno"},
            [
                '-controller = "lia"         # coupled',
                '+controller = { name = "uncoupled", base = "newreno" }         # coupled',
            ],
        ),
    ],
)
def test_setting_a_value_changes_only_its_line(path: Path, value: toml_edit.TomlValue, expected: list[str]) -> None:
    after = toml_edit.set_value(DEMO, path, value)

    assert changed_lines(DEMO, after) == expected
    assert toml_edit.get_value(tomllib.loads(after), path) == value


def test_a_new_key_stands_in_its_own_table() -> None:
    after = toml_edit.set_value(DEMO, ("links", "wifi", "delay"), "9ms")

    assert 'loss = "2%"                # Bernoulli\ndelay = "9ms"\n\n# the second path\n' in after


def test_a_key_added_to_an_empty_table_follows_its_header() -> None:
    text = "[nodes.a]\n# about what comes\n\n[nodes.b]\nkind = 'router'\n"

    assert toml_edit.set_value(text, ("nodes", "a", "at"), [1, 2]).startswith(
        "[nodes.a]\nat = [1, 2]\n# about what comes\n"
    )


def test_a_new_object_becomes_a_section_at_the_end() -> None:
    after = toml_edit.set_value("format = 1\n", ("links", "new", "rate"), "1Mbit/s")

    assert after == 'format = 1\n\n[links.new]\nrate = "1Mbit/s"\n'


def test_windows_line_ends_stay() -> None:
    text = DEMO.replace("\n", "\r\n")

    after = toml_edit.set_value(text, ("links", "wifi", "delay"), "9ms")

    assert after == toml_edit.set_value(DEMO, ("links", "wifi", "delay"), "9ms").replace("\n", "\r\n")


def test_a_file_without_a_final_line_end_grows_by_whole_lines() -> None:
    assert toml_edit.set_value("[nodes.a]\nat = [0, 0]", ("nodes", "a", "kind"), "host") == (
        '[nodes.a]\nat = [0, 0]\nkind = "host"\n'
    )


def test_inline_tables_grow_and_shrink_in_place() -> None:
    one = toml_edit.set_value(DEMO, ("links", "wifi", "reverse", "rate"), "1Mbit/s")
    two = toml_edit.set_value(one, ("links", "wifi", "reverse", "loss"), 0)
    assert 'reverse = { rate = "1Mbit/s", loss = 0 }\n' in two

    assert toml_edit.remove_value(two, ("links", "wifi", "reverse", "loss")) == one
    # Removing the last key also removes the table.
    assert toml_edit.remove_value(one, ("links", "wifi", "reverse", "rate")) == DEMO


def test_dotted_keys_can_be_edited_and_added_to() -> None:
    text = 'links.wifi.rate = "8Mbit/s" # up\nlinks.wifi.delay = "5ms"\n'

    assert toml_edit.set_value(text, ("links", "wifi", "rate"), "9Mbit/s").startswith(
        'links.wifi.rate = "9Mbit/s" # up\n'
    )
    assert tomllib.loads(toml_edit.set_value(text, ("links", "wifi", "loss"), "1%"))["links"]["wifi"]["loss"] == "1%"


def test_many_values_are_set_in_one_pass() -> None:
    wanted: dict[Path, toml_edit.TomlValue] = {
        ("nodes", "client", "at"): [5, 6],
        ("nodes", "bare", "at"): [7, 8],
        ("events", 1, "at"): "71s",
    }

    after = toml_edit.set_values(DEMO, wanted)

    one_by_one = DEMO
    for path, value in wanted.items():
        one_by_one = toml_edit.set_value(one_by_one, path, value)
    assert after == one_by_one


def test_numbers_that_are_none_do_not_stand_in_the_way() -> None:
    assert toml_edit.set_value("a = nan\nb = 1\n", ("b",), 2) == "a = nan\nb = 2\n"


def test_removing_a_key_keeps_its_comment() -> None:
    assert changed_lines(DEMO, toml_edit.remove_value(DEMO, ("links", "wifi", "queue"))) == ['-queue = "67pkt"']
    assert changed_lines(DEMO, toml_edit.remove_value(DEMO, ("links", "wifi", "loss"))) == [
        '-loss = "2%"                # Bernoulli',
        "+# Bernoulli",
    ]
    assert toml_edit.remove_value(DEMO, ("links", "wifi", "delay")) == DEMO


def test_events_are_appended_behind_the_last_one_and_removed_with_their_comment() -> None:
    added = toml_edit.append_table(DEMO, "events", {"at": "80s", "link": "lte", "up": False})
    assert added == DEMO + '\n[[events]]\nat = "80s"\nlink = "lte"\nup = false\n'
    assert toml_edit.remove_table(added, "events", 2) == DEMO

    without_second = toml_edit.remove_table(DEMO, "events", 1)
    assert without_second == DEMO[: DEMO.index("\n# and back again")]
    without_first = toml_edit.remove_table(DEMO, "events", 0)
    assert without_first.endswith(']\n\n# and back again\n[[events]]\nat = "70s"\nlink = "wifi"\nup = true\n')


def test_the_first_and_the_last_event_of_a_file() -> None:
    one = toml_edit.append_table("format = 1", "events", {"at": "1s"})
    assert one == 'format = 1\n\n[[events]]\nat = "1s"\n'
    assert toml_edit.remove_table(one, "events", 0) == "format = 1\n"


def test_events_written_as_an_array_stay_one() -> None:
    text = 'events = [{ at = "1s" }] # short\n'

    two = toml_edit.append_table(text, "events", {"at": "2s"})
    assert two == 'events = [{ at = "1s" }, { at = "2s" }] # short\n'
    assert toml_edit.remove_table(two, "events", 1) == text


@for_each(
    ("value", "expected"),
    [
        ("8Mbit/s", '"8Mbit/s"'),
        ('say "hi"\\', r'"say \"hi\"\\"'),
        (True, "true"),
        (5.0, "5"),
        (0.02, "0.02"),
        (1e-7, "1e-07"),
        ([["wifi"], ["lte", "core"]], '[["wifi"], ["lte", "core"]]'),
        ({"name": "mpcc", "alpha": 0.9, "odd key": 1}, '{ name = "mpcc", alpha = 0.9, "odd key" = 1 }'),
        ({}, "{}"),
    ],
)
def test_values_are_written_in_house_style_and_read_back(value: toml_edit.TomlValue, expected: str) -> None:
    assert toml_edit.render(value) == expected
    assert tomllib.loads(f"x = {expected}")["x"] == value


def test_texts_are_written_as_tomlkit_writes_them() -> None:
    text = "".join(map(chr, range(0x250))) + "\u2028\ud7ff\U0001f600"
    assert toml_edit.render(text) == tomlkit.string(text).as_string()


def test_what_cannot_be_done_says_so_and_changes_nothing() -> None:
    with pytest.raises(TomlEditError, match="end of document"):
        toml_edit.set_value("rate = ", ("seed",), 1)
    with pytest.raises(TomlEditError, match="cannot be set"):
        toml_edit.set_value(DEMO, ("links", "wifi", "rate", "steps"), [])
    with pytest.raises(TomlEditError, match="does not exist"):
        toml_edit.set_value(DEMO, ("events", 5, "at"), "1s")
    with pytest.raises(TomlEditError, match="no \\[\\[events\\]\\] section number 6"):
        toml_edit.remove_table(DEMO, "events", 5)
    with pytest.raises(TomlEditError, match="nan"):
        toml_edit.render(float("nan"))


def test_values_that_are_missing_in_several_tables_are_added_at_once() -> None:
    text = 'a = 1\n[nodes.x]  # left\n  kind = "router"  # of ours\n\n[nodes.y]\n[nodes.z]\nat = [0, 0]'
    values: dict[Path, TomlValue] = {("nodes", name, "at"): [1, 2] for name in "xyz"}
    assert toml_edit.set_values(text, values) == (
        'a = 1\n[nodes.x]  # left\n  kind = "router"  # of ours\n  at = [1, 2]\n\n'
        "[nodes.y]\nat = [1, 2]\n[nodes.z]\nat = [1, 2]"
    )
    # Keys of a table without a header are added one by one.
    added = toml_edit.set_values("nodes.x.kind = 1", {("nodes", "x", "at"): 2, ("nodes", "x", "b"): 3})
    assert tomllib.loads(added) == {"nodes": {"x": {"kind": 1, "at": 2, "b": 3}}}
