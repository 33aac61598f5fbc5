"""Sealed answers of labs published for students: a lab can judge answers without revealing them.

For each answer with feedback, the lab stores a salted hash, and the feedback encrypted with a key derived from the
answer. The file therefore does not reveal the right answer, but a student who tries all answers still finds it.
"""

from __future__ import annotations

import hashlib
import hmac
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

_ROUNDS = 20_000
_STEPS = 4  # logarithmic steps per tolerance: the resolution of numeric answers
_RIGHT, _WRONG = "+", "-"


@dataclass(frozen=True, slots=True)
class Told:
    """Feedback on an answer.

    Attributes:
        is_right: whether the answer is right.
        why: text of the feedback; may be empty.
    """

    is_right: bool
    why: str = ""


@dataclass(frozen=True, slots=True)
class Sealed:
    """The sealed answers to a question.

    Attributes:
        salt: salt of the hashes.
        tolerance: relative tolerance of a number.
        entries: (hash, encrypted feedback), both hex, in the order of the hashes.
    """

    salt: str
    tolerance: float
    entries: tuple[tuple[str, str], ...]

    @classmethod
    def of(cls, answers: Sequence[tuple[str | float, Told]], tolerance: float, salt: str) -> Sealed:
        """Seal answers; if several answers are indistinguishable, the first one applies."""
        entries: dict[str, str] = {}
        for value, told in answers:
            for name in _names(value, tolerance):
                digest, key = _keys(name, salt)
                text = f"{_RIGHT if told.is_right else _WRONG}{told.why}".encode()
                entries.setdefault(digest, _mixed(text, key).hex())
        return cls(salt, tolerance, tuple(sorted(entries.items())))

    def open(self, value: str | float) -> Told:
        """Feedback on an answer; an unknown answer is wrong."""
        digest, key = _keys(_name(value, self.tolerance), self.salt)
        closed = dict(self.entries).get(digest)
        if closed is None:
            return Told(False)
        text = _mixed(bytes.fromhex(closed), key).decode()
        return Told(text[:1] == _RIGHT, text[1:])


def course_seal(key: str, lab: str) -> str:
    """Key with which a published lab signs results, derived from the course key without revealing it."""
    return hmac.new(key.encode(), f"subflow lab {lab}".encode(), hashlib.sha256).hexdigest()


def _keys(name: str, salt: str) -> tuple[str, bytes]:
    made = hashlib.pbkdf2_hmac("sha256", name.encode(), salt.encode(), _ROUNDS, 48)
    return made[:16].hex(), made[16:]


def _mixed(text: bytes, key: bytes) -> bytes:
    blocks = range(0, len(text), 32)
    stream = b"".join(hashlib.sha256(key + number.to_bytes(4, "big")).digest() for number in blocks)
    return bytes(ours ^ theirs for ours, theirs in zip(text, stream, strict=False))


def _names(value: str | float, tolerance: float) -> Iterator[str]:
    """Names under which an answer is stored; a number gets one name for each step within the tolerance."""
    if isinstance(value, str) or not tolerance or not value:
        yield _name(value, tolerance)
        return
    low, high = sorted(
        (_place(abs(value) * (1 - tolerance), tolerance), _place(abs(value) * (1 + tolerance), tolerance))
    )
    for place in range(low, high + 1):
        yield f"{'-' if value < 0 else '+'}{place}"


def _name(value: str | float, tolerance: float) -> str:
    if isinstance(value, str):
        return f"text {value}"
    if not tolerance or not value:
        return f"{value:.12g}"
    return f"{'-' if value < 0 else '+'}{_place(abs(value), tolerance)}"


def _place(value: float, tolerance: float) -> int:
    """Index of the logarithmic step nearest to a number."""
    return round(math.log(value) / math.log1p(tolerance / _STEPS))
