"""Errors of the application's services; the simulator and the store have their own base classes."""

from __future__ import annotations


class AppError(Exception):
    """Base class of the errors of the application's services; the text names the object, the value and a remedy."""


class InputError(AppError):
    """Invalid input: a name does not exist, or a value is not allowed."""


class ReplacedError(AppError):
    """A part of a flow would be replaced without the user's consent; the text names the flow and the part."""


class ExportError(AppError):
    """A figure or a data file could not be written; the run itself is unchanged."""


class ResourceError(AppError):
    """A file that ships with the program is missing: the installation is damaged."""


class GuideError(AppError):
    """The user guide is missing and cannot be built; the text names the command that builds it."""


class SettingsError(AppError):
    """The settings could not be saved; the program continues with its current values."""


class KernelError(AppError):
    """A scenario cannot run on the kernel's network stack: a requirement or permission is missing, or the run fails."""


class RecipeError(InputError):
    """A recipe is not usable; the text has one line per problem, as in the errors of scenarios."""


class ArenaError(InputError):
    """A contest or an entrant of the arena is not usable; the text has one line per problem."""


class ClaimFileError(InputError):
    """A claim, or the space of networks in which to test it, is not usable; the text has one line per problem."""


class LabError(InputError):
    """A lab, or its saved state, is not usable; the text has one line per problem."""


class LibraryError(InputError):
    """The library of results is not usable, or could not be built; the text names a remedy."""


class SweepError(InputError):
    """A sweep is not usable, or would be too large; the text has one line per problem."""


class TooLargeSweepError(SweepError):
    """A sweep would exceed a limit.

    Attributes:
        problem: the required amount and the limit.
        way_on: remedy for users of the command line.
    """

    def __init__(self, problem: str, way_on: str) -> None:
        super().__init__(f"{problem}: {way_on}")
        self.problem = problem
        self.way_on = way_on


class ClusterError(AppError):
    """The cluster or the worker processes cannot be used, or were lost. Results already returned are kept."""


class TrainingError(AppError):
    """A training cannot be started, attached to or controlled, because of a problem with its folder or process."""
