"""Checks that the program is complete: modules, libraries, PyTorch, licences, guide and help.

Imports: all of our modules, and all libraries that are imported late, can be imported without any output.

PyTorch: all parts that agents use are functional, including modules that PyTorch imports by name, which packaging may
omit.

Licences: each delivered part is listed with the texts of its licence.

Guide: the user guide and the help pages cover all panels, controllers and schedulers, in all languages.

Kernel: the helper is complete, and this machine's kernel accepts controllers; otherwise the check names the missing
part.
"""

from __future__ import annotations

import importlib
import os
import pkgutil
import sys

from subflow_app.foundation.errors import KernelError
from subflow_app.foundation.paths import is_frozen
from subflow_app.shell.selftest.check import Check, NotHereError, Place, is_to_be_here, require, skip_without

# Libraries imported inside functions; other checks test matplotlib and PyTorch, which run in separate processes.
_LIBRARIES = (
    *("PySide6.QtCore", "PySide6.QtGui", "PySide6.QtSvg", "PySide6.QtWidgets", "PySide6QtAds"),
    *("cma", "highspy", "networkx", "platformdirs", "pyqtgraph", "rich.table"),
    *("sqlite3", "tomlkit", "typer", "zstandard"),
)
_OPTIONAL = ("dpkt",)
_PACKAGES = ("subflow_sim", "subflow_store", "subflow_app")  # subflow_agents needs PyTorch and has a separate check
# Interfaces for external learning libraries are not part of the packaged program.
_EXTRAS = ("subflow_sim.env", "subflow_sim.parallel_env", "subflow_sim.vector_env")


def _check_imports(_place: Place) -> str:
    """Import all modules and libraries."""
    from subflow_app.features.paper.core.matplotlib_home import prepare_matplotlib

    # Matplotlib otherwise reports that it looks for fonts, if this takes more than five seconds.
    prepare_matplotlib()
    libraries = [*_LIBRARIES, *filter(is_to_be_here, _OPTIONAL)]
    for name in libraries:
        importlib.import_module(name)
    ours = [name for package in _PACKAGES for name in modules_of(package) if name not in _EXTRAS]
    for name in ours:
        importlib.import_module(name)
    require("torch" not in sys.modules, "PyTorch was imported into the process of the window")
    return f"{len(ours)} modules of ours, {len(libraries)} libraries"


def modules_of(package: str) -> list[str]:
    """Names of all modules of a package and its subpackages, without program entry points and libraries in C."""
    paths = importlib.import_module(package).__path__
    names = (module.name for module in pkgutil.walk_packages(paths, f"{package}."))
    return [name for name in names if not name.endswith("__main__") and "-" not in name]


IMPORTS = Check("imports", _check_imports)


def _check_learning_library(_place: Place) -> str:
    """Import all modules of agents, and test the parts of PyTorch that are easily lost when a program is frozen."""
    skip_without("torch", "train")
    from subflow_agents.torch_check import check_torch

    agents = modules_of("subflow_agents")
    for name in agents:
        importlib.import_module(name)
    return f"{check_torch()}; {len(agents)} modules of agents"


LEARNING_LIBRARY = Check("PyTorch", _check_learning_library)


_NEVER_MISSING = ("Subflow", "Python", "PySide6", "PySide6-QtAds", "numpy")
_ONLY_PACKAGED = ("PyInstaller",)  # its bootloader starts the packaged program


def _check_licences(_place: Place) -> str:
    """Check the list of parts, and the licence texts of each part."""
    from subflow_app.features.about.core import licence_parts

    parts = licence_parts()
    for part in parts:
        require(part.text().strip(), f"no licence is listed for {part.name}")
        # In a source tree, a package has only the licence texts that its authors ship.
        require(not is_frozen() or (part.licence and part.files), f"{part.name} has no licence, or no text of it")
    names = " ".join(part.name for part in parts).casefold()
    needed = _NEVER_MISSING + (_ONLY_PACKAGED if is_frozen() else ()) + (("torch",) if is_to_be_here("torch") else ())
    missing = [name for name in needed if name.casefold() not in names]
    require(not missing, f"no licence is listed for {', '.join(missing)}")
    return f"{len(parts)} parts, {sum(len(part.files) for part in parts)} texts"


LICENCES = Check("licences", _check_licences)


def _check_guide(_place: Place) -> str:
    """Check that all pages of the help and of the guide exist."""
    from subflow_app.features.guide.core import guide_folder, guide_page
    from subflow_app.foundation.resources import resource_path
    from subflow_app.vocabulary.language import ENGLISH, LANGUAGES
    from subflow_sim.catalog import controllers, schedulers

    panels = sorted(path.stem for path in resource_path("help").glob("*.md"))
    for code in LANGUAGES:
        for panel in panels:
            page = resource_path(f"help/{panel}.md" if code == ENGLISH else f"help/{code}/{panel}.md")
            require(page.read_text(encoding="utf-8").strip(), f"{page} is empty")
    folder = guide_folder()
    if folder is None:
        require(not is_frozen(), "the user guide is missing")
        raise NotHereError(f"{len(panels)} pages of help; the guide is not built: python3 dev.py docs")
    topics = ["", *(f"controller/{each.name}" for each in controllers())]
    topics += [f"scheduler/{each.name}" for each in schedulers()]
    missing = [topic for topic in topics if not (folder / guide_page(topic).file).is_file()]
    require(not missing, f"the guide has no page on {', '.join(missing)}")
    pages = sum(1 for _ in folder.rglob("*.html"))
    return f"{pages} pages of the guide, {len(panels)} of help in {len(LANGUAGES)} languages"


GUIDE = Check("guide", _check_guide)


def _check_kernel(_place: Place) -> str:
    """Let the kernel check the programs that run scripts, without registering a controller."""
    from subflow_app.features.kernel.core.loading import check_kernel, helper_path

    if sys.platform.startswith("linux"):
        require(helper_path().is_file(), f"the program that loads controllers is missing: {helper_path()}")
    try:
        check_kernel()
    except KernelError as error:
        raise NotHereError(str(error)) from error
    return f"Linux {os.uname().release} takes controllers written as scripts"


KERNEL = Check("controllers in the kernel", _check_kernel)
