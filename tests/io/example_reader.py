#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Reads a tf.train.Example with nothing but the standard library, apart from tagma's reader.

    python3 example_reader.py FILE COPY    # writes the same example to COPY, nothing packed, the last feature first"""

import struct
import sys


def varint(data, at):
    value, shift = 0, 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return value, at


def fields(data):
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        if key & 7 == 0:
            value, at = varint(data, at)
        elif key & 7 == 2:
            length, at = varint(data, at)
            if at + length > len(data):
                sys.exit("a field is cut")
            value, at = data[at:at + length], at + length
        elif key & 7 == 5:
            value, at = data[at:at + 4], at + 4
        else:
            sys.exit(f"a field of type {key & 7}")
        yield key >> 3, value


def integers(data):
    at = 0
    while at < len(data):
        value, at = varint(data, at)
        yield value


def put(value):
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def message(number, data):
    return put(number << 3 | 2) + put(len(data)) + data


def entry(data):
    parts = dict(fields(data))
    [(kind, items)] = fields(parts[2])
    values = b""
    for _, value in fields(items):
        if kind == 1:
            values += message(1, value)
        elif kind == 2:
            values += b"".join(b"\x0d" + struct.pack("<f", x) for (x,) in struct.iter_unpack("<f", value))
        else:
            values += b"".join(b"\x08" + put(x) for x in integers(value))
    return message(2, message(kind, values)) + message(1, parts[1])


if __name__ == "__main__":
    with open(sys.argv[1], "rb") as file:
        [(_, features)] = fields(file.read())
    entries = [entry(data) for _, data in fields(features)]
    with open(sys.argv[2], "wb") as file:
        file.write(message(1, b"".join(message(1, e) for e in reversed(entries))))
