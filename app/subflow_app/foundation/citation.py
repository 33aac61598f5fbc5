"""Citation of Subflow as text, BibTeX and CITATION.cff, for reports, bundles and the source tree."""

from __future__ import annotations

from subflow_app import __version__

FILE = "CITATION.cff"
AUTHORS = "Subflow contributors"
TITLE = "Subflow: a workbench for multipath congestion control"
RELEASED = "2026-11-27"
YEAR = RELEASED[:4]
LICENCE = "MIT"
KEYWORDS = ("congestion control", "MPTCP", "multipath", "network simulator", "reinforcement learning")
ABSTRACT = (
    "A desktop workbench and packet-level simulator for multipath congestion control, classic and learned. Every run "
    "can be repeated bit for bit from its seed."
)


def citation_text() -> str:
    """The reference as plain text."""
    return f"{AUTHORS}. {TITLE}, version {__version__}, {YEAR}."


def citation_bibtex() -> str:
    """The reference as BibTeX."""
    return (
        "@software{subflow,\n"
        f"  author = {{{{{AUTHORS}}}}},\n"
        f"  title = {{{TITLE}}},\n"
        f"  version = {{{__version__}}},\n"
        f"  year = {{{YEAR}}}\n"
        "}"
    )


def citation_cff() -> str:
    """The file that GitHub, Zenodo and reference managers read (Citation File Format 1.2.0)."""
    keywords = "".join(f"  - {word}\n" for word in KEYWORDS)
    return (
        "cff-version: 1.2.0\n"
        "message: If you use Subflow in your work, please cite it as below.\n"
        "type: software\n"
        f'title: "{TITLE}"\n'
        f"version: {__version__}\n"
        f"date-released: {RELEASED}\n"
        f"license: {LICENCE}\n"
        f'abstract: "{ABSTRACT}"\n'
        f"authors:\n  - name: {AUTHORS}\n"
        f"keywords:\n{keywords}"
    )
