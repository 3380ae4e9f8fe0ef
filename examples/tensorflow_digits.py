"""Classifies scikit-learn's handwritten digits with TensorFlow's MultiWorkerMirroredStrategy.

Reads TF_CONFIG, which a TFJob sets:

    muster run examples/tensorflow-digits.yaml
"""

import os

import tensorflow as tf
from sklearn.datasets import load_digits

EPOCHS = int(os.environ.get("EPOCHS", "20"))
BATCH = 32  # of each worker


def initial_weights():
    return [tf.Variable(tf.random.stateless_normal((64, 64), (0, 1)) * 0.1), tf.Variable(tf.zeros(64)),
            tf.Variable(tf.random.stateless_normal((64, 10), (0, 2)) * 0.1), tf.Variable(tf.zeros(10))]


def network(weights, images):
    hidden = tf.nn.relu(images @ weights[0] + weights[1])
    return hidden @ weights[2] + weights[3]


def main():
    strategy = tf.distribute.MultiWorkerMirroredStrategy()  # first of all: it opens the server that others connect to
    rank, world = strategy.cluster_resolver.task_id, strategy.num_replicas_in_sync
    print(f"worker {rank} of {world} is ready", flush=True)
    digits = load_digits()
    images, labels = tf.constant(digits.data / 16, tf.float32), tf.constant(digits.target, tf.int64)
    train = tf.data.Dataset.from_tensor_slices((images[360:], labels[360:]))
    batches = strategy.experimental_distribute_dataset(
        train.shuffle(2000, seed=0).batch(BATCH * world, drop_remainder=True))
    with strategy.scope():
        weights = initial_weights()
        optimizer = tf.keras.optimizers.SGD(0.3)
        optimizer.build(weights)

    def step(images, labels):
        with tf.GradientTape() as tape:
            each = tf.nn.sparse_softmax_cross_entropy_with_logits(labels, network(weights, images))
            loss = tf.nn.compute_average_loss(each, global_batch_size=BATCH * world)
        optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights))
        return loss

    @tf.function
    def step_of_all(images, labels):
        return strategy.reduce("sum", strategy.run(step, (images, labels)), axis=None)

    for epoch in range(1, EPOCHS + 1):
        for batch in batches:
            loss = step_of_all(*batch)
        if rank == 0 and epoch % 10 == 0:
            print(f"epoch {epoch} of {EPOCHS}: loss {float(loss):.4f}", flush=True)
    right = tf.reduce_mean(tf.cast(tf.argmax(network(weights, images[:360]), 1) == labels[:360], tf.float32))
    if rank == 0:
        print(f"accuracy: {float(right):.4f}", flush=True)


main()
