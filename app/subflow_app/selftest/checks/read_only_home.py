"""A home that cannot be written: what needs no file of the user works, the rest says which folder it is."""

from __future__ import annotations

from subflow_app.selftest.check import SHORT_RUN, Check, Place, require
from subflow_app.selftest.obstacles import obey_permissions

# Said by the library that finds fonts, where the system has no cache of its own; nothing is wrong with what is drawn.
_NO_FONT_CACHE = "Fontconfig error: No writable cache directories"
_FOLDERS = ("XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME", "HOME")


def check(place: Place) -> str:
    """Uses commands and the window in such a home."""
    obey_permissions()
    home = place.folder / "home"
    home.mkdir(mode=0o555)
    environment = {name: str(home / name.lower()) for name in _FOLDERS}
    refused = place.subflow("run", *SHORT_RUN, code=1, may_speak=True, environment=environment).err
    require(str(home) in refused and "--db" in refused, f"the way on is not said: {refused.strip()}")
    place.subflow("run", *SHORT_RUN, "--no-store", environment=environment)
    spoken = place.subflow("probe", "start", "0", may_speak=True, environment=environment).err.splitlines()
    said = [line for line in spoken if line != _NO_FONT_CACHE]
    # Log, settings and database, each once.
    is_expected = 1 <= len(said) <= 3 and all(str(home) in line for line in said)
    require(is_expected, f"the window says: {' | '.join(said) or 'nothing'}")
    require(not any(home.iterdir()), "something was written")
    return "commands and window work; what cannot be kept is said with its folder"


CHECK = Check("read-only home", check)
