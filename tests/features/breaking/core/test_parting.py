"""The parting of two runs: the time from which one curve stays below the other, found in curves and in runs."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from tests.helpers.present import present

from subflow_app.features.breaking.core.claim_file import said_claim
from subflow_app.features.breaking.core.counterexample import case_runs, named_counterexample
from subflow_app.features.breaking.core.parting import SHARE, Moment, Parting, find_parting, parting_sample


def parted(name: str, claim: str = "") -> Parting:
    """The parting of a shipped counterexample, under its own claim or the given one."""
    each = named_counterexample(name)
    each = replace(each, claim=said_claim(claim)) if claim else each
    return present(find_parting(each, case_runs(each)))


def test_curves_part_where_one_stays_below_from_then_on() -> None:
    high = np.full(100, 10.0)
    low = np.full(100, 10.0)
    low[40:] = 5.0
    assert parting_sample((low, high), 0, 50) == 40
    assert parting_sample((high, low), 0, 50) == 40
    low[:20] = 30.0  # a lead at first
    assert parting_sample((low, high), 0, 50) == 40
    low[10:15] = 0.0  # and a dip within the lead
    assert parting_sample((low, high), 0, 50) == 40
    assert parting_sample((low, high), 60, 80) == 60
    assert parting_sample((high, high), 0, 50) is None
    assert parting_sample((SHARE * high, high), 0, 50) is None


def test_from_no_earlier_time_on_it_stays_below() -> None:
    rng = np.random.default_rng(3)
    high, low = rng.exponential(10.0, 400), rng.exponential(10.0, 400)
    low[150:] *= 0.6
    first = present(parting_sample((low, high), 0, 200))

    def stays(start: int) -> bool:
        ends = range(start + 1, len(low) + 1)
        return all(low[start:end].mean() < SHARE * high[start:end].mean() for end in ends)

    assert [start for start in range(first + 1) if stays(start)] == [first]


@pytest.mark.parametrize(
    ("name", "column", "flows", "owner", "moment", "time_s"),
    [
        # the coupled increase of OLIA is a twelfth of the increase of NewReno
        ("improve-olia", "goodput_bps", "download", "download/2", Moment.THERE, (3.3, 3.5)),
        # the other flows end at 15 s: earlier samples do not count, and one of the next differs; BBR delivers in bursts
        ("freed-capacity-balia", "goodput_bps", "download", "download/2", Moment.THERE, (15.0, 15.1)),
        # BBR on the path of a TCP flow ignores the losses of its startup
        ("do-no-harm-bbr", "goodput_bps", "tcp-a", "download/1", Moment.LOSS, (0.05, 0.4)),
        # the first packet takes the slow path; over the fast path alone, the document is complete by then
        ("no-slower-lia", "goodput_bps", "download", "download", Moment.FIRST, (0.06, 0.07)),
        # a claim without a counterexample of its own: compared with the controller that satisfies it
        ("little-loss-bbr", "losses_pkts", "download", "download/1", Moment.LOSS, (0.1, 0.4)),
    ],
)
def test_counterexamples_part_where_a_decision_tells_why(
    name: str, column: str, flows: str, owner: str, moment: Moment, time_s: tuple[float, float]
) -> None:
    found = parted(name)
    assert (found.column, found.flows, found.owner, found.moment) == (column, flows, owner, moment)
    assert time_s[0] <= found.time_s <= time_s[1]
    assert found.is_at_once == (found.time_s == 15.0)
    assert min(found.means) < SHARE * max(found.means)
    assert found.document()["says"] == found.words
    assert "at once" not in replace(found, is_at_once=False).words
    assert "at once" in replace(found, is_at_once=True).words
    assert math.isfinite(found.at_s)


def test_what_is_worse_is_what_parts() -> None:
    rtt = "rtt() >= 1.1 * rtt('newreno@best')"
    found = parted("improve-olia", f"{rtt} and goodput() >= 0.9 * goodput('newreno@best')")
    assert (found.column, found.is_worse) == ("goodput_bps", True)
    alone = parted("improve-olia", rtt)
    assert (alone.column, alone.is_worse) == ("srtt_s", False)


def test_nothing_parts_without_a_difference() -> None:
    each = named_counterexample("improve-olia")
    runs = case_runs(each)
    assert find_parting(each, runs[:1]) is None
    assert find_parting(each, [runs[0], runs[1]._replace(source=runs[0].source)]) is None
