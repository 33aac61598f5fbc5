"""Verification of bundles: checks that the files are unchanged, and that the simulation gives the same run again."""

from __future__ import annotations

import hashlib
import struct
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import subflow_app
from subflow_app.features.catalog.core.catalog import catalog_before_library
from subflow_app.features.catalog.core.uses import Use, read_scenario
from subflow_app.features.exporting.core.bundle import (
    BUNDLED_FIGURES,
    FIGURES,
    FORMAT,
    KIND,
    MANIFEST,
    METADATA,
    POLICIES,
    README,
    SCENARIO,
    SUMMARY,
    TRACES,
    BundledRun,
    metadata_text,
    readme_text,
)
from subflow_app.features.exporting.core.exports import ExportPlan, export_run
from subflow_app.features.plots.core import PLOTS_BY_ID
from subflow_app.foundation.citation import FILE as CITATION
from subflow_app.foundation.citation import citation_cff
from subflow_app.foundation.confirmation import Confirmation, confirmation
from subflow_app.foundation.errors import InputError
from subflow_app.foundation.jobs.progress import JobState
from subflow_app.foundation.json_document import plain
from subflow_app.vocabulary.number_text import count_text
from subflow_sim.errors import ScenarioError, SimError
from subflow_sim.gate import MOST_TEXT_BYTES, json_tree, open_file, size_text
from subflow_sim.policy_library import MAX_POLICY_BYTES, is_policy_name
from subflow_sim.policy_library import SUFFIX as POLICY_SUFFIX
from subflow_store.recording_texts import folded

if TYPE_CHECKING:
    from subflow_app.features.running.core.runs import RunJob
    from subflow_sim.scenario import Scenario

Verdict = Literal["same", "different", "not compared"]

# Larger archives are not bundles of Subflow.
MOST_FILES = 10_000
MOST_BYTES = 1_000_000_000
"""Maximum size of all files of a bundle, unpacked. Files are read in parts, so the limit bounds only the time."""
MOST_DOCUMENT_BYTES = 20_000_000
"""Maximum size of a file that is read as a whole: manifest or summary."""

_PART_BYTES = 1 << 20
_MOST_SCENARIO_BYTES = 150_000_000  # with its recordings; a recording file of 64 MB packs to at most half of this size
# With other methods, the archive would determine how much memory its decompression takes.
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
# Exceptions that a damaged archive can cause.
_BROKEN = (
    *(zipfile.BadZipFile, zlib.error, struct.error, EOFError, NotImplementedError, RuntimeError),
    *(ValueError, IndexError, OverflowError),
)
# Parts of the summary that depend only on the run, not on the time and speed of its simulation.
_COMPARED = ("duration_s", "warmup_s", "packets", "flows", "links", "fairness")


RUN_NAME = "name of the run"
"""`Check.what` of the name, which no verification can confirm."""

# This file contains names of policies, which are different in a bundle.
_NAMED_OTHERWISE = "agents.json"


@dataclass(frozen=True, slots=True)
class Check:
    """One comparison between the bundle and the new run.

    Attributes:
        what: compared object: "signature", "figures", or the name of a file.
        verdict: result of the comparison.
        told: description of the result for display.
    """

    what: str
    verdict: Verdict
    told: str


@dataclass(frozen=True, slots=True)
class Verification:
    """The result of a verification.

    Attributes:
        name: name of the run.
        scenario: name of the scenario.
        seed: seed of the run.
        signature: signature in the bundle.
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
        """Outcome of all checks, except those of agents.json, whose policies are renamed, and of the run's name."""
        verdicts = {
            check.verdict
            for check in self.checks
            if not check.what.endswith(_NAMED_OTHERWISE) and check.what != RUN_NAME
        }
        return confirmation(
            is_contradicted="different" in verdicts and self._is_of_this_version,
            is_doubtful=verdicts != {"same"},
        )

    @property
    def holds(self) -> bool:
        """True if the run is confirmed."""
        return self.outcome is Confirmation.CONFIRMED

    @property
    def reason(self) -> str:
        """Explanation of the outcome."""
        if self.holds:
            return "the same run"
        if self.outcome is Confirmation.CONTRADICTED:
            return "not the same run"
        if all(check.verdict != "different" for check in self.checks):
            return "not all of it could be compared"
        return f"another version made it, and version {subflow_app.__version__} gives another result"

    @property
    def _is_of_this_version(self) -> bool:
        return self.made_with == subflow_app.__version__


def verify_bundle(path: Path, *, on_start: Callable[[RunJob], None] = lambda job: None) -> Verification:
    """Read a bundle, simulate its scenario, and compare the results.

    Args:
        path: the file.
        on_start: called with the job of the new run, so that the caller can follow or stop the run.

    Raises:
        InputError: if the file is not a bundle, or a file in it was changed or is missing.
    """
    with _opened(path) as bundle, tempfile.TemporaryDirectory(prefix="subflow-verify-") as name:
        run = _checked_run(bundle)
        stored = bundle.document(SUMMARY) if SUMMARY in bundle.names else {}
        if not _is_summary(stored):
            raise InputError(f"{path}: {SUMMARY} is not the summary of a run")
        try:
            scenario = _scenario(bundle, Path(name, "policies"))
            summary, signature, traces = _simulate(scenario, run, Path(name, "traces"), on_start)
        except (_CannotBeMadeError, SimError) as error:
            return _verification(run, [Check("signature", "not compared", str(error))])
        checks = [_signature_check(run, signature), _figures_check(stored, summary)]
        for file in bundle.names:
            if not file.startswith((TRACES, FIGURES)):
                continue
            again = traces.get(file.partition("/")[2])
            if again is None or file.endswith(_NAMED_OTHERWISE):
                checks.append(Check(file, "not compared", "the new run has no comparable file"))
                continue
            difference = _first_difference(bundle, file, again)
            if difference and file.startswith(FIGURES):
                # Other fonts or versions of libraries may draw the same curves in another way.
                checks.append(Check(file, "not compared", f"drawn again, it differs or was changed: {difference}"))
                continue
            checks.append(Check(file, "different" if difference else "same", difference or "byte for byte"))
        checks += _text_checks(bundle, run)
        checks.append(Check(RUN_NAME, "not compared", "its author chose it, and it proves nothing"))
    return _verification(run, checks)


class _CannotBeMadeError(Exception):
    """Raised if the run cannot be simulated here; the message is the reason."""


def _verification(run: Mapping[str, Any], checks: Sequence[Check]) -> Verification:
    return Verification(run["name"], run["scenario"], run["seed"], run["signature"], run["version"], tuple(checks))


# ---- reading ----


class _Bundle:
    """Reads an archive in parts, so that the archive can neither fill the memory nor choose the paths of files."""

    def __init__(self, path: Path, archive: zipfile.ZipFile) -> None:
        """Check the list of files.

        Raises:
            InputError: if the archive is too large, contains a file twice, or has a compression method that bundles do
                not use.
        """
        self.path = path
        self._archive = archive
        infos = [info for info in archive.infolist() if not info.filename.endswith("/")]
        if len(infos) > MOST_FILES:
            raise InputError(f"{path} is not a bundle of a run: it holds more than {count_text(MOST_FILES)} files")
        if sum(info.file_size for info in infos) > MOST_BYTES:
            raise InputError(f"{path} is not a bundle of a run: it holds more than {MOST_BYTES / 1e9:g} GB")
        self.names = dict.fromkeys(info.filename for info in infos)
        if len(self.names) < len(infos):
            raise InputError(f"{path} is not a bundle of a run: it holds a file twice")
        if any(info.compress_type not in _METHODS for info in infos):
            raise InputError(f"{path} is not a bundle of a run: bundles use another compression")

    def parts(self, name: str) -> Iterator[bytes]:
        """The content of a file in parts.

        Raises:
            InputError: if the file cannot be read.
        """
        try:
            with self._archive.open(name) as file:
                while part := file.read(_PART_BYTES):
                    yield part
        except _BROKEN as error:
            raise InputError(f"{self.path}: {name} is damaged: {error}") from error

    def read(self, name: str, most_bytes: int) -> bytes:
        """The content of a file.

        Raises:
            InputError: if the file cannot be read or is too large.
        """
        if self._archive.getinfo(name).file_size > most_bytes:
            raise InputError(f"{self.path}: {name} is larger than {most_bytes / 1e6:g} MB")
        return b"".join(self.parts(name))

    def document(self, name: str) -> Any:
        """The parsed content of a JSON file.

        Raises:
            InputError: if the file cannot be read, is too large, or is not JSON.
        """
        try:
            return json_tree(self.read(name, MOST_DOCUMENT_BYTES))
        except ValueError as error:
            raise InputError(f"{self.path}: {name} is not JSON: {error}") from error


@contextmanager
def _opened(path: Path) -> Iterator[_Bundle]:
    """Open a bundle.

    Raises:
        InputError: if the file is not a bundle or cannot be read.
    """
    try:
        with open_file(path) as file:
            try:
                archive = zipfile.ZipFile(file)
            except _BROKEN as error:
                raise InputError(f"{path} is not a bundle of a run, or was cut off: {error}") from error
            with archive:
                yield _Bundle(path, archive)
    except FileNotFoundError:
        raise InputError(f"{path}: no such file") from None
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}") from error


def _checked_run(bundle: _Bundle) -> dict[str, Any]:
    """Check the files of a bundle, and return the run in its manifest.

    Besides manifest and README, the archive must contain exactly the files that the manifest lists, all unchanged.
    """
    path = bundle.path
    if MANIFEST not in bundle.names:
        raise InputError(f"{path} is not a bundle of a run: it has no {MANIFEST}")
    manifest = bundle.document(MANIFEST)
    if not _is_manifest(manifest):
        raise InputError(f"{path} is not a bundle of a run: its {MANIFEST} is incomplete")
    if manifest.get("format") != FORMAT:
        raise InputError(
            f"{path} is a bundle of format {manifest.get('format')!r}; this version ({subflow_app.__version__}) "
            f"reads format {FORMAT}"
        )
    for name in manifest["files"]:
        if name not in bundle.names:
            raise InputError(f"{path}: {name} is missing")
    for name in bundle.names:
        if name not in manifest["files"] and name not in (MANIFEST, README):
            raise InputError(f"{path}: {name} is not in the manifest: it was added after the bundle was made")
    if SCENARIO not in bundle.names:
        raise InputError(f"{path}: {SCENARIO} is missing")
    for name, expected in manifest["files"].items():
        digest = hashlib.sha256()
        for part in bundle.parts(name):
            digest.update(part)
        if digest.hexdigest() != expected:
            raise InputError(f"{path}: {name} was changed after the bundle was made: its SHA-256 is not the manifest's")
    return dict(manifest["run"])


def _is_manifest(manifest: Any) -> bool:
    """True if the manifest has all entries that the verification needs."""
    try:
        run = manifest["run"]
        interval_s = run["sample_interval_s"]
        texts = all(isinstance(run[key], str) for key in ("name", "scenario", "version", "signature"))
        numbers = isinstance(run["seed"], int) and isinstance(interval_s, int | float) and interval_s > 0
        return bool(manifest["kind"] == KIND and isinstance(manifest["files"], dict) and texts and numbers)
    except (KeyError, TypeError):
        return False


def _is_summary(stored: Any) -> bool:
    """True if the summary has the expected form: flows with their options and policies."""
    if not isinstance(stored, dict) or not isinstance(stored.get("flows", []), list):
        return False
    return all(
        isinstance(flow, dict)
        and isinstance(flow.get("controller_options", {}), dict)
        and isinstance(flow.get("policy") or {}, dict)
        for flow in stored.get("flows", [])
    )


def _scenario(bundle: _Bundle, policies: Path) -> Scenario:
    """The scenario with the policies of the bundle, which replace policies of the same name on this machine."""
    policies.mkdir()
    for name in bundle.names:
        # Only plain names are accepted, because an archive must not determine the paths of files.
        if name.startswith(POLICIES) and is_policy_name(Path(name).stem) and name.endswith(POLICY_SUFFIX):
            (policies / Path(name).name).write_bytes(bundle.read(name, MAX_POLICY_BYTES))
    try:
        text = bundle.read(SCENARIO, _MOST_SCENARIO_BYTES).decode()
        if len(folded(text)[0]) > MOST_TEXT_BYTES:
            raise InputError(
                f"{bundle.path}: {SCENARIO} is larger than {size_text(MOST_TEXT_BYTES)} without its recordings"
            )
        catalog = catalog_before_library(policies)
        return read_scenario(Use.BUNDLE, text, file=f"{bundle.path.name}/{SCENARIO}", algorithms=catalog)
    except UnicodeDecodeError as error:
        raise InputError(f"{bundle.path}: {SCENARIO} is not text in UTF-8: {error}") from error
    except ScenarioError as error:
        raise _CannotBeMadeError(
            f"this version ({subflow_app.__version__}) cannot read the scenario: {error}"
        ) from error


# ---- simulating and comparing ----


def _simulate(
    scenario: Scenario, run: Mapping[str, Any], folder: Path, on_start: Callable[[RunJob], None]
) -> tuple[dict[str, Any], str, dict[str, Path]]:
    """Simulate the run; return its summary, its signature and the files of its tables."""
    from subflow_app.features.running.core.runs import RunJob

    job = RunJob(scenario, "", seed=run["seed"], sample_interval_s=run["sample_interval_s"])
    on_start(job)
    result = job.run()
    if result.error is not None:
        raise _CannotBeMadeError(f"the run cannot be repeated: {result.error}")
    if result.status != JobState.FINISHED:
        raise _CannotBeMadeError("the run could not be repeated to its end, so nothing can be compared")
    figures = tuple(PLOTS_BY_ID[name] for name in BUNDLED_FIGURES)
    plan = ExportPlan(figures=figures, figure_formats=("svg",))
    written = export_run(job.traces, folder, plan)
    return result.summary, result.signature, {file.name: file for file in written}


def _text_checks(bundle: _Bundle, run: Mapping[str, Any]) -> Iterator[Check]:
    """Write README, citation and description again, and compare them; those of another version are not compared."""
    bundled = BundledRun(run["name"], run["scenario"], run["seed"], run["version"], run["signature"])
    is_light = not any(name.startswith(TRACES) for name in bundle.names)
    texts: dict[str, Callable[[], str]] = {
        README: lambda: readme_text(bundled, is_light=is_light),
        CITATION: citation_cff,
        METADATA: lambda: _metadata_again(bundle, bundled),
    }
    for name, write in texts.items():
        if name not in bundle.names:
            continue
        if run["version"] != subflow_app.__version__:
            yield Check(name, "not compared", f"version {run['version']} wrote it")
            continue
        try:
            is_same = bundle.read(name, MOST_DOCUMENT_BYTES) == write().encode()
        except (ValueError, LookupError, TypeError, AssertionError, StopIteration):
            is_same = False
        # A state of the program before this text was last changed wrote another text, too.
        text = "byte for byte" if is_same else "written again, it differs: it was changed, or an earlier state wrote it"
        yield Check(name, "same" if is_same else "not compared", text)


def _metadata_again(bundle: _Bundle, run: BundledRun) -> str:
    """The description of a bundle, with the time that the present one contains."""
    graph = bundle.document(METADATA)["@graph"]
    made_at = next(datetime.fromisoformat(each["datePublished"]) for each in graph if each["@id"] == "./")
    files = {name: b"".join(bundle.parts(name)) for name in bundle.names if name not in (MANIFEST, METADATA)}
    return metadata_text(run, files, made_at)


def _signature_check(run: Mapping[str, Any], signature: str) -> Check:
    if signature == run["signature"]:
        return Check("signature", "same", signature)
    made_by = f"; it was made by version {run['version']}" if run["version"] != subflow_app.__version__ else ""
    return Check(
        "signature",
        "different",
        f"the bundle holds {run['signature']}; version {subflow_app.__version__} here gives {signature}{made_by}",
    )


def _figures_check(stored: Mapping[str, Any], summary: Mapping[str, Any]) -> Check:
    stored, again = _without_policy_names(stored), _without_policy_names(plain(summary))
    for key in _COMPARED:
        if key in stored and not _agree(stored[key], again.get(key)):
            return Check("figures", "different", f"{key} of {SUMMARY} is not what the run gives")
    compared = [key for key in _COMPARED if key in stored]
    if not compared:
        return Check("figures", "not compared", f"{SUMMARY} contains no comparable figures")
    return Check("figures", "same", ", ".join(compared))


def _agree(stored: Any, again: Any) -> bool:
    """True if all stored values equal the new values. A newer version may add values."""
    if isinstance(stored, Mapping) and isinstance(again, Mapping):
        return all(key in again and _agree(value, again[key]) for key, value in stored.items())
    if isinstance(stored, list) and isinstance(again, list):
        return len(stored) == len(again) and all(map(_agree, stored, again))
    return bool(stored == again)


def _without_policy_names(summary: Mapping[str, Any]) -> dict[str, Any]:
    """The summary without the names of policies, which a bundle replaces; their hashes remain."""
    if "flows" not in summary:
        return dict(summary)
    flows = []
    for flow in summary["flows"]:
        options = {key: value for key, value in flow.get("controller_options", {}).items() if key != "policy"}
        policy = (flow.get("policy") or {}).get("content_hash")
        flows.append({**flow, "controller_options": options, "policy": policy})
    return {**summary, "flows": flows}


def _first_difference(bundle: _Bundle, name: str, again: Path) -> str:
    """Position of the first difference between a file of the bundle and the new file; empty if they are equal."""
    line = 1
    with again.open("rb") as file:
        for part in bundle.parts(name):
            other = file.read(len(part))
            if part != other:
                ahead = next((at for at, (one, two) in enumerate(zip(part, other, strict=False)) if one != two), None)
                if ahead is None:
                    break
                line += part.count(b"\n", 0, ahead)
                return f"line {line} is the first that differs"
            line += part.count(b"\n")
        else:
            return "one of them ends earlier" if file.read(1) else ""
    return "one of them ends earlier"
