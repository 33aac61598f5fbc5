"""Content of the bundle, its sizes, and the licences of its parts."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from importlib import metadata
from importlib.machinery import SourcelessFileLoader
from pathlib import Path

import pytest
from packaging.utils import canonicalize_name
from tests.helpers.members import for_each

import dataclass_code
import freezing
import licences
import sizes

ROOT = Path(__file__).resolve().parents[2]


def test_no_library_that_the_program_depends_on_is_excluded() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    wanted = [*project["dependencies"], *extras["train"], *extras["pcap"]]
    names = {canonicalize_name(re.split("[<>=]", each)[0]) for each in wanted}
    modules = {
        module
        for module, owners in metadata.packages_distributions().items()
        if names & {canonicalize_name(owner) for owner in owners}
    }
    assert {"yaml", "numpy", "dpkt"} <= modules
    # The second package of PyTorch only contains names of the first.
    assert modules & set(freezing.EXCLUDED_MODULES) == {"functorch"}


@for_each(
    ("destination", "dropped"),
    [
        ("PySide6/Qt/plugins/platforms/libqxcb.so", False),
        ("PySide6/Qt/plugins/platforms/libqoffscreen.so", False),
        ("PySide6/Qt/plugins/platforms/libqwayland.so", False),
        ("PySide6/Qt/plugins/platforms/libqeglfs.so", True),
        ("PySide6/Qt/plugins/iconengines/libqsvgicon.so", False),
        ("PySide6/Qt/translations/qtbase_de.qm", False),
        ("PySide6/Qt/translations/qtbase_fr.qm", True),
        ("torch/bin/torch_shm_manager", False),
        ("torch/bin/protoc", True),
        ("torch/include/ATen/ATen.h", True),
        ("assets/scenarios/demo.toml", False),
        ("PySide6/QtOpenGL.abi3.so", True),
        ("PySide6/Qt/lib/libQt6OpenGL.so.6", False),
        ("matplotlib/mpl-data/fonts/ttf/DejaVuSansMono.ttf", False),
        ("matplotlib/mpl-data/fonts/ttf/DejaVuSansMono-Bold.ttf", True),
    ],
)
def test_only_what_the_program_uses_is_kept(destination: str, dropped: bool) -> None:
    assert freezing.is_dropped(destination) is dropped


def test_plots_are_drawn_without_opengl() -> None:
    replaced = "; ".join(f"sys.modules[{name!r}] = without_opengl" for name in freezing.WITHOUT_OPENGL)
    words = f"""
import sys, without_opengl; {replaced}
import pyqtgraph
pyqtgraph.mkQApp()
widget = pyqtgraph.PlotWidget()
widget.resize(400, 300)
widget.plot([1.0, 3.0, 2.0], pen="#ff0000")
widget.show()
image = widget.grab().toImage()
colours = {{image.pixelColor(x, y).name() for x in range(400) for y in range(300)}}
assert "#ff0000" in colours, colours
"""
    places = os.pathsep.join((str(ROOT / "packaging"), *sys.path))
    environment = os.environ | {"PYTHONPATH": places, "QT_QPA_PLATFORM": "offscreen"}
    assert subprocess.run([sys.executable, "-c", words], env=environment, check=False, timeout=120).returncode == 0


def test_data_classes_are_defined_from_code_that_is_compiled_already(tmp_path: Path) -> None:
    file = tmp_path / dataclass_code.FILE
    places = os.pathsep.join((str(ROOT / "packaging"), *sys.path))
    environment = os.environ | {"PYTHONPATH": places, "QT_QPA_PLATFORM": "offscreen"}
    command = [sys.executable, str(ROOT / "packaging" / "dataclass_code.py"), str(file)]
    subprocess.run(command, env=environment, check=True, timeout=120)
    words = f"""
import builtins, dataclass_code, pathlib
asked = []
run = builtins.exec
def heard(source, *names):
    asked.append(isinstance(source, str) and "__create_fn__" in source)
    run(source, *names)
builtins.exec = heard
dataclass_code.use(pathlib.Path({str(file)!r}))
import subflow_app.shell.main_window

import dataclasses
assert len(asked) > 500 and not any(asked)
@dataclasses.dataclass(frozen=True)
class Own:
    first: int
    second: str = "b"
assert repr(Own(1)) == "Own(first=1, second='b')" and Own(1) == Own(1, "b") and asked[-1]
"""
    assert subprocess.run([sys.executable, "-c", words], env=environment, check=False, timeout=120).returncode == 0


def test_every_module_of_ours_is_in_the_bundle() -> None:
    modules = {"subflow_sim", "subflow_agents.ppo", "subflow_app.shell.main_window", "subflow_store.migrations"}
    assert modules <= set(freezing.hidden_imports(ROOT))


def test_assets_are_in_the_bundle_without_what_only_readers_of_the_sources_need(tmp_path: Path) -> None:
    for name in ("experiments.db", "experiments.building.db-wal", "README.md", "claims/README.md"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    assert list(freezing.asset_files(tmp_path)) == [tmp_path / "experiments.db"]
    shipped = {path.relative_to(ROOT / "assets").as_posix() for path in freezing.asset_files(ROOT / "assets")}
    assert {"experiments.db", "icon.svg", "scenarios/demo.toml", "labs/de/01-first-sawtooth.md"} <= shipped


def test_what_the_bindings_compile_at_each_start_is_compiled_already(tmp_path: Path) -> None:
    entries = freezing.binding_support(tmp_path)
    places = [Path(destination) for destination, _source, _kind in entries]
    assert {place.parts[:3] for place in places} == {("shiboken6", "files.dir", "shibokensupport")}
    assert {"loader.pyc", "feature.pyc", "parser.pyc"} <= {place.name for place in places}
    for _destination, source, _kind in entries:
        assert SourcelessFileLoader("any", source).get_code("any") is not None


def test_a_link_whose_target_was_dropped_is_dropped_too() -> None:
    kept = ("PySide6/Qt/lib/libQt6Core.so.6", "/nowhere/libQt6Core.so.6", "BINARY")
    links = [
        ("libQt6Core.so.6", "PySide6/Qt/lib/libQt6Core.so.6", "SYMLINK"),
        ("libQt6Test.so.6", "PySide6/Qt/lib/libQt6Test.so.6", "SYMLINK"),
    ]
    assert freezing.without_broken_links([kept, *links]) == [kept, links[0]]
    assert freezing.without_broken_links(links, [kept]) == [links[0]]


def test_sizes_are_told_by_part_the_largest_first(tmp_path: Path) -> None:
    bundle = tmp_path / "subflow"
    for name, count in (("_internal/numpy/a.so", 3), ("_internal/numpy.libs/b.so", 4), ("_internal/torch/c.so", 9)):
        (bundle / name).parent.mkdir(parents=True, exist_ok=True)
        (bundle / name).write_bytes(bytes(count << 20))
    (bundle / "subflow").write_bytes(bytes(1 << 20))
    (bundle / "_internal" / "link.so").symlink_to("torch/c.so")
    for name, count in (("experiments.db", 6), ("icon.svg", 1)):
        (bundle / "_internal/assets").mkdir(exist_ok=True)
        (bundle / "_internal/assets" / name).write_bytes(bytes(count << 20))
    told = sizes.report(bundle, [bundle / "subflow"], tmp_path)
    parts = [line.partition("MiB")[2].strip() for line in told.splitlines()[:4]]
    assert parts == [", of which", "PyTorch", "NumPy", "Subflow: library of results"]
    assert json.loads((tmp_path / "sizes.json").read_text())["installed_bytes"] == 24 << 20


def test_licences_are_found_by_the_files_of_the_parts(tmp_path: Path) -> None:
    import dpkt
    import PySide6

    helper = next(path for path, _ in freezing.own_binaries() if path.endswith("subflow-kernel-helper"))
    sources = [dpkt.__file__, str(PySide6.__file__), str(ROOT / "assets" / "README.md"), json.__file__, "-", "", helper]
    parts = licences.collect(sources, tmp_path / "licenses", ROOT)
    assert [part.name for part in parts] == ["PyInstaller", "Python", "Subflow", "dpkt", "libc6", "Qt and PySide6"]
    assert "subflow-kernel-helper" in parts[-2].note  # its C library
    index = json.loads((tmp_path / "licenses" / "index.json").read_text(encoding="utf-8"))
    assert all((tmp_path / "licenses" / file).read_bytes() for part in index for file in part["files"])
    qt = index[-1]
    assert qt["version"] == metadata.version("PySide6_Essentials")
    assert "in its place" in qt["note"]
    assert {"Qt-and-PySide6/LGPL-3.0.txt", "Qt-and-PySide6/GPL-3.0.txt"} <= set(qt["files"])


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="asks dpkg")
def test_a_file_that_belongs_to_nothing_is_refused(tmp_path: Path) -> None:
    stray = tmp_path / "libstray.so"
    stray.write_bytes(b"\0")
    with pytest.raises(licences.LicenceError, match=r"the origin of .*libstray\.so"):
        licences.collect([stray], tmp_path / "licenses", ROOT)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has the helper")
def test_the_helper_that_loads_controllers_is_a_program_of_its_own() -> None:
    (helper,) = (Path(path) for path, _ in freezing.own_binaries() if path.endswith("subflow-kernel-helper"))
    assert os.access(helper, os.X_OK)
    assert b"/ld-linux" not in helper.read_bytes()  # without a loader of libraries: static


def test_the_core_that_was_built_for_the_bundle_takes_the_place_of_the_installed_one() -> None:
    name = "_core.cpython-311-x86_64-linux-gnu.so"
    entries = [(f"subflow_sim/{name}", f"/venv/{name}", "EXTENSION"), ("libx.so", "/lib/libx.so", "BINARY")]
    assert freezing.with_core(entries, None) == entries
    assert freezing.with_core(entries, f"/made/{name}") == [
        (f"subflow_sim/{name}", f"/made/{name}", "EXTENSION"),
        ("libx.so", "/lib/libx.so", "BINARY"),
    ]
