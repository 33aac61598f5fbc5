"""The drawing of the architecture agrees with the imports, and its walks count correctly."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Callable

import pytest
from tests.helpers.import_graph import ROOT
from tools.architecture import drawing, walks
from tools.architecture import house as house_module
from tools.architecture.house import CORE, LAYERS, PACKAGES, QT, House, read_house, reduced
from tools.architecture.walks import Walk

from subflow_sim.units import Dimension, parse_quantity

APP = ROOT / "app" / "subflow_app"
TOP = {*LAYERS[4:], "shell", "features", "sim", "assets", "docs"}
PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def house() -> House:
    return read_house()


def test_the_drawing_of_the_guide_shows_the_imports_of_today(house: House) -> None:
    drawn = ET.parse(drawing.FIGURE).getroot().findtext(f"{SVG}metadata")
    assert drawn is not None
    assert drawn.split("\n")[1:-1] == house.outline(), "python -m tools.architecture draws it again"


def test_every_part_of_a_feature_has_a_row(house: House) -> None:
    for kind in (QT, CORE):
        parts = {name.removesuffix(f".{kind}") for name in house.files if name.endswith(f".{kind}")}
        assert sorted(part for row in house.orders[kind] for part in row) == sorted(parts)


def test_arrows_of_parts_lead_down(house: House) -> None:
    for kind in (QT, CORE):
        row_of = {f"{part}.{kind}": number for number, row in enumerate(house.orders[kind]) for part in row}
        arrows = [(one, other) for one in row_of for other in house.arrows.get(one, ())]
        assert arrows
        assert [(one, other) for one, other in arrows if row_of[one] >= row_of[other]] == []


def test_the_drawing_has_a_box_for_each_part_and_an_arrow_for_each_import(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(house_module, "code_lines", lambda _path: 1)  # reading every file takes long
    root = ET.fromstring(drawing.svg(house))
    texts = [text.text for text in root.iter(f"{SVG}text")]
    parts = [name for name in house.files if "." in name]
    assert all(texts.count(name.split(".")[0]) >= 1 for name in parts)
    assert all(package in texts for package in PACKAGES)
    assert len(list(root.iter(f"{SVG}path"))) == sum(map(len, house.arrows.values())) + 2  # and the two arrowheads
    assert len(list(root.iter(f"{SVG}rect"))) == len(house.files) + 1  # and the background


def test_an_arrow_that_follows_from_others_is_left_out() -> None:
    assert reduced([("a", "b"), ("b", "c"), ("a", "c"), ("c", "c")]) == {"a": {"b"}, "b": {"c"}}


def test_a_walk_follows_a_value_and_what_is_made_from_it() -> None:
    followed, other = "12 Mbit/s", "9 Mbit/s"
    walk = Walk(followed)
    with walk.watched():
        parse_quantity(other, Dimension.RATE)
    assert walk.functions == 0
    with walk.watched():
        parse_quantity(followed, Dimension.RATE)
    assert {line.strip() for line in walk.lines()} == {"sim/subflow_sim/units.py\n    parse_quantity", "split_quantity"}
    assert (walk.functions, walk.files, walk.folders, walk.returns) == (2, 1, 1, 0)


@pytest.mark.parametrize(("name", "take"), list(walks.WALKS.items())[:2])
def test_the_page_states_the_walks_of_today(name: str, take: Callable[[], Walk]) -> None:
    rows = [row for row in PAGE.splitlines() if row.startswith(f"| {name} | now ")]
    assert len(rows) == 1
    walk = take()
    stated = [int(cell) for cell in rows[0].split("|")[3:-1]]
    assert stated == pytest.approx([walk.functions, walk.files, walk.folders, walk.returns], rel=0.1, abs=1)


def test_paths_that_the_page_names_exist() -> None:
    named = set(re.findall(r"`((?:\w+/)+[\w.]+)`", PAGE))
    assert len(named) > 20
    # Walks name files by their last part, and rules name files of any feature.
    ours = {path for path in named if path.split("/")[0] in TOP}
    assert sorted(path for path in ours if not ((ROOT / path).exists() or (APP / path).exists())) == []
