#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Layers, losses, metrics and optimizers beside PyTorch's: the same weights and inputs, results and gradients compared.

    python3 -m venv peers && peers/bin/pip install torch safetensors
    cmake --preset full && cmake --build build/full --target bench_equal bench_equal_float64
    peers/bin/python bench/equal/equal.py --program build/full/bench/equal/bench_equal

PyTorch makes the inputs and writes a safetensors file for each case of equal.cpp; the program restores its variables
from that, runs, and saves them. A difference is the largest between two elements, divided by the largest element that
PyTorch has in that tensor. `forward` is what a layer returns or the losses of a training; `backward` the gradients by
inputs and weights, or what training leaves in weights, averages and slots. Ends with 1 if a difference is at the limit,
1e-5 in float32 and 1e-12 in float64, or above. `--self-test` checks the comparison itself, without PyTorch."""

import argparse
import math
import pathlib
import re
import subprocess
import sys
import tempfile

from cases import CASES, torch

HERE = pathlib.Path(__file__).resolve().parent
LIMITS = {"float32": 1e-5, "float64": 1e-12}


# The comparison.

def difference(got, expected, scale=None):
    """The largest difference of two lists, divided by `scale`, by default the largest element that is expected, or by 1
    if all are 0. Infinite for other lengths, and where one alone is not a number or infinite."""
    if len(got) != len(expected):
        return math.inf
    largest = max((abs(e) for e in expected if math.isfinite(e)), default=0) if scale is None else scale
    worst = 0.0
    for g, e in zip(got, expected):
        if g == e or (math.isnan(g) and math.isnan(e)):
            continue
        if not (math.isfinite(g) and math.isfinite(e)):
            return math.inf
        worst = max(worst, abs(g - e))
    return worst / (largest or 1)


def largest_difference(got, expected, rounding=()):
    """Of tensors by name, each (shape, elements): the largest difference and where it is; None if nothing is expected.
    A tensor that is missing or has another shape differs infinitely."""
    scale = max((abs(e) for _, elements in expected.values() for e in elements), default=0)
    worst, where = None, ""
    for name, (shape, elements) in expected.items():
        have = got.get(name)
        apart = math.inf
        if have is not None and tuple(have[0]) == tuple(shape):
            apart = difference(have[1], elements, scale if name in rounding else None)
        if worst is None or apart > worst:
            worst, where = apart, name
    return worst, where


def verdict(found):
    """"yes" or "NO". @param found type: (forward, backward), None where there is nothing to compare"""
    fine = all(worst is None or worst < LIMITS[kind] for kind, pair in found.items() for worst in pair)
    return "yes" if fine else "NO"


def row(name, peer, found):
    """A line of the table. @param found type: (forward, backward), of types that were run"""
    show = lambda worst: "" if worst is None else "0" if worst == 0 else f"{worst:.1e}"
    cells = [show(w) for kind in LIMITS for w in found.get(kind, (None, None))]
    return f"| `{name}` | {peer} | {' | '.join(cells)} | {verdict(found)} |"


def names_in_program():
    """The cases of equal.cpp, by its text."""
    text = (HERE / "equal.cpp").read_text(encoding="utf-8")
    return re.findall(r'\b(?:layer|train|metric)\(\s*"(\w+)"', text) + re.findall(r'cases\["(\w+)"\] =', text)


def programs():
    return sorted({name.partition("@")[0] for name in CASES})


def run(program, kind, names, seed):
    from safetensors.torch import load_file, save_file  # the self-test does without

    torch.set_default_dtype(getattr(torch, kind))
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        folder, made = pathlib.Path(folder), {}
        for name in names:
            made[name] = CASES[name].inputs(1000 * seed + sum(map(ord, name)))
            save_file({k: v.contiguous() for k, v in made[name].items()}, folder / f"{name}.safetensors")
        subprocess.run([str(program), str(folder), *names], check=True)
        flat = lambda tensors: {k: (tuple(t.shape), t.double().flatten().tolist()) for k, t in tensors.items()}
        for name in names:
            out, saved = (load_file(folder / f"{name}.{end}.safetensors") for end in ("out", "saved"))
            forward, backward = CASES[name].expected(made[name], out)
            pairs = (largest_difference(flat(out), flat(forward)),
                     largest_difference(flat(saved), flat(backward), CASES[name].rounding))
            for worst, where in pairs:
                if worst is not None and not worst < LIMITS[kind]:
                    print(f"{name}, {kind}: {where} differs by {worst:.2e}", file=sys.stderr)
            found[name] = tuple(worst for worst, _ in pairs)
    return found


def self_test():
    inf, nan = math.inf, math.nan
    whole = {"a": ((2,), [1.0, -4.0]), "b": ((2,), [1e-9, 0.0])}
    near = {"a": ((2,), [1.0, -4.0 - 4e-6]), "b": ((2,), [2e-9, 0.0])}
    checks = [
        ("equal", difference([1.0, 2.0], [1.0, 2.0]), 0),
        ("relative to the largest", difference([1.0, 4.5], [1.0, 4.0]), 0.125),
        ("zeros", difference([0.25], [0.0]), 0.25),
        ("other length", difference([1.0], [1.0, 1.0]), inf),
        ("not a number", difference([nan], [1.0]), inf),
        ("not a number is expected", difference([1.0], [nan]), inf),
        ("both not a number", difference([nan, 1.0], [nan, 1.0]), 0),
        ("infinite", difference([inf], [1.0]), inf),
        ("both infinite", difference([inf, 1.5], [inf, 1.0]), 0.5),
        ("opposite infinities", difference([inf], [-inf]), inf),
        ("empty", difference([], []), 0),
        ("the worst tensor counts", largest_difference(near, whole), (1.0, "b")),
        ("rounding", round(largest_difference(near, whole, ["b"])[0], 12), 1e-6),
        ("a tensor is missing", largest_difference({"a": whole["a"]}, whole), (inf, "b")),
        ("other shape", largest_difference({"a": ((1, 2), [1.0, -4.0])}, {"a": whole["a"]}), (inf, "a")),
        ("nothing is expected", largest_difference({}, {}), (None, "")),
        ("fine row", row("n", "p", {"float32": (9e-6, None)}), "| `n` | p | 9.0e-06 |  |  |  | yes |"),
        ("at the limit", verdict({"float32": (0, 1e-5)}), "NO"),
        ("float64 has a limit of its own", verdict({"float32": (0, 0), "float64": (0, 1e-11)}), "NO"),
        ("not a number", verdict({"float32": (nan, 0)}), "NO"),
        ("cases of equal.cpp and of cases.py", sorted(set(names_in_program()) ^ set(programs())), []),
    ]
    page = (HERE.parent.parent / "docs" / "equal_to_pytorch.md").read_text(encoding="utf-8")
    shown = re.findall(r"^\| `([\w@]+)` \|.*\| yes \|$", page, re.M)
    checks.append(("cases of docs/equal_to_pytorch.md and of cases.py", sorted(set(shown) ^ set(CASES)), []))
    wrong = 0
    for name, got, expected in checks:
        if got != expected:
            print(f"self-test '{name}': expected {expected!r}, got {got!r}")
            wrong += 1
    print(f"self-test: {len(checks)} comparisons, {wrong} judged wrongly")
    return 1 if wrong else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", type=pathlib.Path, help="bench_equal; beside it is bench_equal_float64")
    parser.add_argument("--case", action="append", help="instead of all")
    parser.add_argument("--seed", type=int, default=4, help="of weights and inputs")
    parser.add_argument("--self-test", action="store_true")
    arguments = parser.parse_args()
    if arguments.self_test:
        return self_test()
    if arguments.program is None:
        parser.error("--program is missing")
    builds = {"float32": arguments.program,
              "float64": arguments.program.with_name(arguments.program.stem + "_float64" + arguments.program.suffix)}
    for kind, program in builds.items():
        if not program.is_file():
            parser.error(f"the program of {kind} is missing: there is no {program}")
    if torch is None:
        parser.error("PyTorch is not installed: see --help")
    names = arguments.case or list(CASES)
    unknown = [name for name in names if name not in CASES]
    if unknown:
        parser.error(f"there is no case {unknown[0]}")
    have = subprocess.run([str(arguments.program), "--list"], check=True, capture_output=True, text=True).stdout.split()
    if sorted(have) != programs():
        parser.error(f"the program has other cases than this script: {sorted(set(have) ^ set(programs()))}")
    torch.manual_seed(0)
    found = {kind: run(program, kind, names, arguments.seed) for kind, program in builds.items()}
    print("| what | PyTorch | float32: forward | backward | float64: forward | backward | ok |")
    print("|---|---|---|---|---|---|---|")
    failed = 0
    for name in names:
        results = {kind: all_cases[name] for kind, all_cases in found.items()}
        failed += verdict(results) == "NO"
        print(row(name, CASES[name].peer, results))
    print(f"\nPyTorch {torch.__version__}: {len(names)} cases, {failed} differ", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
