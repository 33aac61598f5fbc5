"""The command line, called in this process; fixtures of its tests: a scenario file, a database, a stored run."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from typer.testing import Result

    from subflow_store import Store

SCENARIO = """\
format = 1
name = "Two paths"
duration = "10s"
warmup = "2s"

[nodes.client]
[nodes.server]

[links.wifi]
ends = ["client", "server"]
rate = "8Mbit/s"
delay = "25ms"
queue = "67pkt"
loss = "0.1%"

[links.lte]
ends = ["client", "server"]
rate = "4Mbit/s"
delay = "50ms"
queue = "67pkt"

[flows.download]
kind = "mptcp"
from = "server"
to = "client"
controller = "lia"
paths = [["wifi"], ["lte"]]

[flows.cross]
kind = "tcp"
from = "server"
to = "client"
controller = "newreno"
paths = [["lte"]]

[flows.noise]
kind = "cbr"
from = "server"
to = "client"
rate = "500kbit/s"
paths = [["wifi"]]
"""


@dataclass(frozen=True)
class Answer:
    """The exit code and output of a command."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        return json.loads(self.out)

    def check(self) -> Answer:
        """Checks that the command succeeded, and returns its answer."""
        assert self.code == 0, self.err
        return self

    def check_refusal(self, *problems: str, code: int = 2) -> None:
        """Checks that the command only reported these problems."""
        assert (self.code, self.out) == (code, ""), self.err
        for problem in problems:
            assert problem in self.err


Subflow = Callable[..., Answer]


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    path = tmp_path / "two.toml"
    path.write_text(SCENARIO, encoding="utf-8")
    return path


@pytest.fixture
def database(tmp_path: Path) -> Path:
    return tmp_path / "runs.db"


@pytest.fixture
def store(database: Path) -> Iterator[Store]:
    """The database, open for writing."""
    from subflow_store import open_store

    with open_store(database) as opened:
        yield opened


@functools.cache
def _runner() -> Callable[..., Result]:
    import typer.testing

    from subflow_app.shell.commands import app

    # typer builds the tree of commands for each call: two thirds of the time of a test that calls a short command.
    typer.testing._get_command = functools.cache(typer.testing._get_command)  # type: ignore[attr-defined] # not public
    return functools.partial(typer.testing.CliRunner().invoke, app)


def call_subflow(*words: object) -> Answer:
    """Calls ``subflow`` with these arguments in this process; an exception caused by a bug propagates."""
    result = _runner()([str(word) for word in words], prog_name="subflow")
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return Answer(result.exit_code, result.stdout, result.stderr)


@pytest.fixture
def subflow() -> Subflow:
    return call_subflow


@pytest.fixture
def no_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    """Exports draw no figures unless requested: all figures in two formats take seconds."""
    from subflow_app.features.exporting.core import exports

    monkeypatch.setattr(exports, "ExportPlan", functools.partial(exports.ExportPlan, figures=()))


@pytest.fixture
def stored_run(subflow: Subflow, scenario: Path, database: Path) -> dict[str, Any]:
    """The summary of run 1 in the database."""
    answer = subflow("run", scenario, "--db", database, "--json")
    assert answer.code == 0, answer.err
    document: dict[str, Any] = answer.document
    return document
