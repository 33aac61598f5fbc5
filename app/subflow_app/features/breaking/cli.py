"""``subflow break``: searches for a network in which a claim about a controller fails."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from subflow_app.features.sweeps.cli import Cluster, Jobs, job_count
from subflow_app.foundation.errors import AppError, InputError
from subflow_app.foundation.json_document import fields
from subflow_app.terminal import failures
from subflow_app.terminal.options import Database, Json, opened_store
from subflow_app.terminal.terminal import print_json, print_line, print_note, print_rows
from subflow_app.vocabulary.plain_text import capitalised
from subflow_sim.gate import is_folder, is_there

if TYPE_CHECKING:
    from subflow_app.features.breaking.core.counterexample import Counterexample
    from subflow_app.features.breaking.core.job import BreakJob
    from subflow_store import Store

_MOST_MINUTES = 24 * 60


def break_claim(
    claim: Annotated[
        str | None,
        typer.Argument(
            metavar="[CLAIM]",
            help="A claim (`--list`), a file, or the claim itself: \"goodput() >= 0.9 * goodput('newreno@best')\".",
        ),
    ] = None,
    controller: Annotated[
        str | None,
        typer.Option(
            "--controller", metavar="ENTRY", help="The controller, as in the arena or the space; default: lia."
        ),
    ] = None,
    space: Annotated[
        str | None,
        typer.Option(
            metavar="SPACE",
            help="Space of networks (`--list`), or a scenario file with ranges; default: the claim's first.",
        ),
    ] = None,
    vary: Annotated[
        list[str] | None,
        typer.Option(
            metavar="KEY=LOW..HIGH",
            help="Also vary this: links.a.rate=2Mbit/s..50Mbit/s, or comma-separated values. Repeatable.",
        ),
    ] = None,
    minutes: Annotated[
        float | None, typer.Option(metavar="M", help="Time budget; default: 5, or as long as --networks takes.")
    ] = None,
    networks: Annotated[
        int | None, typer.Option(metavar="N", help="Try this many networks, however long it takes.")
    ] = None,
    seed: Annotated[int, typer.Option(metavar="N", min=0, help="Seed of the search.")] = 1,
    jobs: Jobs = "all",
    cluster: Cluster = None,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="DIR", help="Also write each network found there, as two files.")
    ] = None,
    kernel: Annotated[
        bool,
        typer.Option("--kernel", help="Also try the networks found on this machine's own TCP and MPTCP, if possible."),
    ] = False,
    list_only: Annotated[bool, typer.Option("--list", help="Only list claims and spaces.")] = False,
    shipped: Annotated[
        bool, typer.Option("--shipped", help="Only list the shipped counterexamples, or those to the claim.")
    ] = False,
    explain: Annotated[
        str | None,
        typer.Option(
            "--explain",
            metavar="NAME",
            help="Only run a counterexample (`--shipped`, or a file of --out) and what keeps the claim, and explain "
            "the moment at which the two diverge.",
        ),
    ] = None,
    page: Annotated[
        str | None,
        typer.Option(
            "--page", metavar="NAME", help="Only write a counterexample as a web page with both runs (--out: where)."
        ),
    ] = None,
    database: Database = None,
    no_store: Annotated[bool, typer.Option("--no-store", help="Do not keep the search, or the two runs.")] = False,
    as_json: Json = False,
) -> None:
    """Find a network in which a claim about a controller fails.

    Networks are first drawn at random, then moved towards where the claim fails. The clearest failures, each of a
    different kind, are simplified (fewer parts, rounder numbers) and confirmed with ten seeds that the search has
    not seen, in both transport profiles. The search is kept: the same command with more minutes continues where it
    was, even after a crash. Exit code: 0 when the search ran, whatever it found; 1 when it failed, 2 for a wrong
    name or option, 130 after Ctrl-C, 143 after SIGTERM.
    """
    from subflow_app.features.arena.core.entrants import chosen_entrants
    from subflow_app.features.breaking.core.break_text import METHOD, break_document, failure_words, told_of
    from subflow_app.features.breaking.core.claim_file import named_or_said
    from subflow_app.features.breaking.core.job import BreakJob, Question
    from subflow_app.features.breaking.core.space import load_space
    from subflow_store import open_store

    if list_only:
        _print_list(as_json=as_json)
        return
    if shipped:
        _print_shipped(claim, as_json=as_json)
        return
    if page is not None:
        _write_claim_page(page, out, as_json=as_json)
        return
    if explain is not None:
        with ExitStack() as stack:
            store = stack.enter_context(open_store(":memory:") if no_store else opened_store(database))
            _explain(explain, store, as_json=as_json)
        return
    if claim is None:
        raise InputError("a claim is missing: `subflow break --list` lists them")
    if minutes is not None and not 0 < minutes <= _MOST_MINUTES:
        raise InputError(f"--minutes {minutes:g}: must be more than 0 and at most {_MOST_MINUTES}")
    if networks is not None and networks < 1:
        raise InputError(f"--networks {networks}: must be 1 or more")
    if out is not None and is_there(out) and not is_folder(out):
        raise InputError(f"--out {out}: this is a file, not a folder")
    chosen = named_or_said(claim)
    where = space or next(iter(chosen.spaces), None)
    if where is None:
        raise InputError("--space is missing: the claim names no networks to try it in")
    among = load_space(where, vary or ())
    question = Question(chosen, chosen_entrants([controller or "lia"], scripts=among.scripts)[0], among, seed)
    if minutes is None and networks is None:
        minutes = 5.0
    n_jobs = job_count(jobs)
    with ExitStack() as stack:
        store = stack.enter_context(open_store(":memory:") if no_store else opened_store(database))
        job = BreakJob(question, store, minutes=minutes, networks=networks, jobs=n_jobs, cluster=cluster)
        code = _run(job, is_quiet=as_json, is_kept=not no_store)
    if out is not None:
        _write(job.found, out)
    on_kernel = [_on_kernel(each) for each in job.found] if kernel else []
    if as_json:
        print_json({**break_document(job), **({"on_kernel": on_kernel} if kernel else {})})
    else:
        for note in job.notes:
            print_line(f"{capitalised(note)}.")
        print_line(told_of(job))
        for number, each in enumerate(job.found, start=1):
            print_line()
            print_line(f"{number}. {each.says}")
            for sentence in failure_words(each):
                print_line(f"   {sentence}")
            print_line(f"   {_margins(each)}")
            if kernel:
                print_line(f"   on the kernel: {on_kernel[number - 1]}")
        if job.found:
            print_line()
            print_line(METHOD)
    raise typer.Exit(code)


def _margins(each: Counterexample) -> str:
    from subflow_app.features.breaking.core.break_text import margin_text

    text = ", ".join(f"{profile} {margin_text(each, profile)}" for profile in each.confirmed)
    return f"margin {text}; {'fails with all ten seeds' if each.is_confirmed else 'does not fail with all seeds'}"


def _on_kernel(each: Counterexample) -> str:
    """Verdict of the kernel in a sentence, or the reason why the network cannot run there."""
    from subflow_app.features.breaking.core.counterexample import measured_words
    from subflow_app.features.kernel.core.claims import kernel_verdict
    from subflow_sim.errors import SimError

    print_note(f"on the kernel: {each.says}")
    try:
        verdict = kernel_verdict(each)
    except (AppError, SimError) as error:
        return " ".join(str(error).split())
    if verdict.reason:
        return verdict.reason
    if verdict.fails:
        return f"fails, margin {verdict.margin:.2f} ({measured_words(verdict.told)})"
    return f"holds, margin {verdict.margin:.2f} ({verdict.told})"


def _run(job: BreakJob, *, is_quiet: bool, is_kept: bool) -> int:
    """Run the search and return the exit code."""
    from subflow_app.terminal.progress import in_background

    if not is_quiet:
        question = job.question
        print_note(f"{question.claim.title}: {question.entrant.name} among {question.space.title.lower()}")
        for line in question.replaced:
            print_note(line)
    outcome, signal_number = in_background(job, "break")
    outcome.check()
    if outcome.state == "stopped":
        kept = "the same command continues it" if is_kept else "nothing is kept"
        print_note(f"stopped after {job.search.tried} networks: {kept}")
        return failures.stopped_by(signal_number)
    return failures.FAILED if job.problems else failures.OK


def _write(found: Sequence[Counterexample], folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for number, each in enumerate(found, start=1):
            entrant = "".join(char if char.isalnum() else "-" for char in each.entrant)
            files = each.write(folder, f"{each.claim.name}-{entrant}-{number}")
            print_note(f"written: {', '.join(map(str, files))}")
    except OSError as error:
        raise InputError(f"--out {folder}: {error.strerror or error}") from error


def _print_list(*, as_json: bool) -> None:
    from subflow_app.features.breaking.core.break_text import CLAIM_COLUMNS, SPACE_COLUMNS
    from subflow_app.features.breaking.core.claim_file import ABOUT, claim_names, load_claim
    from subflow_app.features.breaking.core.space import load_space, space_names

    claims = [load_claim(name) for name in claim_names()]
    spaces = [load_space(name) for name in space_names()]
    if as_json:
        print_json(
            {
                "claims": [fields(each, "name", "title", "source", "holds", "when", "spaces") for each in claims],
                "spaces": [fields(each, "name", "title", "keys") for each in spaces],
                "measures": dict(ABOUT),
            }
        )
        return
    print_rows(claims, CLAIM_COLUMNS)
    print_rows(spaces, SPACE_COLUMNS)
    print_line("Functions that your own claims may call, for a case or for the controller itself:")
    for name, about in ABOUT.items():
        print_line(f"  {name}: {about}")


def _print_shipped(claim: str | None, *, as_json: bool) -> None:
    from subflow_app.features.breaking.core.break_text import FOUND_COLUMNS, METHOD, found_document
    from subflow_app.features.breaking.core.claim_file import load_claim
    from subflow_app.features.breaking.core.counterexample import shipped_counterexamples

    wanted = None if claim is None else load_claim(claim).name
    found = [each for each in shipped_counterexamples() if wanted in (None, each.claim.name)]
    if as_json:
        print_json({"counterexamples": [found_document(each) for each in found]})
        return
    print_rows(found, FOUND_COLUMNS)
    print_line(METHOD)


def _write_claim_page(name: str, out: Path | None, *, as_json: bool) -> None:
    from subflow_app.features.breaking.core.break_text import write_claim_page
    from subflow_app.features.breaking.core.counterexample import named_counterexample
    from subflow_app.foundation.files import page_place

    each = named_counterexample(name)
    path = write_claim_page(each, page_place(out, each.name))
    if as_json:
        print_json({"counterexample": each.name, "files": [str(path)]})
    else:
        print_line(f"wrote {path}")


def _explain(name: str, store: Store, *, as_json: bool) -> None:
    from subflow_app.features.breaking.core.counterexample import case_runs, named_counterexample
    from subflow_app.features.breaking.core.parting import find_parting
    from subflow_app.features.explain.core.explained import explained, explanation_document, explanation_lines
    from subflow_app.features.running.core.runs import RunJob, decision_limits

    each = named_counterexample(name)
    runs = case_runs(each)
    if len(runs) < 2:
        raise InputError(f"{name}: no controller keeps the claim in this network, so nothing can be compared")
    parting = find_parting(each, runs)
    if parting is None:
        raise InputError(
            f"{name}: the measures of the claim differ by less than a tenth between its runs, so these never diverge"
        )
    numbers = {}
    for run in (runs[0], runs[parting.place]):
        limits = decision_limits(run.source.scenario)
        result = RunJob(run.source.scenario, run.source.text, store=store, decisions=limits).run()
        if error := result.error or result.store_error:
            raise error
        assert result.run_id is not None
        numbers[result.run_id] = run.title
    told, _ = explained(store, next(iter(numbers)), parting.owner, parting.at_s)
    if as_json:
        decision = explanation_document(told.current, told.worked[0])
        print_json({"says": each.says, "runs": numbers, "parting": parting.document(), "decision": decision})
        return
    print_line(f"{each.says}.")
    print_line("; ".join(f"run {number}: {title}" for number, title in numbers.items()))
    print_line(parting.words)
    print_line()
    for line in explanation_lines(told.current, told.worked[0]):
        print_line(line)
