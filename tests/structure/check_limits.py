#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""A graph beyond the compiler's limits of constant evaluation is refused with the option that raises them, at once.

usage: check_limits.py --root DIR --compiler CXX [--flag=FLAG...]
"""

import argparse
import subprocess
import sys
from pathlib import Path

FIRST_LINES = 5
OPTIONS = {"gcc": ("-fconstexpr-ops-limit=", 30000), "clang": ("-fconstexpr-steps=", 5000)}


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--root", type=Path, required=True)
    parser.add_argument("--compiler", required=True)
    parser.add_argument("--flag", action="append", default=[])
    arguments = parser.parse_args()
    version = subprocess.run([arguments.compiler, "--version"], capture_output=True, text=True, check=True).stdout
    is_clang = "clang" in version
    option, limit = OPTIONS["clang" if is_clang else "gcc"]
    command = [arguments.compiler, "-std=c++20", "-fsyntax-only", f"{option}{limit}", f"-I{arguments.root / 'include'}", *arguments.flag]
    refused = subprocess.run([*command, arguments.root / "bench/compile/programs/mlp.cpp"], capture_output=True, text=True)
    problems = []
    if refused.returncode == 0:
        problems.append(f"{option}{limit} is enough for the program")
    lines = refused.stderr.splitlines()
    # g++ says first which file includes which, and names its option in the error itself.
    head = lines[:FIRST_LINES] if is_clang else [line for line in lines if "error:" in line][:1]
    if not any(option in line for line in head):
        problems.append(f"{option} is not named where it should be:\n" + "\n".join(lines[:20]))
    if "built_at<512>" in refused.stderr:
        problems.append("the graph was built again, with more room")
    for problem in problems:
        print(problem)
    return len(problems)


if __name__ == "__main__":
    sys.exit(main())
