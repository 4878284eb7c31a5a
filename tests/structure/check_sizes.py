#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""No header over 600 lines, and none over 120 columns."""

import tree

LINES = 600
COLUMNS = 120


def check(root):
    complaints = []
    for header in tree.headers(root):
        lines = tree.read(root, header).splitlines()
        if len(lines) > LINES:
            complaints.append(f"include/{header}: {len(lines)} lines; split it, {LINES} is the most")
        for number, line in enumerate(lines, 1):
            if len(line) > COLUMNS:
                complaints.append(f"include/{header}:{number}: {len(line)} columns; {COLUMNS} is the most")
    return complaints


CASES = [
    ("just right", {"include/tagma/a.hpp": "x\n" * LINES}, None),
    ("too long", {"include/tagma/a.hpp": "x\n" * (LINES + 1)}, "601 lines"),
    ("too long for CUDA", {"include/tagma/a.cuh": "x\n" * (LINES + 1)}, "601 lines"),
    ("too wide", {"include/tagma/a.hpp": "x" * (COLUMNS + 1)}, "121 columns"),
]

if __name__ == "__main__":
    tree.run(check, CASES, __doc__)
