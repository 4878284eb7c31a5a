#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Compiles one program that must be refused. Its first lines say what the compiler has to answer:

    // expect: TAGMA-E012
    // mentions: 784 x 300

With -DREJECT the program must fail, and the number and each mentioned text must occur in the first five lines of the
answer; every line counts, and the name of the program's file mentions nothing. A text that clang before 18 would print as a
list of numbers may stand there character by character: 'a', 'd', 'd'. A line '// never: TAGMA-E172' names what must not follow
behind it either, in no line. Without -DREJECT, the same program is its own accepted
twin and must compile.

--precompile makes a precompiled tagma/tagma.hpp, which --precompiled uses for the programs that include it: the lines of the
compiler's answer are the same, but for the name of the file that included it, and the order of headers does not matter."""

import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile

FIRST_LINES = 5


def precompiled_header(compiler, folder):
    """Of this compiler, in this folder: the file, and the flags that use it."""
    header = pathlib.Path(folder) / f"{pathlib.Path(compiler).name}.hpp"
    if "clang" in header.name:
        return header, pathlib.Path(f"{header}.pch"), ["-include-pch", f"{header}.pch"]
    return header, pathlib.Path(f"{header}.gch"), ["-include", str(header)]


def precompile(compiler, flags, folder):
    version = subprocess.run([compiler, "--version"], capture_output=True, text=True, check=True).stdout
    if re.search(r"clang version 1[0-4]\.", version):
        return 0  # clang 14 ends in a crash where a precompiled header has the default argument of a template in a lambda
    header, result, _ = precompiled_header(compiler, folder)
    header.parent.mkdir(parents=True, exist_ok=True)
    header.write_text('#include "tagma/tagma.hpp"\n', encoding="utf-8")
    return subprocess.run([compiler, "-std=c++20", *flags, "-x", "c++-header", str(header), "-o", str(result)], check=False).returncode


def may_use_precompiled(text):
    """Whether this program includes tagma.hpp, in all cases and with no macro defined before."""
    first = re.search(r'^#(include "tagma/tagma.hpp"|define|if)', text, re.M)
    return first is not None and first[1].startswith("include")


def compile_program(compiler, flags, source, reject):
    command = [compiler, "-std=c++20", "-fsyntax-only", *flags, *(["-DREJECT"] if reject else []), str(source)]
    run = subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ, "LC_ALL": "C"})
    return run.returncode, run.stderr + run.stdout


def spelled(text):
    return ", ".join(f"'{character}'" for character in text)


def judge(compiler, flags, source, twin=True):
    """The reason why this program does not do its duty, or None."""
    text = source.read_text(encoding="utf-8")
    expected = re.findall(r"^// expect: (TAGMA-E\d{3})\s*$", text, re.M)
    if len(expected) != 1:
        return "needs exactly one line '// expect: TAGMA-Ennn'"
    status, output = compile_program(compiler, flags, source, reject=False) if twin else (0, "")
    if status != 0:
        return f"the accepted twin does not compile:\n{output[:3000]}"
    status, output = compile_program(compiler, flags, source, reject=True)
    if status == 0:
        return "compiles with -DREJECT, and must not"
    if status < 0 or "internal compiler error" in output or "PLEASE submit a bug report" in output:
        return f"the compiler crashed:\n{output[:3000]}"
    head = "\n".join(output.splitlines()[:FIRST_LINES]).replace(str(source), "PROGRAM")
    for wanted in expected + [m.strip() for m in re.findall(r"^// mentions: (.+)$", text, re.M)]:
        if wanted not in head and spelled(wanted) not in head:
            where = "only later" if wanted in output or spelled(wanted) in output else "nowhere"
            return f"'{wanted}' is not in the first {FIRST_LINES} lines ({where}):\n{output[:3000]}"
    for unwanted in re.findall(r"^// never: (.+)$", text, re.M):
        if unwanted.strip() in output:
            return f"'{unwanted.strip()}' is in the answer, and must not:\n{output[:3000]}"
    return None


PROGRAM = """// expect: TAGMA-E001
// mentions: 2 x 3
#ifdef REJECT
{rejected}
#endif
{always}
int main() {{}}
"""
REFUSED = 'static_assert(1 > 2, "TAGMA-E001 add: 2 x 3 does not fit");'
CASES = [
    ("good", PROGRAM.format(rejected=REFUSED, always=""), None),
    ("refused inside a template", PROGRAM.format(
        rejected="template <int N> void f() { static_assert(N > 2, \"TAGMA-E001 add: 2 x 3 does not fit\"); }\n"
                 "void g() { f<1>(); }", always=""), None),
    ("fails for another reason", PROGRAM.format(rejected="int x = nothing;", always=""), "nowhere"),
    ("another number", PROGRAM.format(rejected=REFUSED.replace("001", "002"), always=""), "nowhere"),
    ("does not say what", PROGRAM.format(rejected=REFUSED.replace("2 x 3", "it"), always=""), "nowhere"),
    ("in a header of a header", PROGRAM.format(rejected="".join(f'# 1 "{name}.hpp" 1\n' for name in "ab") + REFUSED, always=""), None),
    ("deep in headers", PROGRAM.format(rejected="".join(f'# 1 "{name}.hpp" 1\n' for name in "abcdef") + REFUSED, always=""),
     "only later"),
    ("spells it", PROGRAM.format(rejected=REFUSED.replace("2 x 3", "'2', ' ', 'x', ' ', '3'"), always=""), None),
    ("says it too late", PROGRAM.format(rejected="int x = nothing;\n" * 5 + REFUSED, always=""), "only later"),
    ("is accepted", PROGRAM.format(rejected="", always=""), "must not"),
    ("the twin fails", PROGRAM.format(rejected="", always=REFUSED), "twin does not compile"),
    ("says what it never should", "// never: TAGMA-E002\n" + PROGRAM.format(
        rejected=REFUSED + REFUSED.replace("001", "002"), always=""), "must not"),
    ("never says another", "// never: TAGMA-E002\n" + PROGRAM.format(rejected=REFUSED, always=""), None),
    ("expects nothing", "int main() {}\n", "exactly one line"),
]


def self_test(compiler):
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        for name, text, expected in CASES:
            source = pathlib.Path(folder) / "program.cpp"
            source.write_text(text, encoding="utf-8")
            reason = judge(compiler, [], source)
            if (reason is None) != (expected is None) or (expected and expected not in reason):
                wrong += 1
                print(f"self-test '{name}': expected {expected!r}, got {reason!r}")
    print(f"self-test: {len(CASES)} programs, {wrong} judged wrongly")
    return 1 if wrong else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", nargs="*", type=pathlib.Path)
    parser.add_argument("--compiler", default="g++")
    parser.add_argument("--flag", action="append", default=[])
    parser.add_argument("--no-twin", action="store_true", help="leave out the accepted twins")
    parser.add_argument("--precompile", metavar="FOLDER", help="only make the precompiled header, in this folder")
    parser.add_argument("--precompiled", metavar="FOLDER", help="use what --precompile has made there")
    parser.add_argument("--self-test", action="store_true")
    arguments = parser.parse_args()
    if arguments.self_test:
        return self_test(arguments.compiler)
    if arguments.precompile:
        return precompile(arguments.compiler, arguments.flag, arguments.precompile)
    failures = 0
    for program in arguments.programs:
        flags = arguments.flag
        if arguments.precompiled and may_use_precompiled(program.read_text(encoding="utf-8")):
            _, result, using = precompiled_header(arguments.compiler, arguments.precompiled)
            flags = flags + using if result.exists() else flags
        reason = judge(arguments.compiler, flags, program, not arguments.no_twin)
        if reason:
            failures += 1
            print(f"{program.name}: {reason}")
    print(f"{arguments.compiler}: {len(arguments.programs)} programs to refuse, {failures} do not do their duty")
    return 1 if failures or not arguments.programs else 0


if __name__ == "__main__":
    sys.exit(main())
