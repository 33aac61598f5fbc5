"""Takes the walk of the self-test on an X screen in memory, like a person through menus, dialogs and panels.

    python -m tests.helpers.walk [--size 1366x768] [--scale PERCENT] [--language CODE] [--theme MODE]
                                 [--depth whole|texts] [--strings N] [--pictures FOLDER]

Prints the faults, one per line, and exits with 1 if it found any. Files of the user stay untouched.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from tests.helpers.x_screen import on_own_screen

from subflow_app.foundation.settings import LANGUAGE_CHOICES, THEMES


def take(words: Sequence[str]) -> subprocess.CompletedProcess[str]:
    """A walk with these options, in a separate process and on a separate screen."""
    return on_own_screen("tests.helpers.walk", words, _parser().parse_args(words).size)


def main(words: Sequence[str]) -> int:
    """Starts the walk in a process, or performs it."""
    options = _parser().parse_args(words)
    if options.folder is None:
        told = take(words)
        sys.stdout.write(told.stdout)
        sys.stderr.write(told.stderr)
        return told.returncode
    from tests.helpers.walk.route import take_walk

    if options.pictures is not None:
        options.pictures.mkdir(parents=True, exist_ok=True)
    walk = take_walk(
        options.folder,
        language=options.language,
        theme=options.theme,
        scale_percent=options.scale,
        strings=options.strings,
        depth=options.depth,
        pictures=options.pictures,
    )
    sys.stdout.write("".join(f"{line}\n" for line in walk.told()))
    return 1 if walk.found else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser()
    parser.add_argument("--size", default="1366x768", help="of the screen, in pixels")
    parser.add_argument("--scale", type=int, default=100, help="size of everything, percent")
    parser.add_argument("--language", choices=LANGUAGE_CHOICES, default="en")
    parser.add_argument("--theme", choices=THEMES, default="light")
    parser.add_argument("--depth", choices=("whole", "texts"), default="whole", help="how much is gone through")
    parser.add_argument("--strings", type=int, default=200, help="how many are typed into the command palette")
    parser.add_argument(
        "--pictures", type=lambda text: Path(text).resolve(), help="a folder for a picture of each place"
    )
    parser.add_argument("--in", dest="folder", type=Path, help=argparse.SUPPRESS)
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
