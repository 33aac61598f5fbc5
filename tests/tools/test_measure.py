"""Reports of ``dev.py measure`` for each part; no test asserts a speed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot
from tools.measure import __main__ as measure
from tools.measure import learning, plots, seek, training


def test_every_module_that_measures_is_in_the_list() -> None:
    folder = Path(measure.__file__).parent
    measuring = {path.stem for path in folder.glob("*.py") if "\ndef document(" in path.read_text(encoding="utf-8")}
    assert measuring == set(measure.MEASURES)


def test_what_was_measured_is_printed_as_a_document(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(learning, "document", lambda *names: [{"name": name} for name in names])

    assert measure.main(["learning", "pause", "recipe:mine"]) == 0
    assert json.loads(capsys.readouterr().out) == [{"name": "pause"}, {"name": "recipe:mine"}]
    for wrong in (["dhrystone"], ["seek", "pause"]):
        with pytest.raises(SystemExit):
            measure.main(wrong)


def test_every_view_of_the_plots_is_measured_with_and_without_our_settings(
    qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(plots, "_FRAMES", 1)
    monkeypatch.setattr(plots, "_WARM_UP", 0)
    frames = plots.measure_plots()

    assert list(frames) == [*plots.VIEWS, plots.LIVE]
    assert all(times.ours_ms > 0 and times.plain_ms > 0 for times in frames.values())


def test_jumps_in_time_are_measured() -> None:
    figures = seek.measure_seek(duration_s=2.0, seeks=5)
    assert [figure.name for figure in figures] == ["fast", "t-10b", "heavy"]
    for figure in figures:
        assert figure.crossings > 0
        assert figure.states >= 1
        assert 0 <= figure.median_ms <= figure.p95_ms <= figure.worst_ms


def test_figures_of_learning_are_measured_beside_their_targets(monkeypatch: pytest.MonkeyPatch) -> None:
    assert 0 < learning.decision_time_s("none", 2, observations=50, rounds=2) < 1e-3
    assert 0 < learning.decision_time_s("lstm", 10, observations=50, rounds=2) < 1e-3

    def figure(name: str, value: float = 7.5, *, is_limit: bool = True) -> learning.LearningFigure:
        return learning.LearningFigure(name, "so it is", value, "us", 5.0, is_limit)

    assert [figure("x", value).is_met for value in (4.0, 5.0, 6.0)] == [True, True, False]
    assert [figure("x", value, is_limit=False).is_met for value in (4.0, 5.0, 6.0)] == [False, True, True]
    monkeypatch.setattr(learning, "FIGURES", {name: lambda name=name: figure(name) for name in learning.FIGURES})
    monkeypatch.setattr(training, "measure", figure)
    monkeypatch.setattr(training, "recipes_on_cards", lambda: [figure("recipe:mine", 2.0)])
    told = learning.document()
    assert [one["name"] for one in told] == [*learning.FIGURES, "pause", "checkpoint", "recipe:mine"]
    assert [one["is_met"] for one in told] == [*[False] * (len(told) - 1), True]
    assert [one["name"] for one in learning.document("pause")] == ["pause"]
    with pytest.raises(SystemExit, match="policy_lstm"):
        learning.document("dhrystone")
