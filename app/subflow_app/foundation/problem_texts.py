"""Translation of error messages of simulator, store and services into the language of the window.

These packages compose their messages in English from phrases and values, for their callers, the command line and the
log. The window parses the messages with the forms below. A message without a form, which users rarely see, remains
English.
"""

from __future__ import annotations

import re
from functools import cache

from subflow_app.foundation.expected_errors import message_of
from subflow_app.vocabulary.language import ENGLISH, current_language, tr, translatable
from subflow_store.errors import StoreError

ERRORS = (
    # Files.
    translatable("{file} cannot be opened: {reason}"),
    translatable("{file} cannot be saved: {reason}. The scenario is still open; save it elsewhere."),
    translatable(
        "{file} already exists, and is not the file that this scenario names. The scenario is still open; save it "
        "elsewhere."
    ),
    translatable("{file} cannot be written: {reason}; choose another folder"),
    translatable("{file} cannot be written: {reason}"),
    translatable("{file} cannot be read: {reason}"),
    translatable("{file} cannot be used: {reason}"),
    translatable("{file} cannot be made: {reason}; name a folder with --out"),
    translatable("settings could not be saved to {file}: {reason}"),
    translatable("this scenario has no file yet: choose where to save it"),
    translatable("{name} is a folder, not a scenario file"),
    translatable("{name}: no such scenario file"),
    translatable("{name} is missing in {folder}: install Subflow again"),
    translatable("no folder to save the run in is writable: tried {folders}"),
    translatable("Permission denied"),
    translatable("No such file or directory"),
    translatable("Is a directory"),
    translatable("Not a directory"),
    translatable("File exists"),
    translatable("No space left on device"),
    translatable("Read-only file system"),
    translatable("Input/output error"),
    # Databases.
    translatable("no such file"),
    translatable("the store is closed"),
    translatable("the database is damaged ({detail})"),
    translatable("another program has kept it locked for more than {time} s"),
    translatable("the file or its folder cannot be written"),
    translatable("the file cannot be opened ({reason})"),
    translatable("the file cannot be read ({reason})"),
    translatable("no space left to write"),
    translatable("reading or writing failed ({reason})"),
    translatable("this is a folder, not a file"),
    translatable("its folder cannot be created ({reason})"),
    translatable("its folder cannot be written"),
    translatable("this is not a database, or its beginning is damaged"),
    translatable("this is a database of another program, not of Subflow"),
    translatable("a newer Subflow wrote this database (its schema is version {version}, the newest known is {known})"),
    translatable("this database has to be upgraded first (schema version {version}, needed is {needed})"),
    translatable("it was not closed properly, and its folder is read-only"),
    translatable("it was opened for reading only"),
    translatable("a copy cannot take the place of its original"),
    translatable("the file exists already"),
    translatable("the copy cannot be written ({reason})"),
    translatable("Choose another name."),
    translatable("Choose another place."),
    translatable("Choose another file with --db, or save the run as CSV."),
    translatable("Choose another file with --db; this one is left as it is."),
    translatable("Close that program and try again, or choose another file with --db."),
    translatable("Free some space, choose a file on another disk with --db, or save the run as CSV."),
    translatable("Give the name of a file in it."),
    translatable("Open it for writing, or choose another file with --db."),
    translatable("`subflow upgrade {file}` does it, and keeps a copy of the old file next to it."),
    translatable("the file is empty"),
    translatable("The first run that is kept in it makes it a database."),
    translatable("the file cannot be created ({reason})"),
    translatable("the old database cannot be copied before the upgrade ({reason})"),
    translatable("Free some space there, or work on a copy of the file elsewhere."),
    translatable(
        "`subflow check {file}` shows what is lost; `subflow salvage {file_too} -o NEW` copies what is sound. The "
        "damaged file is left as it is."
    ),
    translatable("not enough memory"),
    translatable("not enough memory: close other programs, or ask for less"),
    translatable("Close other programs and try again."),
    translatable("Save the run as CSV, or run it again."),
    translatable("Update Subflow, or choose another file with --db."),
    translatable("run {run} was closed by another Subflow, which took this one for crashed"),
    translatable("run {run} has ended and accepts no more data"),
    # Edits that the text of a scenario cannot express.
    translatable("{key} cannot be edited in place; edit it in the text"),
    translatable("{key} cannot be changed here without touching its surroundings; edit it in the text"),
    translatable("{key} cannot be set: a part of it is a plain value"),
    translatable("{key} does not exist"),
    # Searches.
    translatable("{problem} (at character {place})"),
    translatable('"{field}" needs a value; to search for this text, put it in quotes'),
    translatable("a closing quote is missing"),
    translatable('"{field}" is text: write {form}'),
    translatable("{condition}: a number is needed, with its unit if it has one, e.g. 80ms"),
    translatable("{condition}: unknown; allowed: {what}"),
    translatable("to exclude days, write a minus before the field: {form}"),
    translatable('unknown field "{field}"; did you mean {guess}?'),
    # Exports.
    translatable("no curve is visible, so no data can be exported: switch one on in the legend"),
    translatable("run {run} has no such traces to export"),
    translatable("{file}: figures are written as .svg, .pdf or .png, not {suffix}"),
    # Policies that controlled flows of stored runs.
    translatable(
        '{run}: the policy "{policy}" of the flow {flow} has changed since the run: it was {was}, and {file} holds '
        "{now}"
    ),
    # Trainings.
    translatable("{training} has no policy yet"),
    translatable("{training} has no folder to continue in"),
    translatable("{training} has ended: no process to control"),
    translatable("the program is closing: no training can be started"),
    translatable("process {number} is training in {folder} already"),
    translatable("no process is training in {folder}"),
    translatable("its process failed with exit code {code}: {reason}"),
    translatable("its process failed with exit code {code}"),
    translatable("its process {how}; continue from its last checkpoint with {command}"),
    translatable("is gone"),
    translatable("was killed ({signal})"),
    translatable("no flow of {scenario} can race: {controller} needs a flow of kind {kind}"),
    translatable("{controller} makes no decision on this scenario"),
    translatable("a policy called {name} exists already: give this one another name"),
    translatable("the scenario cannot be read: {reason}"),
    # Warnings on valid scenarios.
    translatable(
        'flow "{flow}": {controller} tries rates {width} above its own, {share} of the total of its paths, where path '
        "{path} carries {rate}: its trials overload that; a probe of {fitting} suits these paths, and the usual one "
        "fewer of them"
    ),
    translatable(
        'flow "{flow}": {controller} was designed for the scheduler {meant} but runs with {scheduler}: this is not '
        "the published system"
    ),
)
"""The forms of whole messages."""

FORMS = (
    # Problems.
    translatable("this value is required"),
    translatable("missing"),
    translatable("empty"),
    translatable("too long"),
    translatable("too small"),
    translatable("too large"),
    translatable("too large, did you mean {guess}?"),
    translatable("must not be negative"),
    translatable("must not be zero"),
    translatable("must be finite"),
    translatable("must be greater than 0"),
    translatable("not a number"),
    translatable("not a whole number"),
    translatable("not a whole number of packets"),
    translatable("not a name"),
    translatable("not in this version"),
    translatable("contains a control character"),
    translatable("unknown"),
    translatable("unknown, did you mean {guess}?"),
    translatable("unknown key"),
    translatable("unknown key, did you mean {guess}?"),
    translatable("the unit is missing"),
    translatable("{unit} does not belong here, this number has no unit"),
    translatable("{unit} is not a unit of {what}, did you mean {guess}?"),
    translatable("{unit} is not a unit of {what}"),
    translatable("this is not a number with a unit"),
    translatable("this is not a number with a unit, decimals need a point"),
    translatable("this is not a number"),
    translatable("this is not a number, decimals need a point"),
    translatable("this is {what}, not {wanted}"),
    translatable("each path is a list of its own, did you mean {guess}?"),
    translatable("after the end of the run, so it would never happen"),
    translatable("the run is over before the flow starts"),
    translatable("the flow would stop before it starts"),
    translatable("the flow ends where it starts"),
    translatable("this is a router: flows start and end at hosts"),
    translatable("both ends are the same node"),
    translatable("changes nothing"),
    translatable("no path"),
    translatable("unknown link {name}, did you mean {guess}?"),
    translatable("unknown link {name}"),
    translatable("unknown node {name}, did you mean {guess}?"),
    translatable("unknown node {name}"),
    translatable("unknown flow {name}, did you mean {guess}?"),
    translatable("unknown flow {name}"),
    translatable("not valid TOML: {reason}"),
    translatable("not within the folder of the scenario"),
    translatable("{file} cannot be found, because this scenario has no folder"),
    translatable("{file} is too large"),
    translatable("{file} line {line}: not UTF-8"),
    translatable("{file} line {line}, column {column}: {problem}"),
    translatable("line {line}, column {column}: {problem}"),
    translatable("{file} defines a {kind}, not a {other}"),
    translatable("the {kind} {name} is built in already"),
    translatable("no script of that name ships"),
    translatable("unknown {kind}, did you mean {guess}?"),
    # Sweeps that are too large.
    translatable(
        "the sweep would make {runs} runs ({points} points x {seeds} seeds), more than the limit of {limit}; on one "
        "core of this machine they would take about {time}, and {disk} in the database"
    ),
    translatable(
        "the {runs} runs of the sweep would take about {events} events (packets that cross a link), more than the "
        "limit of {limit}: on one core of this machine about {time}"
    ),
    translatable(
        "the {runs} runs of the sweep would take about {disk} in the database, and its disk has {free} free, of which "
        "{spare} stay unused"
    ),
    translatable("{days} days"),
    # Sweeps in which two axes set the same key.
    translatable("the key is swept twice"),
    translatable("{key} is swept too, and each of its values replaces {other}"),
    translatable("each key once"),
    translatable("{key} before {other}"),
    # Allowed values.
    translatable("{what} greater than {low} and at most {high} or {other}, e.g. {example}"),
    translatable("{what} greater than {low} and at most {high}, e.g. {example}"),
    translatable("{what} greater than {low}, e.g. {example}"),
    translatable("{what} from {low} to {high} or {other}, e.g. {example}"),
    translatable("{what} from {low} to {high}, e.g. {example}"),
    translatable("{what} of at least {low} or {other}, e.g. {example}"),
    translatable("{what} of at least {low}, e.g. {example}"),
    translatable("{what} of at most {high}, e.g. {example}"),
    translatable("a number with {units}, e.g. {example}"),
    translatable("{what}, e.g. {example}"),
    translatable("e.g. {example}"),
    translatable("text in quotes, 1 to {count} characters"),
    translatable("text in quotes"),
    translatable("a file in the scenario's folder or in one below it"),
    translatable("a scenario that is saved as a file"),
    translatable("at most {size} kB"),
    translatable("another name"),
    translatable("letters, digits, - and _, at most {count} characters"),
    translatable("a name in quotes"),
    translatable("a name of letters, digits, - and _, at most {count} characters"),
    translatable("a name of letters, digits, - and _, at most {count} characters, with .1, .2 and so on for one copy"),
    translatable('"neutral", "random", the name of a policy, or the path of a file such as "mine.safetensors"'),
    translatable("only for {what}"),
    translatable("a time up to {end}"),
    translatable("at least one of {what}"),
    translatable("a host other than that of from"),
    translatable("two different nodes"),
    translatable("leave it out"),
    translatable("true or false"),
    # Phrases within problems and allowed values.
    translatable("text"),
    translatable("a number"),
    translatable("a whole number"),
    translatable("a list"),
    translatable("a list of {count}"),
    translatable("a list of names"),
    translatable("a list of paths"),
    translatable("a list of paths, each a list of link names"),
    translatable("a list of whole numbers"),
    translatable("a table"),
    translatable("an array of tables"),
    translatable("a date or time of day"),
    translatable("two numbers"),
    translatable("two nodes"),
    translatable("a rate"),
    translatable("a time"),
    translatable("a size in whole bytes"),
    translatable("a queue length"),
    translatable("a ratio"),
    translatable('"{one}" or {other}'),
    translatable("[{one}] or [{other}]"),
)
"""The forms of problems with a value, of allowed values, and of phrases within both."""

_PLACE = re.compile(r"\{(\w+)\}")
_DEEPEST = 4


def error_text(error: Exception) -> str:
    """An error in the language of the window; an error of the store is translated part by part."""
    if not isinstance(error, StoreError):
        return problem_text(message_of(error))
    problem = problem_text(error.problem)
    head = f"{error.path}: {problem}" if error.path else problem
    return f"{head}. {problem_text(error.way_on)}" if error.way_on else head


def problem_text(text: str) -> str:
    """A message, or a list of allowed values, in the language of the window."""
    return text if current_language() == ENGLISH else _translated(text, _DEEPEST)


def _translated(text: str, depth: int) -> str:
    for form, pattern in _patterns():
        match = pattern.fullmatch(text)
        if match is not None:
            parts = match.groupdict()
            return tr(form, **{name: _translated(part, depth - 1) if depth else part for name, part in parts.items()})
    return text


@cache
def _patterns() -> tuple[tuple[str, re.Pattern[str]], ...]:
    # Fixed phrases precede forms that would also match them: "a list of names", "a list of {count}".
    forms = sorted((*ERRORS, *FORMS), key=lambda form: "{" in form)
    return tuple((form, _pattern(form)) for form in forms)


def _pattern(form: str) -> re.Pattern[str]:
    pieces = _PLACE.split(form)
    # Odd-numbered pieces are the names of placeholders.
    written = (f"(?P<{piece}>.+?)" if number % 2 else re.escape(piece) for number, piece in enumerate(pieces))
    return re.compile("".join(written), re.DOTALL)
