"""Reports to hand in, as a page for a browser and as a PDF."""

from __future__ import annotations

from subflow_app.selftest.check import SHORT_RUN, Check, Place, require


def check(place: Place) -> str:
    """Writes both."""
    place.subflow("run", *SHORT_RUN)
    place.subflow("report", 1, "--figure", "throughput,cwnd", "--out", "report.html")
    place.subflow("report", 1, "--figure", "throughput", "--out", "report.pdf")
    page = (place.folder / "report.html").read_text(encoding="utf-8")
    require("<svg" in page and "T-2link" in page, "report.html has no figure, or not the name of the run")
    pages = (place.folder / "report.pdf").read_bytes()
    require(pages.startswith(b"%PDF-") and b"%%EOF" in pages[-64:], "report.pdf is no whole PDF")
    return f"report.html {len(page) // 1000} kB, report.pdf {len(pages) // 1000} kB"


CHECK = Check("export of reports", check)
