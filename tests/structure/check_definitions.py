#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""The two halves of a header: x.hpp declares, x.ipp defines what is no template. The header includes its definitions at its
end unless TAGMA_COMPILED is defined, and one file of tagma/compiled/ includes them otherwise. Each function of them begins
with TAGMA_DECL, which is `inline` in the one case and nothing in the other: without it a program of two files has the function
twice, and with `inline` a program that links the library lacks it."""

import re

import tree

END = '#ifndef TAGMA_COMPILED\n#include "{}"\n#endif\n'
DEFINITION = re.compile(r"^(?![ }#/])(?!namespace\b)(?!using\b)(?!TAGMA_[A-Z]+_(?:BEGIN|END)$)(?!(?:class|struct|constexpr)\b|template <(?!>)|inline constexpr\b).*[({].*$",
                        re.M)


def definitions(text):
    """The first lines of what stands at the left margin of a file: functions, if all is right."""
    code = tree.code(text)
    return [line for line in DEFINITION.findall(code) if not re.match(r"^[\w:~&*<>, ]*\) ", line)]


def check(root):
    complaints, known = [], tree.headers(root)
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
    ("inline", {**GOOD, "include/tagma/a.ipp": "TAGMA_DECL inline int f() { return 1; }\n"}, "begins with TAGMA_DECL"),
]

if __name__ == "__main__":
    tree.run(check, CASES, __doc__)
