"""The query language: the meaning of each form, and errors with their place and the allowed words."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.helpers.members import for_each

from subflow_app.features.history.core import run_query
from subflow_app.features.history.core.run_query import FIELDS, QueryError, parse_query
from subflow_store import conditions
from subflow_store.conditions import STARTED, TAG, WORDS, Condition

_OF_FLOW = ("flows.download.controller", "flows.download.goodput_bps")
KEYS = ("fairness.jain", *_OF_FLOW, "links.wifi.delay", "links.wifi.loss")
NOW = datetime(2026, 11, 22, 9, 0, tzinfo=timezone(timedelta(hours=1)))


def only(text: str) -> Condition:
    (condition,) = parse_query(text, KEYS, now=NOW)
    return condition


@for_each(
    ("text", "expected"),
    [
        ("demo", Condition(WORDS, ":", "demo")),
        ("-demo", Condition(WORDS, ":", "demo", is_negated=True)),
        ('"two words"', Condition(WORDS, ":", "two words")),
        ("tag:fairness", Condition(TAG, "=", "fairness")),
        ('-tag:"paper 1"', Condition(TAG, "=", "paper 1", is_negated=True)),
        ("TAG:x", Condition(TAG, "=", "x")),
        ("scenario:t-10b", Condition("scenario_name", ":", "t-10b")),
        ("controller=olia", Condition("controllers", "=", "olia")),
        ("status:failed", Condition("status", "=", "failed")),
        ("note:", None),
        ('note:""', Condition("note", ":", "")),
        ("seed:3", Condition("seed", ":", 3.0)),
        ("goodput>5Mbit/s", Condition("goodput_bps", ">", 5e6)),
        ("goodput > 5 Mbit/s", Condition("goodput_bps", ">", 5e6)),
        ("jain<0.9", Condition("jain", "<", 0.9)),
        ("rtt<80ms", Condition("mean_rtt_s", "<", 0.08)),
        ("loss>=1%", Condition("flows.*.loss_ratio", ">=", 0.01, is_recorded=True)),
        ("duration>60s", Condition("duration_s", ">", 60.0)),
        ("links.wifi.loss>0", Condition("links.wifi.loss", ">", 0.0, is_recorded=True)),
        ("links.wifi.delay<=20ms", Condition("links.wifi.delay", "<=", 0.02, is_recorded=True)),
        ("wifi.loss=2%", Condition("wifi.loss", "=", 0.02, is_recorded=True)),
        ("flows.download.controller=olia", Condition("flows.download.controller", "=", "olia", is_recorded=True)),
        ("flows.*.goodput_bps>5e6", Condition("flows.*.goodput_bps", ">", 5e6, is_recorded=True)),
        ("links.wifi.loss=bursts", Condition("links.wifi.loss", "=", "bursts", is_recorded=True)),
        ("profile=linux", Condition("profile", "=", "linux")),
        ("started:today", Condition(STARTED, ":", "2026-11-21T23:00:00..2026-11-22T23:00:00")),
        ("started:2026-10", Condition(STARTED, ":", "2026-09-30T23:00:00..2026-10-31T23:00:00")),
        ("started>2026-11-01", Condition(STARTED, ">=", "2026-11-01T23:00:00")),
        ("started<yesterday", Condition(STARTED, "<", "2026-11-20T23:00:00")),
    ],
)
def test_each_form_has_its_meaning(text: str, expected: Condition | None) -> None:
    if expected is None:
        with pytest.raises(QueryError, match="needs a value"):
            only(text)
    else:
        assert only(text) == expected


def test_everything_written_must_hold() -> None:
    found = parse_query("  lia  tag:a -tag:b jain < 0.9 wifi ", KEYS)
    assert [(each.field, each.value) for each in found] == [
        *((WORDS, "lia"), (TAG, "a"), (TAG, "b"), ("jain", 0.9), (WORDS, "wifi"))
    ]
    assert [each.is_negated for each in found] == [False, False, True, False, False]
    assert parse_query("   ") == []
    # Any key is accepted if the keys are unknown.
    assert parse_query("links.any.loss>0") == [Condition("links.any.loss", ">", 0.0, is_recorded=True)]


@for_each(
    ("text", "said", "marked"),
    [
        ("x godput>5Mbit/s", 'unknown field "godput"; did you mean "goodput" or "goodput_bps"?', "godput"),
        ("links.wifi.los>1%", 'did you mean "links.wifi.loss"', "links.wifi.los"),
        ("-quux=1", "fields are tag, name", "-quux"),
        ("goodput>5", "the unit is missing", "5"),
        ("goodput>5ms", '"ms" is not a unit of rate', "5ms"),
        ("rtt<fast", 'rtt<"fast": this is not a number', "fast"),
        ("links.wifi.loss>much", "this is not a number", "much"),
        ("download.controller>much", "a number is needed", "much"),
        ("status:done", "unknown; allowed: running, finished", "done"),
        ("started:soon", "unknown; allowed: today, yesterday", "soon"),
        ("started:2026-13-01", "unknown; allowed: today", "2026-13-01"),
        ("started!=today", "-started:today", "started!=today"),
        ("tag>5", "is text: write tag:5", "tag>5"),
        ('lia "open', "a closing quote is missing", '"open'),
        ("T-10b: two", "put it in quotes", "T-10b:"),
        ("jain<", "needs a value", "jain<"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(text: str, said: str, marked: str) -> None:
    with pytest.raises(QueryError) as caught:
        parse_query(text, KEYS)
    assert said in str(caught.value)
    assert text[caught.value.start : caught.value.end] == marked
    assert f"(at character {caught.value.start + 1})" in str(caught.value)


def test_fields_are_known_to_the_store() -> None:
    columns = {TAG, STARTED, *conditions.TEXT_FIELDS, *conditions.NUMBER_FIELDS, *conditions.FORK_FIELDS}
    assert {field.column for field in FIELDS.values() if not field.is_recorded} <= columns
    told = " ".join(f"{form} {tip}" for form, tip in run_query.help_lines())
    assert all(name in told for name in FIELDS)


def understood(text: str) -> list[Condition] | QueryError:
    try:
        return parse_query(text, KEYS)
    except QueryError as error:
        return error


@given(st.text(max_size=60))
def test_any_text_is_understood_or_refused_with_a_place_in_it(text: str) -> None:
    found = understood(text)
    if isinstance(found, QueryError):
        assert 0 <= found.start <= found.end <= len(text)
    else:
        conditions.where(found, dict.fromkeys(KEYS, 1), "status")


TERMS = st.tuples(
    st.booleans(), st.sampled_from(("tag", "note", "name")), st.text(st.characters(exclude_characters='"'), max_size=12)
)


@given(st.lists(TERMS, max_size=4))
def test_values_in_quotes_come_back_as_they_are(terms: list[tuple[bool, str, str]]) -> None:
    text = " ".join(f'{"-" * negated}{field}="{value}"' for negated, field, value in terms)
    assert [(each.is_negated, each.value) for each in parse_query(text)] == [(n, value) for n, _, value in terms]


@given(st.sampled_from(sorted(FIELDS)), st.sampled_from(conditions.OPERATORS), st.floats(0, 1e9))
def test_fields_take_numbers_or_say_why_not(name: str, operator: str, number: float) -> None:
    found = understood(f"{name}{operator}{number!r}")
    if isinstance(found, QueryError):
        assert found.start < found.end
    else:
        assert [each.field for each in found] == [FIELDS[name].column]


WORDS_OF_A_STORE = run_query.Vocabulary(KEYS, ("fairness", "paper 1"), ("T-10b: two links", "Demo"), ("lia", "olia"))


@for_each(
    ("text", "expected"),
    [
        ("good", ["goodput>", "flows.download.goodput_bps"]),
        ("-ta", ["tag:"]),
        ("x links.wifi", ["links.wifi.delay", "links.wifi.loss"]),
        ("tag:", ["fairness", '"paper 1"']),
        ("tag:pa", ['"paper 1"']),
        ('tag:"paper', ['"paper 1"']),
        ("controller:ol", ["olia"]),
        ("status:", sorted(run_query.STATUSES)),
        ("scenario:t-", ['"T-10b: two links"']),
        ("goodput>", []),
        ("", []),
    ],
)
def test_names_and_values_are_completed(text: str, expected: list[str]) -> None:
    found = run_query.complete_query(text, len(text), WORDS_OF_A_STORE)
    assert [each.text for each in found] == expected
    for each in found:
        whole = text[: each.start] + each.text + text[each.end :]
        if not (whole.endswith(">") or each.text.endswith(":") or each.text in KEYS):
            parse_query(whole, KEYS)
