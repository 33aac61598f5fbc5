"""Every use of a scenario keeps the controller, scheduler and extras of its flows.

The uses are the members of `Use`: a use without a row here fails, and so does a module that reads scenarios otherwise.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from tests.helpers.policies import make_plan, write_random_policy
from tests.helpers.present import present
from tests.helpers.scripts import CONTROLLER, SCHEDULER

from subflow_agents.scenarios import read_scenario as read_for_training
from subflow_app.features.arena.core.entrants import chosen_entrants
from subflow_app.features.breaking.core.claim_file import load_claim
from subflow_app.features.breaking.core.job import Question
from subflow_app.features.breaking.core.space import space_of
from subflow_app.features.catalog.core.catalog import app_catalog
from subflow_app.features.catalog.core.uses import Part, Use, check_kept, read_scenario, replacements
from subflow_app.features.editor.core.graph_files import left_out
from subflow_app.features.editor.core.scenario_doc import ScenarioDoc
from subflow_app.features.editor.core.scenario_source import open_scenario, source_of_document
from subflow_app.features.explain.core.origin import StoredOrigin
from subflow_app.features.exporting.core.bundle import write_bundle
from subflow_app.features.exporting.core.page_import import read_page
from subflow_app.features.exporting.core.run_export import RunExport, export_stored_run
from subflow_app.features.exporting.core.verification import verify_bundle
from subflow_app.features.exporting.core.web_page import stored_run_document, write_page
from subflow_app.features.forking.core.draft import read_settings as fork_changes
from subflow_app.features.forking.core.origin import ForkOrigin
from subflow_app.features.forking.core.plan import ForkPlan
from subflow_app.features.kernel.core.plan import plan_network
from subflow_app.features.labs.core.lab import first_text
from subflow_app.features.paper.core.report import read_runs
from subflow_app.features.policies.core import keep_policies
from subflow_app.features.running.core.runs import RunJob
from subflow_app.features.sweeps.core.plan_file import SweepOptions, open_plan, parse_plan, plan_text
from subflow_app.features.sweeps.core.sweep_plan import PointReader
from subflow_app.features.training.core.evaluations import EvaluationJob, race_sources, rivals
from subflow_app.features.training.core.training_progress import Training
from subflow_app.features.training.core.training_setup import TrainingRequest, prepare
from subflow_app.foundation.errors import InputError, ReplacedError
from subflow_app.foundation.paths import policy_folder
from subflow_app.foundation.toml_edit import set_value
from subflow_sim import Simulation, load_scenario
from subflow_sim.arena.networks import Network
from subflow_sim.portable import portable
from subflow_sim.whole_scenario import Scenario
from subflow_store import Store, open_store

APP = Path(__file__).resolve().parents[4] / "app" / "subflow_app"
SCENARIO = """\
format = 1
name = "Everything"
duration = "1s"
seed = 3
nodes = { a = {}, b = {} }
[links]
x = { ends = ["a", "b"], rate = "8Mbit/s", delay = "20ms" }
y = { ends = ["a", "b"], rate = "8Mbit/s", delay = "20ms" }
[controllers.own-cc]
script = "own-cc.py"
[schedulers.own-sched]
script = "own-sched.py"
[flows]
file = { kind = "mptcp", from = "a", to = "b", controller = { name = "confluence", policy = "beside.safetensors" } }
[flows.library]
kind = "mptcp"
from = "a"
to = "b"
controller = { name = "confluence", policy = "mine", safety = false }
[flows.options]
kind = "mptcp"
from = "a"
to = "b"
controller = { name = "mpcc-loss", beta = 20, initial_rate = "1Mbit/s" }
scheduler = { name = "blest", lambda = 1.5 }
[flows.script]
kind = "mptcp"
from = "a"
to = "b"
controller = { name = "own-cc", gain = 2 }
scheduler = "own-sched"
[flows.extras]
kind = "mptcp"
from = "a"
to = "b"
paths = [["x"], ["y"]]
controller = { name = "uncoupled", base = "cubic" }
count = 2
start = "100ms"
size = "200kB"
recv_buffer = "60kB"
send_buffer = "90kB"
backup = [2]
ecn = "accecn"
"""
FLOWS = ("file", "library", "options", "script", "extras")


@dataclass(frozen=True)
class Case:
    """The scenario file with all files that it names, a stored run, and a folder for output."""

    path: Path
    scenario: Scenario
    store: Store
    run_id: int
    policy_hashes: tuple[str, ...]

    @property
    def text(self) -> str:
        return self.path.read_text(encoding="utf-8")

    @property
    def doc(self) -> ScenarioDoc:
        return ScenarioDoc.open(self.path)

    def folder(self, name: str) -> Path:
        """A folder without any of the files."""
        made = self.path.parent.parent / name
        made.mkdir(exist_ok=True)
        return made


@pytest.fixture(scope="module")
def case(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Case]:
    folder = tmp_path_factory.mktemp("uses") / "scenario"
    folder.mkdir()
    _write_library()
    write_random_policy(folder / "beside.safetensors", make_plan("confluence"), seed=2)
    (folder / "own-cc.py").write_text(CONTROLLER, encoding="utf-8")
    (folder / "own-sched.py").write_text(SCHEDULER, encoding="utf-8")
    path = folder / "everything.toml"
    path.write_text(SCENARIO, encoding="utf-8")
    source = open_scenario(str(path), use=Use.RUN)
    hashes = tuple(
        flow.controller.policy.content_hash for flow in source.scenario.flows.values() if flow.controller.policy
    )
    assert len(set(hashes)) == 2
    with open_store(":memory:") as store:
        result = RunJob(source.scenario, source.text, store=store).run()
        yield Case(path, source.scenario, store, present(result.run_id), hashes)


def _write_library() -> None:
    """Adds a policy of the user under the name "mine"."""
    path = policy_folder() / "mine.safetensors"
    path.parent.mkdir(parents=True, exist_ok=True)
    write_random_policy(path, make_plan("confluence"), seed=1)


@pytest.fixture(autouse=True)
def _library() -> None:
    # Each test has its own home.
    _write_library()


# The scenario made by a use, and the flows in which the user requested another controller.
Made = tuple[Scenario, tuple[str, ...]]


def _documents(case: Case) -> Iterator[Made]:
    yield present(case.doc.scenario), ()


def _texts(use: Use, case: Case) -> Iterator[Made]:
    """The scenario as opened by the command line, and its text without a file beside it."""
    source = open_scenario(str(case.path), use=use)
    yield source.scenario, ()
    yield read_scenario(use, source.text), ()


def _queue(case: Case) -> Iterator[Made]:
    source = present(source_of_document(Use.QUEUE, case.doc))
    yield source.scenario, ()
    yield read_scenario(Use.QUEUE, source.text), ()


def _sweep(case: Case) -> Iterator[Made]:
    axes = ("flows.file.controller=confluence,olia", "links.x.loss=0%,1%")
    asked = open_plan(str(case.path), SweepOptions(axes=axes, seeds="1..2"))
    assert [line.partition(": ")[0] for line in asked.replaced()] == ["flows.file.controller = olia"]
    fixed = SweepOptions(axes=axes[1:], overrides=("flows.library.controller=lia",))
    lines = open_plan(str(case.path), fixed).replaced()
    assert [line.partition(": ")[0] for line in lines] == ["flows.library.controller = lia"]
    for plan in (asked, parse_plan(plan_text(asked))):
        reader = PointReader(plan)
        for point in plan.points():
            changed = ("file",) if point.values[0] == "olia" else ()
            scenario = reader.scenario(point)
            yield scenario, changed
            yield read_scenario(Use.SWEEP, reader.text(point, scenario, 2)), changed


def _race(case: Case) -> Iterator[Made]:
    folder = case.folder("training")
    write_random_policy(folder / "policy.safetensors", make_plan("confluence"), seed=5)
    training = Training("1", "One", "confluence", "confluence", "demo", folder=folder)
    own = rivals("confluence", case.text, case.path.parent)[0]
    learned, as_it_is = race_sources(case.text, case.path.parent, training, own, title="Everything")
    for source, changed in ((learned, ("file", "library")), (as_it_is, ())):
        yield source.scenario, changed
        yield read_scenario(Use.RACE, source.text), changed
    safety = [learned.scenario.flows[name].controller.options["safety"] for name in ("file", "library")]
    assert safety == [True, False]  # a different policy keeps the options


def _arena(use: Use, case: Case) -> Iterator[Made]:
    source = open_scenario(str(case.path), use=use)
    net = Network("", "Everything", source.scenario, ("library",), text=source.text)
    for name in ("olia", f"confluence:policy={case.path.parent / 'beside.safetensors'}"):
        (entrant,) = chosen_entrants([name])
        yield entrant.scenario(net), ("library",)
        yield read_scenario(use, entrant.put_into(source.text, net.competes)), ("library",)


def _break(case: Case) -> Iterator[Made]:
    space = space_of(case.text, "Everything", ["links.x.rate=2Mbit/s..8Mbit/s"], case.path.parent)
    yield space.scenario, ()
    yield space.found(np.array([0.5])).net.scenario, ()
    (entrant,) = chosen_entrants(["olia"])
    told = Question(load_claim("improve"), entrant, space).replaced
    assert [line.partition(":")[0] for line in told] == [f"flows.{name}" for name in FLOWS]
    assert "olia runs in place of confluence (policy = mine, safety = false)" in told[1]
    # Schedulers stay: OLIA needs no special scheduler.
    net = replace(space.found(np.array([0.5])).net, competes=FLOWS)
    yield entrant.scenario(net), FLOWS


def _train(case: Case) -> Iterator[Made]:
    for request in (
        TrainingRequest("confluence", scenario=str(case.path)),
        TrainingRequest("confluence", scenario_text=open_scenario(str(case.path)).text, scenario_name="Everything"),
    ):
        config = prepare(replace(request, settings={"steps": 100}), case.folder("training"))
        # The worker process has no library of the user.
        yield read_for_training(config.scenario, config.scenario_name, ""), ()


def _evaluate(case: Case) -> Iterator[Made]:
    source = open_scenario(str(case.path), use=Use.EVALUATE)
    job = EvaluationJob(["olia"], source, (1,), baselines=(), folder=case.path.parent)
    assert job.replaced
    for scenario, names, _seed in job._runs:
        yield scenario, tuple(names)


def _fork(case: Case) -> Iterator[Made]:
    origin = ForkOrigin.stored(case.store, case.run_id)
    plan = ForkPlan.of(origin, 0.5, [{"link": "x", "loss": "1%"}])
    yield plan.scenario, ()
    yield read_scenario(Use.FORK, plan.text), ()
    # The change sets one option of a controller; the other options keep their values from the scenario.
    (change,) = fork_changes(origin, 0.5, ["flows.options.controller.alpha=0.5"])
    options = {"beta": 20, "initial_rate": "1Mbit/s", "alpha": 0.5}
    assert change == {"flow": "options", "controller": {"name": "mpcc-loss", **options}}


def _report(case: Case) -> Iterator[Made]:
    (run,) = read_runs(case.store, [case.run_id])
    yield present(run.scenario), ()


def _kernel(case: Case) -> Iterator[Made]:
    """The kernel has no counterpart of these parts: the error names flow and part before anything starts."""
    with pytest.raises(InputError) as caught:
        plan_network(case.scenario, seed=1)
    told = str(caught.value)
    for flow, thing in zip(FLOWS, ("confluence", "policy = mine", "blest", "own-sched", "90000"), strict=True):
        assert re.search(f"flows.{flow}: .*{thing}", told)
    yield from _texts(Use.KERNEL, case)


def _export(case: Case) -> Iterator[Made]:
    folder = case.folder("export")
    summary = case.store.run(case.run_id).summary or {}
    export_stored_run(case.store, case.run_id, folder, RunExport(), summary=summary)
    # The library of another computer has no policy named "mine".
    yield load_scenario(folder / "scenario.toml"), ()


def _bundle(case: Case) -> Iterator[Made]:
    path = case.folder("bundle") / "run.subflow.zip"
    summary = case.store.run(case.run_id).summary or {}
    write_bundle(case.store, case.run_id, path, summary=summary, has_figures=False)
    assert verify_bundle(path).outcome.value == "confirmed"
    yield case.scenario, ()


def _page(case: Case) -> Iterator[Made]:
    policies: list[bytes] = []
    document = stored_run_document(case.store, case.run_id, policies)
    assert document["scenario"] == portable(case.scenario, case.scenario.seed).document
    assert len(policies) == 2
    yield StoredOrigin.read(case.store, case.run_id).scenario, ()
    page = write_page(case.store, [case.run_id], case.folder("page") / "everything.html")
    # As on another computer, without policies of the user.
    (policy_folder() / "mine.safetensors").unlink()
    found = read_page(page).scenario()
    assert len(keep_policies(found.policies)) == 2
    yield found.scenario, ()
    imported = read_scenario(Use.PAGE, found.text)
    yield imported, ()
    simulation = Simulation(imported, seed=imported.seed)
    simulation.run_until(simulation.duration_s)
    assert simulation.signature() == found.signature == case.store.run(case.run_id).signature
    # Existing policies are not added again.
    assert keep_policies(read_page(page).scenario().policies) == ()


def _graph(case: Case) -> Iterator[Made]:
    assert left_out(case.scenario)[0] == "flows"  # printed by the command
    yield from _texts(Use.GRAPH, case)


def _lab(case: Case) -> Iterator[Made]:
    yield read_scenario(Use.LAB, first_text(case.path, (), ["duration=1s"])), ()


WAYS: dict[Use, Callable[[Case], Iterator[Made]]] = {
    **{
        use: partial(_texts, use)
        for use in (Use.RUN, Use.REPRODUCE, Use.EMULATE, Use.FAIRNESS, Use.TEMPLATE, Use.SELF_TEST)
    },
    **{use: partial(_arena, use) for use in (Use.ARENA, Use.ASSESS)},
    Use.DOCUMENT: _documents,
    Use.QUEUE: _queue,
    Use.SWEEP: _sweep,
    Use.RACE: _race,
    Use.BREAK: _break,
    Use.TRAIN: _train,
    Use.EVALUATE: _evaluate,
    Use.FORK: _fork,
    Use.REPLAY: lambda case: iter([(StoredOrigin.read(case.store, case.run_id).scenario, ())]),
    Use.REPORT: _report,
    Use.KERNEL: _kernel,
    Use.EXPORT: _export,
    Use.BUNDLE: _bundle,
    Use.PAGE: _page,
    Use.GRAPH: _graph,
    Use.NOTEBOOK: lambda case: iter([(load_scenario(case.path, algorithms=app_catalog()), ())]),
    Use.LAB: _lab,
}


@pytest.mark.parametrize("use", Use, ids=lambda use: use.label)
def test_a_way_keeps_what_nobody_asked_to_replace(use: Use, case: Case) -> None:
    made = list(WAYS[use](case))
    assert made
    for scenario, changed in made:
        found = replacements(case.scenario, scenario)
        assert [each for each in found if each.flow not in changed] == []
        assert [each for each in found if each.part is not Part.CONTROLLER] == []
        assert {each.flow for each in found} == set(changed)


def test_a_part_that_a_way_has_to_keep_cannot_be_replaced(case: Case) -> None:
    other = read_scenario(
        Use.QUEUE, set_value(open_scenario(str(case.path)).text, ("flows", "options", "scheduler"), "ecf")
    )
    with pytest.raises(ReplacedError, match=r"queue would change the scenario: flows.options: scheduler ecf"):
        check_kept(Use.QUEUE, case.scenario, other)
    check_kept(Use.SWEEP, case.scenario, other)


def test_a_policy_that_changed_since_a_run_is_not_taken_for_it(case: Case) -> None:
    beside = case.path.parent / "beside.safetensors"
    before = beside.read_bytes()
    write_random_policy(beside, make_plan("confluence"), seed=9)
    try:
        for read in (StoredOrigin.read, ForkOrigin.stored):
            with pytest.raises(
                InputError, match=r"the policy .*beside.safetensors. of the flow file has changed since"
            ):
                read(case.store, case.run_id)
    finally:
        beside.write_bytes(before)


def test_a_page_brings_its_policy_where_another_one_has_its_name(case: Case) -> None:
    network = SCENARIO.partition("[controllers")[0]
    flow = SCENARIO[SCENARIO.index("[flows.library]") : SCENARIO.index("[flows.options]")]
    text = network + flow
    run_id = present(RunJob(read_scenario(Use.RUN, text), text, store=case.store).run().run_id)
    page = write_page(case.store, [run_id], case.folder("page") / "run.html")
    there = read_page(page).scenario()
    assert (there.notices, there.policies) == ((), {})
    # As on another computer, whose "mine" was trained separately.
    write_random_policy(policy_folder() / "mine.safetensors", make_plan("confluence"), seed=8)
    found = read_page(page).scenario()
    ((name, _content),) = found.policies.items()
    own, theirs = (present(each.scenario.flows["library"].controller.policy) for each in (there, found))
    assert (theirs.name, theirs.content, found.notices) == (name, own.content, ())
    # A different policy with this name stays unchanged.
    other = policy_folder() / f"{name}.safetensors"
    write_random_policy(other, make_plan("confluence"), seed=9)
    kept = other.read_bytes()
    with pytest.raises(InputError, match="holds another policy than the one to be added under this name"):
        keep_policies(read_page(page).scenario().policies)
    assert other.read_bytes() == kept


def test_only_the_door_reads_scenarios() -> None:
    """Modules of the program read scenarios only through `uses`, and each names its use."""
    readers = {"parse_scenario", "load_scenario", "read_tree"}
    # The canvas draws the readable part of a scenario with problems, which is never run.
    may_read = ("features/catalog/core/uses.py", "features/editor/core/sketch.py")
    found = []
    for path in sorted(APP.rglob("*.py")):
        name = path.relative_to(APP).as_posix()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("subflow_sim"):
                taken = {each.name for each in node.names} & readers
                found += [f"{name}:{node.lineno} {each}" for each in taken if name not in may_read]
            if isinstance(node, ast.Attribute) and node.attr in readers:
                found.append(f"{name}:{node.lineno} {node.attr}")
            if not isinstance(node, ast.Call) or getattr(node.func, "id", "") != "open_scenario":
                continue
            if not any(each.arg == "use" for each in node.keywords):
                found.append(f"{name}:{node.lineno} open_scenario without its use")
    assert found == []
