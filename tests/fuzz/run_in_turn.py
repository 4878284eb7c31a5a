#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Runs the fuzzers of a build in turn, the one that has had the least processor time first, and keeps count.

  cmake --preset fuzz && cmake --build --preset fuzz
  nice -n 19 python3 tests/fuzz/run_in_turn.py build/fuzz/tests/fuzz --inputs build/inputs --for 3600 csv json

What each has had, in seconds, stands in tests/fuzz/processor_time.json. Inputs that reach new code are kept in the folder of
--inputs, and begun with the next time. An input that fails ends this program, with its path.
"""

import argparse
import json
import os
import pathlib
import resource
import subprocess
import sys
import time

here = pathlib.Path(__file__).resolve().parent


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("build", type=pathlib.Path, help="the folder with the programs fuzz_*")
    arguments.add_argument("names", nargs="*", help="which of them; all, if none is named")
    arguments.add_argument("--inputs", type=pathlib.Path, required=True, help="where inputs are kept between calls")
    arguments.add_argument("--for", type=float, default=3600, dest="seconds", help="until each has had so many seconds")
    arguments.add_argument("--turn", type=int, default=100, help="seconds of a turn, by the clock on the wall")
    arguments.add_argument("--record", type=pathlib.Path, default=here / "processor_time.json")
    options = arguments.parse_intermixed_args()
    programs = {p.name[5:]: p for p in options.build.glob("fuzz_*") if p.is_file() and os.access(p, os.X_OK)}
    names = options.names or sorted(programs)
    if unknown := [n for n in names if n not in programs]:
        sys.exit(f"{options.build} has no fuzzer '{unknown[0]}'; it has {', '.join(sorted(programs))}")
    while True:
        record = json.loads(options.record.read_text()) if options.record.exists() else {}
        name = min(names, key=lambda n: record.get(n, 0))
        if record.get(name, 0) >= options.seconds:
            return
        inputs = options.inputs / name
        inputs.mkdir(parents=True, exist_ok=True)
        command = [programs[name].resolve(), f"-max_total_time={options.turn}", "-rss_limit_mb=3000", "-print_final_stats=1",
                   f"-artifact_prefix={inputs.parent.resolve()}/failed-{name}-", inputs, here / "corpus" / name]
        words = here / f"{name}.dict"
        if words.exists():
            command.insert(1, f"-dict={words}")
        environment = dict(os.environ)
        if name == "program_file":  # a program may ask for more memory than there is; readers may not
            command.insert(1, "-malloc_limit_mb=1000000000")
            environment["ASAN_OPTIONS"] = "allocator_may_return_null=1"
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        ended = subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                               errors="replace")
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        if ended.returncode != 0:
            sys.exit(ended.stderr[-6000:])
        record = json.loads(options.record.read_text()) if options.record.exists() else {}
        record[name] = round(record.get(name, 0) + used)
        options.record.write_text(json.dumps(dict(sorted(record.items())), indent=2) + "\n")
        runs = [line.split()[-1] for line in ended.stderr.splitlines() if "number_of_executed_units" in line]
        print(time.strftime("%H:%M:%S"), name, f"{used:.0f} s, {record[name]} s in all, runs:", *runs, flush=True)


main()
