"""The installer for Windows: built by makensis from stand-ins for the program, and run if Wine is installed."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import icons
from windows import installer

WINE = next((path for path in ("/usr/lib/wine/wine64", shutil.which("wine64") or "") if Path(path).is_file()), None)
Wine = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("bundle ü") / "subflow"
    (folder / "_internal").mkdir(parents=True)
    for name in ("subflow.exe", "subflow-cli.exe", "_internal/module ü.py"):
        (folder / name).write_text(name, encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def made(bundle: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    if shutil.which("makensis") is None:
        pytest.skip("needs makensis of the package nsis")
    # Debian's makensis can make a 64-bit installer, which needs less of Wine than the usual 32-bit one.
    options = ("-DAMD64_STUB",) if Path("/usr/share/nsis/Stubs/zlib-amd64-unicode").exists() else ()
    return installer.make(bundle, tmp_path_factory.mktemp("installer"), version="1.2.3", options=options)


def test_nsis_makes_an_installer_without_a_warning(made: Path) -> None:
    assert made.name == "Subflow-1.2.3-Setup.exe"
    assert made.read_bytes()[:2] == b"MZ"


def _payload(setup: Path, folder: Path) -> dict[str, bytes]:
    """Files that a setup installs, by their names on the disk."""
    if shutil.which("7z") is None:
        pytest.skip("needs 7z of the package p7zip-full")
    subprocess.run(["7z", "x", f"-o{folder}", str(setup)], capture_output=True, check=True)
    files = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*") if path.is_file()}
    return {name: path.read_bytes() for name, path in files.items() if not name.startswith("$PLUGINSDIR/")}


def test_what_is_inside_is_the_program_and_its_uninstaller(made: Path, bundle: Path, tmp_path: Path) -> None:
    inside = _payload(made, tmp_path)
    assert inside.pop("Uninstall.exe")[:2] == b"MZ"
    assert inside == {name: name.encode() for name in ("subflow.exe", "subflow-cli.exe", "_internal/module ü.py")}


def test_paths_may_be_written_as_windows_writes_them(bundle: Path, tmp_path: Path) -> None:
    if shutil.which("makensis") is None:
        pytest.skip("needs makensis of the package nsis")
    shutil.copytree(bundle, tmp_path / "to pack ü" / "subflow")
    (tmp_path / "to pack ü" / "subflow.ico").write_bytes(icons.ico())
    named = {"SRC": r"to pack ü\subflow", "OUT": r"to pack ü\Setup.exe", "ICON": r"to pack ü\subflow.ico"}
    values = [f"-D{key}={value}" for key, value in {"VERSION": "1.2.3", **named}.items()]
    options = ["-V2", "-WX", "-NOCD", "-INPUTCHARSET", "UTF8", *values]
    command = ["makensis", *options, str(installer.HERE / "subflow.nsi")]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    inside = _payload(tmp_path / "to pack ü" / "Setup.exe", tmp_path / "unpacked")
    assert {"subflow.exe", "subflow-cli.exe", "_internal/module ü.py"} < inside.keys()


def test_only_what_the_uninstaller_removes_is_installed(bundle: Path, tmp_path: Path) -> None:
    script = (installer.HERE / "subflow.nsi").read_text(encoding="utf-8")
    removed = script.partition('Section "Uninstall"')[2]
    assert all(f'"$INSTDIR\\{name}"' in removed for name in installer.PARTS)
    with pytest.raises(ValueError, match=r"no subflow\.exe: .*_internal, subflow-cli\.exe, subflow\.exe"):
        installer.make(tmp_path, tmp_path, version="1.2.3")
    copy = shutil.copytree(bundle, tmp_path / "copy")
    (copy / "readme.txt").touch()
    with pytest.raises(ValueError, match=r"has readme\.txt: must be one of"):
        installer.make(copy, tmp_path, version="1.2.3")
    with pytest.raises(ValueError, match=r"the version is '1\.2': must be three numbers"):
        installer.make(bundle, tmp_path, version="1.2")


def test_its_script_names_files_as_nsis_on_windows_wants_them() -> None:
    # makensis on Linux accepts both forms, so the test reads the script itself.
    script = (installer.HERE / "subflow.nsi").read_text(encoding="utf-8")
    named = re.findall(r'^\s*File (?:/r )?"([^"]+)"', script, re.MULTILINE)
    assert named
    assert not [name for name in named if "/" in name]


def test_without_nsis_it_says_what_to_install(bundle: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(FileNotFoundError, match="makensis is not installed"):
        installer.make(bundle, tmp_path, version="1.2.3")


@pytest.fixture(scope="module")
def prefix(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of Wine's Windows installation."""
    return tmp_path_factory.mktemp("wine")


@pytest.fixture(scope="module")
def wine(pytestconfig: pytest.Config, prefix: Path) -> Iterator[Wine]:
    """Runs a program for Windows in a private Windows installation."""
    if not pytestconfig.getoption("--packaged") or WINE is None:
        pytest.skip("needs --packaged and the package wine64")
    env = {key: value for key, value in os.environ.items() if key not in ("DISPLAY", "WAYLAND_DISPLAY")}
    # Wine links its "Documents" to the home folder.
    env |= {"HOME": str(prefix), "WINEPREFIX": str(prefix), "WINEARCH": "win64"}
    env |= {"WINEDEBUG": "-all", "WINEDLLOVERRIDES": "mscoree,mshtml="}
    server = shutil.which("wineserver") or "/usr/lib/wine/wineserver"

    def run(*words: object) -> subprocess.CompletedProcess[str]:
        command = [str(WINE), *map(str, words)]
        done = subprocess.run(command, env=env, capture_output=True, text=True, check=False, errors="replace")
        # An uninstaller continues in a copy of itself after it has returned.
        subprocess.run([server, "-w"], env=env, check=True)
        return done

    assert run("wineboot", "-i").returncode == 0
    yield run
    subprocess.run([server, "-k"], env=env, check=False)


@pytest.fixture(scope="module")
def home(wine: Wine, prefix: Path) -> Path:
    """The user's folder in that Windows."""
    (user,) = (path for path in (prefix / "drive_c" / "users").iterdir() if path.name != "Public")
    return user


def test_it_installs_updates_and_goes_and_leaves_what_is_not_its_own(
    made: Path, wine: Wine, home: Path, bundle: Path
) -> None:
    program = home / "AppData/Local/Programs/Subflow"
    link = home / "AppData/Roaming/Microsoft/Windows/Start Menu/Programs/Subflow.lnk"
    data = home / "AppData/Local/subflow/subflow.db"
    data.parent.mkdir(parents=True)
    data.touch()

    assert wine(made, "/S").returncode == 0
    there = {path.relative_to(program).as_posix() for path in program.rglob("*") if path.is_file()}
    assert there == {"subflow.exe", "subflow-cli.exe", "_internal/module ü.py", "Uninstall.exe"}
    assert link.exists()
    opened_by = wine("reg", "query", r"HKCU\Software\Classes\Subflow.Database\shell\open\command", "/ve").stdout
    assert r'Programs\Subflow\subflow.exe" "%1"' in opened_by
    assert "Subflow.Database" in wine("reg", "query", r"HKCU\Software\Classes\.subflow", "/ve").stdout
    assert "Subflow.Scenario" in wine("reg", "query", r"HKCU\Software\Classes\.toml\OpenWithProgids").stdout

    (program / "_internal" / "of the version before.py").touch()
    assert wine(made, "/S").returncode == 0
    assert not (program / "_internal" / "of the version before.py").exists()

    (program / "notes.txt").touch()
    assert wine(program / "Uninstall.exe", "/S").returncode == 0
    assert [path.name for path in program.rglob("*")] == ["notes.txt"]
    assert not link.exists()
    assert data.exists()
    for key in (r"Software\Subflow", r"Software\Classes\.subflow", r"Software\Classes\Subflow.Database"):
        assert wine("reg", "query", rf"HKCU\{key}").returncode != 0, key
    assert "Subflow" not in wine("reg", "query", r"HKCU\Software\Classes", "/s").stdout


def test_a_folder_with_files_of_others_is_refused(made: Path, wine: Wine, home: Path) -> None:
    folder = home / "Documents of mine"
    folder.mkdir()
    (folder / "letter.txt").touch()
    windows_name = "C:" + str(folder).partition("drive_c")[2].replace("/", "\\")
    assert wine(made, "/S", f"/D={windows_name}").returncode == 2
    assert [path.name for path in folder.iterdir()] == ["letter.txt"]
