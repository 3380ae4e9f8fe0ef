"""Tells benign from malignant tumours (scikit-learn's breast cancer data) with boosted trees.

Reads MASTER_ADDR, MASTER_PORT, WORLD_SIZE and RANK, which an XGBoostJob sets. XGBoost's workers find each other by a
tracker, which runs beside rank 0:

    muster run examples/xgboost-cancer.yaml
"""

import os
import socket

import xgboost
from sklearn.datasets import load_breast_cancer
from xgboost import collective
from xgboost.tracker import RabitTracker

ROUNDS = int(os.environ.get("ROUNDS", "20"))


def start_tracker(address, port, world):
    tracker = RabitTracker(n_workers=world, host_ip=socket.gethostbyname(address), port=port, sortby="task")
    tracker.start()
    return tracker


def train(rank, world):
    """The error on tumours that were not used in training; each rank trains with its share of the others."""
    data = load_breast_cancer()
    test = xgboost.DMatrix(data.data[::5], data.target[::5])
    rest = [row for row in range(len(data.target)) if row % 5]
    mine = rest[rank::world]
    share = xgboost.DMatrix(data.data[mine], data.target[mine])
    seen = {}
    xgboost.train({"objective": "binary:logistic", "eval_metric": "error", "tree_method": "hist", "nthread": 1},
                  share, ROUNDS, evals=[(test, "test")], evals_result=seen, verbose_eval=False)
    return seen["test"]["error"][-1]


def main():
    rank, world = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    address, port = os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"])
    tracker = start_tracker(address, port, world) if rank == 0 else None
    # A worker may be there before the tracker is.
    with collective.CommunicatorContext(dmlc_tracker_uri=address, dmlc_tracker_port=port, dmlc_task_id=f"{rank:05}",
                                        dmlc_retry=60):
        print(f"rank {collective.get_rank()} of {collective.get_world_size()} is ready", flush=True)
        error = train(collective.get_rank(), collective.get_world_size())
        if collective.get_rank() == 0:
            print(f"accuracy: {1 - error:.4f}", flush=True)
    if tracker:
        tracker.wait_for()


main()
