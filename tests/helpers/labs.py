"""A small lab for tests, with every kind of step; and the signature that anyone can compute for a result."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from subflow_app.features.labs.core.lab import Lab
from subflow_app.features.labs.core.lab_file import load_lab

SAWTOOTH_LAB = """\
+++
format = 1
number = 1
title = "A small lab"
minutes = 5
goals = ["Read a window"]
scenario = "reno-sawtooth"
set = { duration = "30s", warmup = "5s" }

[[steps]]
id = "run"
shows = "action:run.toggle"
check = "finished(last()) and controller(last(), 'reno') == 'newreno'"
hints = ["Look at the tool bar.", "Press F5."]
do = ["run"]

[[steps]]
id = "pipe"
do = ["answer bdp 83", "answer who The queue"]
[[steps.questions]]
id = "bdp"
ask = "How many packets fill the pipe?"
answer = "value('links.bottleneck.rate') * 2 * value('links.bottleneck.delay') / 12000"
unit = "pkt"
why = "10 Mbit/s times 100 ms are 83 packets of 1500 bytes."
mistakes = [["41.7 pkt", "That is the way there; the ACK has to come back."]]
[[steps.questions]]
id = "who"
ask = "What holds the rest?"
options = ["The sender", "The queue"]
answer = "The queue"
mistakes = [["The sender", "It has sent them already."]]

[[steps]]
id = "shorter"
shows = ["field:links.bottleneck.queue", "link:bottleneck"]
check = "value(last(), 'links.bottleneck.queue') == 17 and same_but(last(), run_of('run'), 'links.bottleneck.queue')"
not_yet = "Change only the queue, to 17 packets, and run."
do = ["predict It falls", "set links.bottleneck.queue=17pkt", "run"]
explore = "utilisation"
[steps.measured]
buffer = "value(last(), 'links.bottleneck.queue')"
rate = "value(last(), 'links.bottleneck.rate')"
utilisation = "utilisation(last(), 'bottleneck')"
[steps.predict]
ask = "What becomes of the goodput?"
options = ["It stays", "It falls"]
holds = [
    "ratio(goodput(last()), goodput(run_of('run'))) > 0.99",
    "ratio(goodput(last()), goodput(run_of('run'))) <= 0.99",
]
mistakes = [["It stays", "The pipe is not full after each halving."]]
why = "The link runs dry after each loss."

[[steps]]
id = "draw"
shows = "plot:cwnd"
check = "controller(last(), 'reno') == 'cubic'"
do = ["predict 1s:10, 15s:60, 30s:90", "set flows.reno.controller=cubic", "run"]
[steps.predict]
ask = "Draw the window of CUBIC."
sketch = "cwnd_pkts"
owner = "reno/1"
unit = "pkt"
until = "30s"
top = "200 pkt"

[[steps]]
id = "end"
+++
One flow, one bottleneck.

## Run it {#run}
Press **F5**.

## The pipe {#pipe}
What fits into it?

## A shorter queue {#shorter}
Select the link.

## CUBIC {#draw}
Another controller.

## Done {#end}
That was it.
"""


def small_lab(folder: Path, text: str = SAWTOOTH_LAB) -> Lab:
    """Writes the lab to a file and loads it."""
    path = folder / "01-small.md"
    path.write_text(text, encoding="utf-8")
    return load_lab(path)


def sign_anew(document: dict[str, Any]) -> None:
    """Signs a changed result, as a forger could with the format but without a course key."""
    plain = {name: value for name, value in document.items() if name != "signed"}
    text = json.dumps(plain, sort_keys=True, separators=(",", ":"))
    document["signed"] = {"method": "sha256", "digest": hashlib.sha256(text.encode()).hexdigest()}
