"""The one place that answers "which version is this, and what is it installed as?"."""

from __future__ import annotations

from pathlib import Path

DISTRIBUTION = "subflow-workbench"
"""The ``name`` of ``pyproject.toml``. On PyPI `subflow` is another project, so nothing may ask for that."""

_UNKNOWN = "0+unknown"


def application_version() -> str:
    """The program's version, e.g. ``"0.1.0"``.

    An installed program reads it from the metadata that the build made from ``pyproject.toml``; a source tree on the
    import path reads ``pyproject.toml`` itself. A second constant in the code would only be one more thing to forget.
    """
    from importlib import metadata  # not for those who only ask for the name: they are imported as the window opens

    try:
        return metadata.version(DISTRIBUTION)
    except metadata.PackageNotFoundError:
        return _version_of_source_tree(Path(__file__).resolve().parents[2] / "pyproject.toml")


def install_command(extra: str) -> str:
    """How to install what an optional part of the program needs, e.g. ``pip install "subflow-workbench[pcap]"``."""
    # Double quotes, which every shell takes, that of Windows too.
    return f'pip install "{DISTRIBUTION}[{extra}]"'


def _version_of_source_tree(pyproject: Path) -> str:
    import tomllib

    try:
        version = tomllib.loads(pyproject.read_text(encoding="utf-8"))["project"]["version"]
    except (OSError, KeyError, tomllib.TOMLDecodeError):
        return _UNKNOWN
    return str(version)
