"""Jitter, token buckets and recorded delays, from the file to the run."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.helpers.members import for_each
from tests.helpers.networks import goodputs, run

from subflow_sim.errors import ParamError, ScenarioError
from subflow_sim.recording import packed_text, unpacked
from subflow_sim.scenario import Jitter, TokenBucket, load_scenario, parse_scenario

LINK = """format = 1
duration = "10s"
nodes = { a = {}, b = {} }
links.l = { ends = ["a", "b"], rate = "10Mbit/s", delay = "20ms", queue = "100pkt" }
flows.f = { kind = "tcp", from = "a", to = "b" }
"""


def summary(*overrides: str) -> dict[str, Any]:
    return run(parse_scenario(LINK, overrides=overrides)).summary()


def problem_of(*overrides: str) -> str:
    with pytest.raises(ScenarioError) as caught:
        parse_scenario(LINK, overrides=overrides)
    [problem] = caught.value.problems
    return f"{problem.key}: {problem.message}; allowed: {problem.allowed}"


# --- jitter and token buckets ---------------------------------------------------------------------------------------


def test_a_direction_has_what_its_tables_say_and_the_way_back_too_unless_it_says_more():
    jitter = ("links.l.jitter={ distribution = 'pareto', spread = '3ms' }", "links.l.reverse.jitter.spread=1ms")
    bucket = "links.l.bucket={ burst = '40kB', peak = '100Mbit/s' }"
    link = parse_scenario(LINK, overrides=[*jitter, bucket]).links["l"]
    assert link.forward.jitter == Jitter("pareto", 0.003)
    assert link.reverse.jitter == Jitter("uniform", 0.001)
    assert link.forward.bucket == link.reverse.bucket == TokenBucket(40_000, 1e8)


def test_what_overtakes_looks_like_loss_and_what_waits_does_not():
    def needless(*overrides: str) -> int:
        found = summary("links.l.jitter.spread=15ms", "profile=textbook", *overrides)
        return int(found["flows"][0]["retransmits"] - found["links"][0]["drops_queue"])

    assert needless() <= 0  # drops near the end are not retransmitted before it
    assert needless("links.l.reorder=true") > 50


def test_a_run_with_jitter_repeats_and_another_seed_differs():
    values = [summary("links.l.jitter.spread=5ms", f"seed={seed}")["signature"] for seed in (1, 1, 2)]
    assert values[0] == values[1] != values[2]


def test_a_token_bucket_lets_a_short_transfer_pass_at_the_peak():
    """40 kB behind 2 Mbit/s take 160 ms; with a bucket of 64 kB the peak rate decides: 3.4 ms and round trips."""
    small = ("flows.f.size=40kB", "links.l.rate=2Mbit/s")
    bucket = "links.l.bucket={ burst = '64kB', peak = '100Mbit/s' }"
    slow, fast = (summary(*small, *more)["flows"][0]["completion_s"] for more in ((), (bucket,)))
    assert fast < slow - 0.12


def test_a_token_bucket_has_its_rate_in_the_long_run():
    """10 Mbit/s x 1448/1500, plus the initial 40 kB of the bucket once."""
    flow = summary("links.l.bucket.burst=40kB", "warmup=2s")["flows"][0]
    assert flow["goodput_bps"] == pytest.approx(9.653e6, rel=0.01)


@for_each(
    ("overrides", "message"),
    [
        (["links.l.jitter=5ms"], "links.l.jitter: this is text"),
        (["links.l.jitter.distribution=normal"], "links.l.jitter.spread: missing"),
        (["links.l.jitter.spread=1s"], 'too large; allowed: a time from 0 to "0.5s"'),
        (["links.l.jitter.spread=-1ms"], "must not be negative"),
        (["links.l.jitter.spread=1ms", "links.l.jitter.distribution=gauss"], "unknown"),
        (["links.l.jitter.spread=1ms", "links.l.jitter.mean=2ms"], "links.l.jitter.mean: unknown key"),
        (["links.l.bucket.burst=1kB"], 'not even one packet fits; allowed: at least "1500B"'),
        (["links.l.bucket.burst=9kB", "links.l.bucket.peak=1Mbit/s"], 'allowed: at least "10Mbit/s"'),
        (["links.l.bucket.burst=9kB", "links.l.rate=unlimited"], "has no rate, at which no tokens come"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_told_with_key_and_what_is_allowed(overrides, message):
    if "unlimited" in overrides[-1]:
        overrides = [*overrides, 'flows.f.kind="cbr"', "flows.f.rate=1Mbit/s"]
    assert message in problem_of(*overrides)


# --- recordings -----------------------------------------------------------------------------------------------------


def loaded(folder, *overrides: str, **files: str):
    for name, content in files.items():
        (folder / f"{name}.txt").write_text(content)
    (folder / "scenario.toml").write_text(LINK)
    return load_scenario(folder / "scenario.toml", overrides=overrides)


def test_the_files_of_leo_replayer_are_read_as_they_are(tmp_path):
    both = ('links.l.rate={ trace = "bw.txt" }', 'links.l.delay={ trace = "delay.txt" }')
    side = loaded(tmp_path, *both, bw="1\n1\n2\n4\n", delay="24\n18\n").links["l"].forward
    assert side.trace.times_ms.tolist() == [1, 1, 2, 4]
    assert side.delay_trace.delays_us.tolist() == [24_000, 18_000]
    assert (side.delay_trace.interval_s, side.delay_s) == (0.01, pytest.approx(0.021))


def test_one_table_has_rate_and_round_trip(tmp_path):
    """12 Mbit/s are a packet per ms, for half a second; then 6 Mbit/s are a packet every 2 ms."""
    table = "time_s,rate_mbps,rtt_ms\n10.0,12,40\n10.5,6,60.5\n"
    both = ('links.l.rate={ trace = "t.txt" }', 'links.l.delay={ trace = "t.txt" }')
    side = loaded(tmp_path, *both, t=table).links["l"].forward
    assert side.trace.times_ms.tolist() == [*range(1, 501), *range(502, 1001, 2)]
    assert side.delay_trace.delays_us.tolist() == [20_000, 30_250]
    assert side.delay_trace.interval_s == 0.5


def test_a_recorded_delay_is_what_packets_see(tmp_path):
    """Half of the time 20 ms each way, half of it 60 ms; one packet every 10 ms, without queueing."""
    delay = 'links.l.delay={ trace = "d.txt", interval = "1s" }'
    scenario = loaded(tmp_path, delay, "profile=textbook", "flows.f.recv_buffer=3kB", d="20\n60\n")
    # Two packets per round trip, of 41.2 ms or 121.2 ms with transmission times; the change every second cuts some
    # short.
    expected_bps = 2 * 1448 * 8 * (1 / 0.0412 + 1 / 0.1212) / 2
    assert goodputs(run(scenario))["f"] == pytest.approx(expected_bps, rel=0.08)


@for_each(
    ("content", "message"),
    [
        ("24\n-5\n", '"d.txt" line 2: "-5" is negative'),
        ("24\n\n18\n", '"d.txt" line 2: a hole: no value'),
        ("24\nabc\n", '"d.txt" line 2: "abc" is not a delay'),
        ("", "no delay in it"),
        ("0.024\n0.018\n", "the longest is 0.024: in which unit"),
        ("24000\n18000\n24000\n", "line 1: a delay of 24 s; are the numbers in another unit"),
        ("0.2\n0.3\n0.2\n400\n", "line 4: 400 where half of the lines have 0.25 or less: are units mixed up"),
        ("time_s,delay_ms\n0,20\n1,21\n0.5,22\n", "line 4: time_s: 0.5 s comes after 1 s"),
        ("time_s,delay_ms\n0,20\n0.1,21\n0.2,22\n9,20\n", "line 5: a hole: it is 8.8 s later than the line before"),
        ("time_s,delay_ms\n0,20\n0.1,-3\n", "line 3: delay_ms is -3"),
        ("time_s,delay_ms\n0,20\n0.1,\n", "line 3: a hole: delay_ms has no value"),
        ("time_s,delay_ms\n0,20\n0.1,nan\n", 'line 3: delay_ms is "nan", which is not a number'),
        ("time_s,delay_ms\n0,20\n0.1\n", "line 3: 1 values"),
        ("time_s,delay\n0,20\n", 'line 1: "delay" names no unit of a delay'),
        ("time_s,delay_mbps\n0,20\n", 'line 1: "delay_mbps" names no unit of a delay'),
        ("time_s,rate_mbps\n0,20\n1,30\n", "line 1: no column for delay or rtt"),
        ("delay_ms,rate_mbps\n0,20\n1,30\n", "line 1: no column for time"),
        ("time_s,delay_ms\n0,20\n", "fewer than two lines"),
    ],
)  # fmt: skip
def test_a_bad_delay_trace_is_named_with_line_and_value(tmp_path, content, message):
    with pytest.raises(ScenarioError) as caught:
        loaded(tmp_path, 'links.l.delay={ trace = "d.txt" }', d=content)
    [problem] = caught.value.problems
    assert problem.key == "links.l.delay.trace"
    assert message in problem.message


@for_each(
    ("content", "message"),
    [
        ("time_s,rate_mbps\n0,20\n1,40000000\n", r"line 3: a rate of 4e\+13 bit/s; is its unit another one"),
        ("0.001\n0.002\n", r'line 1: "0.001" is not a whole number of milliseconds'),
    ],
)
def test_a_rate_in_another_unit_is_told(tmp_path, content, message):
    with pytest.raises(ScenarioError, match=message):
        loaded(tmp_path, 'links.l.rate={ trace = "t.txt" }', t=content)


def test_what_is_packed_comes_back():
    generator = np.random.default_rng(5)
    for numbers in (np.sort(generator.integers(0, 10**9, 5000)), generator.integers(0, 10**7, 2001)):
        text = packed_text(numbers.astype(np.uint32))
        assert text.startswith("packed:")
        assert unpacked(text).tolist() == numbers.tolist()


def test_a_scenario_that_holds_its_recording_is_read_up_to_the_size_of_one(tmp_path):
    """An export of a run over a noisy recording of 30 MB has 5 MB, and is an ordinary scenario file."""
    times = np.cumsum(np.random.default_rng(1).integers(0, 660, 3_000_000)).astype(np.uint32)
    text = LINK.replace('"10Mbit/s"', f'{{ trace = "lte.up", content = "{packed_text(times)}" }}')
    assert len(text) > 4_000_000
    (tmp_path / "run.toml").write_text(text)
    assert load_scenario(tmp_path / "run.toml") == parse_scenario(text, file=str(tmp_path / "run.toml"))


@pytest.mark.parametrize("text", ["packed:", "packed:abc", "packed:é", "packed:" + "0" * 5000])
def test_a_damaged_packed_recording_is_refused(text):
    with pytest.raises(ParamError, match="damaged"):
        unpacked(text)


def test_a_damaged_byte_of_a_stored_recording_is_told(tmp_path):
    packed = packed_text(np.arange(1, 4000, dtype=np.uint32))
    text = LINK.replace('"10Mbit/s"', f'{{ trace = "gone.up", content = "{packed[:-9]}" }}')
    with pytest.raises(ScenarioError, match=r"links\.l\.rate\.content = .*: its content is damaged"):
        parse_scenario(text)


def test_millions_of_lines_are_read_in_no_time(tmp_path):
    """A file of 3 MB, like LeoCC's example, in less than 0.3 s of CPU; 40 ms were measured."""
    import time

    times = np.sort(np.random.default_rng(1).integers(1, 120_000, 500_000))
    bw = "\n".join(map(str, times.tolist()))
    began = time.process_time()
    side = loaded(tmp_path, 'links.l.rate={ trace = "bw.txt" }', bw=bw).links["l"].forward
    assert time.process_time() - began < 0.3
    assert len(side.trace.times_ms) == 500_000
