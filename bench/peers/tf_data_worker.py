# SPDX-License-Identifier: BSL-1.0
"""Input by tf.data, one batch a step."""

import numpy
import tensorflow as tf

import input_files
from worker import options, serve

work, batch, threads, _ = options()
tf.config.threading.set_inter_op_parallelism_threads(threads)
tf.config.threading.set_intra_op_parallelism_threads(threads)

if work == "csv":
    data = tf.data.experimental.CsvDataset(input_files.write_csv(), [tf.float32] * input_files.COLUMNS).repeat().batch(batch)
elif work == "tf_record":
    path = input_files.temporary(".tfrecord")
    with tf.io.TFRecordWriter(path) as to:
        for record in input_files.records():
            to.write(record)
    data = tf.data.TFRecordDataset(path).repeat().batch(batch)
elif work == "pipeline":
    data = (tf.data.Dataset.range(1_000_000).map(lambda i: tf.cast(i, tf.float32) * 2).shuffle(10_000).repeat().batch(batch)
            .prefetch(2))
elif work == "images":
    images = (numpy.arange(60_000 * 784, dtype=numpy.int64) % 256).astype(numpy.float32).reshape(60_000, 784) / 255
    labels = (numpy.arange(60_000) % 10).astype(numpy.uint8)
    data = tf.data.Dataset.from_tensor_slices((images, labels)).shuffle(60_000).repeat().batch(batch).prefetch(4)
else:
    raise SystemExit(f"tf.data has no {work}")

elements = iter(data)


def step(_):
    element = next(elements)
    return lambda: float(len(element[0]) if isinstance(element, tuple) else len(element))


serve(tf.__version__, step)
