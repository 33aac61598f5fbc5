"""Whether a bundle is what it says: its files are whole, and simulating its scenario again gives the same run."""

from __future__ import annotations

import hashlib
import json
import tempfile
import zipfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import subflow_app
from subflow_app.core.catalog import policy_library
from subflow_app.core.confirmation import Confirmation, confirmation
from subflow_app.core.errors import InputError
from subflow_app.core.exporting.bundle import FORMAT, KIND, MANIFEST, POLICIES, SCENARIO, SUMMARY, TRACES
from subflow_app.core.exports import ExportPlan, export_run
from subflow_app.core.jobs.progress import JobState
from subflow_app.core.json_document import plain
from subflow_sim.errors import ScenarioError, SimError
from subflow_sim.policy_library import SUFFIX as POLICY_SUFFIX
from subflow_sim.policy_library import PolicyLibrary

if TYPE_CHECKING:
    from subflow_app.core.running.runs import RunJob
    from subflow_sim.scenario import Scenario

Verdict = Literal["same", "different", "not compared"]

# Beyond these a file is no bundle of ours, whatever it unpacks to.
_MOST_FILES = 10_000
_MOST_BYTES = 4 << 30
# Of what a run leaves behind, what depends on it alone; when and how fast it was made are other matters.
_COMPARED = ("duration_s", "warmup_s", "packets", "flows", "links", "fairness")


# Says which policies decided, and these have other names in a bundle.
_NAMED_OTHERWISE = "agents.json"


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was compared.

    Attributes:
        what: "signature", "figures", or the name of a file.
        verdict: how it came out.
        told: what was found, for people.
    """

    what: str
    verdict: Verdict
    told: str


@dataclass(frozen=True, slots=True)
class Verification:
    """What came of it.

    Attributes:
        name: of the run.
        scenario: its name.
        seed: of the run.
        signature: that the bundle says.
        made_with: version of Subflow that made the run.
        checks: all comparisons, the signature first.
    """

    name: str
    scenario: str
    seed: int
    signature: str
    made_with: str
    checks: tuple[Check, ...]

    @property
    def outcome(self) -> Confirmation:
        """Whether the run is what the bundle says."""
        verdicts = {check.verdict for check in self.checks if not check.what.endswith(_NAMED_OTHERWISE)}
        return confirmation(
            is_contradicted="different" in verdicts and self._is_of_this_version,
            is_doubtful=verdicts != {"same"},
        )

    @property
    def holds(self) -> bool:
        """Whether the run is confirmed."""
        return self.outcome is Confirmation.CONFIRMED

    @property
    def reason(self) -> str:
        """The outcome in words."""
        if self.holds:
            return "the same run"
        if self.outcome is Confirmation.CONTRADICTED:
            return "not the same run"
        if all(check.verdict != "different" for check in self.checks):
            return "not all of it could be compared"
        return f"another version made it, and it comes out otherwise in version {subflow_app.__version__}"

    @property
    def _is_of_this_version(self) -> bool:
        return self.made_with == subflow_app.__version__


def verify_bundle(path: Path, *, on_start: Callable[[RunJob], None] = lambda job: None) -> Verification:
    """Read a bundle, simulate its scenario again, and compare.

    Args:
        path: the file.
        on_start: is handed the run that is made again, to follow or to stop it.

    Raises:
        InputError: if it is no bundle, or a file in it was changed or is missing.
    """
    files = _read_files(path)
    manifest = _manifest(path, files)
    run = manifest["run"]
    try:
        with tempfile.TemporaryDirectory(prefix="subflow-verify-") as name:
            folder = Path(name)
            scenario = _scenario(path, files, folder / "policies")
            summary, signature, traces = _simulate(scenario, run, folder / "traces", on_start)
    except (_CannotBeMadeError, SimError) as error:
        return _verification(run, [Check("signature", "not compared", str(error))])
    checks = [_signature_check(run, signature), _figures_check(_stored_summary(path, files), summary)]
    for file, content in files.items():
        if not file.startswith(TRACES):
            continue
        again = traces.get(file.removeprefix(TRACES))
        if again is None or file.endswith(_NAMED_OTHERWISE):
            checks.append(Check(file, "not compared", "as it was written; it is not made again"))
        elif again == content:
            checks.append(Check(file, "same", "byte for byte"))
        else:
            checks.append(Check(file, "different", _first_difference(content, again)))
    return _verification(run, checks)


class _CannotBeMadeError(Exception):
    """The run cannot be made again here; says why."""


def _verification(run: Mapping[str, Any], checks: Sequence[Check]) -> Verification:
    return Verification(run["name"], run["scenario"], run["seed"], run["signature"], run["version"], tuple(checks))


def _stored_summary(path: Path, files: Mapping[str, bytes]) -> Mapping[str, Any]:
    try:
        stored = json.loads(files.get(SUMMARY, b"{}"))
    except (ValueError, RecursionError):
        stored = None
    if not isinstance(stored, dict):
        raise InputError(f"{path}: {SUMMARY} is no table in JSON")
    return stored


# ---- reading ----


def _read_files(path: Path) -> dict[str, bytes]:
    """Everything in the archive, in memory: nothing is unpacked by the names it has there."""
    try:
        with zipfile.ZipFile(path) as archive:
            infos = archive.infolist()
            if len(infos) > _MOST_FILES or sum(info.file_size for info in infos) > _MOST_BYTES:
                raise InputError(f"{path} is no bundle of a run: it holds more than {_MOST_BYTES >> 30} GiB")
            return {info.filename: archive.read(info) for info in infos if not info.is_dir()}
    except FileNotFoundError:
        raise InputError(f"{path}: no such file") from None
    except (zipfile.BadZipFile, EOFError, NotImplementedError, RuntimeError) as error:
        raise InputError(f"{path} is no bundle of a run, or was cut off: {error}") from error
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}") from error


def _manifest(path: Path, files: Mapping[str, bytes]) -> dict[str, Any]:
    try:
        manifest = json.loads(files[MANIFEST])
        run = manifest["run"]
        is_ours = manifest["kind"] == KIND and isinstance(manifest["files"], dict)
        texts = ("name", "scenario", "version", "signature")
        is_whole = all(isinstance(run[key], str) for key in texts) and isinstance(run["seed"], int)
        interval_s = run["sample_interval_s"]
        is_whole = is_whole and isinstance(interval_s, int | float) and interval_s > 0
    except (KeyError, TypeError, ValueError):
        raise InputError(f"{path} is no bundle of a run: it has no {MANIFEST} that says what it is") from None
    if not (is_ours and is_whole):
        raise InputError(f"{path} is no bundle of a run: its {MANIFEST} lacks what it should say")
    if manifest.get("format") != FORMAT:
        raise InputError(
            f"{path} is a bundle of format {manifest.get('format')!r}; this version ({subflow_app.__version__}) "
            f"knows format {FORMAT}"
        )
    for name, expected in manifest["files"].items():
        if name not in files:
            raise InputError(f"{path}: {name} is missing")
        if hashlib.sha256(files[name]).hexdigest() != expected:
            raise InputError(f"{path}: {name} was changed after the bundle was made: its SHA-256 is not the manifest's")
    for name in files:
        if name not in manifest["files"] and name not in (MANIFEST, "README.txt"):
            raise InputError(f"{path}: {name} is not in the manifest: it was added after the bundle was made")
    if SCENARIO not in files:
        raise InputError(f"{path}: {SCENARIO} is missing")
    return dict(manifest)


def _scenario(path: Path, files: Mapping[str, bytes], policies: Path) -> Scenario:
    """The scenario, whose policies are those of the bundle, whatever this machine has under their names."""
    from subflow_sim.catalog import catalog_with
    from subflow_sim.scenario import parse_scenario

    policies.mkdir()
    for name, content in files.items():
        # A plain name alone: what is in an archive does not say where files go.
        if name.startswith(POLICIES) and name.endswith(POLICY_SUFFIX):
            (policies / Path(name).name).write_bytes(content)
    library = PolicyLibrary((policies, *policy_library().folders))
    try:
        text = files[SCENARIO].decode()
        return parse_scenario(text, file=f"{path.name}/{SCENARIO}", algorithms=catalog_with(library))
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: {SCENARIO} is no text in UTF-8: {error}") from error
    except ScenarioError as error:
        raise _CannotBeMadeError(
            f"this version ({subflow_app.__version__}) cannot read the scenario: {error}"
        ) from error


# ---- simulating and comparing ----


def _simulate(
    scenario: Scenario, run: Mapping[str, Any], folder: Path, on_start: Callable[[RunJob], None]
) -> tuple[dict[str, Any], str, dict[str, bytes]]:
    """The run once more: its summary, its signature and its tables."""
    from subflow_app.core.running.runs import RunJob

    job = RunJob(scenario, "", seed=run["seed"], sample_interval_s=run["sample_interval_s"])
    on_start(job)
    result = job.run()
    if result.error is not None:
        raise _CannotBeMadeError(f"the run cannot be made again: {result.error}")
    if result.status != JobState.FINISHED:
        raise _CannotBeMadeError("the run was not made again to its end, so there is nothing to compare")
    plan = ExportPlan(figures=(), figure_formats=())
    written = export_run(job.traces, folder, plan)
    return result.summary, result.signature, {file.name: file.read_bytes() for file in written}


def _signature_check(run: Mapping[str, Any], signature: str) -> Check:
    if signature == run["signature"]:
        return Check("signature", "same", signature)
    made_by = f"; it was made by version {run['version']}" if run["version"] != subflow_app.__version__ else ""
    return Check(
        "signature",
        "different",
        f"the bundle says {run['signature']}, version {subflow_app.__version__} here gives {signature}{made_by}",
    )


def _figures_check(stored: Mapping[str, Any], summary: Mapping[str, Any]) -> Check:
    stored, again = _without_policy_names(stored), _without_policy_names(plain(summary))
    for key in _COMPARED:
        if key in stored and stored[key] != again.get(key):
            return Check("figures", "different", f"{key} of {SUMMARY} is not what the run gives")
    compared = [key for key in _COMPARED if key in stored]
    if not compared:
        return Check("figures", "not compared", f"{SUMMARY} has none")
    return Check("figures", "same", ", ".join(compared))


def _without_policy_names(summary: Mapping[str, Any]) -> dict[str, Any]:
    """The summary without what policies are called, which differs in a bundle; their hashes stay."""
    if "flows" not in summary:
        return dict(summary)
    flows = []
    for flow in summary["flows"]:
        options = {key: value for key, value in flow.get("controller_options", {}).items() if key != "policy"}
        policy = (flow.get("policy") or {}).get("content_hash")
        flows.append({**flow, "controller_options": options, "policy": policy})
    return {**summary, "flows": flows}


def _first_difference(stored: bytes, again: bytes) -> str:
    pairs = zip(stored.splitlines(), again.splitlines(), strict=False)
    for number, (one, other) in enumerate(pairs, start=1):
        if one != other:
            return f"line {number} is the first that differs"
    return "one of them ends earlier"
