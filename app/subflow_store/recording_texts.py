"""Scenario texts with recordings, or with hashes in their place; usable without a database, e.g. by the window."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping

# Repeats the simulator's form of a recording, because the store must not import the simulator; a test compares the two.
_CONTENT = re.compile(r'"(packed:[^"\\\n]{1000,})"')
NAMED = re.compile(r'"packed#([0-9a-f]{64})"')


def folded(text: str) -> tuple[str, dict[str, str]]:
    """A text with hashes in place of recordings, and the recordings by hash."""
    contents: dict[str, str] = {}

    def name(found: re.Match[str]) -> str:
        digest = hash_of(found[1])
        contents[digest] = found[1]
        return f'"packed#{digest}"'

    return _CONTENT.sub(name, text), contents


def unfolded(text: str, contents: Mapping[str, str]) -> str:
    """A text with these recordings in place of their hashes; other hashes are not changed."""
    return NAMED.sub(lambda found: f'"{contents[found[1]]}"' if found[1] in contents else found[0], text)


def hash_of(content: str) -> str:
    """The hash by which texts name a recording: SHA-256 in hex."""
    return hashlib.sha256(content.encode()).hexdigest()
