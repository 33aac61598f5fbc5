"""Definition, working folder and errors of self-test checks, and a short stored run that checks may use.

Each check simulates the run in its own process.
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
"""Arguments of `subflow run` for an arbitrary run: a connection over two paths."""

_PATIENCE_S = 90.0
_LAST_LINES = 4


class CheckError(Exception):
    """A check has failed; the text gives the reason in one line."""


class NotHereError(Exception):
    """The check is not applicable or not possible on this system; the text gives the reason."""


@dataclass(frozen=True, slots=True)
class Answer:
    """Output of the program in a separate process.

    Attributes:
        code: its exit code.
        out: its standard output.
        err: its standard error.
    """

    code: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        """The JSON document in the output; raises CheckError if the output is not JSON."""
        try:
            return json.loads(self.out)
        except ValueError as error:
            raise CheckError(f"no JSON document was printed: {last_lines(self.out)}") from error


@dataclass(frozen=True, slots=True)
class Place:
    """Working folder of a check.

    Attributes:
        folder: an empty folder, removed afterwards. The user's folders (data, settings, logs, temporary files) are
            replaced by folders for this check only.
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
        """Run the program with these arguments, as in a terminal, and wait until it ends.

        Args:
            words: the arguments.
            code: expected exit code.
            may_speak: whether output on stderr is allowed; the caller then checks it.
            environment: changed environment variables; None removes a variable.
            folder: the working directory; default: the folder of the check.

        Raises:
            CheckError: for a different exit code, or unexpected output.
        """
        text = f"subflow {' '.join(map(str, words))}".rstrip()
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
            raise CheckError(f"`{text}` took longer than {_PATIENCE_S:g} s") from error
        if done.returncode != code:
            said = last_lines(done.stderr) or last_lines(done.stdout) or "no output"
            raise CheckError(f"`{text}` ended with {done.returncode}, not {code}: {said}")
        if done.stderr and not may_speak:
            raise CheckError(f"`{text}` printed on stderr: {last_lines(done.stderr)}")
        return Answer(done.returncode, done.stdout, done.stderr)


@dataclass(frozen=True, slots=True)
class Check:
    """One check of the self-test.

    Attributes:
        name: its printed name.
        run: carries it out in a separate process; returns a short result.
        limit_s: time limit, s, long enough for a busy machine.
        is_in_own_locale: whether its process uses the user's language and formats, as the program does.
    """

    name: str
    run: Callable[[Place], str]
    limit_s: float = 120.0
    is_in_own_locale: bool = False


def require(holds: object, otherwise: str) -> None:
    """Raise CheckError with the text unless the condition holds."""
    if not holds:
        raise CheckError(otherwise)


def is_to_be_here(library: str) -> bool:
    """True if an optional library must work: always in the packaged program, otherwise if it is installed."""
    return is_frozen() or importlib.util.find_spec(library) is not None


def skip_without(library: str, extra: str) -> None:
    """Raise NotHereError with the installation command if an optional library is not installed and need not be."""
    if not is_to_be_here(library):
        raise NotHereError(f"{library} is not installed: {install_command(extra)}")


def last_lines(text: str) -> str:
    """The last lines of an output, where errors usually appear, joined to one line."""
    return " | ".join(line.strip() for line in text.strip().splitlines()[-_LAST_LINES:])


def _changed(environment: Mapping[str, str], changes: Mapping[str, str | None]) -> dict[str, str]:
    changed = {**environment, **{name: value for name, value in changes.items() if value is not None}}
    return {name: value for name, value in changed.items() if changes.get(name, value) is not None}


def keep_short_run(database: Path) -> int:
    """Simulate and store `SHORT_RUN`; returns the number of the run.

    Raises:
        CheckError: if the run is not stored.
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
