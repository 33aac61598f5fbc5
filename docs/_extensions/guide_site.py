"""The public site: the guide with three example pages and downloads, as one folder of files for any host.

Only a build with the tag ``site``, such as that of ``python3 dev.py docs``, adds them. The guide that ships with the
program lacks the page ``examples.md``, to keep the installers small.

The option ``-D site_release=FOLDER`` adds the installers and wheels in that folder to the downloads.
"""

from __future__ import annotations

import hashlib
import html
import io
import shutil
import zipfile
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from sphinx.errors import ExtensionError

from subflow_app.features.breaking.core.break_text import write_claim_page
from subflow_app.features.breaking.core.counterexample import named_counterexample
from subflow_app.features.catalog.core.uses import Use
from subflow_app.features.editor.core.scenario_source import open_scenario
from subflow_app.features.exporting.core.lab_page import write_lab_page
from subflow_app.features.exporting.core.web_page import write_page
from subflow_app.features.labs.core.lab_file import load_lab
from subflow_app.features.running.core.runs import RunJob
from subflow_app.foundation.resources import find_scenario, scenario_names
from subflow_app.vocabulary.language import ENGLISH
from subflow_store import open_store

if TYPE_CHECKING:
    from sphinx.application import Sphinx

TAG = "site"
EXAMPLES, DOWNLOADS, RELEASE = "examples", "downloads", "release"
RUN, LAB, CLAIM = "starlink", "1", "improve-olia"
_DOCS = Path(__file__).resolve().parents[1]
_RELEASED = (".deb", ".exe", ".dmg", ".gz", ".xz", ".zst", ".whl")
_SUMS = "SHA256SUMS"
_DAY = (2020, 1, 1, 0, 0, 0)  # of all members of an archive, so that equal contents give equal archives


def examples(*_words: str) -> str:
    """A table of the example pages."""
    claim = named_counterexample(CLAIM)
    shown = {
        "run.html": (
            f"A run: {open_scenario(RUN, use=Use.PAGE).scenario.name}",
            "Press *Play*, click a drop of a congestion window, change a link under *What if*.",
        ),
        "lab.html": (
            f"A lab: {load_lab(LAB, language=ENGLISH).title}",
            "Draw a prediction, run the scenario, answer the questions, and write the result file.",
        ),
        "counterexample.html": (
            f"A counterexample for {claim.entrant}: {claim.claim.title}",
            "Compare the run in which this claim fails with the run of another controller.",
        ),
    }
    rows = [
        f"| {_link(f'{EXAMPLES}/{name}', title)} | {tries} | {_size(len(_pages()[name]))} |"
        for name, (title, tries) in shown.items()
    ]
    return "\n".join(["| Example | To try | Size |", "|---|---|---|", *rows, ""])


def downloads(*_words: str) -> str:
    """A table of the files to download."""
    rows = [
        f"| {_link(f'{DOWNLOADS}/{name}', name)} | {about} | {_size(len(content))} |"
        for name, (about, content) in _files().items()
    ]
    return "\n".join(["| File | Content | Size |", "|---|---|---|", *rows, ""])


def released(folder: str) -> str:
    """A table of the installers and wheels in a folder, with their checksums; a sentence if no folder is given."""
    if not folder:
        return "This site has no installers: [Install Subflow](installation.md) describes how to make one.\n"
    place = f"{DOWNLOADS}/{RELEASE}"
    rows = [
        f"| {_link(f'{place}/{path.name}', path.name)} | {_size(path.stat().st_size)} | `{_sum(path)}` |"
        for path in _release_files(folder)
    ]
    sums = f"\nAll checksums as one file, for `sha256sum --check`: {_link(f'{place}/{_SUMS}', _SUMS)}.\n"
    return "\n".join(["| File | Size | SHA-256 |", "|---|---|---|", *rows, sums])


@cache
def _pages() -> dict[str, bytes]:
    """The example pages by file name; each needs no other file."""
    with TemporaryDirectory() as scratch, open_store(":memory:") as store:
        folder = Path(scratch)
        source = open_scenario(RUN, use=Use.PAGE)
        result = RunJob(source.scenario, source.text, store=store).run()
        assert result.run_id is not None, result.error
        made = [
            write_page(store, [result.run_id], folder / "run.html"),
            write_lab_page(load_lab(LAB, language=ENGLISH), folder / "lab.html", language=ENGLISH),
            write_claim_page(named_counterexample(CLAIM), folder / "counterexample.html"),
        ]
        return {path.name: path.read_bytes() for path in made}


@cache
def _files() -> dict[str, tuple[str, bytes]]:
    """The downloads except for the release: description and content by file name."""
    scenarios = [find_scenario(name) for name in scenario_names()]
    skeletons = sorted(path for path in (_DOCS / "skeletons").iterdir() if path.is_file())
    return {
        "scenarios.zip": ("All scenarios that ship: networks, flows and events as text files", _archive(scenarios)),
        "skeletons.zip": ("A first file for each kind of extension, from a controller to a lab", _archive(skeletons)),
        "notebook.ipynb": ("A notebook that compares three controllers", (_DOCS / "notebook.ipynb").read_bytes()),
    }


def _archive(paths: list[Path]) -> bytes:
    """A ZIP archive of files, without their folders."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in paths:
            archive.writestr(zipfile.ZipInfo(path.name, _DAY), path.read_bytes(), zipfile.ZIP_DEFLATED)
    return made.getvalue()


def _release_files(folder: str) -> list[Path]:
    """The installers and wheels in a folder.

    Raises:
        ExtensionError: if the folder does not exist or contains none.
    """
    place = Path(folder)
    found = sorted(path for path in place.glob("*") if path.suffix in _RELEASED and path.is_file())
    if not found:
        problem = "contains no installer or wheel" if place.is_dir() else "is not a folder"
        raise ExtensionError(f"site_release={folder}: it {problem}; allowed: a folder with {', '.join(_RELEASED)}")
    return found


@cache
def _sum(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _link(address: str, text: str) -> str:
    """A link to a file that is no page of the guide, for which Sphinx would look."""
    return f'<a class="reference external" href="{html.escape(address)}">{html.escape(text)}</a>'


def _size(size_bytes: int) -> str:
    return f"{size_bytes / 1e6:.1f} MB" if size_bytes >= 1e6 else f"{max(1, round(size_bytes / 1e3))} kB"


def _write(app: Sphinx, error: Exception | None) -> None:
    if error is not None or app.builder.name != "html" or not app.tags.has(TAG):
        return
    out = Path(app.outdir)
    for folder in (EXAMPLES, DOWNLOADS):
        shutil.rmtree(out / folder, ignore_errors=True)
        (out / folder).mkdir()
    for name, page in _pages().items():
        (out / EXAMPLES / name).write_bytes(page)
    for name, (_, content) in _files().items():
        (out / DOWNLOADS / name).write_bytes(content)
    # GitHub's pages would leave out folders whose names begin with an underscore, as Sphinx's do.
    (out / ".nojekyll").touch()
    if not app.config.site_release:
        return
    place = out / DOWNLOADS / RELEASE
    place.mkdir()
    files = _release_files(app.config.site_release)
    for path in files:
        shutil.copy2(path, place)
    (place / _SUMS).write_text("".join(f"{_sum(path)}  {path.name}\n" for path in files), encoding="utf-8")


def _fill_in(app: Sphinx, page: str, source: list[str]) -> None:
    if page == EXAMPLES:
        parts = {"examples": examples(), "downloads": downloads(), "released": released(app.config.site_release)}
        for name, text in parts.items():
            source[0] = source[0].replace(f"```{{generated}} site {name}\n```", text)


def setup(app: Sphinx) -> dict[str, Any]:
    """Fills in the page of examples, and writes its files once the pages of the guide are written."""
    app.add_config_value("site_release", "", "env", str)
    app.connect("source-read", _fill_in, priority=400)  # before guide_generated, whose parts know no options
    app.connect("build-finished", _write)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
