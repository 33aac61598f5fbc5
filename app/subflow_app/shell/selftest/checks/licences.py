"""The licences of everything that is delivered with the program: each part is listed, and its texts are there."""

from __future__ import annotations

from subflow_app.foundation.paths import is_frozen
from subflow_app.shell.selftest.check import Check, Place, is_to_be_here, require

_NEVER_MISSING = ("Subflow", "Python", "PySide6", "PySide6-QtAds", "numpy")
_ONLY_PACKAGED = ("PyInstaller",)  # its bootloader starts the packaged program


def check(_place: Place) -> str:
    """Reads the list and each text."""
    from subflow_app.features.about.core import licence_parts

    parts = licence_parts()
    for part in parts:
        require(part.text().strip(), f"no licence is listed for {part.name}")
        # In a source tree a package has what its makers put into it.
        require(not is_frozen() or (part.licence and part.files), f"{part.name} has no licence, or no text of it")
    names = " ".join(part.name for part in parts).casefold()
    needed = _NEVER_MISSING + (_ONLY_PACKAGED if is_frozen() else ()) + (("torch",) if is_to_be_here("torch") else ())
    missing = [name for name in needed if name.casefold() not in names]
    require(not missing, f"no licence is listed for {', '.join(missing)}")
    return f"{len(parts)} parts, {sum(len(part.files) for part in parts)} texts"


CHECK = Check("licences", check)
