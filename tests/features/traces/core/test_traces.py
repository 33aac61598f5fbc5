"""Labels of the owners of traces."""

from __future__ import annotations

from tests.helpers.fake_simulation import make_flow, make_scenario
from tests.helpers.members import for_each

from subflow_app.features.traces.core.traces import owner_label
from subflow_sim.scenario import Arrivals


@for_each(
    ("owner", "label"),
    [
        ("wifi/forward", "wifi client→server"),
        ("wifi/reverse", "wifi server→client"),
        ("download.2", "download.2"),
        ("download.2/1", "download.2 · wifi"),
        ("twice/2", "twice · lte #2"),
        ("noise", "noise"),
        ("visit.17/2", "visit.17 · lte"),
        # not in this scenario: they label themselves
        ("download.4/1", "download.4/1"),
        ("download/1", "download/1"),
        ("twice/3", "twice/3"),
        ("other/1", "other/1"),
        ("wire/forward", "wire/forward"),
    ],
)
def test_owners_are_called_by_their_paths(owner: str, label: str) -> None:
    scenario = make_scenario(
        make_flow("download", count=3),
        make_flow("twice", paths=("lte", "lte")),
        make_flow("noise", "onoff", ("wifi",)),
        make_flow("visit", arrivals=Arrivals(1.0)),
    )
    assert owner_label(scenario, owner) == label
