"""The skeleton files of the page on extending."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

SKELETONS = Path(__file__).resolve().parents[2] / "docs" / "skeletons"


def loaded_skeleton(name: str, module: str) -> ModuleType:
    """A skeleton, loaded as the module under whose name the page saves it."""
    spec = importlib.util.spec_from_file_location(module, SKELETONS / name)
    assert spec is not None
    assert spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    sys.modules[module] = made
    spec.loader.exec_module(made)
    return made
