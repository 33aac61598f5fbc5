"""The .deb on a Debian without Python and Qt: installed, used by a student, upgraded and removed.

The tests form one sequence: the last removes the package that the first has installed. Only apt has network access; the
program runs without. Screenshots go to build/package/screenshots, measurements to build/package/bare-system.json.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.helpers.bare_system import USER, USER_ID, BareSystem, NoBareSystem, base_archive
from tests.helpers.locales import locale_source
from tests.helpers.waiting import wait_until
from tests.packaging.conftest import OUTPUT

from virtual_screen import VirtualScreen

pytestmark = pytest.mark.timeout(1800)

SUITES = ("bookworm", "trixie")
"""Releases of Debian: 12 and 13."""

# Packages by which a desktop finds the program of a file; the package itself does not need them.
DESKTOP = ("desktop-file-utils", "libfile-mimeinfo-perl", "libglib2.0-bin", "shared-mime-info", "xdg-utils")

FOLDER = "Übung 1, Wärme und Weg"
"""Spaces, a comma and letters outside ASCII, as in names that people give."""
SCENARIO = f"/home/{USER}/{FOLDER}/Mein Labor ü.subflow.toml"
OWN_HISTORY = " · subflow.db — Subflow"
"""End of the window's title, once the user's database is open."""
DATABASE = f"/home/{USER}/{FOLDER}/Ergebnisse ß.subflow"

# Written by apt, dpkg and the caches of the desktop at every installation, and kept after a removal.
NOT_OF_THE_PACKAGE = (
    *("/var/log/", "/var/cache/", "/var/lib/apt/", "/var/lib/dpkg/", "/var/lib/ucf/", "/etc/ld.so.cache"),
    *("/usr/share/mime/", "/usr/share/applications/mimeinfo.cache", "/usr/share/icons/hicolor/icon-theme.cache"),
)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Runs each test on every release."""
    if "suite" in metafunc.fixturenames:
        metafunc.parametrize("suite", SUITES, scope="module")


def newest(pattern: str) -> Path:
    """The newest output of `dev.py package` of a kind; fails without one."""
    found = sorted(OUTPUT.glob(pattern), key=lambda path: path.stat().st_mtime)
    if not found:
        pytest.fail(f"{OUTPUT / pattern} is not there: python3 dev.py package", pytrace=False)
    return found[-1]


@pytest.fixture(scope="module")
def deb(pytestconfig: pytest.Config) -> Path:
    if not pytestconfig.getoption("--packaged"):
        pytest.skip("needs the package: python3 dev.py test-package")
    return newest("subflow_*_amd64.deb")


@pytest.fixture(scope="module")
def figures(suite: str) -> Iterator[dict[str, Any]]:
    """Measurements on this system; written to the file after its last test."""
    measured: dict[str, Any] = {}
    yield measured
    file = OUTPUT / "bare-system.json"
    others = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    file.write_text(json.dumps(others | {suite: measured}, indent=2) + "\n", encoding="utf-8")


@pytest.fixture(scope="module")
def system(deb: Path, suite: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[BareSystem]:
    try:
        archive = base_archive(suite, OUTPUT / "roots")
    except NoBareSystem as reason:
        pytest.skip(str(reason))
    bare = BareSystem(tmp_path_factory.mktemp("bare") / "root", archive)
    yield bare
    bare.remove()


@pytest.fixture(scope="module")
def files_before(system: BareSystem) -> dict[str, str]:
    """The files of the system before the installation."""
    return system.files()


@pytest.fixture(scope="module")
def packages_before(system: BareSystem) -> set[str]:
    """The packages of the system before the installation."""
    return system.packages()


@pytest.fixture(scope="module")
def installed(
    system: BareSystem, deb: Path, files_before: dict[str, str], packages_before: set[str], figures: dict[str, Any]
) -> BareSystem:
    """The system with the package, installed by apt with its dependencies, as by a double click on the file."""
    assert not any("subflow" in path for path in files_before)
    copy = system.root / "tmp" / deb.name
    shutil.copyfile(deb, copy)
    system.apt_get("update")
    began = time.monotonic()
    system.apt_get("install", "--no-install-recommends", f"/tmp/{deb.name}")
    copy.unlink()
    figures["install_s"] = round(time.monotonic() - began, 1)
    figures["packages_with_it"] = sorted(system.packages() - packages_before - {"subflow"})
    figures["deb_mb"] = round(deb.stat().st_size / 1e6, 1)
    figures["installed_mib"] = round(_size_bytes(system.root / "usr/lib/subflow") / 2**20, 1)
    return system


def _size_bytes(folder: Path) -> int:
    """Size of the files of a folder on a disk; a file with several links counts once."""
    told = subprocess.run(["du", "-s", "--block-size=1", folder], capture_output=True, text=True, check=True).stdout
    return int(told.split()[0])


@pytest.fixture(scope="module")
def desktop(installed: BareSystem) -> BareSystem:
    """The system with the packages of a desktop that open a file with its program."""
    installed.apt_get("install", "--no-install-recommends", *DESKTOP)
    return installed


@pytest.fixture
def screen() -> Iterator[VirtualScreen]:
    with VirtualScreen() as on:
        yield on


@contextmanager
def opened(
    system: BareSystem, words: Sequence[str], screen: VirtualScreen, log: Path, title: str = "Subflow", **options: Any
) -> Iterator[subprocess.Popen[bytes]]:
    """The program with a window of this title during the context; it must end normally and without a traceback."""
    window = system.start(words, log, user=True, display=screen.display, **options)
    try:
        screen.wait_for_title(title, window)
        yield window
        assert system.end(window, "subflow") == 0
    finally:
        system.kill(window)
        sys.stdout.write(log.read_text(encoding="utf-8"))  # pytest shows it if the test fails
    assert "Traceback" not in log.read_text(encoding="utf-8")


def picture(screen: VirtualScreen, suite: str, name: str) -> None:
    """Saves a picture of the screen as soon as it no longer changes; it must show more than an empty frame."""

    def is_still() -> bool:
        before = screen.pixels()
        time.sleep(1)
        return bool((screen.pixels() == before).all())

    try:
        wait_until(is_still, "the window no longer changes")
    finally:
        screen.save(OUTPUT / "screenshots" / f"{suite}-{name}.png")
    assert screen.colours() > 200


def scenario_of_a_student(system: BareSystem) -> None:
    """Saves the demo in a folder of the student."""
    inside = system.root / SCENARIO[1:]
    if not inside.exists():
        demo = next((system.root / "usr/lib/subflow").rglob("scenarios/demo.toml"))
        system.run(["mkdir", "-p", str(Path(SCENARIO).parent)], user=True)
        system.run(["cp", f"/{demo.relative_to(system.root)}", SCENARIO], user=True)


def test_the_system_has_neither_python_nor_qt(system: BareSystem, files_before: dict[str, str]) -> None:
    assert not [path for path in files_before if re.search(r"/bin/python|/libpython|/libQt|/qt6?/", path)]
    assert not [name for name in system.packages() if re.match(r"python|libpython|libqt|qt", name)]


def test_apt_brings_what_the_package_needs_and_that_is_no_python_and_no_qt(
    installed: BareSystem, figures: dict[str, Any]
) -> None:
    assert "subflow" in installed.packages()
    assert not [name for name in installed.packages() if re.match(r"python|libpython|libqt|qt", name)]
    told = installed.run(["subflow", "--version"], user=True)
    assert re.fullmatch(r"subflow \d+\.\d+\.\d+\n", told.stdout)
    assert told.stderr == ""


def test_files_belong_to_root_and_nobody_else_may_change_them(installed: BareSystem) -> None:
    wrong = []
    for path in sorted((installed.root / "usr/lib/subflow").rglob("*")):
        kind = path.lstat()
        if kind.st_uid or kind.st_gid or (kind.st_mode & 0o022 and not path.is_symlink()):
            wrong.append(str(path))
    assert wrong == []


def test_the_self_test_passes_for_an_ordinary_user_without_a_network(
    installed: BareSystem, figures: dict[str, Any]
) -> None:
    began = time.monotonic()
    told = installed.run(["subflow", "--selftest"], user=True, check=False)
    figures["self_test_s"] = round(time.monotonic() - began, 1)
    figures["self_test"] = told.stdout.splitlines()
    assert told.returncode == 0, f"{told.stdout}\n{told.stderr}"
    assert "FAILED" not in told.stdout
    assert told.stderr == ""


def test_the_window_shows_and_runs_the_demo(
    installed: BareSystem, screen: VirtualScreen, suite: str, tmp_path: Path
) -> None:
    log = tmp_path / "window.log"
    with opened(installed, ["subflow"], screen, log, "Welcome to Subflow"):
        picture(screen, suite, "welcome")
        screen.press("Escape", "Welcome to Subflow")
        wait_until(lambda: "Welcome to Subflow" not in screen.titles().values(), "the welcome is gone")
        picture(screen, suite, "window")
        screen.press("F5", "— Subflow")
        wait_until(lambda: _stored_runs(installed) == 1, "the run is in the database", 120)
        picture(screen, suite, "run")
        # A second instance, in a terminal, on the database that the window has open.
        installed.run(["subflow", "run", "demo", "--seed", "2"], user=True)
        assert _stored_runs(installed) == 2
    assert log.read_text(encoding="utf-8") == ""


def _stored_runs(system: BareSystem) -> int:
    told = system.run(["subflow", "runs", "--json"], user=True, check=False)
    return len(json.loads(told.stdout)) if told.returncode == 0 else 0


# Alphabets, digits and directions of many languages. In the first three, the capital of "i" is not "I".
LOCALES = ("tr_TR", "az_AZ", "ku_TR", "de_DE", "el_GR", "ar_EG", "fa_IR", "hi_IN", "th_TH", "ja_JP", "C", "POSIX")


@pytest.fixture
def locales(installed: BareSystem) -> Iterator[dict[str, dict[str, str]]]:
    """Variables that choose each locale; the C library of the system makes them itself."""
    installed.apt_get("install", "--no-install-recommends", "locales")
    folder = installed.root / "srv/locales"
    folder.mkdir()
    variables = {}
    for name in LOCALES:
        variables[name] = {"LC_ALL": name if name in ("C", "POSIX") else f"{name}.UTF-8", "LOCPATH": "/srv/locales"}
        if name not in ("C", "POSIX"):
            (folder / f"{name}.source").write_text(locale_source(name), encoding="utf-8")
            made = [f"/srv/locales/{name}.source", "-f", "UTF-8", f"/srv/locales/{name}.UTF-8"]
            installed.run(["localedef", "-c", "-i", *made], check=False)  # it warns about the collation
            charmap = installed.run(["locale", "charmap"], environment=variables[name]).stdout
            assert charmap == "UTF-8\n", f"the C library does not take {name}"
    yield variables
    shutil.rmtree(folder)


def test_the_window_opens_in_every_locale_and_fits_a_screen_of_800x600(
    installed: BareSystem, locales: dict[str, dict[str, str]], suite: str, tmp_path: Path
) -> None:
    with VirtualScreen(800, 600) as small:
        desktop = subprocess.Popen(["openbox"], env=os.environ | {"DISPLAY": small.display}, stderr=subprocess.DEVNULL)
        try:
            for name, variables in locales.items():
                log = tmp_path / f"{name}.log"
                with opened(installed, ["subflow"], small, log, OWN_HISTORY, environment=variables):
                    picture(small, suite, f"800x600-{name}")
                    left, top, width, height = small.place(OWN_HISTORY)
                    assert min(left, top) >= 0, name
                    assert left + width <= 800, name
                    assert top + height <= 600, name
        finally:
            desktop.terminate()
            desktop.wait()


def test_a_terminal_without_a_display_is_told_so_in_one_line(installed: BareSystem) -> None:
    told = installed.run(["subflow"], user=True, check=False)
    assert told.returncode not in (0, -6, 134), "it ends with an error, and does not crash"
    assert len(told.stderr.splitlines()) == 1, told.stderr
    assert "display" in told.stderr


def test_a_home_that_cannot_be_written_does_not_keep_the_window_away(
    installed: BareSystem, screen: VirtualScreen, tmp_path: Path
) -> None:
    installed.run(["sh", "-c", "mkdir -p /home/locked && chmod 555 /home/locked"])
    with opened(installed, ["subflow"], screen, tmp_path / "window.log", environment={"HOME": "/home/locked"}):
        wait_until(lambda: screen.colours() > 200, "a window with more than a few colours")
    assert list((installed.root / "home/locked").iterdir()) == []
    (installed.root / "home/locked").rmdir()


def test_the_command_line_takes_names_with_spaces_and_letters_of_any_alphabet(installed: BareSystem) -> None:
    scenario_of_a_student(installed)
    for locale in ("C.UTF-8", "C"):
        language = {"LANG": locale}
        told = installed.run(["subflow", "run", SCENARIO, "--db", DATABASE], user=True, environment=language)
        assert told.stderr == "" or "Traceback" not in told.stderr
    assert (installed.root / DATABASE[1:]).exists()


def test_the_desktop_knows_the_files_of_the_program(desktop: BareSystem) -> None:
    scenario_of_a_student(desktop)
    for file, kind in ((SCENARIO, "application/x-subflow-scenario"), (DATABASE, "application/x-subflow")):
        assert desktop.run(["xdg-mime", "query", "filetype", file], user=True).stdout.strip() == kind
        assert desktop.run(["xdg-mime", "query", "default", kind], user=True).stdout.strip() == "subflow.desktop"
        assert "subflow.desktop" in desktop.run(["gio", "mime", kind], user=True).stdout


# GNOME, Xfce, MATE and Cinnamon open files like gio, the others like xdg-open alone. gio does not wait for the program,
# and the name space ends with its first process.
GIO_OPEN = 'gio open "$1"; while pidof subflow >/dev/null; do sleep 0.1; done'


@pytest.mark.parametrize("opener", [("xdg-open",), ("sh", "-c", GIO_OPEN, "gio-open")], ids=["xdg-open", "gio"])
def test_a_double_click_on_a_scenario_opens_the_window_on_it(
    desktop: BareSystem, screen: VirtualScreen, suite: str, tmp_path: Path, opener: tuple[str, ...]
) -> None:
    scenario_of_a_student(desktop)
    title = f"{Path(SCENARIO).name}{OWN_HISTORY}"
    with opened(desktop, [*opener, SCENARIO], screen, tmp_path / "window.log", title):
        picture(screen, suite, f"scenario-{Path(opener[0]).name}")
        assert any(title in shown for shown in screen.titles().values())


def test_a_double_click_on_a_database_opens_the_window_on_its_runs(
    desktop: BareSystem, screen: VirtualScreen, suite: str, tmp_path: Path
) -> None:
    with opened(desktop, ["xdg-open", DATABASE], screen, tmp_path / "window.log") as window:
        wait_until(lambda: DATABASE in desktop.open_files(window, "subflow"), "the window has the database open")
        picture(screen, suite, "database")


def test_the_tarball_runs_from_a_folder_with_a_space_in_its_name(
    installed: BareSystem, screen: VirtualScreen, suite: str, tmp_path: Path
) -> None:
    tarball = newest("subflow-*-linux-x86_64.tar.*")
    folder = installed.home / "Meine Programme ü"
    folder.mkdir()
    subprocess.run(["tar", "-C", folder, "-xf", tarball], check=True)
    subprocess.run(["chown", "-R", f"{USER_ID}:{USER_ID}", folder], check=True)
    (program,) = (path for path in folder.glob("*/subflow") if path.is_file())
    inside = f"/{program.relative_to(installed.root)}"
    assert installed.run([inside, "--version"], user=True).stdout.startswith("subflow ")
    told = installed.run([inside, "--selftest"], user=True, check=False)
    assert told.returncode == 0, f"{told.stdout}\n{told.stderr}"

    with opened(installed, [inside], screen, tmp_path / "window.log"):
        picture(screen, suite, "tarball")


@pytest.fixture(scope="module")
def later_deb(deb: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The same package as a later version, with one file removed and another added."""
    folder = tmp_path_factory.mktemp("later")
    tree, later = folder / "tree", folder / "later.deb"
    subprocess.run(["dpkg-deb", "-R", deb, tree], check=True)
    control = tree / "DEBIAN/control"
    text, versions = re.subn(r"(?m)^(Version: .*)$", r"\1+later", control.read_text(encoding="utf-8"))
    assert versions == 1
    control.write_text(text, encoding="utf-8")
    (tree / "usr/lib/subflow/come").write_text("new in this version\n", encoding="utf-8")
    scenario = next(tree.rglob("scenarios/t-10d.toml"))
    scenario.unlink()
    subprocess.run(["dpkg-deb", "--root-owner-group", "-Zzstd", "-z1", "-b", tree, later], check=True)
    shutil.rmtree(tree)
    yield later
    later.unlink()


def test_an_upgrade_brings_the_new_files_and_leaves_the_user_s_alone(desktop: BareSystem, later_deb: Path) -> None:
    program = desktop.root / "usr/lib/subflow"
    (gone,) = program.rglob("scenarios/t-10d.toml")
    users = _files_of_the_user(desktop)
    assert any(path.endswith("/subflow.db") for path in users)
    arrived = desktop.root / "srv/later.deb"
    shutil.copyfile(later_deb, arrived)

    desktop.apt_get("install", f"/{arrived.relative_to(desktop.root)}")
    arrived.unlink()

    assert (program / "come").exists()
    assert not gone.exists()
    assert _files_of_the_user(desktop) == users
    assert _stored_runs(desktop) == 2


def _files_of_the_user(system: BareSystem) -> dict[str, str]:
    return {path: content for path, content in system.files().items() if path.startswith(f"/home/{USER}/")}


def test_removal_leaves_nothing_but_the_files_of_the_user(
    desktop: BareSystem, files_before: dict[str, str], packages_before: set[str], figures: dict[str, Any]
) -> None:
    users = _files_of_the_user(desktop)
    desktop.apt_get("remove", "subflow")
    assert not (desktop.root / "usr/lib/subflow").exists()
    assert _files_of_the_user(desktop) == users
    desktop.run(["dpkg", "--purge", "subflow"])  # apt-get finds a removed package only if it left files to purge

    assert "subflow" not in desktop.run(["dpkg-query", "-W", "-f", "${Package}\n"]).stdout.split()
    # The desktop's databases of programs and files were written anew without the package.
    for folder in ("usr/share/mime", "usr/share/applications", "usr/share/icons", "usr/share/metainfo"):
        for file in (desktop.root / folder).rglob("*"):
            assert "subflow" not in file.name
            assert not file.is_file() or b"subflow" not in file.read_bytes(), file
    # Dependencies that apt installed are removed as well. (Its autoremove keeps every recommended package.)
    desktop.apt_get("purge", *sorted(desktop.packages() - packages_before))

    after = desktop.files()
    left = {path for path in after.keys() - files_before.keys() if not path.startswith(NOT_OF_THE_PACKAGE)}
    assert {path for path in left if not path.startswith(f"/home/{USER}/")} == set()
    changed = {path for path in after.keys() & files_before.keys() if after[path] != files_before[path]}
    assert {path for path in changed if not path.startswith(NOT_OF_THE_PACKAGE)} == set()
    assert _files_of_the_user(desktop) == users
    figures["kept_of_the_user"] = sorted(path for path in users if users[path].startswith("-"))
