"""Checks of the window: first start, languages and locale, Qt's libraries, and the crash report.

First start: the window shows the welcome and the demo with its curves, while a command uses the same database.

Languages: the window opens a file with a German name, and shows its own texts, the help and Qt's dialogs in German.

Locale: the window opens in the user's locale, and its controls work; all other checks use one fixed locale.

Qt: the plug-in for the displays of this system loads, text is drawn, and icons can be read.

Crash report: a crash of the program leaves a report for the user, without the user's name and folders.
"""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from subflow_app.foundation.paths import crash_directory, own_command
from subflow_app.shell.selftest.check import SHORT_RUN, Check, CheckError, NotHereError, Place, last_lines, require

if TYPE_CHECKING:
    from subflow_app.shell.main_window import MainWindow
    from subflow_app.shell.selftest.window_story import Until


# A window with all panels and curves has several hundred colours, and text alone has a dozen.
_FEWEST_COLOURS = 40


def _check_window(_place: Place) -> str:
    """Open the window as at a first start, and run the demo while a command runs."""
    from subflow_app.shell.selftest.window_story import Until, colours, play

    found: list[str] = []

    def story(window: MainWindow) -> Iterator[Until]:
        from PySide6.QtWidgets import QDialog

        yield Until("the welcome", lambda: window.findChild(QDialog, "welcome_dialog") is not None)
        welcome = window.findChild(QDialog, "welcome_dialog")
        assert isinstance(welcome, QDialog)
        welcome.reject()
        beside = subprocess.Popen(
            own_command("run", *SHORT_RUN), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
        )
        window.window_dialogs.open_door("demo")
        window.bar.trigger("run.speed_express")
        yield Until("both runs to end", lambda: not window.runs.is_running and beside.poll() is not None)
        _, said = beside.communicate()
        require(beside.returncode == 0 and not said, f"the command beside the window printed: {last_lines(said)}")
        window.history.reload()
        yield Until("both runs in the history", lambda: len(window.history.runs()) == 2)
        runs = window.history.runs()
        require(all(run.status == "finished" for run in runs), f"they are {' and '.join(run.status for run in runs)}")
        require(len({run.signature for run in runs}) == 2, "both have the same signature")
        window.docks.set_open("help", True)
        shown = colours(window)
        require(window.plots.shown_keys(), "no curve is drawn")
        require(shown >= _FEWEST_COLOURS, f"the window has {shown} colours: it is empty")
        require(window.help.browser.toPlainText(), "the help has no text")
        found.append(f"the demo and a command beside it in one history, {window.width()} × {window.height()} pixels")
        found.append(f"{shown} colours")

    play(story)
    return ", ".join(found)


WINDOW = Check("window, two instances", _check_window)


_FOLDER, _FILE = "Übungen & Läufe", "Mein Netz für 世界.subflow.toml"


def _check_languages(place: Place) -> str:
    """Open the window in German."""
    from subflow_app.foundation.resources import resource_path
    from subflow_app.shell.selftest.window_story import play

    file = place.folder / _FOLDER / _FILE
    file.parent.mkdir()
    file.write_bytes(resource_path("scenarios/t-2link.toml").read_bytes())
    menus: list[str] = []

    def story(window: MainWindow) -> Iterator[Until]:
        from PySide6.QtWidgets import QDialogButtonBox

        menus.extend(action.text().replace("&", "") for action in window.menuBar().actions())
        box = QDialogButtonBox(QDialogButtonBox.StandardButton.Cancel, window)
        cancel = box.button(QDialogButtonBox.StandardButton.Cancel).text().replace("&", "")
        box.deleteLater()
        require("Datei" in menus, f"the menus are {', '.join(menus)}")
        require(cancel == "Abbrechen", f"Qt's own dialogs show {cancel}, not Abbrechen")
        require("Topologie" in window.help.browser.toPlainText(), "the help is not German")
        require(_FILE in window.windowTitle(), f"the window on {_FILE} is titled {window.windowTitle()}")
        yield from ()

    play(story, file=file, settings={"language": "de", "is_welcomed": True})
    return f"German: {', '.join(menus)}; Qt's dialogs too"


LANGUAGES = Check("languages", _check_languages)


def _check_own_locale(_place: Place) -> str:
    """Open the window in the user's locale and run the demo."""
    from subflow_app.shell.selftest.window_story import Until, play

    found: list[str] = []

    def story(window: MainWindow) -> Iterator[Until]:
        from PySide6.QtCore import QLocale

        window.bar.trigger("run.speed_express")
        window.bar.trigger("run.toggle")
        yield Until("the run to end", lambda: not window.runs.is_running and window.shown.count == 1)
        require(window.plots.shown_keys(), "no curve is drawn")
        system = QLocale.system()
        menus = ", ".join(action.text().replace("&", "") for action in window.menuBar().actions())
        found.append(f"{system.name()}, numbers as {system.toString(1234.5, 'f', 1)}: {menus}")

    play(story, settings={"is_welcomed": True})
    return found[0]


OWN_LOCALE = Check("own locale", _check_own_locale, is_in_own_locale=True)


# A window needs the first plug-in; libraries for the others may be missing, e.g. on a desktop without Wayland.
_PLATFORMS = {"win32": ("windows",), "darwin": ("cocoa",), "linux": ("xcb", "wayland")}


def _check_qt_platform(_place: Place) -> str:
    """Load the platform plug-ins, draw text, and list image formats."""
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
    """The reason why a plug-in cannot be loaded; empty if it and all its libraries can be loaded.

    Raises:
        CheckError: if the folder has no such plug-in.
    """
    from PySide6.QtCore import QPluginLoader

    file = next((path for path in folder.glob(f"*q{name}.*") if path.suffix in (".so", ".dll", ".dylib")), None)
    if file is None:
        raise CheckError(f"the platform plug-in {name} is not in {folder}")
    loader = QPluginLoader(str(file))
    return "" if loader.load() else f"{name} cannot be loaded: {loader.errorString().rpartition(f'{file}: ')[2]}"


QT_PLATFORM = Check("Qt platform", _check_qt_platform)


_PATIENCE_S = 30.0


def _check_crash_report(place: Place) -> str:
    """Crash a run with an invalid memory access, and read the report."""
    if sys.platform == "win32":
        raise NotHereError("no process can be made to crash here")
    import resource

    from subflow_app.foundation.crash_reports import collect_crashes

    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # write no core dump
    words = ("run", "t-2link", "--set", "duration=1e6", "--sample-interval", "1000s", "--no-store")
    with subprocess.Popen(
        own_command(*words), cwd=place.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:
        deadline = time.monotonic() + _PATIENCE_S
        while not any(file.stat().st_size for file in crash_directory().glob("*")):
            if process.poll() is not None or time.monotonic() > deadline:
                process.kill()
                raise CheckError(f"a running process is not watched: nothing in {crash_directory()}")
            time.sleep(0.02)
        process.send_signal(signal.SIGSEGV)
        process.wait(_PATIENCE_S)
    reports = collect_crashes()
    require(len(reports) == 1, f"{len(reports)} reports were made")
    text = reports[0].text()
    require("Segmentation fault" in text and "run" in text, f"the report does not describe the crash: {text[:200]}")
    require(str(Path.home()) not in text, "the report names the user's folder")
    return f"{reports[0].title}; without the user's folders"


CRASH_REPORT = Check("crash report", _check_crash_report)
