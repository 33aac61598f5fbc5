"""The changelog: one version everywhere, short enough to be read, and every controller named."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

import subflow_app
from subflow_app.core.citation import RELEASED
from subflow_sim.catalog import controllers, schedulers

ROOT = Path(__file__).resolve().parents[1]
CHANGELOG = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")

LONGEST_PART = 120
"""Lines of the changelog on one version: more is not read."""

LONGEST_LINE = 120


def _parts() -> dict[str, str]:
    """The parts of the changelog by their headings without ``## ``."""
    cut = re.split(r"^## (.+)$", CHANGELOG, flags=re.MULTILINE)
    return dict(zip(cut[1::2], cut[2::2], strict=True))


def test_the_version_is_the_same_everywhere() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    citation = re.search(r"^version: (.+)$", (ROOT / "CITATION.cff").read_text(encoding="utf-8"), re.MULTILINE)
    newest = next(iter(_parts()))
    assert citation is not None
    versions = {
        "subflow_app.__version__": subflow_app.__version__,
        "pyproject.toml": project["version"],
        "CITATION.cff": citation[1],
        "codemeta.json": json.loads((ROOT / "codemeta.json").read_text(encoding="utf-8"))["version"],
        "CHANGELOG.md": newest.partition("]")[0].removeprefix("["),
    }
    assert versions == dict.fromkeys(versions, subflow_app.__version__)
    # A release writes the day in place of the word: the day that citations give.
    assert newest in {f"[{subflow_app.__version__}] - {when}" for when in ("unreleased", RELEASED)}


def test_the_changelog_is_short_enough_to_be_read() -> None:
    for heading, part in _parts().items():
        assert len(part.splitlines()) < LONGEST_PART, heading
    assert [line for line in CHANGELOG.splitlines() if len(line) > LONGEST_LINE] == []
    assert len(re.findall(r"^### ", next(iter(_parts().values())), re.MULTILINE)) > 1


def test_the_changelog_names_each_controller_and_scheduler() -> None:
    plain = re.sub(r"[^a-z0-9]", "", CHANGELOG.lower())
    assert [each.name for each in (*controllers(), *schedulers()) if each.name.replace("-", "") not in plain] == []
