"""Plans from files and from words: their meaning and all possible errors."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.features.sweeps.core.plans import CONTROLLER, LOSS, SCENARIO, plan
from tests.helpers.members import for_each
from tests.helpers.present import present

from subflow_app.features.sweeps.core import plan_file
from subflow_app.features.sweeps.core.plan_file import SweepOptions, open_plan, parse_plan, plan_text, read_seeds
from subflow_app.foundation.errors import InputError, SweepError
from subflow_sim.errors import ParamError, ScenarioError
from subflow_sim.scenario import parse_scenario

EXAMPLE = """\
format = 1
name = "Example"
scenario = "short.toml"
seeds = "1..3"
sample_interval = "50ms"
traces = false

[set]
duration = "2s"

[axes]
"links.wifi.loss" = "0%..2%/3"
flows.download.controller = ["lia", "olia"]

[[together]]
"links.wifi.rate" = ["4Mbit/s", "8Mbit/s"]
"links.lte.rate" = ["8Mbit/s", "4Mbit/s"]
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "short.toml").write_text(SCENARIO, encoding="utf-8")
    return tmp_path


def test_a_grid_has_every_combination_and_the_last_axis_moves_fastest(folder: Path) -> None:
    (folder / "a.sweep.toml").write_text(EXAMPLE, encoding="utf-8")
    swept = open_plan(str(folder / "a.sweep.toml"))
    assert (swept.name, swept.kind, swept.n_points, swept.n_runs) == ("Example", "grid", 12, 36)
    assert swept.keys == (LOSS, CONTROLLER, "links.wifi.rate", "links.lte.rate")
    assert swept.point(0).values == ("0%", "lia", "4Mbit/s", "8Mbit/s")
    assert swept.point(1).values == ("0%", "lia", "8Mbit/s", "4Mbit/s")
    assert swept.point(2).values == ("0%", "olia", "4Mbit/s", "8Mbit/s")
    assert swept.point(11).values == ("2%", "olia", "8Mbit/s", "4Mbit/s")
    assert list(swept.seeds) == [1, 2, 3]
    assert (swept.sample_interval_s, swept.keeps_traces) == (0.05, False)
    assert parse_scenario(swept.scenario_text).duration_s == 2.0
    assert "# so that it takes milliseconds" in swept.scenario_text


def test_the_example_of_the_documentation_is_a_plan() -> None:
    # The whole example except mutually exclusive parts, on a shipped scenario.
    text = present(plan_file.__doc__).partition("format = 1")[2].partition("[[points]]")[0]
    found = parse_plan(
        ("format = 1" + text)
        .replace("links.one", "links.top")
        .replace("links.two", "links.bottom")
        .replace("flows.pool", "flows.mptcp")
    )
    assert (found.n_points, len(found.seeds)) == (5 * 3 * 2, 5)


def test_a_plan_reads_back_from_its_text(folder: Path) -> None:
    (folder / "a.sweep.toml").write_text(EXAMPLE, encoding="utf-8")
    draws = {"draws": 3, "kind": "random", "axes": {LOSS: {"uniform": ["0%", "5%"]}, CONTROLLER: {"choice": ["lia"]}}}
    for made in (
        open_plan(str(folder / "a.sweep.toml")),
        plan(),
        plan(kind="list", axes=None, points=[{LOSS: "1%"}, {CONTROLLER: {"name": "olia"}}]),
        plan(**draws, sweep_seed=7, decisions=True),
    ):
        again = parse_plan(plan_text(made))
        assert again == made
        assert plan_text(again) == plan_text(made)


def test_a_list_has_its_points_and_leaves_the_scenarios_own_values() -> None:
    made = plan(kind="list", axes=None, points=[{LOSS: "1%", CONTROLLER: "olia"}, {"links.lte.delay": "5ms"}])
    assert made.keys == (LOSS, CONTROLLER, "links.lte.delay")
    assert [point.values for point in made.points()] == [("1%", "olia", None), (None, None, "5ms")]
    assert made.overrides(made.point(1)) == ('links.lte.delay="5ms"',)
    assert made.label(made.point(1)) == "links.lte.delay = 5ms"


def test_a_list_may_be_a_csv_file(folder: Path) -> None:
    (folder / "points.csv").write_text(f"{LOSS},{CONTROLLER}\n1%,lia\n2%,\n\n0.03,olia\n", encoding="utf-8")
    (folder / "a.sweep.toml").write_text(
        'format = 1\nscenario = "short.toml"\npoints_file = "points.csv"\n', encoding="utf-8"
    )
    expected = [("1%", "lia"), ("2%", None), (0.03, "olia")]
    by_file = open_plan(str(folder / "a.sweep.toml"))
    assert [point.values for point in by_file.points()] == expected
    by_option = open_plan(str(folder / "short.toml"), SweepOptions(points_file=folder / "points.csv"))
    assert [point.values for point in by_option.points()] == expected
    # The plan holds the values read: the file may change or disappear.
    (folder / "points.csv").unlink()
    assert parse_plan(plan_text(by_file)) == by_file


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("", "it has no points"),
        (f"{LOSS}\n", "it has no points"),
        (f"{LOSS},{LOSS}\n1%,2%\n", "repeated in its first line"),
        (f"{LOSS},{CONTROLLER}\n1%\n", "line 2 has 1 cells; allowed: 2"),
        (f'{LOSS}\n"{"1" * 200_000}', "it is no table: field larger than field limit"),
    ],
)
def test_a_csv_file_that_is_no_list_says_where(folder: Path, content: str, problem: str) -> None:
    (folder / "points.csv").write_text(content, encoding="utf-8")
    with pytest.raises(SweepError, match="points_file") as error:
        open_plan(str(folder / "short.toml"), SweepOptions(points_file=folder / "points.csv"))
    assert problem in str(error.value)


def test_random_points_follow_from_the_sweep_seed_and_not_from_their_number() -> None:
    axes = {
        LOSS: {"uniform": ["0%", "5%"]},
        "links.lte.delay": {"log_uniform": ["1ms", "1s"]},
        CONTROLLER: ["lia", "olia"],
    }
    few = plan(kind="random", draws=5, axes=axes)
    many = plan(kind="random", draws=200, axes=axes)
    other = plan(kind="random", draws=200, axes=axes, sweep_seed=2)
    assert [point.values for point in few.points()] == [many.point(number).values for number in range(5)]
    assert many.point(0).values != other.point(0).values
    losses, delays, controllers = zip(*(point.values for point in many.points()), strict=True)
    assert all(0 <= loss <= 0.05 for loss in losses)
    assert 0.02 < sum(losses) / 200 < 0.03
    assert 60 < sum(delay < 0.0316 for delay in delays) < 140  # half of them below the geometric mean
    assert set(controllers) == {"lia", "olia"}


def test_words_make_the_plan_of_a_scenario(folder: Path) -> None:
    made = open_plan(
        str(folder / "short.toml"),
        SweepOptions(
            axes=[
                f"{LOSS}=0%..2%/3",
                f'{CONTROLLER}=lia, {{ name = "mpcc-loss", alpha = 0.9 }}',
                "links.wifi.rate=4Mbit/s,8Mbit/s & links.lte.rate=8Mbit/s,4Mbit/s",
            ],
            seeds="1,3..4",
            overrides=["duration=2s", "links.lte.loss=1%"],
            name="Words",
        ),
    )
    assert (made.name, made.n_points, list(made.seeds)) == ("Words", 12, [1, 3, 4])
    assert made.point(3).values == ("0%", {"name": "mpcc-loss", "alpha": 0.9}, "8Mbit/s", "4Mbit/s")
    assert parse_scenario(made.scenario_text).links["lte"].forward.loss == 0.01
    drawn = open_plan(
        str(folder / "short.toml"),
        SweepOptions(axes=[f"{LOSS}=0%..5%", "links.lte.delay=5ms..200ms log", f"{CONTROLLER}=lia,olia"], draws=4),
    )
    assert (drawn.kind, drawn.n_points) == ("random", 4)
    assert all(0.005 <= point.values[1] <= 0.2 for point in drawn.points() if isinstance(point.values[1], float))


def test_words_change_a_plan_file(folder: Path) -> None:
    (folder / "a.sweep.toml").write_text(EXAMPLE, encoding="utf-8")
    options = SweepOptions(axes=[f"{LOSS}=5%"], seeds="9", keeps_traces=True, overrides=["duration=3s"])
    made = open_plan(str(folder / "a.sweep.toml"), options)
    assert made.axes[0].values == (("5%",),)
    assert (list(made.seeds), made.keeps_traces, made.n_points) == ([9], True, 4)
    assert parse_scenario(made.scenario_text).duration_s == 3.0


def test_without_seeds_the_scenarios_own_is_used() -> None:
    assert list(plan(seeds=None).seeds) == [1]
    assert list(plan(seeds=None, set={"seed": 5}).seeds) == [5]


@for_each(
    ("changes", "problems"),
    [
        ({"format": 2}, ["format = 2"]),
        ({"axes": None}, ["nothing to sweep over"]),
        ({"axes": {LOSS: "1%..5%"}}, [LOSS, "lacks its number of values"]),
        ({"axes": {LOSS: []}, "seeds": "x"}, ["no values", '"x" is not a seed']),
        ({"axes": {LOSS: {"uniform": ["0%", "1%"]}}}, ['or kind = "random"']),
        ({"axes": {LOSS: ["1%"]}, "together": [{LOSS: ["2%"]}]}, ["the key is swept twice"]),
        ({"axes": {f"{CONTROLLER}.beta": [5], CONTROLLER: ["lia"]}}, [f"{CONTROLLER} is swept too", "before"]),
        ({"set": {CONTROLLER: "olia"}, "axes": {CONTROLLER: ["mpcc-loss"]}}, ["is swept", "left out"]),
        ({"together": [{"links.wifi.rate": [1e6, 2e6], "links.lte.rate": [1e6]}]}, ["need equally many values"]),
        ({"axes": {"seed": [1, 2]}}, ["seeds are not an axis"]),
        ({"axes": 3}, ["not a table"]),
        ({"points": [{LOSS: "1%"}], "kind": "grid"}, ["a grid has axes"]),
        ({"kind": "list"}, ["a list has points"]),
        ({"kind": "random"}, ["how many random points"]),
        ({"kind": "random", "draws": 0}, ["draws = 0"]),
        ({"kind": "random", "draws": 2, "axes": {LOSS: "1%..2%/5"}}, ["not a range to draw from"]),
        ({"kind": "some"}, ['"grid", "list" or "random"']),
        ({"seeds": True}, ["not seeds"]),
        ({"axis": {}}, ["unknown key", "axes"]),
        ({"scenario_text": None}, ["scenario: missing"]),
        ({"scenario_text": None, "scenario": "nowhere"}, ["no shipped scenario of that name"]),
        ({"axes": {LOSS: [float("nan")]}}, ["nan is not a number"]),
    ],
)
def test_all_that_is_wrong_is_told_at_once(changes: dict[str, Any], problems: list[str]) -> None:
    with pytest.raises(SweepError) as error:
        plan(**changes)
    for problem in problems:
        assert problem in str(error.value)


def test_problems_of_the_scenario_are_those_of_its_reader(folder: Path) -> None:
    with pytest.raises(ScenarioError, match=r"links.wifi.loss = 2: too large"):
        plan(set={LOSS: 2})
    with pytest.raises(InputError, match="no such scenario"):
        open_plan("nowhere")
    with pytest.raises(SweepError, match="cannot be read"):
        open_plan(str(folder / "none.sweep.toml"))
    with pytest.raises(SweepError, match="not valid TOML"):
        parse_plan("axes = [")


@pytest.mark.parametrize("word", ["links.wifi.loss", "=1%", "links.wifi.loss=", "a=1 & b"])
def test_an_axis_that_is_no_key_and_values_is_refused(folder: Path, word: str) -> None:
    with pytest.raises(SweepError, match="not of the form KEY=VALUES"):
        open_plan(str(folder / "short.toml"), SweepOptions(axes=[word]))


def test_seeds_are_read_as_people_write_them() -> None:
    assert list(read_seeds("1..3")) == [1, 2, 3]
    assert list(read_seeds("1-3")) == [1, 2, 3]
    assert list(read_seeds("1, 5, 2..3, 5")) == [1, 5, 2, 3]
    assert list(read_seeds([4, 2])) == [4, 2]
    assert list(read_seeds(7)) == [7]
    assert len(read_seeds("1..1000000000")) == 10**9
    for wrong in ("", "3..1", "-1", "1..x", [], [1.5], None):
        with pytest.raises(ParamError):
            read_seeds(wrong)


def test_a_list_may_set_a_table_after_a_value_in_it() -> None:
    points = [{f"{CONTROLLER}.beta": 0.5}, {CONTROLLER: "olia", f"{CONTROLLER}.beta": 0.6}]
    made = plan(axes=None, points=points)
    assert made.keys == (CONTROLLER, f"{CONTROLLER}.beta")
    assert [point.values for point in made.points()] == [(None, 0.5), ("olia", 0.6)]
    assert parse_plan(plan_text(made)).keys == made.keys
