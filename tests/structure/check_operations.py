#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Every operation that a header defines is in docs/operations.md, in its table or among those without a kernel, and
nothing else is. What the table says of an operation is compared by tests/conformance/operations_table.py. And each is in a
list of device/, by which the registry knows it: programs that are compiled late name it there by its key."""

import re

import tree

FOLDERS = ("ir", "expr", "nn")
NAME = re.compile(r'\b(?:rows_)?name = "([a-z0-9_]+)"')
COMMENT = re.compile(r"^\s*//.*$", re.M)
TAG = re.compile(r"^struct (\w+)[^;]*\{$")
ENTRY = re.compile(r"^(?:\| |- )`([a-z0-9_]+)`", re.M)


def tags(text):
    """Structs that have the name of an operation."""
    struct = None
    for line in text.splitlines():
        begins = TAG.match(line)
        struct = begins.group(1) if begins else None if line.startswith("}") else struct
        if struct and NAME.search(line):
            yield struct


def listed(root):
    return {word for header in tree.headers(root) if header.startswith("tagma/device/") and "operation" in header
            for word in re.findall(r"\w+", tree.code(tree.read(root, header)))}


def check(root):
    defined = {name for header in tree.headers(root) if tree.folder(header) in FOLDERS
               for name in NAME.findall(COMMENT.sub("", tree.read(root, header)))}
    document = root / "docs/operations.md"
    entries = ENTRY.findall(document.read_text(encoding="utf-8")) if document.exists() else []
    complaints = [f"operation {name} is not in docs/operations.md" for name in sorted(defined - set(entries))]
    complaints += [f"docs/operations.md has {name}, which no header defines" for name in sorted(set(entries) - defined)]
    known = listed(root)
    complaints += [f"operation {tag} of {header} is in no list of include/tagma/device/" for header in tree.headers(root)
                   if tree.folder(header) in FOLDERS for tag in tags(tree.read(root, header)) if tag not in known]
    return complaints + [f"docs/operations.md has {name} twice" for name in sorted(set(entries))
                         if entries.count(name) > 1]


HEADER = {"include/tagma/expr/op/a.hpp": 'static constexpr std::string_view name = "add";\n'}
TAGGED = {"include/tagma/expr/op/a.hpp": 'struct sum : op {\n  static constexpr const char* name = "add";\n};\n',
          "docs/operations.md": "| `add` |\n"}
LIST = "include/tagma/device/operations.hpp"
CASES = [
    ("in the table", {**HEADER, "docs/operations.md": "| operation |\n| --- |\n| `add` | floats |\n"}, None),
    ("without a kernel", {**HEADER, "docs/operations.md": "- `add`: no kernel.\n"}, None),
    ("missing", HEADER, "add is not in"),
    ("a mention is no entry", {**HEADER, "docs/operations.md": "see `add`\n"}, "add is not in"),
    ("unknown", {**HEADER, "docs/operations.md": "| `add` |\n| `sub` |\n"}, "no header defines"),
    ("twice", {**HEADER, "docs/operations.md": "| `add` |\n- `add`: x\n"}, "twice"),
    ("listed", {**TAGGED, LIST: "using all = list<op::sum>;\n"}, None),
    ("not listed", {**TAGGED, LIST: "using all = list<op::add>;  // sum\n"}, "operation sum of tagma/expr/op/a.hpp is in no list"),
    ("sparse updates count", {"include/tagma/nn/a.hpp": 'name = "apply_x", rows_name = "apply_x_rows";\n',
                              "docs/operations.md": "| `apply_x` |\n"}, "apply_x_rows is not in"),
]

if __name__ == "__main__":
    tree.run(check, CASES, __doc__)
