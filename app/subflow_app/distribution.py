"""Version of the program and name of its distribution package."""

from __future__ import annotations

from pathlib import Path

DISTRIBUTION = "subflow-workbench"
"""The ``name`` in ``pyproject.toml``. On PyPI, `subflow` is a different project, so no code may query that name."""

_UNKNOWN = "0+unknown"


def application_version() -> str:
    """The program's version, e.g. ``"0.1.0"``.

    An installed program reads the version from the metadata that the build created from ``pyproject.toml``; a source
    tree on the import path reads ``pyproject.toml``. A second constant in the code could get out of date.
    """
    folder = f"{DISTRIBUTION.replace('-', '_')}-*.dist-info"
    beside = list(Path(__file__).resolve().parents[1].glob(folder))
    if len(beside) == 1:
        return beside[0].name.removesuffix(".dist-info").partition("-")[2]
    # A package installed in editable mode. Late, because the import would take a tenth of the time of `subflow --help`.
    from importlib import metadata

    try:
        return metadata.version(DISTRIBUTION)
    except metadata.PackageNotFoundError:
        return _version_of_source_tree(Path(__file__).resolve().parents[2] / "pyproject.toml")


def install_command(extra: str) -> str:
    """The command that installs an optional dependency group, e.g. ``pip install "subflow-workbench[pcap]"``."""
    # All shells accept double quotes, including cmd.exe of Windows.
    return f'pip install "{DISTRIBUTION}[{extra}]"'


def _version_of_source_tree(pyproject: Path) -> str:
    import tomllib

    try:
        version = tomllib.loads(pyproject.read_text(encoding="utf-8"))["project"]["version"]
    except (OSError, KeyError, tomllib.TOMLDecodeError):
        return _UNKNOWN
    return str(version)
