"""What README and guide print works: every block, in the order of its page, in an empty folder and history."""

from __future__ import annotations

import importlib.util
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
import typer.testing
from tests.helpers.printed_code import NOT_RUN, PAGES, ROOT, SLOW, Block, blocks

from subflow_app.cli.commands import app
from subflow_app.core.catalog import app_catalog
from subflow_app.core.learning.recipes import load_recipe
from subflow_app.core.resources import find_scenario
from subflow_sim.scenario import parse_scenario
from subflow_sim.script import check_script, kind_of

# What is HTML is opened by browsers, in tests/web/test_served_pages.py.
LANGUAGES = {"sh", "console", "python", "toml", "text", "html"}
_OFFERED = re.compile(r"\{download\}`[^`<]*</([^>]+)>`")
# What a slow command has to look at its words without doing what they say.
_ONLY_TOLD = {"sweep": "--estimate", "reproduce": "--list", "arena": "--list"}


def _name(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def _pages(*languages: str) -> list[Path]:
    return [page for page in PAGES if any(block.language in languages for block in blocks(page))]


def _lines(block: Block) -> Iterator[tuple[str, str]]:
    """The commands of a block, each with what it is to print; that is empty where the page does not say it."""
    lines = block.text.splitlines()
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


def _parse(words: list[str]) -> None:
    """Reads words as the command line does, to the end, and runs nothing; what is wrong ends as typer's error."""
    command: Any = typer.main.get_command(app)
    context = command.make_context("subflow", list(words))
    while hasattr(command, "commands"):
        rest = [*context._protected_args, *context.args]
        if not rest:
            return
        name, command, rest = command.resolve_command(context, rest)
        context = command.make_context(name, rest, parent=context)
    # What is not done now is at least there: scenarios, recipes, plans and the like.
    params = context.params
    if params.get("scenario") and command.name in ("train", "evaluate"):
        find_scenario(params["scenario"])
    if params.get("recipe"):
        load_recipe(params["recipe"])
    if command.name in _ONLY_TOLD:
        code, _, said = _call([*words, _ONLY_TOLD[command.name]])
        assert code == 0, said


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
    assert {block.language for block in found} == LANGUAGES
    idle = [
        f"{_name(block.page)}:{block.line}: {start}"
        for block in found
        for start in block.marks
        if not any(line.startswith(start) for line, _ in _lines(block))
    ]
    assert idle == []
    assert sum(block.language == "sh" for block in found) > 30


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
        if block.language == "toml":
            parse_scenario(block.text, file=place, algorithms=app_catalog(), folder=folder)
        elif block.language == "python" and block.saved_as:
            assert check_script(block.text, kind_of(block.text)) == (), place
        elif block.language == "python":
            # In a process of its own: what other tests have imported or registered would help it.
            ran = subprocess.run(
                [sys.executable, "-c", block.text], capture_output=True, text=True, check=False, env=dict(os.environ)
            )
            assert ran.returncode == 0, f"{place}: {ran.stderr}"
        elif block.language in ("sh", "console"):
            for line, shown in _lines(block):
                program, *words = shlex.split(line, comments=True)
                if program != "subflow":
                    assert words[0] == "dev.py", f"{place}: {line}"
                    dev = _dev()
                    dev.arguments_parser().parse_args(dev.split_words(words[1:])[0])
                    continue
                mark = block.mark(line)
                _parse(words)
                if mark == NOT_RUN or (mark == SLOW and not is_full):
                    continue
                code, out, said = _call(words)
                assert code == 0, f"{place}: {line}\n{said}"
                assert shown in out, f"{place}: {line}"


def test_queries_that_the_guide_shows_can_be_asked() -> None:
    assert _call(["run", "demo", "--set", "links.wifi.loss=1%"])[0] == 0  # a history that knows this parameter
    (block,) = (block for block in blocks(ROOT / "docs" / "views" / "history.md") if block.language == "text")
    for query in block.text.splitlines():
        code, _, said = _call(["runs", query])
        assert code == 0, said
