"""Names in legends contain what differs, and stay distinct when they are cut."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
from tests.helpers.members import for_each

from subflow_app.features.plots.core.line_names import fitted, line_names
from subflow_app.features.plots.core.spec import Curve
from subflow_app.features.plots.qt.curve_id import short_run_names
from subflow_app.vocabulary.palette import ColourKey


def curve(label: str, kind: str = "subflow") -> Curve:
    return Curve(label, label, kind, ColourKey(0, 0), np.empty(0), np.empty(0, np.float32))


@for_each(
    ("titles", "shorts"),
    [
        # Titles, of which the last is that of a ghost.
        (("Demo: a phone: mine", "Before: Demo: a phone: lia"), ["mine", "Before: lia"]),
        (("Demo: a phone", "Before: Demo: a phone"), ["After", "Before"]),
        (("Fork: loss 1 %", "Original: Demo: a phone"), ["Fork", "Original"]),
    ],
)
def test_a_run_and_its_ghost_are_named_without_what_they_share(titles: tuple[str, ...], shorts: list[str]) -> None:
    last = len(titles) - 1
    curves = [replace(curve("x"), run=run, run_title=name, is_ghost=run == last) for run, name in enumerate(titles)]
    assert list(short_run_names(curves).values()) == shorts


@for_each(
    ("lines", "whole", "short"),
    [
        # One flow of one run: only the paths differ.
        (
            [("", curve("get · dsl→wifi")), ("", curve("get · backhaul→lte")), ("", curve("get · total", "total"))],
            ["dsl→wifi", "backhaul→lte", "total"],
            ["wifi", "lte", "total"],
        ),
        # A link that two paths share cannot be the short name of either.
        (
            [("", curve("get · a→x")), ("", curve("get · b→x"))],
            ["a→x", "b→x"],
            ["a", "b"],
        ),
        (
            [("lia", curve("get · wifi")), ("olia", curve("get · wifi"))],
            ["lia · wifi", "olia · wifi"],
            ["lia · wifi", "olia · wifi"],
        ),
        (
            [("lia, mean of 5 seeds", curve("get · wifi")), ("olia, mean of 5 seeds", curve("get · wifi"))],
            ["lia · wifi", "olia · wifi"],
            ["lia · wifi", "olia · wifi"],
        ),
        (
            [("", curve("a · wifi")), ("", curve("b · wifi")), ("", curve("noise", "flow"))],
            ["a · wifi", "b · wifi", "noise"],
            ["a · wifi", "b · wifi", "noise"],
        ),
        ([("", curve("wifi →", "link")), ("", curve("lte →", "link"))], ["wifi →", "lte →"], ["wifi →", "lte →"]),
        # Lines that nothing distinguishes are numbered.
        ([("", curve("a · wifi")), ("", curve("a · wifi"))], ["wifi (1)", "wifi (2)"], ["wifi (1)", "wifi (2)"]),
    ],
)
def test_names_are_what_differs(lines: list[tuple[str, Curve]], whole: list[str], short: list[str]) -> None:
    names = line_names(lines)
    assert [name.whole for name in names] == whole
    assert [name.short for name in names] == short


def test_cut_names_are_never_alike() -> None:
    same = "a phone between two wireless networks"
    names = [f"{same}, {end} · {path}" for end, path in product(("window 40", "window 41"), ("wifi", "lte"))]
    assert fitted(names, 1000, len) == names
    for room in range(60, 5, -1):
        shown = fitted(names, room, len)
        assert len(set(shown)) == len(names), room
        assert all(len(name) <= room for name in shown), room
    # The parts that differ are kept where possible.
    assert [name[-9:] for name in fitted(names[::2], 24, len)] == ["40 · wifi", "41 · wifi"]
