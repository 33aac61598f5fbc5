"""Controllers and schedulers written as text in Python's syntax, for a virtual machine in the core.

A script is data. It is parsed, checked against a small vocabulary and compiled; Python never executes any of it.
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
