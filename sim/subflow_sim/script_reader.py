"""Reads `[controllers.NAME]` and `[schedulers.NAME]`: the scripts of a scenario."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Any

from subflow_sim.beside import read_beside, shown
from subflow_sim.errors import ParamError
from subflow_sim.gate import read_file, size_text
from subflow_sim.parameter import kind_name
from subflow_sim.params import SCRIPT_SECTIONS, SCRIPT_TABLE, Algorithm, AlgorithmCatalog
from subflow_sim.plain_text import did_you_mean, either, on_one_line
from subflow_sim.scenario_model import ScriptFile, ScriptKind
from subflow_sim.section_reader import Noted, Report, named_tables, read_section
from subflow_sim.shipped import shipped_folder
from subflow_sim.toml_map import Path

if TYPE_CHECKING:
    from subflow_sim.script import Script, ScriptError

SUFFIX = ".py"
MAX_SCRIPTS = 100
"""Maximum number of scripts per section, because reading a scenario compiles all its scripts."""

_FOLDER = "controllers"
_TEXT = "a text in UTF-8"


@dataclass(frozen=True, slots=True)
class Scripts:
    """The scripts of a scenario.

    Attributes:
        files: valid scripts.
        algorithms: compiled algorithms, in the order of `files`.
        broken: names of invalid scripts, by kind.
    """

    files: tuple[ScriptFile, ...]
    algorithms: tuple[Algorithm, ...]
    broken: Mapping[str, frozenset[str]]


def compiled(script: ScriptFile) -> Script:
    """The compiled script.

    Raises:
        ScriptError: if the script has problems; the error contains all of them.
    """
    # loads the compiled core, which scenarios without scripts do not need
    from subflow_sim.script import compile_script

    return compile_script(script.text, script.name, script.kind)


def algorithm_of(script: ScriptFile) -> Algorithm:
    """The description of a script for lists and forms, with its options.

    Raises:
        ScriptError: if the script has problems; the error contains all of them.
    """
    algorithm = compiled(script).algorithm
    return replace(algorithm, summary=on_one_line(algorithm.summary), script=script)


# ---- files ----


def shipped_scripts() -> dict[str, FilePath]:
    """Paths of the shipped scripts by name, sorted."""
    return {path.stem: path for path in sorted(shipped_folder(_FOLDER).glob(f"*{SUFFIX}"))}


def shipped_algorithms(kind: ScriptKind) -> tuple[Algorithm, ...]:
    """The shipped scripts of a kind as algorithms, sorted by name."""
    from subflow_sim.script import kind_of

    texts = {name: read_script(name, None) for name in shipped_scripts()}
    return tuple(
        algorithm_of(ScriptFile(name, kind, text, name)) for name, text in texts.items() if kind_of(text) == kind
    )


def read_script(name: str, folder: FilePath | None) -> str:
    """The text of a script named by a scenario.

    Args:
        name: name of a shipped script, or of a file that ends in .py, within the scenario's folder.
        folder: folder of the scenario; None if the scenario is not a file.

    Raises:
        ParamError: if the script is missing, is too large or is not text.
    """
    from subflow_sim.script import MAX_SCRIPT_BYTES

    if name.endswith(SUFFIX):
        return script_text(read_beside(name, folder, MAX_SCRIPT_BYTES, "my-lia.py"), name)
    known = shipped_scripts()
    if name not in known:
        hint = did_you_mean(name, list(known))
        names = f", or one that ships: {either(list(known))}" if known else ""
        raise ParamError(
            f"no script of that name ships{hint}", f'a file beside the scenario that ends in .py, "my-lia.py"{names}'
        )
    return script_text(read_file(known[name], MAX_SCRIPT_BYTES), name)


def script_text(content: bytes, name: str) -> str:
    """The text of a file with line feeds only and without a byte order mark.

    Raises:
        ParamError: if the content is not UTF-8; the message begins with the file name.
    """
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise ParamError(f"{shown(name)} line {line}: not UTF-8", _TEXT) from error
    return text.replace("\r\n", "\n").replace("\r", "\n")


def with_script_contents(tree: Mapping[str, Any], folder: FilePath | None) -> dict[str, Any]:
    """A valid parsed scenario file with the content of its scripts embedded."""
    whole = dict(tree)
    for section in SCRIPT_SECTIONS.values():
        if section in tree:
            whole[section] = {
                name: table if "content" in table else {**table, "content": read_script(table["script"], folder)}
                for name, table in tree[section].items()
            }
    return whole


# ---- sections ----


def read_scripts(
    report: Report, tree: Mapping[str, Any], algorithms: AlgorithmCatalog, folder: FilePath | None
) -> Scripts:
    """Reads and compiles the scripts of a scenario file; adds problems to the report."""
    if not any(section in tree for section in SCRIPT_SECTIONS.values()):
        return Scripts((), (), {})
    from subflow_sim.script import ScriptError

    files: list[ScriptFile] = []
    found: list[Algorithm] = []
    broken: dict[ScriptKind, set[str]] = {kind: set() for kind in SCRIPT_SECTIONS}
    for kind, section in SCRIPT_SECTIONS.items():
        if section not in tree:
            continue
        built_in = {each.name for each in (algorithms.controllers if kind == "controller" else algorithms.schedulers)}
        given = tree[section]
        broken[kind] |= set(given) if isinstance(given, dict) else set()
        if len(given if isinstance(given, dict) else ()) > MAX_SCRIPTS:
            report.add((section,), f"{len(given)} scripts are too many", f"at most {MAX_SCRIPTS}")
            continue
        for name, table in named_tables(report, {section: given}, section, required=False):
            path: Path = (section, name)
            if name in built_in:
                message = f'the {kind} "{name}" is built in already'
                report.add(path, message, f'another name, e.g. "my-{name}"')
                continue
            try:
                file = _read_script(report, path, table, name, kind, folder)
            except Noted:
                continue
            try:
                algorithm = algorithm_of(file)
            except ScriptError as error:
                broken[_note(report, path, file, error, has_content="content" in table)].add(name)
                continue
            broken[kind].discard(name)
            files.append(file)
            found.append(algorithm)
    return Scripts(tuple(files), tuple(found), {kind: frozenset(names) for kind, names in broken.items()})


def _read_script(
    report: Report, path: Path, table: Mapping[str, Any], name: str, kind: ScriptKind, folder: FilePath | None
) -> ScriptFile:
    specials = {"content": lambda place, value: _read_content(report, place, value)}
    count = len(report.problems)
    values = read_section(report, path, table, SCRIPT_TABLE, specials=specials)
    if len(report.problems) > count:
        raise Noted
    text = values["content"]
    if text is not None and report.is_overridden((*path, "script")) and not report.is_overridden((*path, "content")):
        message = "the scenario has the content of this script in it, which counts"
        report.add((*path, "script"), message, f"a script of its own, and {kind} = ... to choose between them")
        raise Noted
    if text is None:
        try:
            text = read_script(values["script"], folder)
        except ParamError as error:
            report.add((*path, "script"), error.message, error.allowed)
            raise Noted from error
    return ScriptFile(name, kind, text, values["script"])


def _read_content(report: Report, path: Path, value: object) -> str:
    from subflow_sim.script import MAX_SCRIPT_BYTES

    if not isinstance(value, str):
        report.add(path, f"this is {kind_name(value)}, not text", "the lines of a script")
        raise Noted
    if len(value.encode()) > MAX_SCRIPT_BYTES:
        report.add(path, "too large for a script", f"at most {size_text(MAX_SCRIPT_BYTES)}")
        raise Noted
    return value.replace("\r\n", "\n").replace("\r", "\n")


def _note(report: Report, path: Path, file: ScriptFile, error: ScriptError, *, has_content: bool) -> ScriptKind:
    """Reports that a script is of the other kind, otherwise all its problems. Returns the inferred kind."""
    from subflow_sim.script import kind_of

    meant = kind_of(file.text)
    if meant != file.kind:
        message = f"{shown(file.file)} defines a {meant}, not a {file.kind}"
        report.add((*path, "script"), message, f"[{SCRIPT_SECTIONS[meant]}.{file.name}]")
        return meant
    place = (*path, "content" if has_content else "script")
    begin = "" if has_content else f"{shown(file.file)} "
    for problem in error.problems:
        where = f"{begin}line {problem.line}, column {problem.column}"
        report.add(place, f"{where}: {problem.message}", problem.allowed)
    return meant
