"""The description of a folder or an archive as an RO-Crate 1.1 (https://w3id.org/ro/crate/1.1): what is in it, of what.

`ro-crate-metadata.json` names each file with its kind, its size and its SHA-256, the program that made it, and the
command that makes it again.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import PurePosixPath
from typing import Any

from subflow_app.foundation.citation import ABSTRACT, AUTHORS, LICENCE
from subflow_app.foundation.json_document import json_text

METADATA = "ro-crate-metadata.json"
_VERSION = "https://w3id.org/ro/crate/1.1"
_MORE_TERMS = {"sha256": "https://schema.org/sha256"}  # version 1.1 has no hashes
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
        name: in the crate, with slashes.
        content: of the file; None: size and hash are not told, as the file itself holds the hash of this description.
        says: what it is, in a line.
        is_input: whether the results come of it.
    """

    name: str
    content: bytes | None
    says: str
    is_input: bool = False


def crate_text(files: Sequence[CrateFile], *, title: str, about: str, command: str, made_at: datetime) -> str:
    """The description.

    Args:
        files: of the crate.
        title: of the crate.
        about: it, in a sentence or two.
        command: that makes it again.
        made_at: when it was made.
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
    """References to files; to a single one without a list around it, as the specification has it."""
    links = [{"@id": file.name} for file in files]
    return links[0] if len(links) == 1 else links


def _described(file: CrateFile) -> dict[str, Any]:
    kind = _KINDS.get(PurePosixPath(file.name).suffix, "application/octet-stream")
    entity = {"@id": file.name, "@type": "File", "name": file.says, "encodingFormat": kind}
    if file.content is not None:
        entity["contentSize"] = str(len(file.content))
        entity["sha256"] = hashlib.sha256(file.content).hexdigest()
    return entity
