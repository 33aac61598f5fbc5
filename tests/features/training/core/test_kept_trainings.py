from __future__ import annotations

import threading
from dataclasses import replace
from pathlib import Path

import pytest
from tests.helpers.fake_agent import TRAINER
from tests.helpers.raising import raising

from subflow_agents import ReportKind
from subflow_app.features.training.core import kept_trainings
from subflow_app.features.training.core.kept_trainings import KeptTraining, KeptTrainings, WantedTraining, training_key
from subflow_app.features.training.core.training_folder import read_reports
from subflow_app.features.training.core.training_setup import TrainingRequest, prepare
from subflow_app.foundation.errors import TrainingError
from subflow_store import Store


def wanted(label: str = "Reno's rival", **settings: object) -> WantedTraining:
    given = {"steps": 60, "evaluation_every": 0, **settings}
    return WantedTraining(label, TrainingRequest("rl-explore", "rlx-fixed", settings=given))


def kept(tmp_path: Path, *what: WantedTraining, store: Store | None = None) -> list[KeptTraining]:
    trainings = KeptTrainings(what or (wanted(),), store, parent=tmp_path, trainer=TRAINER)
    trainings.run().check()
    return trainings.made


def steps_of(training: KeptTraining) -> list[int]:
    """Steps of all reports of metrics; steps repeated after a checkpoint count once."""
    reports = read_reports(training.folder).reports
    return sorted({each["values"]["step"] for each in reports if each.get("kind") == ReportKind.METRICS})


def test_what_has_come_to_its_end_is_not_made_again_and_every_store_gets_it(tmp_path: Path) -> None:
    with Store(tmp_path / "one.db") as store:
        (made,) = kept(tmp_path, store=store)
        assert not made.problem
        assert not made.was_there
        assert store.trainings.rows()[0].state == "finished"
    with Store(tmp_path / "two.db") as store:
        (again,) = kept(tmp_path, store=store)
        assert again.was_there
        assert again.folder == made.folder
        (row,) = store.trainings.rows()
        assert (row.name, row.state, row.steps) == ("Reno's rival", "finished", 60)

    assert steps_of(again) == list(range(1, 61))


def test_one_that_was_cut_off_goes_on_from_its_checkpoint(tmp_path: Path) -> None:
    long = wanted(steps=500)
    trainings = KeptTrainings((long,), parent=tmp_path, trainer=TRAINER)
    worker = threading.Thread(target=trainings.run)
    worker.start()
    while trainings.progress.fraction < 0.02:
        worker.join(0.02)
    trainings.stop()
    worker.join()
    assert "stopped" in trainings.made[0].problem
    assert trainings.progress.doing == "Reno's rival"

    (gone_on,) = kept(tmp_path, long)

    assert not gone_on.problem
    assert steps_of(gone_on) == list(range(1, 501))


def test_two_programs_that_need_the_same_training_make_it_once(tmp_path: Path) -> None:
    both = (wanted("First", steps=150), wanted("Common", steps=150, seed=3))
    made: list[KeptTraining] = []
    other = threading.Thread(target=lambda: made.extend(kept(tmp_path, *reversed(both))))
    other.start()

    mine = kept(tmp_path, *both)
    other.join()

    assert [each.problem for each in (*mine, *made)] == [""] * 4
    assert {each.folder for each in mine} == {each.folder for each in made}
    for each in mine:
        assert steps_of(each) == list(range(1, 151))


def test_the_key_follows_what_is_trained_and_not_where(tmp_path: Path) -> None:
    config = prepare(wanted().request, tmp_path)

    assert training_key(replace(config, folder="/elsewhere")) == training_key(config)
    assert len({training_key(each) for each in (config, replace(config, seed=2), replace(config, steps=70))}) == 3


def test_without_pytorch_what_is_there_is_still_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept(tmp_path)
    monkeypatch.setattr(
        kept_trainings, "check_torch", raising(TrainingError("training needs torch, which is not installed"))
    )
    assert kept(tmp_path)[0].was_there
    with pytest.raises(TrainingError, match="needs torch"):
        kept(tmp_path, wanted(seed=2))


def test_a_budget_of_time_alone_is_refused(tmp_path: Path) -> None:
    with pytest.raises(TrainingError, match=r"Reno's rival: .* budget of steps"):
        kept(tmp_path, wanted(steps=None, minutes=1.0))
