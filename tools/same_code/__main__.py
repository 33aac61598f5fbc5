"""Compare two revisions: a commit that moves code changes nothing else.

    python -m tools.same_code OLD NEW            every file that differs between the two
    python -m tools.same_code --each OLD NEW     each commit of the range whose subject begins with "Move "
    python -m tools.same_code --joined app OLD NEW
                                                 the definitions of all modules below a folder, in whichever file
    python -m tools.same_code --prose OLD NEW    the code but for comments, docstrings and sentences
    python -m tools.same_code --prose --names MAP.json OLD NEW
                                                 the same, with identifiers renamed by a map from old to new names

Python files must have equal syntax trees without imports, and the same set of imports; C++ files must have equal tokens
without includes. Texts in them, and lines of other files, may contain the new names of moved things, which are derived
from the files that git reports as renamed. The exit code is 1 if anything else differs.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import sys
from collections.abc import Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from tools.same_code import prose, texts, trees
from tools.same_code.definitions import compare as compare_definitions
from tools.same_code.definitions import definitions
from tools.same_code.names import Names
from tools.same_code.revisions import Change, Repository

MOVED, EQUAL, MAPPED, ADDED, ALLOWED, DIFFERENT = "moved", "equal", "mapped only", "packages", "allowed", "different"
KINDS = {
    MOVED: "moved, and unchanged except imports",
    EQUAL: "in place, and unchanged except imports",
    MAPPED: "unchanged except names of moved things",
    ADDED: "an __init__.py without code or a README.md, added or removed",
    ALLOWED: "different, but allowed by --allow",
    DIFFERENT: "differs",
}
_FEW = 40  # number of files up to which one process is faster


@dataclass
class Verdict:
    """Result for one file.

    Attributes:
        path: current path, or the last one of a removed file.
        kind: one of `KINDS`.
        old_path: old path, if different.
        problems: differences; of each comparison only the first node or line.
    """

    path: str
    kind: str
    old_path: str | None = None
    problems: list[str] = field(default_factory=list)


@dataclass
class Report:
    """Results for all files that differ between two revisions."""

    old: str
    new: str
    verdicts: list[Verdict]
    unchanged: int

    @property
    def differs(self) -> bool:
        return any(verdict.kind == DIFFERENT for verdict in self.verdicts)

    def count(self, kind: str) -> int:
        """Number of files of a kind."""
        return sum(verdict.kind == kind for verdict in self.verdicts)

    def document(self) -> dict[str, Any]:
        """Document for --json."""
        shown = [verdict for verdict in self.verdicts if verdict.problems]
        return {
            "old": self.old,
            "new": self.new,
            "counts": {"unchanged": self.unchanged, **{kind: self.count(kind) for kind in KINDS}},
            "differences": [vars(verdict) for verdict in shown],
        }

    def text(self) -> str:
        """Text for people."""
        lines = [f"{self.unchanged:6} unchanged"]
        lines += [f"{self.count(kind):6} {kind}: {meaning}" for kind, meaning in KINDS.items() if self.count(kind)]
        for verdict in self.verdicts:
            for problem in verdict.problems:
                came = f" (was {verdict.old_path})" if verdict.old_path else ""
                lines.append(f"{verdict.kind}: {verdict.path}{came}: {problem}")
        return "\n".join(lines) + "\n"


Pair = tuple[str, str, bytes, bytes]


def compare_pair(pair: Pair, names: Names) -> Verdict:
    """Compares a file that exists in both revisions."""
    old_path, new_path = pair[:2]
    was = old_path if old_path != new_path else None
    problems, has_mapped = _differences(pair, names)
    kind = DIFFERENT if problems else MAPPED if has_mapped else MOVED if was else EQUAL
    return Verdict(new_path, kind, was, problems)


def _differences(pair: Pair, names: Names) -> tuple[list[str], bool]:
    old_path, new_path, old, new = pair
    suffix = Path(new_path).suffix
    if suffix in (".py", ".pyi") and Path(old_path).suffix == suffix:
        # The same bytes may mean another module or folder at another path.
        if old == new and b"__file__" not in old and b"import ." not in old and b"from ." not in old:
            imports = trees.parse(old_path, old).imported if old_path != new_path or b"import" in old else set()
            if all(names.modules(thing) >= {thing} for thing in imports):
                return [], False
        try:
            return trees.compare(trees.parse(old_path, old), trees.parse(new_path, new), names)
        except SyntaxError as error:
            return [f"no Python: {error}"], False
    if old == new:
        return [], False
    try:
        was, now = (old_path, old.decode("utf-8")), (new_path, new.decode("utf-8"))
    except UnicodeDecodeError:
        return ["other bytes"], False
    if suffix in (".h", ".cpp"):
        return texts.compare_cpp(was, now, names)
    return texts.compare_lines(was, now, names)


_names: Names


def _begin(names: Names) -> None:
    """Gives a worker process the names once for all files."""
    global _names
    _names = names
    gc.disable()  # syntax trees have no cycles


def _compare_there(pair: Pair) -> Verdict:
    return compare_pair(pair, _names)


def _compare_pairs(pairs: list[Pair], names: Names) -> list[Verdict]:
    if len(pairs) < _FEW:
        return [compare_pair(pair, names) for pair in pairs]
    with ProcessPoolExecutor(os.cpu_count(), initializer=_begin, initargs=(names,)) as processes:
        return list(processes.map(_compare_there, pairs, chunksize=10))


def compare_revisions(repository: Repository, old: str, new: str, allowed: Iterable[str] = ()) -> Report:
    """Compares two revisions file by file.

    Args:
        repository: contains both revisions.
        old: a revision in git's notation.
        new: a later revision.
        allowed: patterns of paths of files that may differ.
    """
    changes = repository.changes(old, new)
    blobs = repository.contents(b for c in changes for b in (c.old_blob, c.new_blob) if b.strip("0"))
    verdicts: list[Verdict] = []
    kept: list[Change] = []
    for change in changes:
        contents = blobs.get(change.old_blob, b""), blobs.get(change.new_blob, b"")
        if change.old_path is None or change.new_path is None:
            verdicts.append(_alone(change, *contents))
        elif change.old_path != change.new_path and all(map(_is_bare, (change.old_path, change.new_path), contents)):
            # Such files usually resemble each other by chance: the pair reveals no new names.
            verdicts += [Verdict(path, ADDED) for path in (change.old_path, change.new_path)]
        elif change.has_other_mode:
            verdicts.append(Verdict(change.new_path, DIFFERENT, problems=["another mode"]))
        else:
            kept.append(change)
    old_paths = repository.paths(old)
    names = Names(old_paths, {str(c.old_path): str(c.new_path) for c in kept if c.old_path != c.new_path})
    pairs = [(str(c.old_path), str(c.new_path), blobs[c.old_blob], blobs[c.new_blob]) for c in kept]
    verdicts += _compare_pairs(pairs, names)
    patterns = list(allowed)
    for verdict in verdicts:
        if verdict.kind == DIFFERENT and any(fnmatch(verdict.path, pattern) for pattern in patterns):
            verdict.kind = ALLOWED
    touched = sum(change.old_path is not None for change in changes)
    return Report(old, new, sorted(verdicts, key=lambda each: each.path), len(old_paths) - touched)


def _is_bare(path: str, content: bytes) -> bool:
    return Path(path).name == "__init__.py" and trees.is_docstring_only(content)


def _alone(change: Change, old: bytes, new: bytes) -> Verdict:
    """Result for a file that only one revision contains."""
    if change.old_path is not None:
        is_free = _is_bare(change.old_path, old)
        return Verdict(change.old_path, ADDED) if is_free else Verdict(change.old_path, DIFFERENT, problems=["gone"])
    path = str(change.new_path)
    is_free = Path(path).name == "README.md" or _is_bare(path, new)
    return Verdict(path, ADDED) if is_free else Verdict(path, DIFFERENT, problems=["new"])


def _table(reports: Sequence[tuple[str, str, Report]]) -> str:
    """A line per commit, followed by its differences."""
    lines = [f"{'commit':10}" + "".join(f"{kind:>13}" for kind in KINDS) + "  subject"]
    for commit, subject, report in reports:
        lines.append(f"{commit[:10]:10}" + "".join(f"{report.count(kind):13}" for kind in KINDS) + f"  {subject}")
        lines += [f"    {line}" for line in report.text().splitlines() if line.startswith(f"{DIFFERENT}: ")]
    return "\n".join(lines) + "\n"


def main(words: Sequence[str]) -> int:
    """Runs the command line; returns the exit code."""
    plain = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser("python -m tools.same_code", description=__doc__, formatter_class=plain)
    parser.add_argument("old", metavar="OLD", help="a revision")
    parser.add_argument("new", metavar="NEW", help="a later revision")
    parser.add_argument("--joined", metavar="DIR", help="compare the definitions of all modules below a folder")
    parser.add_argument("--prose", action="store_true", help="compare the code without its prose")
    parser.add_argument("--names", type=Path, metavar="MAP", help="JSON: new identifiers by old ones, for --prose")
    parser.add_argument("--each", action="store_true", help='each commit of the range that begins with "Move "')
    parser.add_argument(
        "--allow", action="append", default=[], metavar="PATTERN", help="files that may differ, e.g. pyproject.toml"
    )
    parser.add_argument("--json", action="store_true", help="print a JSON document")
    parser.add_argument("--repository", type=Path, default=Path(), metavar="DIR", help="the repository, if elsewhere")
    options = parser.parse_args(words)
    repository = Repository(options.repository)
    if options.prose:
        names = json.loads(options.names.read_text(encoding="utf-8")) if options.names else {}
        differences = prose.compare(repository, options.old, options.new, names)
        sys.stdout.write("\n".join(differences) + "\n")
        return int(len(differences) > 1)
    if options.joined:
        found = [definitions(repository.sources(each, options.joined)) for each in (options.old, options.new)]
        lines = compare_definitions(*found)
        sys.stdout.write("\n".join([*lines, f"{(found[0] & found[1]).total()} definitions are the same"]) + "\n")
        return int(bool(lines))
    if not options.each:
        report = compare_revisions(repository, options.old, options.new, options.allow)
        shown = json.dumps(report.document(), indent=2) + "\n" if options.json else report.text()
        sys.stdout.write(shown)
        return int(report.differs)
    commits = repository.moves(options.old, options.new)
    reports = [(c, subject, compare_revisions(repository, f"{c}^", c, options.allow)) for c, subject in commits]
    if options.json:
        documents = [{"commit": c, "subject": subject, **report.document()} for c, subject, report in reports]
        sys.stdout.write(json.dumps(documents, indent=2) + "\n")
    else:
        sys.stdout.write(_table(reports))
    return int(any(report.differs for _, _, report in reports))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
