#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""The two halves of a header: x.hpp declares, x.ipp defines what is no template. The header includes its definitions at its
end unless TAGMA_COMPILED is defined, and one file of tagma/compiled/ includes them otherwise. Each function of them begins
with TAGMA_DECL, which is `inline` in the one case and nothing in the other: without it a program of two files has the function
twice, and with `inline` a program that links the library lacks it.

What one room declares and another defines is never inlined, so that each object with the definition has its symbol: objects
without it may be the first that a program links."""

import re

import tree

END = '#ifndef TAGMA_COMPILED\n#include "{}"\n#endif\n'
DEFINITION = re.compile(r"^(?![ }#/])(?!namespace\b)(?!using\b)(?!TAGMA_[A-Z]+_(?:BEGIN|END)$)(?!(?:class|struct|constexpr)\b|template <(?!>)|inline constexpr\b).*[({].*$",
                        re.M)


FOREIGN = re.compile(r"\bTAGMA_DECL\b[^(]*\b([a-z]+)::\w+\($")


def is_of_another_room(header, line, rooms):
    """True if the function is declared in the namespace of another folder than that of the header."""
    found = FOREIGN.search(line[:line.find("(") + 1])
    return found is not None and found[1] in rooms and found[1] not in header.split("/")


def definitions(text):
    """The first lines of what stands at the left margin of a file: functions, if all is right."""
    code = tree.code(text)
    return [line for line in DEFINITION.findall(code) if not re.match(r"^[\w:~&*<>, ]*\) ", line)]


def check(root):
    complaints, known = [], tree.headers(root)
    rooms = {h.split("/")[1] for h in known if h.count("/") > 1}
    compiled = {}
    for source in sorted((root / "include/tagma/compiled").glob("*.cpp")):
        for _, _, name in tree.includes(source.read_text(encoding="utf-8")):
            if name.endswith(".ipp"):
                compiled.setdefault(name, []).append(source.name)
    for header in (h for h in known if h.endswith(".ipp")):
        owner = header.removesuffix(".ipp") + ".hpp"
        text = tree.read(root, header)
        if owner not in known:
            complaints.append(f"include/{header}: there is no {owner} that it could belong to")
        elif not tree.read(root, owner).endswith(END.format(header)):
            complaints.append(f"include/{owner}: does not end with {header} unless TAGMA_COMPILED is defined")
        if len(compiled.get(header, [])) != 1:
            where = " and ".join(compiled.get(header, [])) or "no file"
            complaints.append(f"include/{header}: {where} of tagma/compiled/ includes it; it should be one")
        for line in definitions(text):
            if "TAGMA_DECL" not in line or re.search(r"\binline\b", line):
                complaints.append(f"include/{header}: a function begins with TAGMA_DECL, not as {line.strip()!r}")
            if is_of_another_room(header, line, rooms) and "TAGMA_COLD" not in line:
                complaints.append(f"include/{header}: what another room declares is TAGMA_COLD, not as {line.strip()!r}")
    return complaints


GOOD = {"include/tagma/a.hpp": "#pragma once\nint f();\n\n" + END.format("tagma/a.ipp"),
        "include/tagma/a.ipp": '#include "tagma/a.hpp"\n\nnamespace t {\n\nTAGMA_COLD TAGMA_DECL int f() {\n  return g(1);\n}\n\n}\n',
        "include/tagma/compiled/a.cpp": '#include "tagma/a.ipp"\n'}
CASES = [
    ("both halves", GOOD, None),
    ("no header", {**GOOD, "include/tagma/b.ipp": "", "include/tagma/compiled/b.cpp": '#include "tagma/b.ipp"\n'}, "no tagma/b.hpp"),
    ("always included", {**GOOD, "include/tagma/a.hpp": 'int f();\n#include "tagma/a.ipp"\n'}, "does not end with"),
    ("not in the library", {**GOOD, "include/tagma/compiled/a.cpp": ""}, "no file of tagma/compiled/"),
    ("twice in the library", {**GOOD, "include/tagma/compiled/b.cpp": '#include "tagma/a.ipp"\n'}, "a.cpp and b.cpp"),
    ("forgotten", {**GOOD, "include/tagma/a.ipp": "int f() {\n  return 1;\n}\n"}, "begins with TAGMA_DECL"),
    ("a class", {**GOOD, "include/tagma/a.ipp": "class a {\n  int f() { return 1; }\n};\ntemplate <class T>\nconstexpr T g() {\n  return 1;\n}\n"}, None),
    ("specialised", {**GOOD, "include/tagma/a.ipp": "template <> int f<int>() {\n  return 1;\n}\n"}, "begins with TAGMA_DECL"),
    ("of another room", {**GOOD, "include/tagma/r/b.hpp": "", "include/tagma/a.ipp": "TAGMA_DECL int r::f() { return 1; }\n"}, "is TAGMA_COLD"),
    ("never inlined", {**GOOD, "include/tagma/r/b.hpp": "", "include/tagma/a.ipp": "TAGMA_COLD TAGMA_DECL int r::f() { return 1; }\n"}, None),
    ("inline", {**GOOD, "include/tagma/a.ipp": "TAGMA_DECL inline int f() { return 1; }\n"}, "begins with TAGMA_DECL"),
]

if __name__ == "__main__":
    tree.run(check, CASES, __doc__)
