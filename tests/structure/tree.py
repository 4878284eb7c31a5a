# SPDX-License-Identifier: BSL-1.0
"""What the scripts of this folder share: reading the tree, reporting, and proving that a check can fail."""

import argparse
import pathlib
import re
import sys
import tempfile

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
HEADER_ENDINGS = (".hpp", ".cuh", ".ipp")  # .ipp: definitions, which the header of that name includes or a library has


def headers(root):
    """Every header of the library, sorted, as paths relative to include/: tagma/base/config.hpp."""
    base = pathlib.Path(root) / "include"
    return sorted(p.relative_to(base).as_posix() for p in base.rglob("*") if p.suffix in HEADER_ENDINGS)


def read(root, header):
    return (pathlib.Path(root) / "include" / header).read_text(encoding="utf-8")


def includes(text):
    """(line number, '<' or '"', name) of each include directive."""
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        match = INCLUDE.match(line)
        if match:
            found.append((number, match.group(1), match.group(2)))
    return found


def code(text):
    """The text without comments, lines that a backslash joins as one."""
    text = re.sub(r"/\*.*?\*/|//[^\n]*", "", text, flags=re.S)
    return re.sub(r"\\\n", " ", text)


def is_once(text):
    return re.search(r"^#pragma once$", text, re.M) is not None


def declares(text):
    """True if the code has more than directives."""
    return any(line.strip() and not line.lstrip().startswith("#") for line in code(text).splitlines())


def is_definitions_of(header, name):
    """True if `header` has the definitions of the header `name`."""
    return header.endswith(".ipp") and name == header.removesuffix(".ipp") + ".hpp"


def folder(header):
    """'base' of tagma/base/config.hpp; empty for an umbrella, which lies directly in tagma/."""
    parts = header.split("/")
    return parts[1] if len(parts) > 2 else ""


def layers(root):
    """Rank of each folder, from layers.txt."""
    ranks = {}
    for line in (pathlib.Path(root) / "tests/structure/layers.txt").read_text(encoding="utf-8").splitlines():
        words = line.split("#")[0].split()
        if words:
            ranks[words[1]] = int(words[0])
    return ranks


def write_tree(root, files):
    for name, text in files.items():
        path = pathlib.Path(root) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def self_test(check, cases):
    """Runs `check` on small trees. A case is (name, files, expected): the complaint must contain `expected`, and with
    None there must be no complaint at all."""
    failures = 0
    for name, files, expected in cases:
        with tempfile.TemporaryDirectory() as root:
            write_tree(root, files)
            complaints = check(pathlib.Path(root))
        good = not complaints if expected is None else any(expected in c for c in complaints)
        if not good:
            failures += 1
            print(f"self-test '{name}': expected {expected!r}, got {complaints}")
    print(f"self-test: {len(cases)} trees, {failures} judged wrongly")
    return 1 if failures or not cases else 0


def main(check, cases, summary):
    """The command line of every script here: `script.py [root]` or `script.py --self-test`."""
    parser = argparse.ArgumentParser(description=summary)
    parser.add_argument("root", nargs="?", default=str(pathlib.Path(__file__).resolve().parents[2]))
    parser.add_argument("--self-test", action="store_true")
    arguments = parser.parse_args()
    if arguments.self_test:
        return self_test(check, cases)
    complaints = check(pathlib.Path(arguments.root))
    for complaint in complaints:
        print(complaint)
    print(f"{len(headers(arguments.root))} headers, {len(complaints)} complaints")
    return 1 if complaints else 0


def run(check, cases, summary):
    sys.exit(main(check, cases, summary))
