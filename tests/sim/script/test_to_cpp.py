"""Scripts converted to C++: the result compiles with the core's headers and computes the same to the bit."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from subflow_sim.errors import ParamError
from subflow_sim.script import SKELETONS, compile_script, to_cpp

_ROOT = Path(__file__).parents[3]
_EVERYTHING = (Path(__file__).parent / "everything.txt").read_text()

# The converted controller beside the core's own, on the same random acknowledgements and losses.
_HARNESS = """
#include <cstdio>
#include <cstring>
#include <vector>
#include "{header}"
#include "{built_in}.h"
using namespace subflow;
int main() {{
    Draws draws(7);
    {own} own{{Options({own}::kInfo, {{}})}};
    {converted} converted{{Options({converted}::kInfo, {{}})}};
    Window a, b;
    a.cwnd_pkts = b.cwnd_pkts = 10;
    for (int i = 0; i < 20000; ++i) {{
        std::vector<Sibling> all(1 + draws.below(4));
        for (Sibling& s : all) {{
            s.cwnd_pkts = 1 + 50 * draws.uniform();
            s.srtt_s = 0.001 + draws.uniform();
            s.acked_since_loss_pkts = draws.below(1000);
            s.acked_between_losses_pkts = draws.below(1000);
        }}
        Siblings siblings{{.all = all, .self = draws.below(static_cast<std::uint32_t>(all.size()))}};
        all[siblings.self].cwnd_pkts = a.cwnd_pkts;
        AckSample ack{{.acked_pkts = 1.0 + draws.below(3), .srtt = from_seconds(all[siblings.self].srtt_s)}};
        CongestionEvent loss{{.kind = draws.below(3) == 0 ? CongestionKind::Timeout : CongestionKind::FastRetransmit,
                             .inflight_pkts = a.cwnd_pkts, .srtt = ack.srtt}};
        if (draws.below(40) == 0) {{
            own.on_congestion_event(a, loss, siblings);
            converted.on_congestion_event(b, loss, siblings);
            a.cwnd_pkts = a.ssthresh_pkts;
            b.cwnd_pkts = b.ssthresh_pkts;
        }} else {{
            own.on_ack(a, ack, siblings);
            converted.on_ack(b, ack, siblings);
        }}
        if (std::memcmp(&a, &b, sizeof a) != 0) return std::printf("%d: %.17g\\n", i, b.cwnd_pkts), 1;
    }}
    return 0;
}}
"""


def _compiler() -> str:
    found = shutil.which("g++")
    if found is None:
        pytest.skip("needs g++")
    return found


def test_what_a_script_may_say_compiles(tmp_path: Path) -> None:
    texts = {"everything": _EVERYTHING, "skeleton": SKELETONS["controller"]}
    includes = []
    for name, text in texts.items():
        (tmp_path / f"{name}.h").write_text(to_cpp(compile_script(text, f"my-{name}", "controller")))
        includes.append(f'#include "{name}.h"\n')
    (tmp_path / "all.cpp").write_text("".join(includes))
    flags = ["-std=c++20", "-fsyntax-only", "-Wall", "-Wextra", "-Werror", "-I", str(_ROOT / "sim" / "core" / "cc")]
    told = subprocess.run([_compiler(), *flags, str(tmp_path / "all.cpp")], capture_output=True, text=True, check=False)
    assert told.stderr == ""


def test_a_converted_script_computes_what_the_built_in_does(tmp_path: Path) -> None:
    text = (_ROOT / "assets" / "controllers" / "olia.py").read_text()
    (tmp_path / "converted.h").write_text(to_cpp(compile_script(text, "my-olia", "controller")))
    harness = _HARNESS.format(header=tmp_path / "converted.h", built_in="olia", own="Olia", converted="MyOlia")
    (tmp_path / "harness.cpp").write_text(harness)
    core = _ROOT / "sim" / "core"
    sources = [str(tmp_path / "harness.cpp"), str(core / "algorithm.cpp")]
    flags = ["-std=c++20", "-O1", "-ffp-contract=off", "-I", str(core / "cc"), "-o", str(tmp_path / "harness")]
    subprocess.run([_compiler(), *flags, *sources], check=True)
    ran = subprocess.run([str(tmp_path / "harness")], capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stdout) == (0, "")


def test_schedulers_are_not_converted() -> None:
    script = compile_script(SKELETONS["scheduler"], "mine", "scheduler")
    with pytest.raises(ParamError, match='"mine" is a scheduler; allowed: a controller'):
        to_cpp(script)
