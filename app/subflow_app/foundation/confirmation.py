"""Outcome of reproducing a result: confirmed, contradicted, or neither."""

from __future__ import annotations

from enum import StrEnum


class Confirmation(StrEnum):
    """Outcome of reproducing a result from a file on this machine."""

    CONFIRMED = "confirmed"
    """All parts were reproduced and are equal."""
    CONTRADICTED = "contradicted"
    """A reproduced part differs from the file, or the file was changed."""
    NOT_CONFIRMED = "not confirmed"
    """No compared part differs, but some part could not be reproduced or compared."""


def confirmation(*, is_contradicted: bool, is_doubtful: bool) -> Confirmation:
    """The outcome: a contradiction outweighs a doubt, and a result with neither is confirmed."""
    if is_contradicted:
        return Confirmation.CONTRADICTED
    return Confirmation.NOT_CONFIRMED if is_doubtful else Confirmation.CONFIRMED
