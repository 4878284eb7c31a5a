#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Every source file says its licence first: in its first line, after #! or what a rejected program is expected to say."""

import tree

COMMENT = {".hpp": "//", ".cuh": "//", ".cpp": "//", ".cu": "//", ".py": "#", ".cmake": "#", ".txt": "#", ".sh": "#"}
BEFORE = ("#!", "// expect:", "// mentions:")
FOLDERS = ("include", "tests", "tools", "bench", "examples", "single_include", ".ci", ".cmake")


def sources(root):
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*")):
            if path.suffix == ".txt" and path.name != "CMakeLists.txt":
                continue
            if path.suffix in COMMENT or (path.is_file() and folder == ".ci" and path.suffix == ""):
                yield path
    yield from (p for p in [root / "CMakeLists.txt"] if p.exists())


def check(root):
    complaints = []
    for path in sources(root):
        lines = path.read_text(encoding="utf-8").splitlines()
        first = next((line for line in lines if not line.startswith(BEFORE)), "")
        if first != f"{COMMENT.get(path.suffix, '#')} SPDX-License-Identifier: BSL-1.0":
            complaints.append(f"{path.relative_to(root)}: does not begin with its SPDX-License-Identifier")
    return complaints


LINE = "SPDX-License-Identifier: BSL-1.0\n"
CASES = [
    ("good", {"include/tagma/a.hpp": "// " + LINE, "tests/b.py": "#!/usr/bin/env python3\n# " + LINE,
              "CMakeLists.txt": "# " + LINE, "tests/reject/e1.cpp": "// expect: TAGMA-E001\n// " + LINE}, None),
    ("missing", {"tests/a.cpp": "#include <vector>\n"}, "does not begin"),
    ("not first", {"tests/a.cpp": "\n// " + LINE}, "does not begin"),
    ("another", {"bench/a.cpp": "// SPDX-License-Identifier: MIT\n"}, "does not begin"),
]

if __name__ == "__main__":
    tree.run(check, CASES, __doc__)
