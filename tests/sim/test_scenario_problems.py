"""Invalid scenario files: each problem names line, key and value, and all are reported at once."""

from __future__ import annotations

import json
import math
import sys
from contextlib import suppress
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.helpers.members import for_each
from tests.helpers.scenario_texts import CATALOG, ROUTED, TWO_PATHS, problem_of, problems_of, read

from subflow_sim.errors import Problem, ScenarioError
from subflow_sim.params import SECTIONS
from subflow_sim.scenario import parse_scenario

EVENT = '[[events]]\nat = "30s"\n'
CBR = 'kind = "cbr"\nrate = "1Mbit/s"\n'
LAW = 'arrivals = { gap = "1s", lifetime_distribution = "fixed" }'
ONOFF = CBR.replace("cbr", "onoff")


def test_a_problem_reads_as_one_line_with_place_key_value_and_way_out():
    problem = Problem("demo.toml", 12, "links.wifi.loss", '"120%"', "too large", 'a ratio from 0 to "100%"')
    assert str(problem) == 'demo.toml:12: links.wifi.loss = "120%": too large; allowed: a ratio from 0 to "100%"'
    assert str(Problem("--set", None, "seed", "", "missing", "")) == "--set: seed: missing"
    assert str(Problem("demo.toml", 3, "", "", "not valid TOML", "")) == "demo.toml:3: not valid TOML"


def test_all_problems_are_told_at_once_in_the_order_of_the_file():
    text = (
        TWO_PATHS.replace('"60s"', '"-60s"')
        .replace('"50ms"', '"50msec"')
        .replace('["client", "server"]\nrate = "16Mbit/s"', '["client", "sever"]\nrat = "16Mbit/s"')
        .replace('"mptcp"', '"mtcp"')
    )
    assert [(problem.line, problem.key) for problem in problems_of(text)] == [
        (3, "duration"),
        (12, "links.wifi.delay"),
        (16, "links.lte.rate"),
        (17, "links.lte.ends[1]"),
        (18, "links.lte.rat"),
        (21, "flows.download.kind"),
    ]


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("format = 1\nname = \n", 2, "invalid value"),
        ("format = 1\nformat = 1\n", 2, "overwrite"),
        ("[links.a]\n[links.b]\n[links.a]\n", 3, "twice"),
        ('format = 1\nname = "open', 2, "not valid TOML"),
        ("a = [1,\n\n", 1, "at the end of the file"),
        ("a = " + "[" * 100_000, 1, "nested too deeply"),
        pytest.param(
            *("a = " + "9" * 5000, None, "not valid TOML"),
            marks=pytest.mark.skipif(
                not hasattr(sys, "get_int_max_str_digits"),
                reason="this Python, older than 3.11.0 (Ubuntu 22.04 has its rc1), reads numbers of any length",
            ),
        ),
    ],
)
def test_text_that_is_no_toml_is_one_problem(text, line, message):
    problem = problem_of(text)
    assert (problem.file, problem.key) == ("test.toml", "")
    assert message in problem.message.lower() or message in problem.message
    assert problem.line == line


def test_an_empty_file_is_told_what_it_needs():
    assert {problem.key for problem in problems_of("")} == {"format", "duration", "nodes", "links", "flows"}


def test_a_newer_format_is_the_only_thing_told():
    problem = problem_of(TWO_PATHS.replace("format = 1", "format = 2") + "strange = 1\n")
    assert (problem.line, problem.key, problem.value) == (1, "format", "2")
    assert "newer version" in problem.message


LTE_ENDS = '["client", "server"]\nrate = "16'
KIND = 'kind = "mptcp"'
MANY_PATHS = "paths = [" + '["wifi"],' * 33 + "]"

# Text of TWO_PATHS to replace ("+": append) and its replacement; key (of the flow if it begins with a dot), line,
# message, allowed
RED = '{ discipline = "red",'
RED_LIMIT = 'link = "wifi"\nqueue = { discipline = "red", limit = 5 }'
DROPS = '"2%"\ndrops = '
WRONG = [
    # format
    ("format = 1", "format = 0", "format", 1, "must not be zero", "1"),
    ("format = 1", 'format = "1"', "format", 1, "this is text", "1"),
    ("format = 1", "format = true", "format", 1, "this is true or false", "1"),
    ('duration = "60s"', "", "duration", None, "missing", "60s"),
    ('"60s"', "inf", "duration", 3, "too large", "1000000s"),
    ('"60s"', "nan", "duration", 3, "not a number", "1000000s"),
    ('"60s"', "2020-01-01", "duration", 3, "this is a date", "60s"),
    ('"60s"', '"60s"\nwarmup = "60s"', "warmup", 4, "nothing would be left to measure", 'less than the duration of'),
    ('"60s"', '"60s"\nstart_jitter = "61s"', "start_jitter", 4, "might never start", "60s"),
    ('"60s"', '"60s"\nmss = 0', "mss", 4, "must not be zero", "65kB"),
    ('"60s"', '"60s"\nprofile = "windows"', "profile", 4, "unknown", '"linux" or "textbook"'),
    ('"60s"', '"60s"\nduraton = 5', "duraton", 4, 'did you mean "duration"', '"links"'),
    ('"60s"', '"60s"\nevents = 5', "events", 4, "this is a whole number, not an array", "[[events]]"),
    ('"60s"', '"60s"\nevents = [5]', "events[0]", 4, "not a table", "[[events]]"),
    # nodes
    ("[nodes.client]", '[nodes.client]\nkind = "switch"', "nodes.client.kind", 6, "unknown", '"host" or "router"'),
    ("[nodes.client]", "[nodes.client]\nat = [1]", "nodes.client.at", 6, "list of 1", "[300, 0]"),
    ("[nodes.client]", '[nodes.client]\n[nodes."a b"]', 'nodes."a b"', 6, "not a name", "letters"),
    ("[nodes.client]", '[nodes.client]\n[nodes.""]', 'nodes.""', 6, "not a name", "letters"),
    ("[nodes.client]", "[nodes]\nclient = 5", "nodes.client", 6, "not a table", "[nodes.client]"),
    # links
    ('rate = "16Mbit/s"', "", "links.lte.rate", 16, "missing", "8Mbit/s"),
    ('"16Mbit/s"', '"16Mbs"', "links.lte.rate", 18, 'did you mean "Mbit/s"', '"kbit/s"'),
    ('"16Mbit/s"', "0", "links.lte.rate", 18, "must not be zero", "8Mbit/s"),
    ('"16Mbit/s"', '"2000Gbit/s"', "links.lte.rate", 18, "too large", "1000Gbit/s"),
    ('"16Mbit/s"', "[1]", "links.lte.rate", 18, "this is a list", "8Mbit/s"),
    ('"16Mbit/s"', '{ trace = "lte.up" }', "links.lte.rate.trace", 18, "has no folder", "saved as a file"),
    ('"16Mbit/s"', '{ trace = "../lte.up" }', "links.lte.rate.trace", 18, "not within the folder", "scenario's folder"),
    ('"16Mbit/s"', '{ trace = "/dev/zero" }', "links.lte.rate.trace", 18, "not within the folder", "scenario's folder"),
    ('"16Mbit/s"', '{ content = "1 2" }', "links.lte.rate.trace", 18, "missing", "text"),
    ('"16Mbit/s"', '{ trace = "a", content = "1 x" }', "links.lte.rate.content", 18, '"x" is not a whole', "one per"),
    ('"16Mbit/s"', '{ trace = "a", content = "2 1" }', "links.lte.rate.content", 18, "1 comes after 2", "ascending"),
    ('"16Mbit/s"', '{ trace = "a", content = "0 0" }', "links.lte.rate.content", 18, "lasts 0 ms", "greater than 0"),
    ('"16Mbit/s"', '{ trace = "a", content = " " }', "links.lte.rate.content", 18, "no delivery opportunity", "whole"),
    ('"16Mbit/s"', '{ trace = "a", content = 5 }', "links.lte.rate.content", 18, "a whole number, not text", "file"),
    ('"16Mbit/s"', '{ trace = "a", steps = [] }', "links.lte.rate.steps", 18, "unknown key", '"trace"'),
    ('"16Mbit/s"', "{}", "links.lte.rate.steps", 18, "missing", "steps"),
    ('"16Mbit/s"', "{ steps = [] }", "links.lte.rate.steps", 18, "no step", "steps"),
    ('"16Mbit/s"', "{ steps = 5 }", "links.lte.rate.steps", 18, "not a list of steps", "steps"),
    ('"16Mbit/s"', "{ steps = [[0]] }", "links.lte.rate.steps[0]", 18, "list of 1", "70s"),
    ('"16Mbit/s"', "{ steps = [[1, 1e6]] }", "links.lte.rate.steps[0][0]", 18, "at the start", "0s"),
    ('"16Mbit/s"', "{ steps = [[0, 0]] }", "links.lte.rate.steps[0][1]", 18, "must not be zero", "8Mbit/s"),
    ('"16Mbit/s"', "{ steps = [[0, 9],\n[-1, 9]] }", "links.lte.rate.steps[1][0]", 19, "must not be negative", "60s"),
    ('"16Mbit/s"', "{ steps = [[0, 9], [0, 8]] }", "links.lte.rate.steps[1][0]", 18, "not later", "ascending"),
    ('"16Mbit/s"', "{ steps = [[0, 9], [61, 8]] }", "links.lte.rate.steps[1][0]", 18, "after the end", '"60s"'),
    ('"16Mbit/s"', "{ steps = [[0, 9]], x = 1 }", "links.lte.rate.x", 18, "unknown key", "steps"),
    ('"50ms"', '"1001s"', "links.wifi.delay", 12, "too large", "1000s"),
    ('"67pkt"', "0", "links.wifi.queue", 13, "must not be zero", "67pkt"),
    ('"67pkt"', '"1499B"', "links.wifi.queue", 13, "not even one packet fits", '"1500B"'),
    ('"67pkt"', '{ limit = "1B" }', "links.wifi.queue.limit", 13, "not even one packet fits", '"1500B"'),
    ('"67pkt"', '{ discipline = "pie" }', "links.wifi.queue.discipline", 13, "unknown", '"fq_codel"'),
    ('"67pkt"', '{ discipline = "codel", max_p = 0.1 }', "links.wifi.queue.max_p", 13, "a codel queue has no", '"red"'),
    ('"67pkt"', '{ quantum = 1514 }', "links.wifi.queue.quantum", 13, "a droptail queue has no quantum", '"fq_codel"'),
    ('"67pkt"', '{ discipline = "red", targe = 1 }', "links.wifi.queue.targe", 13, "unknown key", '"max_p"'),
    ('"67pkt"', RED + ' min = "9pkt", max = "9pkt" }', "links.wifi.queue.max", 13, "not above min", '"9pkt"'),
    ('"67pkt"', RED + ' min = "9kB" }', "links.wifi.queue.min", 13, "counts packets", '"25pkt"'),
    ('"67pkt"', RED + ' weight = 0.1 }', "links.wifi.queue.weight", 13, "has no average", '"classic"'),
    ('"67pkt"', RED + ' max_p = 0 }', "links.wifi.queue.max_p", 13, "must not be zero", "100%"),
    ('"67pkt"', '{ discipline = "codel", target = 0 }', "links.wifi.queue.target", 13, "must not be zero", "50ms"),
    ('"67pkt"', '{ discipline = "fifo" }', "links.wifi.queue.discipline", 13, "unknown", '"droptail"'),
    ('"67pkt"', "{ limt = 5 }", "links.wifi.queue.limt", 13, 'did you mean "limit"', '"discipline"'),
    ('"2%"', '"101%"', "links.wifi.loss", 14, "too large", "100%"),
    ('"2%"', "2", "links.wifi.loss", 14, 'did you mean "2%"', "100%"),
    ('"2%"', '{ model = "gilbert", p = 0.1 }', "links.wifi.loss.r", 14, "missing", "2%"),
    ('"2%"', '{ model = "gilbert", p = 0, r = 1 }', "links.wifi.loss.p", 14, "must not be zero", "100%"),
    ('"2%"', '{ model = "gilbert", p = 1, r = 1, q = 1 }', "links.wifi.loss.q", 14, "unknown key", '"good"'),
    ('"2%"', '{ p = 0.1, r = 0.5 }', "links.wifi.loss.model", 14, "missing", '"gilbert"'),
    ('"2%"', '{ model = "elliott", p = 0.1, r = 0.5 }', "links.wifi.loss.model", 14, "unknown", '"gilbert"'),
    ('"2%"', '"2%"\nreverse = 5', "links.wifi.reverse", 15, "not a table", "[links.wifi.reverse]"),
    ('"2%"', '"2%"\nreverse.ends = []', "links.wifi.reverse.ends", 15, "same ends", "leave it out"),
    ('"2%"', '"2%"\nreverse.los = 0', "links.wifi.reverse.los", 15, 'did you mean "loss"', '"delay"'),
    ('"2%"', '"2%"\nreverse.loss = -1', "links.wifi.reverse.loss", 15, "must not be negative", "2%"),
    (LTE_ENDS, '["client"]\nrate = "16', "links.lte.ends", 17, "list of 1", '"client"'),
    (LTE_ENDS, '["client", "client"]\nrate = "16', "links.lte.ends", 17, "same node", "different"),
    (LTE_ENDS, '["client", 5]\nrate = "16', "links.lte.ends", 17, "a whole number", "names"),
    (LTE_ENDS, '["client", "sever"]\nrate = "16', "links.lte.ends[1]", 17, 'did you mean "server"', '"client" or'),
    # packets lost by a script
    ('"2%"', DROPS + '["dwnload/1:17"]', "links.wifi.drops[0]", 15, 'did you mean "download"', '"download"'),
    ('"2%"', DROPS + '["download/3:17"]', "links.wifi.drops[0]", 15, "has 2 subflows", '"download/1"'),
    ('"2%"', DROPS + '["download/0:17"]', "links.wifi.drops[0]", 15, "has 2 subflows", '"download/1"'),
    ('"2%"', DROPS + '["download/2:17"]', "links.wifi.drops[0]", 15, "does not cross", '"download/1"'),
    ('"2%"', DROPS + '["download.2:17"]', "links.wifi.drops[0]", 15, "does not cross", '"download/1"'),
    ('"2%"', DROPS + '["download.2/1:17"]', "links.wifi.drops[0]", 15, "has no copies", '"download"'),
    ('"2%"', DROPS + '["download/1:0"]', "links.wifi.drops[0]", 15, "counted from 1", "1 to 2147483648"),
    ('"2%"', DROPS + '["download/1:2147483649"]', "links.wifi.drops[0]", 15, "too large", "1 to 2147483648"),
    ('"2%"', DROPS + '["download/1"]', "links.wifi.drops[0]", 15, "names no packet", "FLOW/SUBFLOW:N@TIME"),
    ('"2%"', DROPS + '["download/1:-1"]', "links.wifi.drops[0]", 15, "names no packet", '"download/1:17"'),
    ('"2%"', DROPS + '["download/1:3@61s"]', "links.wifi.drops[0]", 15, "after the end", '"60s"'),
    ('"2%"', DROPS + '["download/1:3@soon"]', "links.wifi.drops[0]", 15, '"soon"', '"50ms"'),
    ('"2%"', DROPS + '["download:1", 5]', "links.wifi.drops", 15, "a whole number", '["download/1:17"]'),
    ('"2%"', DROPS + '"download/1:17"', "links.wifi.drops", 15, "this is text, not a list", '["download/1:17"]'),
    ('"2%"', DROPS + str(["d:1"] * 1001), "links.wifi.drops", 15, "list of 1001", "at most 1000"),
    ('"2%"', '"2%"\nreverse.drops = []', "links.wifi.reverse.drops", 15, "in which its flow sends", "leave it out"),
    # flows
    (KIND, "", ".kind", 20, "missing", '"mptcp"'),
    ('"mptcp"', '"onof"', ".kind", 21, 'did you mean "onoff"', '"cbr"'),
    ('from = "server"', "", ".from", 20, "missing", "name"),
    ('from = "server"', 'from = "sever"', ".from", 22, 'did you mean "server"', '"client" or "server"'),
    ('to = "client"', 'to = "server"', ".to", 23, "ends where it starts", "a host"),
    ("[nodes.client]", '[nodes.client]\nkind = "router"', ".to", 24, "router", '"server"'),
    ("+", 'controller = "vivace"', ".controller", 24, "not in this version", '"newreno", "lia"'),
    ("+", 'controller = "newrno"', ".controller", 24, 'did you mean "newreno"', '"uncoupled"'),
    ("+", "controller = 5", ".controller", 24, "not the name of a controller", '"lia"'),
    ("+", "controller = {}", ".controller.name", 24, "missing", '"lia"'),
    ("+", 'controller = { name = "lia", x = 1 }', ".controller.x", 24, "unknown key", '"name"'),
    ("+", 'controller = { name = "tunable", gain = 3 }', ".controller.gain", 24, "too large", "2"),
    ("+", 'controller = { name = "tunable", gian = 1 }', ".controller.gian", 24, 'did you mean "gain"', "paced"),
    ("+", 'controller = { name = "uncoupled", base = "cubic" }', ".controller.base", 24, "unknown", "newreno"),
    ("+", 'controller = { name = "uncoupled", pace = 2 }', ".controller.pace", 24, "newreno base has no", '"brisk"'),
    ("+", 'controller = { name = "uncoupled", base = "brisk", pace = -2 }', ".controller.pace", 24, "negative", "0"),
    ("+", 'scheduler = "ecf"', ".scheduler", 24, "not in this version", '"minrtt"'),
    ("+", "count = 0", ".count", 24, "must not be zero", "10000"),
    ("+", "count = 10001", ".count", 24, "too large", "10000"),
    ("+", "count = 1.5", ".count", 24, "not a whole number", "10000"),
    ("+", "arrivals = 5", ".arrivals", 24, "not a table", "gap"),
    ("+", "arrivals = {}", ".arrivals.gap", 24, "missing", '"60s"'),
    ("+", "arrivals = { gap = 0 }", ".arrivals.gap", 24, "must not be zero", '"1us"'),
    ("+", 'arrivals = { gap = "1s", life = 1 }', ".arrivals.life", 24, 'did you mean "lifetime"', '"limit"'),
    ("+", 'arrivals = { gap = "1s", limit = 10001 }', ".arrivals.limit", 24, "too large", "10000"),
    ("+", LAW, ".arrivals.lifetime_distribution", 24, "the lifetime is missing", "lifetime"),
    ("+", 'arrivals = { gap = "5ms" }', ".arrivals.gap", 24, "about 12000 flows would arrive", '"6ms"'),
    ("+", 'start = "9s"\nstop = "29s"\narrivals = { gap = "1ms" }', ".arrivals.gap", 26, "about 20000 flows", '"2ms"'),
    ("+", 'count = 2\narrivals = { gap = "1s" }', ".count", 24, "the arrivals decide", "limit"),
    ("+", 'start = "60s"', ".start", 24, "over before", '"60s"'),
    ("+", 'start = "9s"\nstop = "9s"', ".stop", 25, "before it starts", '"9s"'),
    ("+", "stop = 0", ".stop", 24, "before it starts", '"0s"'),
    ("+", "size = 0", ".size", 24, "must not be zero", "8MB"),
    ("+", 'recv_buffer = "1447B"', ".recv_buffer", 24, "not even one packet fits", '"1448B"'),
    ("+", 'send_buffer = "1447B"', ".send_buffer", 24, "nothing could be sent", '"1448B"'),
    ("+", "backup = 2", ".backup", 24, "this is a whole number, not a list", "[2]"),
    ("+", 'backup = ["lte"]', ".backup", 24, "this is text, not a whole number", "from 1 to 32"),
    ("+", "backup = [0]", ".backup", 24, "must not be zero", "from 1 to 32"),
    ("+", "backup = [1, 3]", ".backup[1]", 24, "no subflow 3", "from 1 to 2"),
    ("+", "late = [1]", ".late[0]", 24, "no connection exists for others", "from 2 to 2"),
    ("+", "late = [3]", ".late[0]", 24, "no subflow 3", "from 2 to 2"),
    ("+", "subflow_limit = -1", ".subflow_limit", 24, "must not be negative", "0"),
    (KIND, 'kind = "tcp"\naddress_limit = 1', ".address_limit", 22, "a tcp flow has no address_limit", '"mptcp"'),
    (KIND, 'kind = "tcp"\nbackup = [1]', ".backup", 22, "a tcp flow has no backup", '"mptcp"'),
    ("+", 'rate = "1Mbit/s"', ".rate", 24, "a mptcp flow has no rate", '"cbr"'),
    ("+", "packet = 100", ".packet", 24, "a mptcp flow has no packet", '"cbr"'),
    ("+", "paths = []", ".paths", 24, "no path", "leave it out"),
    ("+", "paths = [[]]", ".paths[0]", 24, "without links", "wifi"),
    ("+", 'paths = ["wifi"]', ".paths", 24, 'did you mean [["wifi"]]', "wifi"),
    ("+", 'paths = [["wifi"],\n["wfi"]]', ".paths[1][0]", 25, 'did you mean "wifi"', '"wifi" or "lte"'),
    ("+", 'paths = [["wifi", "lte"]]', ".paths[0][1]", 24, "continues after", "routers"),
    ("+", MANY_PATHS, ".paths", 24, "33 paths are too many", "at most 32"),
    (KIND, 'kind = "tcp"\nscheduler = "minrtt"', ".scheduler", 22, "a tcp flow has no scheduler", '"mptcp"'),
    (KIND, 'kind = "tcp"\npaths = [["wifi"], ["lte"]]', ".paths", 22, "one path, not 2", '"mptcp"'),
    (KIND, CBR + 'paths = [["wifi"], ["lte"]]', ".paths", 23, "one path, not 2", '"mptcp"'),
    (KIND, 'kind = "cbr"', ".rate", 20, "missing", "8Mbit/s"),
    (KIND, CBR + "size = 1", ".size", 23, "a cbr flow has no size", '"mptcp"'),
    (KIND, CBR + 'controller = "lia"', ".controller", 23, "a cbr flow has no controller", '"tcp"'),
    (KIND, ONOFF + 'off = "1s"', ".on", 20, "missing", '"60s"'),
    (KIND, ONOFF + 'on = 0\noff = "1s"', ".on", 23, "must not be zero", '"1us"'),
    (KIND, ONOFF + 'on = "1s"\noff = "-1s"', ".off", 24, "must not be negative", '"1us"'),
    (KIND, ONOFF + 'on = 1\noff = 1\nsize = 1', ".size", 25, "an onoff flow has no size", '"mptcp"'),
    (KIND, CBR + 'on = "1s"', ".on", 23, "a cbr flow has no on", '"onoff"'),
    (KIND, CBR + 'spacing = "even"', ".spacing", 23, "unknown", '"poisson"'),
    ("+", 'spacing = "poisson"', ".spacing", 24, "a mptcp flow has no spacing", '"onoff"'),
    (KIND, CBR + "packet = 63", ".packet", 23, "too small", "1500B"),
    # events
    ("+", EVENT, "events[0]", 24, "neither a link nor a flow", "link"),
    ("+", EVENT + 'link = "wifi"\nflow = "download"', "events[0]", 24, "both a link and a flow", "one of"),
    ("+", EVENT + 'link = "wifi"', "events[0]", 24, "changes nothing", '"up"'),
    ("+", EVENT + 'link = "wifi"\ndirection = "forward"', "events[0]", 24, "changes nothing", '"up"'),
    ("+", EVENT + 'flow = "download"', "events[0]", 24, "changes nothing", "announce = true"),
    ("+", EVENT + 'flow = "download"\nannounce = "lte"', "events[0].announce", 27, "this is text", "true or false"),
    ("+", EVENT + 'flow = "download"\nannounce = true\nsubflow = 1', "events[0].subflow", 28, "begins with", "from 2"),
    ("+", EVENT + 'flow = "download"\nbackup = 1', "events[0].backup", 27, "a whole number", "true or false"),
    ("+", EVENT + 'link = "wifi"\nup = true\nbackup = true', "events[0].backup", 28, "has no backup", '"flow"'),
    ("+", EVENT + 'link = "wify"\nup = true', "events[0].link", 26, 'did you mean "wifi"', '"lte"'),
    ("+", EVENT + 'link = "wifi"\nup = "no"', "events[0].up", 27, "this is text", "true or false"),
    ("+", EVENT + 'link = "wifi"\nrate = 0', "events[0].rate", 27, "must not be zero", "8Mbit/s"),
    ("+", EVENT + 'link = "wifi"\nqueue = "9B"', "events[0].queue", 27, "not even one packet", '"1500B"'),
    ("+", EVENT + 'link = "wifi"\nqueue = { flows = 5 }', "events[0].queue.flows", 27, "nothing of a queue", "50pkt"),
    ("+", EVENT + RED_LIMIT, "events[0].queue.discipline", 27, "is droptail", "leave it out"),
    ("+", EVENT + 'link = "wifi"\nloss = { model = "gilbert", p = 1 }', "events[0].loss.r", 27, "missing", "2%"),
    ("+", EVENT + 'link = "wifi"\nup = true\nopen = true', "events[0].open", 28, "a link event has no open", '"flow"'),
    ("+", EVENT + 'link = "wifi"\ndirection = "up"\nup = true', "events[0].direction", 27, "unknown", '"forward"'),
    ("+", EVENT + 'flow = "upload"\nopen = false', "events[0].flow", 26, 'unknown flow "upload"', '"download"'),
    ("+", EVENT + 'flow = "upload.2"\nopen = false', "events[0].flow", 26, 'unknown flow "upload"', '"download"'),
    ("+", EVENT + 'flow = "download.1"\nopen = false', "events[0].flow", 26, "has no copies", '"download"'),
    ("+", "count = 3\n" + EVENT + 'flow = "download.4"\nopen = false', "events[0].flow", 27, "no copy", '"download.3"'),
    ("+", EVENT + 'flow = "download.02"\nopen = false', "events[0].flow", 26, "not a name", ".1, .2"),
    ("+", EVENT + 'flow = "download"\nopen = false\nsubflow = 3', "events[0].subflow", 28, "has 2 subflows", "1 to 2"),
    ("+", EVENT + 'flow = "download"\nopen = true\nsubflow = 0', "events[0].subflow", 28, "not be zero", "1 to 32"),
    ("+", EVENT + 'flow = "download"\nopen = true\nloss = 0', "events[0].loss", 28, "flow event has no loss", '"link"'),
    ("+", EVENT.replace("30", "61") + 'link = "wifi"\nup = true', "events[0].at", 25, "after the end", '"60s"'),
    ("+", '[[events]]\nlink = "wifi"\nup = true', "events[0].at", 24, "missing", "60s"),
    ("+", EVENT + 'link = "lte"\nup = true\n[[events]]\nlink = "lte"\nup = true', "events[1].at", 28, "missing", "60s"),
]  # fmt: skip


def changed(old: str, new: str) -> str:
    if old == "+":
        return TWO_PATHS + new + "\n"
    assert TWO_PATHS.count(old) == 1
    return TWO_PATHS.replace(old, new)


@for_each(("old", "new", "key", "line", "message", "allowed"), WRONG)
def test_what_is_wrong_is_told_once_with_its_line_and_what_is_allowed(old, new, key, line, message, allowed):
    (problem,) = problems_of(changed(old, new))
    assert problem.key == (f"flows.download{key}" if key.startswith(".") else key)
    assert problem.line == line
    assert message in problem.message
    assert allowed in problem.allowed


@for_each(
    ("paths", "key", "message"),
    [
        ('[["ar", "sb"]]', "flows.f.paths[0][1]", 'after "ar" the path is at "r", but "sb" joins "s" and "b"'),
        ('[["rb"]]', "flows.f.paths[0][0]", 'the path starts at "a", but "rb" joins "r" and "b"'),
        ('[["ar", "rs"]]', "flows.f.paths[0]", 'ends at "s", not at "b"'),
        ('[["ar", "rs", "cs", "bc"]]', "flows.f.paths[0][3]", 'leads through "c", which is a host'),
        ('[["ar", "ar", "ar", "rb"]]', "flows.f.paths[0][1]", 'has a loop: "ar" leads back to "a"'),
        ('[["ar", "rs", "rs", "rb"]]', "flows.f.paths[0][2]", 'has a loop: "rs" leads back to "r"'),
        ('[["ar", "rb", "bc"]]', "flows.f.paths[0][2]", 'continues after it has reached "b"'),
    ],
)
def test_a_path_that_is_none_says_where_the_walk_breaks(paths, key, message):
    problem = problem_of(ROUTED, f"flows.f.paths={paths}")
    assert problem.key == key
    assert message in problem.message


def test_every_wrong_path_of_a_flow_is_told():
    problems = problems_of(ROUTED, 'flows.f.paths=[["ar"], ["ar", "rb"], ["rb"]]')
    assert [problem.key for problem in problems] == ["flows.f.paths[0]", "flows.f.paths[2][0]"]


def test_a_destination_out_of_reach_is_told_with_a_host_on_the_way_as_the_reason():
    island = ROUTED.replace('ends = ["b", "c"]', 'ends = ["b", "a"]').replace('ends = ["c", "s"]', 'ends = ["r", "s"]')
    for text, reason in ((island, ""), (ROUTED.replace('["c", "s"]', '["b", "s"]'), 'leads through "b", a host')):
        problem = problem_of(text, "flows.f.to=c")
        assert problem.key == "flows.f.to"
        assert problem.message.startswith('"c" cannot be reached from "a"')
        assert reason in problem.message


def test_more_shortest_paths_than_a_flow_can_have_need_a_choice():
    links = "".join(f'[links.x{n}]\nends = ["client", "server"]\nrate = 1e6\n' for n in range(31))
    problem = problem_of(TWO_PATHS + links)
    assert problem.key == "flows.download.to"
    assert "more than 32 shortest paths" in problem.message


def test_a_very_long_chain_of_routers_is_a_path():
    count = 3000
    nodes = "".join(f'[nodes.r{n}]\nkind = "router"\n' for n in range(count))
    names = ["client", *(f"r{n}" for n in range(count)), "server"]
    links = "".join(f'[links.l{n}]\nends = ["{a}", "{b}"]\nrate = 1e6\n' for n, (a, b) in enumerate(pairwise(names)))
    flow = '[flows.f]\nkind = "tcp"\nfrom = "client"\nto = "server"\n'
    scenario = parse_scenario(
        f"format = 1\nduration = 1\n[nodes.client]\n[nodes.server]\n{nodes}{links}{flow}", algorithms=CATALOG
    )
    assert len(scenario.flows["f"].paths[0]) == count + 1


def test_flows_of_one_path_have_no_subflows_to_close_or_to_back_up():
    for kind, change, message in (
        (CBR, "open = false", "a cbr flow has no subflows to close"),
        ('kind = "tcp"', "backup = true", "a tcp flow has one subflow, and nothing to back up"),
    ):
        assert problem_of(f'{changed(KIND, kind)}{EVENT}flow = "download"\n{change}\n').message == message


def test_a_broken_link_is_not_blamed_again_on_flows_and_events_that_use_it():
    text = TWO_PATHS.replace('["client", "server"]\nrate = "8', '["client", "x"]\nrate = "8')
    text += 'paths = [["wifi"]]\n' + EVENT + 'link = "wifi"\nup = false\n'
    assert problem_of(text).key == "links.wifi.ends[1]"


def test_values_are_shown_on_one_line_shortened_and_without_control_characters():
    long_name = problem_of(TWO_PATHS.replace('"Two paths"', f'"{"x" * 300}"'))
    assert len(long_name.value) == 60
    colour = problem_of(TWO_PATHS.replace('"Two paths"', r'"\u001b[31m\n"'))
    assert colour.value == r'"\u001b[31m\u000a"'
    assert len(problem_of(TWO_PATHS.replace('"Two paths"', f"[{'1, ' * 500}]")).value) <= 60
    assert problem_of(TWO_PATHS.replace('"Two paths"', "{ a = 1, b = [true] }")).value == "{a = 1, b = [true]}"
    assert problem_of(TWO_PATHS.replace('"60s"', "9" * 4000)).value == "9999…"


SNIPPETS = st.sampled_from(
    [row[1] for row in WRONG if row[0] == "+"]
    + ['"', "[", "]", "=", "5", '"x"', "\n", "{", "}", "kind = 5\n", "[links.wifi]\n"]
)


@given(st.data())
def test_no_text_makes_the_reader_fail_in_any_other_way(data):
    text = TWO_PATHS
    for _ in range(data.draw(st.integers(1, 4))):
        cut = data.draw(st.integers(0, len(text)))
        text = text[:cut] + data.draw(SNIPPETS) + text[cut + data.draw(st.integers(0, 12)) :]
    with suppress(ScenarioError):
        assert parse_scenario(text, algorithms=CATALOG).flows


WORDS = {*("format", "nodes", "links", "flows", "events", "wifi", "client", "download", "reverse", "steps", "limit")}
KEYS = st.sampled_from(sorted({param.key for params in SECTIONS.values() for param in params} | WORDS | {"name"}))
SCALARS = st.sampled_from(
    ["wifi", "client", "", "lia", "8Mbit/s", "nan", 0, 1, -1, 2**70, 0.5, math.inf, math.nan, True]
)
VALUES: st.SearchStrategy[object] = st.deferred(
    lambda: SCALARS | st.lists(VALUES, max_size=3) | st.dictionaries(KEYS, VALUES, max_size=4)
)


def spelt(value: object) -> str:
    """A value in TOML syntax."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key} = {spelt(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(spelt, value)) + "]"
    return json.dumps(value) if isinstance(value, str | bool) else str(value)


TOP = ("nodes", "links", "flows", "events", "format", "duration")
PLACES = ["nodes.client", "links.wifi", "links.wifi.reverse", "flows.download", "events[0]", "nodes", "seed"]


@given(st.fixed_dictionaries({}, optional=dict.fromkeys(TOP, VALUES)), st.sampled_from(PLACES), KEYS, VALUES)
def test_no_value_in_any_place_makes_the_reader_fail_in_any_other_way(tree, place, key, value):
    override = f"{place}.{key}={spelt(value)}"
    for text in (TWO_PATHS + EVENT, "\n".join(f"{name} = {spelt(item)}" for name, item in tree.items())):
        with suppress(ScenarioError):
            assert read(text, override).duration_s > 0


def test_a_path_on_which_nothing_limits_the_flow_is_refused():
    # Forward leads from the client to the server: the download takes the reverse direction of wifi.
    unlimited = TWO_PATHS.replace('rate = "8Mbit/s"', 'rate = "8Mbit/s"\nreverse = { rate = "unlimited" }')
    problem = problem_of(unlimited.replace('from = "client"\nto = "server"', 'from = "server"\nto = "client"'))
    assert problem.key == "flows.download.paths[0]"
    assert "nothing would limit the flow" in problem.message


def test_a_rate_cannot_become_unlimited_during_a_run():
    steps = 'rate = { steps = [["0s", "1Mbit/s"], ["5s", "unlimited"]] }'
    for text, key in (
        (TWO_PATHS + EVENT + 'link = "wifi"\nrate = "unlimited"\n', "events[0].rate"),
        (TWO_PATHS.replace('rate = "8Mbit/s"', steps), "links.wifi.rate.steps[1][1]"),
    ):
        problem = problem_of(text)
        assert problem.key == key
        assert "unlimited" not in problem.allowed
