"""What comes of making a result again: confirmed, contradicted, or neither."""

from __future__ import annotations

from enum import StrEnum


class Confirmation(StrEnum):
    """Whether a result that somebody hands over came out again here."""

    CONFIRMED = "confirmed"
    """All of it was made again and is the same."""
    CONTRADICTED = "contradicted"
    """Something was made again and is other than what the file says, or the file was changed."""
    NOT_CONFIRMED = "not confirmed"
    """Nothing differs that should be the same, and something could not be made again or compared."""


def confirmation(*, is_contradicted: bool, is_doubtful: bool) -> Confirmation:
    """The outcome: a contradiction outweighs a doubt, and only without both a result is confirmed."""
    if is_contradicted:
        return Confirmation.CONTRADICTED
    return Confirmation.NOT_CONFIRMED if is_doubtful else Confirmation.CONFIRMED
