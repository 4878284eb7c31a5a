# SPDX-License-Identifier: BSL-1.0
"""Workers of TensorFlow's parameter servers, in graph mode: a server of its own, and a session at that."""

import gzip
import json
import os
import pathlib
import sys
import time

import numpy
import tensorflow as tf

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent / "peers"))
import worker  # noqa: E402

DATA = pathlib.Path(os.environ.get("TAGMA_DATA", "/usr/share/datasets"), "fashion-mnist")
SHAPES = [(784, 300), (300, 100), (100, 10)]

work, batch, threads, _ = worker.options()
v1 = tf.compat.v1
v1.disable_eager_execution()
members = tf.train.ClusterSpec(json.loads(os.environ["TAGMA_CLUSTER"]))
job, task = os.environ["TAGMA_JOB"], int(os.environ["TAGMA_TASK"])
# A worker sees no other worker, which need not be there yet.
config = v1.ConfigProto(intra_op_parallelism_threads=threads, device_filters=["/job:ps", f"/job:{job}/task:{task}"])
server = tf.distribute.Server(members, job, task, config=config)


def open_session():
    return v1.Session(server.target, config=config)


def begin(session):
    """The first worker initialises the variables, the others wait until they are there."""
    if task == 0:
        session.run(v1.global_variables_initializer())
    missing = v1.report_uninitialized_variables()
    while len(session.run(missing)):
        time.sleep(0.05)


def null_step():
    updates = []
    for number in range(batch):
        with tf.device(f"/job:ps/task:{number}"):
            updates.append(v1.assign_add(v1.get_variable(f"v{number}", initializer=0.0, use_resource=False), 1.0).op)
    session = open_session()
    begin(session)
    run = session.make_callable(tf.group(updates))

    def step(_):
        run()
        return lambda: 0.0

    worker.serve(tf.__version__, step)


def remote_queue():
    with tf.device("/job:ps/task:0"):
        queue = v1.FIFOQueue(4_000_000, [tf.float32, tf.int64], [[], []])
        x, n = v1.placeholder(tf.float32, [None]), v1.placeholder(tf.int64, [None])
        put, take = queue.enqueue_many((x, n)), queue.dequeue_many(batch)
    session = open_session()
    take_some = session.make_callable(take)

    def fill(steps):
        numbers = numpy.arange(steps * batch)
        session.run(put, {x: numbers.astype(numpy.float32), n: numbers})

    def step(_):
        taken = take_some()
        return lambda: float(taken[0][0])

    worker.serve(tf.__version__, step, prepare=fill)


def fashion_mnist():
    if not (DATA / "train-images-idx3-ubyte.gz").exists():
        return worker.make_batches(numpy, batch)
    images = numpy.frombuffer(gzip.open(DATA / "train-images-idx3-ubyte.gz").read(), numpy.uint8, offset=16)
    labels = numpy.frombuffer(gzip.open(DATA / "train-labels-idx1-ubyte.gz").read(), numpy.uint8, offset=8)
    images = images.reshape(-1, 784)[:worker.BATCHES * batch].astype(numpy.float32) / 255
    return [(images[i * batch:(i + 1) * batch], labels[i * batch:(i + 1) * batch].astype(numpy.int64))
            for i in range(worker.BATCHES)]


def between_graph():
    with v1.device(v1.train.replica_device_setter(cluster=members, worker_device=f"/job:{job}/task:{task}")):
        x, y = v1.placeholder(tf.float32, [None, 784]), v1.placeholder(tf.int64, [None])
        values = x
        for i, shape in enumerate(SHAPES):
            w = v1.get_variable(f"w{i}", shape, initializer=v1.glorot_uniform_initializer(seed=42), use_resource=False)
            b = v1.get_variable(f"b{i}", shape[1:], initializer=v1.zeros_initializer(), use_resource=False)
            values = tf.nn.bias_add(tf.matmul(values, w), b)
            values = values if i == 2 else tf.nn.relu(values)
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=values))
        train = v1.train.GradientDescentOptimizer(worker.SGD_RATE).minimize(loss)
    session = open_session()
    begin(session)
    run = session.make_callable([loss, train], [x, y])
    data = fashion_mnist()

    def step(i):
        value = run(*data[i % worker.BATCHES])[0]
        return lambda: float(value)

    worker.serve(tf.__version__, step)


{"null_step": null_step, "remote_queue": remote_queue, "between_graph": between_graph}[work]()
