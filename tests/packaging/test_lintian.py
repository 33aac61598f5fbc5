"""Findings of lintian, Debian's checker: our own files in seconds, the whole package in minutes, hence --packaged."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from linux import deb

# Accepted findings on a package that contains its libraries, each with the reason.
ACCEPTED = {
    "malformed-deb-archive": "this lintian does not know zstd, which dpkg reads since 1.21.18",
    "embedded-library": "that is what the package is for",
    "custom-library-search-path": "how libraries in wheels find each other",
    "embedded-javascript-library": "the search of the guide, which Sphinx puts beside its pages",
    "duplicate-font-file": "fonts of matplotlib, which looks nowhere else",
    "hardening-no-pie": "how PyInstaller and PyTorch build their programs",
    "library-not-linked-against-libc": "small ones of Python and PyTorch that call nothing of it",
    "statically-linked-binary": "the helper, which has capabilities: no library that others replace changes it",
    "shared-library-lacks-prerequisites": "the same, not even one another",
    "package-installs-python-bytecode": "for the Python in it, which Debian does not know and could not compile for",
    "unstripped-binary-or-object": "strip breaks libraries that were patched when their wheel was made",
}


def _lint(package: Path) -> set[str]:
    """Tags of errors and warnings."""
    lintian = shutil.which("lintian")
    if lintian is None:
        pytest.skip("needs lintian of the package lintian")
    command = [lintian, "--allow-root", "--tag-display-limit", "0", str(package)]
    told = subprocess.run(command, capture_output=True, text=True, check=False).stdout
    return set(re.findall(r"^[EW]: subflow: (\S+)", told, re.MULTILINE))


def test_what_we_write_ourselves_is_as_debian_wants_it(
    pytestconfig: pytest.Config, small_bundle: Path, tmp_path: Path
) -> None:
    if not pytestconfig.getoption("--packaged"):
        pytest.skip("lintian takes seconds: python3 dev.py test-package")
    assert _lint(deb.make(small_bundle, tmp_path, version="1.2.3", compression="xz")) == set()


@pytest.mark.timeout(1800)
def test_of_the_whole_package_it_only_finds_what_comes_with_parts_of_others(bundle: Path) -> None:
    output = bundle.parents[1]
    packages = sorted(output.glob("subflow_*.deb"))
    if not packages:
        pytest.fail(f"no package in {output}: python3 dev.py package", pytrace=False)
    assert _lint(packages[-1]) - ACCEPTED.keys() == set()
