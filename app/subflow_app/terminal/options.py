"""Options and arguments that several commands share, declared once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import typer
from typer.core import TyperCommand, TyperOption

from subflow_app.foundation.errors import InputError
from subflow_sim.gate import MOST_SECONDS, is_there

if TYPE_CHECKING:
    from subflow_store import Store

Json = Annotated[bool, typer.Option("--json", help="Print one JSON document instead of text for people.")]

Database = Annotated[
    Path | None,
    typer.Option("--db", metavar="FILE", help="Database of runs; default: the one in your data folder."),
]

RunId = Annotated[str, typer.Argument(metavar="RUN", help="Number of a run, or `last`.")]

RunIds = Annotated[list[str], typer.Argument(metavar="RUN...", help="Numbers of runs, or `last`.")]


class ListedCommand(TyperCommand):
    """A command whose help, and that of its options, names lists as ``{name}``.

    Attributes:
        lists: function for the text of each list, by name; called when help is printed, because it imports the list.
    """

    lists: ClassVar[Mapping[str, Callable[[], str]]] = {}

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Puts the lists into their places."""
        parts: list[Any] = [self, *(param for param in self.params if isinstance(param, TyperOption))]
        before = [part.help for part in parts]
        for part in parts:
            for name, text_of in self.lists.items():
                if part.help and f"{{{name}}}" in part.help:
                    part.help = part.help.replace(f"{{{name}}}", text_of())
        super().format_help(ctx, formatter)
        for part, text in zip(parts, before, strict=True):
            part.help = text


def database_path(database: Path | None) -> Path:
    """The database to use; the directory of the default one is made on first use."""
    if database is not None:
        return database
    from subflow_app.foundation.paths import default_database
    from subflow_store.errors import StoreError

    path = default_database()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        reason = error.strerror or str(error)
        raise StoreError(
            f"its folder cannot be created: {reason}", path=str(path), way_on="Name another database with --db FILE."
        ) from error
    return path


@contextmanager
def opened_store(database: Path | None, *, read_only: bool = False) -> Iterator[Store]:
    """The store, closed at the end.

    Args:
        database: the file; None for the default one.
        read_only: for commands that only look. A default database that does not exist yet is made all the same, so
            that `subflow runs` on a new machine lists nothing rather than failing.

    Raises:
        StoreError: if it cannot be opened, or does not exist and would only be read.
    """
    from subflow_store import open_store

    path = database_path(database)
    if read_only and database is None and not is_there(path):
        read_only = False
    with open_store(path, read_only=read_only) as store:
        yield store


def run_number(store: Store, text: str) -> int:
    """The run that the user means.

    Raises:
        InputError: if it is neither a number nor ``last``.
        RunNotFound: if there is no such run.
    """
    newest = store.runs(limit=1) if text == "last" else []
    number = listed_number(text, "run", "subflow runs", newest[0].id if newest else None, "subflow run demo")
    # Asking for it is the check that it is there; the store's own operations on many runs pass over unknown ones.
    return store.run(number).id


def listed_number(text: str, what: str, listing: str, newest: int | None, first: str) -> int:
    """The number of something that the store lists, as the user gave it.

    Args:
        text: a number, or ``last``.
        what: "run", "sweep", "training".
        listing: the command that lists them.
        newest: the number of the newest; None: there are none.
        first: the command that makes one.

    Raises:
        InputError: if it is neither a number nor ``last``, or there are none yet.
    """
    if text == "last":
        if newest is None:
            raise InputError(f"no {what}s yet: `{first}` makes one")
        return newest
    # SQLite counts up to 2^63 - 1; more digits are no number either.
    if not (text.isascii() and text.isdecimal() and len(text) < 19):
        raise InputError(f'"{text}" is not a {what}: give its number as `{listing}` lists it, or `last`')
    return int(text)


def tag_text(text: str) -> str:
    """A tag as it is stored.

    Raises:
        InputError: if it is blank.
    """
    if not text.strip():
        raise InputError("a tag must not be blank")
    return text.strip()


def time_option(option: str, text: str) -> float:
    """A time in seconds.

    Raises:
        InputError: if it is none, or beyond all times.
    """
    from subflow_sim.errors import ParamError
    from subflow_sim.units import Dimension, parse_quantity

    try:
        time_s = parse_quantity(text, Dimension.TIME)
    except ParamError as error:
        raise InputError(f'{option} = "{text}": {error}') from error
    if not abs(time_s) <= MOST_SECONDS:
        raise InputError(f'{option} = "{text}": must be at most {MOST_SECONDS:g} s')
    return time_s


def positive_time_option(option: str, text: str, example: str) -> float:
    """A time in seconds that is greater than 0.

    Raises:
        InputError: if it is none; the example shows one.
    """
    time_s = time_option(option, text)
    if not time_s > 0:
        raise InputError(f'{option} = "{text}": must be greater than 0, e.g. {example}')
    return time_s
