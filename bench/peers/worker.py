# SPDX-License-Identifier: BSL-1.0
"""What the Python workers of the comparison share: the command line, the data, and the answers to the driver (see
protocol.hpp)."""

import sys
import time

BATCHES = 16
WORKS = ("mlp", "cnn", "lstm", "transformer", "tiny_scan", "chain", "queue", "csv", "tf_record", "pipeline", "images",
         "null_step", "remote_queue", "between_graph")
ADAM_RATE, SGD_RATE = 1e-3, 1e-2


def options():
    """Work, batch, threads, and 'adam' or 'sgd'."""
    if len(sys.argv) != 5 or sys.argv[1] not in WORKS or sys.argv[4] not in ("adam", "sgd"):
        sys.exit(f"usage: {sys.argv[0]} {'|'.join(WORKS)} <batch> <threads> adam|sgd")
    return sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4] == "adam"


def make_batches(numpy, batch):
    result = []
    for seed in range(BATCHES):
        bits = numpy.random.default_rng(seed)
        result.append((bits.integers(0, 256, (batch, 784)).astype(numpy.float32) / 255,
                       bits.integers(0, 10, batch).astype(numpy.int64)))
    return result


def make_sequences(numpy, batch, length=32):
    result = []
    for seed in range(BATCHES):
        bits = numpy.random.default_rng(seed)
        result.append((bits.integers(0, 256, (batch, length, 128)).astype(numpy.float32) / 255,
                       bits.integers(0, 10, batch).astype(numpy.int64)))
    return result


def serve(version, step, warm_up=20, prepare=lambda count: None):
    """step(i) runs step i and returns a callable for its loss, which is asked for at the end of a burst only; prepare(count)
    comes before that many, and before the clock."""
    done = 0
    prepare(warm_up)
    for _ in range(warm_up):
        loss = step(done)
        done += 1
    loss()
    print("ready", version, flush=True)
    for line in sys.stdin:
        count = int(line)
        prepare(count)
        start = time.perf_counter()
        for _ in range(count):
            loss = step(done)
            done += 1
        value = loss()
        print(f"{time.perf_counter() - start:.9f} {value:.6f}", flush=True)
