from __future__ import annotations

import json
from dataclasses import dataclass

import pytest
from tests.helpers.members import for_each

from subflow_agents.config import FIRST_EVALUATION_SEED, TrainingConfig
from subflow_agents.errors import ConfigError
from subflow_agents.options import choice, flag, integer, number, options_of, read_options
from subflow_agents.reports import METRICS, Report, ReportKind


def config(**changes) -> TrainingConfig:
    return TrainingConfig(**{"agent": "drl-cc", "scenario": "format = 1", "steps": 100, "folder": "out", **changes})


def test_a_training_is_the_same_after_a_way_through_json() -> None:
    before = config(options={"gamma": 0.9}, minutes=2.5, overrides=("links.a.loss=1%",), resume=True)

    after = TrainingConfig.from_json(json.loads(json.dumps(before.to_json())))

    assert after == before


@for_each(
    ("changes", "key"),
    [
        ({"steps": None}, "budget"),
        ({"steps": 0}, "steps"),
        ({"minutes": float("nan")}, "minutes"),
        ({"num_envs": 0}, "num_envs"),
        ({"threads": 0}, "threads"),
        ({"seed": FIRST_EVALUATION_SEED}, "seed"),
        ({"episode_s": 0.0}, "episode_s"),
        ({"evaluation_every": -1}, "evaluation_every"),
        ({"evaluation_seeds": (7,)}, "evaluation_seeds"),
        ({"evaluation_seeds": ()}, "evaluation_seeds"),
        ({"checkpoint_minutes": 0.0}, "checkpoint_minutes"),
        ({"report_every": -1}, "report_every"),
        ({"families_share": 0.0}, "families_share"),
        ({"validation_networks": -1}, "validation_networks"),
        ({"folder": ""}, "folder"),
    ],
)
def test_what_no_training_can_be_is_refused_by_name(changes: dict, key: str) -> None:
    with pytest.raises(ConfigError) as caught:
        config(**changes)
    assert caught.value.key == key


@for_each(
    "document",
    [
        {"agent": "drl-cc"},
        {"agent": 1, "scenario": "", "steps": 1, "folder": "x"},
        {"agent": "drl-cc", "scenario": "", "steps": True, "folder": "x"},
        {"agent": "drl-cc", "scenario": "", "steps": 1.5, "folder": "x"},
        {"agent": "drl-cc", "scenario": "", "steps": 1, "folder": "x", "baselines": "lia"},
        {"agent": "drl-cc", "scenario": "", "steps": 1, "folder": "x", "evaluation_seeds": ["1"]},
        {"agent": "drl-cc", "scenario": "", "steps": 1, "folder": "x", "colour": "red"},
    ],
)
def test_a_document_that_is_no_training_is_refused(document: dict) -> None:
    with pytest.raises(ConfigError):
        TrainingConfig.from_json(document)


@dataclass(frozen=True)
class Options:
    gamma: float = number(0.9, "Discount.", "section 5.1", minimum=0, maximum=1)
    batch: int = integer(64, "Minibatch.", "section 5.1", minimum=1, maximum=4096)
    double: bool = flag(False, "Twin critics.", "TD3")
    encoder: str = choice("lstm", "Encoder.", "section 5.1", choices=("lstm", "pool"))


def test_options_know_their_kind_bounds_and_source() -> None:
    specs = {spec.name: spec for spec in options_of(Options)}

    assert list(specs) == ["gamma", "batch", "double", "encoder"]
    assert (specs["gamma"].minimum, specs["gamma"].maximum, specs["gamma"].source) == (0, 1, "section 5.1")
    assert specs["encoder"].choices == ("lstm", "pool")


def test_options_replace_defaults() -> None:
    assert read_options(Options, {"batch": 32.0, "double": True}) == Options(batch=32, double=True)


@for_each(
    ("values", "says"),
    [
        ({"gamma": 1.5}, "from 0 to 1"),
        ({"gamma": float("nan")}, "out of range"),
        ({"gamma": "0.9"}, "not a number"),
        ({"gamma": True}, "not a number"),
        ({"batch": 3.5}, "not a whole number"),
        ({"double": 1}, "neither true nor false"),
        ({"encoder": "gru"}, "lstm, pool"),
        ({"depth": 3}, "unknown option"),
    ],
)
def test_an_option_out_of_place_is_refused_with_what_is_allowed(values: dict, says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        read_options(Options, values)


def test_metrics_are_named_once_and_reports_are_json() -> None:
    assert len({metric.name for metric in METRICS}) == len(METRICS)
    report = Report(ReportKind.METRICS, {"step": 5})
    assert json.loads(json.dumps(report.to_json())) == {"kind": "metrics", "values": {"step": 5}}
