"""PyTorch for training on the CPU, instead of the contributed hook, which includes every module and all data.

The modules that the import graph reaches suffice, without the compiler (see `subflow_agents.eager`). PyTorch reads some
of its own sources at import (`inspect.getsource`): settings, and functions that it registers as operators.
"""

from PyInstaller.utils.hooks import PY_DYLIB_PATTERNS, collect_dynamic_libs, get_package_paths

from freezing import TORCH_SOURCES, torch_data

module_collection_mode = {"torch": "pyz", **dict.fromkeys(TORCH_SOURCES, "pyz+py")}
warn_on_missing_hiddenimports = False
binaries = collect_dynamic_libs("torch", search_patterns=[*PY_DYLIB_PATTERNS, "*.so.*"])
datas = torch_data(get_package_paths("torch")[1])
# With links beside the program, PyTorch would look for its libraries there.
bindepend_symlink_suppression = ["**/torch/lib/*.so*"]
