from __future__ import annotations

import os
from pathlib import Path

import pytest
from tests.helpers.members import for_each
from tests.helpers.present import present

from subflow_app.features.guide import core as guide
from subflow_app.features.guide.core import GuideBuild, GuidePage, find_topic, guide_file, guide_folder, guide_page
from subflow_app.foundation.errors import GuideError, InputError


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A source tree with a guide of one page that is not built yet."""
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "conf.py").write_text("project = 'one page'\n")
    (tmp_path / "docs" / "index.rst").write_text("Start\n=====\n\nA page.\n")
    monkeypatch.setattr(guide, "guide_sources", lambda: tmp_path / "docs")
    monkeypatch.setattr(guide, "guide_cache", lambda: tmp_path / "cache")
    return tmp_path


def built(folder: Path, age_s: float = 0.0) -> Path:
    """A folder that looks like a built guide, older than its sources by `age_s`."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "index.html").write_text("built")
    newest = max(path.stat().st_mtime for path in (folder.parents[2] / "docs").iterdir())
    os.utime(folder / "index.html", (newest - age_s, newest - age_s))
    return folder


@for_each(
    ("topic", "word", "page"),
    [
        ("", "", "index.html"),
        ("panel/history", "history", "views/history.html"),
        ("controller/lia", "lia", "algorithms/lia.html"),
        ("scheduler/ecf", "ecf", "schedulers/ecf.html"),
        ("command/runs/list", "command/runs/list", "command-line.html#command-runs-list"),
        ("section/link", "", "scenario-file.html#links"),
        ("plot/rtt", "", "views/plots.html"),
    ],
)
def test_a_word_finds_its_topic_and_a_topic_is_on_a_page(topic: str, word: str, page: str) -> None:
    file, _, anchor = page.partition("#")
    assert guide_page(topic) == GuidePage(file, anchor)
    assert not word or find_topic(word) == topic


def test_an_unknown_topic_is_told_with_what_is_allowed() -> None:
    with pytest.raises(InputError, match=r'no topic "menu/file"; allowed: panel/NAME, controller/NAME'):
        guide_page("menu/file")
    with pytest.raises(InputError, match=r'no page on "liar"; did you mean "lia", "olia" or "balia"'):
        find_topic("liar")


def test_a_guide_counts_where_it_is_as_new_as_its_sources(tree: Path) -> None:
    folder = tree / "build" / "docs" / "html"
    assert guide_folder() is None
    with pytest.raises(GuideError, match=r"python3 dev\.py docs builds it"):
        guide_file("controller/lia")
    built(folder, age_s=60.0)
    assert guide_folder() is None
    built(folder)
    # A topic without a page leads to the start page.
    assert guide_file("panel/of_tomorrow") == (folder / "index.html", "")


def test_the_guide_is_built_for_the_user_and_found(tree: Path) -> None:
    build = GuideBuild()

    assert build.run().state == "finished"
    folder = present(guide_folder())
    assert build.progress.fraction == 1.0
    assert "A page." in (folder / "index.html").read_text(encoding="utf-8")
    assert [path.name for path in (tree / "cache").iterdir()] == [folder.name]  # older builds are removed


def test_a_build_that_fails_or_is_given_up_leaves_nothing(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tree / "docs" / "conf.py").write_text("raise ValueError('no such theme')\n")
    with pytest.raises(GuideError, match="no such theme"):
        GuideBuild().run().check()
    assert list((tree / "cache").iterdir()) == []
    (tree / "docs" / "conf.py").write_text("import time\n\ntime.sleep(60)\n")
    build = GuideBuild()
    build.stop()
    assert build.run().state == "stopped"
    assert list((tree / "cache").iterdir()) == []
    monkeypatch.setattr(guide, "guide_sources", lambda: None)
    with pytest.raises(GuideError, match="not part of this installation"):
        GuideBuild().run().check()
