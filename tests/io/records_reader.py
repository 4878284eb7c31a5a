#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Reads TFRecord files with nothing but the standard library, apart from tagma's reader.

    python3 records_reader.py FILE COPY    # checks FILE and writes its records to COPY, the last one first"""

import struct
import sys


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        crc = TABLE[crc & 0xFF] ^ (crc >> 8)
    return crc ^ 0xFFFFFFFF


def entry(byte):
    for _ in range(8):
        byte = (byte >> 1) ^ (0x82F63B78 if byte & 1 else 0)
    return byte


TABLE = [entry(byte) for byte in range(256)]


def masked(data):
    crc = crc32c(data)
    return (((crc >> 15) | (crc << 17)) + 0xA282EAD8) & 0xFFFFFFFF


def records(data):
    at = 0
    while at < len(data):
        length, crc = struct.unpack_from("<QI", data, at)
        if crc != masked(data[at:at + 8]):
            sys.exit(f"the checksum of the length at {at} differs")
        value = data[at + 12:at + 12 + length]
        if struct.unpack_from("<I", data, at + 12 + length)[0] != masked(value):
            sys.exit(f"the checksum of the data at {at} differs")
        yield value
        at += 16 + length


if __name__ == "__main__":
    with open(sys.argv[1], "rb") as file:
        found = list(records(file.read()))
    with open(sys.argv[2], "wb") as file:
        for value in reversed(found):
            length = struct.pack("<Q", len(value))
            file.write(length + struct.pack("<I", masked(length)) + value + struct.pack("<I", masked(value)))
