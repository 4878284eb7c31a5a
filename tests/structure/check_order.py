#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""No call has two arguments that make nodes. A compiler chooses which it evaluates first, and may choose otherwise for a
program that is compiled late than for a constant expression: the same graph would have its nodes in two orders."""

import re

import tree

CALL = re.compile(r"\b[a-z_]\w*\s*(?:<[^();]*>)?\(")
MAKES = re.compile(r"\bemit\w*\s*(?:<[^();]*>)?\(|\b(?:constant|convert|node_of|spread|waiting)\(|\b\w+::of\(")


def arguments(text, start):
    """The texts of the arguments of a call whose parenthesis ends at `start`."""
    depth, begin, found = 1, start, []
    for i in range(start, len(text)):
        if text[i] in "([{":
            depth += 1
        elif text[i] in ")]}":
            depth -= 1
            if depth == 0:
                return [*found, text[begin:i]]
        elif text[i] == "," and depth == 1:
            found.append(text[begin:i])
            begin = i + 1
    return found


def check(root):
    complaints = []
    for header in tree.headers(root):
        text = tree.code(tree.read(root, header))
        for call in CALL.finditer(text):
            made = [a for a in arguments(text, call.end()) if ";" not in a and MAKES.search(a)]
            if len(made) > 1:
                line = text.count("\n", 0, call.start()) + 1
                complaints.append(f"{header}:{line}: two arguments of {call.group()[:-1]} make nodes: name one before")
    return complaints


A = "include/tagma/expr/op/a.hpp"
CASES = [
    ("one inside another", {A: "r = g.emit(add{}, x, g.emit(square{}, g.emit(exp{}, y)));\n"}, None),
    ("two", {A: "r = g.emit(add{}, g.emit(exp{}, x), g.emit(square{}, y));\n"}, "a.hpp:1: two arguments of emit make"),
    ("a constant is a node", {A: "\nr = g.emit(add{}, g.constant(1), g.emit_with(cast{}, a, y));\n"}, "a.hpp:2: two"),
    ("of another function", {A: "r = select_of(g, e.emit(exp{}, x), e.emit_with<a>(exp{}, x));\n"}, "select_of make"),
    ("braces have an order", {A: "const node_id two[] = {g.emit(a{}, x), g.emit(b{}, x)};\n"}, None),
    ("what is run later", {A: "carry(g, g.emit(a{}, x), [&](int i) { return g.emit(b{}, i); });\n"}, None),
]

if __name__ == "__main__":
    tree.run(check, CASES, __doc__)
