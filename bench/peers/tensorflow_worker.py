# SPDX-License-Identifier: BSL-1.0
"""Training steps in TensorFlow: one tf.function of variables, gradients and the library's own kernel of the optimizer,
which is its fastest way. With Keras layers and optimizers a step takes longer."""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import numpy  # noqa: E402
import tensorflow as tf  # noqa: E402

import worker  # noqa: E402

work, batch, threads, adam = worker.options()
tf.config.threading.set_intra_op_parallelism_threads(threads)
tf.config.threading.set_inter_op_parallelism_threads(threads)
tf.random.set_seed(42)


def glorot(shape):
    field = int(numpy.prod(shape[:-2]))
    limit = (6 / (field * (shape[-2] + shape[-1]))) ** 0.5
    return tf.Variable(tf.random.uniform(shape, -limit, limit))


def chain():
    x = tf.linspace(-2.0, 2.0, 16 * 1024 * 1024)

    @tf.function
    def compute(v):
        return (tf.maximum(tf.abs(v * 1.5 + 0.25) - v, 0.1) * v + 0.75) * 0.5

    def step(_):
        y = compute(x)
        return lambda: float(y[-1])

    worker.serve(tf.__version__, step, 2)


def train():
    shapes = ([(784, 300), (300, 100), (100, 10)] if work == "mlp" else
              [(5, 5, 1, 32), (5, 5, 32, 64), (3136, 1024), (1024, 10)])
    kernels = [glorot(s) for s in shapes]
    biases = [tf.Variable(tf.zeros(s[-1])) for s in shapes]
    parameters = kernels + biases
    slots = [(tf.Variable(tf.zeros_like(p)), tf.Variable(tf.zeros_like(p))) for p in parameters]
    powers = tf.Variable(0.9), tf.Variable(0.999)
    last = len(shapes) - 1

    def logits_of(x):
        for i, (w, b) in enumerate(zip(kernels, biases)):
            if len(w.shape) == 4:
                x = tf.nn.max_pool2d(tf.nn.relu(tf.nn.bias_add(tf.nn.conv2d(x, w, 1, "SAME"), b)), 2, 2, "VALID")
                continue
            if len(x.shape) == 4:
                x = tf.reshape(x, (batch, -1))
            x = tf.nn.bias_add(tf.matmul(x, w), b)
            x = x if i == last else tf.nn.relu(x)
        return x

    @tf.function
    def train_step(x, y):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits_of(x)))
        for p, g, (m, v) in zip(parameters, tape.gradient(loss, parameters), slots):
            if adam:
                tf.raw_ops.ResourceApplyAdam(var=p.handle, m=m.handle, v=v.handle, beta1_power=powers[0],
                                             beta2_power=powers[1], lr=worker.ADAM_RATE, beta1=0.9, beta2=0.999,
                                             epsilon=1e-8, grad=g)
            else:
                tf.raw_ops.ResourceApplyGradientDescent(var=p.handle, alpha=worker.SGD_RATE, delta=g)
        if adam:
            powers[0].assign(powers[0] * 0.9)
            powers[1].assign(powers[1] * 0.999)
        return loss

    shape = (batch, 784) if work == "mlp" else (batch, 28, 28, 1)
    data = [(tf.constant(x.reshape(shape)), tf.constant(y)) for x, y in worker.make_batches(numpy, batch)]

    def step(i):
        loss = train_step(*data[i % worker.BATCHES])
        return lambda: float(loss)

    worker.serve(tf.__version__, step, 20 if work == "mlp" else 3)


chain() if work == "chain" else train()
