"""Locates the files shipped with Subflow: policies and scripts for scenarios, and the scenarios."""

from __future__ import annotations

import sys
from pathlib import Path

from subflow_sim.gate import is_folder


def shipped_folder(name: str) -> Path:
    """A folder of `assets`, in the frozen program, the installed packages, or the source tree."""
    here = Path(__file__).resolve()
    bundle = getattr(sys, "_MEIPASS", None)
    folders = [Path(bundle) / "assets" / name] if bundle else []
    # This package comes before the application, whose `agents` contains only recipes, not the policies.
    folders += [here.parent / name, here.parents[1] / "subflow_app" / "assets" / name]
    return next((folder for folder in folders if is_folder(folder)), here.parents[2] / "assets" / name)


def native_folder() -> Path:
    """Folder of the compiled core, and of the programs that are installed with it."""
    from subflow_sim import _core

    return Path(str(_core.__file__)).parent


def shipped_scenarios() -> dict[str, Path]:
    """Paths of the shipped scenarios by name, sorted."""
    return {path.stem: path for path in sorted(shipped_folder("scenarios").glob("*.toml"))}
