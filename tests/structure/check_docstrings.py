#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Every name that programs use says what it is: functions, classes, variables and templates of these in the public namespaces, and
the member functions of classes that the reference shows. The pages of docs/reference are what the headers say, every function has an
example there, and what docs/translation.md names is there."""

import pathlib
import re
import sys

import tree

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
import docstrings  # noqa: E402
import reference  # noqa: E402

# What ranges have says enough by its name.
RANGES = {"begin", "end", "data", "size", "empty"}
NAME = re.compile(r"`tg::([a-z_]\w*(?:::\w+)*)")


def undocumented(names):
    for name in names:
        where = f"{name.header}:{name.line}"
        if not name.text:
            yield f"{where}: {name.kind} {name.name} has no '///' comment"
        if reference.page_of(name) is None:
            continue
        for member in name.members:
            if member.access == "public" and member.kind == "function" and member.name != name.name and not member.text \
                    and member.name not in RANGES and not reference.is_special(member):
                yield f"{name.header}:{member.line}: {name.name}::{member.name} has no '///' comment"


def unsaid(root, names):
    """What the compiler refuses in a function that the reference shows, and its comment does not say; parameters that it says and
    that are not there."""
    signatures, lines = {}, {}
    for name in names:
        signatures.setdefault((name.header, name.name), []).append(name.signature)
    first = {(n.header, n.line) for n in names}
    for name in names:
        if name.kind not in ("function", "variable") or reference.page_of(name) is None:
            continue
        said = reference.Sections(name.doc)
        for parameter in re.findall(r"\w+", " ".join(p[0] for p in said.parameters + said.templates)):
            if not re.search(rf"\b{parameter}\b", " ".join(signatures[name.header, name.name])):
                yield f"{name.header}:{name.line}: the comment of {name.name} has a parameter {parameter}, and the function has none"
        if name.header not in lines:
            lines[name.header] = tree.read(root, name.header).splitlines()
        body = []
        for number in range(name.line, len(lines[name.header]) + 1):
            line = lines[name.header][number - 1]
            if number > name.line and ((name.header, number) in first or line.startswith(("}", "#", "namespace"))):
                break
            body.append(line)
        documented = name.doc + " " + name.group
        numbers = set(re.findall(r"E\d{3}", documented))
        for low, high in re.findall(r"E(\d{3}) to (?:TAGMA-)?E(\d{3})", documented):
            numbers |= {f"E{n:03}" for n in range(int(low), int(high))}
        for number in sorted(set(re.findall(r'"TAGMA-(E\d{3})', "\n".join(body))) - numbers):
            yield f"{name.header}:{name.line}: {name.name} raises TAGMA-{number}, and its comment does not say so"


def unplaced(names):
    """Headers of public names that are in no page of the reference, and in no list of the library's own."""
    for header in sorted({n.header for n in names}):
        if not any(reference.page_of(n) for n in names if n.header == header) and \
                not any(reference.fnmatch.fnmatchcase(header.removeprefix("tagma/"), p) for p in reference.INTERNAL):
            yield f"{header}: is in no page of tools/reference.py"


def unknown(root, names):
    """Names in docs/translation.md that no header has: functions, classes, members of these and of namespaces."""
    path = root / "docs/translation.md"
    if not path.exists():
        return
    known = {docstrings.PUBLIC[n.scope].removeprefix("tg").removeprefix("::") + ("::" if docstrings.PUBLIC[n.scope] != "tg" else "") + n.name
             for n in names}
    known |= {f"{n.name}::{m.name}" for n in names for m in n.members if m.access == "public"}
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        for used in NAME.findall(line):
            if used not in known:
                yield f"docs/translation.md:{number}: no header has tg::{used}"


def check(root):
    names = docstrings.read(root)
    pages = reference.check(root, names) if (root / "docs/reference").exists() else []
    examples = reference.wrong_examples(root, names) if (root / "tests/reference").exists() else []
    return [*undocumented(names), *unsaid(root, names), *unplaced(names), *unknown(root, names), *pages, *examples]


def header(text):
    return {"include/tagma/nn/layers.hpp": "#pragma once\n#include <x>\nnamespace tagma {\n" + text + "\n}  // namespace tagma\n"}


CASES = [
    ("good", header("/// Twice.\ntemplate <class T>\n[[nodiscard]] constexpr T twice(T x) { return x; }"), None),
    ("function", header("inline int twice(int x) { return x; }"), "function twice"),
    ("function behind another", header("/// One.\nint one();\nint two();"), "function two"),
    ("overload behind another", header("/// One.\nint one();\nint one(int x);"), None),
    ("template", header("template <class T, class U = T>\n  requires(sizeof(T) > 1)\nauto twice(T x) -> U;"), "function twice"),
    ("lambda", header("inline constexpr auto f = []<class E>(const E& e) { return e; };"), "variable f"),
    ("variable template", header("template <class T = int>\ninline constexpr bool is_it = (sizeof(T) > 1);"), "variable is_it"),
    ("class", header("class thing {\n public:\n  int x = 1;\n};"), "class thing"),
    ("enumeration", header("enum class kind : int { a, b };"), "enum kind"),
    ("alias", header("template <class T>\nusing number = T;"), "alias number"),
    ("concept", header("template <class T>\nconcept small = sizeof(T) < 4;"), "concept small"),
    ("operator", header("inline bool operator<(thing a, thing b) { return false; }"), "function operator<"),
    ("member", header("/// A thing.\nclass thing {\n public:\n  int twice() const { return 2; }\n};"), "thing::twice"),
    ("members of ranges, constructors, private ones", header(
        "/// A thing.\nclass thing {\n  int f();\n public:\n  thing() : x{1} {}\n  thing(const thing&) = delete;\n  ~thing();\n"
        "  int* begin();\n  /// Twice.\n  int twice();\n private:\n  int g();\n  int x;\n};"), None),
    ("comment of something else", header("/// About what follows.\n\nint one();"), "function one"),
    ("group", header("/// Numbers.\n/// @{\n\nint one();\n\nint two();\n/// @}"), None),
    ("behind a group", header("/// Numbers.\n/// @{\nint one();\n/// @}\nint two();"), "function two"),
    ("behind the line", header("/// Kinds.\nenum class kind { a, b };\ninline int one = 1;  ///< the first"), None),
    ("declared, then defined", header("/// One.\nint one(int x, int y);\n/// Two.\nint two();\ninline int one(int x, int y) { return x; }"), None),
    ("what is not public", header("namespace detail {\nint one();\n}\nnamespace op {\nint two();\n}\nstruct later;\nusing std::swap;"), None),
    ("specialisations", header("template <>\nstruct std::hash<int> {};\ntemplate <>\ninline constexpr bool is_it<int> = true;\nview(int) -> view<int>;\n"
                               "int thing::twice() { return 2; }"), None),
    ("attributes and macros", header("/// One.\nTAGMA_FORMULAS_BEGIN\n[[nodiscard]] TAGMA_DEVICE int one();\nTAGMA_X(a, b)\n"), "function one"),
    ("an error that is not said", header('/// One.\nint one() {\n  static_assert(false, "TAGMA-E012 one: no");\n}'), "raises TAGMA-E012"),
    ("errors that are said", header('/// One. Raises TAGMA-E010 to E012.\nint one() {\n  static_assert(false, "TAGMA-E012 one: no");\n}'), None),
    ("errors of what follows", header('/// One.\nint one();\n/// Two. Raises TAGMA-E012.\nint two() {\n  static_assert(false, "TAGMA-E012 x");\n}'), None),
    ("a parameter that is not there", header("/// One.\n/// @param x a number\nint one(int y);"), "has a parameter x"),
    ("in no page", {"include/tagma/new/x.hpp": "namespace tagma {\n/// One.\nint one();\n}\n"}, "no page of tools/reference.py"),
    ("translation", {**header("/// One.\nint one();"), "docs/translation.md": "| `tf.one` | `tg::one(x)` |\n"}, None),
    ("translation of nothing", {**header("/// One.\nint one();"), "docs/translation.md": "| `tf.two` | `tg::two` |\n"}, "no header has tg::two"),
    ("a function without example", {**header("/// One.\nint one();"), "tests/reference/layers.cpp": "// none\n"}, "one has no example"),
    ("a function with one", {**header("/// One.\nint one();"), "tests/reference/layers.cpp": "  // example: one\n  int x = one();\n  // end\n"}, None),
    ("old pages", {**header("/// One.\nint one();"), "docs/reference/layers.md": "old\n"}, "differs from what the headers say"),
]

if __name__ == "__main__":
    tree.run(check, CASES, __doc__)
