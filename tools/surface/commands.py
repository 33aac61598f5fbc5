"""Run each command in an empty folder and home, and collect its output."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tests.helpers.every_command import COMMANDS, make_files
from tools.surface.shapes import files_in, header_of, schema_of, shape_of_output

ROOT = Path(__file__).resolve().parents[2]
HOMES = ("data", "config", "cache", "state")
WORKERS = ("train-worker", "figure-worker", "kernel-worker")

# Further lines: commands that list, and commands that write tables.
MORE = {
    "run": ["run two.toml --seed 1 --no-store --export exported --json"],
    "fairness": ["fairness 1 2 --trade-off delay --csv traded.csv --json"],
    "export": ["export 1 --format csv --out tables --json"],
    "compare": ["compare 1 2 --csv compared.csv"],
    "import-trace": ["import-trace measured.csv --preview --json"],
    "sweep": ["sweep two.toml --axis links.wifi.loss=0%,1% --seeds 1 --jobs 1 --out swept.csv"],
    "sweeps show": ["sweeps show last --csv", "sweeps show last --out shown.json"],
    "reproduce": ["reproduce --list --json", "reproduce tiny.toml --jobs 1 --out report"],
    "arena": [
        "arena --list --json",
        "arena --family slow --controllers lia --numbers 1 --jobs 1 --csv",
        "arena --family slow --controllers lia --numbers 1 --jobs 1 --out ranked",
    ],
    "assess": ["assess --list --json", "assess lia --quick --only collapse --jobs 1 --out dossier"],
    "break": ["break --list --json", "break no-slower --networks 24 --jobs 1 --out broken"],
    "labs class": ["labs class students --lab 01-small.md --csv grades.csv"],
}
# It writes a file that a later line reads.
WITHOUT_JSON = {"export 2 --page"}


def surroundings(home: Path) -> dict[str, str]:
    """An environment with the same output on every machine: English, a fixed width, and user folders below `home`."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("XDG_", "QT_", "LC_", "LANG"))}
    folders = {f"XDG_{name.upper()}_HOME": str(home / name) for name in HOMES}
    fixed = {"COLUMNS": "80", "NO_COLOR": "1", "LC_ALL": "C.UTF-8", "TZ": "UTC", "QT_QPA_PLATFORM": "offscreen"}
    fonts = {"MPLCONFIGDIR": str(ROOT / "build" / "test-cache" / "matplotlib"), "MPLBACKEND": "Agg"}
    path = {"PYTHONPATH": str(ROOT), "PYTHONHASHSEED": "0"}
    return {**kept, **folders, **fixed, **fonts, **path, "HOME": str(home)}


def answers(lines: Iterable[str], folder: Path, home: Path) -> dict[str, tuple[int, str, str]]:
    """Exit code, output and errors of each line."""
    asked = list(lines)
    file = home / "lines.json"
    file.write_text(json.dumps([(line, "file", "file") for line in asked]), encoding="utf-8")
    words = [sys.executable, "-m", "tests.helpers.forked_commands", str(file)]
    subprocess.run(words, cwd=folder, env=surroundings(home), check=True, stdout=subprocess.DEVNULL)
    given = json.loads(file.read_text(encoding="utf-8"))
    file.unlink()
    for path in folder.iterdir():
        if re.fullmatch(r"\d+\.(out|err)", path.name):
            path.unlink()
    return {line: (code, out, err) for line, (code, out, err) in zip(asked, given, strict=True)}


def help_texts(folder: Path, home: Path) -> dict[str, str]:
    """Help of each command and group."""
    words = [name.split() for name in (*COMMANDS, *WORKERS)]
    names = sorted({" ".join(each[:cut]) for each in words for cut in range(len(each) + 1)})
    given = answers((f"{name} --help".strip() for name in names), folder, home)
    return {f"subflow {line}": out for line, (_, out, _) in given.items()}


def typed(helps: dict[str, str]) -> list[str]:
    """Lines for all commands in their order, with --json where the command offers it.

    Leaves out lines that succeed only on some machines.
    """
    lines = []
    for name, own in COMMANDS.items():
        for line in (each for each in own if isinstance(each, str)):
            words = shlex.split(line)
            command = max((each for each in COMMANDS if each.split() == words[: len(each.split())]), key=len)
            options = re.search(r"--json(?:-lines)?(?![\w-])", helps[f"subflow {command} --help"])
            is_possible = options and line not in WITHOUT_JSON and options[0] not in words
            lines.append(f"{line} {options[0]}" if options and is_possible else line)
        lines += MORE.get(name, [])
    return lines


def outputs(lines: list[str], folder: Path, home: Path) -> dict[str, dict[str, Any]]:
    """Exit code of each line, with the keys of its JSON or the header of its CSV."""
    found: dict[str, dict[str, Any]] = {}
    for line, (code, out, err) in answers(lines, folder, home).items():
        shape = shape_of_output(out)
        if line.endswith("--csv"):
            shape = {"header": header_of(out)}
        found[line] = {"code": code, **shape}
        if code:
            sys.stderr.write(f"subflow {line}: {code}: {err.strip()[-300:]}\n")
    return found


def collect(folder: Path) -> dict[str, Any]:
    """Everything that commands print and write, below an empty folder."""
    places = {name: folder / name for name in ("help", "help-home", "work", "home")}
    for place in places.values():
        place.mkdir()
    helps = help_texts(places["help"], places["help-home"])
    work, home = places["work"], places["home"]
    make_files(work)
    printed = outputs(typed(helps), work, home)
    return {
        "help": helps,
        "commands": printed,
        "files": {"written": files_in(work), **{name: files_in(home / name) for name in HOMES}},
        "store": schema_of(home / "data" / "subflow" / "subflow.db"),
    }
