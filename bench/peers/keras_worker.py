# SPDX-License-Identifier: BSL-1.0
"""The same in TensorFlow as its tutorials write it: a Keras model and optimizer inside a tf.function."""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import numpy  # noqa: E402
import tensorflow as tf  # noqa: E402

import worker  # noqa: E402

work, batch, threads, adam = worker.options()
tf.config.threading.set_intra_op_parallelism_threads(threads)
tf.config.threading.set_inter_op_parallelism_threads(threads)
tf.keras.utils.set_random_seed(42)

layers = tf.keras.layers
if work == "mlp":
    model = tf.keras.Sequential([tf.keras.Input((784,)), layers.Dense(300, "relu"), layers.Dense(100, "relu"), layers.Dense(10)])
else:
    model = tf.keras.Sequential([tf.keras.Input((28, 28, 1)), layers.Conv2D(32, 5, padding="same", activation="relu"),
                                 layers.MaxPool2D(), layers.Conv2D(64, 5, padding="same", activation="relu"),
                                 layers.MaxPool2D(), layers.Flatten(), layers.Dense(1024, "relu"), layers.Dense(10)])
optimizer = tf.keras.optimizers.Adam(worker.ADAM_RATE) if adam else tf.keras.optimizers.SGD(worker.SGD_RATE)
optimizer.build(model.trainable_variables)
loss_of = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        loss = loss_of(y, model(x, training=True))
    optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
    return loss


shape = (batch, 784) if work == "mlp" else (batch, 28, 28, 1)
data = [(tf.constant(x.reshape(shape)), tf.constant(y)) for x, y in worker.make_batches(numpy, batch)]


def step(i):
    loss = train_step(*data[i % worker.BATCHES])
    return lambda: float(loss)


worker.serve(f"{tf.__version__}, Keras {tf.keras.__version__}", step, 20 if work == "mlp" else 3)
