"""Every module of ours and every library that is imported late can be imported, and says nothing meanwhile."""

from __future__ import annotations

import importlib
import pkgutil
import sys

from subflow_app.shell.selftest.check import Check, Place, is_to_be_here, require

# Those that are imported inside functions; matplotlib and PyTorch have processes of their own, tried by other checks.
_LIBRARIES = (
    *("PySide6.QtCore", "PySide6.QtGui", "PySide6.QtSvg", "PySide6.QtWidgets", "PySide6QtAds"),
    *("cma", "networkx", "platformdirs", "pyqtgraph", "rich.table", "scipy.optimize"),
    *("sqlite3", "tomlkit", "typer", "zstandard"),
)
_OPTIONAL = ("dpkt",)
_PACKAGES = ("subflow_sim", "subflow_store", "subflow_app")  # agents come with PyTorch, in a check of their own
# What learners of others need is not part of the program.
_EXTRAS = ("subflow_sim.env", "subflow_sim.parallel_env", "subflow_sim.vector_env")


def check(_place: Place) -> str:
    """Imports all of them."""
    libraries = [*_LIBRARIES, *filter(is_to_be_here, _OPTIONAL)]
    for name in libraries:
        importlib.import_module(name)
    ours = [name for package in _PACKAGES for name in modules_of(package) if name not in _EXTRAS]
    for name in ours:
        importlib.import_module(name)
    require("torch" not in sys.modules, "PyTorch was imported into the process of the window")
    return f"{len(ours)} modules of ours, {len(libraries)} libraries"


def modules_of(package: str) -> list[str]:
    """Names of the modules of a package, those of its packages included; the entries of programs are left out."""
    paths = importlib.import_module(package).__path__
    found = pkgutil.walk_packages(paths, f"{package}.")
    return [module.name for module in found if not module.name.endswith("__main__")]


CHECK = Check("imports", check)
