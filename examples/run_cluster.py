#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Runs train_cluster as clusters of processes, on a few made-up images: they learn what one process learns, every task
says its name in front of its lines, and a task that fails ends all.

    run_cluster.py TRAIN_CLUSTER"""

import pathlib
import re
import subprocess
import sys
import tempfile

from run_trainer import write_data


def main():
    program = str(pathlib.Path(sys.argv[1]).resolve())
    start = [sys.executable, str(pathlib.Path(__file__).with_name("start_cluster.py"))]
    complaints = []
    with tempfile.TemporaryDirectory() as temporary:
        data = pathlib.Path(temporary) / "data"
        write_data(data)
        options = ["--data", str(data), "--epochs", "20", "--batch", "10"]

        def run(*command):
            return subprocess.run(command, capture_output=True, text=True, check=False, timeout=600)

        def expect(condition, what, result):
            if not condition:
                complaints.append(f"{what}: exit status {result.returncode}\n{result.stdout}{result.stderr}")

        def accuracy(result, what, before=""):
            found = re.search(rf"^{re.escape(before)}test accuracy ([\d.]+)$", result.stdout, re.M)
            expect(result.returncode == 0 and found, what, result)
            return float(found.group(1)) if found else 0.0

        alone = accuracy(run(program, *options), "one process")
        for ps in (1, 2):
            trained = run(*start, "--ps", str(ps), "--workers", "2", program, *options)
            found = accuracy(trained, f"a cluster with {ps} parameter servers", "[worker 0] ")
            expect(abs(found - alone) <= 0.1, f"accuracy {found}, where one process has {alone}", trained)
            for task in ("[worker 0] epoch 20", "[worker 1] epoch 20", f"[ps {ps - 1}] serves at"):
                expect(f"\n{task}" in f"\n{trained.stdout}", f"no line of {task}", trained)
        failed = run(*start, program, "--data", str(data / "none"))
        expect(failed.returncode == 1 and "NotFound" in failed.stdout, "without data", failed)
        refused = run(*start, "--ps", "3", "--workers", "1", program, *options)
        expect(refused.returncode == 1 and "two parameter servers at most" in refused.stdout, "three servers", refused)
    print("\n".join(complaints) or f"clusters learn what one process learns, {alone}, and end together")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
