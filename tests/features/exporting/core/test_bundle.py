"""The verification of a bundle accepts unchanged files and reports each change."""

from __future__ import annotations

import hashlib
import json
import shutil
import zipfile
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from tests.helpers.members import for_each
from tests.helpers.present import present

from subflow_app.features.catalog.core.catalog import app_catalog
from subflow_app.features.exporting.core.bundle import CrateFile, crate_text, write_bundle
from subflow_app.features.exporting.core.verification import verify_bundle
from subflow_app.features.running.core.runs import RunJob, RunResult
from subflow_app.foundation.citation import citation_cff, citation_text
from subflow_app.foundation.confirmation import Confirmation
from subflow_app.foundation.errors import InputError
from subflow_app.foundation.resources import resource_path
from subflow_sim import parse_scenario
from subflow_store import Store, open_store

SCENARIO = """\
format = 1
name = "A path of its own"
duration = "4s"
nodes = {{ a = {{}}, b = {{}} }}
links.one = {{ ends = ["a", "b"], rate = "5Mbit/s", delay = "10ms", loss = "0.5%" }}
[flows]
learned = {{ kind = "tcp", from = "a", to = "b", controller = {{ name = "rl-explore", policy = "{policy}" }} }}
"""


Change = Callable[[dict[str, bytes]], object]
# Verdicts on the texts of an unchanged bundle
TEXTS = {
    **dict.fromkeys(("README.txt", "CITATION.cff", "ro-crate-metadata.json"), "same"),
    "name of the run": "not compared",
}


@pytest.fixture(scope="module")
def store() -> Store:
    return open_store(":memory:")


@pytest.fixture(scope="module")
def policy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A policy that exists only on the machine of the run."""
    path = tmp_path_factory.mktemp("policies") / "mine.safetensors"
    shutil.copy(resource_path("agents/rl-explore.safetensors"), path)
    return path


def stored(store: Store, policy: str, name: str) -> RunResult:
    text = SCENARIO.format(policy=policy)
    return RunJob(parse_scenario(text, algorithms=app_catalog()), text, seed=7, store=store, name=name).run()


@pytest.fixture(scope="module")
def bundle(store: Store, policy: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    result = stored(store, policy.as_posix(), "mine")
    path = tmp_path_factory.mktemp("bundles") / "run.subflow.zip"
    write_bundle(store, present(result.run_id), path, summary=result.summary)
    policy.unlink()  # as on another machine
    return path


def files_of(bundle: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(bundle) as archive:
        return {info.filename: archive.read(info) for info in archive.infolist()}


def changed(bundle: Path, target: Path, change: Change) -> Path:
    """A copy of the bundle with changed files."""
    files = files_of(bundle)
    change(files)
    with zipfile.ZipFile(target, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return target


def forged(run: Mapping[str, Any], **replaced: bytes) -> Change:
    """Changes the description of the run in the manifest and the files that it lists, with matching checksums."""

    def change(files: dict[str, bytes]) -> None:
        names = {name.replace("__", "."): content for name, content in replaced.items()}
        files.update(names)
        manifest = json.loads(files["manifest.json"])
        manifest["run"].update(run)
        manifest["files"].update({name: hashlib.sha256(content).hexdigest() for name, content in names.items()})
        files["manifest.json"] = json.dumps(manifest).encode()

    return change


def test_a_bundle_is_verified_without_the_files_that_the_run_was_made_with(bundle: Path) -> None:
    found = verify_bundle(bundle)
    assert found.outcome is Confirmation.CONFIRMED
    assert found.seed == 7
    assert {check.what: check.verdict for check in found.checks} == {
        "signature": "same",
        "figures": "same",
        "traces/subflows.csv": "same",
        "traces/flows.csv": "same",
        "traces/links.csv": "same",
        "traces/marks.csv": "same",
        "traces/agent_steps.csv": "same",
        "traces/agents.json": "not compared",  # policies have other names in a bundle
        **{f"figures/{name}.svg": "same" for name in ("throughput", "cwnd", "rtt", "queue")},
        **TEXTS,
    }
    assert {f"figures/{name}.svg" for name in ("throughput", "cwnd", "rtt", "queue")} < set(files_of(bundle))


def test_a_light_bundle_leaves_out_what_the_simulation_gives_again(store: Store, bundle: Path, tmp_path: Path) -> None:
    result = stored(store, "rl-explore", "light")
    whole, light = (
        write_bundle(
            store, present(result.run_id), tmp_path / f"{name}.subflow.zip", summary=result.summary, is_light=is_light
        )
        for name, is_light in (("whole", False), ("light", True))
    )
    names = set(files_of(light))
    assert [name for name in names if name.startswith(("traces/", "figures/"))] == ["figures/throughput.svg"]
    assert names < set(files_of(whole))
    assert light.stat().st_size < whole.stat().st_size - 10_000
    assert "samples of traces/" not in files_of(light)["README.txt"].decode()
    found = verify_bundle(light)
    assert found.outcome is Confirmation.CONFIRMED
    verdicts = {check.what: check.verdict for check in found.checks}
    assert verdicts == {"signature": "same", "figures": "same", "figures/throughput.svg": "same", **TEXTS}
    changed_light = changed(light, tmp_path / "changed.zip", forged({"signature": "0123456789abcdef"}))
    assert verify_bundle(changed_light).outcome is Confirmation.CONTRADICTED


def test_a_bundle_says_what_is_in_it_and_how_to_cite_the_program(bundle: Path) -> None:
    files = files_of(bundle)
    assert files["CITATION.cff"].decode() == citation_cff()
    readme = files["README.txt"].decode()
    assert citation_text() in readme
    signature = json.loads(files["manifest.json"])["run"]["signature"]
    assert f"the signature {signature}" in readme
    assert all(badge in readme for badge in ("Available ", "Functional ", "Reusable ", "Results reproduced "))

    crate = json.loads(files["ro-crate-metadata.json"])
    entities = {each["@id"]: each for each in crate["@graph"]}
    # Every term outside the specification is defined.
    assert crate["@context"] == ["https://w3id.org/ro/crate/1.1/context", {"sha256": "https://schema.org/sha256"}]
    listed = {name: each for name, each in entities.items() if each["@type"] == "File"}
    assert set(listed) == set(files) - {"ro-crate-metadata.json"} == {each["@id"] for each in entities["./"]["hasPart"]}
    for name in set(listed) - {"manifest.json"}:
        assert listed[name]["sha256"] == hashlib.sha256(files[name]).hexdigest()
        assert listed[name]["contentSize"] == str(len(files[name]))
    making = entities["#making"]
    inputs = {each["@id"] for each in making["object"]}
    assert inputs == {name for name in files if name == "scenario.toml" or name.startswith("policies/")}
    assert entities[making["instrument"]["@id"]]["license"] == "https://spdx.org/licenses/MIT"
    # Every entity that is referred to exists.
    referred = [value["@id"] for each in entities.values() for value in each.values() if isinstance(value, dict)]
    assert set(referred) - set(entities) == {"https://w3id.org/ro/crate/1.1"}


def test_a_crate_tells_a_single_input_without_a_list_around_it() -> None:
    # Required by the specification and checked by its validator.
    others = (CrateFile("b.csv", b"", "One"), CrateFile("c", None, "Two"))
    files = [CrateFile("a.toml", b"", "Input", is_input=True), *others]
    text = crate_text(files, title="T", about="A.", command="c", made_at=datetime(2026, 1, 1, tzinfo=UTC))
    (making,) = (each for each in json.loads(text)["@graph"] if each["@id"] == "#making")
    assert making["object"] == {"@id": "a.toml"}
    assert making["result"] == [{"@id": "b.csv"}, {"@id": "c"}]


def test_a_run_that_comes_out_otherwise_is_told(bundle: Path, tmp_path: Path) -> None:
    found = verify_bundle(changed(bundle, tmp_path / "other.zip", forged({"seed": 8})))
    assert found.outcome is Confirmation.CONTRADICTED
    different = {check.what for check in found.checks if check.verdict == "different"}
    assert {"signature", "figures", "traces/subflows.csv"} <= different


@pytest.mark.parametrize(("change", "verdict"), [(None, "same"), (5.0, "different")])
def test_an_older_bundle_may_tell_less_of_its_flows(
    bundle: Path, tmp_path: Path, change: float | None, verdict: str
) -> None:
    summary = json.loads(files_of(bundle)["summary.json"])
    for flow in summary["flows"]:
        del flow["size_bytes"], flow["packets_acked"]
        flow["goodput_bps"] = flow["goodput_bps"] if change is None else change
    older = forged({}, summary__json=json.dumps(summary).encode())

    found = verify_bundle(changed(bundle, tmp_path / "older.zip", older))
    assert {check.what: check.verdict for check in found.checks}["figures"] == verdict


@for_each(
    ("forge", "told"),
    [
        (forged({"version": "0.0.9", "signature": "0" * 16}), "another version made it"),
        (forged({}, scenario__toml=b"nonsense"), "not all of it could be compared"),
        (forged({}, summary__json=b"{}"), "not all of it could be compared"),
    ],
)
def test_what_cannot_be_compared_is_not_confirmed(bundle: Path, tmp_path: Path, forge: Change, told: str) -> None:
    found = verify_bundle(changed(bundle, tmp_path / "forged.zip", forge))
    assert found.outcome is Confirmation.NOT_CONFIRMED
    assert told in found.reason


def _without(name: str) -> Change:
    return lambda files: files.pop(name)


def _with(name: str, content: bytes) -> Change:
    return lambda files: files.update({name: content})


def _manifest(**given: Any) -> Change:
    def change(files: dict[str, bytes]) -> None:
        files["manifest.json"] = json.dumps({**json.loads(files["manifest.json"]), **given}).encode()

    return change


@for_each(
    ("change", "told"),
    [
        (_without("manifest.json"), "not a bundle of a run"),
        (_without("scenario.toml"), "scenario.toml is missing"),
        (_with("summary.json", b"{}"), "summary.json was changed"),
        (_with("../../etc/passwd", b"x"), "passwd is not in the manifest"),
        (_manifest(format=2), "format 2"),
        (_manifest(kind="holiday pictures"), "not a bundle of a run"),
        (_manifest(run={"seed": "many"}), "not a bundle of a run"),
    ],
)
def test_what_is_wrong_with_a_bundle_is_named(bundle: Path, tmp_path: Path, change: Change, told: str) -> None:
    with pytest.raises(InputError, match=told):
        verify_bundle(changed(bundle, tmp_path / "bad.zip", change))


def test_a_scenario_is_too_large_by_what_is_no_recording(bundle: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("subflow_app.features.exporting.core.verification.MOST_TEXT_BYTES", 100)
    with pytest.raises(InputError, match=r"scenario\.toml is larger than 0\.1 kB without its recordings"):
        verify_bundle(bundle)


def test_files_that_are_no_archive_are_refused(bundle: Path, tmp_path: Path) -> None:
    path = tmp_path / "half.zip"
    path.write_bytes(bundle.read_bytes()[:5000])
    with pytest.raises(InputError, match="cut off"):
        verify_bundle(path)
    with pytest.raises(InputError, match="no such file"):
        verify_bundle(tmp_path / "none.zip")


def test_the_same_run_gives_the_same_bytes(store: Store, tmp_path: Path) -> None:
    run_id = present(stored(store, "rl-explore", "shipped").run_id)
    first, second = tmp_path / "1.zip", tmp_path / "2.zip"
    for path in (first, second):
        write_bundle(store, run_id, path, summary={}, has_figures=False)
    assert first.read_bytes() == second.read_bytes()
    assert "policies/rl-explore.safetensors" in files_of(first)
