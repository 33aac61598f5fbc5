"""The measurement of controllers on unseen networks."""

from __future__ import annotations

import math
from collections import Counter
from pathlib import Path

import pytest
from tools import unseen

from subflow_app.features.arena.core.entrants import chosen_entrants
from subflow_sim.arena.networks import Network
from subflow_sim.whole_scenario import Scenario

NONE = {"utility": 0.0, "share": 1.0, "queue": 0.0, "loss": 0.0, "keeps": math.nan, "jain": 1.0, "goodput_bps": 1e6}


def test_ten_draws_contain_each_group_and_a_number_stays_the_same_network():
    nets = [unseen.drawn_network(number) for number in range(1, 11)]
    groups = Counter(net.family for net in nets)
    assert groups == {"clean": 2, "lossy": 2, "shallow": 2, "beside": 2, "equal": 1, "equal-lossy": 1}
    assert unseen.drawn_network(7).text == nets[6].text != unseen.drawn_network(17).text
    for net in nets:
        assert len(net.competes) == (4 if net.family.startswith("equal") else 1)
        assert net.beside == (("tcp",) if net.family == "beside" else ())
        losses = [link.forward.loss for link in net.scenario.links.values()]
        assert all(bool(loss) is net.family.endswith("lossy") for loss in losses)
    with pytest.raises(ValueError, match="is 0; allowed: 1 or more"):
        unseen.drawn_network(0)


def test_a_row_has_geometric_means_and_lowest_tenths():
    shares = [0.25] + [1.0] * 9
    figures = [("clean", {**NONE, "share": share, "queue": 0.1, "loss": 0.01}) for share in shares]
    figures += [("lossy", {**NONE, "share": 0.5})] * 2
    figures += [("beside", {**NONE, "keeps": keeps, "share": 1.5}) for keeps in (0.1, 0.9, 1.0)]
    figures += [("equal", {**NONE, "jain": 0.9}), ("alternating", {**NONE, "goodput_bps": 2e6})]
    told = dict(zip([title for title, _unit, _form in unseen._COLUMNS], unseen.row(figures), strict=True))
    assert told["clean"] == pytest.approx(0.25**0.1)
    assert told["Alone"] == pytest.approx((0.25 * 0.25) ** (1 / 12))
    assert told["queue"] == pytest.approx(0.1 * 10 / 12)
    assert told["loss"] == pytest.approx(10 / 12)
    assert (told["own"], told["keeps"], told["worst tenth"]) == (1.5, 0.9, 0.1)
    assert (told["Jain"], told["Alternating"]) == (0.9, 2.0)
    assert math.isnan(told["shallow"])


def test_the_same_command_simulates_only_what_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path = tmp_path / "there" / "unseen.jsonl"
    entrants = chosen_entrants(["lia", "bbr"])
    nets = [unseen.drawn_network(24)]
    first = unseen.measure(entrants[:1], nets, path, 1)
    [figures] = first.values()
    assert 0 < figures["share"] < 2
    assert figures["keeps"] > 0
    with path.open("a") as file:
        file.write('{"key": "cut o')
    simulated: list[str] = []

    class Pool:
        def __init__(self, _jobs: int) -> None:
            pass

        def __enter__(self) -> Pool:
            return self

        def __exit__(self, *_: object) -> None:
            pass

        def submit(self, _work: object, net: Network, _run: Scenario) -> Pool:
            simulated.append(net.name)
            return self

        def result(self) -> unseen.Figures:
            return NONE

    monkeypatch.setattr(unseen, "ProcessPoolExecutor", Pool)
    monkeypatch.setattr(unseen, "as_completed", list)
    both = unseen.measure(entrants, nets, path, 1)
    assert simulated == [nets[0].name]
    assert both[unseen.key_of(entrants[0], nets[0])] == pytest.approx(figures)
    assert unseen.read_outcomes(path).keys() == both.keys()
    assert "bbr" in [row[0] for row in unseen.table(entrants, nets, both).rows]


def test_a_wrong_entry_or_number_is_refused(capsys: pytest.CaptureFixture[str]):
    with pytest.raises(SystemExit, match="confluense"):
        unseen.main(["confluense"])
    with pytest.raises(SystemExit):
        unseen.main(["lia", "--draws", "0"])
    assert "--draws 0; allowed: 1 or more" in capsys.readouterr().err
