#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Reads a tf.train.SequenceExample with nothing but the standard library, apart from tagma's reader.

    python3 sequence_example_reader.py FILE COPY    # writes the same to COPY: nothing packed, the lists before the context"""

import sys

from example_reader import entry, fields, message


def unpacked(feature):
    return dict(fields(entry(message(1, b"") + message(2, feature))))[2]


if __name__ == "__main__":
    with open(sys.argv[1], "rb") as file:
        parts = dict(fields(file.read()))
    context = b"".join(message(1, entry(data)) for _, data in fields(parts[1]))
    lists = b""
    for _, data in fields(parts[2]):
        name, steps = dict(fields(data))[1], dict(fields(data))[2]
        steps = b"".join(message(1, unpacked(feature)) for _, feature in fields(steps))
        lists = message(1, message(2, steps) + message(1, name)) + lists
    with open(sys.argv[2], "wb") as file:
        file.write(message(2, lists) + message(1, context))
