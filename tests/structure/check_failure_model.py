#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Tests that docs/failure-model.md names are there: test cases, and functions of the scripts of tests/process."""

import re

import tree

ROW = re.compile(r"^\|.*\| ([^|]*) \|$", re.M)
CASE = re.compile(r'TEST_CASE\(\s*"((?:[^"\\]|\\.)*)"')


def check(root):
    page = root / "docs" / "failure-model.md"
    known = set()
    for path in sorted((root / "tests").rglob("*.[ch]pp")):
        known.update(CASE.findall(path.read_text(encoding="utf-8")))
    for path in sorted((root / "tests" / "process").glob("*.py")):
        known.update(re.findall(r"^def (\w+)\(", path.read_text(encoding="utf-8"), re.M))
    rows = ROW.findall(page.read_text(encoding="utf-8"))[2:]
    complaints = [] if rows else ["docs/failure-model.md has no table"]
    for row in rows:
        named = re.findall(r"`([^`]+)`", row)
        if not named:
            complaints.append(f"docs/failure-model.md: a row names no test: {row}")
        complaints += [f"docs/failure-model.md: there is no test '{name}'" for name in named if name not in known]
    return complaints


HEAD = "| fault | test |\n| --- | --- |\n"
TESTS = {"tests/a.cpp": 'TEST_CASE("it is so") {\n', "tests/process/b.py": "def kills(program):\n"}
CASES = [
    ("good", {"docs/failure-model.md": HEAD + "| a | `it is so`, `kills` |\n", **TESTS}, None),
    ("gone", {"docs/failure-model.md": HEAD + "| a | `it was so` |\n", **TESTS}, "it was so"),
    ("none", {"docs/failure-model.md": HEAD + "| a | by hand |\n", **TESTS}, "names no test"),
    ("empty", {"docs/failure-model.md": "# Nothing\n", **TESTS}, "no table"),
]

if __name__ == "__main__":
    tree.run(check, CASES, __doc__)
