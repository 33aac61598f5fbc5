from __future__ import annotations

import os
from pathlib import Path

import pytest
from tests.helpers.members import for_each

from subflow_app.features.guide import core as guide
from subflow_app.features.guide.core import GuideBuild, GuidePage, find_topic, guide_file, guide_folder, guide_page
from subflow_app.foundation.errors import GuideError, InputError


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A source tree with a guide of one page, nothing built."""
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "conf.py").write_text("project = 'one page'\n")
    (tmp_path / "docs" / "index.rst").write_text("Start\n=====\n\nA page.\n")
    monkeypatch.setattr(guide, "guide_sources", lambda: tmp_path / "docs")
    monkeypatch.setattr(guide, "guide_cache", lambda: tmp_path / "cache")
    return tmp_path


def built(folder: Path, age_s: float = 0.0) -> Path:
    """A folder that looks like a built guide, so much older than its sources."""
    folder.mkdir(parents=True)
    (folder / "index.html").write_text("built")
    newest = max(path.stat().st_mtime for path in (folder.parents[2] / "docs").iterdir())
    os.utime(folder / "index.html", (newest - age_s, newest - age_s))
    return folder


@for_each(
    ("topic", "page"),
    [
        ("", GuidePage("index.html", "")),
        ("panel/history", GuidePage("views/history.html", "")),
        ("controller/mpcc-loss", GuidePage("algorithms/mpcc-loss.html", "")),
        ("scheduler/blest", GuidePage("schedulers/blest.html", "")),
        ("command/runs/list", GuidePage("command-line.html", "command-runs-list")),
        ("section/link", GuidePage("scenario-file.html", "links")),
        ("plot/rtt", GuidePage("views/plots.html", "")),
    ],
)
def test_a_topic_is_on_a_page(topic: str, page: GuidePage) -> None:
    assert guide_page(topic) == page


def test_an_unknown_topic_is_told_with_what_is_allowed() -> None:
    with pytest.raises(InputError, match=r'no topic "menu/file"; allowed: panel/NAME, controller/NAME'):
        guide_page("menu/file")
    with pytest.raises(InputError, match=r'no page on "liar"; did you mean "lia", "olia" or "balia"'):
        find_topic("liar")


def test_a_word_finds_its_topic() -> None:
    assert find_topic("lia") == "controller/lia"
    assert find_topic("ecf") == "scheduler/ecf"
    assert find_topic("history") == "panel/history"
    assert find_topic("command/run") == "command/run"


def test_a_guide_that_is_not_built_says_the_one_command(tree: Path) -> None:
    assert guide_folder() is None
    with pytest.raises(GuideError, match=r"python3 dev\.py docs builds it"):
        guide_file("controller/lia")


def test_a_guide_older_than_its_sources_does_not_count(tree: Path) -> None:
    built(tree / "build" / "docs" / "html", age_s=60.0)
    assert guide_folder() is None


def test_a_topic_without_a_page_leads_to_the_start(tree: Path) -> None:
    folder = built(tree / "build" / "docs" / "html")
    assert guide_file("panel/of_tomorrow") == (folder / "index.html", "")


def test_the_guide_is_built_for_the_user_and_found(tree: Path) -> None:
    build = GuideBuild()

    folder = build.run()

    assert folder == guide_folder()
    assert folder is not None
    assert build.progress == 1.0
    assert "A page." in (folder / "index.html").read_text(encoding="utf-8")
    assert [path.name for path in (tree / "cache").iterdir()] == [folder.name]  # nothing else is left


def test_a_guide_that_cannot_be_built_says_why_and_leaves_nothing(tree: Path) -> None:
    (tree / "docs" / "conf.py").write_text("raise ValueError('no such theme')\n")

    with pytest.raises(GuideError, match="no such theme"):
        GuideBuild().run()

    assert list((tree / "cache").iterdir()) == []


def test_a_build_that_is_given_up_leaves_nothing(tree: Path) -> None:
    (tree / "docs" / "conf.py").write_text("import time\n\ntime.sleep(60)\n")
    build = GuideBuild()
    build.stop()

    assert build.run() is None
    assert list((tree / "cache").iterdir()) == []


def test_without_sources_it_says_where_the_guide_is_from(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guide, "guide_sources", lambda: None)
    with pytest.raises(GuideError, match="not part of this installation"):
        GuideBuild().run()
