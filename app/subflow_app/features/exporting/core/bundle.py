"""A run as one file that another machine can check: scenario, seed, versions, policies, traces and figures.

A bundle is a ZIP archive. ``manifest.json`` names the program, the run, and the SHA-256 of every other file:

    manifest.json            format, versions, seed, signature, hashes
    README.txt               how to verify the bundle, and how to use it as an artefact
    CITATION.cff             how to cite the program
    ro-crate-metadata.json   description of each file, as an RO-Crate
    scenario.toml            including all overrides, live changes and delivery traces
    policies/NAME.safetensors  policies of the controllers
    summary.json             summary of the run
    traces/*.csv             all samples, marks, intervals, decisions, steps of agents
    figures/*.svg            throughput, cwnd, RTT and queue

A light bundle contains no traces, because the scenario and the seed determine them, and only the first figure.

The same run gives the same bytes, because the archive stores no file dates.

`ro-crate-metadata.json` describes a folder or an archive as an RO-Crate 1.1 (https://w3id.org/ro/crate/1.1). It lists
each file with its kind, size and SHA-256, the program, and the command that reproduces the bundle.
"""

from __future__ import annotations

import hashlib
import io
import platform
import tempfile
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

import subflow_app
from subflow_app.features.catalog.core.uses import policies_of
from subflow_app.features.editor.core.scenario_source import with_policies
from subflow_app.features.explain.core.origin import StoredOrigin
from subflow_app.features.exporting.core.exports import ExportPlan, export_run
from subflow_app.features.plots.core import PLOTS_BY_ID
from subflow_app.features.policies.core import content_name
from subflow_app.features.traces.core.traces import StoredTraces
from subflow_app.foundation.citation import ABSTRACT, AUTHORS, LICENCE, citation_cff, citation_text
from subflow_app.foundation.citation import FILE as CITATION
from subflow_app.foundation.errors import InputError
from subflow_app.foundation.files import write_file
from subflow_app.foundation.json_document import json_text
from subflow_sim.policy_library import SUFFIX as POLICY_SUFFIX

if TYPE_CHECKING:
    from subflow_sim.scenario import Scenario
    from subflow_sim.scenario_model import PolicyFile
    from subflow_store import Store


METADATA = "ro-crate-metadata.json"
_VERSION = "https://w3id.org/ro/crate/1.1"
_MORE_TERMS = {"sha256": "https://schema.org/sha256"}  # RO-Crate 1.1 defines no term for hashes
_KINDS: Mapping[str, str] = {
    ".html": "text/html",
    ".pdf": "application/pdf",
    ".csv": "text/csv",
    ".json": "application/json",
    ".svg": "image/svg+xml",
    ".toml": "application/toml",
    ".txt": "text/plain",
    ".cff": "application/yaml",
}


@dataclass(frozen=True, slots=True)
class CrateFile:
    """A file of the crate.

    Attributes:
        name: path in the crate, with slashes.
        content: content of the file; None omits its size and hash. The manifest needs None: it contains the hash of the
            crate's description, so the description cannot contain the hash of the manifest.
        says: description in one line.
        is_input: whether the results are derived from the file.
    """

    name: str
    content: bytes | None
    says: str
    is_input: bool = False


def crate_text(files: Sequence[CrateFile], *, title: str, about: str, command: str, made_at: datetime) -> str:
    """The RO-Crate description of a set of files.

    Args:
        files: files of the crate.
        title: title of the crate.
        about: description in a sentence or two.
        command: command that reproduces the crate.
        made_at: time of creation.
    """
    from subflow_app import __version__

    date = made_at.isoformat(timespec="seconds")
    graph: list[dict[str, Any]] = [
        {
            "@id": METADATA,
            "@type": "CreativeWork",
            "conformsTo": {"@id": _VERSION},
            "about": {"@id": "./"},
        },
        {
            "@id": "./",
            "@type": "Dataset",
            "name": title,
            "description": about,
            "datePublished": date,
            "license": {"@id": "#licence"},
            "hasPart": _links(files),
            "mentions": {"@id": "#making"},
        },
        {
            "@id": "#making",
            "@type": "CreateAction",
            "name": command,
            "endTime": date,
            "instrument": {"@id": "#subflow"},
            "object": _links([file for file in files if file.is_input]),
            "result": _links([file for file in files if not file.is_input]),
        },
        {
            "@id": "#licence",
            "@type": "CreativeWork",
            "name": "No licence yet",
            "description": "Choose one, and name the author, before publishing this.",
        },
        {
            "@id": "#subflow",
            "@type": "SoftwareApplication",
            "name": "Subflow",
            "description": ABSTRACT,
            "version": __version__,
            "license": f"https://spdx.org/licenses/{LICENCE}",
            "author": {"@id": "#contributors"},
        },
        {"@id": "#contributors", "@type": "Organization", "name": AUTHORS},
    ]
    graph += [_described(file) for file in files]
    return json_text({"@context": [f"{_VERSION}/context", _MORE_TERMS], "@graph": graph})


def _links(files: Sequence[CrateFile]) -> Any:
    """A list of references to files, or just the reference to a single file, as the specification requires."""
    links = [{"@id": file.name} for file in files]
    return links[0] if len(links) == 1 else links


def _described(file: CrateFile) -> dict[str, Any]:
    kind = _KINDS.get(PurePosixPath(file.name).suffix, "application/octet-stream")
    entity = {"@id": file.name, "@type": "File", "name": file.says, "encodingFormat": kind}
    if file.content is not None:
        entity["contentSize"] = str(len(file.content))
        entity["sha256"] = hashlib.sha256(file.content).hexdigest()
    return entity


KIND = "subflow-run-bundle"
FORMAT = 1
BUNDLE_SUFFIX = ".subflow.zip"
MANIFEST, SCENARIO, SUMMARY, TRACES, FIGURES, POLICIES = (
    *("manifest.json", "scenario.toml", "summary.json"),
    *("traces/", "figures/", "policies/"),
)
README = "README.txt"
_SAYS = {
    SCENARIO: "The scenario, with all overrides and live changes",
    POLICIES: "A policy that a controller decides by",
    SUMMARY: "The figures of the run",
    TRACES: "Measurements during the run",
    FIGURES: "A figure of the run",
    README: "How to verify the run",
    CITATION: "How to cite the program",
}
BUNDLED_FIGURES = ("throughput", "cwnd", "rtt", "queue")
_NO_DATE = (1980, 1, 1, 0, 0, 0)  # the earliest date that a ZIP archive can contain


def write_bundle(
    store: Store,
    run_id: int,
    path: Path,
    *,
    summary: Mapping[str, Any],
    has_figures: bool = True,
    is_light: bool = False,
) -> Path:
    """Write the bundle of a stored run; an existing file is replaced once the new file is complete.

    Args:
        store: database with the run.
        run_id: number of the run.
        path: the file.
        summary: summary document, as `subflow show --json` prints it.
        has_figures: whether to include figures.
        is_light: whether to omit the traces and all figures but the first.

    Raises:
        ExportError: if the file cannot be written.
        InputError: if the run was measured instead of simulated, has not finished, or has an unreadable scenario.
        StoreError: if the run does not exist or the database cannot be read.
    """
    origin = StoredOrigin.read(store, run_id)
    row = store.run(run_id)
    if row.status != "finished":
        raise InputError(f"{origin.title} is {row.status}: only a run that has finished can become a bundle")
    text, policies = with_plain_policies(row.scenario_text or "", origin.scenario)
    files: dict[str, bytes] = {SCENARIO: text.encode(), SUMMARY: json_text(summary).encode()}
    files |= {f"{POLICIES}{name}{POLICY_SUFFIX}": content for name, content in policies.items()}
    figures = tuple(PLOTS_BY_ID[name] for name in BUNDLED_FIGURES[: 1 if is_light else None]) if has_figures else ()
    with tempfile.TemporaryDirectory(prefix="subflow-bundle-") as folder:
        plan = ExportPlan(run_data=not is_light, figures=figures, figure_formats=("svg",) if figures else ())
        for file in export_run(StoredTraces(store, run_id), folder, plan):
            files[(FIGURES if file.suffix == ".svg" else TRACES) + file.name] = file.read_bytes()
    described = BundledRun(row.name, origin.scenario.name, origin.seed, origin.version, origin.signature)
    files[README] = readme_text(described, is_light=is_light).encode()
    files[CITATION] = citation_cff().encode()
    files[METADATA] = metadata_text(described, files, row.started_at).encode()
    manifest = {
        "kind": KIND,
        "format": FORMAT,
        "made_with": {"subflow": subflow_app.__version__, "python": platform.python_version()},
        "run": {
            "name": row.name,
            "scenario": origin.scenario.name,
            "seed": origin.seed,
            "version": origin.version,
            "sample_interval_s": row.sample_interval_s,
            "signature": origin.signature,
        },
        "files": {name: hashlib.sha256(content).hexdigest() for name, content in sorted(files.items())},
    }
    files = {MANIFEST: json_text(manifest).encode(), **files}
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            info = zipfile.ZipInfo(name, _NO_DATE)
            info.compress_type = zipfile.ZIP_DEFLATED
            info.external_attr = 0o644 << 16
            archive.writestr(info, content)
    return write_file(path, buffer.getvalue())


@dataclass(frozen=True, slots=True)
class BundledRun:
    """The run of a bundle, as its texts describe it.

    Attributes:
        name: name of the run, which its author chose.
        scenario: name of the scenario.
        seed: seed of the run.
        version: version of Subflow that made the run.
        signature: signature of the run.
    """

    name: str
    scenario: str
    seed: int
    version: str
    signature: str


def metadata_text(run: BundledRun, files: Mapping[str, bytes], made_at: datetime) -> str:
    """Text of the RO-Crate description of a bundle.

    Args:
        run: the run.
        files: all files of the bundle but the manifest and this description, in order.
        made_at: start of the run.
    """
    return crate_text(
        [CrateFile(name, content, _says(name), is_input=_is_input(name)) for name, content in files.items()]
        # without hash, because the manifest contains the hash of this description
        + [CrateFile(MANIFEST, None, "Versions, seed and signature of the run, and the hashes of all files")],
        title=f"{run.name}: a run of Subflow",
        about=(
            f"A run of the scenario {run.scenario} with the seed {run.seed} that another computer simulates "
            "again and compares."
        ),
        command=f"subflow verify FILE{BUNDLE_SUFFIX}",
        made_at=made_at,
    )


def with_plain_policies(text: str, scenario: Scenario) -> tuple[str, dict[str, bytes]]:
    """The text with policy files named after their content, and the contents of all policies by name.

    Policies of the library keep their names. On other machines, the policies in the bundle take precedence.
    """
    found: dict[str, PolicyFile] = {file.name: file for _flow, file in policies_of(scenario)}
    plain = {
        name: content_name(file.content_hash) if name.endswith(POLICY_SUFFIX) or "/" in name or "\\" in name else name
        for name, file in found.items()
    }
    return with_policies(text, plain), {plain[name]: file.content for name, file in found.items()}


def _says(name: str) -> str:
    """Description of a file in a bundle, by the beginning of its name."""
    for start, says in _SAYS.items():
        if name.startswith(start):
            return says
    raise AssertionError(name)


def _is_input(name: str) -> bool:
    return name == SCENARIO or name.startswith(POLICIES)


def readme_text(run: BundledRun, *, is_light: bool) -> str:
    """Text of README.txt; a light bundle has no traces."""
    compared = "the figures of summary.json and all samples of traces/"
    if is_light:
        compared = "and the figures of summary.json; it gives the traces again"
    return f"""\
{run.name}: a run of Subflow, a simulator and workbench for multipath congestion control.

    subflow verify FILE{BUNDLE_SUFFIX}

simulates scenario.toml again with the seed of manifest.json and compares the signature, which follows from
every packet, {compared}. It draws figures/ and writes this
file again and compares them, too. The name of the run is the author's, and proves nothing. Values are SI; the names of
columns end in their units.

Needed:          Subflow {run.version} on Linux, Windows or macOS; no network, no graphics card, no other data.
Expected result: "confirmed", exit code 0, and the signature {run.signature}. Another version of Subflow may
give another result and reports this.

As an artefact (ACM, Artifact Review and Badging 1.1)
-----------------------------------------------------
Available            is up to you: deposit this file in an archive that gives it a DOI, and choose a licence for it.
                     ro-crate-metadata.json names none yet.
Functional           documented (this file; ro-crate-metadata.json describes each file), consistent and complete
                     (scenario, policies and seed from which all of the rest follows), exercisable (the command above).
Reusable             scenario.toml opens in Subflow, where everything in it can be changed; `subflow run scenario.toml`
                     runs it with another seed by --seed N.
Results reproduced   is tested by the command above, for this run. A claim over several seeds
                     needs a bundle of each.

How to cite the program (CITATION.cff)
--------------------------------------
{citation_text()}
"""
