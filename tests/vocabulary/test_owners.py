"""Owners of traces: names from outside keep every character, and no part of them is parsed as our grammar."""

from __future__ import annotations

import pytest
from tests.helpers.hostile import HOSTILE_NAMES
from tests.helpers.members import for_each

from subflow_app.vocabulary.palette import label_of, split_owner, trace_owner, written


@pytest.mark.parametrize(
    ("scope", "text", "parts"),
    [
        ("flow", "download", ("download", 0, 0)),
        ("subflow", "download/2", ("download", 0, 2)),
        ("subflow", "download.3/1", ("download", 2, 1)),
        ("link", "wifi/reverse", ("wifi", 0, 0)),
    ],
)
def test_owners_of_scenarios_stay_as_they_are(scope: str, text: str, parts: tuple[str, int, int]) -> None:
    assert trace_owner(scope, text) == text
    assert split_owner(text) == parts


def test_any_name_is_one_flow() -> None:
    for name in HOSTILE_NAMES:
        flow, second = trace_owner("flow", name), trace_owner("subflow", f"{name}/2")
        assert second == f"{flow}/2"
        assert split_owner(second)[1:] == (0, 2)
        assert second.partition("/")[0] == flow
        assert (written(flow), written(second)) == (name, f"{name}/2")
        assert label_of(flow).isprintable()
    assert len({trace_owner("flow", name) for name in HOSTILE_NAMES}) == len(HOSTILE_NAMES)


@for_each("text", ["a/", "a/x", "a/0", "a/-1", "/1/", "a/\u0663", "a/99999999999"])
def test_a_part_that_is_no_number_belongs_to_the_name(text: str) -> None:
    assert "/" not in trace_owner("subflow", text)
    assert written(trace_owner("subflow", text)) == text
