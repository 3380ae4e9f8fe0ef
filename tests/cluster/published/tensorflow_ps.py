"""Classifies scikit-learn's handwritten digits as TensorFlow's programs did before strategies: each worker has its own copy
of the graph and its own session, and the weights are with the parameter servers.

Reads TF_CONFIG, which a TFJob sets. The chief, or the first worker where there is none, makes the weights.
"""

import json
import os

import tensorflow.compat.v1 as tf
from sklearn.datasets import load_digits

STEPS = 200
BATCH = 64


def main():
    config = json.loads(os.environ["TF_CONFIG"])
    cluster, task = config["cluster"], config["task"]
    server = tf.train.Server(tf.train.ClusterSpec(cluster), task["type"], task["index"])
    print(f"{task['type']} {task['index']} is ready", flush=True)
    if task["type"] == "ps":
        server.join()  # forever: the job ends when its first worker or chief does
    chief = task["type"] in ("chief", "master") or (task["type"] == "worker" and task["index"] == 0
                                                     and not {"chief", "master"} & set(cluster))
    tf.disable_eager_execution()
    digits = load_digits()
    images, labels = digits.data / 16, digits.target
    place = f"/job:{task['type']}/task:{task['index']}"
    with tf.device(tf.train.replica_device_setter(worker_device=place, cluster=tf.train.ClusterSpec(cluster))):
        step = tf.train.get_or_create_global_step()
        x, y = tf.placeholder(tf.float32, [None, 64]), tf.placeholder(tf.int64, [None])
        weights, biases = tf.get_variable("weights", [64, 10]), tf.get_variable("biases", [10])
        scores = x @ weights + biases
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=scores))
        train = tf.train.GradientDescentOptimizer(0.5).minimize(loss, global_step=step)
        right = tf.reduce_mean(tf.cast(tf.equal(tf.argmax(scores, 1), y), tf.float32))
    at = 360
    until = [tf.train.StopAtStepHook(last_step=STEPS)]
    with tf.train.MonitoredTrainingSession(server.target, is_chief=chief, hooks=until) as session:
        while not session.should_stop():
            _, accuracy = session.run([train, right], {x: images[at:at + BATCH], y: labels[at:at + BATCH]})
            at = at + BATCH if at + 2 * BATCH <= len(images) else 360
    print(f"accuracy: {accuracy:.4f}, of the last batch", flush=True)


main()
