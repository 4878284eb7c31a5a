# SPDX-License-Identifier: BSL-1.0
"""Training steps in JAX, compiled by XLA: `lax.scan` over the cell of `tagma::lstm`; `tiny_scan`: 1,000 iterations over
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
RATE, BETA1, BETA2, EPSILON = worker.ADAM_RATE, 0.9, 0.999, 1e-8


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


def train():
    keys = jax.random.split(jax.random.PRNGKey(42), 3)
    glorot = jax.nn.initializers.glorot_uniform()
    weights = {"kernel": glorot(keys[0], (FEATURES + UNITS, 4 * UNITS)), "bias": jnp.zeros(4 * UNITS),
               "logits": glorot(keys[1], (UNITS, 10)), "logits_bias": jnp.zeros(10)}
    state = (weights, jax.tree.map(jnp.zeros_like, weights), jax.tree.map(jnp.zeros_like, weights), 0)

    def loss_of(w, x, y):
        inputs = jnp.transpose(x, (1, 0, 2)) @ w["kernel"][:FEATURES] + w["bias"]

        def cell(carry, e):
            h, c = carry
            i, j, f, o = jnp.split(e + h @ w["kernel"][FEATURES:], 4, axis=1)
            c = jax.nn.sigmoid(f + 1) * c + jax.nn.sigmoid(i) * jnp.tanh(j)
            return (jnp.tanh(c) * jax.nn.sigmoid(o), c), None

        zero = jnp.zeros((x.shape[0], UNITS))
        (h, _), _ = jax.lax.scan(cell, (zero, zero), inputs)
        logits = h @ w["logits"] + w["logits_bias"]
        return -jnp.mean(jnp.take_along_axis(jax.nn.log_softmax(logits), y[:, None], axis=1))

    @jax.jit
    def update(state, x, y):
        w, m, v, t = state
        loss, g = jax.value_and_grad(loss_of)(w, x, y)
        t = t + 1
        m = jax.tree.map(lambda a, b: BETA1 * a + (1 - BETA1) * b, m, g)
        v = jax.tree.map(lambda a, b: BETA2 * a + (1 - BETA2) * b * b, v, g)
        rate = RATE * jnp.sqrt(1 - BETA2 ** t) / (1 - BETA1 ** t)
        w = jax.tree.map(lambda a, b, c: a - rate * b / (jnp.sqrt(c) + EPSILON), w, m, v)
        return (w, m, v, t), loss

    data = [(jnp.asarray(x), jnp.asarray(y)) for x, y in worker.make_sequences(numpy, batch)]

    def step(i):
        nonlocal state
        state, loss = update(state, *data[i % worker.BATCHES])
        loss.block_until_ready()
        return lambda: float(loss)

    worker.serve(jax.__version__, step, 10)


if __name__ == "__main__":
    tiny_scan() if work == "tiny_scan" else train()
