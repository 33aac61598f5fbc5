"""The description of a dossier as an RO-Crate 1.1 (https://w3id.org/ro/crate/1.1): what is in the folder, and of what.

`ro-crate-metadata.json` names each file with its kind, its size and its SHA-256, the program that made it, and the
command that makes it again.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from subflow_app.core.files import write_file
from subflow_app.core.json_document import json_text

METADATA = "ro-crate-metadata.json"
_VERSION = "https://w3id.org/ro/crate/1.1"
_KINDS: Mapping[str, str] = {
    ".html": "text/html",
    ".pdf": "application/pdf",
    ".csv": "text/csv",
    ".json": "application/json",
    ".toml": "application/toml",
    ".txt": "text/plain",
}


@dataclass(frozen=True, slots=True)
class CrateFile:
    """A file of the crate.

    Attributes:
        path: where it is.
        says: what it is, in a line.
        is_input: whether the results come of it.
    """

    path: Path
    says: str
    is_input: bool = False


def write_crate(
    folder: Path, files: Sequence[CrateFile], *, title: str, about: str, command: str, made_at: datetime
) -> Path:
    """Write the description of a folder.

    Args:
        folder: the crate.
        files: in it, each written already.
        title: of the crate.
        about: it, in a sentence or two.
        command: that makes it again.
        made_at: when it was made.

    Raises:
        ExportError: if it cannot be written.
    """
    from subflow_app import __version__

    names = {file: file.path.relative_to(folder).as_posix() for file in files}
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
            "license": "None is chosen yet: whoever publishes this chooses one.",
            "hasPart": [{"@id": name} for name in names.values()],
            "mentions": {"@id": "#assessment"},
        },
        {
            "@id": "#assessment",
            "@type": "CreateAction",
            "name": command,
            "endTime": date,
            "instrument": {"@id": "#subflow"},
            "object": [{"@id": name} for file, name in names.items() if file.is_input],
            "result": [{"@id": name} for file, name in names.items() if not file.is_input],
        },
        {"@id": "#subflow", "@type": "SoftwareApplication", "name": "Subflow", "version": __version__},
    ]
    graph += [_described(file, name) for file, name in names.items()]
    return write_file(folder / METADATA, json_text({"@context": f"{_VERSION}/context", "@graph": graph}))


def _described(file: CrateFile, name: str) -> dict[str, Any]:
    content = file.path.read_bytes()
    return {
        "@id": name,
        "@type": "File",
        "name": file.says,
        "encodingFormat": _KINDS.get(file.path.suffix, "application/octet-stream"),
        "contentSize": str(len(content)),
        "sha256": hashlib.sha256(content).hexdigest(),
    }
