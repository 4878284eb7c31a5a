#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Reads a program as docs/program_format.md describes it, with nothing of the library, and prints its tables.

    program_reader.py FILE
"""

import struct
import sys

TYPES = ["none", "float64", "float32", "float16", "bfloat16", "int64", "int32", "int16", "int8", "uint8", "bool", "string"]


RESOURCES = ("queue", "reader", "iterator")


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = (crc >> 1) ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


class Reader:
    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, size):
        if size > len(self.data) - self.at:
            raise ValueError(f"at byte {self.at}: needs {size} bytes")
        self.at += size
        return self.data[self.at - size:self.at]

    def number(self, form):
        return struct.unpack("<" + form, self.take(struct.calcsize("<" + form)))[0]

    def list(self, form, count):
        return [self.number(form) for _ in range(count)]

    def text(self):
        return self.take(self.number("H")).decode()

    def shape(self):
        return self.list("q", self.number("B"))


def spelled(dims):
    return "[" + ", ".join("?" if e == -1 else str(e) for e in dims) + "]"


def components(words):
    """The types and shapes of the components of a queue or an iterator."""
    parts = [words[i:i + 8] for i in range(0, len(words), 8)]
    for kind, rank, *extents in parts:
        if not 1 <= kind <= 11 or not 0 <= rank <= 6 or any(extents[rank:]) or len(extents) != 6:
            raise ValueError("this is no component")
    if not 1 <= len(parts) <= 8:
        raise ValueError("there are one to eight components")
    return "; ".join(f"{TYPES[kind]} {spelled(extents[:rank])}" for kind, rank, *extents in parts)


def resource(operation, a):
    """What a resource is, by its attributes."""
    if operation == "queue":
        kind = ["fifo", "shuffle", "padding", "priority"][a[0]]
        return f"{kind} capacity {a[1]} least {a[2]} seed {a[3]} of {components(a[4:])}"
    if operation == "reader":
        kind = ["text_lines", "fixed_length", "tf_record", "whole_file", "identity"][a[0]]
        compression = ["none", "gzip", "zlib", "detect"][a[1]]
        skip, record, header, footer, hop = a[2:]
        return f"{kind} {compression} skip {skip} record {record} header {header} footer {footer} hop {hop}"
    if a[0] != -1 or a[-1] != 0:
        raise ValueError("this is no iterator")
    return f"of {components(a[1:-1])}"


def tables(data):
    """The lines that describe a program."""
    if crc32c(data[:-4]) != struct.unpack("<I", data[-4:])[0]:
        raise ValueError("the checksum is another")
    r = Reader(data[:-4])
    if r.take(8) != b"\x89tagma\r\n" or r.number("I") != 1:
        raise ValueError("this is no program of version 1")
    flags, size, fingerprint = r.number("I"), r.number("Q"), r.number("Q")
    soft, part = flags & 1, flags & 2
    if flags > 3:
        raise ValueError("a flag is not known")
    if size != len(data) or r.take(32) != bytes(32):
        raise ValueError("the head is damaged")
    yield f"program {fingerprint}{' soft' if soft else ''}"
    operations = [(r.number("I"), r.text()) for _ in range(r.number("I"))]
    requests = [r.text() for _ in range(r.number("I"))]
    for i, request in enumerate(requests):
        yield f"request {i} {request}"
    for i in range(r.number("I")):
        if r.number("B") == 0:
            yield f"value {i} none"
            continue
        number, integer, second = r.number("Q"), r.number("q"), r.number("Q")
        dims = r.shape()
        yield f"value {i} {number} {integer} {second} {spelled(dims)} {len(r.take(r.number('Q')))}"
    nodes = r.number("I")
    for i in range(nodes):
        operation = operations[r.number("I")]
        kind = TYPES[r.number("B")]
        dims = r.shape()
        counts = r.list("H", 4)
        edges = r.list("i", sum(counts[:3]))
        attributes = r.list("q", counts[3])
        value, request = r.number("i"), r.number("h")
        name = r.text() + r.text()
        yield (f"node {i} {operation[1]} {operation[0]} {kind} {spelled(dims)} {counts[0]} {counts[1]} {counts[2]} "
               f"{edges} {attributes} {value} {request} {name}")
        if operation[1] in RESOURCES:
            yield f"{operation[1]} '{name}' {resource(operation[1], attributes)}"
    loops = r.number("I")
    for i in range(loops):
        yield f"loop {i} {r.number('i')} {r.number('h')} {r.number('h')}"
    for i in range(r.number("I")):
        yield f"carried {r.number('i')} {r.number('i')}"
    if loops:
        yield f"loop of nodes {r.list('h', nodes)}"
    if part:
        yield f"numbers {r.list('i', nodes)}"
    for i in range(r.number("I")):
        node = r.number("i")
        yield f"output {i} {node} {r.text()}"
    if r.at != len(r.data):
        raise ValueError("there are bytes behind the outputs")


if __name__ == "__main__":
    with open(sys.argv[1], "rb") as file:
        print("\n".join(tables(file.read())))
