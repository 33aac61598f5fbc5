"""The marks and bars that a timeline shows, and the text that dragging writes."""

from __future__ import annotations

import json

import pytest
from tests.helpers.members import for_each

from subflow_app.features.editor.core import event_strip as strip
from subflow_app.features.editor.core.event_strip import StripBar, StripMark, strip_rows
from subflow_app.features.editor.core.scenario_doc import ScenarioDoc
from subflow_app.foundation.toml_edit import read_toml, render

HEAD = """\
format = 1
duration = "60s"
[nodes]
a = {}
b = {}
[links]
wifi = { ends = ["a", "b"], rate = "8Mbit/s" }
lte = { ends = ["a", "b"], rate = { steps = [["0s", "4Mbit/s"], ["20s", "8Mbit/s"], ["40s", "2Mbit/s"]] } } # measured
[flows]
download = { kind = "mptcp", from = "b", to = "a", count = 2 }
"""


def event(at: str, **values: object) -> str:
    lines = "".join(f"{key} = {json.dumps(value)}\n" for key, value in values.items())
    return f'[[events]]\nat = "{at}"\n{lines}'


def items(text: str, key: str = "links.wifi") -> tuple[strip.StripItem, ...]:
    rows = {row.key: row.items for row in strip_rows(read_toml(text), 60.0)}
    return rows.get(key, ())


def wifi(*changes: tuple[str, bool], direction: str = "") -> str:
    """Events that take the link down or up at these times."""
    side = {"direction": direction} if direction else {}
    return "".join(event(at, link="wifi", **side, up=up) for at, up in changes)


def bars(text: str, key: str = "links.wifi") -> list[tuple[float, float, str, bool]]:
    return [
        (item.start_s, item.end_s, item.side, item.end is not None)
        for item in items(text, key)
        if isinstance(item, StripBar)
    ]


def only_bar(text: str) -> StripBar:
    (bar,) = (item for item in items(text) if isinstance(item, StripBar))
    return bar


def only_mark(text: str, key: str = "links.wifi") -> StripMark:
    (mark,) = (item for item in items(text, key) if isinstance(item, StripMark))
    return mark


OUTAGE = HEAD + wifi(("10s", False), ("15s", True))


def test_a_link_without_changes_has_a_row_only_while_it_is_selected() -> None:
    assert [row.key for row in strip_rows(read_toml(HEAD), 60.0)] == ["links.lte"]
    assert [row.key for row in strip_rows(read_toml(HEAD), 60.0, "links.wifi")] == ["links.wifi", "links.lte"]


@for_each(
    ("text", "expected"),
    [
        (wifi(("10s", False), ("15s", True)), [(10.0, 15.0, "", True)]),
        (wifi(("10s", False)), [(10.0, 60.0, "", False)]),  # down to the end of the run
        (
            wifi(("30s", True), ("20s", False), ("5s", False), ("8s", True)),
            [(5.0, 8.0, "", True), (20.0, 30.0, "", True)],
        ),
        (
            wifi(("5s", False), ("9s", True), direction="forward")
            + wifi(("6s", False), direction="reverse")
            + wifi(("12s", True)),
            [(5.0, 9.0, "forward", True), (6.0, 12.0, "reverse", True)],
        ),
    ],
    ids=["pair", "without an end", "by time, not by order in the file", "directions come up together"],
)
def test_a_link_is_down_for_a_bar(text: str, expected: list[tuple[float, float, str, bool]]) -> None:
    assert bars(HEAD + text) == expected


def test_subflows_that_close_and_open_are_bars_of_their_flow() -> None:
    text = (
        HEAD
        + event("5s", flow="download", subflow=2, open=False)
        + event("7s", flow="download.1", open=False)
        + event("9s", flow="download", open=True)
        + event("20s", flow="download", subflow=1, backup=True)
    )
    assert bars(text, "flows.download") == [(5.0, 9.0, "2", True), (7.0, 9.0, "", True)]
    assert only_mark(text, "flows.download").changes == (("backup", True),)


def test_another_controller_is_a_mark_with_its_name() -> None:
    for controller in ("olia", {"name": "olia"}):
        text = HEAD + event("5s", flow="download.2") + f"controller = {render(controller)}\n"
        mark = only_mark(text, "flows.download")
        # Only the time of the event can be dragged, not its values.
        assert (mark.time_s, mark.changes, mark.values) == (5.0, (("controller", "olia"),), ())


def test_values_that_change_are_marks_with_their_text() -> None:
    mark = only_mark(HEAD + event("5s", link="wifi", rate="2Mbit/s", loss="1%"))
    assert (mark.time_s, mark.changes) == (5.0, (("rate", "2Mbit/s"), ("loss", "1%")))
    assert mark.values == (("events", 0, "rate"), ("events", 0, "loss"))
    assert only_mark(HEAD + wifi(("5s", True))).changes == (("up", True),), "it was not down before"


def test_steps_of_a_rate_are_marks_between_their_neighbours() -> None:
    first, second, third = (item for item in items(HEAD, "links.lte") if isinstance(item, StripMark))
    assert first.is_fixed
    assert strip.dragged_mark(second, 90.0, 1.0) == pytest.approx(40.0 - strip.LEAST_BAR_S)
    assert strip.dragged_mark(third, 90.0, 1.0) == 60.0


def test_malformed_events_are_left_out() -> None:
    text = HEAD + '[[events]]\nat = "soon"\nlink = "wifi"\nup = false\n[[events]]\nlink = "wifi"\nup = false\n'
    assert items(text) == ()


@pytest.mark.parametrize(
    ("duration", "width", "least", "step"),
    [(60, 600, 60, 10), (60, 600, 4, 0.5), (2, 500, 70, 0.5), (0.01, 100, 50, 0.005)],
)
def test_ticks_are_round_and_wide_enough(duration: float, width: float, least: float, step: float) -> None:
    assert strip.tick_step(duration, width, least) == pytest.approx(step)


@for_each(
    ("part", "by", "times"),
    [
        ("start", 2.3, (12.5, 15.0)),
        ("start", 99.0, (15.0 - strip.LEAST_BAR_S, 15.0)),
        ("start", -99.0, (0.0, 15.0)),
        ("end", 99.0, (10.0, 60.0)),
        ("end", -99.0, (10.0, 10.0 + strip.LEAST_BAR_S)),
        ("body", 7.1, (17.0, 22.0)),
        ("body", 99.0, (55.0, 60.0)),
        ("body", -99.0, (0.0, 5.0)),
    ],
)
def test_a_bar_stays_inside_the_run(part: strip.Part, by: float, times: tuple[float, float]) -> None:
    assert strip.dragged_bar(only_bar(OUTAGE), part, by, 0.5) == pytest.approx(times)


def test_dragging_a_bar_rewrites_its_two_times_alone() -> None:
    moved = strip.with_bar_at(OUTAGE, only_bar(OUTAGE), 12.5, 17.5)
    assert moved == OUTAGE.replace('"10s"', '"12.5s"').replace('"15s"', '"17.5s"')


def test_dragging_the_end_of_an_outage_without_one_adds_it() -> None:
    text = HEAD + event("10s", link="wifi", direction="forward", up=False)
    moved = strip.with_bar_at(text, only_bar(text), 10.0, 30.0)
    assert read_toml(moved)["events"][1] == {"at": "30s", "link": "wifi", "direction": "forward", "up": True}


def test_a_step_keeps_its_unit_and_the_comment_beside_it() -> None:
    text = HEAD.replace('"20s"', '"0.5min"')
    second = items(text, "links.lte")[1]
    assert isinstance(second, StripMark)
    assert strip.with_mark_at(text, second, 33.0) == text.replace('"0.5min"', '"0.55min"')


@for_each(
    ("time", "like", "text"),
    [
        (1.5, "2s", "1.5s"),
        (1.5, "200ms", "1500ms"),
        (2.0, 7, 2),
        (2.5, 7.0, 2.5),
        (20.0, "1min", "20s"),
        (0.3, None, "0.3s"),
    ],
)
def test_times_are_written_as_the_file_had_them(time: float, like: object, text: object) -> None:
    assert strip.time_text(time, like) == text


def test_a_new_outage_lasts_a_tenth_of_the_run_and_fits_into_it() -> None:
    for key, at_s, expected in (("links.wifi", 20.2, (20.0, 26.0)), ("flows.download", 59.0, (59.0, 60.0))):
        assert bars(strip.with_outage(HEAD, key, at_s, 60.0, 1.0), key) == [(*expected, "", True)]


def test_a_new_rate_starts_from_the_one_in_force() -> None:
    data = read_toml(HEAD + event("30s", link="wifi", rate="5Mbit/s"))
    assert strip.value_at(data, "wifi", "rate", 29.0) == "8Mbit/s"
    assert strip.value_at(data, "wifi", "rate", 31.0) == "5Mbit/s"
    assert strip.value_at(data, "lte", "rate", 25.0) == "8Mbit/s"
    assert strip.value_at(data, "lte", "loss", 25.0) is None
    text = strip.with_change(HEAD, "links.wifi", "rate", "5Mbit/s", 30.0)
    assert only_mark(text).changes == (("rate", "5Mbit/s"),)


def test_removing_a_bar_removes_both_its_events() -> None:
    text = OUTAGE + event("50s", link="wifi", rate="1Mbit/s")
    assert [entry["at"] for entry in read_toml(strip.without(text, only_bar(text)))["events"]] == ["50s"]


def test_removing_a_step_leaves_the_others() -> None:
    rest = strip.without(HEAD, items(HEAD, "links.lte")[1])
    assert read_toml(rest)["links"]["lte"]["rate"]["steps"] == [["0s", "4Mbit/s"], ["40s", "2Mbit/s"]]


def test_what_the_strip_writes_is_a_scenario() -> None:
    text = strip.with_outage(HEAD, "links.wifi", 20.2, 60.0, 1.0)
    text = strip.with_change(text, "links.wifi", "rate", "5Mbit/s", 30.0)
    assert ScenarioDoc(text).problems == ()
