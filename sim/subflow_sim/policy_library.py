"""Finds trained policies by name in folders, or as files that belong to a scenario.

A library is a value that callers of the scenario reader pass with the algorithms (`AlgorithmCatalog.policies`). Without
a global list of folders, two documents of one process can use different libraries.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path, PurePosixPath, PureWindowsPath

from subflow_sim.errors import ParamError, PolicyError
from subflow_sim.gate import TooLargeFileError, is_file, read_file
from subflow_sim.plain_text import did_you_mean, either
from subflow_sim.scenario_model import PolicyFile
from subflow_sim.shipped import shipped_folder

SUFFIX = ".safetensors"
MAX_POLICY_BYTES = 64 << 20
"""Size limit of a policy file, bytes."""

NEUTRAL = "neutral"
RANDOM = "random"

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}\Z")


def shipped_policies() -> Path:
    """The folder of the shipped policies."""
    return shipped_folder("agents")


def is_policy_name(name: str) -> bool:
    """True if a policy of a library may have this name."""
    return _NAME.match(name) is not None and not name.endswith(SUFFIX) and name not in (NEUTRAL, RANDOM)


@dataclass(frozen=True, slots=True)
class PolicyLibrary:
    """Policies by name.

    Attributes:
        folders: folders with files NAME.safetensors. If several contain the same name, the first counts; missing
            folders count as empty.
        kept: policies in memory, which take precedence over files of the same name.
    """

    folders: tuple[Path, ...] = ()
    kept: tuple[PolicyFile, ...] = ()

    def paths(self) -> dict[str, Path]:
        """The files by name, sorted."""
        found: dict[str, Path] = {}
        for folder in self.folders:
            try:
                files = sorted(folder.glob(f"*{SUFFIX}"))
            except OSError:
                continue
            for path in files:
                if is_policy_name(path.stem):
                    found.setdefault(path.stem, path)
        return dict(sorted(found.items()))

    def read(self, value: str, folder: Path | None = None) -> PolicyFile:
        """The policy named by a scenario.

        Args:
            value: a name of the library, or a path that ends in .safetensors: absolute, or with "/" relative to the
                scenario's folder and within it.
            folder: folder of the scenario; None if the scenario is not a file.

        Raises:
            ParamError: if the policy is missing or cannot be read.
        """
        for file in self.kept:
            if file.name == value:
                return file
        path = _beside(value, folder) if value.endswith(SUFFIX) else self._in_library(value)
        try:
            content, content_hash = _read(path)
        except PolicyError as error:
            raise ParamError(str(error), "a policy file") from error
        return PolicyFile(value, content_hash, content, path.absolute())

    def _in_library(self, name: str) -> Path:
        # Lists no directory for a known name, because each keystroke in a scenario's editor triggers this lookup.
        if is_policy_name(name):
            for folder in self.folders:
                path = folder / f"{name}{SUFFIX}"
                if is_file(path):
                    return path
        names = [*self.paths(), NEUTRAL, RANDOM]
        message = f"no policy of that name{did_you_mean(name, names)}"
        raise ParamError(message, f"{either(names)}, or a file beside the scenario")


def read_policy_file(path: Path) -> bytes:
    """The bytes of a policy file.

    Raises:
        PolicyError: if the file cannot be read, is not a regular file or is too large; the message begins with the
            path.
    """
    return _read(path)[0]


def _beside(value: str, folder: Path | None) -> Path:
    """Path of a file that belongs to a scenario, or an absolute path.

    Unlike delivery traces, policy files may lie outside the folder of the scenario, so that a run can use a policy at
    the place where its training saved it. A run of someone else's scenario reveals only decisions of the policy, not
    the content of the file.

    Raises:
        ParamError: if a relative path leads out of the scenario's folder, or the scenario has no folder.
    """
    path = PurePosixPath(value)
    if Path(value).is_absolute():
        return Path(value)
    if PureWindowsPath(value).anchor or ".." in path.parts or "\\" in value:
        raise ParamError(
            "not within the folder of the scenario", "a file beside it or in a folder below, or all its path"
        )
    if folder is None:
        message = "cannot be found, because this scenario has no folder"
        raise ParamError(message, "a scenario that is saved as a file, or a policy of the library")
    return folder / path


def _read(path: Path) -> tuple[bytes, str]:
    try:
        status = path.stat()
        return _remembered(path, status.st_mtime_ns, status.st_size, status.st_ino)
    except FileNotFoundError as error:
        raise PolicyError(f"{path}: no such file") from error
    except TooLargeFileError as error:
        raise PolicyError(f"{path}: larger than {MAX_POLICY_BYTES >> 20} MiB") from error
    except (OSError, ValueError) as error:  # ValueError: a null character in the path
        raise PolicyError(f"{path}: cannot be read: {getattr(error, 'strerror', None) or error}") from error


@lru_cache(maxsize=16)
def _remembered(path: Path, _changed_ns: int, _size: int, _inode: int) -> tuple[bytes, str]:
    """Content and hash of a file, cached until it changes, because each keystroke in an editor reads the scenario."""
    content = read_file(path, MAX_POLICY_BYTES)
    return content, hashlib.sha256(content).hexdigest()
