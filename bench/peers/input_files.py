# SPDX-License-Identifier: BSL-1.0
"""The files of input_files.hpp, for the Python workers of input."""

import atexit
import os
import tempfile

ROWS, COLUMNS = 100_000, 10


def temporary(ending):
    path = os.path.join(tempfile.gettempdir(), f"tagma_peers_{os.getpid()}{ending}")
    atexit.register(lambda: os.path.exists(path) and os.remove(path))
    return path


def write_csv():
    path = temporary(".csv")
    with open(path, "w", encoding="ascii") as to:
        for row in range(ROWS):
            to.write(",".join(f"{(row * 7919 + c * 104729) % 1000003 / 1000 - 500:.6f}" for c in range(COLUMNS)) + "\n")
    return path


def records():
    return (bytes((row * 31 + i * 17) % 251 for i in range(100)) for row in range(ROWS))
