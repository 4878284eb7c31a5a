#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""What no file may contain: paths of somebody's machine, promises to finish later, tests that cannot fail, tests of the
clock; and no header may lack its pragma and @file comment."""

import re

import tree

TEXT = {".hpp", ".cuh", ".cpp", ".cu", ".py", ".cmake", ".txt", ".md", ".json", ".in", ".sh", ""}
SKIPPED = {".git", "build", "__pycache__", ".cache"}
# Spelt in pieces, so that this file may be read by itself.
LATER = re.compile(r"\b(TO" r"DO|FIX" r"ME|X" r"XX)\b")
MACHINE = re.compile(r"(^|[^A-Za-z0-9_.])/(work|farm|root|home/[a-z]+)/")
VACUOUS = re.compile(r"\b(CHECK|REQUIRE)\((true|1)\)|\bSUC" r"CEED\(\)")
CLOCK = re.compile(r"\b(CHECK|REQUIRE)\(.*(elapsed|duration|seconds|millis|_ms\b|_us\b)[^)]*<")


def files(root):
    for path in sorted(root.rglob("*")):
        parts = path.relative_to(root).parts
        if path.is_file() and path.suffix in TEXT and not any(p in SKIPPED or p.startswith("build-") for p in parts):
            yield path


def check(root):
    complaints = []
    for path in files(root):
        name = path.relative_to(root).as_posix()
        try:
            lines = path.read_text(encoding="utf-8").splitlines()
        except UnicodeDecodeError:
            complaints.append(f"{name}: is not UTF-8")
            continue
        for number, line in enumerate(lines, 1):
            where = f"{name}:{number}"
            if MACHINE.search(line):
                complaints.append(f"{where}: a path of one machine")
            if LATER.search(line):
                complaints.append(f"{where}: finish it or leave it out")
            if name.startswith("tests/") and path.suffix in (".cpp", ".hpp", ".cu"):
                if VACUOUS.search(line):
                    complaints.append(f"{where}: a test that cannot fail")
                if CLOCK.search(line):
                    complaints.append(f"{where}: a test of the clock; benchmarks measure time")
        if name.startswith("include/") and path.suffix in tree.HEADER_ENDINGS:
            if "#pragma once" not in lines and tree.declares("\n".join(lines)):
                complaints.append(f"{name}: has no #pragma once")
            if not any(line.startswith("/// @file") for line in lines):
                complaints.append(f"{name}: has no '/// @file' comment")
    return complaints


GOOD = "#pragma once\n\n/// @file\n/// A thing.\n"
CASES = [
    ("good", {"include/tagma/a.hpp": GOOD, "tests/a.cpp": "CHECK(1 + 1 == 2);\n", "README.md": "see docs/work/x\n"}, None),
    ("machine", {"README.md": "cd /wo" "rk/main\n"}, "path of one machine"),
    ("home", {"docs/a.md": "(/ho" "me/joe/x)\n"}, "path of one machine"),
    ("later", {"include/tagma/a.hpp": GOOD + "// TO" "DO: more\n"}, "finish it"),
    ("vacuous", {"tests/a.cpp": "CHECK(tr" "ue);\n"}, "cannot fail"),
    ("clock", {"tests/a.cpp": "CHECK(elapsed" " < 3);\n"}, "test of the clock"),
    ("no pragma", {"include/tagma/a.hpp": "/// @file\nint a;\n"}, "no #pragma once"),
    ("only macros", {"include/tagma/a.hpp": "/// @file\n#ifndef A\n#define A \\\n  1\n#endif\n"}, None),
    ("no file comment", {"include/tagma/a.hpp": "#pragma once\n"}, "no '/// @file'"),
    ("build trees do not count", {"build/x/a.md": "/wo" "rk/main\n"}, None),
]

if __name__ == "__main__":
    tree.run(check, CASES, __doc__)
