#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""How large a stripped trainer is, and how long it takes from the start of the process to the end of its first step.

Compiles compile/programs/mlp.cpp with one step instead of a hundred and starts it again and again, in turns with a program
that does nothing but load the same libraries. The limits are 1 MB and 20 ms, of the processor, so that --check may run beside
other work."""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent
STEPS = "step < 100"


def seconds_of(program):
    """Seconds by the clock on the wall, and of the processor."""
    start = time.perf_counter()
    child = subprocess.Popen([str(program)], stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        sys.exit(f"{program.name} ended with {child.returncode}")
    return time.perf_counter() - start, usage.ru_utime + usage.ru_stime


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--compiler", default="g++")
    parser.add_argument("--math", choices=["onednn", "eigen"], default="onednn")
    parser.add_argument("--starts", type=int, default=15)
    parser.add_argument("--json", type=pathlib.Path, help="write the results there as well")
    parser.add_argument("--check", action="store_true", help="exit with 1 beyond a limit")
    arguments = parser.parse_args()
    text = (HERE / "compile" / "programs" / "mlp.cpp").read_text(encoding="utf-8")
    if STEPS not in text:
        sys.exit(f"mlp.cpp has no loop with '{STEPS}'")
    libraries = ["-Wl,--no-as-needed", "-ldnnl"] if arguments.math == "onednn" else []
    flags = ["-std=c++20", "-O2", f"-I{ROOT / 'include'}", "-isystem/usr/include/eigen3", f"-DTAGMA_WITH_{arguments.math.upper()}=1"]
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        sources = {"trainer": text.replace(STEPS, "step < 1"), "nothing": "int main() {}\n"}
        for name, source in sources.items():
            (folder / f"{name}.cpp").write_text(source, encoding="utf-8")
            subprocess.run([arguments.compiler, *flags, str(folder / f"{name}.cpp"), "-o", str(folder / name), *libraries,
                            "-pthread", "-s"], check=True)
        size = (folder / "trainer").stat().st_size
        pairs = [(seconds_of(folder / "trainer"), seconds_of(folder / "nothing")) for _ in range(arguments.starts)]
    result = {"bytes": size, "start_ms": 1e3 * statistics.median(trainer[0] for trainer, _ in pairs),
              "processor_ms": 1e3 * statistics.median(trainer[1] for trainer, _ in pairs),
              "libraries_alone_ms": 1e3 * statistics.median(nothing[1] for _, nothing in pairs),
              "starts": arguments.starts, "math": arguments.math, "load": os.getloadavg()[0]}
    print(", ".join(f"{key} {value if isinstance(value, (int, str)) else round(value, 2)}" for key, value in result.items()))
    if arguments.json:
        arguments.json.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")
    return 1 if arguments.check and (size > 1e6 or result["processor_ms"] > 20) else 0


if __name__ == "__main__":
    sys.exit(main())
