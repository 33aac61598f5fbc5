"""Forms offer every value of a file, explain typed text, and report invalid text at once."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from tests.helpers.members import for_each
from tests.helpers.policies import Plan, make_plan, write_random_policy
from tests.helpers.present import present
from tests.helpers.scenario_texts import leaves

from subflow_app.features.editor.core.form import Form, FormField, form_for, outline
from subflow_app.features.editor.core.form_text import check_text, read_text, text_of, with_unit
from subflow_app.features.editor.core.scenario_doc import ScenarioDoc
from subflow_sim.catalog import catalog, catalog_with
from subflow_sim.params import AlgorithmCatalog, Dimension, Param
from subflow_sim.policy_library import PolicyLibrary
from subflow_sim.scenario import Arrivals, parse_scenario

SCENARIOS = sorted((Path(__file__).parents[4] / "assets" / "scenarios").glob("*.toml"))

DEMO = """\
format = 1
duration = "60s"
[nodes]
client = {}
hub = { kind = "router" }
server = {}
[links]
wifi = { ends = ["client", "hub"], rate = "8Mbit/s" }
wire = { ends = ["hub", "server"], rate = 1e9, reverse = { delay = "3ms" } }
[flows]
download = { kind = "mptcp", from = "server", to = "client", controller = { name = "uncoupled", base = "newreno" } }
[[events]]
at = "30s"
link = "wifi"
up = false
"""


@pytest.fixture
def doc() -> ScenarioDoc:
    return ScenarioDoc(DEMO)


def form(doc: ScenarioDoc, key: str, algorithms: AlgorithmCatalog | None = None) -> Form:
    return present(form_for(doc, key, algorithms or catalog()))


def field(doc: ScenarioDoc, key: str, algorithms: AlgorithmCatalog | None = None) -> FormField:
    part = ".".join(key.split(".")[:2]) if "." in key else ""
    return next(each for each in form(doc, part, algorithms).fields() if each.key == key)


def offered(doc: ScenarioDoc, key: str) -> list[str | None]:
    """The values that a person can choose."""
    return [option.value for option in field(doc, key).options]


@for_each("text", [DEMO, *(path.read_text() for path in SCENARIOS)])
def test_every_value_of_a_file_has_a_field(text: str) -> None:
    doc = ScenarioDoc(text)
    parts = [part for entry in outline(doc) for part in (entry, *entry.children)]
    offered = {each.key for part in parts for each in form(doc, part.key).fields()}

    # Steps of a rate and options in tables are edited in the field of their key, random draws in the text.
    values = [key for key, _ in leaves(doc.data) if not key.startswith("training.")]
    assert [key for key in values if not any(key == o or key.startswith(f"{o}.") for o in offered)] == []


def test_parts_that_do_not_exist_have_no_form(doc: ScenarioDoc) -> None:
    assert [form_for(doc, key, catalog()) for key in ("links.none", "events.1", "nonsense")] == [None] * 3


def test_fields_follow_the_kind_of_flow(doc: ScenarioDoc) -> None:
    def labels() -> set[str]:
        return {each.param.key for each in form(doc, "flows.download").fields()}

    assert {"controller", "scheduler", "base"} <= labels()
    assert "packet" not in labels()

    doc.set_value("flows.download.kind", "cbr")

    assert {"rate", "packet"} <= labels()
    assert "scheduler" not in labels()
    # The key remains in the file, so the form still offers it for removal, with its problem.
    assert "controller" in labels()
    assert field(doc, "flows.download.controller").problems


def test_an_on_off_flow_asks_for_its_times(doc: ScenarioDoc) -> None:
    doc.set_value("flows.download.kind", "onoff")
    doc.set_value("flows.download.controller", None)

    fields = {each.param.key: each for each in form(doc, "flows.download").fields()}

    assert {"rate", "packet", "spacing", "on", "off"} <= fields.keys()
    assert {"size", "scheduler", "recv_buffer", "controller"}.isdisjoint(fields)
    assert fields["on"].label == "Mean time on"
    assert [option.value for option in fields["spacing"].options] == ["constant", "poisson"]
    assert fields["on"].problems
    for key, text in (("rate", "5Mbit/s"), ("on", "1s"), ("off", "10s")):
        doc.set_value(f"flows.download.{key}", text)
    doc.set_value("flows.download.paths", None)
    assert doc.problems == ()


def test_a_flow_becomes_many_by_its_arrivals(doc: ScenarioDoc) -> None:
    gap = field(doc, "flows.download.arrivals.gap")
    assert (gap.label, gap.is_set, gap.param.required, gap.problems) == ("Mean gap", False, False, ())

    doc.set_value("flows.download.count", None)
    doc.set_value("flows.download.arrivals.lifetime", "30s")

    gap = field(doc, "flows.download.arrivals.gap")
    assert gap.param.required
    assert gap.problems

    doc.set_value("flows.download.arrivals.gap", "10s")

    assert doc.problems == ()
    assert present(doc.scenario).flows["download"].arrivals == Arrivals(10.0, 30.0)
    detail = next(part for entry in outline(doc) for part in entry.children if part.key == "flows.download").detail
    assert detail.endswith("arriving")

    doc.set_value("flows.download.arrivals.limit", 0)
    assert field(doc, "flows.download.arrivals.limit").problems
    assert form(doc, "flows.download").problems == ()


def test_an_event_can_be_given_one_copy_of_a_flow(doc: ScenarioDoc) -> None:
    doc.set_value("flows.download.count", 3)
    doc.add_event({"at": "5s", "flow": "download.2", "open": False})
    assert offered(doc, "events.1.flow") == ["download", "download.1", "download.2", "download.3"]
    assert doc.problems == ()


def test_an_event_offers_the_controllers_that_can_take_over_with_their_options(doc: ScenarioDoc) -> None:
    doc.add_event({"at": "5s", "flow": "download", "controller": "olia"})
    assert field(doc, "events.1.controller").text == "olia"
    names = set(offered(doc, "events.1.controller"))
    assert {"lia", "olia", "uncoupled"} <= names
    assert "drl-cc" not in names
    assert form(doc, "events.1").subtitle == "controller olia"

    doc.set_value("events.1.controller", "uncoupled")
    bases = offered(doc, "events.1.controller.base")
    assert ("cubic" in bases, "rl-explore" in bases) == (True, False)
    doc.set_value("events.1.controller.base", "vegas")
    assert field(doc, "events.1.controller").text == "uncoupled"
    doc.set_value("events.1.controller.alpha", 3)
    assert field(doc, "events.1.controller.alpha").text == "3"
    assert doc.problems == ()
    controller = present(parse_scenario(doc.text).events[0].controller)  # events are sorted by time
    assert (controller.name, controller.options["base"], controller.options["alpha"]) == ("uncoupled", "vegas", 3)


def test_an_event_without_a_controller_has_no_options_of_one(doc: ScenarioDoc) -> None:
    doc.add_event({"at": "5s", "flow": "download", "open": False})
    assert [group.title for group in form(doc, "events.1").groups] == ["", "Changes"]
    assert field(doc, "events.1.controller").placeholder == ""
    doc.set_value("events.1.controller", "drl-cc")
    (problem,) = field(doc, "events.1.controller").problems
    assert "cannot take over" in problem.message


def test_coupled_controllers_are_not_offered_to_tcp(doc: ScenarioDoc) -> None:
    lia = next(each for each in catalog().controllers if each.name == "lia")
    options = {option.value: option.summary for option in field(doc, "flows.download.controller").options}
    assert {"lia", "uncoupled", "newreno"} <= options.keys()
    assert options["lia"] == lia.summary

    doc.set_value("flows.download.kind", "tcp")

    names = offered(doc, "flows.download.controller")
    assert ("newreno" in names, "lia" in names) == (True, False)


def test_hosts_links_and_flows_are_offered_by_name(doc: ScenarioDoc) -> None:
    assert offered(doc, "flows.download.from") == ["client", "server"]  # the hub is a router
    assert offered(doc, "links.wifi.ends") == ["client", "hub", "server"]
    assert offered(doc, "events.0.link") == ["wifi", "wire"]


def test_placeholders_say_what_applies(doc: ScenarioDoc) -> None:
    assert field(doc, "links.wifi.queue").placeholder == "100pkt"
    assert field(doc, "links.wifi.queue").text == ""
    assert field(doc, "links.wire.reverse.rate").placeholder == "also 1000000000"
    assert field(doc, "links.wire.reverse.delay").text == "3ms"
    assert field(doc, "flows.download.paths").placeholder == "all shortest paths"
    doc.set_value("flows.download.controller", None)
    assert field(doc, "flows.download.controller").placeholder == "lia"


def test_problems_stand_at_their_field(doc: ScenarioDoc) -> None:
    doc.set_value("links.wifi.loss", "120%")
    doc.set_value("links.wire.reverse.loss", "-1%")
    doc.set_value("flows.download.paths", [["wifi", "none"]])

    for key in ("links.wifi.loss", "links.wire.reverse.loss", "flows.download.paths"):
        assert len(field(doc, key).problems) == 1, key
    assert field(doc, "links.wifi.rate").problems == form(doc, "links.wifi").problems == ()


def test_keys_that_do_not_exist_are_problems_of_the_part(doc: ScenarioDoc) -> None:
    doc.set_text(DEMO.replace('rate = "8Mbit/s"', 'rate = "8Mbit/s", speed = 3'))
    assert [problem.key for problem in form(doc, "links.wifi").problems] == ["links.wifi.speed"]


def test_the_outline_counts_problems(doc: ScenarioDoc) -> None:
    doc.set_value("links.wifi.loss", "120%")
    doc.set_value("seed", -1)

    entries = {entry.key: entry for entry in outline(doc)}
    children = {child.key: child for entry in entries.values() for child in entry.children}

    assert (entries[""].problem_count, entries["links"].problem_count) == (1, 1)
    assert (children["links.wifi"].problem_count, children["links.wire"].problem_count) == (1, 0)
    assert (children["events.0"].title, children["events.0"].detail) == ("30s wifi", "down")


@for_each(
    ("dimension", "text", "value"),
    [
        (Dimension.RATE, "8Mbit/s", "8Mbit/s"),
        (Dimension.RATE, " 8e6 ", 8e6),
        (Dimension.RATE, '"8Mbit/s"', "8Mbit/s"),
        (Dimension.RATE, '{ steps = [["0s", 1e6]] }', {"steps": [["0s", 1e6]]}),
        (Dimension.RATE, "{ steps = [", "{ steps = ["),  # not finished: kept as it is
        (Dimension.RATE, "", None),
        (Dimension.RATE, "nan", "nan"),
        (Dimension.COUNT, "5", 5),
        (Dimension.COUNT, "five", "five"),
        (Dimension.NAME, "7", "7"),  # a node may be called 7
        (Dimension.TEXT, "true", "true"),
        (Dimension.POINT, "10, -20.5", [10, -20.5]),
        (Dimension.POINT, "[10, 20]", [10, 20]),
        (Dimension.POINT, "here", "here"),
        (Dimension.PATHS, '[["wifi"], ["lte"]]', [["wifi"], ["lte"]]),
        (Dimension.TIME, "2026-01-01", "2026-01-01"),  # TOML has dates, scenarios do not
        (Dimension.TIME, "1 \n y = 2", "1 \n y = 2"),
    ],
)
def test_what_typed_text_means(dimension: Dimension, text: str, value: object) -> None:
    assert read_text(Param("x", dimension, ""), text) == value


def test_typed_text_is_read_back_as_the_same_value() -> None:
    for value in (8e6, 5, 0.02, "8Mbit/s", [["wifi"], ["lte"]], {"steps": [["0s", 1e6]]}):
        assert read_text(Param("x", Dimension.RATE, ""), text_of(value)) == value


@for_each(
    ("key", "text", "message"),
    [
        ("links.wifi.loss", "2%", ""),
        ("links.wifi.loss", "120%", "too large"),
        ("links.wifi.rate", "0", "must not be zero"),
        ("links.wifi.rate", "8 apples", "apples"),
        ("links.wifi.rate", "", "required"),
        ("links.wifi.queue", "", ""),
        ("links.wifi.rate", '{ steps = [["1s", "4Mbit/s"]] }', "first step"),
        ("links.wifi.rate", '{ steps = [["0s", "4Mbit/s"]] }', ""),
        ("flows.download.paths", '[["wire", "wifi"]]', ""),
        ("flows.download.paths", '[["wifi", "wire"]]', "path"),
        ("flows.download.paths", '[["none"]]', "none"),
        ("flows.download.backup", "[1]", ""),
        ("flows.download.backup", "1", "a whole number, not a list"),
        ("flows.download.backup", "[9]", "no subflow 9"),
        ("flows.download.send_buffer", "64kB", ""),
    ],
)
def test_a_check_says_what_is_wrong_and_changes_nothing(doc: ScenarioDoc, key: str, text: str, message: str) -> None:
    check = check_text(doc, key, field(doc, key).param, text)

    assert message in check.message if message else check.message == ""
    assert bool(check.allowed) == bool(message)
    assert doc.text == DEMO


def test_a_check_tells_what_a_bare_number_amounts_to(doc: ScenarioDoc) -> None:
    assert check_text(doc, "links.wifi.rate", field(doc, "links.wifi.rate").param, "8e6").si_value == 8e6


def test_buffers_and_backups_come_back_from_the_file_as_they_were_typed(doc: ScenarioDoc) -> None:
    typed = {"send_buffer": "64kB", "recv_buffer": "1MB", "backup": "[1]"}
    for key, text in typed.items():
        full = f"flows.download.{key}"
        doc.set_value(full, read_text(field(doc, full).param, text))

    assert doc.problems == ()
    flow = parse_scenario(doc.text).flows["download"]
    assert (flow.send_buffer_bytes, flow.recv_buffer_bytes, flow.backup) == (64_000, 1_000_000, (1,))
    assert {key: field(doc, f"flows.download.{key}").text for key in typed} == typed


def test_options_stand_in_a_group_of_their_algorithm_also_of_the_default_one(doc: ScenarioDoc) -> None:
    def titles() -> list[str]:
        return [group.title for group in form(doc, "flows.download").groups]

    # The flow names no scheduler.
    doc.set_value("flows.download.controller", "lia")
    assert titles()[:4] == ["", "Transport", "Controller: lia", "Scheduler: minrtt"]
    assert form(doc, "flows.download").title == "download"
    doc.set_value("flows.download.controller", "uncoupled")
    assert titles()[:4] == ["", "Transport", "Controller: uncoupled", "Scheduler: minrtt"]
    doc.set_value("flows.download.kind", "tcp")
    assert "Scheduler: minrtt" not in titles()
    doc.set_value("flows.download.controller", "newreno")
    assert titles()[:3] == ["", "Transport", "Controller: newreno"]


def test_uncoupled_shows_the_options_of_its_base_with_the_defaults_of_the_profile(doc: ScenarioDoc) -> None:
    def options() -> set[str]:
        keys = [each.key for each in form(doc, "flows.download").fields()]
        return {key.rsplit(".", 1)[1] for key in keys if key.startswith("flows.download.controller.")}

    doc.set_value("flows.download.controller", "uncoupled")
    assert options() == {"base", "hystart_plus_plus", "abe"}
    doc.set_value("flows.download.controller.base", "cubic")
    assert {"base", "hystart"} <= options()
    assert field(doc, "flows.download.controller.hystart").placeholder == "linux"
    doc.set_value("profile", "textbook")
    assert field(doc, "flows.download.controller.hystart").placeholder == "off"
    doc.set_value("flows.download.controller.base", "vegas")
    assert "hystart" not in options()
    assert {"alpha", "beta", "gamma"} <= options()


def test_a_controller_that_learns_shows_the_card_of_its_policy(tmp_path: Path) -> None:
    card = {"scenario": "Sc1", "steps": 4000, "note": "A first try"}
    write_random_policy(tmp_path / "mine.safetensors", make_plan("drl-cc"), card=card)
    shipped = catalog_with(PolicyLibrary((tmp_path,)))
    # Make this policy the default, like the shipped one.
    drl_cc = next(each for each in shipped.controllers if each.name == "drl-cc")
    options = tuple(replace(each, default="mine") if each.key == "policy" else each for each in drl_cc.options)
    others = tuple(each for each in shipped.controllers if each.name != "drl-cc")
    library = replace(shipped, controllers=(*others, replace(drl_cc, options=options)))
    doc = ScenarioDoc(DEMO.replace('{ name = "uncoupled", base = "newreno" }', '"drl-cc"'))

    assert hint(doc, library) == "mine: Sc1, 4 000 decisions"
    choices = field(doc, "flows.download.controller", library).options
    details = {option.value: option.details for option in choices}
    assert details["drl-cc"].startswith(drl_cc.summary)
    assert "A first try" in details["drl-cc"]
    assert details["lia"] == ""


def hint(doc: ScenarioDoc, algorithms: AlgorithmCatalog) -> str:
    groups = form(doc, "flows.download", algorithms).groups
    return next(each.hint for each in groups if each.title == "Controller: drl-cc")


def test_a_policy_without_a_card_is_not_told_about(tmp_path: Path) -> None:
    doc = ScenarioDoc(DEMO.replace('name = "uncoupled", base = "newreno"', 'name = "drl-cc", policy = "neutral"'))
    assert hint(doc, catalog_with(PolicyLibrary((tmp_path,)))) == ""


def test_a_controller_that_learns_offers_the_policies_made_for_it(doc: ScenarioDoc, tmp_path: Path) -> None:
    write_random_policy(tmp_path / "mine.safetensors", Plan("drl-cc"), card={"scenario": "Sc1", "steps": 4000})
    write_random_policy(tmp_path / "other.safetensors", Plan("dql-mptcp"))
    (tmp_path / "broken.safetensors").write_bytes(b"")
    doc.set_value("flows.download.controller", {"name": "drl-cc"})
    policy = field(doc, "flows.download.controller.policy", catalog_with(PolicyLibrary((tmp_path,))))
    assert [(option.value, option.summary) for option in policy.options] == [
        ("mine", "Sc1, 4 000 decisions"),
        ("neutral", "changes nothing"),
        ("random", "does anything"),
    ]


@for_each(
    ("typed", "unit", "completed"),
    [
        ("5 Mbps", "Mbit/s", "5Mbit/s"),
        ("5mbps", "Gbit/s", "5Mbit/s"),
        ("640 kbps", "Mbit/s", "640kbit/s"),
        ("1.5Gbps", "Mbit/s", "1.5Gbit/s"),
        ("5MBps", "Mbit/s", "5MBps"),  # the unit could mean bytes
        ("5 Mbps", "", "5 Mbps"),  # the value could be a name
        ("5 Mbps", "ms", "5 Mbps"),
    ],
)
def test_rates_are_taken_as_people_write_them(typed: str, unit: str, completed: str) -> None:
    assert with_unit(typed, unit) == completed


def test_a_rate_is_taken_so_where_the_file_has_a_bare_number(doc: ScenarioDoc) -> None:
    doc.set_value("links.wifi.rate", 8_000_000)
    rate = field(doc, "links.wifi.rate")
    assert (rate.unit, rate.completed("5 Mbps"), rate.completed("6000000")) == ("", "5Mbit/s", "6000000")
