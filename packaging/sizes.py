"""Sizes of the bundle and of its parts."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

MEBIBYTE = 1 << 20
_SHOWN = 10
# Folders and files of the bundle by the name of their part: libraries of a wheel lie in a separate folder (numpy.libs).
_FAMILIES = {
    "numpy.libs": "NumPy", "numpy": "NumPy", "pillow.libs": "Pillow",
    "PIL": "Pillow", "torch": "PyTorch", "PySide6": "Qt and PySide6", "shiboken6": "Qt and PySide6",
    "PySide6QtAds": "docking system (QtAds)", "matplotlib": "Matplotlib",
    "assets": "Subflow: assets", "assets/experiments.db": "Subflow: library of results", "guide": "Subflow: guide",
    "subflow_sim": "Subflow: core",
    "licenses": "licences",
    "qtawesome": "icon fonts (QtAwesome)", "base_library.zip": "Python",
}  # fmt: skip
_PROGRAM = "programs, with all modules of Python"


def parts(bundle: Path) -> list[tuple[str, int]]:
    """Parts of the bundle with their sizes in bytes, largest first; links count as 0."""
    found: Counter[str] = Counter()
    inside = bundle / "_internal"
    for path in bundle.rglob("*"):
        if path.is_file() and not path.is_symlink():
            found[_family(path.relative_to(inside)) if path.is_relative_to(inside) else _PROGRAM] += path.stat().st_size
    return sorted(found.items(), key=lambda part: (-part[1], part[0]))


def report(bundle: Path, packages: list[Path], folder: Path) -> str:
    """Writes ``sizes.json`` and ``sizes.txt`` into a folder.

    Args:
        bundle: folder of the frozen program.
        packages: installers made from it.
        folder: folder for the report.

    Returns:
        The report: total size, the ten largest parts, and the packages.
    """
    by_part = parts(bundle)
    whole = sum(size for _, size in by_part)
    rest = sum(size for _, size in by_part[_SHOWN:])
    lines = [f"Installed: {whole / MEBIBYTE:.0f} MiB, of which"]
    lines += [f"  {size / MEBIBYTE:7.1f} MiB  {name}" for name, size in by_part[:_SHOWN]]
    lines.append(f"  {rest / MEBIBYTE:7.1f} MiB  the other {max(0, len(by_part) - _SHOWN)}")
    lines += [f"{package.name}: {package.stat().st_size / 1e6:.1f} MB" for package in packages]
    text = "\n".join(lines) + "\n"
    document = {
        "installed_bytes": whole,
        "parts_bytes": dict(by_part),
        "packages_bytes": {package.name: package.stat().st_size for package in packages},
    }
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "sizes.json").write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    (folder / "sizes.txt").write_text(text, encoding="utf-8")
    return text


def _family(path: Path) -> str:
    top = path.parts[0]
    for name in ("/".join(path.parts[:2]), top):
        if name in _FAMILIES:
            return _FAMILIES[name]
    if top.startswith(("libpython", "python3")):
        return "Python"
    if len(path.parts) == 1 and (".so" in top or top.endswith((".dll", ".dylib"))):
        return "libraries of the system"
    return top
