#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Compiles every header alone, with the warnings that the library promises to be free of, by the given compiler."""

import argparse
import concurrent.futures
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import tree

WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Wconversion", "-Wsign-conversion", "-Wold-style-cast", "-Werror"]


def command(compiler, include, flags, source):
    if pathlib.Path(compiler).name.startswith("nvcc"):
        flags = [f.replace("-isystem", "-I") for f in flags]  # nvcc knows only -I
        # nvcc hands its host compiler code of its own making, with old-style casts and line directives.
        host = ",".join(w for w in WARNINGS if w not in ("-Wpedantic", "-Wold-style-cast"))
        return [compiler, "-std=c++20", "-x", "cu", "-Xcompiler", host, "-Werror", "all-warnings", "-I", include, *flags,
                "-c", source, "-o", os.devnull]
    return [compiler, "-std=c++20", "-fsyntax-only", *WARNINGS, "-I", include, *flags, "-x", "c++", source]


def compile_alone(compiler, include, flags, header, folder):
    source = pathlib.Path(folder) / (header.replace("/", "_") + ".cpp")
    # Twice: the second must be nothing. The function keeps -Wpedantic from calling the file empty.
    source.write_text(f'#include "{header}"\n#include "{header}"\nint main() {{ return 0; }}\n', encoding="utf-8")
    run = subprocess.run(command(compiler, include, flags, str(source)), capture_output=True, text=True, check=False)
    return header, run.returncode, run.stdout + run.stderr


def check(root, compiler, flags, only, jobs):
    wanted = [h for h in tree.headers(root) if only is None or any(h == o or (o.endswith("/") and h.startswith(o)) for o in only)]
    cuda = pathlib.Path(compiler).name.startswith("nvcc")
    if not cuda:
        wanted = [h for h in wanted if "device/cuda/" not in h and h != "tagma/cuda.hpp"]
    complaints = []
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        include = str(pathlib.Path(root) / "include")
        for header, status, output in pool.map(lambda h: compile_alone(compiler, include, flags, h, folder), wanted):
            if status:
                complaints.append(f"{header} does not compile alone by {compiler}:\n{output[:4000]}")
    return len(wanted), complaints


CASES = [
    ("good", '#pragma once\n#include <vector>\ninline std::vector<int> f() { return {1}; }\n', True),
    ("leans on its includer", "#pragma once\ninline std::vector<int> f() { return {1}; }\n", False),
    ("no pragma once", "inline int f() { return 1; }\n", False),
    ("a conversion", "#pragma once\ninline int f(long x) { return x; }\n", False),
    ("a shadow", "#pragma once\ninline int f(int x) { { int x = 1; (void)x; } return x; }\n", False),
    ("an old-style cast", "#pragma once\ninline int f(double x) { return (int)x; }\n", False),
]


def self_test(compiler):
    wrong = 0
    for name, text, good in CASES:
        with tempfile.TemporaryDirectory() as root:
            tree.write_tree(root, {"include/tagma/a.hpp": text})
            count, complaints = check(root, compiler, [], None, 1)
        if count != 1 or bool(complaints) == good:
            wrong += 1
            print(f"self-test '{name}': expected {'no complaint' if good else 'a complaint'}, got {complaints}")
    print(f"self-test: {len(CASES)} trees, {wrong} judged wrongly")
    return 1 if wrong else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--compiler", default="g++")
    parser.add_argument("--root", default=str(pathlib.Path(__file__).resolve().parents[2]))
    parser.add_argument("--flag", action="append", default=[], help="one more flag for the compiler, such as --flag=-DX=1")
    parser.add_argument("--only", action="append", help="only this header, such as tagma/tagma.hpp, or this folder, such as tagma/device/cuda/")
    parser.add_argument("--jobs", type=int, default=min(2, os.cpu_count() or 1))
    parser.add_argument("--self-test", action="store_true")
    arguments = parser.parse_args()
    if shutil.which(arguments.compiler) is None:
        sys.exit(f"there is no compiler {arguments.compiler}")
    if arguments.self_test:
        return self_test(arguments.compiler)
    count, complaints = check(arguments.root, arguments.compiler, arguments.flag, arguments.only, arguments.jobs)
    for complaint in complaints:
        print(complaint)
    print(f"{arguments.compiler}: {count} headers alone, {len(complaints)} fail")
    return 1 if complaints or count == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
