#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""What it costs to compile a program that uses the library.

Each program is compiled in turn with the one it is compared against, by default a small Eigen program, so that whatever
else the machine does hits both; the median of the pairs' ratios counts. Both are compiled for the instruction set that the
library's loops are compiled for in any case: AVX2 and FMA. Beside the ratio: peak memory of the compiler, size of the
object, the longest mangled symbol, and how much -g adds in time and size. budgets.json says what is allowed.

"compilers" has what is allowed otherwise for those whose name has this part. "flags" are for the program alone: it may be
compared with itself without them.

A program is a file under programs/, or is printed by a generator: {"generate": ["generate_residual.py", "100"]}. At most
"pairs" of it are compiled; a "large" one only where it is asked for. What is too slow is measured once more, with twice the
pairs and at least three. Where that is too slow as well, the compiler's instructions are counted, if budgets.json says how
many a program may take ("instructions", a ratio to the reference) and valgrind is there: other work on the machine does not
change them, so that ratio has no room for noise. It alone counts then, whatever the clock said. "growth" compiles a generated program
in three sizes with equal steps: what the second step costs beside the first is 1 if time grows with the size, and more if it
grows faster."""

import argparse
import concurrent.futures
import json
import os
import pathlib
import platform
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
INSTRUCTION_SET = ["-mavx2", "-mfma"] if platform.machine() in ("x86_64", "AMD64") else []


class Compiler:
    def __init__(self, name, flags, work):
        self.command = [name, "-std=c++20", *flags]
        self.work = pathlib.Path(work)
        self.counts = {}

    def compile(self, source, extra=()):
        """Seconds of processor time, peak MiB, and the object file. wait4 counts the compiler behind the driver too."""
        target = self.work / ("".join([source.stem, *extra]) + ".o")
        command = [*self.command, *extra, "-c", str(source), "-o", str(target)]
        with tempfile.TemporaryFile() as answers:
            child = subprocess.Popen(command, stdout=answers, stderr=answers)
            _, status, usage = os.wait4(child.pid, 0)
            child.returncode = os.waitstatus_to_exitcode(status)
            if child.returncode:
                answers.seek(0)
                sys.exit(f"{source.name} does not compile:\n{answers.read().decode(errors='replace')[:4000]}")
        return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, target

    def count_instructions(self, source, extra=()):
        """Instructions of the compiler without its driver, by cachegrind, which takes about twenty-five times as long as to
        compile; so each program is counted once."""
        if (source, *extra) in self.counts:
            return self.counts[source, *extra]
        counter = ["valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"]
        command = [*self.command, *extra, "-S", str(source), "-o", str(self.work / ("".join([source.stem, *extra]) + ".s"))]
        is_clang = "clang" in pathlib.Path(self.command[0]).name  # which compiles in the process of its driver
        command = [*counter, *command, "-fintegrated-cc1"] if is_clang else [*command, "-wrapper", ",".join(counter)]
        said = subprocess.run(command, capture_output=True, text=True)
        counts = re.findall(r"I\s+refs:\s+([\d,]+)", said.stderr)
        if said.returncode or len(counts) != 1:
            sys.exit(f"valgrind does not count the instructions for {source.name}:\n{said.stderr[-4000:]}")
        self.counts[source, *extra] = int(counts[0].replace(",", ""))
        return self.counts[source, *extra]


def longest_symbol(target):
    """A position-independent list, one symbol a line: name, type, and so on."""
    listing = subprocess.run(["nm", "-P", str(target)], check=True, capture_output=True, text=True).stdout
    return max((len(line.split(" ", 1)[0]) for line in listing.splitlines()), default=0)


def source_of(program, work, here):
    if "source" in program:
        return here / program["source"]
    generator, *arguments = program["generate"]
    if not (here / generator).exists():
        sys.exit(f"there is no {generator}")
    target = pathlib.Path(work) / ("_".join([pathlib.Path(generator).stem, *arguments]) + ".cpp")
    text = subprocess.run([sys.executable, str(here / generator), *arguments], check=True, capture_output=True, text=True).stdout
    target.write_text(text, encoding="utf-8")
    return target


def measure(compiler, program, reference, pairs, debug_pairs=1, flags=()):
    ratios, seconds, memory, debug_ratios = [], [], [], []
    for i in range(pairs):
        order = [(program, flags), (reference, ())] if i % 2 else [(reference, ()), (program, flags)]
        result = {}
        for source, extra in order:
            result[source, bool(extra)] = compiler.compile(source, extra)
        made = result[program, bool(flags)]
        ratios.append(made[0] / result[reference, False][0])
        seconds.append(made[0])
        memory.append(made[1])
        target = made[2]
        if i >= pairs - debug_pairs:
            size, symbol = target.stat().st_size, longest_symbol(target)
            debug_seconds, _, debug_target = compiler.compile(program, ["-g", *flags])
            debug_ratios.append(debug_seconds / seconds[-1])
    return {
        "time_ratio": statistics.median(ratios), "seconds": statistics.median(seconds), "memory_mb": max(memory),
        "object_kb": size / 1024, "longest_symbol": symbol, "debug_time_ratio": statistics.median(debug_ratios),
        "debug_size_ratio": debug_target.stat().st_size / size}


def too_slow(result, program, budgets):
    """The clocks that are beyond their budgets and the room for noise."""
    return [key for key, budget in (("time_ratio", program.get("time_ratio")), ("debug_time_ratio", budgets["debug_time_ratio"]))
            if budget is not None and result[key] > budget * budgets["noise"]]


def judge(name, result, program, budgets, clocks):
    """What is beyond its budget. Memory, names and instructions repeat; only times are given room for noise."""
    complaints = []
    slow = too_slow(result, program, budgets) if clocks else []
    if "instruction_ratio" in result:
        if result["instruction_ratio"] > program["instructions"]:
            complaints.append(f"{name}: {result['instruction_ratio']:.3f} times the instructions of the reference; the budget "
                              f"is {program['instructions']}")
    elif "time_ratio" in slow:
        complaints.append(f"{name}: {result['time_ratio']:.2f} times the reference; the budget is {program['time_ratio']}")
    if "debug_time_ratio" in slow:
        complaints.append(f"{name}: {result['debug_time_ratio']:.2f} times the time with -g; the budget is "
                          f"{budgets['debug_time_ratio']}")
    if "memory_mb" in program and result["memory_mb"] > program["memory_mb"]:
        complaints.append(f"{name}: {result['memory_mb']:.0f} MiB; the budget is {program['memory_mb']}")
    if result["longest_symbol"] > budgets["longest_symbol"]:
        complaints.append(f"{name}: a symbol of {result['longest_symbol']} characters; the budget is {budgets['longest_symbol']}")
    return complaints


def measure_growth(compiler, growth, work, here, rounds):
    """What the second of two equal steps in size costs beside the first, and the seconds of each size. Differences of
    times are sensitive to what else the machine does, which only adds: the fastest compilation of each size counts."""
    sources = [source_of({"generate": [growth["generate"], str(size)]}, work, here) for size in growth["sizes"]]
    seconds = [float("inf")] * len(sources)
    for _ in range(rounds):
        seconds = [min(before, compiler.compile(source)[0]) for before, source in zip(seconds, sources)]
    small, middle, large = seconds
    return (large - middle) / max(middle - small, 1e-3), seconds


COLUMNS = [("time_ratio", "ratio", ".2f"), ("seconds", "seconds", ".2f"), ("memory_mb", "MiB", ".0f"),
           ("object_kb", "object KiB", ".0f"), ("longest_symbol", "symbol", "d"), ("debug_time_ratio", "-g time", ".2f"),
           ("debug_size_ratio", "-g size", ".2f")]


def row(name, result, program):
    return (f"{name:16}" + "".join(f"{format(result[key], form):>12}" for key, _, form in COLUMNS) +
            f"{program.get('time_ratio', '-'):>10}")


def run(here, flags, arguments, report=print):
    """Measures what is asked for and returns the results and the complaints."""
    budgets = json.loads((here / "budgets.json").read_text(encoding="utf-8"))
    unknown = set(arguments.only or []) - set(budgets["programs"]) - {"growth"}
    if unknown:
        sys.exit(f"budgets.json has no program {', '.join(sorted(unknown))}")
    results, complaints = {}, []
    report(f"{'program':16}" + "".join(f"{title:>12}" for _, title, _ in COLUMNS) + f"{'budget':>10}")
    with tempfile.TemporaryDirectory() as work:
        compiler = Compiler(arguments.compiler, flags, work)
        for name, program in budgets["programs"].items():
            for part, own in program.get("compilers", {}).items():
                program = {**program, **own} if part in pathlib.Path(arguments.compiler).name else program
            if name not in arguments.only if arguments.only else program.get("large") and not arguments.large:
                continue
            source = source_of(program, work, here)
            if not source.exists():
                sys.exit(f"{name}: there is no {source.name}")
            reference = here / program.get("against", budgets["reference"])
            pairs = min(arguments.pairs, program.get("pairs", arguments.pairs))
            extra = program.get("flags", [])
            result = measure(compiler, source, reference, pairs, 1, extra)
            report(row(name, result, program))
            if not arguments.check_exact and too_slow(result, program, budgets):
                result = measure(compiler, source, reference, max(3, 2 * pairs), max(3, 2 * pairs), extra)
                report(row("  again", result, program))
                if "time_ratio" in too_slow(result, program, budgets) and "instructions" in program and shutil.which("valgrind"):
                    with concurrent.futures.ThreadPoolExecutor(2) as threads:  # counts do not mind each other
                        counts = list(threads.map(compiler.count_instructions, (source, reference), (extra, ())))
                    result["instruction_ratio"] = counts[0] / counts[1]
                    report(f"  instructions {result['instruction_ratio']:15.3f}    {counts[0] / 1e9:.2f} and {counts[1] / 1e9:.2f} "
                           f"thousand million{program['instructions']:>10}")
            results[name] = result
            complaints += judge(name, result, program, budgets, not arguments.check_exact)
        growth = budgets.get("growth")
        if growth and ("growth" in arguments.only if arguments.only else not arguments.check_exact):
            rounds, most = min(arguments.pairs, growth["pairs"]), growth["step_ratio"] * budgets["noise"]
            for title, rounds in ("growth", rounds), ("  again", max(3, 2 * rounds)):
                ratio, seconds = measure_growth(compiler, growth, work, here, rounds)
                times = ", ".join(f"{size} in {s:.1f} s" for size, s in zip(growth["sizes"], seconds))
                report(f"{title:16}{ratio:12.2f}    {times}{growth['step_ratio']:>10}")
                if ratio <= most:
                    break
            results["growth"] = {"step_ratio": ratio, "seconds": seconds}
            if ratio > most:
                complaints.append(f"growth: the second step in size costs {ratio:.2f} times the first ({times}); the budget "
                                  f"is {growth['step_ratio']}")
    return results, complaints


def self_test(arguments):
    """Budgets that must hold and budgets that cannot, on two programs of known cost."""
    wrong = []
    can_count = shutil.which("valgrind") is not None
    cheap = "int main() {}\n"
    dear = "#include <vector>\n#include <string>\nint f() { return static_cast<int>(std::vector<std::string>(3).size()); }\n"
    named = "void f_" + "x" * 5000 + "() {}\n"
    repeated = "import sys\nfor i in range(int(sys.argv[1])): print(f'int f{i}(int x) {{ return x * {i}; }}')\n"
    growth = {"generate": "repeat.py", "sizes": [1, 3000, 9000], "pairs": 1}
    cases = [
        ("within", dear, {"time_ratio": 1e6, "memory_mb": 1e6}, {"growth": {**growth, "step_ratio": 1e6}}, None),
        ("too slow", dear, {"time_ratio": 0.001}, {}, "times the reference"),
        ("too slow for this compiler", dear, {"time_ratio": 1e6, "compilers": {"+": {"time_ratio": 0.001}}}, {}, "times the reference"),
        ("too slow by the clock alone", cheap, {"time_ratio": 0.001, "instructions": 1e6}, {}, None if can_count else "times the reference"),
        ("too many instructions", cheap, {"time_ratio": 0.001, "instructions": 0.001}, {}, "instructions" if can_count else "times the reference"),
        ("too slow for another", dear, {"time_ratio": 1e6, "compilers": {"icpx": {"time_ratio": 0.001}}}, {}, None),
        ("too big", dear, {"memory_mb": 1}, {}, "MiB"),
        ("a long name", named, {}, {}, "characters"),
        ("slow with -g", dear, {}, {"debug_time_ratio": 0.001}, "with -g"),
        ("grows too fast", dear, {}, {"growth": {**growth, "step_ratio": 0.001}}, "the second step"),
    ]
    arguments.pairs, arguments.only, arguments.check_exact, arguments.large = 1, None, False, False
    for name, text, budget, common, expected in cases:
        with tempfile.TemporaryDirectory() as folder:
            here = pathlib.Path(folder)
            (here / "cheap.cpp").write_text(cheap, encoding="utf-8")
            (here / "program.py").write_text(f"print({text!r})\n", encoding="utf-8")
            (here / "repeat.py").write_text(repeated, encoding="utf-8")
            budgets = {"reference": "cheap.cpp", "noise": 1.3, "debug_time_ratio": 1e6, "longest_symbol": 4096,
                       "programs": {"p": {"generate": ["program.py"], **budget}}, **common}
            (here / "budgets.json").write_text(json.dumps(budgets), encoding="utf-8")
            _, complaints = run(here, [], arguments, report=lambda line: None)
        if bool(complaints) == (expected is None) or (expected and expected not in complaints[0]):
            wrong.append(f"self-test '{name}': expected {expected!r}, got {complaints}")
    print("\n".join(wrong + [f"self-test: {len(cases)} budgets, {len(wrong)} judged wrongly"]))
    return 1 if wrong else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--compiler", default="g++")
    parser.add_argument("--flag", action="append", default=[], help="in addition to -O2, -mavx2, -mfma and the include path")
    parser.add_argument("--math", choices=["onednn", "eigen"], default="onednn", help="whose headers tagma.hpp includes")
    parser.add_argument("--pairs", type=int, default=3)
    parser.add_argument("--only", action="append", help="only this program of budgets.json")
    parser.add_argument("--large", action="store_true", help="with the large models, which take minutes")
    parser.add_argument("--json", type=pathlib.Path, help="write the results there as well")
    parser.add_argument("--check", action="store_true", help="exit with 1 beyond a budget")
    parser.add_argument("--check-exact", action="store_true", help="the same without the clock")
    parser.add_argument("--self-test", action="store_true")
    arguments = parser.parse_args()
    if arguments.pairs < 1:
        parser.error("--pairs must be at least 1")
    for tool in (arguments.compiler, "nm"):
        if shutil.which(tool) is None:
            sys.exit(f"there is no {tool} here")
    if arguments.self_test:
        return self_test(arguments)
    flags = ["-O2", *INSTRUCTION_SET, f"-I{ROOT / 'include'}", "-isystem/usr/include/eigen3",
             f"-DTAGMA_WITH_{arguments.math.upper()}=1", *arguments.flag]
    results, complaints = run(HERE, flags, arguments)
    if arguments.json:
        arguments.json.write_text(json.dumps(results, indent=2) + "\n", encoding="utf-8")
    for complaint in complaints:
        print(complaint)
    return 1 if complaints and (arguments.check or arguments.check_exact) else 0


if __name__ == "__main__":
    sys.exit(main())
