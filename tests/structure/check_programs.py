#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Reads every program of bench/ that uses tagma with the given compiler, with the warnings of check_headers.py, and the
program that bench/compile/generate_residual.py writes: what is built only for measurements keeps up with the library. A
program is left out where it includes <a/header.hpp> that is not installed; what macros choose is what it chooses alone:
one of the networks, one of the types of elements. Where a program calls one function for one type after another, the first
stands for all: the others would take most of the time, and say the same of the names that the library has.

tagma/tagma.hpp is precompiled (g++) for the programs that include it, in all cases and with no macro defined before."""

import argparse
import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import tree
from check_headers import WARNINGS, precompile

PROGRAMS = ["bench/compile/programs/*.cpp", "bench/*.cpp", "bench/peers/tagma_*.cpp", "bench/networks/*.cpp",
            "bench/equal/*.cpp", "bench/ops/*.cpp"]
GENERATORS = [("bench/compile/generate_residual.py", "8")]


# Lines that differ in nothing but the type that a function is called for.
OTHER_TYPES = re.compile(r"^( *(\w+)<[\w:]+>\(\);\n)((?: *\2<[\w:]+>\(\);\n)+)", re.M)
HUB = "tagma/tagma.hpp"


def compile_text(compiler, root, flags, text):
    """Whether the program, a file or its text, compiles, and what the compiler says."""
    command = [compiler, "-std=c++20", "-fsyntax-only", *WARNINGS, "-I", str(pathlib.Path(root) / "include"), *flags, "-x", "c++"]
    run = subprocess.run([*command, text] if isinstance(text, pathlib.Path) else [*command, "-"], text=True, check=False,
                         input=None if isinstance(text, pathlib.Path) else text, capture_output=True)
    return run.returncode == 0, run.stdout + run.stderr


def of_first_types(text):
    """The text, on the same lines, without the calls for other types than the first."""
    return OTHER_TYPES.sub(lambda found: found[1] + "\n" * found[3].count("\n"), text)


def compile_source(compiler, root, flags, source, precompiled):
    text = source.read_text(encoding="utf-8")
    first = re.search(rf'^#(include "{HUB}"|define|if)', text, re.M)
    if precompiled and first and first[1].startswith("include"):
        flags = [*flags, "-Winvalid-pch", "-include", precompiled]
    shorter = of_first_types(text)
    if shorter == text:
        return compile_text(compiler, root, flags, source)
    return compile_text(compiler, root, [*flags, "-iquote", str(source.parent)], shorter)


def absent_headers(compiler, root, flags, source):
    """Headers of other libraries that the program needs and this machine lacks."""
    names = [name for _, kind, name in tree.includes(source.read_text(encoding="utf-8"))
             if kind == "<" and "/" in name and not name.startswith("tagma/")]
    return [n for n in names
            if not compile_text(compiler, root, flags, f"#if !__has_include(<{n}>)\n#error\n#endif\nint main() {{}}\n")[0]]


def check(root, compiler, flags, jobs):
    root = pathlib.Path(root)
    sources = sorted({p for pattern in PROGRAMS for p in root.glob(pattern)})
    skipped, complaints = [], []

    def one(source):
        absent = absent_headers(compiler, root, flags, source)
        return source, absent, *((True, "") if absent else compile_source(compiler, root, flags, source, precompiled))

    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for script, *arguments in GENERATORS:
            if (root / script).exists():
                written = pathlib.Path(folder) / (pathlib.Path(script).stem + ".cpp")
                written.write_text(subprocess.run([sys.executable, str(root / script), *arguments], check=True, text=True,
                                                  capture_output=True).stdout, encoding="utf-8")
                sources.append(written)
        precompiled = None
        if (root / "include" / HUB).exists() and pathlib.Path(compiler).name.startswith("g++"):
            precompiled = precompile(compiler, str(root / "include"), flags, HUB, folder)
        for source, absent, good, output in pool.map(one, sources):
            if absent:
                skipped.append(f"{source.name}: there is no {', '.join(absent)}")
            elif not good:
                complaints.append(f"{source} does not compile by {compiler}:\n{output[:4000]}")
    return len(sources), skipped, complaints


GOOD = '#include "tagma/a.hpp"\nint main() { return tagma::f(); }\n'
HEADER = {"include/tagma/a.hpp": "#pragma once\nnamespace tagma {\ninline int f() { return 0; }\n}\n"}
HUB_HEADER = {**HEADER, f"include/{HUB}": '#pragma once\n#include "tagma/a.hpp"\n'}
TYPES = """template <class T>
void f() {{
  static_assert(sizeof(T) == {});
}}
int main() {{
  f<char>();
  f<int>();
}}
"""
CASES = [
    ("good", {**HEADER, "bench/compile/programs/a.cpp": GOOD}, (1, 0, None)),
    ("every folder", {**HEADER, **{p.replace("*", "a"): GOOD for p in PROGRAMS}}, (6, 0, None)),
    ("a network", {**HEADER, "bench/networks/a.cpp": GOOD.replace("f()", "g()")}, (1, 0, "does not compile")),
    ("an old name", {**HEADER, "bench/compile/programs/a.cpp": GOOD.replace("f()", "g()")}, (1, 0, "does not compile")),
    ("a warning", {**HEADER, "bench/b.cpp": GOOD.replace("return", "int unused = 1; return")}, (1, 0, "unused")),
    ("a library that is absent", {**HEADER, "bench/b.cpp": "#include <absent/library.hpp>\n" + GOOD}, (1, 1, None)),
    ("a header of ours that is absent", {**HEADER, "bench/b.cpp": "#include <tagma/gone.hpp>\n" + GOOD}, (1, 0, "gone.hpp")),
    ("a peer that is not ours", {**HEADER, "bench/peers/eigen.cpp": "nonsense"}, (0, 0, None)),
    ("behind a precompiled header", {**HUB_HEADER, "bench/b.cpp": GOOD.replace("a.hpp", "tagma.hpp")}, (1, 0, None)),
    ("a warning behind a precompiled header", {**HUB_HEADER, "bench/b.cpp": GOOD.replace("a.hpp", "tagma.hpp").replace(
        "return", "int unused = 1; return")}, (1, 0, "b.cpp:2:")),
    ("what is not included", {**HUB_HEADER, "bench/b.cpp": GOOD.replace("tagma/a.hpp", "vector")}, (1, 0, "does not compile")),
    ("beside the program", {"bench/b.hpp": "#pragma once\n", "bench/b.cpp": '#include "b.hpp"\n' + TYPES.format(1)}, (1, 0, None)),
    ("the first of types", {"bench/b.cpp": TYPES.format(4)}, (1, 0, "<stdin>:3:")),
    ("other types", {"bench/b.cpp": TYPES.format(1)}, (1, 0, None)),
    ("what is generated", {**HEADER, GENERATORS[0][0]: "print('nonsense')\n"}, (1, 0, "generate_residual.cpp")),
]


def self_test(compiler):
    wrong = 0
    for name, files, (count, skips, complaint) in CASES:
        with tempfile.TemporaryDirectory() as root:
            tree.write_tree(root, files)
            found, skipped, complaints = check(root, compiler, [], 1)
        text = "\n".join(complaints)
        if found != count or len(skipped) != skips or bool(text) == (complaint is None) or (complaint or "") not in text:
            wrong += 1
            print(f"self-test '{name}': {found} programs, skipped {skipped}, complaints {complaints}")
    print(f"self-test: {len(CASES)} trees, {wrong} judged wrongly")
    return 1 if wrong else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--compiler", default="g++")
    parser.add_argument("--root", default=str(pathlib.Path(__file__).resolve().parents[2]))
    parser.add_argument("--flag", action="append", default=[], help="one more flag for the compiler, such as --flag=-DX=1")
    parser.add_argument("--jobs", type=int, default=min(2, os.cpu_count() or 1))
    parser.add_argument("--self-test", action="store_true")
    arguments = parser.parse_args()
    if shutil.which(arguments.compiler) is None:
        sys.exit(f"there is no compiler {arguments.compiler}")
    if arguments.self_test:
        return self_test(arguments.compiler)
    count, skipped, complaints = check(arguments.root, arguments.compiler, arguments.flag, arguments.jobs)
    for line in skipped + complaints:
        print(line)
    print(f"{arguments.compiler}: {count} programs of bench/, {len(skipped)} left out, {len(complaints)} fail")
    return 1 if complaints or count == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
