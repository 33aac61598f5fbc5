import math
from dataclasses import replace

from tests.helpers.studies import CONTROLLER, LOSS, RATE, large_study, make_parameter, small_study

from subflow_app.features.sweeps.core.axes import SweptValue
from subflow_app.features.sweeps.core.sweep_results import sweep_table
from subflow_app.features.sweeps.core.views import pictures
from subflow_app.features.sweeps.core.views.choice import VIEWS, Shown, held_parameters, in_classes, settled, show
from subflow_app.features.sweeps.core.views.study import StudyPoint, StudyRun, SweepStudy, make_figure, study_of
from subflow_app.features.sweeps.core.views.view import SweepView, ViewChoice


def test_what_is_not_chosen_is_chosen_sensibly():
    choice = settled(ViewChoice(), large_study(1))
    assert (choice.figure, choice.other) == ("goodput_bps", "mean_rtt_s")
    # Lines run along numbers, and controllers distinguish them; a map has controllers on its vertical axis.
    assert (choice.x, choice.series, choice.y) == (LOSS, CONTROLLER, CONTROLLER)
    assert choice.figures == ("goodput_bps", "mean_rtt_s", "loss_ratio", "fairness.jain")


def test_sweep_of_one_flow_among_others_shows_what_that_flow_gets():
    key = "flows.mptcp.controller"
    figures = {"goodput_bps": 10e6, "mean_rtt_s": 0.1, "flows.mptcp.goodput_bps": 4e6, "flows.mptcp.mean_rtt_s": 0.2}
    figures["flows.tcp.goodput_bps"] = 6e6

    def study(*keys: str) -> SweepStudy:
        points = tuple(
            StudyPoint((place,), (StudyRun(1, place, {key: figures[key] for key in keys}),)) for place in (0, 1)
        )
        return SweepStudy("", (make_parameter(key, ("lia", "olia")),), tuple(map(make_figure, keys)), points)

    choice = settled(ViewChoice(), study(*figures))
    assert (choice.figure, choice.other) == ("flows.mptcp.goodput_bps", "flows.mptcp.mean_rtt_s")
    assert choice.figures == ("flows.mptcp.goodput_bps", "goodput_bps", "mean_rtt_s")
    # A single flow: the total is chosen.
    assert settled(ViewChoice(), study("goodput_bps", "mean_rtt_s", "flows.mptcp.goodput_bps")).figure == "goodput_bps"


def test_what_another_sweep_does_not_have_is_not_chosen():
    chosen = ViewChoice(figure="fairness.jain", x=RATE, series="", fixed={RATE: 1, LOSS: 4})
    kept = settled(chosen, large_study(1))
    assert (kept.figure, kept.x, kept.series, kept.fixed) == ("fairness.jain", RATE, "", {RATE: 1, LOSS: 4})
    lost = settled(chosen, small_study())
    assert (lost.figure, lost.x, lost.fixed) == ("goodput_bps", LOSS, {})


def test_a_view_that_left_is_shown_as_the_table():
    shown = show(ViewChoice(view="parallel"), small_study())
    assert shown.choice.view == "table"
    assert len(shown.content.rows) == 4


def test_parameters_without_a_place_are_held_or_averaged_over():
    study = large_study(1)
    choice = settled(ViewChoice(view="lines"), study)
    assert held_parameters(choice, study) == [RATE]
    assert held_parameters(settled(ViewChoice(view="scatter"), study), study) == [LOSS, RATE]
    assert held_parameters(settled(ViewChoice(view="table"), study), study) == []
    assert show(choice, study).note == f"Averaged over {RATE}, so no interval is shown."
    assert show(replace(choice, fixed={RATE: 0}), study).note == ""
    assert show(replace(choice, view="boxes"), study).note == f"Each box has runs with all values of {RATE}."


def test_every_view_is_in_the_list():
    assert [
        each for each in vars(pictures).values() if isinstance(each, SweepView) and each not in VIEWS.values()
    ] == []
    assert list(VIEWS) == [view.key for view in VIEWS.values()]


def test_every_view_has_a_content():
    for view in VIEWS:
        assert show(ViewChoice(view=view), small_study()).content is not None
    nothing = replace(small_study(), figures=(), points=())
    assert show(ViewChoice(), nothing).content is None


def random_study() -> SweepStudy:
    """A point for each of 1, 2 ... 80 ms, with its delay as the figure."""
    texts = [f"{value}ms" for value in range(1, 81)]
    points = tuple(StudyPoint((n,), (StudyRun(1, n, {"mean_rtt_s": (n + 1) / 1e3}),)) for n in range(80))
    return SweepStudy("Random", (make_parameter("links.lte.delay", texts),), (make_figure("mean_rtt_s"),), points)


def test_seeds_that_repeat_a_run_are_told():
    same = StudyPoint((0,), tuple(StudyRun(seed, seed, {"goodput_bps": 21e6}, "a") for seed in (1, 2)))
    other = StudyPoint((1,), tuple(StudyRun(seed, seed, {"goodput_bps": seed * 1e6}, f"b{seed}") for seed in (1, 2)))

    def shown(*points: StudyPoint) -> Shown:
        parameters = (make_parameter(CONTROLLER, ("lia", "olia")),)
        return show(ViewChoice(view="table"), SweepStudy("", parameters, (make_figure("goodput_bps"),), points))

    told = shown(same, replace(same, places=(1,)))
    assert told.note == (
        "All 2 seeds gave the same run: nothing in this scenario is random. Add a loss or a start_jitter."
    )
    told = shown(same, other)
    assert told.note.startswith("At 1 of 2 points, all 2 seeds gave the same run")
    first, second = told.content.rows
    assert (first.runs, first.figures[0].n, math.isnan(first.figures[0].ci95)) == (1, 1, True)
    assert (second.runs, second.figures[0].n, math.isnan(second.figures[0].ci95)) == (2, 2, False)
    # Runs with equal figures may be different runs.
    equal = tuple(run._replace(figures={"goodput_bps": 1e6}) for run in other.runs)
    assert shown(replace(other, runs=equal)).note == ""
    assert show(ViewChoice(view="table"), small_study()).note == ""


def test_many_drawn_numbers_are_put_into_classes():
    study, keys = in_classes(random_study(), "links.lte.delay")
    assert keys == ("links.lte.delay",)
    levels = study.parameters[0].levels
    # 1 to 80 ms in eight classes of 9.875 ms.
    assert len(levels) == 8
    assert (levels[0].text, levels[-1].text) == ("1–10.9 ms", "70.1–80 ms")
    # 1 ... 10 ms: their mean.
    assert study.mean(study.chosen({"links.lte.delay": 0}), "mean_rtt_s").mean * 1e3 == 5.5
    shown = show(ViewChoice(view="heat"), random_study())
    assert "grouped into classes" in shown.note
    assert in_classes(small_study(), LOSS)[1] == ()


def test_study_of_a_table_has_its_runs():
    recorded = {"flows.download.goodput_bps": 4e6, "fairness.jain": 1.0, "seed": 3.0}
    table = sweep_table(
        "T",
        [LOSS],
        [1, 2],
        [(0, (SweptValue("2%", 0.02),)), (1, (SweptValue("1%", 0.01),)), (2, (SweptValue("", None),))],
        {(0, 1): (7, recorded), (0, 2): (8, recorded), (1, 2): (9, recorded)},
    )
    study = study_of(table)
    # The scenario's own value is labelled as such, after the numbers.
    assert [level.text for level in study.parameters[0].levels] == ["1%", "2%", "as in the scenario"]
    assert [point.places for point in study.points] == [(1,), (0,), (2,)]
    assert [[run.run_id for run in point.runs] for point in study.points] == [[7, 8], [9], []]
    assert study.points[1].runs[0].seed == 2
    assert study.figure("goodput_bps").axis_title == "Goodput (Mbit/s)"
    assert study.mean([0], "goodput_bps").mean == 4e6


def transfers(*times_s: float | None) -> SweepStudy:
    """Downloads of 50 MB with two controllers in runs of 30 s: 13.333 Mbit/s over the run for any duration."""
    points = []
    for place, took_s in enumerate(times_s):
        figures = {"goodput_bps": 13.333e6, "active_goodput_per_flow_bps": 400e6 / (took_s or 30.0)}
        figures |= {"flows.get.goodput_bps": 13.333e6, "flows.get.active_goodput_bps": 400e6 / (took_s or 30.0)}
        if took_s is not None:
            figures |= {"mean_completion_s": took_s, "flows.get.completion_s": took_s}
        points.append(StudyPoint((place,), (StudyRun(1, place, figures),)))
    keys = list(dict.fromkeys(key for point in points for key in point.runs[0].figures))
    levels = ("lia", "olia", "balia")[: len(times_s)]
    return SweepStudy(
        "", (make_parameter("flows.get.controller", levels),), tuple(map(make_figure, keys)), tuple(points)
    )


def test_sweep_of_a_transfer_shows_its_time_first_and_then_its_goodput_while_active():
    choice = settled(ViewChoice(), transfers(25.0, 20.0))
    assert choice.figure == "mean_completion_s"
    assert choice.figures[:2] == ("mean_completion_s", "active_goodput_per_flow_bps")
    assert "goodput_bps" not in choice.figures
    # An incomplete transfer has no completion time.
    assert settled(ViewChoice(), transfers(25.0, None)).figure == "active_goodput_per_flow_bps"
