"""Qt's libraries and plug-ins: the one of this system's displays can be loaded, text can be drawn, icons be read."""

from __future__ import annotations

import sys
from pathlib import Path

from subflow_app.shell.selftest.check import Check, CheckError, Place, require

# The first is what a window cannot do without; where a desktop has no Wayland, its libraries may be missing.
_PLATFORMS = {"win32": ("windows",), "darwin": ("cocoa",), "linux": ("xcb", "wayland")}


def check(_place: Place) -> str:
    """Loads them."""
    from PySide6.QtCore import QLibraryInfo, qVersion
    from PySide6.QtGui import QColor, QFontDatabase, QGuiApplication, QImage, QImageReader, QPainter

    application = QGuiApplication(["subflow"])
    plugins = Path(QLibraryInfo.path(QLibraryInfo.LibraryPath.PluginsPath))
    first, *others = _PLATFORMS[sys.platform]
    problem = _problem(plugins / "platforms", first)
    require(not problem, f"no window can be opened: {problem}")
    told = [f"{name} can be loaded" if not (why := _problem(plugins / "platforms", name)) else why for name in others]
    formats = {bytes(each.data()).decode() for each in QImageReader.supportedImageFormats()}
    require({"png", "svg"} <= formats, f"images can be read as {', '.join(sorted(formats))} alone")
    image = QImage(200, 40, QImage.Format.Format_RGB32)
    image.fill(QColor("white"))
    painter = QPainter(image)
    painter.drawText(4, 30, "Subflow: α, ü, 世")
    painter.end()
    dark = sum(image.pixelColor(x, y).lightness() < 128 for x in range(200) for y in range(40))
    require(dark > 100, f"a line of text has {dark} dark pixels: no font was found")
    fonts = len(QFontDatabase.families())
    del application
    return ", ".join((f"Qt {qVersion()}", f"{first} can be loaded", *told, f"text is drawn, {fonts} fonts"))


def _problem(folder: Path, name: str) -> str:
    """Why a plug-in cannot be loaded; empty if it can, with all the libraries that it needs."""
    from PySide6.QtCore import QPluginLoader

    file = next((path for path in folder.glob(f"*q{name}.*") if path.suffix in (".so", ".dll", ".dylib")), None)
    if file is None:
        raise CheckError(f"the platform plug-in {name} is not in {folder}")
    loader = QPluginLoader(str(file))
    return "" if loader.load() else f"{name} cannot be loaded: {loader.errorString().rpartition(f'{file}: ')[2]}"


CHECK = Check("Qt platform", check)
