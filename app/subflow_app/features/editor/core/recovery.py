"""Recovery files, which preserve unsaved scenarios if the program crashes.

The recovery file of an open document holds the latest text. It also records the scenario's own file, the text last
saved or opened, and the process that edits the document. That process removes the recovery file as soon as the document
has no unsaved changes. At its next start, the program offers recovery files of ended processes if their text differs
from the scenario's own file.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

from subflow_app.foundation.paths import recovery_directory
from subflow_app.vocabulary.plain_text import difference
from subflow_sim.gate import MOST_OWN_BYTES, MOST_TEXT_BYTES, json_tree, read_file, read_scenario_file
from subflow_sim.whole_file import write_whole
from subflow_store.liveness import HEARTBEAT_S, ProcessIdentity, this_process

_log = logging.getLogger(__name__)

_FORMAT = 1
_SUFFIX = ".json"
# The file holds the scenario twice. Escaping may expand each byte of text to six characters, but not the bytes of
# embedded rate and delay recordings.
MOST_BYTES = 2 * MOST_OWN_BYTES + 11 * MOST_TEXT_BYTES
# An interrupted write leaves a part file; a part file of this age, in seconds, is no longer being written.
_PART_AGE_S = 3600.0


@dataclass(frozen=True, slots=True)
class UnsavedText:
    """A scenario with unsaved changes.

    Attributes:
        name: title of the document.
        path: file of the scenario; None if it has no file.
        text: current text of the scenario.
        base: text last saved or opened.
    """

    name: str
    path: Path | None
    text: str
    base: str


@dataclass(frozen=True, slots=True)
class Orphan:
    """A recovery file whose process has ended.

    Attributes:
        file: the recovery file.
        unsaved: scenario in the recovery file.
        saved_at_s: time of the last write, in seconds since 1970.
        is_outdated: whether the scenario's own file differs from `unsaved.base`, because another program has changed
            it.
    """

    file: Path
    unsaved: UnsavedText
    saved_at_s: float
    is_outdated: bool

    def differences(self) -> str:
        """Return the changes that recovery would make, as a unified diff against the scenario's current file."""
        now = _text_of(self.unsaved.path)
        before = self.unsaved.base if now is None else now
        return difference(before, self.unsaved.text, "saved", "recovered")

    def discard(self) -> None:
        """Remove the recovery file, unless another window has already removed it."""
        _remove(self.file)


class RecoveryFile:
    """The recovery file of one open document, written on its own thread so that a slow disk does not block the window.

    If the text changes faster than the disk can write, only the latest text is written.

    Args:
        failed: called on the writing thread with the error message, only for the first write that fails.
        folder: folder of recovery files; None for the user's folder.
    """

    def __init__(self, failed: Callable[[str], None], folder: Path | None = None) -> None:
        self._folder = folder or recovery_directory()
        # The file is created by the first write.
        self.file = self._folder / f"{os.getpid()}-{uuid4().hex[:12]}{_SUFFIX}"
        self._failed = failed
        self._has_failed = False
        self._changed = threading.Condition()
        self._wanted: UnsavedText | None = None  # content that the file should have; None if it should not exist
        self._is_settled = True
        self._is_closed = False
        self._thread: threading.Thread | None = None

    def keep(self, unsaved: UnsavedText) -> None:
        """Schedule a write of this text and return without waiting."""
        self._want(unsaved)

    def drop(self) -> None:
        """Schedule the removal of the file, because the document has no unsaved changes."""
        if self._thread is not None:
            self._want(None)

    def settle(self) -> None:
        """Wait until the disk holds the scheduled state."""
        with self._changed:
            self._changed.wait_for(lambda: self._is_settled)

    def close(self, *, keeps_file: bool = False) -> None:
        """Remove the file and end the thread.

        Args:
            keeps_file: leave the file for the next start, because the user was not asked about the unsaved changes.
        """
        if not keeps_file:
            self.drop()
        with self._changed:
            self._is_closed = True
            self._changed.notify_all()
        if self._thread is not None:
            self._thread.join()

    # --- internals --------------------------------------------------------------------------------------------------

    def _want(self, unsaved: UnsavedText | None) -> None:
        with self._changed:
            if self._is_closed or unsaved == self._wanted:
                return
            self._wanted, self._is_settled = unsaved, False
            if self._thread is None:
                self._thread = threading.Thread(target=self._write_on, name="subflow-recovery")
                self._thread.start()
            self._changed.notify_all()

    def _write_on(self) -> None:
        while True:
            with self._changed:
                if self._is_settled and not self._is_closed:
                    self._changed.wait(HEARTBEAT_S)
                if self._is_settled and self._is_closed:
                    return
                wanted, is_news = self._wanted, not self._is_settled
            if is_news:
                self._write(wanted)
            elif wanted is not None:
                # The new time stamp shows programs on other machines, which cannot query this process, that it is
                # still running.
                with suppress(OSError):
                    os.utime(self.file)
            with self._changed:
                if self._wanted == wanted:
                    self._is_settled = True
                    self._changed.notify_all()

    def _write(self, wanted: UnsavedText | None) -> None:
        if wanted is None:
            _remove(self.file)
            return
        try:
            # The text may be unpublished work, so only its owner may read it.
            self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            write_whole(self.file, _content(wanted))
        except OSError as error:
            _log.warning("unsaved changes cannot be kept in %s: %s", self.file, error)
            if not self._has_failed:
                self._has_failed = True
                self._failed(f"{self._folder}: {error.strerror or error}")


def find_orphans(folder: Path | None = None) -> tuple[Orphan, ...]:
    """Find the recoverable scenarios, the latest first.

    Also removes leftovers of interrupted writes, and recovery files whose text equals the scenario's own file.
    """
    folder = folder or recovery_directory()
    found = []
    try:
        files = sorted(folder.iterdir())
    except OSError:
        return ()
    for file in files:
        if file.name.endswith(".part"):
            _remove_old(file)
        elif file.suffix == _SUFFIX:
            orphan = _orphan(file)
            if orphan is not None:
                found.append(orphan)
    return tuple(sorted(found, key=lambda orphan: -orphan.saved_at_s))


def _orphan(file: Path) -> Orphan | None:
    try:
        saved_at_s = file.stat().st_mtime
        entries = json_tree(read_file(file, MOST_BYTES), is_strict=False)
        process = ProcessIdentity.from_document(entries["process"])
        path = Path(entries["path"]) if entries["path"] else None
        unsaved = UnsavedText(str(entries["name"]), path, str(entries["text"]), str(entries["base"]))
        base_hash = str(entries["base_sha256"])
    except FileNotFoundError:
        return None  # another window has removed the file
    except (OSError, ValueError, TypeError, KeyError) as error:
        _log.warning("recovery file %s cannot be used: %s", file, error)
        return None
    if not process.is_gone(time.time() - saved_at_s):
        return None
    now = _text_of(path)
    if unsaved.text == (unsaved.base if now is None and path is None else now):
        _remove(file)
        return None
    return Orphan(file, unsaved, saved_at_s, now is not None and _hash(now) != base_hash)


def _content(unsaved: UnsavedText) -> bytes:
    entries: dict[str, Any] = {
        "format": _FORMAT,
        "process": asdict(this_process()),
        "name": unsaved.name,
        "path": str(unsaved.path.absolute()) if unsaved.path else None,
        "base": unsaved.base,
        "base_sha256": _hash(unsaved.base),
        "text": unsaved.text,
    }
    # ASCII escapes preserve lone surrogates, which represent bytes that are not UTF-8.
    return json.dumps(entries).encode("ascii")


def _text_of(path: Path | None) -> str | None:
    """Return the text of a scenario file as documents hold it; None if the file is missing or unreadable."""
    if path is None:
        return None
    try:
        return read_scenario_file(path).removeprefix(b"\xef\xbb\xbf").decode("utf-8", "surrogateescape")
    except OSError:
        return None


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()


def _remove(file: Path) -> None:
    try:
        file.unlink(missing_ok=True)
    except OSError as error:
        _log.warning("recovery file %s cannot be removed: %s", file, error)


def _remove_old(part: Path) -> None:
    with suppress(OSError):
        if time.time() - part.stat().st_mtime > _PART_AGE_S:
            part.unlink()
