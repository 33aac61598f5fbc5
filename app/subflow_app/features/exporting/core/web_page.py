"""Runs as one web page that simulates them: the core as WebAssembly, scenarios, and scripts for the views.

The page is a single file. It uses no network, and its content security policy allows only its own scripts. The readable
scripts are in ``assets/web/page``. This module joins and compresses them, except for the script that decompresses the
others.

Pages evaluate expressions, e.g. rules of decisions and checks of labs, which `compiled` writes as nested lists.
"""

from __future__ import annotations

import ast
import base64
import gzip
import hashlib
import html
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import subflow_app
from subflow_app.features.editor.core.topology import picture_of
from subflow_app.features.explain.core.decisions import RATE_UNITS, formulas, packet_bits
from subflow_app.features.explain.core.explained import CAUSES
from subflow_app.features.explain.core.origin import StoredOrigin
from subflow_app.features.explain.core.run_events import KINDS, VALUES
from subflow_app.features.explain.core.story import PAGE_WORDS
from subflow_app.features.exporting.core.bundle import with_plain_policies
from subflow_app.features.traces.core.traces import LINK, SUBFLOW, TURNS, StoredTraces, Traces, select_keys
from subflow_app.foundation.errors import InputError
from subflow_app.foundation.expressions import COMPARISONS, Expression
from subflow_app.foundation.files import write_file
from subflow_app.foundation.resources import assets_folder, translated
from subflow_app.foundation.toml_edit import TomlEditError, get_value, read_toml, set_value
from subflow_app.vocabulary.language import ENGLISH
from subflow_app.vocabulary.measure_document import as_document
from subflow_app.vocabulary.palette import ColourKey, colour_keys, hex_colour, label_of, link_colour_keys
from subflow_app.vocabulary.tables import html_text
from subflow_sim.catalog import controllers
from subflow_sim.decisions import NUMBER_UNITS, meanings
from subflow_sim.fates import FATES
from subflow_sim.gate import is_file
from subflow_sim.portable import PortableChoice, PortableScenario, portable, portable_choices
from subflow_sim.simulation import mark_kinds
from subflow_sim.vec_env import agent_spec

if TYPE_CHECKING:
    from subflow_app.features.labs.core.explorables import Explorable, Point
    from subflow_sim.scenario import Link, Scenario
    from subflow_sim.scenario_model import Profile
    from subflow_store import Store


_ARITHMETIC = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.Pow: "**"}


def compiled(expression: Expression) -> Any:
    """An expression as nested lists of an operation and its operands.

    Numbers are in SI units, strings are `["text", …]`, and variables of a formula are strings with their name.
    """
    return _node(expression, expression.root)


def _node(whole: Expression, node: ast.expr) -> Any:
    token = whole.at(node)
    match node:
        case ast.Name() if token.kind == "name":
            return token.text
        case ast.Name():
            return ["text", token.value] if token.kind == "text" else token.value
        case ast.Call(args=arguments):
            return ["call", token.text, *(_node(whole, each) for each in arguments)]
        case ast.UnaryOp(op=ast.Not(), operand=inner):
            return ["not", _node(whole, inner)]
        case ast.UnaryOp(operand=inner):
            return ["-", 0, _node(whole, inner)]
        case ast.BinOp(left=left, op=op, right=right):
            return [_ARITHMETIC[type(op)], _node(whole, left), _node(whole, right)]
        case ast.IfExp(test=test, body=body, orelse=other):
            return ["if", _node(whole, test), _node(whole, body), _node(whole, other)]
        case ast.BoolOp(op=op, values=nodes):
            return ["or" if isinstance(op, ast.Or) else "and", *(_node(whole, each) for each in nodes)]
        case ast.Compare(left=left, ops=ops, comparators=others):
            parts = [_node(whole, each) for each in (left, *others)]
            symbols = [COMPARISONS[type(op)][0] for op in ops]
            if symbols == ["in", ".."]:
                return ["and", ["compare", [">="], [parts[0], parts[1]]], ["compare", ["<="], [parts[0], parts[2]]]]
            return ["compare", symbols, parts]
    raise AssertionError(ast.dump(node))


FORMAT = 1
SCRIPTS = (
    *("words.js", "elements.js", "measures.js", "chores.js", "charts.js", "simulator.js", "runs.js"),
    *("topology.js", "whatif.js", "events.js", "worked.js", "story.js", "why.js", "tables.js"),
    *("sweep.js", "chapters.js", "main.js"),
)


@dataclass(frozen=True, slots=True)
class PageKind:
    """The files in ``assets/web/page`` that make up a kind of page.

    Attributes:
        frame: HTML file of the page, with names in braces as placeholders.
        styles: style sheets in order.
        scripts: scripts in order; each uses the previous ones.
        maker: end of the title that the browser shows in its tab.
    """

    frame: str
    styles: tuple[str, ...]
    scripts: tuple[str, ...]
    maker: str = "Subflow"


RUNS = PageKind("page.html", ("page.css",), SCRIPTS)
BOOT = "boot.js"
WORKER = "engine.js"
_CORE = "web/core.wasm.gz"
_PARTS = ("script", "worker", "core")
_PARTS_OF_MEASURES = (
    *("title", "symbol", "unit", "scale", "decimals", "definition", "formula", "over", "of", "function"),
    *("combine", "default_for", "source"),
)
_BESIDE = " 'self' file:"  # only these sources let a page opened as a file load scripts of its folder
EDITED_KEYS = ("rate", "delay", "loss", "queue")
"""Keys of a link that a page can change."""
# Pictures for browsers that cannot run the simulator.
_PICTURES = (
    (SUBFLOW, "throughput_bps", "Throughput (Mbit/s)", 1e6),
    (SUBFLOW, "cwnd_pkts", "Congestion window (packets)", 1.0),
    (SUBFLOW, "srtt_s", "Smoothed RTT (ms)", 1e-3),
    (LINK, "queue_pkts", "Queue (packets)", 1.0),
)
_MOST_LINES, _MOST_POINTS = 6, 100
_MOST_NAMED = 3  # controllers in a title


def is_offered() -> bool:
    """True if the program was built with the core for web pages."""
    return is_file(assets_folder() / _CORE)


def check_offered() -> None:
    """Raise InputError if the program was built without the core for web pages."""
    if not is_offered():
        raise InputError("this installation has no core for web pages: install Subflow again, or use --format bundle")


def write_page(store: Store, run_ids: Sequence[int], path: Path) -> Path:
    """Write a page that overlays stored runs; an existing file is replaced once the new file is complete.

    Raises:
        ExportError: if the file cannot be written.
        InputError: if a run was measured instead of simulated or has not finished, if this version cannot read its
            scenario, or if the program was built without the core for web pages.
        StoreError: if a run does not exist or the database cannot be read.
    """
    check_offered()
    policies: list[bytes] = []
    runs = [stored_run_document(store, run_id, policies) for run_id in run_ids]
    title = " · ".join(dict.fromkeys(run["name"] for run in runs))
    return write_runs(path, title, runs, policies, recorded_curves(StoredTraces(store, run_ids[0])))


def write_runs(
    path: Path,
    title: str,
    runs: Sequence[Mapping[str, Any]],
    policies: Iterable[bytes],
    recorded: str,
    *,
    subject: str | None = None,
    **entries: Any,
) -> Path:
    """Write a page of runs.

    Args:
        path: the file.
        title: title of the page, as plain text.
        runs: documents of the runs.
        policies: policies of the runs.
        recorded: HTML for browsers that do not run the scripts.
        subject: see `runs_page`.
        entries: further entries of the document, by name.

    Raises:
        ExportError: if the file cannot be written.
    """
    return write_file(path, runs_page(title, runs, policies, recorded, subject=subject, **entries))


def runs_page(
    title: str,
    runs: Sequence[Mapping[str, Any]],
    policies: Iterable[bytes],
    recorded: str,
    *,
    shared: str = "",
    language: str | None = None,
    subject: str | None = None,
    **entries: Any,
) -> str:
    """The HTML text of a page of runs.

    Args:
        title: title of the page, as plain text.
        runs: documents of the runs.
        policies: policies of the runs.
        recorded: HTML for browsers that do not run the scripts.
        shared: address of the shared parts, see `page_of`; empty to include them in the page.
        language: initial language; None for the language of the browser. A page with shared parts is a figure of the
            guide, which receives its English texts from these parts.
        subject: text that follows `title` in the tab of a browser; None to describe the runs.
        entries: further entries of the document, by name.
    """
    profiles = dict.fromkeys(run["profile"] for run in runs)
    document = {
        "policies": policy_texts(policies),
        "runs": list(runs),
        "choices": {profile: _choices(profile) for profile in profiles},
        **({} if shared else told_words(None)),
        **entries,
    }
    data = {"format": FORMAT, "version": subflow_app.__version__, "change": None}
    data |= {} if language is None else {"language": language}
    return page_of(
        data,
        title,
        recorded,
        packed={"told": compact_json(document)},
        shared=shared,
        subject=_subject_of(runs) if subject is None else subject,
    )


def _subject_of(runs: Sequence[Mapping[str, Any]]) -> str:
    """The runs in a few words: ``run with lia and olia, 60 s``."""
    names = list(dict.fromkeys(flow["controller"] for run in runs for flow in run["flows"] if flow["controller"]))
    known = [*names[:_MOST_NAMED], *([f"{len(names) - _MOST_NAMED} more"] if len(names) > _MOST_NAMED else [])]
    head = "run" if len(runs) == 1 else f"{len(runs)} runs"
    controllers_text = f" with {', '.join(known)}" if known else ""
    return f"{head}{controllers_text}, {max(run['duration_s'] for run in runs):g} s"


def told_words(language: str | None) -> dict[str, Any]:
    """The display texts that a page uses: causes, numbers of decisions, measures and kinds of events.

    Args:
        language: language of the page; None if the reader chooses the language. English pages omit the German texts.

    Returns:
        A document with the key "words" and these entries. ``causes``: texts by name. ``story``: texts of stories
        by cause or purpose. ``fates``: fates of packets by number. ``measures``: entries of
        `as_document`, without measures that no page shows and without empty attributes. ``marks``: titles and scopes of
        marks, in the order of the numbers of their kinds. ``rules``: computable rules by name, as a pair of the result
        and the `compiled` expression. ``units``: units by the ending of a number's name. ``rate_units``: factors that
        convert rates to bit/s. ``german``: German texts by the English text.
    """
    document = as_document()
    measures = {
        key: {part: each[part] for part in _PARTS_OF_MEASURES if each[part] not in ("", None, [])}
        for key, each in document["measures"].items()
        if each["of"] != "training" and (each["of"] != "run" or each["function"])
    }
    for each in measures.values():
        if "combine" in each:
            each["combine"] = {part: each["combine"][part] for part in ("how", "keys")}
    table = {"measures": measures, "periods": document["periods"]}
    marks = [
        {
            "name": name,
            "title": KINDS[name],
            "scope": scope,
            "value": VALUES.get(name),
            "is_turn": name in TURNS or None,
        }
        for name, scope in mark_kinds()
    ]
    marks = [{part: value for part, value in each.items() if value is not None} for each in marks]
    words = {
        "causes": dict(CAUSES),
        "story": {key: list(texts) for key, texts in PAGE_WORDS.items()},
        "fates": list(FATES),
        "measures": table,
        "marks": marks,
        "rules": {name: [result, compiled(expression)] for name, (result, expression) in formulas().items()},
        "units": dict(NUMBER_UNITS),
        "rate_units": dict(RATE_UNITS),
        "german": {},
    }
    if language != ENGLISH:
        specs = [spec for each in controllers() if (spec := agent_spec(each.name)) is not None]
        helps = [number.help for spec in specs for number in spec.features]
        measured = [
            each.get(part, "") for each in measures.values() for part in ("title", "unit", "definition", "formula")
        ]
        stories = [text for each in PAGE_WORDS.values() for text in each]
        texts = [*CAUSES.values(), *stories, *meanings().values(), *helps, *table["periods"].values(), *measured]
        texts += [str(each.get(part, "")) for each in marks for part in ("title", "value")]
        words["german"] = translated(dict.fromkeys(text for text in texts if text), "de")
    return {"words": words}


def policy_texts(policies: Iterable[bytes]) -> list[str]:
    """Trained policies compressed and encoded as Base64, for the document of a page."""
    return [base64.b64encode(gzip.compress(content, mtime=0)).decode() for content in policies]


def packed_size(runs: Sequence[Mapping[str, Any]], policies: Iterable[bytes]) -> int:
    """Size in bytes that runs and policies add to a page."""
    document = {"runs": list(runs), "policies": policy_texts(policies)}
    return len(dense_text(gzip.compress(compact_json(document).encode(), mtime=0)))


def page_of(
    data: Mapping[str, Any],
    title: str,
    recorded: str,
    kind: PageKind = RUNS,
    *,
    packed: Mapping[str, str] | None = None,
    shared: str = "",
    language: str = ENGLISH,
    subject: str = "",
) -> str:
    """The HTML text of a page.

    Args:
        data: document that the page contains uncompressed, so that a saved page can include the reader's changes.
        title: title of the page, as plain text.
        recorded: HTML for browsers that do not run the scripts.
        kind: kind of the page.
        packed: further texts to compress, by their names in the frame.
        shared: address of a file with the `shared_parts` for several pages; empty to include them in the page.
        language: language of the page.
        subject: text that follows `title` in the tab of a browser; may be empty.
    """
    folder = assets_folder() / "web" / "page"
    style = _joined(folder, kind.styles)
    boot = _joined(folder, [BOOT])
    script = _script(kind, with_words=bool(shared))
    contents = {name: gzip.compress(text.encode(), mtime=0) for name, text in (packed or {}).items()}
    contents |= dict.fromkeys(_PARTS, b"") if shared else _parts(script)
    sources = f"'{_hash_of(boot)}' '{_hash_of(script)}'{_BESIDE if shared else ''}"
    policy = (
        "default-src 'none'; base-uri 'none'; form-action 'none'; img-src data: blob:; worker-src blob:; "
        f"script-src {sources} 'wasm-unsafe-eval'; style-src '{_hash_of(style)}'"
    )
    parts = {
        "policy": policy,
        "language": language,
        "version": html.escape(subflow_app.__version__),
        "title": html_text(title),
        "heading": html_text(" – ".join(part for part in (title, subject, kind.maker) if part)),
        "style": style,
        "recorded": recorded,
        "data": script_text(data),
        "boot": boot,
        "shared": f'<script src="{html.escape(shared)}"></script>\n' if shared else "",
        **{name: dense_text(content) for name, content in contents.items()},
        **{f"{name}_size": str(len(content)) for name, content in contents.items()},
    }
    # Placeholders are replaced in a single pass, because the inserted texts may contain braces.
    pieces = (folder / kind.frame).read_text(encoding="utf-8").split("{")
    text = [pieces[0]]
    for piece in pieces[1:]:
        name, _, rest = piece.partition("}")
        text += [parts[name], rest]
    return "".join(text)


def shared_parts(kind: PageKind = RUNS) -> str:
    """A script that gives several pages their common parts: core, worker, scripts and English texts."""
    parts = {
        name: [len(content), dense_text(content)] for name, content in _parts(_script(kind, with_words=True)).items()
    }
    return (
        f"for (const [name, [size, text]] of Object.entries({compact_json(parts)})) {{\n"
        "  const place = document.getElementById(name);\n"
        "  place.dataset.size = size;\n"
        "  place.textContent = text;\n"
        "}\n"
    )


def _parts(script: str) -> dict[str, bytes]:
    """The common parts of pages of a kind, compressed."""
    folder = assets_folder()
    texts = (script, _joined(folder / "web" / "page", [WORKER]))
    packed = [gzip.compress(text.encode(), mtime=0) for text in texts]
    return dict(zip(_PARTS, (*packed, (folder / _CORE).read_bytes()), strict=True))


def _script(kind: PageKind, *, with_words: bool) -> str:
    """The scripts of a page; the last script starts the page, and the English texts of shared pages precede it."""
    folder = assets_folder() / "web" / "page"
    *before, last = kind.scripts
    words = f"Object.assign(told_words, {compact_json(told_words(ENGLISH)['words'])});\n" if with_words else ""
    return "(() => {\n" + _joined(folder, before) + words + _joined(folder, [last]) + "})();\n"


def dense_text(content: bytes) -> str:
    """Encode bytes as text for a script element: five characters for four bytes, without "<"."""
    return base64.b85encode(content, pad=True).decode().replace("<", ",")


def script_text(data: object) -> str:
    """A document as JSON for a script element; no string in the document can end the element."""
    return compact_json(data).replace("<", "\\u003c")


def compact_json(data: object) -> str:
    """A document as JSON without spaces."""
    return json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def explorable_element(explorable: Explorable, language: str = ENGLISH, points: Sequence[Point] = ()) -> str:
    """The element for `assets/web/explorable.js`: a formula with numbers to drag, and the measured points of runs."""
    data = {"description": explorable.document(language), "points": [asdict(each) for each in points]}
    return f'<div class="explorable-here"><script type="application/json">{script_text(data)}</script></div>'


# Matches only comments after code and without quotes, because slashes after a quote may belong to a string.
_COMMENT = re.compile(r"(?<=[;{},)\]]) +// [^\"'`]*\Z")


def _joined(folder: Path, names: Iterable[str]) -> str:
    """Join files without indentation and comments; only comments after code that contain quotes remain."""
    lines = (line.strip() for name in names for line in (folder / name).read_text(encoding="utf-8").splitlines())
    return "".join(f"{_COMMENT.sub('', line)}\n" for line in lines if line and not line.startswith("//"))


def _hash_of(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def stored_run_document(store: Store, run_id: int, policies: list[bytes]) -> dict[str, Any]:
    """The document of a stored run; adds the policies of the run to ``policies``.

    Raises:
        InputError: if the run was measured or has not finished, or if this version cannot read its scenario.
        StoreError: if the run does not exist or the database cannot be read.
    """
    origin, row = StoredOrigin.read(store, run_id), store.run(run_id)
    if row.status != "finished":
        raise InputError(f"{origin.title} is {row.status}: only a run that has finished can become a page")
    text, contents = with_plain_policies(row.scenario_text or "", origin.scenario)
    # the seed of the run replaces the seed of the scenario, so that the text reproduces the run
    if origin.seed != origin.scenario.seed:
        text = set_value(text, ("seed",), origin.seed)
    document = run_document(origin.scenario, origin.seed, text, row.sample_interval_s, policies)
    if contents:  # indices of policies, by the names in the text
        document["policies"] = {name: policies.index(content) for name, content in contents.items()}
    return {
        **document,
        "name": row.name or origin.scenario.name,
        "signature": origin.signature,
        "version": origin.version,
    }


def run_document(
    scenario: Scenario, seed: int, text: str, sample_interval_s: float, policies: list[bytes]
) -> dict[str, Any]:
    """The document of a run for the page to simulate.

    Args:
        scenario: scenario of the run.
        seed: seed of the run.
        text: TOML of the scenario.
        sample_interval_s: sample interval in simulated seconds.
        policies: policies of the page; the policies of the run are added.
    """
    made = portable(scenario, seed)
    _number_policies(made, policies)
    tree, picture = read_toml(text), picture_of(scenario)
    return {
        "name": scenario.name,
        "seed": str(seed),
        "duration_s": scenario.duration_s,
        "interval_ns": round(sample_interval_s * 1e9),
        "profile": scenario.profile,
        "packet_bits": packet_bits(scenario.mss_bytes),
        "scenario": made.document,
        "toml": text,
        "nodes": [
            {"name": name, "kind": "router" if name in picture.routers else "host", "at": [round(x, 1), round(y, 1)]}
            for name, (x, y) in picture.places.items()
        ],
        "links": [_link(link, tree, text) for link in scenario.links.values()],
        "flow_splices": {
            name: {key: splice_of(text, ("flows", name, key)) for key in ("controller", "scheduler")}
            for name in dict.fromkeys(flow.name for _, flow in made.flows)
        },
        "flows": [
            {
                "name": name,
                "flow": flow.name,
                "kind": flow.kind,
                "controller": flow.controller.name,
                "scheduler": flow.scheduler.name,
            }
            for name, flow in made.flows
        ],
        "subflows": [{"name": name, "path": list(path)} for name, path in made.subflows],
        "colours": _colours(made),
    }


def _number_policies(made: PortableScenario, policies: list[bytes]) -> None:
    """Replace the policy numbers of a document by indices into the policies of the page."""
    numbers = []
    for content in made.policies:
        if content not in policies:
            policies.append(content)
        numbers.append(policies.index(content))
    for flow in made.document["scenario"].get("flows", ()):
        decider = flow.get("decider", {})
        if "policy" in decider:
            decider["policy"] = numbers[decider["policy"]]


_MARK = "\ue000"  # placeholder for a value that the page inserts


def splice_of(text: str, path: tuple[str, ...]) -> list[Any] | None:
    """How a page sets a value in the text of a scenario: first and last position, and the texts around the new value.

    Positions count UTF-16 code units, as in JavaScript. None if the text cannot be changed by one insertion.
    """
    try:
        with_mark = set_value(text, path, _MARK)
    except TomlEditError:
        return None
    before, quoted, after = with_mark.partition(f'"{_MARK}"')
    if not quoted:
        return None
    return splice_between(text, before, after)


def splice_between(text: str, before: str, after: str) -> list[Any]:
    """The part of a text that changes if it becomes `before` and `after`: two positions, and the new text in each."""
    begin = common_start(text, before)
    end = len(text) - common_start(text[begin:][::-1], after[::-1])
    return [
        _utf16_length(text[:begin]),
        _utf16_length(text[:end]),
        before[begin:],
        after[: len(after) - len(text) + end],
    ]


def common_start(first: str, second: str) -> int:
    """Length of the common prefix of two texts."""
    count = 0
    for one, other in zip(first, second, strict=False):
        if one != other:
            break
        count += 1
    return count


def _utf16_length(text: str) -> int:
    """Length of a text in UTF-16 code units, as in JavaScript."""
    return len(text.encode("utf-16-le")) // 2


def _link(link: Link, tree: Mapping[str, Any], text: str) -> dict[str, Any]:
    """Document of a link.

    ``edit`` has the `splice_of` each changeable key, and False for other keys. ``follows`` marks keys whose value
    applies both ways.
    """
    edit: dict[str, Any] = {}
    follows = {}
    side = link.forward
    is_radio = side.access is not None or side.grants is not None or side.handover is not None
    changeable = {
        "rate": side.trace is None and side.bucket is None and not is_radio,
        "delay": side.delay_trace is None,
        "loss": side.loss_model is None,
        "queue": side.queue.limit_bytes is None,
    }
    for key in EDITED_KEYS:
        written = get_value(tree, ("links", link.name, key))
        is_plain = not isinstance(written, dict)
        path = ("links", link.name, key) if is_plain else ("links", link.name, key, "limit")
        edit[key] = (splice_of(text, path) or False) if changeable[key] and (key == "queue" or is_plain) else False
        follows[key] = get_value(tree, ("links", link.name, "reverse", key)) is None
    return {"name": link.name, "ends": list(link.ends), "edit": edit, "follows": follows}


def _colours(made: PortableScenario) -> dict[str, list[list[str]]]:
    """Colours of flows, subflows and directions of links for light and dark backgrounds, as in the window."""
    flows = [name for name, _ in made.flows]
    sending = {name for name, flow in made.flows if flow.sends_datagrams}
    subflows = [name for name, _ in made.subflows if name.partition("/")[0] not in sending]
    keys, links = colour_keys([*flows, *subflows]), link_colour_keys(made.links)
    return {
        "flow": [both_colours(keys[name]) for name in flows],
        "subflow": [both_colours(keys[name if name in keys else name.partition("/")[0]]) for name, _ in made.subflows],
        "link": [both_colours(links[name]) for name in made.links],
    }


def both_colours(key: ColourKey) -> list[str]:
    """The colour for light and for dark backgrounds."""
    return [hex_colour(key), hex_colour(key, dark=True)]


def _choices(profile: Profile) -> dict[str, list[dict[str, Any]]]:
    """Controllers and schedulers that a page offers for flows."""
    return {
        "controllers": [
            {**_choice(each), "kinds": ["mptcp"] if each.is_coupled else ["tcp", "mptcp"]}
            for each in portable_choices("controller", profile)
        ],
        "schedulers": [_choice(each) for each in portable_choices("scheduler", profile)],
    }


def _choice(made: PortableChoice) -> dict[str, Any]:
    return {"name": made.name, "choice": made.choice, "decider": made.decider}


def recorded_curves(traces: Traces, quantities: Sequence[str] = ()) -> str:
    """Recorded curves as HTML for browsers that cannot run the simulator: the given quantities, or all."""
    return "".join(_picture(traces, *each) for each in _PICTURES if not quantities or each[1] in quantities)


def _picture(traces: Traces, scope: str, name: str, heading: str, factor: float) -> str:
    """The recorded curves of a quantity as SVG."""
    keys = select_keys(traces, scope, name)[:_MOST_LINES]
    if not keys:
        return ""
    colours = link_colour_keys([key.owner for key in keys]) if scope == LINK else colour_keys([k.owner for k in keys])
    sampled = [(key, *traces.read(key)) for key in keys]
    most = max((float(np.nanmax(values, initial=0.0)) for _, _, values in sampled), default=0.0) or 1.0
    end = traces.duration_s or 1.0
    lines = []
    for key, times, values in sampled:
        step = max(1, len(values) // _MOST_POINTS)
        parts = ((times[i : i + step], values[i : i + step]) for i in range(0, len(values), step))
        points = [
            f"{60 + 620 * float(np.mean(t)) / end:.0f},{150 - 130 * min(float(np.nanmean(v)) / most, 1.0):.0f}"
            if not np.isnan(v).all()
            else ""
            for t, v in parts
        ]
        colour, owner = hex_colour(colours[key.owner]), html.escape(label_of(key.owner))
        lines += [
            f'<polyline fill="none" stroke="{colour}" points="{" ".join(piece)}"><title>{owner}</title></polyline>'
            for is_known, piece in groupby(points, bool)
            if is_known
        ]
    heading = html.escape(heading)
    return (
        f'<svg viewBox="0 0 700 180" role="img" aria-label="{heading}"><g fill="currentColor" font-size="12">'
        f'<text x="60" y="14">{heading}</text><text x="54" y="24" text-anchor="end">{most / factor:.3g}</text>'
        f'<text x="54" y="154" text-anchor="end">0</text><text x="680" y="168" text-anchor="end">{end:g} s</text></g>'
        f'<path d="M60 20V150H680" fill="none" stroke="currentColor"/>{"".join(lines)}</svg>'
    )
