"""Classifies scikit-learn's handwritten digits with MXNet and a key-value store that all workers share.

Reads the DMLC_* variables that an MXJob sets; in the scheduler and the servers, importing MXNet is all there is to do:

    muster run examples/mxnet-digits.yaml
"""

import os

import mxnet
from mxnet import autograd, gluon
from sklearn.datasets import load_digits

EPOCHS = int(os.environ.get("EPOCHS", "20"))
BATCH = 32


def main():
    store = mxnet.kv.create("dist_sync")  # servers and the scheduler stay in here until the workers are done
    print(f"worker {store.rank} of {store.num_workers} is ready", flush=True)
    mxnet.random.seed(0)
    digits = load_digits()
    images, labels = mxnet.nd.array(digits.data / 16), mxnet.nd.array(digits.target)
    test, train = slice(0, 360), range(360, len(digits.target))
    mine = mxnet.nd.array(list(train)[store.rank::store.num_workers])

    model = gluon.nn.Sequential()
    model.add(gluon.nn.Dense(64, activation="relu", in_units=64), gluon.nn.Dense(10, in_units=64))
    model.initialize(mxnet.init.Xavier())
    trainer = gluon.Trainer(model.collect_params(), "sgd", {"learning_rate": 0.3}, kvstore=store)
    loss_of = gluon.loss.SoftmaxCrossEntropyLoss()
    for epoch in range(1, EPOCHS + 1):
        for start in range(0, len(mine) - BATCH + 1, BATCH):
            rows = mine[start:start + BATCH]
            with autograd.record():
                loss = loss_of(model(images.take(rows)), labels.take(rows))
            loss.backward()
            trainer.step(BATCH * store.num_workers)
        if store.rank == 0 and epoch % 10 == 0:
            print(f"epoch {epoch} of {EPOCHS}: loss {loss.mean().asscalar():.4f}", flush=True)
    if store.rank == 0:
        right = (model(images[test]).argmax(1) == labels[test]).mean().asscalar()
        print(f"accuracy: {right:.4f}", flush=True)
    mxnet.nd.waitall()  # the last exchanges with the server continue after these lines


main()
