#!/usr/bin/python3
"""Times PyTorch's eager mode on the CPU for the suite's tasks at preset v0.

    benchmarks/pytorch_cpu.py [--threads 2] [--seconds 0.5] [--task 1/19,2/1]

Prints one JSON object: {"torch": version, "threads": n, "ms": {"level1/19": median, ...}}. The
modules run in training mode with gradients off; inputs are made before the clock starts.
"""

import argparse
import json
import math
import statistics
import time

import torch
import torch.nn as nn
import torch.nn.functional as F

randn = torch.randn


def rms_norm(x):
    return x / torch.sqrt(torch.mean(x**2, dim=1, keepdim=True) + 1e-5)


def attention(q, k, v):
    return torch.softmax(q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1]), dim=-1) @ v


class ConvReluBias(nn.Module):
    def __init__(self, in_channels, out_channels, kernel):
        super().__init__()
        self.conv = nn.Conv2d(in_channels, out_channels, kernel)
        self.bias = nn.Parameter(randn(out_channels, 1, 1))

    def forward(self, x):
        return torch.relu(self.conv(x)) + self.bias


class GemmThen(nn.Module):
    """A linear layer and what follows it."""

    def __init__(self, features, outputs, then, bias=True):
        super().__init__()
        self.linear = nn.Linear(features, outputs, bias=bias)
        self.bias = nn.Parameter(randn(outputs))
        self.then = then

    def forward(self, x):
        return self.then(self, self.linear(x))


def mlp(*sizes):
    layers = []
    for a, b in zip(sizes, sizes[1:]):
        layers += [nn.Linear(a, b), nn.ReLU()]
    return nn.Sequential(*layers[:-1])


def lenet5(classes):
    return nn.Sequential(
        nn.Conv2d(1, 6, 5), nn.ReLU(), nn.MaxPool2d(2, 2),
        nn.Conv2d(6, 16, 5), nn.ReLU(), nn.MaxPool2d(2, 2),
        nn.Flatten(), nn.Linear(400, 120), nn.ReLU(), nn.Linear(120, 84), nn.ReLU(),
        nn.Linear(84, classes))  # fmt: skip


# task -> a function that gives (module or function, its arguments)
TASKS = {
    "level1/1": lambda: (torch.matmul, (randn(2048, 2048), randn(2048, 2048))),
    "level1/3": lambda: (torch.bmm, (randn(128, 128, 256), randn(128, 256, 512))),
    "level1/12": lambda: (lambda a, b: torch.diag(a) @ b, (randn(4096), randn(4096, 4096))),
    "level1/19": lambda: (torch.relu, (randn(16, 16384),)),
    "level1/23": lambda: (lambda x: torch.softmax(x, dim=1), (randn(16, 16384),)),
    "level1/26": lambda: (F.gelu, (randn(16, 16384),)),
    "level1/33": lambda: (nn.BatchNorm2d(64), (randn(16, 64, 256, 256),)),
    "level1/36": lambda: (rms_norm, (randn(16, 64, 256, 256),)),
    "level1/40": lambda: (nn.LayerNorm((64, 256, 256)), (randn(16, 64, 256, 256),)),
    "level1/42": lambda: (nn.MaxPool2d(2, 2, padding=1, dilation=3), (randn(16, 32, 128, 128),)),
    "level1/47": lambda: (lambda x: torch.sum(x, dim=1, keepdim=True), (randn(16, 256, 256),)),
    "level1/50": lambda: (nn.Conv2d(3, 96, 11, stride=4, padding=2), (randn(10, 3, 224, 224),)),
    "level1/51": lambda: (lambda x: torch.argmax(x, dim=1), (randn(16, 256, 256),)),
    "level1/89": lambda: (lambda x: torch.cumsum(x, dim=1), (randn(128, 4000),)),
    "level1/95": lambda: (F.cross_entropy, (randn(4096, 10), torch.randint(0, 10, (4096,)))),
    "level1/97": lambda: (attention, [randn(8, 8, 256, 64) for _ in range(3)]),
    "level2/1": lambda: (ConvReluBias(3, 16, 3), (randn(128, 3, 32, 32),)),
    "level2/12": lambda: (
        GemmThen(1024, 512, lambda m, y: F.leaky_relu(y * 2.0, 0.1)),
        (randn(128, 1024),),
    ),
    "level2/59": lambda: (
        GemmThen(1024, 512, lambda m, y: y * torch.sigmoid(y) * 2.0),
        (randn(128, 1024),),
    ),
    "level2/76": lambda: (
        GemmThen(1024, 512, lambda m, y: torch.relu(y + m.bias), bias=False),
        (randn(128, 1024),),
    ),
    "level2/86": lambda: (GemmThen(512, 1024, lambda m, y: F.gelu(y / 10.0)), (randn(128, 512),)),
    "level2/99": lambda: (
        GemmThen(100, 10, lambda m, y: torch.softmax(F.gelu(y), dim=1)),
        (randn(128, 100),),
    ),
    "level3/1": lambda: (mlp(1000, 400, 800, 500), (randn(1, 1000),)),
    "level3/4": lambda: (lenet5(10), (randn(1, 1, 32, 32),)),
}


def median_ms(function, arguments, seconds):
    for _ in range(3):
        function(*arguments)
    times, begin = [], time.perf_counter()
    while len(times) < 5 or time.perf_counter() - begin < seconds:
        start = time.perf_counter()
        function(*arguments)
        times.append((time.perf_counter() - start) * 1e3)
    return statistics.median(times)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=0.5, help="time a task is measured for")
    parser.add_argument("--task", default="", help="comma-separated, such as 1/19,level2/1")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    wanted = [t if t.startswith("level") else "level" + t for t in options.task.split(",") if t]
    unknown = [t for t in wanted if t not in TASKS]
    if unknown:
        parser.error("unknown task " + ", ".join(unknown))
    result = {}
    with torch.no_grad():
        for task in wanted or TASKS:
            torch.manual_seed(0)
            function, arguments = TASKS[task]()
            result[task] = median_ms(function, arguments, options.seconds)
    print(json.dumps({"torch": torch.__version__, "threads": options.threads, "ms": result}))


if __name__ == "__main__":
    main()
