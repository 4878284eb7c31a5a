#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Whether nvcc made every kernel that a program launches. Its front end and the host compiler each work out which loops a
program has; where they differ, a launch finds no kernel, and that only on a GPU. For objects or programs with their
symbols: each function that stands for a kernel must be one for which nvcc wrote a stub. --apart N: of the next file, N
loops are known to have none, so that they run operation by operation."""

import re
import subprocess
import sys

KERNEL = re.compile(r"^_ZN5tagma6device4cudaL?8run_body\w*$")
STUB = re.compile(r"^_ZGVZL\d+__device_stub__ZN5tagma6device4cudaL?8run_body")


def kernels(symbols):
    """How many are launched, and how many nvcc has made."""
    names = {line.split()[-1] for line in symbols.splitlines() if line.strip()}
    return sum(1 for n in names if KERNEL.match(n)), sum(1 for n in names if STUB.match(n))


def self_test():
    kernel = "0 t _ZN5tagma6device4cudaL8run_bodyI{}E\n0 t _ZN5tagma6device4cudaL8run_bodyI{}E.cold\n"
    stub = "0 b _ZGVZL90__device_stub__ZN5tagma6device4cuda8run_bodyI{}E5__tmp\n0 b _ZZL90__device_stub__ZN5tagma6device4cuda8run_bodyI{}E5__tmp\n"
    both = "".join(kernel.format(x, x) + stub.format(x, x) for x in "ab")
    assert kernels(both) == (2, 2) and kernels(both + kernel.format("c", "c")) == (3, 2)


def main(words):
    self_test()
    wrong = files = apart = 0
    words = iter(words)
    for word in words:
        if word == "--apart":
            apart = int(next(words))
            continue
        launched, made = kernels(subprocess.run(["nm", word], capture_output=True, text=True, check=True).stdout)
        print(f"{word}: {launched} kernels are launched, {made} were made, {apart} loops are known to run apart")
        wrong += launched != made + apart or launched == 0
        files += 1
        apart = 0
    return 1 if wrong or not files else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
