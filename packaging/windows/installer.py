"""The installer for Windows, made by NSIS from `subflow.nsi`."""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from pathlib import Path

import icons

HERE = Path(__file__).resolve().parent

PARTS = frozenset({"_internal", "subflow.exe", "subflow-cli.exe"})
"""Everything that the uninstaller removes, and therefore everything that may be installed."""
# Folders of NSIS's own installer, which does not add them to PATH.
_USUAL_PLACES = (r"C:\Program Files (x86)\NSIS\makensis.exe", r"C:\Program Files\NSIS\makensis.exe")


def make(bundle: Path, output: Path, *, version: str, options: tuple[str, ...] = ()) -> Path:
    """Makes ``Subflow-VERSION-Setup.exe``.

    Args:
        bundle: folder of the frozen program.
        output: folder for the installer.
        version: version of the program as three numbers, the only form that Windows accepts.
        options: further options for makensis.

    Returns:
        The installer.

    Raises:
        ValueError: if the bundle or the version is invalid.
        FileNotFoundError: if NSIS is not installed.
        OSError: if NSIS fails; the message contains its output.
    """
    if not re.fullmatch(r"\d+\.\d+\.\d+", version):
        raise ValueError(f"the version is {version!r}: must be three numbers, such as 0.1.0")
    found = {path.name for path in bundle.iterdir()} if bundle.is_dir() else set()
    if "subflow.exe" not in found or found - PARTS:
        others = ", ".join(sorted(found - PARTS)) or "no subflow.exe"
        raise ValueError(
            f"{bundle} has {others}: must be one of {', '.join(sorted(PARTS))}, which the uninstaller removes"
        )
    output.mkdir(parents=True, exist_ok=True)
    installer = output / f"Subflow-{version}-Setup.exe"
    with tempfile.TemporaryDirectory(prefix="subflow-icon-") as folder:
        icon = Path(folder) / "subflow.ico"
        icon.write_bytes(icons.ico())
        settings = {"VERSION": version, "SRC": bundle.resolve(), "OUT": installer.resolve(), "ICON": icon}
        defined = [f"-D{name}={value}" for name, value in settings.items()]
        # Warnings are errors: most report undefined names.
        command = [_makensis(), "-V2", "-WX", "-INPUTCHARSET", "UTF8", *defined, *options, str(HERE / "subflow.nsi")]
        done = subprocess.run(command, capture_output=True, text=True, check=False, errors="replace")
    if done.returncode != 0:
        raise OSError(f"makensis ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return installer


def _makensis() -> str:
    for place in ("makensis", *_USUAL_PLACES):
        found = shutil.which(place)
        if found:
            return found
    raise FileNotFoundError("makensis is not installed (Debian: apt-get install nsis; nsis.sourceforge.io)")
