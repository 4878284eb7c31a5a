#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Runs an example and compares its output with the .out file beside its source, line by line. In a .out file
    <*>            stands for any text,
    <0.84..0.95>   stands for a number in that range,
    ...            alone on a line stands for any number of lines.
What an example draws over itself with carriage returns does not count. An example whose data set is not on this machine
is skipped (exit status 77), and says so. emulator=COMMAND runs the programs of another processor."""

import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
WILDCARD = re.compile(r"<\*>|<(" + NUMBER + r")\.\.(" + NUMBER + r")>")
SKIPPED = 77


def line_matches(pattern, line):
    expression, ranges, at = "", [], 0
    for hole in WILDCARD.finditer(pattern):
        expression += re.escape(pattern[at:hole.start()])
        if hole.group(1) is None:
            expression += ".*"
        else:
            expression += f"({NUMBER})"
            ranges.append((float(hole.group(1)), float(hole.group(2))))
        at = hole.end()
    match = re.fullmatch(expression + re.escape(pattern[at:]), line)
    return match is not None and all(low <= float(text) <= high for (low, high), text in zip(ranges, match.groups()))


def matches(expected, actual):
    """Greedy matching of '...' by trying each place where the next part could begin."""
    if not expected:
        return not actual
    if expected[0] == "...":
        return any(matches(expected[1:], actual[i:]) for i in range(len(actual) + 1))
    return bool(actual) and line_matches(expected[0], actual[0]) and matches(expected[1:], actual[1:])


def visible(text):
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    return [line.rstrip("\r").rsplit("\r", 1)[-1].rstrip() for line in lines]


def main(program, source, values):
    expected_path = source.with_suffix(".out")
    if not expected_path.exists():
        print(f"{source.name} has no {expected_path.name} that says what it prints")
        return 1
    line = re.search(r"^// run: ?(.*)$", source.read_text(encoding="utf-8"), re.M)
    words = line.group(1).split() if line else []
    emulator = shlex.split(values.pop("emulator", ""))
    with tempfile.TemporaryDirectory() as folder:
        values = {**values, "out": folder}
        for name, value in values.items():
            if any("{" + name + "}" in word for word in words) and (not value or value.endswith("-NOTFOUND")):
                print(f"skipped: {name} is not on this machine")
                return SKIPPED
            words = [word.replace("{" + name + "}", value) for word in words]
        run = subprocess.run([*emulator, str(program), *words], capture_output=True, text=True, check=False, cwd=folder)
    expected = expected_path.read_text(encoding="utf-8").splitlines()
    if run.returncode == 0 and matches(expected, visible(run.stdout)):
        return 0
    print(f"exit status {run.returncode}\n--- expected\n{expected_path.read_text(encoding='utf-8')}--- printed\n{run.stdout}"
          f"--- and to stderr\n{run.stderr[-4000:]}")
    return 1


def self_test():
    cases = [
        (["a", "b"], "a\nb\n", True), (["a"], "a\nb\n", False), (["a", "b"], "a\n", False),
        (["<*>: 1"], "loss: 1\n", True), (["loss <0.5..0.6>"], "loss 0.55\n", True),
        (["loss <0.5..0.6>"], "loss 0.61\n", False), (["loss <0.5..0.6>"], "loss nan\n", False),
        (["a", "...", "z"], "a\nb\nc\nz\n", True), (["a", "...", "z"], "a\nb\nc\n", False),
        (["done"], "10%\r50%\rdone\n", True), (["a.b"], "axb\n", False),
    ]
    wrong = [case for case in cases if matches(case[0], visible(case[1])) != case[2]]
    for case in wrong:
        print(f"self-test judged wrongly: {case}")
    print(f"self-test: {len(cases)} outputs, {len(wrong)} judged wrongly")
    return 1 if wrong else 0


if __name__ == "__main__":
    if sys.argv[1:] == ["--self-test"]:
        sys.exit(self_test())
    if len(sys.argv) < 3:
        sys.exit("run_example.py program source [name=value...]")
    sys.exit(main(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), dict(v.split("=", 1) for v in sys.argv[3:])))
