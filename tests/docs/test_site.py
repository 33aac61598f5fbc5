"""The downloads of the site: installers with their checksums, and archives that are equal for equal contents."""

from __future__ import annotations

import hashlib
import io
import zipfile
from pathlib import Path

import guide_site
import pytest
from sphinx.errors import ExtensionError

from subflow_app.foundation.resources import scenario_names


def test_installers_are_listed_with_size_and_checksum(tmp_path: Path) -> None:
    (tmp_path / "subflow_0.1.0_amd64.deb").write_bytes(b"a" * 2_500_000)
    (tmp_path / "notes.txt").write_text("no installer", encoding="utf-8")
    text = guide_site.released(str(tmp_path))
    assert 'href="downloads/release/subflow_0.1.0_amd64.deb"' in text
    assert f"| 2.5 MB | `{hashlib.sha256(b'a' * 2_500_000).hexdigest()}` |" in text
    assert "notes.txt" not in text
    assert "This site has no installers" in guide_site.released("")


@pytest.mark.parametrize(("made", "problem"), [(True, "contains no installer or wheel"), (False, "is not a folder")])
def test_a_folder_without_installers_is_an_error(tmp_path: Path, made: bool, problem: str) -> None:
    folder = tmp_path / "release"
    if made:
        folder.mkdir()
    with pytest.raises(ExtensionError, match=f"site_release=.*release: it {problem}; allowed: a folder with .deb"):
        guide_site.released(str(folder))


def test_the_scenarios_are_an_archive_that_is_the_same_again() -> None:
    content = guide_site._files()["scenarios.zip"][1]
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        assert set(archive.namelist()) == {f"{name}.toml" for name in scenario_names()}
        assert {each.date_time for each in archive.infolist()} == {(2020, 1, 1, 0, 0, 0)}
