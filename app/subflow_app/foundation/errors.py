"""The errors of the application's own services; those of the simulator and the store keep their own base classes."""

from __future__ import annotations


class AppError(Exception):
    """Base of every error raised by ``subflow_app``: the text names the thing, the value and the way on."""


class InputError(AppError):
    """What the user asked for cannot be: a name that does not exist, a value that is not allowed."""


class ReplacedError(AppError):
    """A part of a flow would be replaced without the user's wish; the text names flow and part."""


class ExportError(AppError):
    """A figure or a data file could not be written; the run itself is untouched."""


class ResourceError(AppError):
    """A file that ships with the program is missing: the installation is damaged."""


class GuideError(AppError):
    """The user guide is not there and cannot be built; the text says how it comes to be."""


class SettingsError(AppError):
    """The settings could not be saved; the program goes on with the values it has."""


class KernelError(AppError):
    """A scenario cannot be run on the real stack here: the machine lacks or forbids something, or the run failed."""


class RecipeError(InputError):
    """A recipe is not usable; the text has a line for each problem, as those of scenarios have."""


class ArenaError(InputError):
    """A contest or an entrant of the arena is not usable; the text has a line for each problem."""


class ClaimFileError(InputError):
    """A claim, or a space of networks to try it in, is not usable; the text has a line for each problem."""


class LabError(InputError):
    """A lab, or what is kept of it, is not usable; the text has a line for each problem."""


class LibraryError(InputError):
    """The library of results is not usable, or could not be made; the text says what to do."""


class SweepError(InputError):
    """A sweep is not usable, or would be too large; the text has a line for each problem."""


class TooLargeSweepError(SweepError):
    """A sweep would take more than it may.

    Attributes:
        problem: what it would take, and the limit.
        way_on: for whoever is at a terminal.
    """

    def __init__(self, problem: str, way_on: str) -> None:
        super().__init__(f"{problem}: {way_on}")
        self.problem = problem
        self.way_on = way_on


class ClusterError(AppError):
    """The cluster that was to run a sweep cannot be used, or is gone; what was run is kept."""


class TrainingError(AppError):
    """A training cannot be started, attached to or told something: its folder or its process does not allow it."""
