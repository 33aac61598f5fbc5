"""Ten forgeries of a result or a bundle, one of each kind: none of them is confirmed."""

from __future__ import annotations

import csv
import hashlib
import json
import zipfile
from collections.abc import Callable
from copy import deepcopy
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.helpers.command_line import Subflow
from tests.helpers.labs import SAWTOOTH_LAB, sign_anew, small_lab
from tests.helpers.members import for_each

from subflow_app.features.labs.core.lab import Lab
from subflow_app.features.labs.core.result_file import result_document
from subflow_app.features.labs.core.runner import LabRunner
from subflow_store import open_store

LAB = SAWTOOTH_LAB.replace(
    '[[steps]]\nid = "end"\n',
    '[[steps]]\nid = "sweep"\ncheck = "sweep_points() >= 2"\n'
    'do = ["sweep links.bottleneck.queue=17pkt,42pkt seeds=1..1"]\n\n[[steps]]\nid = "end"\n',
).replace("## Done {#end}", "## Sweep {#sweep}\nSweep.\n\n## Done {#end}")

Document = dict[str, Any]


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Lab:
    return small_lab(tmp_path_factory.mktemp("lab"), LAB)


@pytest.fixture(scope="module")
def honest(lab: Lab, tmp_path_factory: pytest.TempPathFactory) -> Document:
    """The result of a student who did all steps."""
    with open_store(":memory:") as store:
        runner = LabRunner(lab, store, tmp_path_factory.mktemp("scratch"))
        for step in lab.steps:
            assert runner.carry_out(step) == ""
        progress = runner.session.progress
        evidence = runner.session.reader(store).read("", progress.step_runs())
        return result_document(lab, progress, evidence, "Ada")


def verdict(subflow: Subflow, lab: Lab, document: Document, folder: Path) -> tuple[int, str]:
    path = folder / "result.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    answer = subflow("labs", "verify", path, "--lab", lab.path)
    return answer.code, answer.out + answer.err


def test_the_honest_result_is_confirmed(subflow: Subflow, lab: Lab, honest: Document, tmp_path: Path) -> None:
    code, text = verdict(subflow, lab, honest, tmp_path)
    assert code == 0, text


def step(document: Document, name: str) -> Document:
    return next(each for each in document["steps"] if each["id"] == name)


def sweep_points(document: Document) -> None:
    document["sweeps"] = [{"points": 99, "runs": [document["runs"][0]["number"]]}]


def scenario(document: Document) -> None:
    """Runs of three seconds, with signatures that are right for them."""
    from subflow_app.features.running.core.runs import RunJob
    from subflow_sim.scenario import parse_scenario

    for run in document["runs"]:
        run["scenario"] = run["scenario"].replace('duration = "30s"', 'duration = "3s"').replace('warmup = "5s"', "")
        made = parse_scenario(run["scenario"])
        result = RunJob(made, run["scenario"], seed=run["seed"], sample_interval_s=run["sample_interval_s"]).run()
        run["signature"] = result.signature
        run["scenario_hash"] = hashlib.sha256(run["scenario"].encode()).hexdigest()


def curve(document: Document) -> None:
    step(document, "draw")["prediction"]["came"] = 0.5


def signature(document: Document) -> None:
    document["runs"][0]["signature"] = "0123456789abcdef"


def identity(document: Document) -> None:
    document["student"] = "Zoe\n/results/bob.json: CONFIRMED: Bob"
    document["passed"] = 99


@for_each(
    ("forge", "told"),
    [
        (sweep_points, "a sweep reports 99 points, but its runs have 1 setting"),
        (scenario, "differs from the lab in duration"),
        (curve, "the file reports that the drawn curve is off by 0.5"),
        (signature, "its signature 0123456789abcdef came out as"),
        (identity, "the file reports 99 of"),
    ],
    ids=["sweep points", "scenario", "curve", "signature", "identity"],
)
def test_a_forged_result_is_not_confirmed(
    subflow: Subflow, lab: Lab, honest: Document, tmp_path: Path, forge: Callable[[Document], None], told: str
) -> None:
    document = deepcopy(honest)
    forge(document)
    sign_anew(document)
    code, text = verdict(subflow, lab, document, tmp_path)
    assert code in (1, 3)
    assert told in text
    assert not [line for line in text.splitlines() if "CONFIRMED: Bob" in line and not line.startswith(str(tmp_path))]
    assert "CONFIRMED: Ada" not in text.replace("NOT CONFIRMED", "")


def test_one_altered_signature_gives_one_line_for_all_steps(
    subflow: Subflow, lab: Lab, honest: Document, tmp_path: Path
) -> None:
    document = deepcopy(honest)
    signature(document)
    sign_anew(document)
    _code, text = verdict(subflow, lab, document, tmp_path)
    assert sum("not judged again" in line for line in text.splitlines()) == 1
    assert sum("came out as" in line for line in text.splitlines()) == 1


def shifted(document: Document, by: timedelta) -> Document:
    """The same work at other times."""

    def later(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: later(each) for key, each in value.items()}
        if isinstance(value, list):
            return [later(each) for each in value]
        try:
            return (datetime.fromisoformat(value) + by).isoformat(timespec="seconds") if "T" in value else value
        except (TypeError, ValueError):
            return value

    return {key: value if key in ("runs", "signed") else later(value) for key, value in deepcopy(document).items()}


def test_copies_are_reported_whatever_their_names_and_times(
    subflow: Subflow, lab: Lab, honest: Document, tmp_path: Path
) -> None:
    # Times of a person, instead of those of the solution, which takes less than a second.
    paced = deepcopy(honest)
    at = datetime.fromisoformat(paced["begun_at"])
    for number, each in enumerate(paced["steps"]):
        at += timedelta(seconds=37 + 11 * number)
        each["passed_at"] = at.isoformat(timespec="seconds")
    sign_anew(paced)
    replayed = shifted(paced, timedelta(seconds=3))
    replayed["student"], replayed["deal"] = "Zoe", "another"
    sign_anew(replayed)
    redrawn = shifted(paced, timedelta(hours=2))
    for number, each in enumerate(redrawn["steps"]):
        each["passed_at"] = (at + timedelta(minutes=7 * number)).isoformat(timespec="seconds")
    redrawn["student"], redrawn["deal"] = "Kim", "third"
    sign_anew(redrawn)
    folder = tmp_path / "class"
    folder.mkdir()
    for name, document in {"ada": paced, "zoe": replayed, "kim": redrawn}.items():
        (folder / f"{name}.json").write_text(json.dumps(document), encoding="utf-8")
    (folder / "damaged.json").write_text("{", encoding="utf-8")
    answer = subflow("labs", "class", folder, "--lab", lab.path, "--csv", tmp_path / "class.csv")
    assert answer.code in (1, 2, 3)
    with (tmp_path / "class.csv").open(encoding="utf-8") as file:
        rows = {row["file"]: row for row in csv.DictReader(file)}
    assert "the same work as in zoe.json: all times are equal up to a shift" in rows["ada.json"]["anomalies"]
    assert "the same drawn curve as in kim.json" in rows["ada.json"]["anomalies"]
    # The name of a damaged file is not the name of a student.
    assert (rows["damaged.json"]["student"], rows["damaged.json"]["outcome"]) == ("", "not readable")


# ---- bundles ----


def forged_bundle(source: Path, target: Path, changes: dict[str, Callable[[bytes], bytes]]) -> Path:
    """A bundle with changed files, whose manifest lists their new hashes."""
    with zipfile.ZipFile(source) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    for name, change in changes.items():
        files[name] = change(files[name])
    manifest = json.loads(files["manifest.json"])
    manifest["files"] = {name: hashlib.sha256(files[name]).hexdigest() for name in manifest["files"]}
    files["manifest.json"] = json.dumps(manifest).encode()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return target


def renamed(content: bytes) -> bytes:
    manifest = json.loads(content)
    manifest["run"]["name"] = "CONFIRMED by the authors"
    return json.dumps(manifest).encode()


@pytest.fixture
def bundle(subflow: Subflow, tmp_path: Path) -> Path:
    database, path = tmp_path / "runs.db", tmp_path / "run-1.subflow.zip"
    assert subflow("run", "reno-sawtooth", "--set", "duration=4s", "--set", "warmup=1s", "--db", database).code == 0
    assert subflow("export", 1, "--format", "bundle", "--out", tmp_path, "--db", database).code == 0
    return path


def test_the_honest_bundle_is_confirmed_with_its_figures(subflow: Subflow, bundle: Path) -> None:
    answer = subflow("verify", bundle)
    assert answer.code == 0, answer.out + answer.err
    document = subflow("verify", bundle, "--json").document
    verdicts = {each["what"]: each["verdict"] for each in document["checks"]}
    assert {name: each for name, each in verdicts.items() if name.startswith("figures/")}
    assert {name for name, each in verdicts.items() if each != "same"} == {"name of the run"}
    for name in ("README.txt", "CITATION.cff", "ro-crate-metadata.json"):
        assert verdicts[name] == "same"


@for_each(
    ("name", "change"),
    [
        ("figures/cwnd.svg", lambda content: content.replace(b"<svg", b"<svg data-forged='1'", 1)),
        ("README.txt", lambda content: content.replace(b"needs a bundle", b"needs no bundle", 1)),
        ("manifest.json", renamed),
        ("ro-crate-metadata.json", lambda content: content.replace(b"Subflow", b"Submarine", 1)),
    ],
    ids=["picture", "README", "run name", "description"],
)
def test_a_forged_bundle_is_not_confirmed(
    subflow: Subflow, bundle: Path, tmp_path: Path, name: str, change: Callable[[bytes], bytes]
) -> None:
    with zipfile.ZipFile(bundle) as archive:
        names = archive.namelist()
    name = next(each for each in names if each == name or (name.endswith(".svg") and "cwnd" in each))
    answer = subflow("verify", forged_bundle(bundle, tmp_path / "forged.subflow.zip", {name: change}))
    assert answer.code in (1, 3), answer.out
    assert not any(line.startswith("CONFIRMED") for line in answer.out.splitlines())
