"""Version and addresses of the simulator's distribution, also where it is unpacked from its archive of sources."""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Mapping
from email.parser import HeaderParser
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent


def dynamic_metadata(settings: Mapping[str, Any], project: Mapping[str, Any]) -> dict[str, str | dict[str, str]]:
    """Fields of `[project]` for the build, which passes no settings."""
    archive = HERE / "PKG-INFO"
    if archive.is_file():  # nothing lies above it
        told = HeaderParser().parsestr(archive.read_text(encoding="utf-8"))
        urls = dict(line.split(", ", 1) for line in told.get_all("Project-URL", []))
        return {"version": told["Version"], "urls": urls}
    sys.path.append(str(HERE.parent / "packaging"))
    import project_urls

    whole = tomllib.loads((HERE.parent / "pyproject.toml").read_text(encoding="utf-8"))
    return {"version": whole["project"]["version"], "urls": project_urls.urls()}
