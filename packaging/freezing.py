"""Content of the frozen program; `subflow.spec` calls these functions for PyInstaller."""

from __future__ import annotations

import importlib
import os
import py_compile
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Sequence
from importlib import metadata
from pathlib import Path
from typing import TypeAlias

import dataclass_code
from linux.archive import is_elf
from subflow_app.distribution import DISTRIBUTION

Entry: TypeAlias = tuple[str, str, str]
"""A file of the bundle: destination, source, and PyInstaller's type code."""

SOURCE_FOLDERS = ("sim", "agents", "app")

EXCLUDED_MODULES = [
    # Interactive tools, and tools for developers.
    "tkinter", "IPython", "readline", "pytest", "_pytest", "hypothesis", "sphinx", "docutils", "setuptools", "pip",
    "wheel", "mypy", "PyInstaller", "lib2to3", "ensurepip", "idlelib", "turtledemo",
    # Learners of other projects, clusters, the GPU; PyTorch's compiler with its dependencies.
    "ray", "gymnasium", "pettingzoo", "stable_baselines3", "triton", "nvidia", "cuda", "tensorboard", "pandas", "scipy",
    "torch._dynamo", "torch._inductor", "sympy", "mpmath", "jinja2", "fsspec", "functorch",
    "torch.onnx", "torch.utils.tensorboard", "torch.utils.benchmark", "torch.utils.bottleneck", "caffe2",
    "torch.utils.cpp_extension", "torch.test",
    # Unused parts of libraries.
    "numpy.distutils", "numpy.f2py", "matplotlib.tests",
    "pyqtgraph.examples", "pyqtgraph.opengl", "pyqtgraph.jupyter",
    "pyarrow", "zstandard._cffi", "zstandard.backend_cffi", "PIL._avif", "PIL._webp", "PIL.ImageTk",
    "PySide6.QtQml", "PySide6.QtQuick", "PySide6.QtTest", "PySide6.QtSql",
    # Dependencies of the parts above, or of unused network services.
    "requests", "urllib3", "certifi", "attr", "attrs", "lxml",
    # Subflow connects to no server; hashlib computes its hashes without OpenSSL, too.
    "ssl", "_ssl", "_hashlib",
]  # fmt: skip

TORCH_SOURCES = (
    "torch._export.config",
    "torch._functorch.config",
    "torch.compiler.config",
    "torch.distributed._functional_collectives",
    "torch.distributed.config",
    "torch.functional",
    "torch.fx.experimental._config",
    "torch.nn",
)
"""Parts of PyTorch that read their own sources at import: settings, and functions with several forms."""

LOOSE_PACKAGES = ("subflow_app", "subflow_sim", "subflow_store", "numpy", "pyqtgraph")
"""Packages that every start loads. They lie beside the archive of modules, because decompressing them took 5 % of a
start.
"""

WITHOUT_OPENGL = ("PySide6.QtOpenGL", "PySide6.QtOpenGLWidgets")
"""Modules that `without_opengl.py` replaces: nothing uses them, but pyqtgraph requires them to start."""

MAC_PROPERTIES = {
    "NSHighResolutionCapable": True,
    "LSMinimumSystemVersion": "14.0",  # PyTorch's requirement; Qt requires 13
    "CFBundleDocumentTypes": [
        {
            "CFBundleTypeName": "Subflow database",
            "CFBundleTypeExtensions": ["subflow"],
            "CFBundleTypeRole": "Editor",
        },
        {
            "CFBundleTypeName": "Subflow scenario",
            "CFBundleTypeExtensions": ["toml"],
            "CFBundleTypeRole": "Editor",
            "LSHandlerRank": "Alternate",
        },
    ],
}

_QT_DROPPED = (
    r"plugins/(egldeviceintegrations|generic|networkinformation|tls|sqldrivers|designer|qmllint|qmltooling"
    r"|vectorimageformats|wayland-graphics-integration-server)/",
    r"plugins/platforms/libq(eglfs|linuxfb|minimalegl|vnc|vkkhrdisplay|minimal)\.",
    r"plugins/platformthemes/libqgtk3",
    r"plugins/platforminputcontexts/libqtvirtualkeyboardplugin",
    r"plugins/imageformats/libq(tiff|tga|wbmp|icns|pdf)\.",
    r"plugins/printsupport/",
    r"translations/(?!qtbase_de\.qm)",
    r"qml/",
    r"lib/libQt6(EglF[sS]|Test|Quick|Sql|VirtualKeyboard|Pdf|OpenGLWidgets)",
)
_DROPPED = re.compile(
    "|".join(
        [
            *(rf"PySide6/(Qt/)?{part}" for part in _QT_DROPPED),
            r"PySide6/Qt(Test|Sql|Qml|Quick|OpenGL|OpenGLWidgets)\.",
            r"torch/bin/(?!torch_shm_manager)",
            r"torch/lib/lib(torchbind_test|jitbackend_test|backend_with_compiler|aoti_custom_ops)\.",
            r"(^|/)(tests|testdata|__pycache__)/",
            r"matplotlib/mpl-data/(sample_data|fonts/(afm|pdfcorefonts)|plot_directive|images)/",
            r"matplotlib/mpl-data/fonts/ttf/DejaVu(Serif|SansMono-)",
            r"pyqtgraph/(icons/.*\.svg|icons/peegee|colors/maps/CC-BY)",
            r"\.(pyi|pxd|pxi|h|hpp|cpp|cuh|a|lib|cmake)$",
        ]
    )
)


def own_binaries() -> list[tuple[str, str]]:
    """The compiled core of the installed package, and on Linux the programs and libraries that lie beside it."""
    core = importlib.import_module("subflow_sim._core")
    assert core.__file__ is not None
    path = Path(core.__file__)
    beside = (each for each in sorted(path.parent.iterdir()) if each != path and each.is_file() and is_elf(each))
    return [(str(each), "subflow_sim") for each in (path, *beside)]


def with_core(binaries: Sequence[Entry], core: str | None) -> list[Entry]:
    """The binaries with this compiled core instead of the installed one; None changes nothing."""
    if core is None:
        return list(binaries)
    place = Path("subflow_sim") / Path(core).name
    return [(entry[0], core, entry[2]) if Path(entry[0]) == place else entry for entry in binaries]


def modules_without_opengl(root: Path) -> list[Entry]:
    """Modules that replace Qt's bindings of OpenGL."""
    return [(name, str(root / "packaging" / "without_opengl.py"), "PYMODULE") for name in WITHOUT_OPENGL]


def own_data(root: Path, prepared: Path) -> list[tuple[str, str]]:
    """Files that the program reads: assets, guide, licences, metadata, fonts of its icons."""
    assets = root / "assets"
    data = [(str(path), str(Path("assets") / path.relative_to(assets).parent)) for path in asset_files(assets)]
    data.append((str(prepared / "guide"), "guide"))
    data.append((str(prepared / dataclass_code.FILE), "."))
    data += [(str(font), "qtawesome/fonts") for font in _icon_fonts()]
    data.append((str(_qt_texts()), "PySide6/Qt/translations"))
    folder = f"{DISTRIBUTION.replace('-', '_')}-{version(root)}.dist-info"
    own = metadata.distribution(DISTRIBUTION).locate_file(folder)
    data.append((str(Path(str(own)) / "METADATA"), folder))
    return data


def hidden_imports(root: Path) -> list[str]:
    """All modules of Subflow and some of libraries: registries import them by name, which PyInstaller does not see."""
    own = [_module(path.relative_to(root / folder)) for folder in SOURCE_FOLDERS for path in _sources(root / folder)]
    return [*own, "dpkt", "safetensors.torch", "matplotlib.backends.backend_svg"]


def torch_data(package: str) -> list[tuple[str, str]]:
    """The only data of PyTorch needed: the program that `import torch` looks for."""
    manager = Path(package) / "bin" / "torch_shm_manager"
    return [(str(manager), "torch/bin")] if manager.is_file() else []


def tree(folder: Path, destination: str) -> list[Entry]:
    """A folder with all its files as data of the bundle."""
    files = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return [(str(Path(destination) / path.relative_to(folder)), str(path), "DATA") for path in files]


def binding_support(prepared: Path) -> list[Entry]:
    """Compiled Python modules that Qt's bindings embed in a library and would otherwise compile at each start.

    The bindings first look for them in ``files.dir`` beside themselves. The variable ``SBK_EMBED`` would make them
    write sources there at run time, which requires a writable program folder.
    """
    importlib.import_module("PySide6.QtCore")
    _path, embedded = sys.modules["signature_bootstrap"].prepare_zipfile()
    home = Path("shiboken6") / "files.dir"
    entries = []
    for name in embedded.zfile.namelist():
        if not name.startswith("shibokensupport/") or not name.endswith(".py"):
            continue
        source = Path(embedded.zfile.extract(name, prepared / home))
        if name.endswith("/pyi_generator.py"):
            source.write_text("", encoding="utf-8")  # writes stubs for developers; loading it took 2 % of a start
        compiled = source.with_suffix(".pyc")
        unchecked = py_compile.PycInvalidationMode.UNCHECKED_HASH
        py_compile.compile(str(source), str(compiled), dfile=name, doraise=True, invalidation_mode=unchecked)
        entries.append((str(home / Path(name).with_suffix(".pyc")), str(compiled), "DATA"))
    return entries


def is_dropped(destination: str) -> bool:
    """True if the bundle must not contain a file that PyInstaller found."""
    return _DROPPED.search(destination.replace(os.sep, "/")) is not None


def without_unused_libraries(binaries: Sequence[Entry]) -> list[Entry]:
    """Leaves out system libraries that only removed plug-ins need."""
    if not sys.platform.startswith("linux"):
        return list(binaries)
    by_name = {Path(entry[0]).name: entry for entry in binaries}
    waiting = [entry for entry in binaries if not _is_of_the_system(entry[1])]
    needed: set[str] = {entry[0] for entry in waiting}
    while waiting:
        for name in _needed(waiting.pop()[1]):
            found = by_name.get(name)
            if found is not None and found[0] not in needed:
                needed.add(found[0])
                waiting.append(found)
    return [entry for entry in binaries if entry[0] in needed]


def without_broken_links(entries: Sequence[Entry], others: Sequence[Entry] = ()) -> list[Entry]:
    """Leaves out links whose target is neither in `entries` nor in `others`."""
    targets = {entry[0] for entry in (*entries, *others)}
    return [entry for entry in entries if entry[2] != "SYMLINK" or _target(entry) in targets]


def strip_libraries(bundle: Path) -> None:
    """Strips debugging symbols from the libraries in the bundle.

    Skips libraries that a wheel has patched into itself (NAME.libs), because strip breaks some of them. Libraries of Qt
    and of the system contain no debugging symbols.
    """
    if not sys.platform.startswith("linux"):
        return
    inside = bundle / "_internal"
    libraries = [
        path
        for path in sorted(inside.rglob("*.so*"))
        if path.is_file()
        and not path.is_symlink()
        and not any(part.endswith(".libs") or part == "PySide6" for part in path.relative_to(inside).parts)
    ]
    subprocess.run(["strip", "--strip-unneeded", *libraries], check=True)


def program_file(bundle: Path) -> Path:
    """The program for the terminal in a bundle; on macOS it lies inside the application."""
    if sys.platform == "darwin":
        return bundle.parent / "Subflow.app" / "Contents" / "MacOS" / "subflow"
    return bundle / ("subflow-cli.exe" if sys.platform == "win32" else "subflow")


def version(root: Path) -> str:
    """The version in pyproject.toml."""
    with (root / "pyproject.toml").open("rb") as file:
        return str(tomllib.load(file)["project"]["version"])


def icon_file(prepared: Path) -> str | None:
    """Icon for the executable; None on Linux, whose executables contain no icons."""
    name = {"win32": "subflow.ico", "darwin": "subflow.icns"}.get(sys.platform)
    return str(prepared / name) if name is not None else None


def asset_files(assets: Path) -> Iterable[Path]:
    """Assets that the bundle contains: neither READMEs nor unfinished files."""
    for path in sorted(assets.rglob("*")):
        is_unfinished = ".building.db" in path.name  # kept by `subflow library build` to continue from
        if path.is_file() and path.name != "README.md" and not is_unfinished:
            yield path


def _icon_fonts() -> Iterable[Path]:
    from subflow_app.toolkit.icons import font_files

    return font_files()


def _qt_texts() -> Path:
    """Qt's German translations: the buttons of its dialogs."""
    import PySide6

    return Path(PySide6.__path__[0]) / "Qt" / "translations" / "qtbase_de.qm"


def _sources(folder: Path) -> Iterable[Path]:
    return (path for path in sorted(folder.rglob("*.py")) if path.name != "__main__.py")


def _module(path: Path) -> str:
    parts = path.with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _target(link: Entry) -> str:
    """Target of a link as a path within the bundle."""
    return os.path.normpath(Path(link[0]).parent / link[1])


def _is_of_the_system(source: str) -> bool:
    return re.match(r"(/usr)?/lib(64)?/", source) is not None


def _needed(library: str) -> list[str]:
    """Names of the shared libraries that a library lists as needed."""
    if not Path(library).is_file():
        return []
    told = subprocess.run(["readelf", "-d", library], capture_output=True, text=True, check=False).stdout
    return re.findall(r"\(NEEDED\).*\[(.*?)\]", told)
