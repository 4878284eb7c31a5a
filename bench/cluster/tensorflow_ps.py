# SPDX-License-Identifier: BSL-1.0
"""A parameter server of TensorFlow, the task in TAGMA_CLUSTER, TAGMA_JOB and TAGMA_TASK."""

import json
import os

import tensorflow as tf

server = tf.distribute.Server(tf.train.ClusterSpec(json.loads(os.environ["TAGMA_CLUSTER"])), os.environ["TAGMA_JOB"],
                              int(os.environ["TAGMA_TASK"]))
print("ready", tf.__version__, flush=True)
server.join()
