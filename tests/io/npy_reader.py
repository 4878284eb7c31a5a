#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Reads a NumPy file with nothing but the standard library, apart from tagma's reader.

    python3 npy_reader.py FILE    # prints type, shape and elements"""

import ast
import struct
import sys

CODES = {"f8": "d", "f4": "f", "f2": "e", "i8": "q", "i4": "i", "i2": "h", "i1": "b", "u1": "B", "b1": "?"}

if __name__ == "__main__":
    with open(sys.argv[1], "rb") as file:
        data = file.read()
    if data[:8] != b"\x93NUMPY\x01\x00":
        sys.exit("the beginning differs")
    end = 10 + struct.unpack_from("<H", data, 8)[0]
    if end % 64 or data[end - 1:end] != b"\n":
        sys.exit("the header does not end where it should")
    header = ast.literal_eval(data[10:end].decode("ascii"))
    if list(header) != ["descr", "fortran_order", "shape"] or header["fortran_order"]:
        sys.exit("the header differs")
    code = CODES[header["descr"][1:]]
    elements = [x for (x,) in struct.iter_unpack("<" + code, data[end:])]
    print(header["descr"], header["shape"], *elements)
