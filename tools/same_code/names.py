"""Names of files and modules before and after a move: derived from renamed files, and compared in texts."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Mapping

Name = tuple[str, ...]

# Folders on Python's import path: module names do not contain them.
IMPORT_ROOTS = ("sim", "agents", "app", "docs/_extensions", "packaging")

_TOKEN = re.compile(r"((?:\.{1,2}/)*[\w-]+(?:[./]+[\w-]+)*)")
_SPACE = re.compile(r"\s+")


def module_of(path: str) -> str:
    """Dotted name under which Python imports a file; a package has the name of its folder."""
    for root in IMPORT_ROOTS:
        path = path.removeprefix(f"{root}/")
    stem = path.rpartition(".")[0]
    return stem.removesuffix("/__init__").replace("/", ".")


class Names:
    """Mapping of names in the old revision to names in the new revision."""

    def __init__(self, old_paths: Iterable[str], renames: Mapping[str, str]) -> None:
        """Derives the names from the renamed files.

        Args:
            old_paths: all files of the old revision.
            renames: new paths by old paths; packages that contain only a docstring may be missing.
        """
        self.renames = renames
        self.folders = _folders(renames)
        self._new: dict[Name, set[Name]] = {}
        self._modules: dict[str, set[str]] = {}
        for old, new in renames.items():
            self._add(tuple(old.split("/")), tuple(new.split("/")))
            if old.endswith((".py", ".pyi")) and new.endswith((".py", ".pyi")):
                self._add(_stem(old), _stem(new))
                self._modules.setdefault(module_of(old), set()).add(module_of(new))
        packages = {folder for path in old_paths if path.endswith(".py") for folder in _above(path)}
        for old, news in self.folders.items():
            for new in news:
                self._add(tuple(old.split("/")), tuple(new.split("/")))
                if old in packages and module_of(f"{old}/__init__.py") not in self._modules:
                    names = self._modules.setdefault(module_of(f"{old}/x.py").removesuffix(".x"), set())
                    names.add(module_of(f"{new}/x.py").removesuffix(".x"))
        # A package that was divided, or of which some files stayed, may keep its old name.
        exact = {module_of(old) for old in renames if old.endswith((".py", ".pyi"))}
        for module, names in self._modules.items():
            if module not in exact:
                names.add(module)
        self._ends = _ends(old_paths)

    def _add(self, old: Name, new: Name) -> None:
        if old != new:
            self._new.setdefault(old, set()).add(new)

    def modules(self, dotted: str) -> set[str]:
        """Possible current names of a module, or of something in it."""
        head, rest = dotted, ""
        while head:
            if head in self._modules:
                return {name + rest for name in self._modules[head]}
            head, dot, last = head.rpartition(".")
            rest = f"{dot}{last}{rest}"
        return {dotted}

    def is_same_place(self, old: str, new: str) -> bool:
        """True if a path of the new revision is the new or unchanged place of a path of the old revision."""
        if old in self.renames:
            return self.renames[old] == new
        head, rest = old, ""
        while head:
            if head in self.folders:
                return new in {old, *(name + rest for name in self.folders[head])}
            head, slash, last = head.rpartition("/")
            rest = f"{slash}{last}{rest}"
        return old == new

    def are_same_texts(self, old: str, new: str, old_path: str, new_path: str) -> bool:
        """True if two texts differ only in names of moved things and in surrounding white space.

        Args:
            old: a text of the old revision.
            new: a text of the new revision.
            old_path: path of the file with the old text.
            new_path: path of the file with the new text.
        """
        if old == new:
            return True
        was, now = _TOKEN.split(old), _TOKEN.split(new)
        if len(was) != len(now):
            return False
        between = zip(was[::2], now[::2], strict=True)
        if any(a != b and _SPACE.sub(" ", a) != _SPACE.sub(" ", b) for a, b in between):
            return False
        pairs = [(a, b) for a, b in zip(was[1::2], now[1::2], strict=True) if a != b]
        places = posixpath.dirname(old_path), posixpath.dirname(new_path)
        return bool(pairs) and all(self._is_same_name(a, b, *places) for a, b in pairs)

    def _is_same_name(self, old: str, new: str, old_folder: str, new_folder: str) -> bool:
        if old.startswith(".") or new.startswith("."):
            was, now = (
                posixpath.normpath(f"{folder}/{name}") for folder, name in ((old_folder, old), (new_folder, new))
            )
            return self.is_same_place(was, now)
        was_parts, now_parts = _parts(old), _parts(new)
        for cut in range(len(was_parts), 0, -1):
            head, rest = was_parts[:cut], was_parts[cut:]
            known = self._known(head, old_folder)
            if known is None:
                continue
            end = len(now_parts) - len(rest)
            if end < 1 or now_parts[end:] != rest:
                return False
            found = now_parts[:end]
            if any(name[-len(found) :] == found for name in self._new.get(known, ())):
                return True
        return False

    def _known(self, name: Name, folder: str) -> Name | None:
        """The complete old name meant by a text: below a folder of its file, or the only name with this ending."""
        above = tuple(folder.split("/")) if folder else ()
        for cut in range(len(above), -1, -1):
            if (*above[:cut], *name) in self._new:
                return (*above[:cut], *name)
        return self._ends.get(name)


def _parts(name: str) -> Name:
    """The parts of a path or of a dotted name; a file keeps its suffix."""
    if "/" in name:
        return tuple(name.split("/"))
    return (name,) if name.endswith((".py", ".pyi", ".h", ".cpp", ".md", ".toml", ".js")) else tuple(name.split("."))


def _stem(path: str) -> Name:
    return tuple(path.rpartition(".")[0].removesuffix("/__init__").split("/"))


def _above(path: str) -> list[str]:
    parts = path.split("/")
    return ["/".join(parts[:cut]) for cut in range(1, len(parts))]


def _folders(renames: Mapping[str, str]) -> dict[str, set[str]]:
    """Folders that files moved to, by their old folders, and by parent folders with the same trailing names."""
    found: dict[str, set[str]] = {}
    for old, new in renames.items():
        was, now = posixpath.dirname(old), posixpath.dirname(new)
        while was and now and was != now:
            found.setdefault(was, set()).add(now)
            if posixpath.basename(was) != posixpath.basename(now):
                break
            was, now = posixpath.dirname(was), posixpath.dirname(now)
    return found


def _ends(paths: Iterable[str]) -> dict[Name, Name | None]:
    """Complete names by their endings; None for an ending shared by several names."""
    whole: set[Name] = set()
    for path in paths:
        whole.add(tuple(path.split("/")))
        whole.update(tuple(folder.split("/")) for folder in _above(path))
        if path.endswith((".py", ".pyi")):
            whole.add(_stem(path))
    found: dict[Name, Name | None] = {}
    for name in whole:
        shortest = 1 if "." in name[-1] or len(name) == 1 else 2
        for length in range(shortest, len(name) + 1):
            end = name[-length:]
            found[end] = None if end in found and found[end] != name else name
    # A complete name refers to itself, even if other names have the same ending.
    return {**found, **{name: name for name in whole}}
