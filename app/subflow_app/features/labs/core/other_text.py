"""Whether a lab was begun with another text of it: progress is kept by a lab's name, and files share names."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

from subflow_app.features.labs.core.lab import Lab
from subflow_app.features.labs.core.progress import Progress
from subflow_app.foundation.errors import LabError
from subflow_app.foundation.resources import resource_path
from subflow_app.foundation.toml_files import read_text
from subflow_app.vocabulary.language import LANGUAGES, tr
from subflow_sim.gate import is_file


def is_other_text(lab: Lab, begun_with: str) -> bool:
    """Whether a hash is not that of the lab's file; a shipped lab is the same lab in each language.

    Args:
        lab: as it is now.
        begun_with: hash of the file that it was begun with.
    """
    return begun_with != lab.file_hash and begun_with not in _hashes(lab)


def other_text_notice(lab: Lab, progress: Progress | None) -> str:
    """Why progress cannot go on in a lab: it was made in another text of it, whose steps it fits. Empty: it can."""
    if progress is None or not is_other_text(lab, progress.lab_hash):
        return ""
    return tr(
        "The lab {lab} was begun with another text than that of {file}, so it cannot be continued there.",
        lab=lab.name,
        file=lab.path,
    )


def _hashes(lab: Lab) -> Iterator[str]:
    shipped = resource_path("labs")
    if shipped in lab.path.parents:
        for folder in (shipped, *(shipped / language for language in LANGUAGES)):
            path = folder / lab.path.name
            if is_file(path):
                yield hashlib.sha256(read_text(path, LabError, "a lab").encode()).hexdigest()
