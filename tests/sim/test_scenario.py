"""Valid scenario files: the meaning of each key, and its default."""

from __future__ import annotations

from typing import Any

import pytest
from tests.helpers.members import for_each
from tests.helpers.scenario_texts import CATALOG, FULL, ROUTED, TWO_PATHS, read

from subflow_sim.errors import ScenarioError
from subflow_sim.scenario import (
    NO_CHOICE,
    Arrivals,
    Choice,
    Event,
    Link,
    LinkDirection,
    Node,
    QueueSpec,
    load_scenario,
    parse_scenario,
)


def test_every_key_of_the_format_is_read():
    scenario = read(FULL)
    assert (scenario.format, scenario.name, scenario.duration_s, scenario.warmup_s) == (1, "Everything", 60.0, 5.0)
    assert (scenario.seed, scenario.mss_bytes, scenario.profile, scenario.start_jitter_s) == (7, 1000, "textbook", 0.01)
    assert scenario.nodes == {"client": Node("client", "host", (0.0, 10.5)), "server": Node("server", "host", None)}
    queue = QueueSpec("droptail", None, 100_000)
    assert scenario.links == {
        "wifi": Link(
            "wifi",
            ("server", "client"),
            forward=LinkDirection(8e6, 0.05, queue, 0.02),
            reverse=LinkDirection(None, 0.05, queue, 0.0),
        )
    }
    download, noise, bursts = scenario.flows.values()
    assert (download.kind, download.source, download.destination) == ("mptcp", "server", "client")
    assert download.controller == Choice("tunable", {"gain": 2.0, "window": 0.02, "paced": True})
    assert download.scheduler == Choice("minrtt")
    assert download.paths == (("wifi",), ("wifi",))
    assert (download.start_s, download.stop_s) == (1.0, 30.0)
    assert (download.size_bytes, download.recv_buffer_bytes) == (8_000_000, 64_000)
    assert (download.send_buffer_bytes, download.backup) == (128_000, (2,))
    assert download.instances == ("download.1", "download.2", "download.3")
    assert (noise.kind, noise.rate_bps, noise.packet_bytes, noise.paths) == ("cbr", 1e6, 500, (("wifi",),))
    assert (noise.controller, noise.scheduler) == (NO_CHOICE, NO_CHOICE)
    assert noise.instances == ("noise",)
    assert (bursts.kind, bursts.rate_bps, bursts.packet_bytes, bursts.spacing) == ("onoff", 2e6, 1500, "poisson")
    assert (bursts.mean_on_s, bursts.mean_off_s) == (1.0, 10.0)
    assert bursts.arrivals == Arrivals(9.0, 4.0, "exponential", 7)
    assert bursts.instances == ()
    assert (bursts.sends_datagrams, noise.sends_datagrams, download.sends_datagrams) == (True, True, False)
    changes: dict[str, Any] = {
        "rate_bps": 16e6,
        "delay_s": 0.01,
        "loss": 0.01,
        "queue": QueueSpec(limit_pkts=5),
        "up": False,
    }
    assert scenario.events == (
        Event(10.0, flow="download", subflow=2, open=False, backup=True),
        Event(20.0, link="wifi", direction="forward", **changes),
    )


def test_what_is_left_out_has_its_default():
    scenario = read(TWO_PATHS)
    assert (scenario.warmup_s, scenario.seed, scenario.mss_bytes) == (0.0, 1, 1448)
    assert (scenario.profile, scenario.start_jitter_s, scenario.events) == ("linux", 0.0, ())
    assert scenario.nodes["client"] == Node("client", "host", None)
    assert scenario.links["lte"].forward == LinkDirection(16e6, 0.0, QueueSpec(limit_pkts=100), 0.0)
    flow = scenario.flows["download"]
    # All shortest paths, in the order of the links
    assert flow.paths == (("wifi",), ("lte",))
    assert (flow.controller.name, flow.scheduler.name, flow.count) == ("lia", "minrtt", 1)
    assert read(TWO_PATHS, "flows.download.kind=tcp").flows["download"].controller.name == "newreno"
    assert (flow.start_s, flow.stop_s, flow.size_bytes, flow.recv_buffer_bytes) == (0.0, None, None, None)


def test_both_directions_are_alike_unless_reverse_says_otherwise():
    scenario = read(TWO_PATHS)
    assert scenario.links["wifi"].reverse == scenario.links["wifi"].forward
    changed = read(TWO_PATHS, "links.wifi.reverse.loss=0").links["wifi"]
    assert (changed.forward.loss, changed.reverse.loss) == (0.02, 0.0)
    assert changed.reverse.rate_bps == 8e6


def test_uncoupled_alone_runs_newreno_on_each_subflow():
    for controller in ('"uncoupled"', '{ name = "uncoupled" }', '{ name = "uncoupled", base = "newreno" }'):
        scenario = read(TWO_PATHS + f"controller = {controller}\n")
        assert scenario.flows["download"].controller == Choice("uncoupled", {"base": "newreno"})


def test_uncoupled_has_the_options_of_its_base():
    brisk = read(TWO_PATHS + 'controller = { name = "uncoupled", base = "brisk", pace = 3 }\n')
    assert brisk.flows["download"].controller.options == {"base": "brisk", "pace": 3.0, "leap": True}


def test_the_profile_decides_what_an_option_left_out_is():
    text = TWO_PATHS + 'controller = { name = "uncoupled", base = "brisk" }\n'
    for profile, leap in (("linux", True), ("textbook", False)):
        assert read(text, f"profile={profile}").flows["download"].controller.options["leap"] is leap
    given = read(text, "profile=textbook", "flows.download.controller.leap=true")
    assert given.flows["download"].controller.options["leap"] is True


@for_each(
    ("queue", "expected"),
    [
        ('"67pkt"', QueueSpec(limit_pkts=67)),
        ("67", QueueSpec(limit_pkts=67)),
        ('"1500B"', QueueSpec(limit_bytes=1500)),  # one packet of 1448 bytes payload and 52 bytes headers
        ('"unlimited"', QueueSpec()),
        ('{ limit = "67pkt" }', QueueSpec(limit_pkts=67)),
        ('{ discipline = "droptail" }', QueueSpec(limit_pkts=100)),
    ],
)
def test_a_queue_is_plain_or_a_table(queue, expected):
    scenario = read(TWO_PATHS.replace('"67pkt"', queue))
    assert scenario.links["wifi"].forward.queue == expected


def test_rate_steps_are_a_first_rate_and_events():
    scenario = read(
        TWO_PATHS.replace('"8Mbit/s"', '{ steps = [["0s", "4Mbit/s"], ["30s", "8Mbit/s"], [40, 4e6]] }')
        + '[[events]]\nat = "30s"\nlink = "lte"\nup = false\n'
    )
    wifi = scenario.links["wifi"]
    assert (wifi.forward.rate_bps, wifi.reverse.rate_bps) == (4e6, 4e6)
    assert scenario.events == (
        Event(30.0, link="wifi", direction="both", rate_bps=8e6),
        Event(30.0, link="lte", up=False),
        Event(40.0, link="wifi", direction="both", rate_bps=4e6),
    )


def test_rate_steps_leave_a_direction_alone_that_has_its_own_rate():
    steps = '{ steps = [["0s", "4Mbit/s"], ["30s", "8Mbit/s"]] }'
    forward = read(TWO_PATHS.replace('"8Mbit/s"', steps), "links.wifi.reverse.rate=1Mbit/s")
    assert forward.events == (Event(30.0, link="wifi", direction="forward", rate_bps=8e6),)
    assert forward.links["wifi"].reverse.rate_bps == 1e6
    reverse = read(TWO_PATHS, f"links.wifi.reverse.rate={steps}")
    assert reverse.events == (Event(30.0, link="wifi", direction="reverse", rate_bps=8e6),)
    assert (reverse.links["wifi"].forward.rate_bps, reverse.links["wifi"].reverse.rate_bps) == (8e6, 4e6)


def test_events_at_the_same_time_keep_the_order_of_the_file():
    events = "".join(
        f'[[events]]\nat = "{at}s"\nlink = "wifi"\nloss = {loss}\n' for at, loss in [(60, 0.1), (3, 0.2), (60, 0.3)]
    )
    # Also events at the end of the run
    assert [(event.at_s, event.loss) for event in read(TWO_PATHS + events).events] == [(3, 0.2), (60, 0.1), (60, 0.3)]


def test_left_out_paths_lead_through_routers_only():
    # a-r-b has two links; a-r-s-b has three, and every route through c would need c to forward
    assert read(ROUTED).flows["f"].paths == (("ar", "rb"),)
    # to c: by s (a-r-s-c); by b (a-r-b-c) it would be as short, but b is a host
    assert read(ROUTED, "flows.f.to=c").flows["f"].paths == (("ar", "rs", "cs"),)


@pytest.mark.parametrize("kind", ["tcp", "cbr"])
def test_flows_of_one_path_take_the_first_of_the_shortest(kind):
    scenario = read(TWO_PATHS, f"flows.download.kind={kind}", *(["flows.download.rate=1e6"] if kind == "cbr" else []))
    assert scenario.flows["download"].paths == (("wifi",),)


def test_a_given_path_may_be_longer_and_may_stand_twice():
    paths = '[["ar", "rs", "sb"], ["ar", "rb"], ["ar", "rb"]]'
    assert read(ROUTED, f"flows.f.paths={paths}").flows["f"].paths == (("ar", "rs", "sb"), ("ar", "rb"), ("ar", "rb"))


def test_a_name_is_taken_from_the_file_if_the_text_has_none(tmp_path):
    text = TWO_PATHS.replace('name = "Two paths"\n', "")
    path = tmp_path / "two-paths.toml"
    path.write_text(text, encoding="utf-8")
    assert load_scenario(path, algorithms=CATALOG).name == "two-paths"
    assert parse_scenario(text, algorithms=CATALOG).name == "scenario"


def test_a_file_may_begin_with_a_byte_order_mark_and_have_windows_line_ends(tmp_path):
    path = tmp_path / "windows.toml"
    path.write_bytes(b"\xef\xbb\xbf" + TWO_PATHS.replace("\n", "\r\n").encode())
    assert load_scenario(path, algorithms=CATALOG) == read(TWO_PATHS)
    assert read("\ufeff" + TWO_PATHS) == read(TWO_PATHS)


@pytest.mark.parametrize(
    ("content", "line", "message"),
    [
        (None, None, "cannot be read"),
        ("folder", None, "cannot be read"),
        (b"format = 1\nname = '\xff'\n", 2, "not UTF-8"),
        (b"#" * 4_000_001, None, "larger than 4 MB without its recordings (it has 4.000001 MB)"),
    ],
)
def test_a_file_that_cannot_be_read_is_a_problem_like_any_other(tmp_path, content, line, message):
    path = tmp_path / "broken.toml"
    if content == "folder":
        path.mkdir()
    elif content is not None:
        path.write_bytes(content)
    with pytest.raises(ScenarioError) as caught:
        load_scenario(path, algorithms=CATALOG)
    (problem,) = caught.value.problems
    assert (problem.file, problem.line) == (str(path), line)
    assert message in problem.message
