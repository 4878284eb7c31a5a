#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Writes pictures of every kind that PNG has into a folder, with nothing but zlib, and beside each the pixels that it
shows: name.png, name.8 with samples of 8 bits and name.16 with samples of 16, the lower byte first. Prints a line for
each: name, height, width, channels, bits."""

import pathlib
import random
import struct
import sys
import zlib

GREY, RGB, PALETTE, GREY_ALPHA, RGBA = 0, 2, 3, 4, 6
SAMPLES = {GREY: 1, RGB: 3, PALETTE: 1, GREY_ALPHA: 2, RGBA: 4}
ADAM7 = [(0, 8, 0, 8), (0, 8, 4, 8), (4, 8, 0, 4), (0, 4, 2, 4), (2, 4, 0, 2), (0, 2, 1, 2), (1, 2, 0, 1)]


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def pack(row, depth):
    """The bytes of the samples of a row."""
    if depth == 16:
        return b"".join(struct.pack(">H", s) for s in row)
    bits = "".join(format(s, f"0{depth}b") for s in row)
    bits += "0" * (-len(bits) % 8)
    return bytes(int(bits[i:i + 8], 2) for i in range(0, len(bits), 8))


def paeth(a, b, c):
    p = a + b - c
    return min((abs(p - a), 0, a), (abs(p - b), 1, b), (abs(p - c), 2, c))[2]


def filtered(row, above, step, kind):
    out = bytearray([kind])
    for i, value in enumerate(row):
        a = row[i - step] if i >= step else 0
        b = above[i] if above else 0
        c = above[i - step] if above and i >= step else 0
        out.append((value - (0, a, b, (a + b) // 2, paeth(a, b, c))[kind]) & 255)
    return bytes(out)


def scanlines(pixels, depth, samples):
    step, above, out = max(1, depth * samples // 8), None, b""
    for y, row in enumerate(pixels):
        packed = pack([s for pixel in row for s in pixel], depth)
        out += filtered(packed, above, step, y % 5)
        above = packed
    return out


def png(pixels, depth, kind, interlaced, chunks=b""):
    height, width = len(pixels), len(pixels[0])
    data = b""
    for first_y, step_y, first_x, step_x in ADAM7 if interlaced else [(0, 1, 0, 1)]:
        part = [row[first_x::step_x] for row in pixels[first_y::step_y]]
        if part and part[0]:
            data += scanlines(part, depth, SAMPLES[kind])
    packed = zlib.compress(data)
    half = len(packed) // 2
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, depth, kind, 0, 0, interlaced)) +
            chunk(b"gAMA", struct.pack(">I", 45455)) + chunks + chunk(b"tEXt", b"Comment\0tagma") +
            chunk(b"IDAT", packed[:half]) + chunk(b"IDAT", packed[half:]) + chunk(b"IEND", b""))


def shown(sample, depth):
    """A sample of 8 bits and one of 16."""
    if depth == 16:
        return sample >> 8, sample
    eight = sample * 255 // (2**depth - 1)
    return eight, eight * 257


def main():
    folder, rng = pathlib.Path(sys.argv[1]), random.Random(7)
    kinds = [(GREY, 1), (GREY, 2), (GREY, 4), (GREY, 8), (GREY, 16), (RGB, 8), (RGB, 16), (PALETTE, 1), (PALETTE, 2), (PALETTE, 4),
             (PALETTE, 8), (GREY_ALPHA, 8), (GREY_ALPHA, 16), (RGBA, 8), (RGBA, 16)]
    for kind, depth in kinds:
        for interlaced in (0, 1):
            for transparent in (False, True) if kind in (GREY, RGB, PALETTE) else (False,):
                height, width = rng.randint(1, 12), rng.randint(1, 12)
                samples, top = SAMPLES[kind], 2**depth - 1
                pixels = [[tuple(rng.randint(0, top) for _ in range(samples)) for _ in range(width)] for _ in range(height)]
                chunks = b""
                if kind == PALETTE:
                    palette = [tuple(rng.randint(0, 255) for _ in range(3)) for _ in range(top + 1)]
                    alphas = [rng.randint(0, 255) for _ in range(top // 2 + 1)] if transparent else []
                    chunks = chunk(b"PLTE", bytes(v for color in palette for v in color))
                    if transparent:
                        chunks += chunk(b"tRNS", bytes(alphas))
                    alphas += [255] * (top + 1 - len(alphas))
                    look = {(i,): [(v, v * 257) for v in palette[i] + ((alphas[i],) if transparent else ())] for i in range(top + 1)}
                    show = look.__getitem__
                elif transparent:
                    clear = pixels[0][0]
                    chunks = chunk(b"tRNS", b"".join(struct.pack(">H", s) for s in clear))

                    def show(p, clear=clear, depth=depth):
                        return [shown(s, depth) for s in p] + [(0, 0) if p == clear else (255, 65535)]
                else:
                    def show(p, depth=depth):
                        return [shown(s, depth) for s in p]
                name = f"kind{kind}_{depth}bits{'_interlaced' * interlaced}{'_transparent' * transparent}"
                (folder / f"{name}.png").write_bytes(png(pixels, depth, kind, interlaced, chunks))
                seen = [s for row in pixels for p in row for s in show(p)]
                (folder / f"{name}.8").write_bytes(bytes(s[0] for s in seen))
                (folder / f"{name}.16").write_bytes(b"".join(struct.pack("<H", s[1]) for s in seen))
                print(name, height, width, len(seen) // (height * width), 16 if depth == 16 else 8)


if __name__ == "__main__":
    main()
