"""Read two revisions from git without checking them out."""

from __future__ import annotations

import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

# Least similarity of a renamed file: below it, git reports one removed and one new file.
SIMILARITY = "-M40%"
RENAME_LIMIT = "-l100000"
_NO_FILE = "0" * 6


@dataclass(frozen=True)
class Change:
    """A file that differs between the revisions.

    Attributes:
        old_path: path before; None for a new file.
        new_path: path now; None for a removed file.
        old_blob: git's name of the old content.
        new_blob: git's name of the new content.
        has_other_mode: whether the file type or the executable permission differs.
    """

    old_path: str | None
    new_path: str | None
    old_blob: str
    new_blob: str
    has_other_mode: bool


class Repository:
    """A git repository."""

    def __init__(self, folder: Path) -> None:
        """Opens the repository that contains this folder."""
        self.folder = folder

    def git(self, *words: str, given: bytes | None = None) -> bytes:
        """The output of git.

        Raises:
            SystemExit: if git fails.
        """
        command = ["git", "-C", str(self.folder), *words]
        answer = subprocess.run(command, input=given, capture_output=True, check=False)
        if answer.returncode != 0:
            raise SystemExit(f"git {words[0]}: {answer.stderr.decode(errors='replace').strip()}")
        return answer.stdout

    def paths(self, revision: str) -> list[str]:
        """Paths of all files of a revision."""
        listed = self.git("ls-tree", "-r", "-z", "--full-tree", "--name-only", revision).decode()
        return [path for path in listed.split("\0") if path]

    def sources(self, revision: str, folder: str) -> dict[str, bytes]:
        """Contents of the Python files below a folder, by path."""
        listed = self.git("ls-tree", "-r", "-z", "--full-tree", revision, folder).decode()
        entries = [entry.partition("\t") for entry in listed.split("\0") if entry.endswith(".py")]
        contents = self.contents(head.split()[2] for head, _, _ in entries)
        return {path: contents[head.split()[2]] for head, _, path in entries}

    def changes(self, old: str, new: str) -> list[Change]:
        """Files that differ; a renamed file is one change."""
        options = ("--raw", "-z", "--no-abbrev", "--no-ext-diff", SIMILARITY, RENAME_LIMIT)
        words = iter(self.git("diff", *options, old, new, "--").decode().split("\0"))
        found = []
        for head in words:
            if not head:
                break
            old_mode, new_mode, old_blob, new_blob, status = head.removeprefix(":").split()
            first = next(words)
            last = next(words) if status[0] in "RC" else first
            was = None if old_mode == _NO_FILE or status[0] == "C" else first
            now = None if new_mode == _NO_FILE else last
            has_other_mode = was is not None and now is not None and old_mode != new_mode
            found.append(Change(was, now, old_blob, new_blob, has_other_mode))
        return found

    def contents(self, blobs: Iterable[str]) -> dict[str, bytes]:
        """Content of each blob; submodules are left out."""
        wanted = sorted(set(blobs))
        answer = self.git("cat-file", "--batch", given="".join(f"{blob}\n" for blob in wanted).encode())
        found, start = {}, 0
        for blob in wanted:
            end = answer.index(b"\n", start)
            head = answer[start:end].split()
            if head[-1] == b"missing":
                found[blob], start = b"", end + 1
                continue
            size = int(head[-1])
            found[blob] = answer[end + 1 : end + 1 + size]
            start = end + 1 + size + 1
        return found

    def moves(self, old: str, new: str) -> list[tuple[str, str]]:
        """Commits of a range whose subjects begin with "Move ", oldest first, each with its subject."""
        log = self.git("log", "--reverse", "--no-merges", "--format=%H %s", f"{old}..{new}", "--").decode()
        commits = [(commit, subject) for commit, _, subject in (line.partition(" ") for line in log.splitlines())]
        return [(commit, subject) for commit, subject in commits if subject.startswith("Move ")]
