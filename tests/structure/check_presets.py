#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Names of tests in CMakePresets.json and .ci/run are those of the tree: a folder or source that is none would be left out
without a word. Build presets have the programs of their folders, and examples that exist."""

import argparse
import json
import pathlib
import re
import sys
import tempfile

import tree


def folders_of_script(text):
    """What the variables *_folders of a script list, and the loops that add to them."""
    for name, listed in re.findall(r"^(\w+_folders)\+?='([^']*)'", text, re.M):
        yield from ((name, entry) for entry in listed.split(";") if entry)
    for entries, name, pattern in re.findall(r'^for test in ([^;]*); do\s+(\w+_folders)\+=";([^"]*)"', text, re.M):
        yield from ((name, pattern.replace("$test", entry)) for entry in entries.split())


def exists(root, entry):
    return (root / "tests" / entry).is_dir() or (root / "tests" / f"{entry}.cpp").is_file()


def programs_of(entry):
    """Programs of a folder or a source: tests of the made device have one of their own beside the other tests of devices."""
    if entry == "device":
        return ["tests_device", "tests_device_fake"]
    return ["tests_device_fake" if entry.startswith("device/fake") else f"tests_{entry.split('/')[0]}"]


def check(root):
    root = pathlib.Path(root)
    presets = json.loads((root / "CMakePresets.json").read_text(encoding="utf-8"))
    complaints, folders = [], {}
    for preset in presets["configurePresets"]:
        listed = preset.get("cacheVariables", {}).get("TAGMA_TEST_FOLDERS", "")
        folders[preset["name"]] = [entry for entry in listed.split(";") if entry]
        complaints += [f"preset {preset['name']}: there are no tests of {entry}" for entry in folders[preset["name"]] if not exists(root, entry)]
    for preset in presets.get("buildPresets", []):
        listed = folders.get(preset["configurePreset"], [])
        programs = {name for entry in listed if not entry.startswith("reject/") for name in programs_of(entry)}
        targets = preset.get("targets", [])
        for target in targets:
            if target.startswith("example_"):
                if not (root / "examples" / f"{target.removeprefix('example_')}.cpp").is_file():
                    complaints.append(f"build preset {preset['name']}: there is no {target}")
            elif target not in programs:
                complaints.append(f"build preset {preset['name']}: {target} has no folder in TAGMA_TEST_FOLDERS")
        if targets:
            complaints += [f"build preset {preset['name']}: {name} is not built" for name in sorted(programs - set(targets))]
    script = root / ".ci/run"
    if script.is_file():
        complaints += [f".ci/run: {name} has {entry}, of which there are no tests"
                       for name, entry in folders_of_script(script.read_text(encoding="utf-8")) if not exists(root, entry)]
    return complaints


def presets(folders, targets):
    return json.dumps({"configurePresets": [{"name": "a", "cacheVariables": {"TAGMA_TEST_FOLDERS": folders}}],
                       "buildPresets": [{"name": "a", "configurePreset": "a", "targets": targets}]})


TREE = {"tests/nn/losses.cpp": "", "tests/device/cpu/pool.cpp": "", "tests/device/fake/queues.cpp": "", "tests/data/batch.cpp": "", "tests/reject/e012_matmul.cpp": "", "examples/xor.cpp": ""}
CASES = [
    ("good", presets("nn/losses;data;reject/e012_matmul", ["tests_nn", "tests_data", "example_xor"]), "asan_folders='nn;data/batch'\n", None),
    ("no folder", presets("nn/lasses", ["tests_nn"]), "", "no tests of nn/lasses"),
    ("not built", presets("nn;data", ["tests_nn"]), "", "tests_data is not built"),
    ("both programs of devices", presets("device", ["tests_device", "tests_device_fake"]), "", None),
    ("one program of devices", presets("device", ["tests_device"]), "", "tests_device_fake is not built"),
    ("the made device alone", presets("device/fake/queues", ["tests_device_fake"]), "", None),
    ("other devices alone", presets("device/cpu", ["tests_device"]), "", None),
    ("built for nothing", presets("nn", ["tests_nn", "tests_data"]), "", "tests_data has no folder"),
    ("no example", presets("nn", ["tests_nn", "example_xer"]), "", "no example_xer"),
    ("no folder of the script", presets("nn", []), "asan_folders='nn;dat'\n", "has dat"),
    ("no test of a loop", presets("nn", []), 'for test in batch botch; do\n  a_folders+=";data/$test"\ndone\n', "has data/botch"),
]


def self_test():
    wrong = 0
    for name, text, script, expected in CASES:
        with tempfile.TemporaryDirectory() as root:
            tree.write_tree(root, {**TREE, "CMakePresets.json": text, ".ci/run": script})
            complaints = check(root)
        if bool(complaints) == (expected is None) or (expected and not any(expected in c for c in complaints)):
            wrong += 1
            print(f"self-test '{name}': expected {expected!r}, got {complaints}")
    print(f"self-test: {len(CASES)} trees, {wrong} judged wrongly")
    return 1 if wrong else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("root", nargs="?", default=str(pathlib.Path(__file__).resolve().parents[2]))
    parser.add_argument("--self-test", action="store_true")
    arguments = parser.parse_args()
    if arguments.self_test:
        return self_test()
    complaints = check(arguments.root)
    for complaint in complaints:
        print(complaint)
    print(f"{len(complaints)} complaints")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
