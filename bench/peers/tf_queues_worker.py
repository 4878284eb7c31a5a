# SPDX-License-Identifier: BSL-1.0
"""Input by queues and queue runners, in TensorFlow's graph mode."""

import tensorflow as tf

import input_files
from worker import options, serve

work, batch, threads, _ = options()
v1 = tf.compat.v1
v1.disable_eager_execution()
config = v1.ConfigProto(inter_op_parallelism_threads=max(threads, 2), intra_op_parallelism_threads=threads)

if work == "queue":
    queue = v1.FIFOQueue(10, [tf.float32, tf.int64], [[], []])
    x, n = v1.placeholder(tf.float32, []), v1.placeholder(tf.int64, [])
    put, take = queue.enqueue((x, n)), queue.dequeue()
    session = v1.Session(config=config)
    put_one = session.make_callable(put, [x, n])
    take_one = session.make_callable(take)

    def step(_):
        total = 0.0
        for i in range(1000):
            put_one(i, i)
            total += take_one()[0]
        return lambda: total
elif work == "csv":
    names = v1.train.string_input_producer([input_files.write_csv()], shuffle=False)
    _, line = v1.TextLineReader().read(names)
    columns = tf.io.decode_csv(line, [[0.0]] * input_files.COLUMNS)
    rows = v1.train.batch(columns, batch, num_threads=1, capacity=4 * batch)
    session = v1.Session(config=config)
    session.run([v1.global_variables_initializer(), v1.local_variables_initializer()])
    coordinator = tf.train.Coordinator()
    v1.train.start_queue_runners(session, coordinator)
    take_rows = session.make_callable(rows)

    def step(_):
        found = take_rows()
        return lambda: float(found[9][-1])
else:
    raise SystemExit(f"there is no {work} with queues")

serve(tf.__version__, step, warm_up=3)
