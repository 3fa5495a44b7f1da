"""One replica of PyTorch's DistributedDataParallel over Gloo, with the models, batches and rate of
make_graphs.py. Started by cluster.py.

It uses the same protocol as the other frameworks' tasks: it prints "ready", answers "go" with "up",
and "count" with the number of its steps.
"""
import argparse
import os
import re
import sys
import threading

import torch
import torch.distributed as distributed
import torch.nn as nn

BATCH, RATE = 32, 0.01
LAYERS = {"logistic": [784, 10], "mlp": [784, 512, 512, 10]}


def model(name):
    layers = []
    for rows, columns in zip(LAYERS[name], LAYERS[name][1:]):
        layers += [nn.Linear(rows, columns), nn.ReLU()]
    return nn.Sequential(*layers[:-1])


def join(cluster, task):
    workers = re.search("worker=([^;]*)", cluster)[1].split(",")
    host, port = workers[0].rsplit(":", 1)
    distributed.init_process_group("gloo", init_method=f"tcp://{host}:{port}", rank=task, world_size=len(workers))


def main():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("mode", choices=["train"])
    p.add_argument("--cluster", required=True)
    p.add_argument("--job")
    p.add_argument("--task", type=int, required=True)
    p.add_argument("--graph", required=True, help="its name begins with the model's")
    a = p.parse_args()
    torch.set_num_threads(1)  # the default of torchrun if several replicas share a machine
    torch.manual_seed(1)
    join(a.cluster, a.task)
    replica = nn.parallel.DistributedDataParallel(model(os.path.basename(a.graph).split("_")[0]))
    optimizer, loss_of = torch.optim.SGD(replica.parameters(), RATE), nn.CrossEntropyLoss()
    x, y = torch.randn(BATCH, 784), torch.randint(10, (BATCH,))
    steps = 0

    def train():
        nonlocal steps
        while True:
            optimizer.zero_grad()
            loss_of(replica(x), y).backward()
            optimizer.step()
            steps += 1

    print("ready", flush=True)
    for line in sys.stdin:
        if line.strip() == "go":
            threading.Thread(target=train, daemon=True).start()
            print("up", flush=True)
        elif line.strip() == "count":
            print("steps", steps, flush=True)


main()
