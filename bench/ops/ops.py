# SPDX-License-Identifier: BSL-1.0
"""Single operations beside PyTorch's, at several extents: results are compared, then both take turns.

    python3 bench/ops/ops.py --program build/full/bench/ops/bench_ops [--before other/bench_ops] [--json out.json]

Prints the peer's time by ours, so that above 1 this library is faster. With one thread the time is that of the
processor, with more that of the clock; the least of several bursts counts. `--before` is the program of another tree,
`--peer none` leaves PyTorch out."""

import argparse
import json
import os
import platform
import subprocess
import tempfile
import time

import numpy

try:
    import torch
except ImportError:
    torch = None


# Operation of ops.cpp: what PyTorch calls it, and the extents of its operands.
# A line here and one in ops.cpp for each operation.
FEATURES, CHANNELS = ((768,), (768,)), ((256,), (256,))
TABLE = {
    "matmul": (lambda t, a, b: a @ b, [((1, 3136), (3136, 1024)), ((4, 3136), (3136, 1024)), ((8, 3136), (3136, 1024)),
                                       ((1, 1024), (1024, 10)), ((1, 128), (128, 128)), ((3, 777), (777, 333)),
                                       ((2000, 1000), (1000, 1)), ((16, 3136), (3136, 1024)),
                                       ((256, 256), (256, 256))]),
    "matmul_nt": (lambda t, a, b: a @ b.T, [((1, 1024), (3136, 1024)), ((4, 1024), (3136, 1024)),
                                            ((8, 1024), (3136, 1024)), ((1, 10), (1024, 10)), ((3, 333), (777, 333))]),
    "matmul_tn": (lambda t, a, b: a.T @ b, [((1, 3136), (1, 1024)), ((4, 3136), (4, 1024)), ((1, 1024), (1, 10)),
                                            ((3136, 1), (3136, 1024))]),
    "matmul_double": (lambda t, a, b: a @ b, [((512, 512), (512, 512)), ((64, 64), (64, 64)), ((1, 1000), (1000, 1000)),
                                              ((333, 77), (77, 555))]),
    "matmul_double_nt": (lambda t, a, b: a @ b.T, [((512, 512), (512, 512)), ((4, 1000), (1000, 1000))]),
    "matmul_double_tn": (lambda t, a, b: a.T @ b, [((512, 512), (512, 512))]),
    "transpose": (lambda t, a: a.T.contiguous(), [((1024, 1024),), ((65536, 10),), ((10, 65536),), ((777, 333),)]),
    "heads": (lambda t, x: x.permute(0, 2, 1, 3).contiguous(), [((32, 128, 8, 64),), ((8, 64, 4, 16),),
                                                                ((3, 33, 5, 7),)]),
    "swap_first": (lambda t, x: x.permute(1, 0, 2).contiguous(), [((256, 256, 4),), ((100, 300, 3),)]),
    "argmax": (lambda t, a: t.argmax(a, -1), [((65536, 10),), ((1000, 1000),), ((33, 7),)]),
    "argmax_0": (lambda t, a: t.argmax(a, 0), [((1000, 1000),)]),
    "gather_1": (lambda t, a, i: t.index_select(a, 1, i), [((1000, 1000), (1000,)), ((512, 512), (100,))]),
    "gather_0": (lambda t, a, i: t.index_select(a, 0, i), [((10000, 128), (4096,)), ((10000, 3), (4096,))]),
    "softmax": (lambda t, a: t.softmax(a, -1), [((4096, 128),), ((1024, 1000),), ((65536, 10),), ((64, 10),)]),
    "log_softmax": (lambda t, a: t.log_softmax(a, -1), [((1024, 1000),), ((65536, 10),)]),
    "layer_norm": (lambda t, x, g, b: layer_norm(t, x, g, b), [((4096, 768), *FEATURES), ((64, 768), *FEATURES)]),
    "layer_norm_gradient": (lambda t, x, g, b: gradient(t, layer_norm, x, g, b), [((4096, 768), *FEATURES)]),
    "batch_norm": (lambda t, x, g, b: batch_norm(t, x, g, b), [((4096, 256), *CHANNELS), ((64, 256), *CHANNELS)]),
    "batch_norm_gradient": (lambda t, x, g, b: gradient(t, batch_norm, x, g, b), [((4096, 256), *CHANNELS)]),
    "sum_0": (lambda t, a: t.sum(a, 0), [((4096, 1024),), ((65536, 10),), ((100, 3000),)]),
    "max_0": (lambda t, a: t.amax(a, 0), [((4096, 1024),), ((65536, 10),), ((100, 3000),)]),
    "mean_0": (lambda t, a: t.mean(a, 0), [((4096, 1024),), ((65536, 3),), ((50000, 33),)]),
    "sum_middle": (lambda t, x: t.sum(x, 1), [((64, 128, 100),), ((16, 4096, 7),), ((1000, 30, 30),)]),
    "max_middle": (lambda t, x: t.amax(x, 1), [((64, 128, 100),), ((16, 4096, 7),), ((1000, 30, 30),)]),
    "sum_1": (lambda t, a: t.sum(a, 1), [((4096, 1024),), ((65536, 10),)]),
    "max_1": (lambda t, a: t.amax(a, 1), [((4096, 1024),), ((65536, 10),)]),
    "sort": (lambda t, a: t.sort(a, -1)[0], [((1, 1000000),), ((1000, 1000),), ((65536, 10),), ((100, 10000),)]),
    "sort_int32": (lambda t, a: t.sort(a, -1)[0], [((1, 1000000),), ((1000, 1000),), ((65536, 10),)]),
    "argsort": (lambda t, a: t.argsort(a, dim=-1, stable=True), [((1, 1000000),), ((1000, 1000),), ((65536, 10),)]),
    "cumsum_1": (lambda t, a: t.cumsum(a, 1), [((1000, 1000),), ((65536, 10),), ((4, 100000),)]),
    "cumsum_0": (lambda t, a: t.cumsum(a, 0), [((1000, 1000),), ((65536, 10),)]),
    "tanh": (lambda t, a: t.tanh(a), [((1000, 1000),)]),
    "gelu": (lambda t, a: t.nn.functional.gelu(a), [((1000, 1000),)]),
    "sin": (lambda t, a: t.sin(a), [((1000, 1000),)]),
    "erf": (lambda t, a: t.erf(a), [((1000, 1000),)]),
}


def layer_norm(t, x, g, b):
    return t.nn.functional.layer_norm(x, (x.shape[-1],), g, b, 1e-5)


def batch_norm(t, x, g, b):
    return t.nn.functional.batch_norm(x, None, None, g, b, True, 0.0, 1e-5)


def gradient(t, function, x, g, b):
    with t.enable_grad():
        y = x.detach().requires_grad_()
        return t.autograd.grad(function(t, y, g, b).square().sum(), y)[0]


def numbers(shape, operand, limit, kind):
    """As `numbers` of ops.cpp."""
    i = numpy.arange(int(numpy.prod(shape)), dtype=numpy.int64)
    if kind == "int64":
        return ((i + 1) * 7919 % limit).reshape(shape)
    n = ((i + operand * 104729) * 2654435761 >> 9) % 1000003  # in no order
    if kind == "int32":
        return (n * 4099 - 2000000000).astype(kind).reshape(shape)
    return (n / 500001.5 - 1.0).astype(kind).reshape(shape)


def operands(name, shapes):
    kind = "float64" if "double" in name else "int32" if "int32" in name else "float32"
    return [numbers(s, i, shapes[0][1] if name == "gather_1" else shapes[0][0],
                    "int64" if name.startswith("gather") and i == 1 else kind) for i, s in enumerate(shapes)]


class Ours:
    def __init__(self, program, threads):
        self.process = subprocess.Popen([program, str(threads)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True)
        assert self.process.stdout.readline().strip() == "ready"

    def ask(self, *words):
        self.process.stdin.write(" ".join(words) + "\n")
        self.process.stdin.flush()
        return self.process.stdout.readline().strip()

    def time(self, name, shapes, calls, wall):
        answer = self.ask("time", name, *shapes, str(calls)).split()
        return float(answer[0 if wall else 1]) / calls

    def result(self, name, shapes):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "result")
            assert self.ask("keep", name, *shapes, path) == "kept", f"{name} {shapes}"
            with open(path, "rb") as f:
                return f.read()

    def end(self):
        self.process.stdin.close()
        self.process.wait()


def time_peer(call, calls, wall):
    clock = time.perf_counter if wall else time.process_time
    start = clock()
    for _ in range(calls):
        call()
    return (clock() - start) / calls


def processor_name():
    try:
        with open("/proc/cpuinfo") as f:
            info = [line.split(":", 1)[1].strip() for line in f if line.startswith(("model name", "model\t"))]
            return " model ".join(reversed(info[:2]))
    except OSError:
        return platform.processor()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True)
    parser.add_argument("--before")
    parser.add_argument("--peer", choices=("torch", "none"), default="torch")
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--only", help="operations whose names begin so, separated by commas")
    parser.add_argument("--bursts", type=int, default=9)
    parser.add_argument("--seconds", type=float, default=0.03, help="of a burst")
    parser.add_argument("--json")
    arguments = parser.parse_args()
    if arguments.peer == "torch" and torch is None:
        parser.error("PyTorch is not installed: --peer none leaves it out")
    use_torch = arguments.peer == "torch"
    rows = []
    for threads in arguments.threads:
        wall = threads > 1
        if use_torch:
            torch.set_num_threads(threads)
            torch.set_flush_denormal(True)
        ours = Ours(arguments.program, threads)
        before = Ours(arguments.before, threads) if arguments.before else None
        print(f"{'operation':<20} {'extents':<28} threads {'ours':>10} {'before':>8} {'peer':>8}", flush=True)
        for name, (function, cases) in TABLE.items():
            if arguments.only and not name.startswith(tuple(arguments.only.split(","))):
                continue
            for shapes in cases:
                written = ["x".join(map(str, s)) for s in shapes]
                row = {"operation": name, "extents": written, "threads": threads}
                calls = {}
                if use_torch:
                    tensors = [torch.from_numpy(x) for x in operands(name, shapes)]
                    call = lambda: function(torch, *tensors)
                    with torch.no_grad():
                        expected = call().contiguous().numpy()
                    got = numpy.frombuffer(ours.result(name, written), expected.dtype).reshape(expected.shape)
                    if not numpy.allclose(got, expected, rtol=1e-3, atol=1e-3):
                        raise SystemExit(f"{name} {written}: results differ by {abs(got - expected).max()}")
                    calls["peer"] = lambda n: time_peer(call, n, wall)
                calls["ours"] = lambda n: ours.time(name, written, n, wall)
                if before:
                    calls["before"] = lambda n: before.time(name, written, n, wall)
                counts, best = {}, {}
                for who, f in calls.items():
                    f(1)
                    counts[who] = max(1, int(arguments.seconds / max(f(3), 1e-7)))
                    best[who] = float("inf")
                for _ in range(arguments.bursts):
                    for who, f in calls.items():
                        with torch.no_grad() if use_torch else tempfile.TemporaryFile():
                            best[who] = min(best[who], f(counts[who]))
                row.update({who + "_seconds": s for who, s in best.items()})
                row["ratios"] = {who: s / best["ours"] for who, s in best.items() if who != "ours"}
                rows.append(row)
                shown = " ".join(f"{row['ratios'].get(who, float('nan')):8.2f}" for who in ("before", "peer"))
                print(f"{name:<20} {' '.join(written):<28} {threads:>7} {best['ours'] * 1e6:>8.1f}us {shown}", flush=True)
        ours.end()
        if before:
            before.end()
    if arguments.json:
        facts = {"processor": processor_name(), "processors": os.cpu_count(),
                 "peer": "PyTorch " + torch.__version__ if use_torch else None}
        with open(arguments.json, "w") as f:
            json.dump({"machine": facts, "rows": rows}, f, indent=1)


if __name__ == "__main__":
    main()
