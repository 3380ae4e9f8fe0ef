"""Classifies scikit-learn's handwritten digits with TensorFlow's ParameterServerStrategy.

Reads TF_CONFIG, which a TFJob sets. The chief hands out the steps, workers compute them, parameter servers keep the
weights, and an evaluator looks at each checkpoint that the chief leaves in MODEL_DIR:

    muster run examples/tensorflow-servers.yaml
"""

import os
import sys

import tensorflow as tf
from sklearn.datasets import load_digits

STEPS = int(os.environ.get("STEPS", "800"))
BATCH = 64
MODEL_DIR = os.environ["MODEL_DIR"]


def load():
    digits = load_digits()
    return tf.constant(digits.data / 16, tf.float32), tf.constant(digits.target, tf.int64)


class Network(tf.Module):
    def __init__(self):
        super().__init__()
        self.weights = [tf.Variable(tf.random.stateless_normal((64, 64), (0, 1)) * 0.1), tf.Variable(tf.zeros(64)),
                        tf.Variable(tf.random.stateless_normal((64, 10), (0, 2)) * 0.1), tf.Variable(tf.zeros(10))]

    def __call__(self, images):
        w1, b1, w2, b2 = self.weights
        return tf.nn.relu(images @ w1 + b1) @ w2 + b2


def serve(resolver):
    server = tf.distribute.Server(resolver.cluster_spec(), resolver.task_type, resolver.task_id, protocol="grpc")
    print(f"{resolver.task_type} {resolver.task_id} is ready", flush=True)
    server.join()  # forever: the job ends when its chief does


def train(resolver):
    strategy = tf.distribute.ParameterServerStrategy(resolver)
    coordinator = tf.distribute.coordinator.ClusterCoordinator(strategy)
    print("chief is ready", flush=True)
    with strategy.scope():
        network = Network()

    @tf.function
    def step(iterator):
        def on_worker(images, labels):
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels, network(images)))
            for weight, slope in zip(network.weights, tape.gradient(loss, network.weights)):
                weight.assign_sub(0.2 * slope)
            return loss
        return strategy.run(on_worker, next(iterator))

    def batches():
        images, labels = load()
        return tf.data.Dataset.from_tensor_slices((images[360:], labels[360:])).shuffle(2000).repeat().batch(BATCH)

    iterator = iter(coordinator.create_per_worker_dataset(batches))
    for _ in range(STEPS):
        coordinator.schedule(step, (iterator,))
    coordinator.join()
    tf.train.Checkpoint(network=network).save(os.path.join(MODEL_DIR, "model"))
    images, labels = load()
    right = tf.reduce_mean(tf.cast(tf.argmax(network(images[:360]), 1) == labels[:360], tf.float32))
    print(f"accuracy: {float(right):.4f}", flush=True)


def evaluate():
    print("evaluator is ready", flush=True)
    network = Network()
    images, labels = load()
    for path in tf.train.checkpoints_iterator(MODEL_DIR):
        tf.train.Checkpoint(network=network).restore(path).expect_partial()
        right = tf.reduce_mean(tf.cast(tf.argmax(network(images[:360]), 1) == labels[:360], tf.float32))
        print(f"accuracy of {os.path.basename(path)}: {float(right):.4f}", flush=True)


def main():
    resolver = tf.distribute.cluster_resolver.TFConfigClusterResolver()
    if resolver.task_type in ("worker", "ps"):
        serve(resolver)
    elif resolver.task_type == "evaluator":
        evaluate()
    else:
        train(resolver)
    sys.stdout.flush()
    os._exit(0)  # the coordinator's threads would wait for servers that never end


main()
