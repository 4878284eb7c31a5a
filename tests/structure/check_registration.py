#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Every test source in the tree is compiled into a test program, and every one with test cases has its CTest entry. The
build writes what it registered: a line 'run tests/x.cpp' or 'compile tests/x.cpp' each."""

import argparse
import pathlib
import re
import sys
import tempfile

import tree

# These folders register their sources in their own way, checked by their own scripts.
ELSEWHERE = ("fuzz", "package", "process", "structure", "reject", "support")
TEST_CASE = re.compile(r"^\s*(TEMPLATE_(PRODUCT_|LIST_)?)?(TEST_CASE|SCENARIO)(_METHOD)?\s*\(", re.M)


def check(root, registered):
    kinds = dict(reversed(line.split(" ", 1)) for line in registered.splitlines() if line)
    complaints, sources = [], set()
    for path in sorted((root / "tests").glob("*/**/*.cpp")):
        name = path.relative_to(root).as_posix()
        if name.split("/")[1] in ELSEWHERE:
            continue
        sources.add(name)
        has_cases = TEST_CASE.search(path.read_text(encoding="utf-8")) is not None
        if name not in kinds:
            complaints.append(f"{name}: is in no test program; configure again")
        elif has_cases and kinds[name] != "run":
            complaints.append(f"{name}: has test cases that CTest does not run; configure again")
    complaints += [f"{name}: is registered and does not exist" for name in sorted(set(kinds) - sources)]
    return complaints


CASES = [
    ("good", {"tests/base/a.cpp": 'TEST_CASE("a") {}\n', "tests/base/b.cpp": "static_assert(1 + 1 == 2);\n"},
     "run tests/base/a.cpp\ncompile tests/base/b.cpp\n", None),
    ("forgotten", {"tests/base/deep/a.cpp": ""}, "", "is in no test program"),
    ("compiled only", {"tests/base/a.cpp": 'TEST_CASE("a") {}\n'}, "compile tests/base/a.cpp\n", "does not run"),
    ("gone", {"tests/base/a.cpp": ""}, "compile tests/base/a.cpp\nrun tests/base/b.cpp\n", "does not exist"),
]


def self_test():
    wrong = 0
    for name, files, registered, expected in CASES:
        with tempfile.TemporaryDirectory() as root:
            tree.write_tree(root, files)
            complaints = check(pathlib.Path(root), registered)
        if bool(complaints) == (expected is None) or (expected and not any(expected in c for c in complaints)):
            wrong += 1
            print(f"self-test '{name}': expected {expected!r}, got {complaints}")
    print(f"self-test: {len(CASES)} trees, {wrong} judged wrongly")
    return 1 if wrong else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--root", default=str(pathlib.Path(__file__).resolve().parents[2]))
    parser.add_argument("--registered", help="the file that the build wrote")
    parser.add_argument("--self-test", action="store_true")
    arguments = parser.parse_args()
    if arguments.self_test:
        return self_test()
    complaints = check(pathlib.Path(arguments.root), pathlib.Path(arguments.registered).read_text(encoding="utf-8"))
    for complaint in complaints:
        print(complaint)
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
