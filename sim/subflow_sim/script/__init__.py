"""Controllers and schedulers written as text: Python's syntax, a small vocabulary, and a virtual machine in the core.

A script is data. It is parsed, checked against the vocabulary and compiled; Python never executes any part of it.
"""

from subflow_sim.script.compiler import MAX_SCRIPT_BYTES, Script, ScriptKind, check_script, compile_script, kind_of
from subflow_sim.script.completion import Completion, completions
from subflow_sim.script.problem import ScriptError, ScriptProblem
from subflow_sim.script.skeletons import SKELETONS
from subflow_sim.script.to_cpp import to_cpp

__all__ = [
    "MAX_SCRIPT_BYTES",
    "SKELETONS",
    "Completion",
    "Script",
    "ScriptError",
    "ScriptKind",
    "ScriptProblem",
    "check_script",
    "compile_script",
    "completions",
    "kind_of",
    "to_cpp",
]
