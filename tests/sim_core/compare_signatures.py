"""Run two builds of the program `signatures` and compare what they print: optimised and checked code do the same."""

from __future__ import annotations

import subprocess
import sys


def main(programs: list[str]) -> int:
    """Returns the exit code: 1 if the texts differ or are empty."""
    one, other = (subprocess.run([program], capture_output=True, text=True, check=True).stdout for program in programs)
    pairs = zip(one.splitlines(), other.splitlines(), strict=True)
    different = [f"{first}  {second}" for first, second in pairs if first != second]
    if different or not one:
        sys.stdout.write("\n".join(["the builds differ:", *different, ""]))
        return 1
    sys.stdout.write(f"{len(one.splitlines())} signatures are the same in both builds\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
