"""`[training]`: the scenarios of episodes, and files that the reader refuses."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from tests.helpers.members import for_each
from tests.helpers.scenario_texts import TWO_PATHS, problem_of, problems_of, read

from subflow_sim import load_scenario
from subflow_sim.errors import ScenarioError
from subflow_sim.scenario import GilbertLoss, Link, QueueSpec
from subflow_sim.training import Distribution
from subflow_sim.vec_env import episode_seed

SCENARIOS = Path(__file__).parents[2] / "assets" / "scenarios"
CROSS = '[flows.cross]\nkind = "tcp"\nfrom = "server"\nto = "client"\npaths = [["wifi"]]\n'


def rate_of(link: Link) -> float:
    return math.inf if link.forward.rate_bps is None else link.forward.rate_bps


def distribution(*lines: str, base: str = TWO_PATHS) -> Distribution:
    return Distribution.from_scenario(read("\n".join((base, *lines)) + "\n"))


def draws(*lines: str, base: str = TWO_PATHS) -> Distribution:
    return distribution("[training.draws]", *lines, base=base)


def test_a_scenario_without_the_block_varies_in_its_seed_alone():
    scenario = read(TWO_PATHS)
    episodes = Distribution.from_scenario(scenario)
    first, second = episodes.draw(1, 0, 0), episodes.draw(1, 0, 1)
    assert first.seed != second.seed
    assert replace(first, seed=1) == scenario == replace(second, seed=1)


def test_a_run_takes_no_notice_of_the_block():
    text = TWO_PATHS + '[training]\nepisode = "5s"\n[training.draws]\nlinks.wifi.rate = 1e6\n'
    assert replace(read(text), training=None) == read(TWO_PATHS)


def test_an_episode_is_a_function_of_seed_environment_and_number():
    episodes = draws("links.wifi.rate = { uniform = [1e6, 9e6] }", 'links.lte.loss = { uniform = ["0%", "5%"] }')
    asked = [(7, env, episode) for env in range(3) for episode in range(3)]
    forward = [episodes.draw(*each) for each in asked]
    backward = [episodes.draw(*each) for each in reversed(asked)]
    assert forward == backward[::-1]
    assert len({each.links["wifi"].forward.rate_bps for each in forward}) == 9
    assert len({each.seed for each in forward}) == 9


def test_the_seed_of_an_episode_is_that_of_its_run_in_an_environment():
    assert Distribution.from_scenario(read(TWO_PATHS)).draw(5, 2, 9).seed == episode_seed(5, 2, 9)
    assert len({episode_seed(s, n, k) for s in range(3) for n in range(3) for k in range(3)}) == 27


def test_another_draw_in_the_block_leaves_the_values_of_the_others():
    alone = draws("links.wifi.rate = { uniform = [1e6, 9e6] }")
    joined = draws("links.lte.rate = { uniform = [1e6, 9e6] }", "links.wifi.rate = { uniform = [1e6, 9e6] }")
    for episode in range(5):
        assert alone.values(1, 0, episode)["links.wifi.rate"] == joined.values(1, 0, episode)["links.wifi.rate"]


def test_values_are_what_the_scenario_has():
    episodes = draws(
        "links.wifi.rate = { log_uniform = [1e6, 9e6] }",
        '"links.wifi.queue" = { uniform = ["5pkt", "50pkt"] }',
        "flows.download.count = { integer = [1, 8] }",
        'links.lte.loss = { model = "gilbert", p = { uniform = ["1%", "2%"] }, r = 0.5 }',
        "flows.download.controller = { choice = ['lia', { name = 'uncoupled', base = 'brisk', pace = 2 }] }",
        'links.lte.delay = "30ms"',
    )
    controllers = set()
    for episode in range(20):
        values, scenario = episodes.values(3, 1, episode), episodes.draw(3, 1, episode)
        wifi, lte, download = scenario.links["wifi"], scenario.links["lte"], scenario.flows["download"]
        assert wifi.forward.rate_bps == wifi.reverse.rate_bps == values["links.wifi.rate"]
        assert f"{wifi.forward.queue.limit_pkts}pkt" == values["links.wifi.queue"]
        assert download.count == values["flows.download.count"]
        assert lte.forward.loss_model == GilbertLoss(values["links.lte.loss.p"], 0.5)
        assert lte.forward.delay_s == 0.03
        controllers.add(download.controller.name)
    assert controllers == {"lia", "uncoupled"}


def test_a_key_that_follows_another_is_a_multiple_of_it():
    episodes = draws(
        # before the value that it follows
        'links.lte.rate = { of = "links.wifi.rate", times = { choice = [0.5, 2] } }',
        "links.wifi.rate = { uniform = [1e6, 9e6] }",
        'links.wifi.loss = { choice = ["1%", "2%"] }',
        'links.lte.loss = { of = "links.wifi.loss" }',
    )
    ratios = set()
    for episode in range(20):
        links = episodes.draw(1, 0, episode).links
        ratios.add(round(rate_of(links["lte"]) / rate_of(links["wifi"]), 4))
        assert links["lte"].forward.loss == links["wifi"].forward.loss
    assert ratios == {0.5, 2.0}


def test_a_queue_holds_a_multiple_of_what_its_longest_round_trip_does():
    episodes = draws(
        'links.wifi.rate = { choice = ["12Mbit/s"] }',
        "links.wifi.queue = { bdp = 0.5 }",
        base=TWO_PATHS.replace('queue = "67pkt"', 'queue = { discipline = "codel", limit = "9pkt" }'),
    )
    # 12 Mbit/s x 100 ms = 1.2 Mbit, or 100 packets of 1500 bytes
    wifi = episodes.draw(1, 0, 0).links["wifi"]
    assert wifi.forward.queue.limit_pkts == wifi.reverse.queue.limit_pkts == 50
    assert wifi.forward.queue.discipline == "codel"


def test_the_queue_of_a_direction_goes_by_itself():
    base = TWO_PATHS + '[links.wifi.reverse]\nrate = "2.4Mbit/s"\nqueue = "5pkt"\n'
    episodes = draws("links.wifi.queue = { bdp = 1 }", base=base)
    assert [side.queue for side in _sides(episodes)] == [QueueSpec(limit_pkts=67), QueueSpec(limit_pkts=5)]
    episodes = draws("links.wifi.reverse.queue = { bdp = 1 }", base=base)
    assert [side.queue for side in _sides(episodes)] == [QueueSpec(limit_pkts=67), QueueSpec(limit_pkts=20)]


def _sides(episodes):
    wifi = episodes.draw(1, 0, 0).links["wifi"]
    return wifi.forward, wifi.reverse


def test_a_flow_of_which_no_copy_is_drawn_is_left_out_with_its_events():
    episodes = draws(
        "flows.cross.count = { choice = [0, 2] }",
        base=TWO_PATHS + CROSS + '[[events]]\nat = "5s"\nflow = "cross"\nopen = false\n',
    )
    seen = {tuple(episodes.draw(1, 0, episode).flows) for episode in range(20)}
    assert seen == {("download",), ("download", "cross")}
    for episode in range(20):
        scenario = episodes.draw(1, 0, episode)
        assert len(scenario.events) == ("cross" in scenario.flows)


def test_the_end_of_an_episode_cuts_what_comes_later():
    late = CROSS + 'start = "20s"\n[[events]]\nat = "15s"\nlink = "wifi"\nup = false\n'
    episodes = distribution("[training]", 'episode = { choice = ["10s", "90s"] }', base=TWO_PATHS + late)
    by_length = {episode.duration_s: episode for episode in (episodes.draw(1, 0, n) for n in range(10))}
    assert (list(by_length[10.0].flows), by_length[10.0].events) == (["download"], ())
    assert (list(by_length[90.0].flows), len(by_length[90.0].events)) == (["download", "cross"], 1)


def test_random_changes_come_in_their_time_and_stay_in_their_range():
    episodes = distribution(
        "[[training.events]]",
        'every = { uniform = ["3s", "10s"] }',
        'link = { choice = ["wifi", "lte"] }',
        "rate = { uniform = [1e6, 2e6] }",
    )
    for episode in range(10):
        events = episodes.draw(1, 0, episode).events
        times = [0.0, *(event.at_s for event in events)]
        gaps = [later - earlier for earlier, later in pairwise(times)]
        assert 5 <= len(events) <= 20
        assert all(3 <= gap <= 10 for gap in gaps)
        assert {event.link for event in events} == {"wifi", "lte"}
        assert all(1e6 <= (event.rate_bps or 0.0) <= 2e6 for event in events)


def test_what_is_switched_off_comes_back():
    episodes = distribution(
        "[[training.events]]", 'at = { uniform = ["5s", "50s"] }', 'lasts = "2s"', 'link = "wifi"', "up = false"
    )
    for episode in range(5):
        down, up = episodes.draw(1, 0, episode).events
        assert (down.up, up.up) == (False, True)
        assert 5 <= down.at_s <= 50
        assert up.at_s == pytest.approx(down.at_s + 2)


def test_a_row_happens_in_its_share_of_the_episodes():
    episodes = distribution("[[training.events]]", 'at = "5s"', 'link = "wifi"', "loss = 0.5", 'probability = "25%"')
    happened = sum(bool(episodes.draw(1, 0, episode).events) for episode in range(400))
    assert 66 <= happened <= 134  # 100 +- 8.7 times four


DRAWS, ROW = "[training.draws]\n", "[[training.events]]\n"
# A block, its key behind "training", and the error for it
BAD_BLOCKS = [
    ("[training]\nepisode = '0s'", ".episode", "must not be zero"),
    ("[training]\nepisode = { uniform = ['-1s', '5s'] }", ".episode", "must not be negative"),
    ("[training]\nepisodes = 5", ".episodes", 'unknown key, did you mean "episode"?'),
    ("[training]\ndraws = 5", ".draws", "this is a whole number, not a table"),
    ("training = 5", "", "this is a whole number, not a table"),
    (DRAWS + "seed = { integer = [1, 2] }", ".draws.seed", "seed is not drawn"),
    (DRAWS + "duration = '5s'", ".draws.duration", "duration is not drawn"),
    (DRAWS + "links.wfi.rate = { uniform = [1e6, 2e6] }", ".draws.links.wfi.rate", "with 1500000.0: unknown link"),
    (DRAWS + "links.wifi.loss = { uniform = [0, 3] }", ".draws.links.wifi.loss", "with 1.5: too large"),
    (DRAWS + "links.wifi.rate = { uniform = [0, 1e6] }", ".draws.links.wifi.rate", "with 0.0: must not be zero"),
    (DRAWS + "flows.download.count = { uniform = [1, 8] }", ".draws.flows.download.count", "with 4.5: not a whole"),
    (DRAWS + "flows.download.count = { integer = [0, 8] }", ".draws.flows.download.count", "with 0: flows would be"),
    (
        DRAWS + "flows.download.controller = { choice = ['lia', 'lea'] }",
        *(".draws.flows.download.controller", 'with "lea": unknown controller, did you mean "lia"?'),
    ),
    (
        DRAWS + "flows.download = { start = { uniform = ['0s', '10s'] }, stop = { uniform = ['8s', '30s'] } }",
        *(".draws.flows.download.stop", "with flows.download.start = 10.0, flows.download.stop = 8.0: the flow would"),
    ),
    (
        DRAWS + "links.lte = { rate = 'unlimited', queue = { bdp = 1 } }\nflows.download.paths = [['wifi']]",
        *(".draws.links.lte.queue", "an unlimited link holds nothing to measure its queue by"),
    ),
    (DRAWS + "links.wifi.rate = 1e6\n'links.wifi.rate' = 2e6", '.draws."links.wifi.rate"', "occurs twice"),
    (
        f"[training]\nepisode = {{ uniform = ['5s', '9s'] }}\n{DRAWS}flows.download.start = '7s'",
        *(".episode", "over before the first flow starts"),
    ),
    ("[training]\nevents = 5", ".events", "this is a whole number, not an array of tables"),
    (ROW + "link = 'wifi'\nup = false", ".events[0]", "has no time"),
    (ROW + "at = '5s'\nevery = '5s'\nlink = 'wifi'\nup = false", ".events[0]", "has both at and every"),
    (ROW + "at = { uniform = ['70s', '80s'] }\nlink = 'wifi'\nup = false", ".events[0].at", "would never happen"),
    (ROW + "every = '5ms'\nlink = 'wifi'\nloss = 0.1", ".events[0].every", "up to 12000 changes in an episode"),
    (ROW + "at = '5s'\nlasts = '1s'\nlink = 'wifi'\nrate = 1e6", ".events[0].lasts", "nothing to undo"),
    (ROW + "at = '5s'\nlink = { choice = ['wifi', 'wify'] }\nup = false", ".events[0].link", 'with "wify": unknown'),
    (
        ROW + "at = '5s'\nflow = 'download'\nsubflow = { integer = [1, 3] }\nopen = false",
        *(".events[0].subflow", 'with 3: "download" has 2 subflows'),
    ),
    (ROW + "at = '5s'\nlink = 'wifi'\nprobability = 2", ".events[0].probability", "too large"),
    (ROW + "at = '5s'\nlink = 'wifi'\nhue = 2", ".events[0].hue", "unknown key"),
    (ROW + "at = '5s'\nlink = 'wifi'", ".events[0]", "changes nothing"),
]


@for_each(("block", "key", "message"), BAD_BLOCKS)
def test_what_can_never_be_is_refused_when_the_file_is_read(block, key, message):
    is_key = block.startswith("training =")
    text = TWO_PATHS.replace("format = 1", f"format = 1\n{block}") if is_key else f"{TWO_PATHS}{block}\n"
    problem = problems_of(text)[0]
    assert (problem.key, message in problem.message) == (f"training{key}", True), problem
    assert problem.line is not None


def test_draws_can_be_set_from_the_command_line():
    text = TWO_PATHS + "[training.draws]\nlinks.wifi.rate = { uniform = [1e6, 2e6] }\n"
    scenario = read(text, "training.draws.links.wifi.rate={ uniform = [3e6, 4e6] }", "links.lte.loss=7%")
    links = Distribution.from_scenario(scenario).draw(1, 0, 0).links
    assert 3e6 <= rate_of(links["wifi"]) <= 4e6
    assert links["lte"].forward.loss == 0.07
    assert problem_of(text, "training.draws.links.wifi.rate={ uniform = [3] }").file == "--set"


def test_a_scenario_that_was_changed_has_no_distribution():
    scenario = read(TWO_PATHS + "[training.draws]\nlinks.wifi.rate = { uniform = [1e6, 2e6] }\n")
    with pytest.raises(ValueError, match="was changed after it was read"):
        Distribution.from_scenario(replace(scenario, duration_s=5.0))


def test_what_goes_together_only_sometimes_is_refused_when_it_is_drawn():
    """A start of 30 s with a stop of 20 s; the pairs that the reader tries combine each of them with another value."""
    episodes = draws(
        "flows.download.start = { choice = ['0s', '30s', '15s', '5s'] }",
        "flows.download.stop = { choice = ['40s', '20s', '50s', '60s'] }",
    )
    drawn = {number: episodes.values(1, 0, number) for number in range(50)}
    wrong = {number for number, values in drawn.items() if list(values.values()) == ["30s", "20s"]}
    assert 0 < len(wrong) < 15  # one in 16
    for number in set(drawn) - wrong:
        episodes.draw(1, 0, number)
    for number in wrong:
        with pytest.raises(ScenarioError, match=rf"\(episode {number} of environment 0 with seed 1: .*start = \"30s\""):
            episodes.draw(1, 0, number)


def test_delivery_traces_are_read_once(tmp_path):
    (tmp_path / "lte.up").write_text("1\n2\n3\n", encoding="utf-8")
    text = TWO_PATHS.replace('rate = "8Mbit/s"', 'rate = { trace = "lte.up" }')
    file = tmp_path / "traced.toml"
    file.write_text(text + "[training.draws]\nlinks.lte.rate = { uniform = [1e6, 2e6] }\n", encoding="utf-8")
    episodes = Distribution.from_scenario(load_scenario(file))
    (tmp_path / "lte.up").unlink()
    trace = episodes.draw(1, 0, 0).links["wifi"].forward.trace
    assert trace is not None
    assert trace.times_ms.tolist() == [1, 2, 3]


def test_the_largest_episode_has_as_many_subflows_as_any():
    lossy = Distribution.from_scenario(load_scenario(SCENARIOS / "train-lossy-paths.toml"))
    assert lossy.largest().flows["download"].count == 8
    assert lossy.slots("drl-cc") == 16
    one_path = draws("flows.download.paths = { choice = [[['wifi']], [['wifi'], ['lte']]] }")
    assert one_path.slots("drl-cc") == 2


def test_flows_that_arrive_count_as_often_as_they_can():
    """30 flows a minute: a Poisson number with mean 60 in two minutes, never above 60 + 6 sqrt(60) + 6 = 113."""
    text = TWO_PATHS.replace('duration = "60s"', 'duration = "120s"') + 'arrivals = { gap = "2s", lifetime = "5s" }\n'
    assert Distribution.from_scenario(read(text)).largest().flows["download"].count == 113
    limited = text.replace('lifetime = "5s"', "limit = 9")
    assert Distribution.from_scenario(read(limited)).largest().flows["download"].count == 9


@pytest.mark.parametrize("name", ["train-lossy-paths", "train-single-path"])
def test_shipped_distributions_vary(name):
    episodes = Distribution.from_scenario(load_scenario(SCENARIOS / f"{name}.toml"))
    drawn = [episodes.draw(1, env, episode) for env in range(4) for episode in range(25)]
    assert len({link.forward.rate_bps for each in drawn for link in each.links.values()}) > 90
    assert 0 < sum(bool(each.events) for each in drawn) < 100
