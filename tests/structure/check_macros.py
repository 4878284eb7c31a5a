#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""After an umbrella header no macro of the library is left but those that docs/guide.md lists. Each umbrella, and each
single header, is preprocessed; what counts are the macros that stand at the end and were defined in a file of the library.
Third-party headers that are not installed count as empty.

Headers that define the macros of others have no #pragma once and hold nothing but directives, since an umbrella undefines the
macros at its end and the next one needs them again. So every header that uses such a macro includes the header that defines
it: any other way to it may be closed. Options that headers ask for are in the list, and the list names nothing else."""

import argparse
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import tree

DEFINE = re.compile(r"^\s*#\s*define\s+(\w+)", re.M)
UNDEFINE = re.compile(r"^\s*#\s*undef\s+(\w+)", re.M)
CONDITION = re.compile(r"^\s*#\s*(?:if|ifdef|ifndef|elif)\b(.*)$", re.M)
NAME = re.compile(r"\bTAGMA_\w+")
LINE = re.compile(r'^# \d+ "([^"]*)"')
LIST = re.compile(r"<!-- macros -->(.*?)<!-- /macros -->", re.S)
GUARD = "TAGMA_SINGLE_"  # of text that several single headers hold
CONFIGURATIONS = (["-DTAGMA_WITH_ONEDNN=1", "-DTAGMA_WITH_ZLIB=1", "-DTAGMA_WITH_PNG=1", "-DTAGMA_WITH_JPEG=1", "-DTAGMA_WITH_ASIO=1",
                   "-DTAGMA_WITH_TLS=1"], [])


def listed(root):
    guide = root / "docs/guide.md"
    found = LIST.search(guide.read_text(encoding="utf-8")) if guide.exists() else None
    return set(NAME.findall(found.group(1))) if found else set()


def check_headers(root, documented):
    """What can be seen without a compiler."""
    complaints = []
    texts = {h: tree.code(tree.read(root, h)) for h in tree.headers(root)}
    shared = {}
    for header, text in texts.items():
        if tree.is_once(text):
            continue
        if tree.declares(text):
            complaints.append(f"include/{header}: has no #pragma once, and more than directives")
        shared.update({name: header for name in DEFINE.findall(text) if name not in documented})
    ends = {header for header, text in texts.items() if not tree.is_once(text) and set(UNDEFINE.findall(text)) & set(shared)}
    for header, text in texts.items():
        complaints += [f"include/{header}: includes {name}, with which only an umbrella ends" for _, _, name in tree.includes(text)
                       if tree.folder(header) and name in ends]
        own = {name for _, _, name in tree.includes(text)} | {header}
        used = set(NAME.findall(re.sub(UNDEFINE, "", text)))
        for needed in sorted({shared[name] for name in used & set(shared)} - own):
            names = ", ".join(sorted(name for name in used if shared.get(name) == needed))
            complaints.append(f"include/{header}: uses {names}, and does not include {needed} itself")
    defined = {name for text in texts.values() for name in DEFINE.findall(text)}
    asked = {name for text in texts.values() for condition in CONDITION.findall(text) for name in NAME.findall(condition)}
    complaints += [f"{name} is asked for by headers, and is not in the list of docs/guide.md"
                   for name in sorted(asked - defined - documented)]
    complaints += [f"docs/guide.md lists {name}, which no header defines or asks for"
                   for name in sorted(documented - asked - defined)]
    return complaints


def left(compiler, root, folder, header, stand_ins, definitions):
    """The macros that `header` leaves and the library defined, as {name: file}; or what the compiler says."""
    base = (root / folder).resolve()
    command = [compiler, "-std=c++20", "-dD", "-E", "-I", str(base), "-idirafter", stand_ins, *definitions, "-x", "c++",
               str(base / header)]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    if run.returncode:
        return None, run.stderr[:2000]
    macros, file = {}, ""
    for line in run.stdout.splitlines():
        if place := LINE.match(line):
            file = place.group(1)
        elif definition := DEFINE.match(line):
            if file.startswith(f"{base}/tagma/"):
                macros[definition.group(1)] = file.removeprefix(f"{base}/")
            else:
                macros.pop(definition.group(1), None)
        elif end := UNDEFINE.match(line):
            macros.pop(end.group(1), None)
    return macros, ""


def check_left(root, documented, compiler):
    complaints = []
    headers = {h: tree.read(root, h) for h in tree.headers(root)}
    with tempfile.TemporaryDirectory() as stand_ins:
        tree.write_tree(stand_ins, {name: "" for text in headers.values() for _, mark, name in tree.includes(text)
                                    if mark == "<" and (name.endswith((".h", ".cuh")) or name == "Eigen/Core")})
        for folder in ("include", "single_include"):
            for path in sorted((root / folder / "tagma").glob("*.hpp")):
                header = f"tagma/{path.name}"
                found = {}
                for definitions in CONFIGURATIONS:
                    macros, trouble = left(compiler, root, folder, header, stand_ins, definitions)
                    if macros is None:
                        complaints.append(f"{folder}/{header} with {definitions} is not preprocessed:\n{trouble}")
                    else:
                        found.update(macros)
                allowed = set(documented)
                if path.name == "with_macros.hpp":
                    allowed |= {name for text in headers.values() if not tree.is_once(text) for name in DEFINE.findall(text)}
                complaints += [f"{folder}/{header} leaves {name} of {file}" for name, file in sorted(found.items())
                               if name not in allowed and not (folder == "single_include" and name.startswith(GUARD))]
    return complaints


def check(root, compiler):
    documented = listed(root)
    return check_headers(root, documented) + check_left(root, documented, compiler)


GUIDE = {"docs/guide.md": "<!-- macros -->\n| `TAGMA_WITH_X` | an option |\n<!-- /macros -->\n"}
ASKS = "#if defined(TAGMA_WITH_X)\n#include <x.h>\n#endif\n"
ONCE = "#pragma once\n"
MACROS = "#ifndef TAGMA_M\n#define TAGMA_M 1\n#endif\n"
END = "#undef TAGMA_M\n"
GOOD = {**GUIDE, "include/tagma/base/m.hpp": MACROS, "include/tagma/base/end.hpp": END,
        "include/tagma/base/a.hpp": ONCE + ASKS + '#include "tagma/base/m.hpp"\nstatic const int a = TAGMA_M;\n',
        "include/tagma/tagma.hpp": ONCE + '#include "tagma/base/a.hpp"\n#include "tagma/base/end.hpp"\n'}
CASES = [
    ("good", GOOD, None),
    ("no end", {**GOOD, "include/tagma/tagma.hpp": ONCE + '#include "tagma/base/a.hpp"\n'},
     "include/tagma/tagma.hpp leaves TAGMA_M of tagma/base/m.hpp"),
    ("not undefined", {**GOOD, "include/tagma/base/end.hpp": ""}, "leaves TAGMA_M"),
    ("an end inside", {**GOOD, "include/tagma/base/b.hpp": ONCE + '#include "tagma/base/end.hpp"\n'}, "only an umbrella ends"),
    ("another name", {**GOOD, "include/tagma/base/a.hpp": ONCE + ASKS + "#define EIGEN_X 1\n"}, "leaves EIGEN_X"),
    ("another name, undefined", {**GOOD, "include/tagma/base/a.hpp": ONCE + ASKS + "#define EIGEN_X 1\n#undef EIGEN_X\n"}, None),
    ("only with an option", {**GOOD, "include/tagma/base/a.hpp": ONCE + ASKS +
                             "#if !defined(TAGMA_WITH_ONEDNN)\n#define EIGEN_X 1\n#endif\n",
                             "docs/guide.md": "<!-- macros -->TAGMA_WITH_X TAGMA_WITH_ONEDNN<!-- /macros -->\n"}, "leaves EIGEN_X"),
    ("macros of the system", {**GOOD, "include/tagma/base/a.hpp": ONCE + ASKS + "#include <cstdint>\n"}, None),
    ("a default of an option", {**GOOD, "include/tagma/base/a.hpp": ONCE + ASKS + "#ifndef TAGMA_WITH_X\n#define TAGMA_WITH_X 0\n"
                                "#endif\n"}, None),
    ("through another header", {**GOOD, "include/tagma/base/b.hpp": ONCE + '#include "tagma/base/a.hpp"\nstatic const int b = TAGMA_M;\n'},
     "include/tagma/base/b.hpp: uses TAGMA_M, and does not include tagma/base/m.hpp itself"),
    ("in a comment", {**GOOD, "include/tagma/base/b.hpp": ONCE + "/// Like TAGMA_M.\n"}, None),
    ("more than directives", {**GOOD, "include/tagma/base/m.hpp": MACROS + "int m;\n"}, "more than directives"),
    ("a macro of many lines", {**GOOD, "include/tagma/base/m.hpp": "#ifndef TAGMA_M\n#define TAGMA_M \\\n  1\n#endif\n"}, None),
    ("an option that nobody knows", {**GOOD, "include/tagma/base/b.hpp": ONCE + "#if TAGMA_WITH_Y\n#endif\n"},
     "TAGMA_WITH_Y is asked for by headers"),
    ("an option that is gone", {**GOOD, "docs/guide.md": "<!-- macros -->TAGMA_WITH_X TAGMA_WITH_Z<!-- /macros -->\n"},
     "lists TAGMA_WITH_Z"),
    ("does not preprocess", {**GOOD, "include/tagma/tagma.hpp": "#error no\n"}, "is not preprocessed"),
    ("the header that leaves them", {**GOOD, "include/tagma/with_macros.hpp": '#include "tagma/base/m.hpp"\n'}, None),
    ("a single header", {**GOOD, "single_include/tagma/tagma.hpp": "#define TAGMA_SINGLE_A\n"}, None),
    ("a single header that leaves one", {**GOOD, "single_include/tagma/tagma.hpp": "#define TAGMA_M 1\n"},
     "single_include/tagma/tagma.hpp leaves TAGMA_M"),
]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("root", nargs="?", default=str(pathlib.Path(__file__).resolve().parents[2]))
    parser.add_argument("--compiler", default="g++")
    parser.add_argument("--self-test", action="store_true")
    arguments = parser.parse_args()
    if shutil.which(arguments.compiler) is None:
        sys.exit(f"there is no compiler {arguments.compiler}")
    if arguments.self_test:
        return tree.self_test(lambda root: check(root, arguments.compiler), CASES)
    complaints = check(pathlib.Path(arguments.root), arguments.compiler)
    for complaint in complaints:
        print(complaint)
    print(f"{len(tree.headers(arguments.root))} headers, {len(complaints)} complaints")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
