#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Compiles every header alone, with the warnings that the library promises to be free of, by the given compiler; or
those of each folder together, where another compiler has compiled them alone and what is asked is its opinion of them."""

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


def compile_headers(compiler, include, flags, headers, folder):
    source = pathlib.Path(folder) / (headers[0].replace("/", "_") + ".cpp")
    # Twice: the second must be nothing. The function keeps -Wpedantic from calling the file empty.
    lines = [f'#include "{header}"\n' for header in headers]
    if len(headers) == 1 and headers[0].count("/") > 1 and not pathlib.Path(compiler).name.startswith("nvcc"):
        # Without the definitions of its .ipp file and of those that it includes: each of them is compiled alone as well.
        flags = [*flags, "-DTAGMA_COMPILED=1"]
    source.write_text("".join(lines + lines) + "int main() { return 0; }\n", encoding="utf-8")
    run = subprocess.run(command(compiler, include, flags, str(source)), capture_output=True, text=True, check=False)
    return headers, run.returncode, run.stdout + run.stderr


def groups_of(headers, by_folder):
    """Each header, or the headers of each folder from the last to the first, so that few have what they need before."""
    if not by_folder:
        return [[h] for h in headers]
    folders = {}
    for h in sorted(headers, reverse=True):
        # What stands outside of all folders may not be included together.
        folders.setdefault(h.rsplit("/", 1)[0] if h.count("/") > 1 else h, []).append(h)
    return list(folders.values())


def check(root, compiler, flags, only, jobs, by_folder=False):
    wanted = [h for h in tree.headers(root) if only is None or any(h == o or (o.endswith("/") and h.startswith(o)) for o in only)]
    cuda = pathlib.Path(compiler).name.startswith("nvcc")
    if not cuda:
        wanted = [h for h in wanted if "device/cuda/" not in h and h != "tagma/cuda.hpp"]
    complaints = []
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        include = str(pathlib.Path(root) / "include")
        groups = groups_of(wanted, by_folder)
        for headers, status, output in pool.map(lambda g: compile_headers(compiler, include, flags, g, folder), groups):
            if status:
                complaints.append(f"{', '.join(headers)} does not compile by {compiler}:\n{output[:4000]}")
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
    for name, other, good in [("two in a folder", "inline int g() { return 1; }\n", True), ("one has a warning", "inline int g(long x) { return x; }\n", False)]:
        with tempfile.TemporaryDirectory() as root:
            tree.write_tree(root, {"include/tagma/x/a.hpp": CASES[0][1], "include/tagma/x/b.hpp": "#pragma once\n" + other})
            count, complaints = check(root, compiler, [], None, 1, by_folder=True)
        if count != 2 or len(complaints) != (0 if good else 1):
            wrong += 1
            print(f"self-test '{name}': got {complaints}")
    print(f"self-test: {len(CASES) + 2} trees, {wrong} judged wrongly")
    return 1 if wrong else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--compiler", default="g++")
    parser.add_argument("--root", default=str(pathlib.Path(__file__).resolve().parents[2]))
    parser.add_argument("--flag", action="append", default=[], help="one more flag for the compiler, such as --flag=-DX=1")
    parser.add_argument("--only", action="append", help="only this header, such as tagma/tagma.hpp, or this folder, such as tagma/device/cuda/")
    parser.add_argument("--by-folder", action="store_true", help="the headers of each folder in one program")
    parser.add_argument("--jobs", type=int, default=min(2, os.cpu_count() or 1))
    parser.add_argument("--self-test", action="store_true")
    arguments = parser.parse_args()
    if shutil.which(arguments.compiler) is None:
        sys.exit(f"there is no compiler {arguments.compiler}")
    if arguments.self_test:
        return self_test(arguments.compiler)
    count, complaints = check(arguments.root, arguments.compiler, arguments.flag, arguments.only, arguments.jobs,
                              arguments.by_folder)
    for complaint in complaints:
        print(complaint)
    print(f"{arguments.compiler}: {count} headers, {len(complaints)} complaints")
    return 1 if complaints or count == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
