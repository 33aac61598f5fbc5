"""PyTorch for training on the CPU, in place of the contributed hook, which takes every module and all data.

What the import graph reaches is enough, without the compiler (see `subflow_agents.eager`). PyTorch reads some of its
own sources as it is imported (`inspect.getsource`): settings, and what it describes to its operators.
"""

from PyInstaller.utils.hooks import PY_DYLIB_PATTERNS, collect_dynamic_libs, get_package_paths

from freezing import TORCH_SOURCES, torch_data

module_collection_mode = {"torch": "pyz", **dict.fromkeys(TORCH_SOURCES, "pyz+py")}
warn_on_missing_hiddenimports = False
binaries = collect_dynamic_libs("torch", search_patterns=[*PY_DYLIB_PATTERNS, "*.so.*"])
datas = torch_data(get_package_paths("torch")[1])
# Links beside the program would make PyTorch look for its libraries there.
bindepend_symlink_suppression = ["**/torch/lib/*.so*"]
