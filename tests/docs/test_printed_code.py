"""The code that README and guide print works: every block, in the order of its page, with an empty folder and history.

Commands within sentences and tables are read by the parser of the command line.
"""

from __future__ import annotations

import importlib.util
import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
import typer.testing
from tests.helpers.printed_code import INDENTED, NOT_RUN, PAGES, ROOT, SLOW, Block, blocks, inline_code
from typer._click.exceptions import MissingParameter, UsageError

from subflow_app.distribution import DISTRIBUTION
from subflow_app.features.catalog.core.catalog import app_catalog
from subflow_app.features.training.core.training_setup import load_recipe, prepare, read_recipe, request_of
from subflow_app.foundation.errors import AppError
from subflow_app.foundation.resources import find_scenario
from subflow_app.shell.commands import app
from subflow_sim.scenario import parse_scenario
from subflow_sim.script import check_script, kind_of

# Browsers open the blocks in HTML, in tests/web/test_served_pages.py.
LANGUAGES = {"sh", "console", "python", "toml", "text", "html"}
_OFFERED = re.compile(r"\{download\}`[^`<]*</([^>]+)>`")
TREE: Any = typer.main.get_command(app)
_COMMAND = re.compile(r"(?:\.venv/bin/)?(?:subflow|pip install|python3 dev\.py|dev\.py)(?: |$)")
_SHORTENED = re.compile(r"[ ]?…")  # words that a sentence leaves out
_PLACE = re.compile(r"<?[A-Z][A-Z=-]*>?|<[a-z]+>")
# Options of slow commands that check the arguments without doing the work.
_ONLY_TOLD = {"sweep": "--estimate", "reproduce": "--list", "arena": "--list"}


def _name(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def _pages(*languages: str) -> list[Path]:
    return [page for page in PAGES if any(block.language in languages for block in blocks(page))]


def _lines(block: Block) -> Iterator[tuple[str, str]]:
    """The commands of a block, each with the output that the page prints; empty where it prints none."""
    lines = block.text.replace("\\\n", " ").splitlines()
    for place, line in enumerate(lines):
        if line.startswith("$ "):
            shown = lines[place + 1 :]
            rest = [number for number, each in enumerate(shown) if each.startswith("$ ")]
            yield line[2:], "\n".join(shown[: rest[0] if rest else None])
        elif line and not lines[0].startswith("$ "):
            yield line, ""


def _call(words: list[str]) -> tuple[int, str, str]:
    result = typer.testing.CliRunner().invoke(app, words, prog_name="subflow")
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.exit_code, result.stdout, result.stderr


def _read(words: list[str]) -> Any:
    """The context of the command that words name, with all its options read; errors are typer's."""
    command = TREE
    context = command.make_context("subflow", list(words))
    while hasattr(command, "commands"):
        rest = [*context._protected_args, *context.args]
        if not rest:
            return context
        name, command, rest = command.resolve_command(context, rest)
        context = command.make_context(name, rest, parent=context)
    return context


def _parse(words: list[str]) -> None:
    """Parses words without running the command, and looks for the scenarios, recipes and plans that they name."""
    context = _read(words)
    command = context.command
    params = context.params
    if params.get("scenario") and command.name in ("train", "evaluate"):
        find_scenario(params["scenario"])
    if params.get("recipe"):
        load_recipe(params["recipe"])
    if command.name in _ONLY_TOLD:
        code, _, said = _call([*words, _ONLY_TOLD[command.name]])
        assert code == 0, said


def _parse_other(words: list[str]) -> None:
    """Reads a line of another program: of dev.py, pip, or the system's packages."""
    if words[:2] in (["python3", "dev.py"], ["pip", "install"]):
        READERS[words[0]](words[2:])
    else:
        assert words[:3] == ["sudo", "apt", "install"], words
        assert tuple(words[3:]) == _dev().QT_PACKAGES, words


def _parse_dev(words: list[str]) -> None:
    dev = _dev()
    dev.arguments_parser().parse_args(dev.split_words(words)[0])


def _parse_pip(words: list[str]) -> None:
    named = [word for word in words if not word.startswith(("-", "https:"))]
    assert named, words
    for name in named:
        source, _, extras = name.rstrip("]").partition("[")
        folder = ROOT / ("." if source == DISTRIBUTION else source)
        assert (folder / "pyproject.toml").is_file(), name
        project = tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))["project"]
        assert set(filter(None, extras.split(","))) <= set(project["optional-dependencies"]), name


READERS = {"python3": _parse_dev, "pip": _parse_pip}


def _dev() -> Any:
    spec = importlib.util.spec_from_file_location("dev", ROOT / "dev.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules.setdefault("dev", module)
    spec.loader.exec_module(module)
    return module


def test_every_block_says_what_it_is_and_every_mark_is_of_use() -> None:
    found = [block for page in PAGES for block in blocks(page)]
    assert {block.language for block in found} - {INDENTED} == LANGUAGES
    idle = [
        f"{_name(block.page)}:{block.line}: {start}"
        for block in found
        for start in block.marks
        if not any(line.startswith(start) for line, _ in _lines(block))
    ]
    assert idle == []
    assert sum(block.language == "sh" for block in found) > 30


def test_no_command_hides_in_a_block_that_is_not_run() -> None:
    hidden = [
        f"{_name(block.page)}:{block.line}: {line}"
        for page in PAGES
        for block in blocks(page)
        if block.language not in ("sh", "console", "python")
        for line in block.text.splitlines()
        if _COMMAND.match(line.removeprefix("$ "))
    ]
    assert hidden == []


def _problem_inline(text: str) -> str:
    """Mistakes of a command in a sentence; words in capitals are placeholders."""
    words = shlex.split(_SHORTENED.sub("", text.partition("|")[0]))
    words[0] = words[0].removeprefix(".venv/bin/")
    if words[0] == "dev.py" and words[1:]:
        words = ["python3", *words]
    try:
        if words[0] == "subflow":
            _read(words[1:])
        elif len(words) > 1:  # more than the name
            _parse_other(words)
    except typer.Exit:
        pass
    except MissingParameter:
        pass  # a sentence may name a command without its arguments
    except UsageError as error:
        # A word in capitals may be the placeholder of a number.
        is_place = any(word in error.format_message() for word in words if _PLACE.fullmatch(word))
        return "" if is_place else error.format_message()
    except (AssertionError, SystemExit, AppError) as error:
        return str(error)
    return ""


def test_commands_in_sentences_are_commands() -> None:
    folders = [ROOT / "assets" / "help", ROOT / "assets" / "labs"]
    pages = [*PAGES, ROOT / "CONTRIBUTING.md", *sorted(page for folder in folders for page in folder.rglob("*.md"))]
    found = [(page, line, text) for page in pages for line, text in inline_code(page) if _COMMAND.match(text)]
    wrong = [
        f"{_name(page)}:{line}: `{text}`: {problem}" for page, line, text in found if (problem := _problem_inline(text))
    ]
    assert "\n".join(wrong) == ""
    assert len(found) > 200


@pytest.mark.parametrize("page", _pages("sh", "console", "toml", "python"), ids=_name)
@pytest.mark.timeout(3600)
def test_what_a_page_prints_works_in_its_order(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    folder = tmp_path / "empty"
    folder.mkdir()
    monkeypatch.chdir(folder)
    is_full = request.config.getoption("--full")
    for offered in _OFFERED.findall(page.read_text(encoding="utf-8")):
        shutil.copy(ROOT / "docs" / offered, folder)
    for block in blocks(page):
        if block.saved_as:
            Path(block.saved_as).write_text(block.text, encoding="utf-8")
        place = f"{_name(page)}:{block.line}"
        if block.language == "toml" and "like" in tomllib.loads(block.text):
            prepare(request_of(read_recipe(block.text, Path(place))), folder)
        elif block.language == "toml":
            parse_scenario(block.text, file=place, algorithms=app_catalog(), folder=folder)
        elif block.language == "python" and block.saved_as:
            assert check_script(block.text, kind_of(block.text)) == (), place
        elif block.language == "python":
            # In a separate process: modules that other tests have imported or registered would help it.
            ran = subprocess.run(
                [sys.executable, "-c", block.text], capture_output=True, text=True, check=False, env=dict(os.environ)
            )
            assert ran.returncode == 0, f"{place}: {ran.stderr}"
        elif block.language in ("sh", "console"):
            for line, shown in _lines(block):
                program, *words = shlex.split(line, comments=True)
                mark = block.mark(line)
                if program != "subflow":
                    # dev.py sets a machine up: the tests run in the environment that it made.
                    assert mark == NOT_RUN or words[0] == "dev.py", f"{place}: {line}"
                    _parse_other([program, *words])
                    continue
                _parse(words)
                if mark == NOT_RUN or (mark == SLOW and not is_full):
                    continue
                code, out, said = _call(words)
                assert code == 0, f"{place}: {line}\n{said}"
                assert shown in out, f"{place}: {line}"


def test_queries_that_the_guide_shows_can_be_asked() -> None:
    assert _call(["run", "demo", "--set", "links.wifi.loss=1%"])[0] == 0  # creates a history with this parameter
    (block,) = (block for block in blocks(ROOT / "docs" / "views" / "history.md") if block.language == "text")
    for query in block.text.splitlines():
        code, _, said = _call(["runs", query])
        assert code == 0, said
