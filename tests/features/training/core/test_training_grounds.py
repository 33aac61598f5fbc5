"""The networks of a training in words, from the form and from a config."""

from __future__ import annotations

from dataclasses import replace

import pytest

from subflow_agents import TrainingConfig
from subflow_app.features.training.core.training_grounds import (
    TrainingGrounds,
    draw_lines,
    grounds_lines,
    grounds_of,
    grounds_text,
)
from subflow_app.features.training.core.training_setup import load_recipe, prepare, recipe_names, request_of

DRAWN = """
[training]
episode = { uniform = ["5s", "9s"] }
[training.draws]
links.wifi.rate = { log_uniform = ["2Mbit/s", "16Mbit/s"] }
links.wifi.queue = { bdp = { uniform = [0.5, 1.5] } }
"links.lte.rate" = { of = "links.wifi.rate", times = 2 }
flows.download.count = { integer = [2, 6] }
flows.tcp.start = { choice = ["0s", "29s"] }
[[training.events]]
at = { uniform = ["5s", "20s"] }
link = "wifi"
up = false
"""
ALONE = TrainingGrounds("Two paths")


def test_each_draw_is_a_line() -> None:
    assert draw_lines(DRAWN) == [
        "links.wifi.rate: 2Mbit/s to 16Mbit/s, logarithmic",
        "links.wifi.queue: bandwidth-delay product × 0.5 to 1.5",
        "links.lte.rate: 2 × links.wifi.rate",
        "flows.download.count: 2 to 6",
        "flows.tcp.start: 0s or 29s",
        "length of an episode: 5s to 9s",
        "random event: at 5s to 20s, link wifi, up false",
    ]
    assert draw_lines("") == draw_lines("no [ toml") == draw_lines("training = 3") == []


@pytest.mark.parametrize(
    ("grounds", "said"),
    [
        (ALONE, "All episodes are on “Two paths”, each with new random numbers."),
        (replace(ALONE, text=DRAWN), "All episodes are on “Two paths” with these draws."),
        (
            replace(ALONE, text=DRAWN, families=("all",), families_share=0.5),
            "Half of the episodes are on networks of all 20 families of the arena, half on “Two paths” with these "
            "draws.",
        ),
        (
            replace(ALONE, families=("lossy", "walk"), families_share=0.12),
            "12 % of the episodes are on networks of the arena (lossy, walk), 88 % on “Two paths”, each with new "
            "random numbers.",
        ),
        (
            replace(ALONE, families=("walk",), families_share=1.0),
            "All episodes are on networks of the arena (walk). “Two paths” only serves for evaluations.",
        ),
        (
            replace(ALONE, families=("all",), families_share=0.4, options={"draws": "wide"}),
            "60 % on networks that the agent draws (draws = wide).",
        ),
        (
            replace(ALONE, text=DRAWN, families=("all",), families_share=0.4, options={"mode": "offline_log"}),
            "Learns from a log of monitor intervals, recorded on “Two paths” before it begins.",
        ),
    ],
)
def test_the_text_gives_every_kind_of_network_with_its_share(grounds: TrainingGrounds, said: str) -> None:
    assert said in grounds_text(grounds)
    uses_draws = "these draws" in said
    assert (len(grounds_lines(grounds)) > 1) == uses_draws
    assert not uses_draws or grounds_lines(grounds, 2)[-1] == "and 5 more"


def test_shipped_recipes_have_the_same_grounds_in_form_and_training() -> None:
    for name in recipe_names():
        config = prepare(request_of(load_recipe(name)), "folder")
        grounds = grounds_of(config)
        assert TrainingConfig.from_json(config.to_json()) == config
        text = grounds_text(grounds)
        assert ("log of monitor intervals" in text) == (grounds.options.get("mode") == "offline_log"), name
        every = "20 families" in text
        assert every == (config.families == ("all",)), name
        assert ("networks of the arena (" in text) == (bool(config.families) and not every and "log of" not in text), (
            name
        )
