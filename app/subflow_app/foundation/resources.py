"""Files that ship with the program, such as scenarios, sweep plans and translations.

`assets_folder` finds them in a source tree, an installation and a frozen bundle.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path

from subflow_app.foundation.errors import InputError, ResourceError
from subflow_app.foundation.paths import bundle_folder
from subflow_app.vocabulary.language import ENGLISH, Catalogue, PoError, read_po, set_language
from subflow_sim.gate import is_folder, is_there
from subflow_sim.plain_text import closest

SCENARIO_SUFFIX = ".toml"
DEMO_SCENARIO = "demo"
PLAN_SUFFIX = ".sweep.toml"


def resource_path(relative: str) -> Path:
    """The path of a file or folder under ``assets/``, e.g. ``resource_path("scenarios/demo.toml")``.

    Raises:
        ResourceError: if the file is missing.
    """
    path = assets_folder().joinpath(*relative.split("/"))
    if not is_there(path):
        raise ResourceError(f"{relative} is missing in {assets_folder()}: install Subflow again")
    return path


def scenario_names() -> tuple[str, ...]:
    """Names of the shipped scenarios, sorted; adding a file to the folder adds a name."""
    return tuple(sorted(path.stem for path in resource_path("scenarios").glob(f"*{SCENARIO_SUFFIX}")))


def find_scenario(name_or_path: str) -> Path:
    """The scenario file for the user's input: a path, or the name of a shipped scenario.

    Raises:
        InputError: if it is neither; the text suggests similar shipped scenarios.
    """
    path = Path(name_or_path)
    if is_to_read(path):
        return path
    names = scenario_names()
    if name_or_path in names:
        return resource_path(f"scenarios/{name_or_path}{SCENARIO_SUFFIX}")
    if is_folder(path):
        raise InputError(f"{name_or_path} is a folder, not a scenario file")
    if path.suffix == SCENARIO_SUFFIX or len(path.parts) > 1:
        raise InputError(f"{name_or_path}: no such scenario file")
    hint = way_on(name_or_path, names, f"shipped scenarios: {', '.join(names)}")
    raise InputError(f"{name_or_path}: no such scenario file and no shipped scenario of that name; {hint}")


def is_to_read(path: Path) -> bool:
    """True if the path exists and is not a folder. Special files such as pipes also count; readers refuse them."""
    return is_there(path) and not is_folder(path)


def file_or_shipped(
    name_or_path: str, folder: str, suffix: str, names: Sequence[str], missing: str, listed: str
) -> Path:
    """The file for the user's input: a path, or the name of a shipped file.

    Args:
        name_or_path: the user's input.
        folder: folder below ``assets/``.
        suffix: suffix of its files.
        names: names of the shipped files.
        missing: message for an unknown name.
        listed: list of the shipped files, shown if no name is similar.

    Raises:
        InputError: if the input is neither.
    """
    path = Path(name_or_path)
    if is_to_read(path):
        return path
    if name_or_path in names:
        return resource_path(f"{folder}/{name_or_path}{suffix}")
    raise InputError(f"{name_or_path}: {missing}; {way_on(name_or_path, names, listed)}")


def way_on(name: str, known: Sequence[str], otherwise: str) -> str:
    """Suggestion for an unknown name: similar known names, or else the text `otherwise`."""
    return closest(name, known, most=3) or otherwise


def sweep_names() -> tuple[str, ...]:
    """Names of the shipped sweep plans, sorted; adding a file to the folder adds a name."""
    return tuple(
        sorted(path.name.removesuffix(PLAN_SUFFIX) for path in resource_path("sweeps").glob(f"*{PLAN_SUFFIX}"))
    )


def shipped_sweep(name: str) -> Path | None:
    """The file of a shipped sweep plan; None for an unknown name."""
    return resource_path(f"sweeps/{name}{PLAN_SUFFIX}") if name in sweep_names() else None


def measurement_names() -> tuple[str, ...]:
    """Names of the shipped files of measurements, sorted; adding a file to the folder adds a name."""
    return tuple(sorted(path.name for path in resource_path("measurements").iterdir()))


def find_measurement(path: Path) -> Path:
    """The path, or the shipped measurement of that name if the path is missing."""
    name = str(path)
    if not is_there(path) and name in measurement_names():
        return resource_path(f"measurements/{name}")
    return path


@cache
def assets_folder() -> Path:
    """The assets folder of the frozen program, the installed package or the source tree, whichever exists first."""
    here = Path(__file__).resolve()
    bundle = bundle_folder()
    candidates = [bundle / "assets"] if bundle else []
    candidates += [here.parents[1] / "assets", here.parents[3] / "assets"]
    for candidate in candidates:
        if is_folder(candidate):
            return candidate
    raise ResourceError(f"the assets folder is missing: looked in {', '.join(map(str, candidates))}")


_log = logging.getLogger(__name__)


def use_language(code: str) -> None:
    """Translate texts from now on with the shipped catalogue of a language.

    If the catalogue cannot be read, this is logged and texts remain English, so that the window still opens.

    Raises:
        ValueError: if the language is unknown.
    """
    set_language(code)
    if code != ENGLISH:
        set_language(code, _catalogue(code))


def translated(texts: Iterable[str], code: str) -> dict[str, str]:
    """The available translations of some texts, independent of the language of the window."""
    known = _catalogue(code).texts
    return {text: known[text] for text in texts if text in known}


@cache
def _catalogue(code: str) -> Catalogue:
    path = resource_path(f"languages/{code}.po")
    try:
        return read_po(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, PoError) as error:
        _log.error("texts stay English: %s cannot be read: %s", path, error)
        return Catalogue({}, {})
