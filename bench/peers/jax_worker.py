# SPDX-License-Identifier: BSL-1.0
"""Training steps in JAX, compiled by XLA: `lax.scan` over the cell of `tagma::lstm`; `tiny_scan`: 1,000 iterations over four numbers."""

import jax_training  # before jax
import jax
import jax.numpy as jnp
import numpy

import worker
from jax_training import entropy

work, batch, threads, adam = worker.options()
FEATURES = UNITS = 128


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


if __name__ == "__main__":
    tiny_scan() if work == "tiny_scan" else jax_training.train(*lstm(), adam)
