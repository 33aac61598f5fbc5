"""The project's web addresses, derived from the repository that is built.

The sources contain no address, because a fork would then carry the address of the original. The build reads it from
GitHub's runner, or else from git.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]


def homepage() -> str | None:
    """Web page of the repository that is built; None if neither GitHub's runner nor git reveals it."""
    server, repository = os.environ.get("GITHUB_SERVER_URL"), os.environ.get("GITHUB_REPOSITORY")
    if server and repository:
        return f"{server}/{repository}"
    return page_of(_origin())


def page_of(remote: str) -> str | None:
    """Web page of a git remote such as ``git@example.org:owner/name.git``; None if the remote is not on a server."""
    found = re.fullmatch(r"(?:https://|ssh://git@|git@)([A-Za-z0-9.-]+)[:/]([\w./~-]+?)(?:\.git)?/?", remote)
    return f"https://{found[1]}/{found[2]}" if found else None


def urls() -> dict[str, str]:
    """Content of `[project.urls]`; empty if the project's address is unknown."""
    home = homepage()
    if home is None:
        return {}
    return {
        "Homepage": home,
        "Source": home,
        "Issues": f"{home}/issues",
        "Releases": f"{home}/releases",
        "Changelog": f"{home}/blob/main/CHANGELOG.md",
    }


def dynamic_metadata(settings: Mapping[str, Any], project: Mapping[str, Any]) -> dict[str, dict[str, str]]:
    """Fields of `[project]` for a build, which calls this metadata provider; it has no settings."""
    return {"urls": urls()}


def _origin() -> str:
    command = ["git", "-C", str(ROOT), "remote", "get-url", "origin"]
    try:
        return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()
    except OSError:  # git is not installed
        return ""
