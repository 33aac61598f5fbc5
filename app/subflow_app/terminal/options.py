"""Options and arguments shared by several commands."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import typer
from typer.core import TyperCommand, TyperOption

from subflow_app.foundation.errors import InputError
from subflow_app.terminal.terminal import print_note
from subflow_app.vocabulary.number_text import counted
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
    """A command whose help texts contain placeholders ``{name}`` for lists.

    Attributes:
        lists: functions that return the text of a list, by placeholder; called only for help, as they import the lists.
    """

    lists: ClassVar[Mapping[str, Callable[[], str]]] = {}

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Format the help with the lists in place of their placeholders."""
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
    """The database to use; the folder of the default database is created on first use.

    Raises:
        StoreError: if that folder cannot be created.
    """
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
    """Context that opens the store and closes it on exit.

    Args:
        database: the file; None for the default database.
        read_only: for commands that only read. A missing default database is created nevertheless, so that `subflow
            runs` on a new machine prints an empty list instead of failing.

    Raises:
        StoreError: if the database cannot be opened, or if `database` does not exist and `read_only` is set.
    """
    from subflow_app.foundation.run_databases import open_database

    path = database_path(database)
    if read_only and database is None and not is_there(path):
        read_only = False
    with open_database(path, read_only=read_only) as store:
        yield store
        tell_simulated(store)


def tell_simulated(store: Store) -> None:
    """Report the runs whose traces were not stored, so that this command simulated them again."""
    simulated = store.simulated_again()
    different = [each for each in simulated if not each.is_identical]
    if simulated and not different:
        print_note(f"{counted(len(simulated), 'run')} simulated again, identical")
    for each in different:
        print_note(
            f"run {each.run_id} simulated again, different: version {each.made_by or 'unknown'} recorded it with the "
            f"signature {each.recorded}, version {each.version} gives {each.made}; its summary is as recorded"
        )


def run_number(store: Store, text: str) -> int:
    """The number of the run that the user names.

    Raises:
        InputError: if the text is neither a number nor ``last``.
        RunNotFound: if no such run exists.
    """
    newest = store.runs(limit=1) if text == "last" else []
    number = listed_number(text, "run", "subflow runs", newest[0].id if newest else None, "subflow run demo")
    # Reading the run checks that it exists; the store's operations on several runs ignore unknown numbers.
    return store.run(number).id


def listed_number(text: str, what: str, listing: str, newest: int | None, first: str) -> int:
    """The number of a run, sweep or training that the user names.

    Args:
        text: a number, or ``last``.
        what: kind of the object: "run", "sweep", "training".
        listing: the command that lists such objects.
        newest: number of the latest object; None if the list is empty.
        first: a command that creates such an object, for the message about an empty list.

    Raises:
        InputError: if the text is neither a number nor ``last``, or the list is empty.
    """
    if text == "last":
        if newest is None:
            raise InputError(f"no {what}s yet: `{first}` makes one")
        return newest
    # SQLite integers end at 2^63 - 1, so longer numbers are invalid.
    if not (text.isascii() and text.isdecimal() and len(text) < 19):
        raise InputError(f'"{text}" is not a {what}: give its number as `{listing}` lists it, or `last`')
    return int(text)


def tag_text(text: str) -> str:
    """A tag without surrounding blanks.

    Raises:
        InputError: if the tag is blank.
    """
    if not text.strip():
        raise InputError("a tag must not be blank")
    return text.strip()


def time_option(option: str, text: str) -> float:
    """The time in the text of an option, in seconds; it may be negative.

    Raises:
        InputError: if the text is not a time, or exceeds `MOST_SECONDS`.
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
        InputError: if the text is not a positive time; the message shows the example.
    """
    time_s = time_option(option, text)
    if not time_s > 0:
        raise InputError(f'{option} = "{text}": must be greater than 0, e.g. {example}')
    return time_s
