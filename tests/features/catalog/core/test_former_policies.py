"""Policies of runs are found by content if their names now mean other policies."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.helpers.members import for_each
from tests.helpers.present import present
from tests.helpers.shipped_policies import former_hash, former_policy, use_former, use_printed, use_shipped

from subflow_app.features.catalog.core.catalog import policy_library
from subflow_app.features.catalog.core.former_policies import former_policies, has_changed, hash_now, wide_name
from subflow_app.features.catalog.core.uses import Use, read_scenario
from subflow_app.features.explain.core.replay import Replay
from subflow_app.features.exporting.core.bundle import write_bundle
from subflow_app.features.exporting.core.verification import verify_bundle
from subflow_app.features.forking.core.origin import ForkOrigin
from subflow_app.features.running.core.policy_names import news_of_policies
from subflow_app.features.running.core.runs import RunJob
from subflow_app.foundation.errors import InputError
from subflow_app.foundation.resources import find_scenario
from subflow_app.foundation.settings import Settings, load_settings, save_settings
from subflow_sim.policy import Policy, renamed_policy
from subflow_store import Store

# Content hashes of the policies that had these names before the papers' agents got policies as printed.
FORMER = {
    "clean-slate": "6b38379d5a1b",
    "ddpg-mpcc": "bad288dd26c2",
    "dql-mptcp": "669c22fbe5a2",
    "drl-cc": "8b9a941aebac",
    "mplibra": "cd3dd08eaa67",
    "rl-explore": "1f4a9dcf3c71",
    "rl-pure": "86fd697a95f8",
}

TEXT = find_scenario("rlx-fixed").read_text(encoding="utf-8")
SHORT = TEXT.replace('duration = "15s"', 'duration = "2s"')


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store(tmp_path / "runs.db") as store:
        yield store


def run_of_before(store: Store, monkeypatch: pytest.MonkeyPatch, folder: Path) -> int:
    """A run of two seconds with "rl-explore", made by the version before."""
    with monkeypatch.context() as patch:
        use_former(patch, folder)
        return present(RunJob(read_scenario(Use.RUN, SHORT), SHORT, store=store).run().run_id)


@for_each("name", FORMER)
def test_the_wide_policies_are_the_former_ones_under_another_name(name: str) -> None:
    assert former_hash(name)[:12] == FORMER[name]
    assert Policy.from_bytes(former_policy(name)).name == name
    found = former_policies([(name, former_hash(name))], policy_library())
    if has_changed(name):
        (each,) = found
        assert (each.now, each.file.content, each.other_hash) == (
            f"{name}-wide",
            former_policy(name),
            hash_now(name, policy_library()),
        )
    else:
        assert found == ()


def test_a_renamed_policy_differs_in_its_name_alone() -> None:
    content = former_policy("rl-explore")
    other = Policy.from_bytes(renamed_policy(content, "another"))
    assert other.name == "another"
    assert {**other.document, "name": "rl-explore"} == Policy.from_bytes(content).document
    assert renamed_policy(renamed_policy(content, "another"), "rl-explore") == content


def test_names_change_only_if_their_policies_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert [wide_name(name) for name in ("rl-explore", "rl-explore-wide", "mplibra-even", "unknown")] == [
        "rl-explore-wide",
        "",
        "",
        "",
    ]
    use_former(monkeypatch, tmp_path / "before")
    assert not has_changed("rl-explore")
    use_printed(monkeypatch, tmp_path / "after")
    assert has_changed("rl-explore")
    assert not has_changed("mplibra-even")


def test_a_run_of_before_is_replayed_forked_and_bundled_with_its_policy(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_id = run_of_before(store, monkeypatch, tmp_path / "before")
    former = former_hash("rl-explore")
    use_printed(monkeypatch, tmp_path / "after")
    now = hash_now("rl-explore", policy_library())
    assert now != former

    replay = Replay.stored(store, run_id)
    assert replay.prepare()
    assert replay.is_same
    for part in (
        f'run {run_id} was made with the policy "rl-explore" of the content {former[:12]}',
        'is called "rl-explore-wide" today and is used here',
        f'The name "rl-explore" now means {now[:12]}.',
        'controller = { name = "rl-explore", policy = "rl-explore-wide" }',
    ):
        assert replay.notice.count(part) == 1

    origin = ForkOrigin.stored(store, run_id)
    (flow,) = origin.scenario.flows.values()
    assert present(flow.controller.policy).content_hash == former
    assert origin.notice == replay.notice

    summary = present(store.run(run_id).summary)
    bundle = write_bundle(store, run_id, tmp_path / "run.subflow", summary=summary, has_figures=False)
    assert verify_bundle(bundle).holds


def test_a_run_whose_policy_is_gone_is_refused_with_both_contents(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_id = run_of_before(store, monkeypatch, tmp_path / "before")
    folder = use_printed(monkeypatch, tmp_path / "after")
    (folder / "rl-explore-wide.safetensors").unlink()
    now = hashlib.sha256((folder / "rl-explore.safetensors").read_bytes()).hexdigest()
    told = f"it was {former_hash_of(store, run_id)[:12]}, and .* holds {now[:12]}; no policy here equals the former one"
    with pytest.raises(InputError, match=told):
        Replay.stored(store, run_id)


def former_hash_of(store: Store, run_id: int) -> str:
    return str(present(store.run(run_id).summary)["flows"][0]["policy"]["content_hash"])


def test_a_copy_under_another_name_serves_too(store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run_id = run_of_before(store, monkeypatch, tmp_path / "before")
    former = former_policy("rl-explore")
    folder = use_printed(monkeypatch, tmp_path / "after")
    (folder / "rl-explore-wide.safetensors").unlink()
    (folder / "my-copy.safetensors").write_bytes(former)
    replay = Replay.stored(store, run_id)
    assert replay.prepare()
    assert replay.is_same
    assert 'is called "my-copy" today' in replay.notice


def test_a_changed_name_is_told_once_on_each_computer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    use_former(monkeypatch, tmp_path / "before")
    assert news_of_policies(read_scenario(Use.RUN, TEXT), Settings())[0] == ()
    use_printed(monkeypatch, tmp_path / "after")
    scenario = read_scenario(Use.RUN, TEXT)
    (line,), settings = news_of_policies(scenario, Settings())
    assert line.startswith('Since version 0.1.0, "rl-explore" means the policy trained as its paper prints it')
    assert line.endswith('controller = { name = "rl-explore", policy = "rl-explore-wide" }')
    save_settings(settings, tmp_path / "settings.json")
    assert news_of_policies(scenario, load_settings(tmp_path / "settings.json")) == ((), settings)
    wide = read_scenario(
        Use.RUN, TEXT, overrides=['flows.download.controller={name="rl-explore",policy="rl-explore-wide"}']
    )
    assert news_of_policies(wide, Settings())[0] == ()


def test_a_policy_of_the_user_with_that_name_is_no_news(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = use_shipped(monkeypatch, tmp_path / "after")
    (folder / "rl-explore.safetensors").unlink()
    assert wide_name("rl-explore") == ""
