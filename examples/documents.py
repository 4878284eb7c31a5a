#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Keeps the code in the documents true.
    documents.py check            the code of README.md stands in examples/first_network.cpp, word for word; README.md does not
                                  show the lines that leave something out of programs that are compiled late
    documents.py program          prints one program of all blocks of docs/guide.md, in their order
    documents.py --self-test"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
BLOCK = re.compile(r"^```cpp\n(.*?)^```$", re.S | re.M)
EARLY = re.compile(r"^#if !defined\(TAGMA_LATE\)[^\n]*\n(.*?)^#endif\n", re.S | re.M)


def blocks(text):
    return BLOCK.findall(text)


def check(readme, example):
    code, example = blocks(readme), EARLY.sub(r"\1", example)
    if not code:
        return ["README.md has no block of C++"]
    return [f"README.md has code that is not in examples/first_network.cpp:\n{c}" for c in code if c not in example]


def program(guide):
    """Includes first, then templates, then everything else in one function, in which names may stay unused."""
    includes = ["#include <tagma/tagma.hpp>\n", "#include <chrono>\n#include <cstdio>\n"]
    templates, body = [], []
    for block in blocks(guide):
        kind = includes if block.startswith("#include") else templates if block.startswith("template") else body
        kind.append(block)
    before = "namespace tg = tagma;\nusing namespace std::chrono_literals;\nconstexpr auto use = [](const auto&...) {};\n"
    return "".join(includes) + before + "".join(templates) + "int main() {\n" + "".join(body) + "}\n"


def self_test():
    guide = "```cpp\nint a;\n```\ntext\n```cpp\n#include <x>\n```\n```cpp\ntemplate <int> f();\n```\n```sh\nmake\n```\n"
    text = program(guide)
    wrong = [
        check("```cpp\nint a;\n```\n", "x\nint a;\n") != [],
        check("```cpp\nint a;\nint b;\n```\n", "#if !defined(TAGMA_LATE)  // why\nint a;\n#endif\nint b;\n") != [],
        len(check("```cpp\nint b;\n```\n", "x\nint a;\n")) != 1,
        len(check("nothing", "")) != 1,
        not text.index("#include <x>") < text.index("template") < text.index("int main") < text.index("int a;"),
        "make" in text,
    ]
    print(f"self-test: {len(wrong)} documents, {sum(wrong)} judged wrongly")
    return 1 if any(wrong) else 0


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    if sys.argv[1:] == ["program"]:
        print(program((ROOT / "docs/guide.md").read_text(encoding="utf-8")), end="")
        return 0
    if sys.argv[1:] != ["check"]:
        sys.exit(__doc__)
    complaints = check((ROOT / "README.md").read_text(encoding="utf-8"),
                       (ROOT / "examples/first_network.cpp").read_text(encoding="utf-8"))
    print("\n".join(complaints) or "README.md shows examples/first_network.cpp")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
