#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Every header can be reached from an umbrella; umbrellas are sorted and name nothing twice; tagma/fwd.hpp costs
nothing, and tagma/tagma.hpp includes none of the standard headers in heavy.txt. A header that raises TAGMA-Ennn is first
included by the umbrella itself: compilers print the way to it before the sentence."""

import re

import tree

FREE = ("cstddef", "cstdint")
RAISES = re.compile(r'^[^/\n]*"(TAGMA-E\d{3}) ', re.M)


def reach(root, start):
    """Every header that `start` includes, with the includer that it was found through."""
    known = set(tree.headers(root))
    found, queue = {start: None}, [start]
    while queue:
        header = queue.pop()
        for _, _, name in tree.includes(tree.read(root, header)):
            if name in known and name not in found:
                found[name] = header
                queue.append(name)
    return found


def check_order(root, umbrella):
    complaints, seen, previous = [], set(), None
    for number, _, name in tree.includes(tree.read(root, umbrella)):
        if name in seen:
            complaints.append(f"include/{umbrella}:{number}: {name} is included twice")
        seen.add(name)
        if previous and previous[0] == number - 1 and previous[1] > name:
            complaints.append(f"include/{umbrella}:{number}: {name} should stand before {previous[1]}")
        previous = (number, name)
    return complaints


def check_chains(root, umbrella):
    """Two lines of includes before a sentence, the umbrella and the program: the umbrella comes before other includers."""
    known, first = set(tree.headers(root)), {}

    def visit(header):
        for _, _, name in tree.includes(tree.read(root, header)):
            if name in known and name not in first:
                first[name] = header
                visit(name)

    visit(umbrella)
    return [f"include/{umbrella}: {name} raises {raised.group(1)}, and is first included by {by}: name it before that"
            for name, by in first.items()
            if by != umbrella and not name.endswith(".ipp") and (raised := RAISES.search(tree.read(root, name)))]


def check_costs(root, umbrellas):
    complaints = []
    if "tagma/fwd.hpp" in umbrellas:
        for number, _, name in tree.includes(tree.read(root, "tagma/fwd.hpp")):
            if name not in FREE:
                complaints.append(f"include/tagma/fwd.hpp:{number}: includes {name}, and promises to cost nothing")
    heavy_list = root / "tests/structure/heavy.txt"
    if "tagma/tagma.hpp" in umbrellas and heavy_list.exists():
        heavy = {line.strip() for line in heavy_list.read_text(encoding="utf-8").splitlines() if not line.startswith("#")}
        for header in sorted(reach(root, "tagma/tagma.hpp")):
            for number, _, name in tree.includes(tree.read(root, header)):
                if name in heavy:
                    complaints.append(f"include/{header}:{number}: <{name}> is too heavy for what tagma.hpp includes")
    return complaints


def check(root):
    umbrellas = [h for h in tree.headers(root) if not tree.folder(h)]
    complaints = []
    for umbrella in umbrellas:
        complaints += check_order(root, umbrella)
        complaints += check_chains(root, umbrella)
    complaints += check_costs(root, umbrellas)
    if "tagma/tagma.hpp" in umbrellas:
        # What is compiled by nvcc alone, once, no umbrella includes.
        files = [f.relative_to(root / "include").as_posix() for f in (root / "include/tagma/device/cuda/registry").glob("*.cu")]
        reached = set().union(*(reach(root, u) for u in [*umbrellas, *files]))
        complaints += [f"include/{h}: no umbrella reaches it" for h in tree.headers(root) if h not in reached]
    return complaints


HEAVY = {"tests/structure/heavy.txt": "# heavy\niostream\n"}
CASES = [
    ("complete", {**HEAVY, "include/tagma/tagma.hpp": '#include "tagma/base/a.hpp"\n#include "tagma/base/b.hpp"\n',
                  "include/tagma/fwd.hpp": "#include <cstddef>\n", "include/tagma/base/a.hpp": "#include <vector>\n",
                  "include/tagma/base/b.hpp": '#include "tagma/base/c.hpp"\n', "include/tagma/base/c.hpp": ""}, None),
    ("forgotten", {"include/tagma/tagma.hpp": "", "include/tagma/base/a.hpp": ""}, "no umbrella reaches it"),
    ("unsorted", {"include/tagma/tagma.hpp": '#include "tagma/base/b.hpp"\n#include "tagma/base/a.hpp"\n',
                  "include/tagma/base/a.hpp": "", "include/tagma/base/b.hpp": ""}, "should stand before"),
    ("twice", {"include/tagma/tagma.hpp": '#include "tagma/base/a.hpp"\n\n#include "tagma/base/a.hpp"\n',
               "include/tagma/base/a.hpp": ""}, "included twice"),
    ("fwd that costs", {"include/tagma/fwd.hpp": "#include <string>\n"}, "promises to cost nothing"),
    ("a sentence behind a chain",
     {"include/tagma/tagma.hpp": '#include "tagma/base/b.hpp"\n\n#include "tagma/base/a.hpp"\n',
      "include/tagma/base/b.hpp": '#include "tagma/base/a.hpp"\n',
      "include/tagma/base/a.hpp": '  static_assert(ok, "TAGMA-E001 no");\n'}, "name it before"),
    ("the umbrella first", {"include/tagma/tagma.hpp": '#include "tagma/base/a.hpp"\n#include "tagma/base/b.hpp"\n',
                            "include/tagma/base/b.hpp": '#include "tagma/base/a.hpp"\n',
                            "include/tagma/base/a.hpp": '  static_assert(ok, "TAGMA-E001 no");\n'}, None),
    ("a comment raises nothing", {"include/tagma/tagma.hpp": '#include "tagma/base/b.hpp"\n',
                                  "include/tagma/base/b.hpp": '#include "tagma/base/a.hpp"\n',
                                  "include/tagma/base/a.hpp": "/// Raises TAGMA-E001.\n"}, None),
    ("heavy, one step away", {**HEAVY, "include/tagma/tagma.hpp": '#include "tagma/base/a.hpp"\n',
                              "include/tagma/base/a.hpp": "#include <iostream>\n"}, "too heavy"),
]

if __name__ == "__main__":
    tree.run(check, CASES, __doc__)
