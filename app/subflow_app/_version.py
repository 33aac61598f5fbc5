"""The one place that answers "which version is this?": the ``version`` line of ``pyproject.toml``."""

from __future__ import annotations

from importlib import metadata
from pathlib import Path

_UNKNOWN = "0+unknown"


def application_version() -> str:
    """The program's version, e.g. ``"0.1.0"``.

    An installed program reads it from the metadata that the build made from ``pyproject.toml``; a source tree on the
    import path reads ``pyproject.toml`` itself. A second constant in the code would only be one more thing to forget.
    """
    try:
        return metadata.version("subflow")
    except metadata.PackageNotFoundError:
        return _version_of_source_tree(Path(__file__).resolve().parents[2] / "pyproject.toml")


def _version_of_source_tree(pyproject: Path) -> str:
    import tomllib

    try:
        version = tomllib.loads(pyproject.read_text(encoding="utf-8"))["project"]["version"]
    except (OSError, KeyError, tomllib.TOMLDecodeError):
        return _UNKNOWN
    return str(version)
