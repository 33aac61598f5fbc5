"""The disk image for macOS: its script runs with stand-ins for the tools of a Mac."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from macos import image


@pytest.fixture
def app(tmp_path: Path) -> Path:
    program = tmp_path / "made here" / "Subflow.app" / "Contents" / "MacOS" / "subflow"
    program.parent.mkdir(parents=True)
    program.touch()
    return tmp_path / "made here" / "Subflow.app"


def _stand_ins(folder: Path, **scripts: str) -> None:
    folder.mkdir(exist_ok=True)
    for name, script in scripts.items():
        (folder / name).write_text(f"#!/bin/bash\necho {name} \"$@\" >>'{folder}/said'\n{script}\n", encoding="utf-8")
        (folder / name).chmod(0o755)


def test_the_image_holds_the_signed_program_beside_a_link_to_applications(
    app: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tools = tmp_path / "tools"
    # The image of the stand-in is a list of the files in its source folder.
    create = '[ "$1" = create ] && ls -F "$6" >"${@: -1}"; exit 0'
    _stand_ins(tools, codesign="", ditto='cp -R "$1" "$2"', hdiutil=create)
    monkeypatch.setenv("PATH", f"{tools}{os.pathsep}{os.environ['PATH']}")
    made = image.make(app, tmp_path / "output", version="1.2.3")
    assert made.name.startswith("Subflow-1.2.3-macos-")
    assert made.read_text(encoding="utf-8").splitlines() == ["Applications@", "Subflow.app/"]
    said = (tools / "said").read_text(encoding="utf-8").splitlines()
    assert [line.split()[0] for line in said] == ["codesign", "codesign", "ditto", "hdiutil", "hdiutil"]
    assert "-volname Subflow 1.2.3 " in said[3]
    assert list((tmp_path / "output").iterdir()) == [made]


def test_a_failure_leaves_no_image_and_says_why(app: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(OSError, match=r"(codesign|ditto|hdiutil) is not there: disk images are made on macOS"):
        image.make(app, tmp_path / "output", version="1.2.3")
    tools = tmp_path / "tools"
    _stand_ins(tools, codesign="", ditto='cp -R "$1" "$2"', hdiutil="echo No space left; exit 1")
    monkeypatch.setenv("PATH", f"{tools}{os.pathsep}{os.environ['PATH']}")
    with pytest.raises(OSError, match=r"dmg\.sh ended with 1:\nNo space left"):
        image.make(app, tmp_path / "output", version="1.2.3")
    with pytest.raises(OSError, match=r"elsewhere is no application"):
        image.make(tmp_path / "elsewhere", tmp_path / "output", version="1.2.3")
    assert list((tmp_path / "output").iterdir()) == []


def test_the_script_says_how_it_is_called() -> None:
    done = subprocess.run(["bash", image.SCRIPT], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.endswith("dmg.sh SUBFLOW.APP IMAGE.DMG VERSION\n")
