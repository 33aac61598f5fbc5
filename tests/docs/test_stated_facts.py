"""Facts of README and guide that change with the program: versions, counts, names, limits, keys, files."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import platformdirs
import pytest
from tests.helpers.printed_code import PAGES, ROOT

from subflow_app.features.gallery.core.recipe import PAPERS
from subflow_app.features.labs.core.lab_file import lab_names
from subflow_app.features.paper.core.paper_styles import STYLES
from subflow_app.foundation.crash_reports import REPORTS_KEPT
from subflow_app.foundation.paths import default_database, log_path, settings_path
from subflow_app.shell.actions import ACTIONS
from subflow_app.terminal import failures
from subflow_sim.catalog import controllers, schedulers
from subflow_sim.limits import Limits

VERSION = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
README = (ROOT / "README.md").read_text(encoding="utf-8")
INSTALLATION = (ROOT / "docs" / "installation.md").read_text(encoding="utf-8")
INSIDE = (ROOT / "docs" / "inside.md").read_text(encoding="utf-8")
TERMINAL = (ROOT / "docs" / "terminal.md").read_text(encoding="utf-8")
TOUR = (ROOT / "docs" / "tour.md").read_text(encoding="utf-8")

_WORDS = "no one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen".split()  # noqa: SIM905
# Keys of the toolkit or of the desktop, without an action of ours.
_NOT_ACTIONS = {"Ctrl+C", "Ctrl+Enter"}  # of terminals, and of lab pages in browsers


def test_versions_of_python_are_those_that_the_project_takes() -> None:
    wanted = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["requires-python"]
    match = re.fullmatch(r">=3\.(\d+),<3\.(\d+)", wanted)
    assert match is not None
    told = f"Python 3.{match[1]} to 3.{int(match[2]) - 1} "
    assert told in README
    assert told in INSTALLATION
    assert f"OLDEST_PYTHON, NEWEST_PYTHON = (3, {match[1]}), (3, {int(match[2]) - 1})" in (ROOT / "dev.py").read_text()


def test_systems_are_those_whose_python_the_project_takes() -> None:
    """The versions of Python in their packages; README, guide and dev.py name the same systems, tried or not."""
    pythons = {
        "Debian 12": 11,
        "Debian 13": 13,
        "Ubuntu 22.04": 11,  # python3.11; python3 is 3.10
        "Ubuntu 24.04": 12,
        "Ubuntu 26.04": 14,
    }
    wanted = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["requires-python"]
    oldest, beyond = map(int, re.findall(r"3\.(\d+)", wanted))
    taken = {system for system, minor in pythons.items() if oldest <= minor < beyond}
    stated = "Debian 12 or 13 (tried), Ubuntu 22.04, 24.04 or 26.04 (not tried)"
    debian, ubuntu = (re.findall(r"\d[\d.]+", part) for part in stated.split(" (tried), "))
    assert taken == {f"Debian {each}" for each in debian} | {f"Ubuntu {each}" for each in ubuntu}
    assert f'SYSTEMS = "{stated}"' in (ROOT / "dev.py").read_text(encoding="utf-8")
    for page in ("README.md", "CONTRIBUTING.md", "docs/installation.md"):
        assert stated in (ROOT / page).read_text(encoding="utf-8"), page


def test_each_system_is_marked_as_tried_or_not() -> None:
    offered = INSTALLATION.partition("## With an installer")[2].partition("\n## ")[0]
    rows = [row.split("|")[1].strip() for row in re.findall(r"^\| .+`[^`]+VERSION.+$", offered, re.MULTILINE)]
    assert [row.endswith("(not tried)") for row in rows] == [True] * 4
    assert [row for row in rows if "Debian" in row] == ["Debian 12 and 13; Ubuntu 24.04 and later (not tried)"]
    table = INSTALLATION.partition("## Tried systems")[2].partition("\n## ")[0]
    assert f"version {VERSION}" in table
    trials = [row.split("|")[1:4] for row in re.findall(r"^\| .+$", table, re.MULTILINE)][2:]
    assert len(trials) > 8
    # A trial names its command, or the row of which it is another system.
    for system, part, how in trials:
        assert re.search(r"`[^`]+`|not tried|as above", how), f"{system}, {part}"


def test_extras_are_those_of_the_project() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    for_developers = {"build", "dev", "docs", "lock", "package"}
    listed = re.findall(r"^\| `(\w+)` \|", INSTALLATION, re.MULTILINE)
    assert sorted(listed) == sorted(project["optional-dependencies"].keys() - for_developers)


def test_all_exit_codes_are_listed() -> None:
    codes = {value for name, value in vars(failures).items() if name.isupper() and isinstance(value, int)}
    assert len(codes) >= 7
    page = (ROOT / "docs" / "command-line.md").read_text(encoding="utf-8")
    table = page.partition("## Exit codes")[2].partition("\n```")[0]
    assert [int(code) for code in re.findall(r"^\| (\d+) \|", table, re.MULTILINE)] == sorted(codes)


def test_counts_are_counted() -> None:
    labs, papers = _WORDS[len(lab_names())], _WORDS[len(PAPERS)]
    assert f"has {labs} guided [labs]" in TOUR
    assert f"every experiment of the {papers} papers" in TOUR
    assert f"{labs} guided labs" in README
    assert f"the experiments of {papers} papers" in README


def test_all_controllers_and_schedulers_are_named() -> None:
    inside = INSIDE.partition("## What is inside")[2].partition("\n## ")[0].lower()
    plain = re.sub(r"[^a-z0-9]", "", inside)
    assert [each.name for each in (*controllers(), *schedulers()) if each.name.replace("-", "") not in plain] == []


def test_limits_and_sizes_are_those_of_the_program() -> None:
    assert Limits() == Limits(memory_bytes=4e9, link_crossings=2e10)
    assert "needs more than 4 GB or 2·10¹⁰ events is refused" in TERMINAL
    (column,) = (style for style in STYLES if style.id == "ieee")
    assert f"one column of a paper, {column.width_mm:g} mm" in TERMINAL
    assert f"The last {REPORTS_KEPT} are kept." in INSTALLATION


def test_keys_do_what_is_written() -> None:
    known = {key for spec in ACTIONS for key in spec.shortcuts}
    used = {
        (path.relative_to(ROOT).as_posix(), key)
        for path in PAGES
        for key in re.findall(
            r"(?<![\w+])((?:Ctrl|Alt|Shift)(?:\+(?:Ctrl|Alt|Shift))*\+(?:F\d+|[A-Z/]|Return|Enter|Space)|F\d{1,2})(?![\w+])",
            path.read_text(encoding="utf-8"),
        )
    }
    assert sorted(each for each in used if each[1] not in known | _NOT_ACTIONS) == []
    assert len(used) > 20


def test_files_lie_where_the_guide_says(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    if not platformdirs.user_data_dir().startswith("/"):
        pytest.skip("the first column is that of Linux")
    for name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    linux = re.findall(r"^\| [^|]+ \| `(~/\.[^`]+)` \|", INSTALLATION, re.MULTILINE)
    folders = [default_database().parent, settings_path().parent, log_path().parent]
    assert [f"~/{folder.relative_to(tmp_path).as_posix()}" for folder in folders] == linux


def test_sources_that_the_guide_names_are_there() -> None:
    named = {
        (path.relative_to(ROOT).as_posix(), file)
        for path in PAGES
        for file in re.findall(r"`((?:sim|agents|app|assets|docs|tests|packaging)/[\w./-]+)`", path.read_text("utf-8"))
    }
    assert sorted(each for each in named if not (ROOT / each[1]).exists()) == []
    assert len(named) > 10
