#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Every TAGMA-Ennn that a header raises has a program in tests/reject/ and an entry in docs/diagnostics.md, and neither
place knows a number that no header raises."""

import re

import tree

ID = re.compile(r"TAGMA-E\d{3}\b")
EXPECT = re.compile(r"^// expect: (TAGMA-E\d{3})\s*$", re.M)
ENTRY = re.compile(r"^[#|*\-\s`]*(TAGMA-E\d{3})\b", re.M)


def check(root):
    raised = {i for header in tree.headers(root) for i in ID.findall(tree.read(root, header))}
    complaints, expected = [], set()
    for path in sorted((root / "tests/reject").glob("*.cpp")):
        match = EXPECT.search(path.read_text(encoding="utf-8"))
        name = path.relative_to(root)
        if not match:
            complaints.append(f"{name}: has no line '// expect: TAGMA-Ennn'")
            continue
        expected.add(match.group(1))
        if match.group(1)[len("TAGMA-"):].lower() not in path.name.lower():
            complaints.append(f"{name}: expects {match.group(1)}, which its name should begin with")
    document = root / "docs/diagnostics.md"
    text = document.read_text(encoding="utf-8") if document.exists() else ""
    entries = ENTRY.findall(text)
    for what, known in (("program in tests/reject", expected), ("entry in docs/diagnostics.md", set(entries))):
        complaints += [f"{i} has no {what}" for i in sorted(raised - known)]
        complaints += [f"{i} has an {what} and no header raises it" for i in sorted(known - raised)]
    complaints += [f"{i} has two entries in docs/diagnostics.md" for i in sorted(set(entries)) if entries.count(i) > 1]
    return complaints


HEADER = {"include/tagma/a.hpp": 'static_assert(ok, "TAGMA-E012 matmul: no");\n'}
PROGRAM = {"tests/reject/e012_matmul.cpp": "// expect: TAGMA-E012\n"}
DOCUMENT = {"docs/diagnostics.md": "## TAGMA-E012 matmul\n"}
CASES = [
    ("complete", {**HEADER, **PROGRAM, **DOCUMENT}, None),
    ("no program", {**HEADER, **DOCUMENT}, "no program"),
    ("no entry", {**HEADER, **PROGRAM}, "no entry"),
    ("a mention is no entry", {**HEADER, **PROGRAM, "docs/diagnostics.md": "see TAGMA-E012\n"}, "no entry"),
    ("nobody raises it", {**PROGRAM, **DOCUMENT, "include/tagma/a.hpp": ""}, "no header raises it"),
    ("expects nothing", {**HEADER, **PROGRAM, **DOCUMENT, "tests/reject/e013_x.cpp": "int main() {}\n"}, "has no line"),
    ("misnamed", {**HEADER, **DOCUMENT, "tests/reject/e013_x.cpp": "// expect: TAGMA-E012\n"}, "should begin with"),
    ("two entries", {**HEADER, **PROGRAM, "docs/diagnostics.md": "## TAGMA-E012\n## TAGMA-E012\n"}, "two entries"),
]

if __name__ == "__main__":
    tree.run(check, CASES, __doc__)
