"""Classifies scikit-learn's handwritten digits with a network whose batches are spread over all processes.

Reads COORDINATOR_ADDRESS, COORDINATOR_PORT, NUM_PROCESSES and PROCESS_ID, which a JAXJob sets:

    muster run examples/jax-digits.yaml
"""

import os

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import AxisType, NamedSharding, PartitionSpec
from sklearn.datasets import load_digits

EPOCHS = int(os.environ.get("EPOCHS", "30"))
BATCH = 32  # of each process
RATE = 0.5


def network(weights, images):
    hidden = jax.nn.relu(images @ weights["w1"] + weights["b1"])
    return hidden @ weights["w2"] + weights["b2"]


def loss(weights, images, labels):
    return -jnp.mean(jax.nn.log_softmax(network(weights, images))[jnp.arange(len(labels)), labels])


@jax.jit
def step(weights, images, labels):
    value, slopes = jax.value_and_grad(loss)(weights, images, labels)
    return jax.tree.map(lambda weight, slope: weight - RATE * slope, weights, slopes), value


def initial_weights():
    first, second = jax.random.split(jax.random.key(0))
    return {"w1": jax.random.normal(first, (64, 64)) * 0.1, "b1": jnp.zeros(64),
            "w2": jax.random.normal(second, (64, 10)) * 0.1, "b2": jnp.zeros(10)}


def main():
    jax.config.update("jax_cpu_collectives_implementation", "gloo")
    jax.distributed.initialize(f"{os.environ['COORDINATOR_ADDRESS']}:{os.environ['COORDINATOR_PORT']}",
                               int(os.environ["NUM_PROCESSES"]), int(os.environ["PROCESS_ID"]))
    rank, world = jax.process_index(), jax.process_count()
    print(f"process {rank} of {world} is ready, with {jax.device_count()} devices in all", flush=True)

    digits = load_digits()
    order = np.random.default_rng(0).permutation(len(digits.target))
    test, train = order[:360], order[360:]
    mine = train[rank::world][:len(train) // world]
    mesh = jax.make_mesh((jax.device_count(),), ("data",), axis_types=(AxisType.Auto,))
    spread = NamedSharding(mesh, PartitionSpec("data"))
    weights = initial_weights()
    for epoch in range(1, EPOCHS + 1):
        shuffled = np.random.default_rng(epoch).permutation(mine)
        for start in range(0, len(shuffled) - BATCH + 1, BATCH):
            rows = shuffled[start:start + BATCH]
            images = jax.make_array_from_process_local_data(spread, (digits.data[rows] / 16).astype(np.float32))
            labels = jax.make_array_from_process_local_data(spread, digits.target[rows])
            weights, value = step(weights, images, labels)
        if rank == 0 and epoch % 10 == 0:
            print(f"epoch {epoch} of {EPOCHS}: loss {float(value):.4f}", flush=True)
    if rank == 0:
        here = jax.tree.map(lambda weight: np.asarray(weight.addressable_data(0)), weights)
        right = np.argmax(network(here, digits.data[test] / 16), 1) == digits.target[test]
        print(f"accuracy: {right.mean():.4f}", flush=True)
    jax.distributed.shutdown()


main()
