#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Reads an archive of arrays with Python's zipfile, and with NumPy where that is installed.

    python3 npz_reader.py FILE    # prints of each array its name, how it is packed, type, shape and elements"""

import ast
import struct
import sys
import zipfile

CODES = {"f8": "d", "f4": "f", "f2": "e", "i8": "q", "i4": "i", "i2": "h", "i1": "b", "u1": "B", "b1": "?"}


def elements_of(data):
    end = 10 + struct.unpack_from("<H", data, 8)[0]
    header = ast.literal_eval(data[10:end].decode("ascii"))
    elements = [x for (x,) in struct.iter_unpack("<" + CODES[header["descr"][1:]], data[end:])]
    return header["descr"], header["shape"], elements


if __name__ == "__main__":
    with zipfile.ZipFile(sys.argv[1]) as archive:
        if archive.testzip() is not None:
            sys.exit("a checksum differs")
        found = {i.filename: elements_of(archive.read(i)) for i in archive.infolist()}
        for i in archive.infolist():
            descr, shape, elements = found[i.filename]
            print(i.filename, {0: "stored", 8: "deflated"}[i.compress_type], descr, shape, *elements[:6])
    try:
        import numpy
    except ImportError:
        sys.exit(0)
    with numpy.load(sys.argv[1], allow_pickle=False) as arrays:
        for name, (descr, shape, elements) in found.items():
            array = arrays[name[:-4]]
            if array.dtype.str != descr or array.shape != shape or array.ravel().tolist() != elements:
                sys.exit("NumPy reads another " + name)
