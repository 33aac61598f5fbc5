"""The user that the self-test plays: folders of his own, a screen of memory, nothing of the real user's settings."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

_FOLDERS = {
    "XDG_DATA_HOME": "data",
    "XDG_CONFIG_HOME": "config",
    "XDG_CACHE_HOME": "cache",
    "XDG_STATE_HOME": "state",
    "XDG_RUNTIME_DIR": "runtime",
    # Windows asks the system, not the environment; platformdirs lets these stand for the answers.
    "WIN_PD_OVERRIDE_LOCAL_APPDATA": "data",
    "WIN_PD_OVERRIDE_APPDATA": "data",
    "HOME": "home",
    "USERPROFILE": "home",
    "TMPDIR": "temporary",
    "TEMP": "temporary",
    "TMP": "temporary",
}
# What changes how the program looks, speaks or counts; a self-test comes out the same for everybody.
_NOT_TAKEN = ("QT_", "SUBFLOW_", "MPL", "COLUMNS", "FORCE_COLOR", "CLICOLOR_FORCE", "PYTHONIOENCODING")
_LOCALE = ("LC_", "LANG")  # LANGUAGE too


def own_surroundings(environment: Mapping[str, str], folder: Path, *, keeps_locale: bool = False) -> dict[str, str]:
    """The environment of a check; makes the folders that it names.

    Args:
        environment: of this process.
        folder: an empty one.
        keeps_locale: whether language and formats stay those of the user.
    """
    left_out = _NOT_TAKEN if keeps_locale else (*_NOT_TAKEN, *_LOCALE)
    kept = {name: value for name, value in environment.items() if not name.startswith(left_out)}
    if not keeps_locale:
        kept["LANG"] = "C.UTF-8"
    for name, below in _FOLDERS.items():
        path = folder / below
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        kept[name] = str(path)
    kept.update(
        {
            "QT_QPA_PLATFORM": "offscreen",
            "NO_COLOR": "1",
            # Where Python reads it, which a frozen program does not: warnings of libraries are told as well.
            "PYTHONWARNINGS": "default",
            # A training on a graphics card would be another one.
            "CUDA_VISIBLE_DEVICES": "",
        }
    )
    return kept
