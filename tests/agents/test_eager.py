"""Learning without PyTorch's compiler, in a separate process: imported modules stay imported."""

from __future__ import annotations

import subprocess
import sys

_STEP = """
import sys
import torch
from subflow_agents.eager import COMPILER, without_compiler
without_compiler()
parameter = torch.nn.Parameter(torch.tensor([1.0]))
optimizer = torch.optim.Adam([parameter], lr=0.5)
(3 * parameter).sum().backward()
optimizer.step()
torch.nn.utils.clip_grad_norm_([parameter], 1.0)
assert abs(parameter.item() - 0.5) < 1e-6, parameter
print("torch._inductor" in sys.modules, type(sys.modules[COMPILER]).__name__)
if sys.argv[1] == "missing":
    sys.path_importer_cache.clear()
    import importlib.abc
    class Nothing(importlib.abc.MetaPathFinder):
        def find_spec(self, name, path=None, target=None):
            if name == COMPILER:
                raise ModuleNotFoundError(name)
    sys.meta_path.insert(0, Nothing())
    try:
        torch._dynamo.config
    except AttributeError as error:
        print(error)
    torch.optim.SGD([parameter], lr=0.1).step()
"""


def test_an_optimizer_steps_and_does_not_bring_in_the_compiler() -> None:
    done = subprocess.run([sys.executable, "-c", _STEP, "missing"], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == [
        "False _NoCompiler",
        "torch._dynamo.config: PyTorch's compiler is not part of this program",
    ]
