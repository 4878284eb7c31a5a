#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Writes a table with Python's csv module.

    python3 csv_writer.py TABLE FIELDS    # FIELDS gets the fields, a zero byte behind each"""

import csv
import random
import sys

if __name__ == "__main__":
    rng = random.Random(8)
    rows = [("".join(rng.choice("ab ,;\"\n\r'é") for _ in range(rng.randrange(8))), rng.gauss(0, 1000),
             "".join(rng.choice("xy\"\n") for _ in range(rng.randrange(3)))) for _ in range(1000)]
    with open(sys.argv[1], "w", newline="", encoding="utf-8") as table:
        writer = csv.writer(table)
        writer.writerow(["first", "number", "last"])
        writer.writerows(rows)
    with open(sys.argv[2], "w", newline="", encoding="utf-8") as fields:
        for first, number, last in rows:
            fields.write(f"{first}\0{number:.6f}\0{last}\0")
