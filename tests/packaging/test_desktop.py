"""Files for desktops, judged by the reference tools of their formats; the tarball, which may lie in any folder."""

from __future__ import annotations

import gzip
import os
import re
import shutil
import sqlite3
import subprocess
import time
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.helpers.members import for_each
from typer.core import TyperGroup
from typer.main import get_command

import project_urls
from linux import deb, share, tarball
from linux.archive import Tree
from subflow_app.shell.commands import app
from subflow_store.upgrade import APPLICATION_ID

ROOT = Path(__file__).resolve().parents[2]
TIME_S = 1_767_225_600


@pytest.fixture(scope="module")
def installed(small_bundle: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tarball, unpacked in a folder whose name has every character that shells and desktops stumble over."""
    output = tmp_path_factory.mktemp("tarball")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SOURCE_DATE_EPOCH", str(TIME_S))
        archive = tarball.make(small_bundle, output, version="1.2.3", compression="xz")
    # Python 3.11.3 and older have no filter; the archive is our own.
    subprocess.run(["tar", "-C", output, "-xf", archive], check=True)
    return (output / "subflow-1.2.3").rename(output / "My 'own' \"apps\" $HOME `x` \\ ü")


@pytest.fixture(scope="module")
def data_home(installed: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The data folder of a user who has called add-to-menu."""
    folder = tmp_path_factory.mktemp("home ü") / "share"
    told = _run(installed / "add-to-menu", data_home=folder)
    assert told == f"Subflow is in the menu; it starts from {installed}.\n"
    return folder


def _run(*words: object, data_home: Path | None = None) -> str:
    env = dict(os.environ) | ({"XDG_DATA_HOME": str(data_home)} if data_home else {})
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, env=env, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stderr == ""
    return done.stdout


def _tool(name: str, package: str) -> str:
    if shutil.which(name) is None:
        pytest.skip(f"needs {name} of the package {package}")
    return name


def test_the_menu_entry_is_valid(data_home: Path) -> None:
    validate = _tool("desktop-file-validate", "desktop-file-utils")
    assert _run(validate, share.HERE / "subflow.desktop") == ""
    assert _run(validate, data_home / "applications" / "subflow.desktop") == ""


def test_the_description_is_valid(installed: Path) -> None:
    validate = _tool("appstreamcli", "appstream")
    (metainfo,) = (installed / "share" / "metainfo").iterdir()
    assert "Validation was successful" in _run(validate, "validate", "--no-net", "--pedantic", metainfo)
    assert '<release version="1.2.3" date="2026-01-01"/>' in metainfo.read_text(encoding="utf-8")


def test_where_the_project_has_a_home_software_centres_get_its_pages_and_pictures(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_SERVER_URL", "https://example.org")
    monkeypatch.setenv("GITHUB_REPOSITORY", "somebody/subflow")
    metainfo = tmp_path / f"{share.APPSTREAM_ID}.metainfo.xml"
    metainfo.write_text(share.filled("metainfo.xml", "1.2.3", TIME_S), encoding="utf-8")
    text = metainfo.read_text(encoding="utf-8")
    assert '<url type="bugtracker">https://example.org/somebody/subflow/issues</url>' in text
    pictures = re.findall(r"https://example\.org/somebody/subflow/raw/v1\.2\.3/(.+?)</image>", text)
    assert len(pictures) == len(share.SCREENSHOTS)
    assert all((ROOT / picture).is_file() for picture in pictures)
    validate = _tool("appstreamcli", "appstream")
    assert "Validation was successful" in _run(validate, "validate", "--no-net", "--pedantic", metainfo)


@for_each(
    ("remote", "page"),
    [
        ("git@example.org:somebody/subflow.git", "https://example.org/somebody/subflow"),
        ("https://example.org/somebody/subflow", "https://example.org/somebody/subflow"),
        ("ssh://git@example.org/somebody/subflow.git", "https://example.org/somebody/subflow"),
        ("/srv/git/subflow", None),
        ("https://name:secret@example.org/somebody/subflow", None),
        ("", None),
    ],
)
def test_the_home_is_the_page_of_the_remote(remote: str, page: str | None) -> None:
    assert project_urls.page_of(remote) == page


def test_the_forms_agree_on_names() -> None:
    entry = (share.HERE / "subflow.desktop").read_text(encoding="utf-8")
    listed = re.search(r"^MimeType=(.+);$", entry, re.MULTILINE)
    assert listed is not None
    ours = set(listed[1].split(";"))  # no type of other programs: editors open any TOML
    types = re.findall(r'<mime-type type="(.+)">', (share.HERE / "subflow-mime.xml").read_text(encoding="utf-8"))
    metainfo = (share.HERE / "metainfo.xml").read_text(encoding="utf-8")
    assert ours == set(types) == set(re.findall(r"<mediatype>(.+)</mediatype>", metainfo))
    assert f"<id>{share.APPSTREAM_ID}</id>" in metainfo


@pytest.fixture(scope="module")
def content_type(data_home: Path) -> Callable[[Path], str]:
    """The type of a file by GLib, as in file managers."""
    _tool("update-mime-database", "shared-mime-info")
    gio = _tool("gio", "libglib2.0-bin")

    def ask(path: Path) -> str:
        return _run(gio, "info", "-a", "standard::content-type", path, data_home=data_home).split()[-1]

    return ask


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("My lab ü.subflow.toml", "application/x-subflow-scenario"),
        ("plain.toml", "application/toml"),
        ("runs.subflow", "application/x-subflow"),
        ("runs.db", "application/x-subflow"),
        ("of others.db", "application/vnd.sqlite3"),
    ],
)
def test_files_are_told_by_name_and_databases_by_content(
    name: str, expected: str, content_type: Callable[[Path], str], tmp_path: Path
) -> None:
    path = tmp_path / name
    if name.endswith(".toml"):
        path.write_text("duration = '1s'\n", encoding="utf-8")
    else:
        with sqlite3.connect(path) as database:
            database.execute("create table anything(x)")
            if name.startswith("runs"):
                database.execute(f"pragma application_id = {APPLICATION_ID}")
        database.close()
    assert content_type(path) == expected


def test_a_double_click_starts_the_copy_that_was_added_to_the_menu(
    installed: Path, data_home: Path, tmp_path: Path
) -> None:
    gio = _tool("gio", "libglib2.0-bin")
    told, scenario = tmp_path / "told", tmp_path / "My lab ü.subflow.toml"
    scenario.touch()
    program = installed / "subflow"
    shutil.copyfile(program, tmp_path / "kept")
    program.write_text(
        f'#!/bin/sh\nprintf "%s\\n" "$0" "$@" >"{told}.part" && mv "{told}.part" "{told}"\n', encoding="utf-8"
    )
    _run(gio, "launch", data_home / "applications" / "subflow.desktop", scenario)
    deadline = time.monotonic() + 20
    while not told.exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    assert told.read_text(encoding="utf-8").splitlines() == [str(program), str(scenario)]
    shutil.copyfile(tmp_path / "kept", program)


def test_what_was_added_to_the_menu_goes_again(installed: Path, tmp_path: Path) -> None:
    before = tmp_path / "applications" / "other.desktop"
    before.parent.mkdir()
    before.touch()
    _run(installed / "add-to-menu", data_home=tmp_path)
    _run(installed / "add-to-menu", "--remove", data_home=tmp_path)
    left = {path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*") if path.is_file()}
    # Databases of the desktop stay, as after the removal of any other program.
    assert {name for name in left if not name.startswith("mime/")} <= {
        "applications/other.desktop",
        "applications/mimeinfo.cache",
        "icons/hicolor/icon-theme.cache",
    }
    assert not any("subflow" in name for name in left)
    for names in tmp_path.glob("mime/globs*"):
        assert "subflow" not in names.read_text(encoding="utf-8")


def test_add_to_menu_takes_no_other_words(installed: Path) -> None:
    done = subprocess.run([installed / "add-to-menu", "--uninstall"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.endswith("add-to-menu [--remove]\n")


def test_where_no_entry_can_be_made_it_says_so(installed: Path, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    env = {**os.environ, "XDG_DATA_HOME": str(tmp_path / "file")}
    done = subprocess.run([installed / "add-to-menu"], capture_output=True, text=True, env=env, check=False)
    assert done.returncode != 0
    assert done.stdout == ""
    assert str(tmp_path / "file") in done.stderr
    homeless = {"PATH": os.environ["PATH"]}
    done = subprocess.run([installed / "add-to-menu"], capture_output=True, text=True, env=homeless, check=False)
    assert done.returncode != 0
    assert "neither HOME nor XDG_DATA_HOME" in done.stderr


def test_the_tarball_starts_from_where_it_was_moved_to(installed: Path) -> None:
    assert _run(installed / "subflow", "starts") == "starts\n"
    assert (installed / "_internal" / "library.so").readlink() == Path("library.so.1")
    assert {path.name for path in installed.iterdir()} == {
        *("subflow", "_internal", "share", "add-to-menu", "README.txt", "LICENSE"),
    }


def test_the_manual_page_is_well_formed_and_names_only_commands_there_are(installed: Path) -> None:
    page = gzip.decompress((installed / "share" / "man" / "man1" / "subflow.1.gz").read_bytes()).decode()
    assert "@" not in page
    group = get_command(app)
    assert isinstance(group, TyperGroup)
    assert set(re.findall(r"^\.B subflow ([a-z-]+)$", page, re.MULTILINE)) <= set(group.commands)
    groff = _tool("groff", "groff")
    done = subprocess.run(
        [groff, "-man", "-Tutf8", "-ww", "-z"], input=page, capture_output=True, text=True, check=True
    )
    assert done.stderr == ""


def test_the_package_names_the_version_of_the_project() -> None:
    version = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    tree = Tree()
    share.add(tree, "", version, TIME_S)
    assert f'version="{version}"'.encode() in tree.entries[f"metainfo/{share.APPSTREAM_ID}.metainfo.xml"].open().read()
    assert deb.changelog(version, TIME_S).startswith(f"subflow ({version}) ")


def test_shell_scripts_are_clean() -> None:
    scripts = [path for path in (ROOT / "packaging").rglob("*") if path.is_file() and path.suffix in ("", ".sh")]
    scripts = [path for path in scripts if path.read_bytes().startswith(b"#!/bin/")]
    assert share.HERE / "add-to-menu" in scripts
    assert _run(_tool("shellcheck", "shellcheck"), *scripts) == ""
