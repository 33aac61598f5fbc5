"""List sentences with habits that readers stumble over, or draw prose to read.

    python -m tools.english [PATH ...]              sentences with a habit; exit code 1 if one is not marked
    python -m tools.english --count [PATH ...]      their number by folder and habit
    python -m tools.english --draw 100 --seed 1     docstrings and comments, so many of each, to read with fresh eyes

A comment with the words "english: keep", on the line of a sentence or the line before, keeps the sentence. German texts
and generated pages are left out.
"""

from __future__ import annotations

import argparse
import random
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from tools.english.habits import HABITS, Hit, hits
from tools.english.prose import KEPT, Prose, prose_of

ROOT = Path(__file__).resolve().parents[2]
# German texts, recorded input of tests, and generated pages, whose source texts are checked instead.
_LEFT_OUT = (
    "/de/",
    "tests/sim_core/corpus/",
    "docs/reproduction/report",
    "docs/agents/",
    "tests/tools/test_english.py",
)
# Their texts are part of the keys of stored results: they change with the next build of the library.
_FROZEN = tuple(
    f"assets/{name}/" for name in ("arena", "claims", "controllers", "counterexamples", "scenarios", "spaces")
)


def pieces(root: Path = ROOT, under: Sequence[str] = ()) -> Iterator[tuple[str, Prose]]:
    """Prose of the files under version control, with the path of each.

    Args:
        root: a checkout.
        under: paths of files or folders; empty for all.
    """
    listed = subprocess.run(["git", "ls-files", "--", *under], cwd=root, capture_output=True, text=True, check=True)
    for path in listed.stdout.splitlines():
        if not any(part in path for part in (*_LEFT_OUT, *_FROZEN)) and (root / path).is_file():
            for piece in prose_of(root / path):
                # Texts in tests are input or quote the program, where they are checked.
                if piece.kind != "message" or not path.startswith("tests/"):
                    yield path, piece


def found(root: Path = ROOT, under: Sequence[str] = ()) -> Iterator[tuple[str, Hit, bool]]:
    """Habits with the path of each, and True if a mark keeps the sentence."""
    lines: list[str] = []
    read = ""
    for path, piece in pieces(root, under):
        for hit in hits(piece):
            if path != read:
                lines, read = (root / path).read_text(encoding="utf-8").splitlines(), path
            yield path, hit, any(KEPT in line for line in lines[max(0, hit.line - 2) : hit.line])


def _count(each: Sequence[tuple[str, Hit, bool]]) -> str:
    folders = Counter(
        "/".join(path.split("/")[:3]) if path.startswith("app/") else path.split("/")[0] for path, *_ in each
    )
    habits = Counter(hit.habit for _, hit, _ in each)
    lines = [f"{number:6} {name}" for counts in (folders, habits) for name, number in counts.most_common()]
    marked = sum(is_kept for *_, is_kept in each)
    return "\n".join([*lines, f"{len(each):6} in all, {marked} of them marked"]) + "\n"


def _drawn(root: Path, count: int, seed: int) -> str:
    draw = random.Random(seed)
    lines = []
    for kind in ("docstring", "comment"):
        of_kind = [(path, piece) for path, piece in pieces(root, ("app", "sim", "agents")) if piece.kind == kind]
        for path, piece in draw.sample(of_kind, min(count, len(of_kind))):
            lines.append(f"{path}:{piece.line} ({kind})\n{piece.text.strip()}\n")
    return "\n".join(lines)


def main(words: Sequence[str] | None = None) -> int:
    """Lists, counts or draws; returns the exit code."""
    plain = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser("python -m tools.english", description=__doc__, formatter_class=plain)
    parser.add_argument("paths", nargs="*", metavar="PATH", help="files or folders; default: all")
    parser.add_argument("--count", action="store_true", help="print numbers by folder and habit")
    parser.add_argument(
        "--draw", type=int, metavar="N", help="print N docstrings and N comments of app, sim and agents"
    )
    parser.add_argument("--seed", type=int, default=1, help="seed of --draw")
    parser.add_argument("--root", type=Path, default=ROOT, help="the checkout")
    options = parser.parse_args(words)
    if options.draw is not None:
        sys.stdout.write(_drawn(options.root, options.draw, options.seed))
        return 0
    each = list(found(options.root, options.paths))
    open_ones = [(path, hit) for path, hit, is_kept in each if not is_kept]
    if options.count:
        sys.stdout.write(_count(each))
    else:
        for path, hit in open_ones:
            sys.stdout.write(f"{path}:{hit.line}: {hit.habit} ({HABITS[hit.habit][0]}): {hit.sentence}\n")
    return int(bool(open_ones))


if __name__ == "__main__":
    sys.exit(main())
