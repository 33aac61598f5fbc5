"""Where the project is at home: told by where it is built, as copies and forks have homes of their own.

No address stands in the sources: a fork would carry one that is not its own. The build asks GitHub's runner, then git.
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
    """The web page of the repository that is built from; None where neither a runner nor git knows one."""
    server, repository = os.environ.get("GITHUB_SERVER_URL"), os.environ.get("GITHUB_REPOSITORY")
    if server and repository:
        return f"{server}/{repository}"
    return page_of(_origin())


def page_of(remote: str) -> str | None:
    """The web page of a remote of git, such as ``git@example.org:owner/name.git``; None: it is not a server's."""
    found = re.fullmatch(r"(?:https://|ssh://git@|git@)([A-Za-z0-9.-]+)[:/]([\w./~-]+?)(?:\.git)?/?", remote)
    return f"https://{found[1]}/{found[2]}" if found else None


def urls() -> dict[str, str]:
    """What `[project.urls]` would say; empty where no home is known."""
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
    """What a build asks of a provider of metadata: fields of `[project]`; of settings there are none."""
    return {"urls": urls()}


def _origin() -> str:
    command = ["git", "-C", str(ROOT), "remote", "get-url", "origin"]
    try:
        return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()
    except OSError:  # no git here
        return ""
