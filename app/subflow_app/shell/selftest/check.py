"""Checks of the self-test: definition, workplace, errors, and a kept run for checks that need a stored one.

The process of the check itself makes this run.
"""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from subflow_app.distribution import install_command
from subflow_app.foundation.paths import is_frozen, own_command

SHORT_RUN = ("t-2link", "--set", "duration=10s", "--set", "warmup=2s")
"""What stands behind `subflow run` where any run will do: a connection over two paths."""

_PATIENCE_S = 90.0
_LAST_LINES = 4


class CheckError(Exception):
    """Something is not as it has to be; the text says what, in one line."""


class NotHereError(Exception):
    """The check means nothing on this system, or the system does not let it be tried; the text says why."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What the program said as a process of its own.

    Attributes:
        code: its exit code.
        out: what it wrote to stdout.
        err: what it wrote to stderr.
    """

    code: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        """The JSON document that it printed."""
        try:
            return json.loads(self.out)
        except ValueError as error:
            raise CheckError(f"no JSON document was printed: {last_lines(self.out)}") from error


@dataclass(frozen=True, slots=True)
class Place:
    """Where a check may work.

    Attributes:
        folder: empty, and gone afterwards. The user's folders (data, settings, logs, temporary files) are below one
            that is made for this check alone.
    """

    folder: Path

    def subflow(
        self,
        *words: object,
        code: int = 0,
        may_speak: bool = False,
        environment: Mapping[str, str | None] | None = None,
        folder: Path | None = None,
    ) -> Answer:
        """Starts the program with these words, as a person would in a terminal, and waits for it.

        Args:
            words: the command.
            code: the exit code that it has to end with.
            may_speak: stderr is looked at by the caller; else it has to stay empty.
            environment: variables that differ; None takes one away.
            folder: the working directory; left out: that of the check.

        Raises:
            CheckError: if it ends otherwise, or says something that nobody expects.
        """
        told = f"subflow {' '.join(map(str, words))}".rstrip()
        try:
            done = subprocess.run(
                own_command(*map(str, words)),
                env=_changed(os.environ, environment or {}),
                cwd=folder or self.folder,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                encoding="utf-8",
                errors="replace",
                timeout=_PATIENCE_S,
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            raise CheckError(f"`{told}` took longer than {_PATIENCE_S:g} s") from error
        if done.returncode != code:
            said = last_lines(done.stderr) or last_lines(done.stdout) or "no output"
            raise CheckError(f"`{told}` ended with {done.returncode}, not {code}: {said}")
        if done.stderr and not may_speak:
            raise CheckError(f"`{told}` printed on stderr: {last_lines(done.stderr)}")
        return Answer(done.returncode, done.stdout, done.stderr)


@dataclass(frozen=True, slots=True)
class Check:
    """One line of the self-test.

    Attributes:
        name: as it is printed.
        run: does it in a process of its own; returns in a few words what was found.
        limit_s: after which it is given up, s; a machine that does much else takes long, one that hangs forever.
        is_in_own_locale: whether its process has the user's language and formats, as the program itself has them.
    """

    name: str
    run: Callable[[Place], str]
    limit_s: float = 120.0
    is_in_own_locale: bool = False


def require(holds: object, otherwise: str) -> None:
    """Raises CheckError with the text unless it holds."""
    if not holds:
        raise CheckError(otherwise)


def is_to_be_here(library: str) -> bool:
    """Whether an optional library has to work: in the packaged program all have, elsewhere those that are installed."""
    return is_frozen() or importlib.util.find_spec(library) is not None


def skip_without(library: str, extra: str) -> None:
    """Raises NotHereError where an optional library need not be, with how to install it."""
    if not is_to_be_here(library):
        raise NotHereError(f"{library} is not installed: {install_command(extra)}")


def last_lines(text: str) -> str:
    """The end of an output in one line: where errors are."""
    return " | ".join(line.strip() for line in text.strip().splitlines()[-_LAST_LINES:])


def _changed(environment: Mapping[str, str], changes: Mapping[str, str | None]) -> dict[str, str]:
    changed = {**environment, **{name: value for name, value in changes.items() if value is not None}}
    return {name: value for name, value in changed.items() if changes.get(name, value) is not None}


def keep_short_run(database: Path) -> int:
    """Makes `SHORT_RUN` and keeps it; returns its number.

    Raises:
        CheckError: if it is not kept.
    """
    from subflow_app.features.catalog.core.uses import Use
    from subflow_app.features.editor.core.scenario_source import open_scenario
    from subflow_app.features.running.core.runs import RunJob
    from subflow_store import open_store

    name, *options = SHORT_RUN
    source = open_scenario(name, use=Use.SELF_TEST, overrides=[word for word in options if word != "--set"])
    with open_store(database) as store:
        result = RunJob(source.scenario, source.text, store=store).run()
    require(result.run_id is not None, f"the run is not kept: {result.store_error or result.error}")
    return result.run_id or 0
