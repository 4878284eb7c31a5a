# SPDX-License-Identifier: BSL-1.0
"""Reads a safetensors file with the standard library alone and compares it with what tests/io/safetensors.cpp wrote.

    python3 safetensors_reader.py FILE    # prints "ok" and exits with 0, or says what differs and exits with 1
    python3 safetensors_reader.py --list FILE    # prints name, type, shape and elements of each tensor by name, then the texts
"""

import json
import struct
import sys

EXPECTED = {
    "scalar": ("F64", [], "<1d", (0.1,)),
    "dense/kernel": ("F32", [2, 3], "<6f", (1.0, -0.5, 0.25, 1e30, -1e-30, 0.0)),
    "counts": ("I64", [2], "<2q", (-2, 2**62)),
    "small": ("I32", [1], "<1i", (-7,)),
    "half": ("F16", [3], "<3e", (1.0, -2.5, 65504.0)),
    "brain": ("BF16", [2], "<2H", (0x3F80, 0xC020)),
    "short": ("I16", [1], "<1h", (-300,)),
    "signed": ("I8", [2], "<2b", (-128, 127)),
    "bytes": ("U8", [3], "<3B", (0, 128, 255)),
    "mask": ("BOOL", [2, 2], "<4B", (1, 0, 0, 1)),
    "empty": ("F32", [0, 4], "<0f", ()),
    'name with "quotes" and \u00e4\u20ac': ("F32", [1], "<1f", (3.0,)),
}


def main(path):
    with open(path, "rb") as file:
        content = file.read()
    (length,) = struct.unpack_from("<Q", content)
    header_bytes = content[8 : 8 + length]
    data = content[8 + length :]
    assert header_bytes[:1] == b"{", "the header does not begin with a brace"
    assert length % 8 == 0, "the header is not padded to 8 bytes"
    header = json.loads(header_bytes.decode("utf-8"))
    texts = header.pop("__metadata__")
    assert texts == {"format": "pt", "step": "1200"}, texts
    assert set(header) == set(EXPECTED), sorted(header)
    end = 0
    for name, entry in header.items():
        dtype, shape, layout, values = EXPECTED[name]
        begin, next_end = entry["data_offsets"]
        assert (entry["dtype"], entry["shape"]) == (dtype, shape), (name, entry)
        assert begin == end, (name, "begins at", begin, "after", end)
        assert next_end - begin == struct.calcsize(layout), (name, begin, next_end)
        assert begin % max(1, struct.calcsize(layout[0] + layout[-1])) == 0, (name, "is not aligned")
        found = struct.unpack(layout, data[begin:next_end])
        wanted = struct.unpack(layout, struct.pack(layout, *values))
        assert found == wanted, (name, found, wanted)
        end = next_end
    assert end == len(data), (end, len(data))
    print("ok")


def list_tensors(path):
    with open(path, "rb") as file:
        content = file.read()
    (length,) = struct.unpack_from("<Q", content)
    header = json.loads(content[8 : 8 + length])
    texts = header.pop("__metadata__")
    for name, entry in sorted(header.items()):
        begin, end = entry["data_offsets"]
        code = {"F64": "d", "F32": "f", "I64": "q", "I32": "i", "U8": "B"}[entry["dtype"]]
        layout = f"<{(end - begin) // struct.calcsize(code)}{code}"
        values = struct.unpack(layout, content[8 + length + begin : 8 + length + end])
        print(name, entry["dtype"], entry["shape"], *(f"{v:.9g}" for v in values))
    print("__metadata__", *(f"{name}={text}" for name, text in sorted(texts.items())))


if __name__ == "__main__":
    if sys.argv[1] == "--list":
        sys.exit(list_tensors(sys.argv[2]))
    try:
        main(sys.argv[1])
    except AssertionError as difference:
        sys.exit(str(difference))
