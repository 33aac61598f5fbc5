"""Steps of a release that the workflow takes, with the standard library alone.

release.py compare TAG DATE    compare the files that name version and date with a tag and the date of its commit
release.py cite FOLDER         write CITATION.cff and codemeta.json with the addresses of the repository that is built
"""

from __future__ import annotations

import json
import re
import sys
import tomllib
from pathlib import Path

import project_urls

ROOT = project_urls.ROOT
_CITATION, _CODEMETA, _CHANGELOG = "CITATION.cff", "codemeta.json", "CHANGELOG.md"
_CONSTANTS = "app/subflow_app/foundation/citation.py"


def stated(root: Path) -> dict[str, tuple[str | None, str | None]]:
    """Version and date by file; None if the file need not state it, an empty text if it should and does not."""

    def read(file: str) -> str:
        return (root / file).read_text(encoding="utf-8")

    project, codemeta = tomllib.loads(read("pyproject.toml"))["project"], json.loads(read(_CODEMETA))
    cited = dict(re.findall(r"^(version|date-released): (\S+)$", read(_CITATION), re.MULTILINE))
    heading = re.search(r"^## \[(.+?)\] - (\S+)$", read(_CHANGELOG), re.MULTILINE)
    constant = re.search(r'^RELEASED = "(.+)"$', read(_CONSTANTS), re.MULTILINE)
    return {
        "pyproject.toml": (project["version"], None),
        _CITATION: (cited.get("version", ""), cited.get("date-released", "")),
        _CODEMETA: (codemeta["version"], codemeta["datePublished"]),
        _CHANGELOG: (heading[1], heading[2]) if heading else ("", ""),
        _CONSTANTS: (None, constant[1] if constant else ""),
    }


def differences(root: Path, tag: str, date: str) -> list[str]:
    """A line for each file whose version or date differs from that of the tag.

    Args:
        root: the source tree.
        tag: such as ``v0.1.0``.
        date: of the tagged commit, such as ``2026-11-27``.
    """
    lines = []
    for file, (version, day) in stated(root).items():
        if version is not None and f"v{version}" != tag:
            lines.append(f"{file}: the version is {version or 'missing'}, but the tag is {tag}")
        if day is not None and day != date:
            lines.append(f"{file}: the date is {day or 'missing'}, but the tagged commit is of {date}")
    return lines


def cite(folder: Path) -> list[Path]:
    """Writes both descriptions of the software with the addresses of its repository; returns the files.

    Raises:
        ValueError: if neither GitHub's runner nor git reveals the repository.
    """
    addresses = project_urls.urls()
    if not addresses:
        raise ValueError(
            "the repository is unknown: set GITHUB_SERVER_URL and GITHUB_REPOSITORY, or git's remote origin"
        )
    home = addresses["Homepage"]
    cited = (ROOT / _CITATION).read_text(encoding="utf-8")
    cited += f'repository-code: "{home}"\nurl: "{home}"\nrepository-artifact: "{addresses["Releases"]}"\n'
    described = json.loads((ROOT / _CODEMETA).read_text(encoding="utf-8"))
    described |= {
        "url": home,
        "codeRepository": home,
        "issueTracker": addresses["Issues"],
        "downloadUrl": f"{addresses['Releases']}/tag/v{described['version']}",
        "releaseNotes": addresses["Changelog"],
        "readme": f"{home}/blob/main/README.md",
        "buildInstructions": f"{home}/blob/main/docs/installation.md",
        "continuousIntegration": f"{home}/actions",
    }
    folder.mkdir(parents=True, exist_ok=True)
    files = [folder / _CITATION, folder / _CODEMETA]
    files[0].write_text(cited, encoding="utf-8")
    files[1].write_text(json.dumps(described, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    return files


def main(words: list[str]) -> int:
    """Runs the command line; returns the exit code."""
    match words:
        case ["compare", tag, date]:
            lines = differences(ROOT, tag, date)
            # GitHub shows lines with this prefix at the top of the run.
            sys.stdout.writelines(f"::error::{line}\n" for line in lines)
            return 1 if lines else 0
        case ["cite", folder]:
            try:
                files = cite(Path(folder))
            except ValueError as error:
                sys.stderr.write(f"{error}\n")
                return 1
            sys.stdout.writelines(f"{file}\n" for file in files)
            return 0
        case _:
            sys.stderr.write(f"{__doc__}")
            return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
