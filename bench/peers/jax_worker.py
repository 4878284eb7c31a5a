# SPDX-License-Identifier: BSL-1.0
"""Training steps in JAX, compiled by XLA: `lax.scan` over the cell of `tagma::lstm`; a block of a transformer; `tiny_scan`: 1,000 iterations over
four numbers."""

import os
import sys

if len(sys.argv) > 3:  # before it is imported
    one = sys.argv[3] == "1"
    os.environ["XLA_FLAGS"] = f"--xla_cpu_multi_thread_eigen={'false' if one else 'true'} intra_op_parallelism_threads={sys.argv[3]}"
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:int(sys.argv[3])])

import jax
import jax.numpy as jnp
import numpy

import worker

work, batch, threads, adam = worker.options()
FEATURES = UNITS = 128
BETA1, BETA2, EPSILON = 0.9, 0.999, 1e-8


def tiny_scan():
    x, begin = jnp.zeros((1000, 4)), jnp.zeros(4)

    @jax.jit
    def run(x, begin):
        return jax.lax.scan(lambda h, e: (jnp.tanh(h + e), None), begin, x)[0]

    def step(_):
        last = run(x, begin)
        last.block_until_ready()
        return lambda: float(last[0])

    worker.serve(jax.__version__, step)


def lstm():
    """Weights, and the loss of sequences of 32 steps."""
    keys = jax.random.split(jax.random.PRNGKey(42), 3)
    glorot = jax.nn.initializers.glorot_uniform()
    weights = {"kernel": glorot(keys[0], (FEATURES + UNITS, 4 * UNITS)), "bias": jnp.zeros(4 * UNITS),
               "logits": glorot(keys[1], (UNITS, 10)), "logits_bias": jnp.zeros(10)}

    def loss_of(w, x, y):
        inputs = jnp.transpose(x, (1, 0, 2)) @ w["kernel"][:FEATURES] + w["bias"]

        def cell(carry, e):
            h, c = carry
            i, j, f, o = jnp.split(e + h @ w["kernel"][FEATURES:], 4, axis=1)
            c = jax.nn.sigmoid(f + 1) * c + jax.nn.sigmoid(i) * jnp.tanh(j)
            return (jnp.tanh(c) * jax.nn.sigmoid(o), c), None

        zero = jnp.zeros((x.shape[0], UNITS))
        (h, _), _ = jax.lax.scan(cell, (zero, zero), inputs)
        return entropy(h @ w["logits"] + w["logits_bias"], y)

    return weights, loss_of, worker.make_sequences(numpy, batch)


def transformer():
    """Weights, and the loss of one block over sequences of 64 steps."""
    glorot = jax.nn.initializers.glorot_uniform()
    keys = iter(jax.random.split(jax.random.PRNGKey(42), 8))

    def dense(inputs, outputs):
        return {"kernel": glorot(next(keys), (inputs, outputs)), "bias": jnp.zeros(outputs)}

    def norm():
        return {"gamma": jnp.ones(128), "beta": jnp.zeros(128)}

    weights = {"norm1": norm(), "qkv": dense(128, 384), "out": dense(128, 128), "norm2": norm(), "hidden": dense(128, 512),
               "output": dense(512, 128), "logits": dense(128, 10)}

    def apply(w, x):
        return x @ w["kernel"] + w["bias"]

    def normalised(w, x):
        mean, variance = jnp.mean(x, -1, keepdims=True), jnp.var(x, -1, keepdims=True)
        return (x - mean) * jax.lax.rsqrt(variance + 1e-5) * w["gamma"] + w["beta"]

    def loss_of(w, x, y):
        q, k, v = jnp.split(apply(w["qkv"], normalised(w["norm1"], x)).reshape(batch, 64, 12, 32), 3, axis=2)
        attended = jax.nn.dot_product_attention(q, k, v).reshape(batch, 64, 128)
        h = x + apply(w["out"], attended)
        h = h + apply(w["output"], jax.nn.gelu(apply(w["hidden"], normalised(w["norm2"], h)), approximate=False))
        return entropy(apply(w["logits"], jnp.mean(h, axis=1)), y)

    return weights, loss_of, worker.make_sequences(numpy, batch, 64)


def entropy(logits, y):
    return -jnp.mean(jnp.take_along_axis(jax.nn.log_softmax(logits), y[:, None], axis=1))


def train(weights, loss_of, batches):
    state = (weights, jax.tree.map(jnp.zeros_like, weights), jax.tree.map(jnp.zeros_like, weights), 0)

    @jax.jit
    def update(state, x, y):
        w, m, v, t = state
        loss, g = jax.value_and_grad(loss_of)(w, x, y)
        if not adam:
            return (jax.tree.map(lambda a, b: a - worker.SGD_RATE * b, w, g), m, v, t), loss
        t = t + 1
        m = jax.tree.map(lambda a, b: BETA1 * a + (1 - BETA1) * b, m, g)
        v = jax.tree.map(lambda a, b: BETA2 * a + (1 - BETA2) * b * b, v, g)
        rate = worker.ADAM_RATE * jnp.sqrt(1 - BETA2 ** t) / (1 - BETA1 ** t)
        w = jax.tree.map(lambda a, b, c: a - rate * b / (jnp.sqrt(c) + EPSILON), w, m, v)
        return (w, m, v, t), loss

    data = [(jnp.asarray(x), jnp.asarray(y)) for x, y in batches]

    def step(i):
        nonlocal state
        state, loss = update(state, *data[i % worker.BATCHES])
        loss.block_until_ready()
        return lambda: float(loss)

    worker.serve(jax.__version__, step, 10)


if __name__ == "__main__":
    tiny_scan() if work == "tiny_scan" else train(*(transformer() if work == "transformer" else lstm()))
