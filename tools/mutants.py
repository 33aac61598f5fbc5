"""Change one operator, constant or branch at a time, and check whether the tests of its folder fail.

    python -m tools.mutants --list FILE [--count 40] [--seed 1] [--also TREE]   choose places, half core and half app
    python -m tools.mutants --run FILE [--tree TREE]                            run the tests with each of them

With `--also`, only places whose line and neighbours are the same in another checkout are chosen, so that the same list
runs in both: two revisions of the tests face the same faults. A checkout under test needs its own `.venv` (`python3
dev.py setup`) and no uncommitted changes; every changed file is restored.
"""

from __future__ import annotations

import argparse
import io
import json
import random
import re
import subprocess
import sys
import time
import tokenize
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PARTS: Mapping[str, tuple[str, str]] = {"core": ("sim/core", ".cpp .h"), "app": ("app", ".py")}
OPERATORS = {
    "<": "<=",
    "<=": "<",
    ">": ">=",
    ">=": ">",
    "==": "!=",
    "!=": "==",
    "+": "-",
    "-": "+",
    "*": "/",
    "/": "*",
    "&&": "||",
    "||": "&&",
    "and": "or",
    "or": "and",
    "true": "false",
    "false": "true",
    "True": "False",
    "False": "True",
}
_SECONDS = 900
_CPP_SKIPPED = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\'|^[ \t]*#[^\n]*', re.S | re.M)
_CPP_PLACE = re.compile(
    r"(?<= )(?:[<>]=?|[=!]=|[-+*/]|&&|\|\|)(?= )|\b(?:true|false)\b|(?<![\w.'])\d+(?:\.\d+)?(?![\w.'])"
)
_BRANCH = re.compile(r"\bif \((?=[^;]*\) )")


@dataclass(frozen=True, slots=True)
class Mutant:
    """A change of one token.

    Attributes:
        part: "core" or "app".
        context: three lines of the file, with the changed line in the middle.
        column: column of the change in its line.
        before: the original token.
        after: the replacement.
    """

    part: str
    context: str
    column: int
    before: str
    after: str


def mutants(text: str, suffix: str, part: str) -> Iterator[Mutant]:
    """Every possible change of a source file."""
    lines = ["", *text.splitlines(), ""]
    places = _python_places(text) if suffix == ".py" else _cpp_places(text)
    for line, column, before in places:
        after = OPERATORS.get(before) or _other_number(before)
        if after is not None:
            yield Mutant(part, "\n".join(lines[line - 1 : line + 2]), column, before, after)


def _other_number(token: str) -> str | None:
    if token == "if (":
        return "if (!"
    if token.isdecimal():
        return str(int(token) + 1)
    return f"{float(token) * 2:g}" if re.fullmatch(r"\d+\.\d+", token) else None


def _python_places(text: str) -> Iterator[tuple[int, int, str]]:
    before = ""
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        is_binary = before not in ("", "(", "[", "{", ",", "=", ":", "return", "*", "**", "->")
        is_word = token.type == tokenize.NAME and token.string in OPERATORS
        is_operator = token.type == tokenize.OP and token.string in OPERATORS and is_binary
        is_decorator = token.line.lstrip().startswith("@")
        if not is_decorator and (is_word or is_operator or token.type == tokenize.NUMBER):
            yield token.start[0], token.start[1], token.string
        before = token.string.strip()


def _cpp_places(text: str) -> Iterator[tuple[int, int, str]]:
    blank = _CPP_SKIPPED.sub(lambda found: re.sub(r"[^\n]", "\0", found[0]), text)
    for number, line in enumerate(blank.splitlines(), start=1):
        if "static_assert" in line or "operator" in line:
            continue
        for found in (*_CPP_PLACE.finditer(line), *_BRANCH.finditer(line)):
            yield number, found.start(), found[0]


def mutated(text: str, mutant: Mutant) -> str | None:
    """A file with the change; None unless its context occurs exactly once."""
    padded = f"\n{text}\n"
    if padded.count(f"\n{mutant.context}\n") != 1:
        return None
    at = padded.index(f"\n{mutant.context}\n") + 1
    at += mutant.context.index("\n") + 1 + mutant.column
    if not padded.startswith(mutant.before, at):
        return None
    changed = padded[:at] + mutant.after + padded[at + len(mutant.before) :]
    if mutant.before == "if (":
        # Negate the whole condition up to its closing parenthesis.
        depth, end = 0, at + len(mutant.after) - 1
        for end in range(at + 3, len(changed)):
            depth += {"(": 1, ")": -1}.get(changed[end], 0)
            if depth == 0:
                break
        start = at + len(mutant.after)
        changed = f"{changed[:start]}({changed[start:end]}){changed[end:]}"
    return changed[1:-1]


def sources(tree: Path, part: str) -> dict[Path, str]:
    """Source files of a part, by path."""
    folder, suffixes = PARTS[part]
    paths = (path for path in sorted((tree / folder).rglob("*")) if path.suffix in suffixes.split())
    return {path: path.read_text(encoding="utf-8") for path in paths}


def choose(trees: Iterable[Path], count: int, seed: int) -> list[Mutant]:
    """Changes that apply to each of the trees, half of them in each part, in random order."""
    draw = random.Random(seed)
    chosen: list[Mutant] = []
    for part in PARTS:
        lists = []
        for tree in trees:
            found = Counter(m for path, text in sources(tree, part).items() for m in mutants(text, path.suffix, part))
            lists.append({mutant for mutant, times in found.items() if times == 1})
        common = sorted(set.intersection(*lists), key=repr)
        chosen += draw.sample(common, min(count // len(PARTS), len(common)))
    return chosen


def tests_of(path: Path, tree: Path) -> str:
    """Folder with the tests of a source file of the application."""
    words = path.relative_to(tree / "app").parts
    if words[0] == "subflow_store":
        return "tests/store"
    if words[1] == "features":
        return f"tests/features/{words[2]}"
    return f"tests/{words[1]}" if len(words) > 2 else "tests/shell"


def verdict(tree: Path, mutant: Mutant) -> tuple[str, str]:
    """File of a change, and the result of its tests: "caught", "survives", "too slow" or "does not compile"."""
    for path, text in sources(tree, mutant.part).items():
        changed = mutated(text, mutant)
        if changed is None:
            continue
        try:
            path.write_text(changed, encoding="utf-8")
            return f"{path.relative_to(tree)}:{_line(text, mutant)}", _ending(tree, path, mutant.part)
        finally:
            path.write_text(text, encoding="utf-8")
    return "", "not here"


def _line(text: str, mutant: Mutant) -> int:
    return f"\n{text}\n".split(f"\n{mutant.context}\n")[0].count("\n") + 2


def _ending(tree: Path, path: Path, part: str) -> str:
    python = tree / ".venv" / "bin" / "python"
    build = tree / "build" / "mutants"
    steps: list[tuple[str, list[object]]]
    if part == "app":
        steps = [("caught", [python, "-m", "pytest", "-xq", "-p", "no:cacheprovider", tests_of(path, tree)])]
    else:
        options = ["-DSUBFLOW_TESTS=ON", "-DCMAKE_BUILD_TYPE=Debug", "-DCMAKE_CXX_FLAGS=-O1"]
        cmake = tree / ".venv" / "bin" / "cmake"
        steps = [
            ("does not compile", [cmake, "-S", tree, "-B", build, "-G", "Ninja", *options]),
            ("does not compile", [cmake, "--build", build, "--target", "subflow_core_tests"]),
            ("caught", [build / "subflow_core_tests", "--gtest_brief=1", "--gtest_fail_fast"]),
        ]
    for ending, command in steps:
        try:
            done = subprocess.run([str(word) for word in command], cwd=tree, capture_output=True, timeout=_SECONDS)
        except subprocess.TimeoutExpired:
            return "too slow"
        if done.returncode != 0:
            return ending
    return "survives"


def main(words: list[str] | None = None) -> int:
    """Chooses changes or runs the tests with each of them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--list", type=Path, metavar="FILE", help="write the changes that are chosen")
    what.add_argument("--run", type=Path, metavar="FILE", help="run the tests with each change of a list")
    parser.add_argument("--count", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--also", type=Path, metavar="TREE", help="only changes that this checkout allows too")
    parser.add_argument("--tree", type=Path, default=ROOT, help="the checkout whose tests run")
    options = parser.parse_args(words)
    if options.list is not None:
        trees = [options.tree, *([options.also] if options.also is not None else [])]
        chosen = choose(trees, options.count, options.seed)
        options.list.write_text(json.dumps([asdict(mutant) for mutant in chosen], indent=1), encoding="utf-8")
        sys.stdout.write(f"{len(chosen)} changes in {options.list}\n")
        return 0
    dirty = subprocess.run(["git", "status", "--porcelain", "-uno"], cwd=options.tree, capture_output=True, text=True)
    if dirty.stdout:
        raise SystemExit(f"{options.tree} has uncommitted changes, and a killed run would mix its own with them")
    endings: Counter[str] = Counter()
    for fields in json.loads(options.run.read_text(encoding="utf-8")):
        mutant = Mutant(**fields)
        began = time.monotonic()
        place, ending = verdict(options.tree, mutant)
        endings[ending] += 1
        change = f"{mutant.before} -> {mutant.after}"
        sys.stdout.write(f"{ending:16}  {time.monotonic() - began:5.0f} s  {place}  {change}\n")
        sys.stdout.flush()
    sys.stdout.write(", ".join(f"{ending}: {count}" for ending, count in sorted(endings.items())) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
