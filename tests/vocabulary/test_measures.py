"""The table of measures: each has one formula, and several flows become one number in one way."""

import json
import math
from types import SimpleNamespace

import pytest

from subflow_app.vocabulary.measure import HOWS, PERIODS, NotMeasuredError
from subflow_app.vocabulary.measure_document import as_document
from subflow_app.vocabulary.measures import (
    MEASURES,
    NAMED,
    RUN_MEASURES,
    default_measures,
    headline_measures,
    measure,
    measure_title,
    rate_measure,
    run_measure,
    run_values,
)

SHORT = {
    "name": "short", "size_bytes": 1_000_000, "start_s": 2.0, "completion_s": 4.0, "goodput_bps": 1e6, "active_s": 4.0,
    "active_goodput_bps": 2e6, "mean_rtt_s": 0.1, "p95_rtt_s": 0.2, "loss_ratio": 0.1, "packets_sent": 1000,
    "packets_lost": 100, "packets_acked": 900, "retransmits": 5, "subflows": [{"mean_cwnd_pkts": 10.0}],
}  # fmt: skip
LATE = {
    **SHORT, "name": "late", "start_s": 5.0, "completion_s": 2.0, "goodput_bps": 1e6, "active_goodput_bps": 4e6,
    "mean_rtt_s": 0.3, "loss_ratio": 0.5, "packets_sent": 200, "packets_lost": 100, "packets_acked": 100,
}  # fmt: skip
ENDLESS = {**SHORT, "name": "endless", "size_bytes": None, "completion_s": None, "goodput_bps": 5e6}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("goodput", 2e6),
        ("goodput_per_flow", 1e6),
        ("active_goodput", 3e6),
        ("completion", 3.0),
        ("makespan", 5.0),  # from 2 s to 7 s
        ("rtt", (0.1 * 900 + 0.3 * 100) / 1000),
        ("loss_ratio", 200 / 1200),
        ("retransmits", 10),
        ("mean_cwnd", 20.0),
        ("p95_rtt", 0.2),
        ("jain", 36 / (2 * 20)),
    ],
)
def test_several_flows_become_one_number_in_one_way(name: str, value: float) -> None:
    assert NAMED[name].of_flows([SHORT, LATE]) == pytest.approx(value)


def test_a_run_has_the_same_numbers_under_keys_of_their_own() -> None:
    found = run_values([SHORT, LATE])
    assert found == pytest.approx(
        {
            "goodput_bps": 2e6, "goodput_per_flow_bps": 1e6, "active_goodput_per_flow_bps": 3e6, "retransmits": 10,
            "packets_sent": 1200, "mean_completion_s": 3.0, "completion_s": 4.0, "makespan_s": 5.0,
            "weighted_rtt_s": 0.12, "mean_rtt_s": 0.2, "p95_rtt_s": 0.2, "total_loss_ratio": 200 / 1200,
            "loss_ratio": 0.3, "jain": 0.9,
        }
    )  # fmt: skip


def test_summaries_of_older_versions_are_read_without_weights_and_counts() -> None:
    old = [{key: value for key, value in each.items() if not key.startswith("packets_")} for each in (SHORT, LATE)]
    assert NAMED["rtt"].of_flows(old) == pytest.approx(0.2)
    assert NAMED["loss_ratio"].of_flows(old) == pytest.approx(0.3)
    older = [{**each, "packets_delivered": weight} for each, weight in zip(old, (2700, 300), strict=True)]
    assert NAMED["rtt"].of_flows(older) == pytest.approx(0.12)
    del old[0]["size_bytes"]
    assert [each.key for each in default_measures(old[0])] == ["completion_s", "active_goodput_bps"]


def test_a_number_that_no_flow_has_is_named() -> None:
    with pytest.raises(NotMeasuredError, match="completion of endless is not known"):
        NAMED["completion"].of_flows([ENDLESS])
    with pytest.raises(NotMeasuredError, match="makespan"):
        NAMED["makespan"].of_flows([SHORT, ENDLESS])
    with pytest.raises(NotMeasuredError, match="short has 1 subflows, not 2"):
        NAMED["rtt"].of_flows([SHORT], 2)
    assert "makespan_s" in run_values([SHORT, ENDLESS])  # of those with a size


def test_a_flow_with_a_size_shows_its_time_and_its_rate_while_active_first() -> None:
    assert [each.key for each in default_measures(SHORT)] == ["completion_s", "active_goodput_bps"]
    assert [each.key for each in default_measures(ENDLESS)] == ["goodput_bps"]
    assert [each.key for each in default_measures(SimpleNamespace(size_bytes=10))] == [
        "completion_s",
        "active_goodput_bps",
    ]
    assert [each.key for each in headline_measures([ENDLESS, SHORT])] == [
        "completion_s",
        "active_goodput_bps",
        "goodput_bps",
    ]
    assert [each.key for each in headline_measures([])] == ["goodput_bps"]
    assert (rate_measure(SHORT).key, rate_measure(ENDLESS).key) == ("active_goodput_bps", "goodput_bps")


def test_the_table_is_whole_and_other_languages_can_read_it() -> None:
    document = json.loads(json.dumps(as_document(str.upper)))
    assert document["measures"]["mean_rtt_s"]["title"] == "MEAN RTT"
    assert document["measures"]["mean_rtt_s"]["combine"]["keys"] == ["packets_acked", "packets_delivered"]
    assert document["run_measures"]["mean_rtt_s"]["combine"]["how"] == "mean"
    for table in (MEASURES, RUN_MEASURES):
        for key, each in table.items():
            assert each.over in PERIODS or not each.definition, key
            assert each.combine is None or each.combine.how in HOWS, key
            assert not each.of_run or each.of_run in RUN_MEASURES, key
            if each.of in ("flow", "subflow", "link"):
                assert each.definition.endswith("."), key


def test_a_key_tells_its_measure_and_its_owner() -> None:
    assert measure("flows.download/1.mean_rtt_s").text(0.0123) == "12.3"
    assert measure("flows.a.mean_rtt_s").of_parts([SHORT]) == 0.1
    assert (run_measure("mean_rtt_s").title, measure("mean_rtt_s").title) == ("RTT per flow", "Mean RTT")
    assert measure_title("flows.download.loss_ratio") == "download: Loss"
    assert measure_title("loss_ratio") == "Loss per flow"
    assert measure_title("links.wifi.loss") == "links.wifi.loss"
    assert measure("links.wifi.rate").unit == "Mbit/s"
    assert math.isclose(measure("links.wifi/forward.utilisation").scale, 100)
