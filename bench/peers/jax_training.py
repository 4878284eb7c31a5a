# SPDX-License-Identifier: BSL-1.0
"""Training steps in JAX, compiled by XLA, for the workers that have a model: imported before jax, since the number of
threads, the third argument of a worker, is a flag of its start."""

import os
import sys

if len(sys.argv) > 3:
    one = sys.argv[3] == "1"
    os.environ["XLA_FLAGS"] = f"--xla_cpu_multi_thread_eigen={'false' if one else 'true'} intra_op_parallelism_threads={sys.argv[3]}"
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:int(sys.argv[3])])

import jax
import jax.numpy as jnp

import worker

BETA1, BETA2, EPSILON = 0.9, 0.999, 1e-8


def entropy(logits, y):
    """Mean cross entropy of logits and classes."""
    return -jnp.mean(jnp.take_along_axis(jax.nn.log_softmax(logits), y[:, None], axis=1))


def train(weights, loss_of, batches, adam):
    """Serves steps of Adam or plain gradient descent on loss_of(weights, x, y), over pairs of arrays."""
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
