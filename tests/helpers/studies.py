"""Sweeps with figures set by hand, for tests and pictures of their views."""

from __future__ import annotations

import math
from collections.abc import Iterable
from itertools import product

from subflow_app.features.sweeps.core.views.study import (
    Level,
    Parameter,
    StudyPoint,
    StudyRun,
    SweepStudy,
    make_figure,
    parameter_of_levels,
)
from subflow_store.run_values import quantity

CONTROLLER = "flows.download.controller"
LOSS = "links.wifi.loss"
RATE = "links.lte.rate"


def make_parameter(key: str, texts: Iterable[str]) -> Parameter:
    """A parameter with the distinct values of these texts; numbers sorted by size, names in the given order."""
    found = {text: quantity(text) for text in texts}
    levels = [Level(text, math.nan if number is None else number) for text, number in found.items()]
    if all(math.isfinite(level.number) for level in levels):
        levels.sort(key=lambda level: level.number)
    return parameter_of_levels(key, levels)


def small_study() -> SweepStudy:
    """Two controllers by two losses, two seeds each; the last point has no run yet.

    Goodput in Mbit/s, RTT in ms: lia 1 %: 4, 6 and 50, 50; lia 10 %: 1, 1 and 80, 80; olia 1 %: 8, 8 and 40, 60.
    """
    known = {
        ("lia", "1%"): ((4.0, 50.0), (6.0, 50.0)),
        ("lia", "10%"): ((1.0, 80.0), (1.0, 80.0)),
        ("olia", "1%"): ((8.0, 40.0), (8.0, 60.0)),
        ("olia", "10%"): (),
    }
    controllers = make_parameter(CONTROLLER, ("lia", "olia"))
    losses = make_parameter(LOSS, ("10%", "1%"))
    points = []
    for number, ((controller, loss), figures) in enumerate(known.items()):
        places = tuple(
            [level.text for level in parameter.levels].index(text)
            for parameter, text in ((controllers, controller), (losses, loss))
        )
        runs = tuple(
            StudyRun(seed, 10 * number + seed, {"goodput_bps": goodput * 1e6, "mean_rtt_s": rtt / 1e3})
            for seed, (goodput, rtt) in enumerate(figures, start=1)
        )
        points.append(StudyPoint(places, runs))
    told = (make_figure("goodput_bps"), make_figure("mean_rtt_s"))
    return SweepStudy("Small", (controllers, losses), told, tuple(points))


def large_study(seeds: int = 5) -> SweepStudy:
    """Four controllers by five losses by three rates, with realistic figures."""
    controllers = ("lia", "olia", "balia", "mpcc-loss")
    losses = ("0.1%", "0.5%", "1%", "2%", "5%")
    rates = ("2Mbit/s", "4Mbit/s", "8Mbit/s")
    parameters = tuple(
        make_parameter(key, texts) for key, texts in ((CONTROLLER, controllers), (LOSS, losses), (RATE, rates))
    )
    points = []
    for number, (controller, loss, rate) in enumerate(product(range(4), range(5), range(3))):
        at = parameters[1].levels[loss].number
        capacity = parameters[2].levels[rate].number
        runs = []
        for seed in range(1, seeds + 1):
            luck = ((number * 7 + seed * 13) % 17) / 17 - 0.5
            share = 0.93 - at * (12 - 2.4 * controller) + 0.04 * luck
            jain = 0.97 - 0.02 * controller - 0.015 * luck
            rtt = 0.045 + 0.01 * controller + 0.06 * share * share + 0.006 * luck
            goodput = capacity * share + 8e6 * max(0.1, share - 0.1)
            figures = {
                "goodput_bps": goodput,
                "mean_rtt_s": rtt,
                "loss_ratio": at * (1.2 + 0.2 * luck) + 0.002 * controller,
                "fairness.jain": jain,
            }
            runs.append(StudyRun(seed, number * seeds + seed, figures))
        points.append(StudyPoint((controller, loss, rate), tuple(runs)))
    told = tuple(make_figure(key) for key in ("goodput_bps", "mean_rtt_s", "loss_ratio", "fairness.jain"))
    return SweepStudy("Controllers on a lossy path", parameters, told, tuple(points))
