"""The user guide: the location of its built pages, the page for a topic, and the build of a missing guide."""

from __future__ import annotations

import importlib.util
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from subflow_app import __version__
from subflow_app.foundation.errors import GuideError, InputError
from subflow_app.foundation.jobs.job import Job
from subflow_app.foundation.paths import bundle_folder, guide_cache
from subflow_app.foundation.resources import way_on
from subflow_sim.gate import is_file

BUILD_COMMAND = "python3 dev.py docs"
START_TOPIC = ""

_PROGRESS = re.compile(r"(reading sources|writing output)\.\.\. \[ *(\d+)%\]")
# Start of each stage as a fraction; reading takes about as long as writing.
_STAGES = {"reading sources": 0.0, "writing output": 0.5}
_EXCEPTION = re.compile(r"[\w.]*(Error|Exception): ")
_FOLDERS = {"panel": "views", "controller": "algorithms", "scheduler": "schedulers"}
_PAGES = {"command": "command-line", "section": "scenario-file", "plot": "views/plots"}
_SECTIONS = {
    "scenario": "the-scenario",
    "node": "nodes",
    "link": "links",
    "queue": "queues",
    "loss": "loss-models",
    "trace": "rates-that-change",
    "flow": "flows",
    "event": "events",
    "note": "notes",
    "script": "controllers-and-schedulers-of-its-own",
}


class GuidePage(NamedTuple):
    """A place in the guide.

    Attributes:
        file: path below the folder of the built guide.
        anchor: anchor in the page; empty for its beginning.
    """

    file: str
    anchor: str


def guide_page(topic: str) -> GuidePage:
    """The page of a topic.

    Args:
        topic: empty for the start page, otherwise KIND/NAME: ``"panel/history"``, ``"controller/lia"``,
            ``"scheduler/blest"``, ``"command/run"``, ``"command/runs/delete"`` for a command in a group,
            ``"section/link"`` of a scenario file, ``"plot/rtt"``.

    Raises:
        InputError: if the kind of topic does not exist.
    """
    if topic == START_TOPIC:
        return GuidePage("index.html", "")
    kind, _, name = topic.partition("/")
    if kind in _FOLDERS:
        return GuidePage(f"{_FOLDERS[kind]}/{name}.html", "")
    if kind in _PAGES:
        anchor = {"command": "-".join(("command", *name.split("/"))), "section": _SECTIONS.get(name, name)}
        return GuidePage(f"{_PAGES[kind]}.html", anchor.get(kind, ""))
    allowed = ", ".join(f"{each}/NAME" for each in (*_FOLDERS, *_PAGES))
    raise InputError(f'the guide has no topic "{topic}"; allowed: {allowed}')


def find_topic(word: str) -> str:
    """Find the topic of a word: the name of an algorithm or a panel, or a topic with its kind.

    Raises:
        InputError: if the word matches no topic.
    """
    from subflow_sim.catalog import controllers, schedulers

    if word == START_TOPIC or "/" in word:
        guide_page(word)
        return word
    known = {f"controller/{each.name}" for each in controllers()} | {f"scheduler/{each.name}" for each in schedulers()}
    folder = guide_folder() or guide_sources()
    pages = {path.stem for path in (folder / _FOLDERS["panel"]).glob("*.*")} if folder else set()
    known |= {f"panel/{page}" for page in pages if page != "index"}
    for kind in _FOLDERS:
        if f"{kind}/{word}" in known:
            return f"{kind}/{word}"
    names = sorted({each.partition("/")[2] for each in known})
    listed = f"allowed: {', '.join(names)} and command/NAME, section/NAME, plot/NAME"
    raise InputError(f'the guide has no page on "{word}"; {way_on(word, names, listed)}')


def guide_sources() -> Path | None:
    """The folder of the guide's sources; None outside a source tree."""
    folder = Path(__file__).resolve().parents[4] / "docs"
    return folder if is_file(folder / "conf.py") else None


def guide_folder() -> Path | None:
    """The folder of the built guide; None if it is missing, or if all local builds are older than the sources.

    Searches next to the frozen program, in the installed package, in the source tree, and in the user's cache.
    """
    bundle = bundle_folder()
    shipped = [bundle / "guide"] if bundle else []
    shipped.append(Path(__file__).resolve().parents[2] / "guide")
    for folder in shipped:
        if is_file(folder / "index.html"):
            return folder
    sources = guide_sources()
    built = [sources.parent / "build" / "docs" / "html"] if sources else []
    changed = _last_change(sources) if sources else 0.0
    for folder in (*built, _own_folder()):
        index = folder / "index.html"
        if is_file(index) and index.stat().st_mtime >= changed:
            return folder
    return None


def can_build_guide() -> bool:
    """True if the sources of the guide, Sphinx and its extensions are present."""
    return guide_sources() is not None and all(
        importlib.util.find_spec(name) is not None
        for name in ("sphinx", "myst_parser", "furo", "latex2mathml", "sphinx_copybutton")
    )


def guide_file(topic: str) -> tuple[Path, str]:
    """The file and the anchor of a topic in the built guide.

    Raises:
        GuideError: if the guide is not built; the message explains how to build it.
        InputError: if the topic does not exist.
    """
    page = guide_page(topic)
    folder = guide_folder()
    if folder is None:
        raise GuideError(_not_built())
    path = folder / page.file
    # If the page is missing, e.g. for a panel of a later version, use the first page.
    return (path, page.anchor) if is_file(path) else (folder / "index.html", "")


class GuideBuild(Job):
    """Builds the guide in a separate process; an existing guide is kept until the new one is complete."""

    def __init__(self) -> None:
        super().__init__()
        self._process: subprocess.Popen[str] | None = None
        self._tell(share=0.0)

    def _work(self) -> None:
        sources = guide_sources()
        if sources is None or not can_build_guide():
            raise GuideError(_not_built())
        folder = _own_folder()
        try:
            folder.parent.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(prefix="guide-", dir=folder.parent) as scratch:
                output = self._build(sources, Path(scratch))
                if self.is_stopped:
                    return
                shutil.rmtree(folder, ignore_errors=True)
                output.rename(folder)
        except OSError as error:
            raise GuideError(
                f"{folder} cannot be written: {error.strerror}; build the guide with {BUILD_COMMAND}"
            ) from error
        self._tell(share=1.0)

    def stop(self) -> None:
        """Stop the build soon, and discard the new guide."""
        super().stop()
        if self._process is not None:
            self._process.terminate()

    def _build(self, sources: Path, scratch: Path) -> Path:
        output = scratch / "html"
        words = [
            sys.executable,
            "-m",
            "sphinx",
            "-b",
            "html",
            "-E",
            "-d",
            str(scratch / "doctrees"),
            str(sources),
            str(output),
        ]
        lines: list[str] = []
        with subprocess.Popen(
            words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, encoding="utf-8", errors="replace"
        ) as process:
            self._process = process
            if self.is_stopped:
                process.terminate()
            assert process.stdout is not None
            for line in process.stdout:
                lines.append(line)
                if found := _PROGRESS.search(line):
                    self._tell(share=min(0.99, _STAGES[found[1]] + int(found[2]) / 200))
        if process.returncode != 0 and not self.is_stopped:
            raise GuideError(f"the guide cannot be built: {_reason(lines)}")
        return output


def _reason(told: Sequence[str]) -> str:
    """The last exception in the output of Sphinx, or else its last line."""
    lines = [line.strip() for line in told if line.strip()]
    return next((line for line in reversed(lines) if _EXCEPTION.match(line)), lines[-1] if lines else "no output")


def _own_folder() -> Path:
    return guide_cache() / __version__


def _last_change(sources: Path) -> float:
    """Time of the last change to a page, a picture or a help text."""
    folders = (sources, sources.parent / "assets" / "help")
    return max(path.stat().st_mtime for folder in folders for path in folder.rglob("*.*") if path.suffix != ".pyc")


def _not_built() -> str:
    if guide_sources() is None:
        return "the user guide is not part of this installation: it is built from the source tree with " + BUILD_COMMAND
    return f"the user guide is not built yet: {BUILD_COMMAND} builds it, and installs what it needs (Sphinx)"
