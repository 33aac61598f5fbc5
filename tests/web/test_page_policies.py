"""A page contains the policies of its runs: it is imported with them, and damaged or forged ones are refused."""

from __future__ import annotations

import base64
import gzip
import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.helpers.pages import data_of, with_data
from tests.helpers.policies import make_plan, write_random_policy
from tests.web.conftest import SCENARIO

from subflow_app.features.catalog.core.uses import Use
from subflow_app.features.editor.core.scenario_source import open_scenario
from subflow_app.features.exporting.core import page_import
from subflow_app.features.exporting.core.page_import import read_page
from subflow_app.features.exporting.core.web_page import write_page
from subflow_app.features.running.core.runs import RunJob
from subflow_app.foundation.errors import InputError
from subflow_app.foundation.paths import policy_folder
from subflow_store import open_store

LEARNED = SCENARIO.replace('"lia"', '{ name = "confluence", policy = "beside.safetensors" }').replace('"8s"', '"7s"')


@pytest.fixture
def learned(tmp_path: Path) -> Path:
    """The page of a run whose scenario and policy are deleted."""
    beside, scenario = tmp_path / "beside.safetensors", tmp_path / "learned.toml"
    write_random_policy(beside, make_plan("confluence"), seed=2)
    scenario.write_text(LEARNED, encoding="utf-8")
    source = open_scenario(str(scenario), use=Use.RUN)
    with open_store(":memory:") as store:
        run_id = RunJob(source.scenario, source.text, store=store).run().run_id
        assert run_id is not None
        page = write_page(store, [run_id], tmp_path / "page.html")
    beside.unlink()
    scenario.unlink()
    return page


def forged(page: Path, change: Callable[[Any], object]) -> Path:
    """The page with another document."""
    text = page.read_text(encoding="utf-8")
    data = data_of(text)
    change(data)
    page.write_text(with_data(text, data), encoding="utf-8")
    return page


def packed(content: bytes) -> str:
    return base64.b64encode(gzip.compress(content)).decode()


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda data: data.update(policies=[packed(b"no policy")]), "its scenario is not usable: .*policy-"),
        (lambda data: data.update(policies=[packed(b"")]), "its scenario is not usable: .*policy-"),
        (lambda data: data.update(policies=["AAAA"]), "a damaged page: its policies cannot be unpacked"),
        (lambda data: data.update(policies=[data["policies"][0][:400]]), "a damaged page: its policies end too early"),
        (lambda data: data.update(policies=[]), "a damaged page: "),
        (lambda data: data.update(policies=7), "a damaged page: "),
        (lambda data: data["runs"][0].update(policies=7), "a damaged page: "),
        (lambda data: data["runs"][0].update(policies={"x": "y"}), "a damaged page: "),
        (lambda data: data["runs"][0].pop("policies"), "its scenario is not usable: .*no policy of that name"),
    ],
)
def test_a_damaged_or_forged_policy_is_refused(learned: Path, change: Callable[[Any], object], told: str) -> None:
    with pytest.raises(InputError, match=told):
        read_page(forged(learned, change)).scenario()
    assert not policy_folder().exists()


def test_another_policy_of_the_same_kind_is_another_scenario(learned: Path, tmp_path: Path) -> None:
    """Forged content gets another name, so it never replaces the policy of the run."""
    before = read_page(learned).scenario()
    other = tmp_path / "other.safetensors"
    write_random_policy(other, make_plan("confluence"), seed=5)
    after = read_page(forged(learned, lambda data: data.update(policies=[packed(other.read_bytes())]))).scenario()
    assert before.policies.keys() != after.policies.keys()
    (name,) = after.policies
    assert name == f"policy-{hashlib.sha256(other.read_bytes()).hexdigest()[:12]}"
    assert name in after.text


def test_all_policies_of_a_page_share_one_limit(learned: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (content,) = read_page(learned).policies
    monkeypatch.setattr(page_import, "MAX_POLICY_BYTES", 2 * len(content))
    forged(learned, lambda data: data.update(policies=data["policies"] * 2))
    assert len(read_page(learned).policies) == 2
    forged(learned, lambda data: data["policies"].append(packed(b"bomb" * 100_000)))
    limit = 2 * len(content) / 1e6
    with pytest.raises(InputError, match=rf"its policies end too early, or take more than {limit:g} MB"):
        read_page(learned)
