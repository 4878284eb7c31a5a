#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Writes archives of arrays as NumPy does, with nothing but the standard library.

    python3 npz_writer.py stored|deflated|large FILE"""

import struct
import sys
import zipfile


def npy(descr, shape, data):
    header = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}"
    header += " " * (63 - (10 + len(header)) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + data


if __name__ == "__main__":
    how = zipfile.ZIP_DEFLATED if sys.argv[1] == "deflated" else zipfile.ZIP_STORED
    arrays = {"weights": npy("<f4", (2, 2), struct.pack("<4f", 1, 2, 3, 4.5)), "count": npy("<i8", (), struct.pack("<q", 7)),
              "zeros": npy("|u1", (100000,), bytes(100000))}
    if sys.argv[1] == "large":  # more members than 16 bits count, so that the archive ends as large ones do
        arrays.update({f"n{i}": b"" for i in range(70000)})
    with zipfile.ZipFile(sys.argv[2], "w", how) as archive:
        archive.comment = b"a comment with PK\x05\x06 in it, and more of it"
        for name, data in arrays.items():
            with archive.open(name + ".npy", "w", force_zip64=True) as member:
                member.write(data)
