"""Collect everything that users and files see as one sorted JSON document, or compare two such documents.

    python -m tools.surface FILE
    python -m tools.surface --compare BEFORE AFTER

The document contains the help of each command, keys of JSON and headers of CSV, names and content of files, schemas of
scenarios and of the store, signatures of runs, and names and actions of the window with every panel filled. Moving code
must not change it. The exit code of a comparison is 1 if anything was removed, added or changed.
"""

from __future__ import annotations

import argparse
import difflib
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
_MOST_LINES = 12


def golden(text: str) -> dict[str, str]:
    """Signatures by the names of runs, from the output of ``dev.py golden --all``."""
    lines = [line for line in text.splitlines() if line[16:18] == "  "]
    return {line[18:].partition("  was ")[0]: line[:16].strip() for line in lines}


def collect() -> dict[str, Any]:
    """Collects everything of this checkout; takes minutes."""
    from tools.surface import commands

    with tempfile.TemporaryDirectory(prefix="subflow-surface-") as temporary:
        places = {name: Path(temporary, name) for name in ("commands", "window", "window-home")}
        for place in places.values():
            place.mkdir()
        probe = ("tools.surface.window", str(places["window"]))
        signing = _started("tests.golden.update", "--all")
        showing = _started(*probe, environment=commands.surroundings(places["window-home"]))
        found = commands.collect(places["commands"])
        window = showing.communicate()[0]
        if showing.returncode:
            raise SystemExit("the window was not built")
    signatures = golden(signing.communicate()[0])
    schema = json.loads((ROOT / "assets" / "scenario.schema.json").read_text(encoding="utf-8"))
    return {**found, **json.loads(window), "golden": signatures, "scenario_schema": schema}


def _started(*words: str, environment: dict[str, str] | None = None) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", *words]
    return subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True)


def facts(node: Any, place: str = "") -> Iterator[tuple[str, Any]]:
    """Each single fact of a document with its place; in a list of names, each name is a fact."""
    if isinstance(node, dict):
        for key, value in node.items():
            yield from facts(value, f"{place} / {key}" if place else str(key))
    elif isinstance(node, list) and all(isinstance(each, str) for each in node):
        yield from ((f"{place} / {each}", True) for each in node)
    else:
        yield place, node


def differences(before: Any, after: Any) -> list[str]:
    """Everything that was removed, added or changed, a line each."""
    was, now = dict(facts(before)), dict(facts(after))
    lines = [f"went: {place}" for place in sorted(was.keys() - now.keys())]
    lines += [f"came: {place}" for place in sorted(now.keys() - was.keys())]
    for place in sorted(was.keys() & now.keys()):
        if was[place] != now[place]:
            lines += [f"changed: {place}", *_change(was[place], now[place])]
    return lines


def _change(was: Any, now: Any) -> list[str]:
    texts = [value if isinstance(value, str) else json.dumps(value, indent=1) for value in (was, now)]
    lines = list(difflib.unified_diff(texts[0].splitlines(), texts[1].splitlines(), lineterm="", n=0))[2:]
    shown = [f"    {line}" for line in lines if not line.startswith("@@")]
    return [*shown[:_MOST_LINES], *([f"    … {len(shown) - _MOST_LINES} more"] if len(shown) > _MOST_LINES else [])]


def main(words: Sequence[str]) -> int:
    """Runs the command line; returns the exit code."""
    plain = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser("python -m tools.surface", description=__doc__, formatter_class=plain)
    wanted = parser.add_mutually_exclusive_group(required=True)
    wanted.add_argument("file", nargs="?", type=Path, metavar="FILE", help="write the document there")
    wanted.add_argument("--compare", nargs=2, type=Path, metavar=("BEFORE", "AFTER"), help="two documents")
    options = parser.parse_args(words)
    if options.compare:
        before, after = (json.loads(path.read_text(encoding="utf-8")) for path in options.compare)
        lines = differences(before, after)
        sys.stdout.write("".join(f"{line}\n" for line in lines) or "nothing came, went or changed\n")
        return int(bool(lines))
    begun = time.monotonic()
    document = collect()
    options.file.write_text(json.dumps(document, indent=1, sort_keys=True, ensure_ascii=False) + "\n", encoding="utf-8")
    count = sum(1 for _ in facts(document))
    sys.stdout.write(f"{options.file}: {count} facts in {time.monotonic() - begun:.0f} s\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
