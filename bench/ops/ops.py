# SPDX-License-Identifier: BSL-1.0
"""Single operations beside PyTorch's and JAX's, at several extents and element types, with gradients: results are
compared, then all take turns.

    python3 bench/ops/ops.py --program build/full/bench/ops/bench_ops [--peer torch --peer jax] [--json out.json]

Prints the peer's time by ours, so that above 1 this library is faster. With one thread the time is that of the
processor, with more that of the clock; the least of several bursts counts. `--before` is the program of another tree,
`--summary` says what a file of `--json` holds in few lines."""

import argparse
import json
import math
import os
import platform
import subprocess
import sys
import tempfile
import time

import numpy

HALVES, FLOATS, INTEGERS = ("float16", "bfloat16"), ("float32", "float64"), ("int64", "int32", "int8")
REST = 0.04  # seconds between turns of several threads: GNU OpenMP's look for work some 15 ms long
SMALL, MIDDLE, LARGE = (10, 10), (300, 333), (1000, 1000)


class Case:
    """An operation of the program, what peers call it, and the extents of its operands.

    `torch` and `jax` take the module and the operands. `extents` are those of the operands of each case, of all types but the
    first those of `few`, if it has them; `gradient` has the types with gradients. `kinds` says what operands hold: "any", "positive", "row" or
    "column", an index below the first or second extent of operand 0."""

    def __init__(self, torch, jax, extents, types=("float32",), kinds=(), gradient=(), few=None, compared=True):
        self.torch, self.jax, self.extents, self.types, self.kinds = torch, jax, extents, types, kinds
        self.gradient, self.few, self.compared = gradient, few, compared

    def cases(self, name):
        for kind in self.types:
            for shapes in self.extents if kind == self.types[0] or not self.few else self.few:
                yield f"{name}.{kind}", kind, False, shapes
                if kind in self.gradient:
                    yield f"{name}.{kind}.gradient", kind, True, shapes


def one(*shapes):
    return [(s,) for s in shapes]


def two(*shapes):
    return [(s, s) for s in shapes]


ALL = FLOATS + HALVES


def unary(torch, jax, kinds=(), gradient=ALL):
    return Case(torch, jax, one(SMALL, MIDDLE, LARGE), ALL, kinds, gradient, few=one(MIDDLE))


def functional(name):
    return lambda t, x: getattr(t.nn.functional, name)(x)


def activation(name):
    return lambda j, x: jax_nn(name)(x)


def jax_nn(name):
    import jax
    return getattr(jax.nn, name)


def integer_product(j, a, b):
    import jax
    return jax.lax.dot_general(a, b, (((1,), (0,)), ((), ())), preferred_element_type=j.int32)


def conv(stride=1, padding="SAME", groups=1):
    def of_torch(t, x, f):
        pad = 0 if padding == "VALID" else (f.shape[0] - 1) // 2
        if padding == "SAME" and stride == 2:  # the zeros of an odd one are behind
            x, pad = t.nn.functional.pad(x, (0, 0, 0, 1, 0, 1)), 0
        return t.nn.functional.conv2d(x.permute(0, 3, 1, 2), f.permute(3, 2, 0, 1), stride=stride, padding=pad,
                                      groups=groups).permute(0, 2, 3, 1)

    def of_jax(j, x, f):
        import jax
        return jax.lax.conv_general_dilated(x, f, (stride, stride), padding, feature_group_count=groups,
                                            dimension_numbers=("NHWC", "HWIO", "NHWC"))
    return of_torch, of_jax


def pool(kind, size, stride):
    def of_torch(t, x):
        function = t.nn.functional.max_pool2d if kind == "max" else t.nn.functional.avg_pool2d
        return function(x.permute(0, 3, 1, 2), size, stride).permute(0, 2, 3, 1)

    def of_jax(j, x):
        import jax
        first, function = (-j.inf, jax.lax.max) if kind == "max" else (0.0, jax.lax.add)
        y = jax.lax.reduce_window(x, first, function, (1, size, size, 1), (1, stride, stride, 1), "VALID")
        return y if kind == "max" else y / (size * size)
    return of_torch, of_jax


def layer_norm(j, x, g, b):
    mean = x.mean(-1, keepdims=True)
    return (x - mean) / j.sqrt(x.var(-1, keepdims=True) + 1e-5) * g + b


def batch_norm(j, x, g, b):
    return (x - x.mean(0)) / j.sqrt(x.var(0) + 1e-5) * g + b


def attention(module, softmax, q, k, v, heads=4):
    split = lambda x: x.reshape(x.shape[0], x.shape[1], heads, -1).swapaxes(1, 2)
    q, k, v = split(q), split(k), split(v)
    weights = softmax(q @ k.swapaxes(-1, -2) / q.shape[-1] ** 0.5)
    return (weights @ v).swapaxes(1, 2).reshape(q.shape[0], q.shape[2], -1)


def torch_attention(t, q, k, v, heads=4):
    split = lambda x: x.reshape(x.shape[0], x.shape[1], heads, -1).transpose(1, 2)
    return t.nn.functional.scaled_dot_product_attention(split(q), split(k), split(v)).transpose(1, 2).reshape(q.shape)


def largest(j, x):
    import jax
    return jax.lax.top_k(x, 8)[0]


def random(name):
    def of_jax(j, x):
        import jax
        return getattr(jax.random, name)(jax.random.key(1), x.shape)
    return of_jax


REDUCED = FLOATS + HALVES + ("int64", "int32")
ORDERED = ("float32", "float64", "float16", "int64", "int32")
WINDOWED = ("float32", "float64", "bfloat16")
MOVED = ("float32", "float64", "float16", "int8")
WIDE = [((4096, 1024),), ((65536, 10),), ((100, 3000),)]
MIDDLE_AXIS = [((64, 128, 100),), ((16, 4096, 7),), ((1000, 30, 30),)]
VALUES = dict(types=REDUCED, few=[((1024, 1024),), ((65536, 10),)])

TABLE = {
    "exp": unary(lambda t, x: t.exp(x), lambda j, x: j.exp(x)),
    "log": unary(lambda t, x: t.log(x), lambda j, x: j.log(x), ("positive",)),
    "log1p": unary(lambda t, x: t.log1p(x), lambda j, x: j.log1p(x), ("positive",)),
    "expm1": unary(lambda t, x: t.expm1(x), lambda j, x: j.expm1(x)),
    "sqrt": unary(lambda t, x: t.sqrt(x), lambda j, x: j.sqrt(x), ("positive",)),
    "rsqrt": unary(lambda t, x: t.rsqrt(x), lambda j, x: 1 / j.sqrt(x), ("positive",)),
    "tanh": unary(lambda t, x: t.tanh(x), lambda j, x: j.tanh(x)),
    "sigmoid": unary(lambda t, x: t.sigmoid(x), activation("sigmoid")),
    "softplus": unary(functional("softplus"), activation("softplus")),
    "erf": unary(lambda t, x: t.erf(x), lambda j, x: jax_scipy_erf(x)),
    "sin": unary(lambda t, x: t.sin(x), lambda j, x: j.sin(x)),
    "cos": unary(lambda t, x: t.cos(x), lambda j, x: j.cos(x)),
    "relu": unary(lambda t, x: t.relu(x), activation("relu")),
    "gelu": unary(functional("gelu"), lambda j, x: jax_nn("gelu")(x, approximate=False)),
    "silu": unary(functional("silu"), activation("silu")),
    "elu": unary(functional("elu"), activation("elu")),
    "floor": unary(lambda t, x: t.floor(x), lambda j, x: j.floor(x), gradient=()),
    "round": unary(lambda t, x: t.round(x), lambda j, x: j.round(x), gradient=()),
    "add": Case(lambda t, a, b: a + b, lambda j, a, b: a + b, two(SMALL, MIDDLE, LARGE), ALL + INTEGERS, few=two(MIDDLE)),
    "multiply": Case(lambda t, a, b: a * b, lambda j, a, b: a * b, two(MIDDLE, LARGE), ALL + INTEGERS, few=two(MIDDLE)),
    "maximum": Case(lambda t, a, b: t.maximum(a, b), lambda j, a, b: j.maximum(a, b), two(MIDDLE, LARGE), ALL + INTEGERS,
                    few=two(MIDDLE)),
    "add_row": Case(lambda t, a, b: a + b, lambda j, a, b: a + b, [(LARGE, (1000,)), ((65536, 10), (10,))], ALL + INTEGERS,
                    few=[(MIDDLE, (333,))]),
    "add_column": Case(lambda t, a, b: a + b, lambda j, a, b: a + b, [(LARGE, (1000, 1)), ((65536, 10), (65536, 1))],
                       ALL + INTEGERS, few=[(MIDDLE, (300, 1))]),
    "abs": Case(lambda t, a: t.abs(a), lambda j, a: j.abs(a), one(MIDDLE, LARGE), ALL + INTEGERS, few=one(MIDDLE)),
    "square": Case(lambda t, a: t.square(a), lambda j, a: j.square(a), one(MIDDLE, LARGE), ALL + INTEGERS, few=one(MIDDLE)),
    "less": Case(lambda t, a, b: a < b, lambda j, a, b: a < b, two(MIDDLE, LARGE), ALL + INTEGERS, few=two(MIDDLE)),
    "select": Case(lambda t, a, b: t.where(a < b, a, b), lambda j, a, b: j.where(a < b, a, b), two(MIDDLE, LARGE),
                   ALL + INTEGERS, few=two(MIDDLE)),
    "divide": Case(lambda t, a, b: a / b, lambda j, a, b: a / b, two(MIDDLE, LARGE), ALL, ("any", "positive"), few=two(MIDDLE)),
    "power": Case(lambda t, a, b: t.pow(a, b), lambda j, a, b: j.power(a, b), two(MIDDLE, LARGE), ALL, ("positive", "any"),
                  few=two(MIDDLE)),
    **{f"cast_{to}": Case(lambda t, a, to=to: a.to(getattr(t, to)), lambda j, a, to=to: a.astype(to), one(LARGE),
                          ALL[1:] + INTEGERS if to == "float32" else ("float32",)) for to in ALL + INTEGERS},
    "sum_all": Case(lambda t, a: t.sum(a), lambda j, a: j.sum(a), one((1000, 1000)), FLOATS + HALVES),
    "sum_0": Case(lambda t, a: t.sum(a, 0), lambda j, a: j.sum(a, 0), WIDE, **VALUES),
    "sum_1": Case(lambda t, a: t.sum(a, 1), lambda j, a: j.sum(a, 1), WIDE, **VALUES),
    "sum_middle": Case(lambda t, a: t.sum(a, 1), lambda j, a: j.sum(a, 1), MIDDLE_AXIS, REDUCED, few=MIDDLE_AXIS[:1]),
    "max_all": Case(lambda t, a: t.amax(a), lambda j, a: j.max(a), one((1000, 1000)), REDUCED),
    "max_0": Case(lambda t, a: t.amax(a, 0), lambda j, a: j.max(a, 0), WIDE, **VALUES),
    "max_1": Case(lambda t, a: t.amax(a, 1), lambda j, a: j.max(a, 1), WIDE, gradient=("float32",), **VALUES),
    "max_middle": Case(lambda t, a: t.amax(a, 1), lambda j, a: j.max(a, 1), MIDDLE_AXIS, REDUCED, few=MIDDLE_AXIS[:1]),
    "argmax_0": Case(lambda t, a: t.argmax(a, 0), lambda j, a: j.argmax(a, 0), one(LARGE), REDUCED),
    "argmax_1": Case(lambda t, a: t.argmax(a, 1), lambda j, a: j.argmax(a, 1), one((65536, 10), LARGE, (33, 7)), REDUCED,
                     few=one((65536, 10), LARGE)),
    "cumsum_0": Case(lambda t, a: t.cumsum(a, 0), lambda j, a: j.cumsum(a, 0), one(LARGE, (65536, 10)), REDUCED, few=one(MIDDLE)),
    "cumsum_1": Case(lambda t, a: t.cumsum(a, 1), lambda j, a: j.cumsum(a, 1), one(LARGE, (65536, 10), (4, 100000)), REDUCED,
                     gradient=("float32",), few=one(MIDDLE)),
    "mean_0": Case(lambda t, a: t.mean(a, 0), lambda j, a: j.mean(a, 0), one((4096, 1024), (65536, 3), (50000, 33)), ALL,
                   few=one(MIDDLE)),
    "mean_1": Case(lambda t, a: t.mean(a, 1), lambda j, a: j.mean(a, 1), one((4096, 1024), (65536, 3), (50000, 33)), ALL,
                   few=one(MIDDLE)),
    "variance_1": Case(lambda t, a: t.var(a, 1, correction=0), lambda j, a: j.var(a, 1), one((4096, 1024), (65536, 10)), ALL,
                       few=one(MIDDLE)),
    "product_1": Case(lambda t, a: t.prod(a, 1), lambda j, a: j.prod(a, 1), one(LARGE, (65536, 10))),
    "all": Case(lambda t, a: t.all(a < 2, 1), lambda j, a: j.all(a < 2, 1), one(LARGE, (65536, 10))),
    "any": Case(lambda t, a: t.any(a > 2, 1), lambda j, a: j.any(a > 2, 1), one(LARGE, (65536, 10))),
    "transpose": Case(lambda t, a: a.T.contiguous(), lambda j, a: a.T, one((1024, 1024), (65536, 10), (10, 65536), (777, 333)),
                      MOVED, few=one((1024, 1024), (777, 333))),
    "heads": Case(lambda t, x: x.permute(0, 2, 1, 3).contiguous(), lambda j, x: j.transpose(x, (0, 2, 1, 3)),
                  one((32, 128, 8, 64), (8, 64, 4, 16), (3, 33, 5, 7)), MOVED, few=one((8, 64, 4, 16))),
    "swap_first": Case(lambda t, x: x.permute(1, 0, 2).contiguous(), lambda j, x: j.transpose(x, (1, 0, 2)),
                       one((256, 256, 4), (100, 300, 3)), MOVED, few=one((100, 300, 3))),
    "gather_0": Case(lambda t, a, i: t.index_select(a, 0, i), lambda j, a, i: j.take(a, i, 0, mode="clip"),
                     [((10000, 128), (4096,)), ((10000, 3), (4096,))], MOVED, ("any", "row"), ("float32",)),
    "gather_1": Case(lambda t, a, i: t.index_select(a, 1, i), lambda j, a, i: j.take(a, i, 1, mode="clip"),
                     [((1000, 1000), (1000,)), ((512, 512), (100,))], MOVED, ("any", "column"), ("float32",)),
    "slice_1": Case(lambda t, a: a[:, 3:203].contiguous(), lambda j, a: a[:, 3:203], one(LARGE, (4096, 256)), MOVED,
                    gradient=("float32",), few=one((4096, 256))),
    "pad": Case(lambda t, a: t.nn.functional.pad(a, (2, 2, 1, 1)), lambda j, a: j.pad(a, ((1, 1), (2, 2))),
                one(LARGE, (4096, 256)), MOVED, few=one((4096, 256))),
    "concat_0": Case(lambda t, a, b: t.cat((a, b), 0), lambda j, a, b: j.concatenate((a, b), 0), two(LARGE, MIDDLE), MOVED,
                     few=two(MIDDLE)),
    "concat_1": Case(lambda t, a, b: t.cat((a, b), 1), lambda j, a, b: j.concatenate((a, b), 1),
                     two(LARGE, MIDDLE, (65536, 5)), MOVED, few=two(MIDDLE)),
    "tile_1": Case(lambda t, a: a.repeat(1, 3), lambda j, a: j.tile(a, (1, 3)), one((1000, 300), (65536, 5)), MOVED,
                   gradient=("float32",), few=one((1000, 300))),
    "one_hot": Case(lambda t, i: t.nn.functional.one_hot(i, 1000).float(), lambda j, i: jax_nn("one_hot")(i, 1000), one((1000,)),
                    ("int64",), ("row",)),
    "sort": Case(lambda t, a: t.sort(a, -1)[0], lambda j, a: j.sort(a, -1), one((1, 1000000), LARGE, (65536, 10), (100, 10000)),
                 ORDERED, few=one((1, 1000000), LARGE, (65536, 10))),
    "argsort": Case(lambda t, a: t.argsort(a, dim=-1, stable=True), lambda j, a: j.argsort(a, -1, stable=True),
                    one((1, 1000000), LARGE, (65536, 10)), ORDERED, few=one(LARGE)),
    "top_8": Case(lambda t, a: t.topk(a, 8)[0], largest, one((1, 1000000), LARGE, (65536, 10)), ORDERED, few=one(LARGE)),
    "nonzero": Case(lambda t, a: t.nonzero(a > 0.5), None, one(LARGE, (65536, 10))),
    "unique": Case(lambda t, i: t.unique(i), None, one((100000,)), ("int64",), ("row",), compared=False),
    "random_uniform": Case(lambda t, x: t.rand(x.shape), random("uniform"), one(MIDDLE, LARGE), compared=False),
    "random_normal": Case(lambda t, x: t.randn(x.shape), random("normal"), one(MIDDLE, LARGE), compared=False),
    "dropout": Case(lambda t, x: t.nn.functional.dropout(x, 0.5),
                    lambda j, x: j.where(random("uniform")(j, x) < 0.5, 2 * x, 0), one(MIDDLE, LARGE), compared=False),
    "random_permutation": Case(lambda t, x: t.randperm(x.shape[0]), None, one((1000,), (1000000,)), compared=False),
    "matmul": Case(lambda t, a, b: a @ b, lambda j, a, b: a @ b,
                   [((1, 3136), (3136, 1024)), ((4, 3136), (3136, 1024)), ((8, 3136), (3136, 1024)), ((1, 1024), (1024, 10)),
                    ((1, 128), (128, 128)), ((3, 777), (777, 333)), ((2000, 1000), (1000, 1)), ((16, 3136), (3136, 1024)),
                    ((256, 256), (256, 256)), ((512, 512), (512, 512))], ALL, gradient=ALL,
                   few=[((512, 512), (512, 512)), ((64, 64), (64, 64)), ((1, 1000), (1000, 1000)), ((333, 77), (77, 555))]),
    "matmul_integer": Case(lambda t, a, b: t._int_mm(a, b), integer_product,
                           [((512, 512), (512, 512)), ((64, 1024), (1024, 1024)), ((1, 1024), (1024, 1024)), ((32, 64), (64, 48))],
                           ("int8",)),
    "matmul_nt": Case(lambda t, a, b: a @ b.T, lambda j, a, b: a @ b.T,
                      [((1, 1024), (3136, 1024)), ((4, 1024), (3136, 1024)), ((8, 1024), (3136, 1024)), ((1, 10), (1024, 10)),
                       ((3, 333), (777, 333))], ALL, few=[((512, 512), (512, 512)), ((4, 1000), (1000, 1000))]),
    "matmul_tn": Case(lambda t, a, b: a.T @ b, lambda j, a, b: a.T @ b,
                      [((1, 3136), (1, 1024)), ((4, 3136), (4, 1024)), ((1, 1024), (1, 10)), ((3136, 1), (3136, 1024))], ALL,
                      few=[((512, 512), (512, 512))]),
    "matmul_batch": Case(lambda t, a, b: a @ b, lambda j, a, b: a @ b,
                         [((64, 64, 32), (64, 32, 64)), ((512, 16, 16), (512, 16, 16)), ((8, 128, 128), (8, 128, 128)),
                          ((512, 4, 4), (512, 4, 4)), ((512, 32, 32), (512, 32, 32)), ((64, 16, 64), (64, 64, 16))], ALL,
                         gradient=ALL, few=[((64, 64, 32), (64, 32, 64)), ((512, 16, 16), (512, 16, 16))]),
    "conv_1": Case(*conv(padding="VALID"), [((8, 28, 28, 64), (1, 1, 64, 64)), ((1, 14, 14, 256), (1, 1, 256, 64))],
                   WINDOWED, gradient=WINDOWED, few=[((8, 14, 14, 64), (1, 1, 64, 64))]),
    "conv_3": Case(*conv(), [((8, 28, 28, 32), (3, 3, 32, 32)), ((1, 56, 56, 64), (3, 3, 64, 64)),
                             ((4, 33, 31, 3), (3, 3, 3, 16))], WINDOWED, gradient=WINDOWED, few=[((4, 14, 14, 32), (3, 3, 32, 32))]),
    "conv_5": Case(*conv(padding="VALID"), [((16, 28, 28, 1), (5, 5, 1, 32)), ((16, 12, 12, 32), (5, 5, 32, 64))],
                   gradient=("float32",)),
    "conv_stride": Case(*conv(2), [((8, 56, 56, 32), (3, 3, 32, 64))], gradient=("float32",)),
    "conv_depthwise": Case(*conv(groups=64), [((8, 28, 28, 64), (3, 3, 1, 64))], gradient=("float32",)),
    "max_pool": Case(*pool("max", 2, 2), one((8, 56, 56, 64), (16, 24, 24, 32)), WINDOWED, gradient=WINDOWED,
                     few=one((16, 24, 24, 32))),
    "max_pool_3": Case(*pool("max", 3, 2), one((8, 55, 55, 64)), gradient=("float32",)),
    "average_pool": Case(*pool("average", 2, 2), one((8, 56, 56, 64), (16, 24, 24, 32)), WINDOWED,
                         gradient=WINDOWED, few=one((16, 24, 24, 32))),
    "softmax": Case(lambda t, a: t.softmax(a, -1), activation("softmax"),
                    one((4096, 128), (1024, 1000), (65536, 10), (64, 10)), ALL, gradient=ALL, few=one((1024, 300))),
    "log_softmax": Case(lambda t, a: t.log_softmax(a, -1), activation("log_softmax"), one((1024, 1000), (65536, 10)), ALL,
                        gradient=ALL, few=one((1024, 300))),
    "layer_norm": Case(lambda t, x, g, b: t.nn.functional.layer_norm(x, x.shape[-1:], g, b, 1e-5), layer_norm,
                       [((4096, 768), (768,), (768,)), ((64, 768), (768,), (768,))], ALL, gradient=ALL,
                       few=[((512, 768), (768,), (768,))]),
    "batch_norm": Case(lambda t, x, g, b: t.nn.functional.batch_norm(x, None, None, g, b, True, 0.0, 1e-5), batch_norm,
                       [((4096, 256), (256,), (256,)), ((64, 256), (256,), (256,))], ALL, gradient=ALL,
                       few=[((1024, 256), (256,), (256,))]),
    "cross_entropy": Case(lambda t, a, i: t.nn.functional.cross_entropy(a, i, reduction="none"),
                          lambda j, a, i: -j.take_along_axis(jax_nn("log_softmax")(a), i[:, None], 1)[:, 0],
                          [((128, 10), (128,)), ((4096, 10), (4096,)), ((1024, 1000), (1024,))], kinds=("any", "column"),
                          gradient=("float32",)),
    "attention": Case(torch_attention, lambda j, q, k, v: attention(j, jax_nn("softmax"), q, k, v),
                      [((16, 64, 128),) * 3, ((2, 256, 128),) * 3], gradient=("float32",)),
}


def jax_scipy_erf(x):
    import jax
    return jax.scipy.special.erf(x)


def numbers(shape, operand, kind, what, first):
    """As `numbers` of operation.hpp, in a type that NumPy has."""
    i = numpy.arange(int(numpy.prod(shape)), dtype=numpy.int64)
    if what in ("row", "column"):
        return ((i + 1) * 7919 % first[what == "column"]).reshape(shape)
    n = ((i + operand * 104729) * 2654435761 >> 9) % 1000003  # in no order
    if kind.startswith("int"):
        return (n % 100 + 1 if kind == "int8" else n * 2099 - 1000000000).astype(kind).reshape(shape)
    values = (n + 10001) / 1010003.0 if what == "positive" else n / 500001.5 - 1.0
    return values.astype("float32" if kind in HALVES else kind).reshape(shape)


def operands(case, kind, shapes, slope=None):
    """What the program feeds, in types of NumPy; `slope` is the extents of one more."""
    what = list(case.kinds) + ["any"] * (len(shapes) - len(case.kinds))
    if slope is not None:
        shapes, what = [*shapes, slope], what + ["any"]
    return [numpy.float32(numbers(s, i, kind, w, shapes[0])).astype("float32" if kind in HALVES else kind)
            if w not in ("row", "column") and not kind.startswith("int") else numbers(s, i, kind, w, shapes[0])
            for i, (s, w) in enumerate(zip(shapes, what))]


class Ours:
    def __init__(self, program, threads):
        self.process = subprocess.Popen([program, str(threads)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout.readline().strip() == "ready"

    def ask(self, *words):
        self.process.stdin.write(" ".join(words) + "\n")
        self.process.stdin.flush()
        return self.process.stdout.readline().strip()

    def time(self, name, shapes, calls, wall):
        answer = self.ask("time", name, *shapes, str(calls)).split()
        if len(answer) != 2:
            raise SystemExit(f"{name} {' '.join(shapes)}: the program says '{' '.join(answer)}'")
        return float(answer[0 if wall else 1]) / calls

    def result(self, name, shapes):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "result")
            answer = self.ask("keep", name, *shapes, path)
            if answer != "kept":
                raise SystemExit(f"{name} {' '.join(shapes)}: the program says '{answer}'")
            with open(path, "rb") as f:
                return f.read()

    def end(self):
        self.process.stdin.close()
        self.process.wait()


class Torch:
    name = "torch"

    def __init__(self, threads):
        import torch
        self.torch = torch
        torch.set_num_threads(threads)
        torch.set_flush_denormal(True)

    def version(self):
        return "PyTorch " + self.torch.__version__

    def prepare(self, case, kind, gradient, shapes):
        t = self.torch
        tensors = [t.from_numpy(x) for x in operands(case, kind, shapes)]
        if kind in HALVES:
            tensors = [x.to(getattr(t, kind)) if x.is_floating_point() else x for x in tensors]
        if not gradient:
            def call():
                with t.no_grad():
                    return case.torch(t, *tensors)
        else:
            by = [x.requires_grad_() for x in tensors if x.is_floating_point()]
            slope = t.from_numpy(operands(case, kind, shapes, self.extents(case, tensors))[-1])
            slope = slope.to(getattr(t, kind)) if kind in HALVES else slope
            call = lambda: t.autograd.grad(case.torch(t, *tensors), by, slope)
        self.call = call

    def extents(self, case, tensors):
        with self.torch.no_grad():
            return tuple(case.torch(self.torch, *tensors).shape)

    def shape(self, case, kind, shapes):
        tensors = [self.torch.from_numpy(x) for x in operands(case, kind, shapes)]
        return self.extents(case, tensors)

    def result(self):
        results = self.call()
        for r in results if isinstance(results, tuple) else (results,):
            yield r.double().contiguous().numpy()

    def time(self, calls, wall):
        clock = time.perf_counter if wall else time.process_time
        start = clock()
        for _ in range(calls):
            self.call()
        return (clock() - start) / calls


class Jax:
    """In a process of its own: it takes its number of threads from the environment."""
    name = "jax"

    def __init__(self, threads):
        environment = dict(os.environ, JAX_PLATFORMS="cpu", JAX_ENABLE_X64="1")
        environment["XLA_FLAGS"] = f"--xla_cpu_multi_thread_eigen={'false' if threads == 1 else 'true'}" \
                                   f" intra_op_parallelism_threads={threads}"
        self.process = subprocess.Popen([sys.executable, __file__, "--worker"], env=environment, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)
        self.of = self.ask({"ask": "version"})

    def ask(self, message):
        self.process.stdin.write(json.dumps(message) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            raise SystemExit("the worker with JAX has ended")
        answer = json.loads(line)
        if isinstance(answer, dict):
            raise SystemExit(f"JAX: {answer['error']}")
        return answer

    def version(self):
        return "JAX " + self.of

    def prepare(self, case, kind, gradient, shapes):
        name = next(n for n, c in TABLE.items() if c is case)
        self.ask({"ask": "prepare", "name": name, "kind": kind, "gradient": gradient, "shapes": shapes})

    def result(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "result.npz")
            self.ask({"ask": "result", "path": path})
            kept = numpy.load(path)
            yield from (kept[n] for n in kept.files)

    def time(self, calls, wall):
        return self.ask({"ask": "time", "calls": calls})[0 if wall else 1] / calls

    def end(self):
        self.process.stdin.close()
        self.process.wait()


def serve_jax():
    import jax
    import jax.numpy as j
    call = None
    for line in sys.stdin:
        message = json.loads(line)
        answer = "done"
        try:
            if message["ask"] == "version":
                answer = jax.__version__
            elif message["ask"] == "prepare":
                case, kind, shapes = TABLE[message["name"]], message["kind"], [tuple(s) for s in message["shapes"]]
                given = [j.asarray(x) for x in operands(case, kind, shapes)]
                as_kind = lambda x: x.astype(kind) if kind in HALVES and x.dtype == j.float32 else x
                given = [as_kind(x) for x in given]
                if message["gradient"]:
                    extents = jax.eval_shape(lambda *x: case.jax(j, *x), *given).shape
                    slope = as_kind(j.asarray(operands(case, kind, shapes, extents)[-1]))
                    places = [i for i, x in enumerate(given) if j.issubdtype(x.dtype, j.floating)]

                    def derive(slope, *x):
                        def of(*floats):
                            all = list(x)
                            for i, f in zip(places, floats):
                                all[i] = f
                            return case.jax(j, *all)
                        return jax.vjp(of, *[x[i] for i in places])[1](slope)
                    function, given = jax.jit(derive), [slope, *given]
                else:
                    function = jax.jit(lambda *x: case.jax(j, *x))
                call = lambda: jax.block_until_ready(function(*given))
                call()
            elif message["ask"] == "result":
                results = call()
                results = results if isinstance(results, (tuple, list)) else (results,)
                numpy.savez(message["path"], *[numpy.asarray(r, dtype="float64") for r in results])
            else:
                wall, processor = time.perf_counter(), time.process_time()
                for _ in range(message["calls"]):
                    call()
                answer = [time.perf_counter() - wall, time.process_time() - processor]
        except Exception as problem:  # it is said where the table is printed
            answer = {"error": str(problem)[:500]}
        print(json.dumps(answer), flush=True)


def as_doubles(data, kind):
    if kind == "bfloat16":
        return (numpy.frombuffer(data, "uint16").astype("uint32") << 16).view("float32").astype("float64")
    return numpy.frombuffer(data, kind).astype("float64")


TOLERANCE = {"float64": 1e-5, "float32": 1e-3, "float16": 0.02, "bfloat16": 0.1}


def compare(name, shapes, kind, data, expected):
    """What the program has written beside the results of a peer, of any type of elements."""
    expected = numpy.concatenate([e.reshape(-1) for e in expected])
    size = len(data) // max(1, expected.size)
    kinds = {8: ("float64", "int64"), 4: ("float32", "int32"), 2: ("float16", "bfloat16"), 1: ("int8", "bool")}[size]
    target = name.split(".")[0].removeprefix("cast_")
    of = next((k for k in (target, kind) if k in kinds), None)
    if of is None:  # positions are int64, comparisons bool
        of = {8: "int64", 1: "bool", 4: "float32"}[size]
    if name.startswith(("arg", "nonzero")):
        of = "int64"
    if name.startswith("matmul_integer"):
        of = "int32"
    got = as_doubles(data, of)
    limit = max(TOLERANCE.get(k, 0) for k in (kind, of))
    scale = max(1.0, float(numpy.abs(expected).max(initial=0))) if limit else 1.0
    if of == "int32":  # PyTorch adds them up in 64 bits
        expected = (expected + 2**31) % 2**32 - 2**31
    if got.shape != expected.shape:
        return f"{name} {' '.join(shapes)}: {got.size} results, a peer has {expected.size}"
    worst = numpy.abs(got - expected).max(initial=0) / scale
    if not worst <= limit:
        return f"{name} {' '.join(shapes)}: results differ by {worst} of {scale}"
    return None


def written(shape):
    return "x".join(map(str, shape)) or "-"


def processor_name():
    try:
        with open("/proc/cpuinfo") as f:
            info = [line.split(":", 1)[1].strip() for line in f if line.startswith(("model name", "model\t"))]
            return " model ".join(reversed(info[:2]))
    except OSError:
        return platform.processor()


def summarize(rows):
    """How often which peer is ahead, beside the faster of them and beside each."""
    for threads in sorted({r["threads"] for r in rows}):
        of = [r for r in rows if r["threads"] == threads and r["ratios"]]
        peers = sorted({p for r in of for p in r["ratios"] if p != "before"})
        for peer in peers + (["faster of them"] if len(peers) > 1 else []):
            pick = lambda r: min((v for p, v in r["ratios"].items() if p != "before"), default=None) \
                if peer == "faster of them" else r["ratios"].get(peer)
            values = sorted(v for v in map(pick, of) if v)
            if values:
                mean = math.exp(sum(map(math.log, values)) / len(values))
                print(f"{threads} threads, {peer}: {len(values)} cases, geometric mean {mean:.2f}, below 0.95 "
                      f"{sum(v < 0.95 for v in values)}, below 0.8 {sum(v < 0.8 for v in values)}, least {values[0]:.2f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program")
    parser.add_argument("--before")
    parser.add_argument("--peer", choices=("torch", "jax", "none"), action="append")
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--only", help="operations whose names begin so, separated by commas; 'log.' is log alone")
    parser.add_argument("--type", help="element types, separated by commas")
    parser.add_argument("--forward", action="store_true", help="without gradients")
    parser.add_argument("--bursts", type=int, default=9)
    parser.add_argument("--seconds", type=float, default=0.03, help="of a burst")
    parser.add_argument("--json")
    parser.add_argument("--summary", metavar="FILE", help="of --json; nothing is run")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.worker:
        return serve_jax()
    if arguments.summary:
        with open(arguments.summary) as f:
            return summarize(json.load(f)["rows"])
    if not arguments.program:
        parser.error("--program is missing")
    rows, versions, problems = [], {}, []
    for threads in arguments.threads:
        wall = threads > 1
        names = arguments.peer or ["torch"]
        try:
            peers = [{"torch": Torch, "jax": Jax}[p](threads) for p in names if p != "none"]
        except ImportError as missing:
            parser.error(f"{missing}: --peer none leaves peers out")
        versions.update({p.name: p.version() for p in peers})
        ours = Ours(arguments.program, threads)
        before = Ours(arguments.before, threads) if arguments.before else None
        heads = " ".join(f"{h:>8}" for h in (["before"] if before else []) + [p.name for p in peers])
        print(f"{'operation':<28} {'extents':<28} threads {'ours':>10} {heads}", flush=True)
        for family, case in TABLE.items():
            for name, kind, gradient, shapes in case.cases(family):
                if arguments.only and not (name + ".").startswith(tuple(arguments.only.split(","))):
                    continue
                if arguments.type and kind not in arguments.type.split(",") or gradient and arguments.forward:
                    continue
                at_hand = [p for p in peers if getattr(case, p.name)]
                extents = [written(s) for s in shapes]
                if gradient:
                    extents.append(written(result_extents(case, kind, shapes, at_hand)))
                row = {"operation": name, "extents": extents, "threads": threads}
                calls = {"ours": lambda n: ours.time(name, extents, n, wall)}
                # Threads of peers wait awake for a while when they have nothing to do, on the processor of the next.
                rest = REST if wall else 0
                if before:
                    calls["before"] = lambda n: before.time(name, extents, n, wall)
                kept = ours.result(name, extents) if case.compared and at_hand else None
                for peer in at_hand:
                    peer.prepare(case, kind, gradient, shapes)
                    if case.compared:
                        differ = compare(name, extents, kind, kept, list(peer.result()))
                        if differ:
                            problems.append(f"{differ} ({peer.name})")
                            print(problems[-1], flush=True)
                    calls[peer.name] = lambda n, peer=peer: peer.time(n, wall)
                counts, best = {}, {}
                for who, f in calls.items():
                    time.sleep(rest)
                    f(1)
                    counts[who] = max(1, int(arguments.seconds / max(f(3), 1e-7)))
                    best[who] = float("inf")
                for _ in range(arguments.bursts):
                    for who, f in calls.items():
                        if rest:
                            time.sleep(rest)
                            f(3)  # what was in the caches is there again
                        best[who] = min(best[who], f(counts[who]))
                row.update({who + "_seconds": s for who, s in best.items()})
                row["ratios"] = {who: s / best["ours"] for who, s in best.items() if who != "ours"}
                rows.append(row)
                shown = " ".join(f"{row['ratios'].get(who, float('nan')):8.2f}"
                                 for who in (["before"] if before else []) + [p.name for p in peers])
                print(f"{name:<28} {' '.join(extents):<28} {threads:>7} {best['ours'] * 1e6:>8.1f}us {shown}", flush=True)
        ours.end()
        for other in [before, *peers]:
            if hasattr(other, "end"):
                other.end()
    summarize(rows)
    if arguments.json:
        facts = {"processor": processor_name(), "processors": os.cpu_count(), "peers": versions}
        with open(arguments.json, "w") as f:
            json.dump({"machine": facts, "rows": rows}, f, indent=1)
    if problems:
        sys.exit("\n".join(problems))


def result_extents(case, kind, shapes, peers):
    for peer in peers:
        if peer.name == "torch":
            return peer.shape(case, kind, shapes)
    raise SystemExit("gradients need PyTorch, which tells the extents of results")


if __name__ == "__main__":
    main()
