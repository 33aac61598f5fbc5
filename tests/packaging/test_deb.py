"""The Debian package, made from a bundle of a few files and unpacked by dpkg."""

from __future__ import annotations

import gzip
import hashlib
import json
import shutil
import subprocess
from pathlib import Path

import pytest

from linux import deb, needs
from linux.archive import Tree, release_time_s
from linux.needs import UnknownLibraryError

pytestmark = pytest.mark.skipif(shutil.which("dpkg-deb") is None, reason="needs dpkg-deb of Debian or Ubuntu")

TIME_S = 1_767_225_600


@pytest.fixture(scope="module")
def package(small_bundle: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SOURCE_DATE_EPOCH", str(TIME_S))
        return deb.make(small_bundle, tmp_path_factory.mktemp("deb"), version="1.2.3")


@pytest.fixture(scope="module")
def unpacked(package: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("unpacked")
    _dpkg_deb("--raw-extract", package, folder)
    return folder


def _dpkg_deb(*words: object) -> str:
    command = ["dpkg-deb", *map(str, words)]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def test_it_says_what_it_is(package: Path) -> None:
    assert package.name == f"subflow_1.2.3_{_dpkg_deb('--field', package, 'Architecture').strip()}.deb"
    fields = dict(
        line.split(": ", 1) for line in _dpkg_deb("--field", package).splitlines() if not line.startswith(" ")
    )
    assert (fields["Package"], fields["Version"], fields["Section"]) == ("subflow", "1.2.3", "science")
    assert "shared-mime-info" in fields["Recommends"]


def test_it_needs_the_libc_that_its_programs_ask_for(package: Path) -> None:
    # The only library of the echo in this bundle.
    depends = _dpkg_deb("--field", package, "Depends").strip()
    assert depends.startswith("libc6 (>= 2.")
    assert "," not in depends


def test_everything_belongs_to_root_and_only_programs_can_be_run(package: Path) -> None:
    listed = [line.split(maxsplit=5) for line in _dpkg_deb("--contents", package).splitlines()]
    assert {words[1] for words in listed} == {"root/root"}
    modes = {words[5]: words[0] for words in listed}
    assert {mode for name, mode in modes.items() if name.endswith("/")} == {"drwxr-xr-x"}
    assert modes["./usr/lib/subflow/subflow"] == "-rwxr-xr-x"
    assert modes["./usr/lib/subflow/_internal/library.so.1"] == "-rw-r--r--"
    assert modes["./usr/lib/subflow/_internal/data ü.txt"] == "-rw-r--r--"
    assert modes["./usr/lib/subflow/_internal/module.py"] == "-rw-r--r--"
    assert modes["./usr/bin/subflow -> ../lib/subflow/subflow"] == "lrwxrwxrwx"
    assert modes["./usr/lib/subflow/_internal/library.so -> library.so.1"] == "lrwxrwxrwx"


def test_what_the_desktop_looks_for_is_where_it_looks(unpacked: Path) -> None:
    share = unpacked / "usr" / "share"
    for path in (
        *("applications/subflow.desktop", "mime/packages/subflow.xml", "man/man1/subflow.1.gz"),
        *("metainfo/io.github.subflow.subflow.metainfo.xml", "doc/subflow/copyright", "doc/subflow/changelog.gz"),
        *("icons/hicolor/48x48/apps/subflow.png", "icons/hicolor/scalable/apps/subflow.svg"),
    ):
        assert (share / path).is_file(), path
    assert json.loads((share / "doc/subflow/licenses/index.json").read_text(encoding="utf-8")) == []
    assert "License: Expat" in (share / "doc/subflow/copyright").read_text(encoding="utf-8")
    assert subprocess.check_output([unpacked / "usr/bin/subflow", "starts"], text=True) == "starts\n"


def test_it_runs_nothing_of_its_own_when_it_is_installed_or_removed(unpacked: Path) -> None:
    assert {path.name for path in (unpacked / "DEBIAN").iterdir()} == {"control", "md5sums"}


def test_the_sums_are_those_of_all_files(unpacked: Path) -> None:
    lines = (unpacked / "DEBIAN" / "md5sums").read_text(encoding="utf-8").splitlines()
    told = {path: digest for digest, path in (line.split("  ", 1) for line in lines)}
    files = [path for path in (unpacked / "usr").rglob("*") if path.is_file() and not path.is_symlink()]
    there = {path.relative_to(unpacked).as_posix(): hashlib.md5(path.read_bytes()).hexdigest() for path in files}
    there = {path: digest for path, digest in there.items() if "/doc/subflow/licenses/" not in path}
    assert told == there


def test_the_size_is_what_dpkg_would_count(package: Path, unpacked: Path) -> None:
    paths = list((unpacked / "usr").rglob("*"))
    files = [path for path in paths if path.is_file() and not path.is_symlink()]
    kib = sum(max(1, -(-path.stat().st_size // 1024)) for path in files) + len(paths) - len(files) + 1
    assert int(_dpkg_deb("--field", package, "Installed-Size")) == kib


def test_the_changelog_is_in_the_form_of_debian(unpacked: Path) -> None:
    text = gzip.decompress((unpacked / "usr/share/doc/subflow/changelog.gz").read_bytes()).decode()
    assert text.startswith("subflow (1.2.3) stable; urgency=medium\n\n  * ")
    assert text.endswith("  Thu, 01 Jan 2026 00:00:00 +0000\n")
    assert max(map(len, text.splitlines())) <= 100


def test_the_same_bundle_gives_the_same_package(
    small_bundle: Path, package: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy = tmp_path / "elsewhere" / "subflow"
    shutil.copytree(small_bundle, copy, symlinks=True, copy_function=shutil.copyfile)
    (copy / "subflow").chmod(0o755)
    monkeypatch.setenv("SOURCE_DATE_EPOCH", str(TIME_S))
    assert deb.make(copy, tmp_path, version="1.2.3").read_bytes() == package.read_bytes()


def test_the_time_is_that_of_the_release(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "yesterday")
    with pytest.raises(ValueError, match="SOURCE_DATE_EPOCH is 'yesterday': must be seconds since 1970"):
        release_time_s()
    monkeypatch.delenv("SOURCE_DATE_EPOCH")
    assert release_time_s() > TIME_S


def test_what_cannot_become_a_package_is_refused_by_name(small_bundle: Path, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="the version is 'v1'"):
        deb.make(small_bundle, tmp_path, version="v1")
    with pytest.raises(ValueError, match=r"subflow does not exist: run the freezing first"):
        deb.make(tmp_path, tmp_path, version="1")
    with pytest.raises(ValueError, match="the compression is 'rar': must be one of xz, zstd"):
        deb.make(small_bundle, tmp_path, version="1", compression="rar")
    assert list(tmp_path.iterdir()) == []


def test_a_link_that_leads_out_of_the_bundle_or_nowhere_is_refused(tmp_path: Path) -> None:
    (tmp_path / "bundle").mkdir()
    (tmp_path / "bundle" / "link").symlink_to("/etc/passwd")
    with pytest.raises(ValueError, match="link points to /etc/passwd: must be a file inside"):
        Tree().add_folder("", tmp_path / "bundle")
    (tmp_path / "bundle" / "link").unlink()
    (tmp_path / "bundle" / "link").symlink_to("gone")
    with pytest.raises(ValueError, match="link points to gone, which does not exist"):
        Tree().add_folder("", tmp_path / "bundle")


def test_libraries_outside_the_bundle_become_packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told = """\
File: lib/libQt6Gui.so.6
 0x0000000000000001 (NEEDED)             Shared library: [libc.so.6]
 0x0000000000000001 (NEEDED)             Shared library: [libfontconfig.so.1]
  0x0010:   Name: GLIBC_2.28  Flags: none  Version: 4
  0x0020:   Name: GLIBC_2.4  Flags: none  Version: 5
File: lib/libfontconfig.so.1
 0x0000000000000001 (NEEDED)             Shared library: [libnowhere.so.7]
"""
    real = subprocess.run
    for name in ("libQt6Gui.so.6", "libfontconfig.so.1"):
        (tmp_path / name).write_bytes(b"\x7fELF")

    def readelf(command: list[str], **options: object) -> object:
        return subprocess.CompletedProcess(command, 0, told) if command[0] == "readelf" else real(command, **options)  # type: ignore[call-overload]

    monkeypatch.setattr(subprocess, "run", readelf)
    with pytest.raises(UnknownLibraryError, match=r"libnowhere\.so\.7, needed by lib/libfontconfig\.so\.1"):
        needs.depends(tmp_path)
    (tmp_path / "libnowhere.so.7").touch()
    assert needs.depends(tmp_path) == ["fontconfig-config", "libc6 (>= 2.28)"]
