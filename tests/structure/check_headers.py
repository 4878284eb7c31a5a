#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Compiles every header alone, with the warnings that the library promises to be free of, by the given compiler; or
those of each folder together, where another compiler has compiled them alone and what is asked is its opinion of them.
Files of definitions, which nobody includes but their headers, are always compiled a folder at a time. nvcc reads headers
alone for the device, which asks for the same names, and compiles those of each folder together for both.

What many headers include is precompiled (g++): a header is compiled behind one that it includes itself, always and
without conditions, so that it sees nothing that it does not ask for."""

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

WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Wconversion", "-Wsign-conversion", "-Wold-style-cast", "-Werror"]


def command(compiler, include, flags, source):
    if pathlib.Path(compiler).name.startswith("nvcc"):
        flags = [f.replace("-isystem", "-I") for f in flags]  # nvcc knows only -I
        # nvcc hands its host compiler code of its own making, with old-style casts and line directives.
        host = ",".join(w for w in WARNINGS if w not in ("-Wpedantic", "-Wold-style-cast"))
        return [compiler, "-std=c++20", "-x", "cu", "-Xcompiler", host, "-Werror", "all-warnings", "-I", include, "-c", *flags,
                source, "-o", os.devnull]
    return [compiler, "-std=c++20", "-fsyntax-only", *WARNINGS, "-I", include, *flags, "-x", "c++", source]


def without_definitions(header):
    """True if the header is compiled without its .ipp file and those that it includes: each of them is compiled alone as
    well. Umbrellas are compiled with them."""
    return header.count("/") > 1


def flags_of(header, flags):
    return [*flags, "-DTAGMA_COMPILED=1"] if without_definitions(header) else flags


def compile_headers(compiler, include, flags, headers, folder, hub=None):
    source = pathlib.Path(folder) / f"{headers[0].replace('/', '_')}_{len(headers)}.cpp"
    # Twice: the second must be nothing. The function keeps -Wpedantic from calling the file empty.
    lines = [f'#include "{header}"\n' for header in headers]
    if hub is not None:
        flags = [*flags, "-Winvalid-pch", "-include", hub]
    source.write_text("".join(lines + lines) + "int main() { return 0; }\n", encoding="utf-8")
    run = subprocess.run(command(compiler, include, flags, str(source)), capture_output=True, text=True, check=False)
    return headers, run.returncode, run.stdout + run.stderr


CONDITION = re.compile(r"\s*#\s*(if|ifdef|ifndef|elif|else|endif)\b\s*(.*)")


def always_included(text, definitions):
    """The headers that a text includes whatever macros say; with `definitions`, those of #ifndef TAGMA_COMPILED as well."""
    found, conditions = [], []
    lines = text.splitlines()
    for i, line in enumerate(lines):
        condition, include = CONDITION.match(line), tree.INCLUDE.match(line)
        if condition and condition.group(1) == "endif":
            conditions.pop()
        elif condition and condition.group(1) in ("elif", "else"):
            conditions[-1] = True
        elif condition:
            word, what = condition.group(1), condition.group(2).strip()
            following = lines[i + 1] if i + 1 < len(lines) else ""
            guard = word == "ifndef" and re.match(rf"\s*#\s*define\s+{re.escape(what)}\s*$", following)
            conditions.append(not guard and not (definitions and (word, what) == ("ifndef", "TAGMA_COMPILED")))
        elif include and not any(conditions):
            found.append(include.group(2))
    return found


# What the headers of the standard library cost that a header of ours includes, in characters of ours; a precompiled header
# takes longer to write than to compile.
STANDARD, WRITING, MOST_HUBS = 15000, 1.5, 40


def choose_hubs(root, wanted, definitions):
    """{header: the header that is precompiled for it}, of `wanted`, for those where that pays."""
    texts = {h: tree.read(root, h) for h in tree.headers(root)}
    direct = {h: [n for i in always_included(t, definitions) for n in (i, f"{h.rpartition('/')[0]}/{i}") if n in texts]
              for h, t in texts.items()}

    def all_of(header):
        seen, left = set(), [header]
        while left:
            for name in direct[left.pop()]:
                if name not in seen:
                    seen.add(name)
                    left.append(name)
        return seen

    below = {h: all_of(h) for h in texts}
    cost = {h: sum(len(texts[n]) + STANDARD for n in {h, *below[h]}) for h in texts}
    hubs = {}
    for _ in range(MOST_HUBS):
        def gain(hub):
            before = (cost[hub] - cost.get(hubs.get(h), 0) for h in wanted if hub in below[h])
            return sum(g for g in before if g > 0) - WRITING * cost[hub]

        hub = max(texts, key=gain, default=None)
        if hub is None or gain(hub) <= 0:
            break
        for h in wanted:
            if hub in below[h] and cost[hub] > cost.get(hubs.get(h), 0):
                hubs[h] = hub
    return hubs


def precompile(compiler, include, flags, hub, folder):
    """What to include in place of the hub, or None where it does not compile: then its headers say why."""
    kind = "hub" if "-DTAGMA_COMPILED=1" in flags else "whole"
    header = pathlib.Path(folder) / f"{kind}_{hub.replace('/', '_')}"
    header.write_text(f'#include "{hub}"\n', encoding="utf-8")
    arguments = [a for a in command(compiler, include, flags, str(header)) if a != "-fsyntax-only"]
    arguments[arguments.index("-x") + 1] = "c++-header"
    run = subprocess.run([*arguments, "-o", f"{header}.gch"], capture_output=True, text=True, check=False)
    return str(header) if run.returncode == 0 else None


def groups_of(headers, by_folder):
    """Each header, or the headers of each folder from the last to the first, so that few have what they need before."""
    if not by_folder:
        definitions = [h for h in headers if h.endswith(".ipp")]
        return [[h] for h in headers if h not in definitions] + (groups_of(definitions, True) if definitions else [])
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
        hubs = {}
        if not by_folder and pathlib.Path(compiler).name.startswith("g++"):
            for whole in (False, True):
                alone = [g[0] for g in groups if len(g) == 1 and without_definitions(g[0]) != whole]
                chosen = choose_hubs(root, alone, definitions=whole)
                names = sorted(set(chosen.values()))
                as_theirs = flags_of(alone[0], flags) if alone else flags
                made = dict(zip(names, pool.map(lambda n: precompile(compiler, include, as_theirs, n, folder), names)))
                hubs.update({h: made[hub] for h, hub in chosen.items()})
        if cuda and not by_folder:
            groups = [(g, [*flags, "--ptx"]) for g in groups if len(g) == 1] + [(g, flags) for g in groups_of(wanted, True)]
        else:
            groups = [(g, flags if by_folder else flags_of(g[0], flags)) for g in groups]
        compiled = pool.map(lambda g: compile_headers(compiler, include, g[1], g[0], folder, hubs.get(g[0][0])), groups)
        for headers, status, output in compiled:
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
    # A header behind a precompiled one: it includes that, but the one that it leans on only where a macro is defined.
    large = "#pragma once\n" + "".join(f"inline int f{i}() {{ return {i}; }}\n" for i in range(3000))
    includes = '#pragma once\n#include "tagma/x/hub.hpp"\n'
    hub = {f"include/tagma/x/{c}.hpp": f"{includes}inline int {c}() {{ return f0(); }}\n" for c in "abc"}
    for name, line, good in [("always", "", True), ("where a macro is", "#if defined(ABSENT)\n", False)]:
        ending = "#endif\n" if line else ""
        leans = f'#pragma once\n{line}#include "tagma/x/hub.hpp"\n{ending}inline int d() {{ return f0(); }}\n'
        with tempfile.TemporaryDirectory() as root:
            tree.write_tree(root, {**hub, "include/tagma/x/hub.hpp": large, "include/tagma/x/d.hpp": leans})
            hubs = choose_hubs(root, [f"tagma/x/{c}.hpp" for c in "abcd"], definitions=False)
            count, complaints = check(root, compiler, [], None, 1)
        if ("tagma/x/d.hpp" in hubs) != good or "tagma/x/a.hpp" not in hubs or bool(complaints) == good:
            wrong += 1
            print(f"self-test '{name}': {hubs}, {complaints}")
    print(f"self-test: {len(CASES) + 4} trees, {wrong} judged wrongly")
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
