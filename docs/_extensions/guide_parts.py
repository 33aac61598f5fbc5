"""The generated parts of the guide, each as Markdown: what the simulator, the file format and the commands declare."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from guide_live import demo, live

from subflow_app.features.explain.core.decisions import rule_sources
from subflow_app.features.plots.core import PLOTS
from subflow_app.foundation.resources import find_scenario, resource_path, scenario_names, sweep_names
from subflow_app.shell.commands import app as command_line
from subflow_app.vocabulary.measure import PERIODS
from subflow_app.vocabulary.measures import MEASURES, RUN_MEASURES
from subflow_sim.catalog import controllers, schedulers
from subflow_sim.link_params import DELAY_TRACE_TABLE, LINK_TABLES, LOSS_TABLE, LOSS_TRACE_TABLE, TRACE_TABLE
from subflow_sim.params import ARRIVALS_TABLE, SCRIPT_TABLE, SECTIONS
from subflow_sim.queue_params import QUEUE_TABLE
from subflow_sim.scenario import load_scenario
from subflow_sim.script.vocabulary import DECLARATIONS, FUNCTIONS, HOOKS, OBJECTS, SETTINGS
from subflow_sim.training_params import TRAINING, TRAINING_EVENT
from subflow_sim.units import UNITS

if TYPE_CHECKING:
    from subflow_sim.params import Algorithm, Param

_TABLES: Mapping[str, Sequence[Param]] = {
    **SECTIONS,
    "queue": QUEUE_TABLE,
    "loss": LOSS_TABLE,
    "trace": TRACE_TABLE,
    "delay-trace": DELAY_TRACE_TABLE,
    "loss-trace": LOSS_TRACE_TABLE,
    **{name: table.params for name, table in LINK_TABLES.items()},
    "arrivals": ARRIVALS_TABLE,
    "script": SCRIPT_TABLE,
    "training": TRAINING,
    "training-event": TRAINING_EVENT,
}
_DOCS = Path(__file__).resolve().parents[1]
_MARKS = re.compile(r"([\\*_<>\[\]{}$~#|])")
_CODE = re.compile(r"(`[^`]+`)")


def options(kind: str, name: str) -> str:
    """The options of a controller or scheduler."""
    algorithm = _algorithm(kind, name)
    if not algorithm.options:
        return f"`{name}` has no options."
    rows = [
        (
            _code(option.key),
            option.unit,
            _prose(option.allowed_text()),
            _default(option),
            _for_bases(option) + _prose(option.help),
        )
        for option in algorithm.options
    ]
    return _table(("Option", "Unit", "Allowed", "Default", "Meaning"), rows)


def facts(kind: str, name: str) -> str:
    """Description in a line, source, and the key and name in a scenario."""
    algorithm = _algorithm(kind, name)
    where = _source(algorithm.source)
    of_flow = "For `mptcp` flows: one instance controls all subflows of a connection." if algorithm.is_coupled else ""
    lines = [f"*{_prose(algorithm.summary)}.*", "", f"Name in scenarios: `{name}`. Source: {where}. {of_flow}"]
    return "\n".join(lines)


def rules(kind: str, name: str) -> str:
    """Rules of the algorithm, in the words of Explain."""
    rows = [
        (
            _prose(rule.name.replace("_", " ")),
            _code(rule.formula),
            _source(rule.source),
        )
        for rule in _algorithm(kind, name).rules
    ]
    return _table(("Rule", "Effect", "Source"), rows)


def algorithms(kind: str) -> str:
    """All controllers or all schedulers, each with a link to its page."""
    folder = "algorithms" if kind == "controller" else "schedulers"
    rows = [
        (f"[`{each.name}`](/{folder}/{each.name}.md)", _prose(each.summary), _prose(each.source))
        for each in _list(kind)
    ]
    return _table(("Name", "Description", "Source"), rows)


def keys(table: str) -> str:
    """The keys of a section of a scenario file."""
    rows = [
        (
            _code(param.key),
            _prose(param.allowed_text()),
            "**required**" if param.required else _default(param),
            _for_kinds(param) + _prose(param.help),
        )
        for param in _TABLES[table]
    ]
    return _table(("Key", "Allowed", "Default", "Meaning"), rows)


def units() -> str:
    """The units of each kind of quantity."""
    rows = [(dimension.value, ", ".join(_code(unit) for unit in table)) for dimension, table in UNITS.items()]
    return _table(("Quantity", "Units"), rows)


def scenarios() -> str:
    """The shipped scenarios."""
    rows = [(_code(name), _prose(load_scenario(find_scenario(name)).name)) for name in scenario_names()]
    return _table(("Name", "Content"), rows)


def plans() -> str:
    """The shipped plans of sweeps."""
    return ", ".join(map(_code, sweep_names()))


def plots() -> str:
    """Every plot, with what a run must have for it."""
    rows = [
        (_code(plot.id), _prose(plot.title), _prose(plot.axis_text), plot.group, _prose(plot.needs)) for plot in PLOTS
    ]
    return _table(("Id", "Plot", "Axis", "Menu", "Only for runs with"), rows)


def recipes() -> str:
    """The recipes that make the policies that ship."""
    from subflow_app.features.training.core.training_setup import recipe_names

    return ", ".join(map(_code, recipe_names()))


def help(panel: str) -> str:
    """The short help that F1 shows beside the work: the same text, with links to pages of the guide."""
    text = resource_path(f"help/{panel}.md").read_text(encoding="utf-8")
    body = text.partition("\n")[2].replace("[All panels](help)", "")
    body = re.sub(r"\]\(lab-\d+\)", "](/labs/index.md)", body)
    return re.sub(r"\]\(([a-z]+)\)", r"](/views/\1.md)", body).strip()


def commands() -> str:
    """Every command with its arguments and options, as the program itself declares them."""
    import typer

    group: Any = typer.main.get_command(command_line)
    return "\n\n".join(
        _command(command, (name,)) for name, command in sorted(group.commands.items()) if not command.hidden
    )


def pages(folder: str, *first: str) -> str:
    """The pages of a folder, some of them first; others join as they are written."""
    others = sorted(path.stem for path in (_DOCS / folder).glob("*.md") if path.stem not in ("index", *first))
    names = [*first, *others]
    return "\n".join(("```{toctree}", ":maxdepth: 1", "", *names, "```")) if names else ""


def labs() -> str:
    """The labs that ship, with what is learned in each."""
    from subflow_app.features.labs.core.lab_file import shipped_labs

    lines = []
    for lab in shipped_labs():
        lines += [f"### {lab.number} · {_prose(lab.title)}", "", f"{lab.minutes} minutes, {lab.level}.", ""]
        lines += [f"- {_prose(goal)}" for goal in lab.goals] + [""]
    return "\n".join(lines)


def checks() -> str:
    """The functions that checks of labs may call."""
    from subflow_app.features.labs.core.functions import described_functions

    rows = [(_code(_call(each.name, each.function)), _prose(each.about)) for each in described_functions()]
    return _table(("Function", "Result"), rows)


def hooks(kind: str) -> str:
    """The functions that a script of a kind may define."""
    rows = [
        (_code(f"{each.name}({', '.join(name for name, _ in each.parameters)})"), _prose(each.help))
        for each in HOOKS
        if each.kind == kind
    ]
    return _table(("Function", "Time of the call, and purpose"), rows)


def fields(*objects: str) -> str:
    """Fields of objects that scripts can read, and those that they can set."""
    parts = []
    for name in objects:
        rows = [
            (
                _code(each.name),
                "true or false" if each.is_flag else each.symbol or "a number",
                "yes" if each.is_settable else "",
                _prose(each.help),
            )
            for each in OBJECTS[name]
        ]
        has_settable = any(settable for _, _, settable, _ in rows)
        titles = ("Name", "Unit", "Can be set", "Meaning")
        chosen = [place for place in range(4) if place != 2 or has_settable]
        told = [[row[place] for place in chosen] for row in rows]
        parts.append(f"**`{name}`**\n\n" + _table([titles[place] for place in chosen], told))
    return "\n\n".join(parts)


def words(of: str) -> str:
    """Functions that scripts can call, declarations outside of functions, and settings."""
    if of == "settings":
        rows = [(_code(name), _prose(text)) for name, (_, _, text) in SETTINGS.items()]
        return _table(("Name", "Meaning"), rows)
    listed = {"functions": FUNCTIONS, "declarations": DECLARATIONS}[of]
    return _table(("Call", "Meaning"), [(_code(each.call), _prose(each.help)) for each in listed])


def experiments(paper: str) -> str:
    """The recipes of a paper."""
    from subflow_app.features.gallery.core.recipe_reader import recipes_of

    rows = [(_code(each.name), _prose(each.figure), _prose(each.title)) for each in recipes_of(paper)]
    return _table(("Id", "Figure", "Content"), rows) if rows else ""


def measures() -> str:
    """Measures that recipes of experiments can take of runs."""
    from subflow_app.features.gallery.core.measures import MEASURES

    rows = [(_code(name), _prose(each.help)) for name, each in MEASURES.items()]
    return _table(("Measure", "Meaning"), rows)


def explorable(name: str) -> str:
    """A formula whose numbers are dragged while its plot follows."""
    from subflow_app.features.exporting.core.web_page import explorable_element
    from subflow_app.features.labs.core.explorables import load_explorable

    return explorable_element(load_explorable(name))


def explorables() -> str:
    """The shipped explorables with their inputs and results."""
    from subflow_app.features.labs.core.explorables import explorable_names, load_explorable

    found = [load_explorable(name) for name in explorable_names()]
    rows = [
        (_code(each.name), ", ".join(_code(part.name) for part in each.inputs), _prose(each.titles["en"]))
        for each in found
    ]
    return _table(("Name", "Inputs", "Content"), rows)


def rulings() -> str:
    """How ambiguities of the papers are settled."""
    from subflow_app.features.gallery.core.recipe import rulings as all_rulings

    rows = [(name, _prose(each.problem), _prose(each.ruling)) for name, each in all_rulings().items()]
    return _table(("Id", "Open point", "Reading"), rows)


def definitions(kind: str) -> str:
    """The measures of the table: of "flow", "subflow", "link" or "training", or those of a whole "run"."""
    table = RUN_MEASURES if kind == "run" else MEASURES
    rows = [
        (
            each.title + (f" ({each.unit})" if each.unit else ""),
            _code(each.key),
            _code(each.function),
            _prose(" ".join(filter(None, (each.definition, each.formula and f"Formula: {each.formula}.")))),
            PERIODS[each.over] if each.over else "",
            "" if each.combine is None else _prose(each.combine.text),
        )
        for each in table.values()
        if each.of == kind and each.definition
    ]
    return _table(("Measure", "Key", "Function", "Meaning", "Over", "Of several flows"), rows)


def measured(name: str, *plots: str) -> str:
    """Plots of a shipped measurement after its import, and the line that the import prints."""
    from subflow_app.features.exporting.core.exports import ExportPlan, export_figures
    from subflow_app.features.measured.core.measured_run import found_text, keep_run, make_run, read_trace
    from subflow_app.features.measured.core.measured_table import ReadingOptions
    from subflow_app.features.traces.core.traces import StoredTraces
    from subflow_store import open_store

    path = resource_path(f"measurements/{name}")
    table = read_trace(path, ReadingOptions())
    chosen = tuple(plot for plot in PLOTS if plot.id in plots)
    with TemporaryDirectory() as folder, open_store(":memory:") as store:
        traces = StoredTraces(store, keep_run(make_run(table, name=path.stem, path=path), store))
        files = export_figures([traces], folder, ExportPlan(run_data=False, figures=chosen, figure_formats=("svg",)))
        drawings = [file.read_text(encoding="utf-8").partition("<svg")[1:] for file in files if file.suffix == ".svg"]
    body = "\n".join(f"<p>{''.join(drawing)}</p>" for drawing in drawings)
    return f"```text\n{found_text(table)}\n```\n\n````{{raw}} html\n{body}\n````"


PARTS: Mapping[str, Callable[..., str]] = {
    part.__name__: part
    for part in (
        options,
        facts,
        rules,
        algorithms,
        keys,
        units,
        scenarios,
        plans,
        plots,
        recipes,
        help,
        commands,
        pages,
        labs,
        checks,
        hooks,
        fields,
        words,
        experiments,
        measures,
        definitions,
        explorable,
        explorables,
        live,
        measured,
        demo,
        rulings,
    )
}


def _command(command: Any, words: tuple[str, ...]) -> str:
    import typer

    context = typer.Context(command, info_name=" ".join(("subflow", *words)))
    lines = [f"({'-'.join(('command', *words))})=", f"{'##' if len(words) == 1 else '###'} `{' '.join(words)}`", ""]
    lines += [_prose(re.sub(r"[ \t]*\n[ \t]*(?!\n)", "\n", command.help or "").strip()), ""]
    lines += ["```text", f"{context.command_path} {' '.join(command.collect_usage_pieces(context))}", "```", ""]
    records = [record for param in command.get_params(context) if (record := param.get_help_record(context))]
    # The type of an argument's text and the option --help would inform no reader.
    rows = [
        (_code(re.sub(r" <.*>$", "", name)), _prose(" ".join(text.split())))
        for name, text in records
        if "--help" not in name
    ]
    if rows:
        lines.append(_table(("Argument or option", "Meaning"), rows))
    below = getattr(command, "commands", {})
    lines += [_command(each, (*words, name)) for name, each in sorted(below.items()) if not each.hidden]
    return "\n".join(lines)


def _call(name: str, function: Any) -> str:
    """How a function is called: the kinds of its arguments, those that may be left out in brackets."""
    needed = len(function.arguments) - function.optional
    told = [kind if place < needed else f"[{kind}]" for place, kind in enumerate(function.arguments)]
    return f"{name}({', '.join(told)}{', ...' if function.takes_any_number else ''})"


def _list(kind: str) -> tuple[Algorithm, ...]:
    return {"controller": controllers, "scheduler": schedulers}[kind]()


def _algorithm(kind: str, name: str) -> Algorithm:
    return next(each for each in _list(kind) if each.name == name)


def _source(source: str) -> str:
    parts = rule_sources(source)
    return "; ".join(f"[{_prose(part.text)}]({part.url})" if part.url else _prose(part.text) for part in parts)


def _default(param: Param) -> str:
    shown = [_text(param, param.default_in(profile)) for profile in ("linux", "textbook")]
    return shown[0] if shown[0] == shown[1] else f"{shown[0]}; profile textbook: {shown[1]}"


def _text(param: Param, value: object) -> str:
    return "–" if value is None or value == "" else _code(param.format(value))


def _for_bases(option: Param) -> str:
    return f"With {' or '.join(map(_code, option.applies_to))}: " if option.applies_to else ""


def _for_kinds(param: Param) -> str:
    return f"({', '.join(param.applies_to)}) " if param.applies_to else ""


def _prose(text: str) -> str:
    """Text for people, which may have code between backticks; everything else stands for itself."""
    parts = _CODE.split(text)
    return "".join(part if place % 2 else _MARKS.sub(r"\\\1", part) for place, part in enumerate(parts))


def _code(text: str) -> str:
    return f"`{text}`" if text else ""


def _table(titles: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [titles, ["---"] * len(titles), *rows]
    # A bar would end the cell, in code too; those in prose are escaped already.
    cells = [
        [_CODE.sub(lambda code: code[0].replace("|", r"\|"), " ".join(cell.split())) for cell in line] for line in lines
    ]
    return "\n".join(f"| {' | '.join(line)} |" for line in cells)
