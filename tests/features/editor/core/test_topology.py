"""The picture shows for each link the crossing subflows with direction and plot colour."""

from __future__ import annotations

from collections.abc import Mapping

from tests.helpers.present import present

from subflow_app.features.editor.core.scenario_doc import ScenarioDoc
from subflow_app.features.editor.core.topology import Hop, TopologyPicture, picture_of
from subflow_app.vocabulary.palette import colour_keys

NETWORK = """\
format = 1
duration = "60s"
events = [
  { at = "0s", link = "direct", up = false },
  { at = "9s", flow = "multi", subflow = 2, open = false },
]
[nodes]
s = { at = [0, 0] }
r = { kind = "router" }
d = {}
[links]
first = { ends = ["s", "r"], rate = "8Mbit/s" }
second = { ends = ["d", "r"], rate = { steps = [["0s", "8Mbit/s"], ["20s", "2Mbit/s"]] } }
direct = { ends = ["s", "d"], rate = "8Mbit/s" }
spare = { ends = ["d", "s"], rate = "8Mbit/s" }
[flows]
multi = { kind = "mptcp", from = "s", to = "d", paths = [["first", "second"], ["direct"]], count = 3 }
cross = { kind = "cbr", rate = "1Mbit/s", from = "d", to = "s", paths = [["spare"]] }
"""


def picture(places: Mapping[str, tuple[float, float]] | None = None) -> TopologyPicture:
    return picture_of(present(ScenarioDoc(NETWORK).scenario), places)


def test_a_path_knows_the_direction_of_each_link() -> None:
    # `second` is declared from d to r, so data from s to d crosses it backwards.
    assert picture().paths["multi/1"].hops == (Hop("first", True), Hop("second", False))
    assert picture().paths["multi/2"].hops == (Hop("direct", True),)
    assert picture().paths["cross"].hops == (Hop("spare", True),)


def test_links_know_what_runs_over_them() -> None:
    lanes = {name: link.lanes for name, link in picture().links.items()}
    assert lanes == {"first": ("multi/1",), "second": ("multi/1",), "direct": ("multi/2",), "spare": ("cross",)}


def test_colours_are_those_of_the_plots() -> None:
    # The owners in the order of the traces, with the first of the three copies.
    keys = colour_keys(["multi.1", "multi.1/1", "multi.1/2", "cross"])

    paths = picture().paths
    assert paths["multi/1"].colour == keys["multi.1/1"]
    assert paths["multi/2"].colour == keys["multi.1/2"]
    assert paths["cross"].colour == keys["cross"]


def test_parallel_links_are_spread_and_single_ones_are_straight() -> None:
    bows = {name: link.bow for name, link in picture().links.items()}

    # Declared in opposite directions, `direct` and `spare` are still parallel.
    assert bows == {"first": 0.0, "second": 0.0, "direct": 0.5, "spare": -0.5}


def test_timed_changes_belong_to_their_link_or_path() -> None:
    shown = picture()

    assert shown.links["direct"].initially_down
    assert not shown.links["first"].initially_down
    assert [event.at_s for event in shown.links["second"].events] == [20.0]
    assert [event.at_s for event in shown.paths["multi/2"].events] == [9.0]
    assert shown.paths["multi/1"].events == ()
    assert shown.paths["multi/1"].count == 3


def test_newer_positions_win() -> None:
    places = picture({"s": (5.0, 6.0), "gone": (1.0, 1.0)}).places
    assert places["s"] == (5.0, 6.0)
    assert set(places) == {"s", "r", "d"}
    assert picture().places["s"] == (0.0, 0.0)
