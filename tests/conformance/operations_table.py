#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""The table of docs/operations.md: operation x device x element types x gradient.

The suite writes the facts of a run, and nothing else makes the table. Give a program of the suite for each math library:
  operations_table.py --write PROGRAM...   replaces the table
  operations_table.py --check PROGRAM...   compares it; a column whose device no program has is left alone
An operation that a device has, and of which the suite did not run all element types that the device has, and their
gradients, is an error. A file of facts may stand for the program that has written it, and a folder for one that was run in
parts.

Where programs ran that a process has built, every operation of the document is among those that ran, or in the list of
those that cannot be built, which the document has as well."""

import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile

DOCUMENT = pathlib.Path(__file__).resolve().parents[2] / "docs" / "operations.md"
BEGIN, END = "<!-- table -->\n", "<!-- /table -->\n"
NOT_BUILT, END_NOT_BUILT = "<!-- not built -->\n", "<!-- /not built -->\n"
ENTRY = re.compile(r"^(?:\| |- )`([a-z0-9_]+)`", re.M)  # as in structure/check_operations.py
FLOATS = ["float64", "float32", "float16", "bfloat16"]
INTEGERS = ["int64", "int32", "int16", "int8", "uint8"]
GROUPS = [("any", FLOATS + INTEGERS + ["bool", "string"]), ("numbers and bool", FLOATS + INTEGERS + ["bool"]),
          ("numbers", FLOATS + INTEGERS), ("floats", FLOATS), ("integers", INTEGERS)]
GRADIENTS = {"yes": "yes", "zero": "zero", "none": "-"}


class Fact:
    def __init__(self, line):
        (self.device, self.operation, self.kind, *fields) = line.split("\t")
        self.gradient = fields.pop(5)
        self.accepted, self.has, self.run, self.second, self.has_second, self.gradients = (
            [t for t in field.split(",") if t] for field in fields)


class Notes:
    """What programs that a process builds have run, and of what none can be built, by the names of operations."""

    def __init__(self, lines):
        self.ran, self.unbuildable = set(), {}
        for device, operation, kind, *why in (line.split("\t") for line in lines):
            if kind == "ran":
                self.ran.add(operation)
            else:
                self.unbuildable[operation] = why[0]

    def problems(self, document):
        if not self.ran:
            return []
        entries = set(ENTRY.findall(document))
        found = [f"no program that a process builds has {name}, and it is not among those that cannot be built"
                 for name in sorted(entries - self.ran - set(self.unbuildable))]
        found += [f"{name} cannot be built, and ran" for name in sorted(self.ran & set(self.unbuildable))]
        return found + [f"{name} cannot be built, and is no operation" for name in sorted(set(self.unbuildable) - entries)]

    def listed(self, document):
        """The document with the list of what cannot be built."""
        if not self.ran or NOT_BUILT not in document:
            return document
        reasons = {}
        for name, why in self.unbuildable.items():
            reasons.setdefault(why, []).append(f"`{name}`")
        body = "".join(f"* {', '.join(names)}: {why}.\n" for why, names in reasons.items())
        return document.split(NOT_BUILT)[0] + NOT_BUILT + body + END_NOT_BUILT + document.split(END_NOT_BUILT)[1]


def is_note(line):
    return line.split("\t")[2] in ("ran", "unbuildable")


def words(types):
    for name, group in GROUPS:
        if types == group:
            return name
    return ", ".join(types)


def joined(texts):
    """The facts of one program that was run in parts: what some part ran was run."""
    lines, at = [], {}
    for line in (line for text in texts for line in text.splitlines()):
        if is_note(line):
            lines.append(line)
            continue
        fields = line.split("\t")
        known = at.setdefault((fields[0], fields[1]), fields)
        if known is fields:
            lines.append(fields)
        for field in (5, 9):
            types = dict.fromkeys(known[field].split(",") + fields[field].split(","))
            known[field] = ",".join(t for t in types if t)
    return "".join((line if isinstance(line, str) else "\t".join(line)) + "\n" for line in lines)


def run(program):
    """The facts of a whole run of a program, which must pass; or those of a file, or of a folder of files of its parts."""
    if program.endswith(".tsv"):
        return pathlib.Path(program).read_text(encoding="utf-8")
    if pathlib.Path(program).is_dir():
        return joined([path.read_text(encoding="utf-8") for path in sorted(pathlib.Path(program).glob("*.tsv"))])
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "facts.tsv"
        done = subprocess.run([program], env={**os.environ, "TAGMA_OPERATIONS": str(path)}, capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"{program} failed:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
        return path.read_text(encoding="utf-8")


def problems(facts):
    """What a device has and the suite has not run, and what two programs say of one device."""
    found, first = [], {}
    for f in facts:
        who = f"{f.device}: {f.operation}"
        missing = [t for t in f.has if t not in f.run]
        if missing:
            found.append(f"{who} has {', '.join(missing)}, which no test ran")
        missing = [t for t in f.has if t in FLOATS and t not in f.gradients]
        if f.gradient == "yes" and missing:
            found.append(f"{who} has a gradient that no test of {', '.join(missing)} ran")
        if cell(first.setdefault(who, f)) != cell(f):
            found.append(f"{who}: two programs differ, {cell(first[who])} and {cell(f)}")
    return found


def cell(fact):
    if fact.kind == "none":
        return "-"
    what = fact.kind
    limits = [words(fact.has)] if fact.has != fact.accepted else []
    if fact.has_second != fact.second:
        limits.append(f"beside {words(fact.has_second) or 'none'}")
    return what + (": " + ", ".join(limits) if limits else "")


def parse(text):
    """The table of a document as (headings, rows), each row a list of cells."""
    body = text.split(BEGIN)[1].split(END)[0] if BEGIN in text and END in text else ""
    lines = [[c.strip() for c in line.strip().strip("|").split("|")] for line in body.splitlines() if line.strip()]
    return (lines[0], lines[2:]) if len(lines) > 2 else (["", "", "", ""], [])


def table(facts, known):
    """Headings and rows for the facts; columns of other devices are taken from the document."""
    old_headings, old_rows = known
    devices = list(dict.fromkeys(f.device for f in facts))
    columns = sorted(set(devices) | set(old_headings[4:]), key=lambda d: (not d.startswith("CPU"), d.startswith("built"), d != "CPU (oneDNN)", d))
    old = {r[0]: dict(zip(old_headings, r)) for r in old_rows}
    rows = []
    for operation in dict.fromkeys(f.operation for f in facts):
        of = {f.device: f for f in facts if f.operation == operation}
        first = next(iter(of.values()))
        name = f"`{operation}`"
        rows.append([name, words(first.accepted), words(first.second) or "", GRADIENTS[first.gradient]] +
                    [cell(of[d]) if d in of else old.get(name, {}).get(d, "") for d in columns])
    return ["operation", "elements", "beside", "gradient"] + columns, rows


def markdown(headings, rows):
    lines = ["| " + " | ".join(headings) + " |", "|" + " --- |" * len(headings)]
    return "\n".join(lines + ["| " + " | ".join(r) + " |" for r in rows]) + "\n"


def replaced(text, body):
    return text.split(BEGIN)[0] + BEGIN + body + END + text.split(END)[1]


FLOAT = "float64,float32,float16,bfloat16"
CASES = [
    ("complete", f"CPU (X)\tadd\tkernel\t{FLOAT}\t{FLOAT}\t{FLOAT}\t\t\tyes\t{FLOAT}", None,
     "| `add` | floats |  | yes | kernel |"),
    ("not run", "CPU (X)\tadd\tkernel\tfloat32,int8\tfloat32,int8\tfloat32\t\t\tnone\t", "has int8", "| kernel |"),
    ("not there", "CPU (X)\tadd\tkernel\tfloat32,int8\tfloat32\tfloat32\t\t\tnone\t", None, "kernel: float32 |"),
    ("no gradient run", "CPU (X)\tadd\tkernel\tfloat32,int8\tfloat32,int8\tfloat32,int8\t\t\tyes\t", "has a gradient",
     "| yes |"),
    ("no kernel", "CPU (X)\tadd\tnone\tfloat32\t\t\t\t\tzero\t", None, "| zero | - |"),
    ("view", "CPU (X)\tadd\tview\tbool\tbool\tbool\tint64\tint64\tnone\t", None, "| `add` | bool | int64 | - | view |"),
    ("second types", "CPU (X)\tadd\tkernel\tbool,int8\tbool\tbool\tint64,int32\tint32\tnone\t", None,
     "| kernel: bool, beside int32 |"),
    ("in programs", f"built\tadd\tprogram\t{FLOAT},bool\t{FLOAT}\t{FLOAT}\t\t\tnone\t", None, "| program: floats |"),
    ("two programs", "CPU (X)\tadd\tkernel\tbool,int8\tbool\tbool\t\t\tnone\t\n"
     "CPU (X)\tadd\tkernel\tbool,int8\tbool,int8\tbool,int8\t\t\tnone\t", "two programs differ", "| `add` |"),
]


NOTE_CASES = [
    ("all ran", ["b\tadd\tran", "b\tmean\tran", "b\tqueue\tunbuildable\tno name"], None),
    ("forgotten", ["b\tadd\tran", "b\tqueue\tunbuildable\tno name"], "has mean"),
    ("both", ["b\tadd\tran", "b\tmean\tran", "b\tadd\tunbuildable\tx", "b\tqueue\tran"], "and ran"),
    ("unknown", ["b\tadd\tran", "b\tmean\tran", "b\tqueue\tran", "b\tgone\tunbuildable\tx"], "is no operation"),
    ("no such programs", [], None),
]


def self_test():
    wrong = 0
    text = "| `add` | floats |\n- `mean`\n- `queue`: x\n" + NOT_BUILT + "* `gone`\n" + END_NOT_BUILT + "b\n"
    for name, lines, complaint in NOTE_CASES:
        notes = Notes(lines)
        found = notes.problems(text)
        if bool(found) != bool(complaint) or (complaint and complaint not in found[0]):
            wrong += 1
            print(f"self-test '{name}': {found}")
    if Notes(NOTE_CASES[0][1]).listed(text) != text.replace("* `gone`", "* `queue`: no name."):
        wrong += 1
        print("self-test 'list of what cannot be built'")
    for name, line, complaint, expected in CASES:
        facts = [Fact(one) for one in line.splitlines()]
        found, text = problems(facts), markdown(*table(facts, parse("")))
        if expected not in text or bool(found) != bool(complaint) or (complaint and complaint not in found[0]):
            wrong += 1
            print(f"self-test '{name}': {found}\n{text}")
    parts = [f"CPU (X)\tadd\tkernel\tfloat32,int8\tfloat32,int8\t{ran}\t\t\tyes\t{gradients}\n"
             for ran, gradients in (("int8", ""), ("", ""), ("float32", "float32"))]
    whole = joined([*parts, "b\tadd\tran\n"]).splitlines()
    if len(whole) != 2 or problems([Fact(whole[0])]) or not problems([Fact(joined(parts[:2])[:-1])]):
        wrong += 1
        print(f"self-test 'parts of one program': {whole}")
    document = "a\n" + BEGIN + markdown(*table([Fact(CASES[0][1])], parse(""))) + END + "b\n"
    other = Fact(CASES[0][1].replace("(X)", "(Y)"))
    kept = markdown(*table([other], parse(document)))
    if "| CPU (X) | CPU (Y) |" not in kept or "| kernel | kernel |" not in kept:
        wrong += 1
        print(f"self-test 'columns of other devices stay': {kept}")
    print(f"self-test: {len(CASES) + len(NOTE_CASES) + 3} tables, {wrong} judged wrongly")
    return 1 if wrong else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--self-test", action="store_true")
    parser.add_argument("programs", nargs="*")
    arguments = parser.parse_args()
    if arguments.self_test:
        return self_test()
    lines = [line for program in arguments.programs for line in run(program).splitlines()]
    facts, notes = [Fact(line) for line in lines if not is_note(line)], Notes([line for line in lines if is_note(line)])
    text = DOCUMENT.read_text(encoding="utf-8")
    complaints = problems(facts) + notes.problems(text)
    wanted = notes.listed(replaced(text, markdown(*table(facts, parse(text)))))
    if arguments.write:
        DOCUMENT.write_text(wanted, encoding="utf-8")
    elif arguments.check and wanted != text:
        differing = [f"- {a}\n+ {b}" for a, b in zip(text.splitlines(), wanted.splitlines()) if a != b]
        complaints.append("docs/operations.md is not what the suite found; write it with "
                          f"{pathlib.Path(__file__).name} --write\n" + "\n".join(differing[:10]))
    elif not arguments.check:
        print(markdown(*table(facts, parse(""))), end="")
    for complaint in complaints:
        print(complaint)
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
