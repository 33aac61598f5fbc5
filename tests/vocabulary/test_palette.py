"""Colours: the same owner has the same colour everywhere, and different owners have distinguishable colours."""

from __future__ import annotations

import itertools
import math

import pytest
from tests.helpers.members import for_each

from subflow_app.vocabulary.palette import HUES, TOTAL, ColourKey, colour_keys, dash, hex_colour, link_colour_keys


def rgb(colour: str) -> tuple[int, ...]:
    return tuple(int(colour[i : i + 2], 16) for i in (1, 3, 5))


def test_each_subflow_has_its_own_hue_and_a_flow_of_several_is_neutral() -> None:
    keys = colour_keys(["download", "download/1", "download/2", "cross", "cross/1", "noise"])

    assert keys["download"].hue == TOTAL
    # A single subflow represents its flow.
    assert keys["cross"] == keys["cross/1"]
    assert [keys[owner].hue for owner in ("download/1", "download/2", "cross/1", "noise")] == [0, 1, 2, 3]


def test_subflows_listed_after_all_flows_get_the_hues_of_the_topology() -> None:
    # Traces name flows first; the ribbons of the topology are drawn flow by flow.
    of_traces = colour_keys(["download", "call", "download/1"])
    of_topology = colour_keys(["download/1", "call"])

    assert {owner: of_traces[owner] for owner in of_topology} == of_topology


def test_instances_of_a_flow_share_the_hue_of_their_path_in_different_shades() -> None:
    keys = colour_keys([f"mp.{n}{part}" for n in (1, 2, 3) for part in ("", "/1", "/2")])

    assert {keys[f"mp.{n}/1"].hue for n in (1, 2, 3)} == {0}
    assert {keys[f"mp.{n}/2"].hue for n in (1, 2, 3)} == {1}
    assert len({hex_colour(keys[f"mp.{n}/1"]) for n in (1, 2, 3)}) == 3


def test_first_instance_has_the_pure_hue_so_that_the_ribbon_of_a_path_matches_it() -> None:
    assert hex_colour(colour_keys(["mp.1/1", "mp.2/1"])["mp.1/1"]) == HUES[0]


@pytest.mark.parametrize("dark", [False, True])
def test_colours_of_two_rounds_through_the_hues_are_all_different(dark: bool) -> None:
    owners = [f"flow{n}/1" for n in range(2 * len(HUES))]
    colours = [rgb(hex_colour(key, dark=dark)) for key in colour_keys(owners).values()]

    # 25 of 442 (the distance of black and white): smaller distances are hard to distinguish.
    assert all(math.dist(one, other) > 25 for one, other in itertools.combinations(colours, 2))


def test_neutral_colour_of_totals_contrasts_with_the_background() -> None:
    key = colour_keys(["download", "download/1", "download/2"])["download"]

    assert max(rgb(hex_colour(key))) < 40
    assert min(rgb(hex_colour(key, dark=True))) > 215


def test_both_directions_of_a_link_share_its_hue() -> None:
    keys = link_colour_keys(["wifi/forward", "wifi/reverse", "lte/forward", "lte/reverse"])

    assert keys["wifi/forward"].hue == keys["wifi/reverse"].hue == 0
    assert keys["lte/forward"].hue == 1
    assert hex_colour(keys["wifi/forward"]) != hex_colour(keys["wifi/reverse"])


def test_first_run_is_solid_and_the_next_four_have_different_dashes() -> None:
    assert dash(0) == ()
    assert len({dash(run) for run in range(5)}) == 5
    # Only on-off pairs, otherwise the pattern would invert itself from one repetition to the next.
    assert all(len(dash(run)) % 2 == 0 for run in range(5))


@for_each("hue", range(7))
@for_each("shade", range(7))
def test_every_shade_stands_out_on_a_dark_background(hue: int, shade: int) -> None:
    def luminance(colour: tuple[int, ...]) -> float:
        parts = [c / 255 / 12.92 if c / 255 <= 0.04045 else ((c / 255 + 0.055) / 1.055) ** 2.4 for c in colour]
        return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]

    # WCAG 1.4.11 requires 3:1 between a line and its background, here the base colour of the dark window.
    ground = luminance((0x17, 0x1A, 0x1F))
    assert (luminance(rgb(hex_colour(ColourKey(hue, shade), dark=True))) + 0.05) / (ground + 0.05) >= 3.0
