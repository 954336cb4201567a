#!/usr/bin/python3
"""Times PyTorch's eager mode on the CPU for the suite's tasks at preset v0.

    benchmarks/pytorch_cpu.py --kernelbench DIR --kbench build/release/bin/kbench
                              [--threads 2] [--seconds 0.5] [--task 1/19,2/*]

DIR is a checkout of KernelBench, whose modules are run; kbench tells the sizes. Prints one JSON
object: {"torch": version, "threads": n, "ms": {"level1/19": median, ...}, "failed": {...}}. Modules
run in training mode with dropout off and gradients off; inputs are made before the clock starts.
"""

import argparse
import gc
import glob
import json
import os
import statistics
import subprocess
import sys
import time
import types

import torch


def tasks(kbench, selection):
    command = [kbench, "list", "--json", "--preset", "v0"]
    if selection:
        command += ["--task", selection]
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)


def load(folder, task):
    """The task's KernelBench module, its sizes replaced by the task's variables."""
    pattern = os.path.join(folder, "KernelBench", f"level{task['level']}", f"{task['number']}_*.py")
    (path,) = glob.glob(pattern)
    module = types.ModuleType(os.path.basename(path)[:-3])
    with open(path, encoding="utf-8") as file:
        exec(compile(file.read(), path, "exec"), module.__dict__)
    for name, value in task["variables"].items():
        before = getattr(module, name, None)
        setattr(module, name, tuple(value) if isinstance(before, tuple) else value)
    model = module.Model(*module.get_init_inputs()).train()
    for part in model.modules():
        if isinstance(part, torch.nn.modules.dropout._DropoutNd):
            part.p = 0.0
    return model, module.get_inputs()


def median_ms(model, arguments, seconds):
    model(*arguments)
    times = []
    start = time.perf_counter()
    while not times or time.perf_counter() - start < seconds:
        begin = time.perf_counter()
        model(*arguments)
        times.append(time.perf_counter() - begin)
    return 1e3 * statistics.median(times)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--kernelbench", required=True, help="a checkout of KernelBench")
    parser.add_argument("--kbench", required=True, help="the built program")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=0.5, help="time a task is measured for")
    parser.add_argument("--task", default="", help="as kbench's --task; all without it")
    options = parser.parse_args()

    torch.set_num_threads(options.threads)
    torch.manual_seed(1)
    times, failed = {}, {}
    with torch.no_grad():
        for task in tasks(options.kbench, options.task):
            try:
                model, arguments = load(options.kernelbench, task)
                times[task["task"]] = median_ms(model, arguments, options.seconds)
            except Exception as error:  # an old PyTorch, a package that is not there
                failed[task["task"]] = f"{type(error).__name__}: {error}"
            model = arguments = None
            gc.collect()
            print(task["task"], times.get(task["task"], failed.get(task["task"])), file=sys.stderr)
    report = {"torch": torch.__version__, "threads": options.threads, "ms": times, "failed": failed}
    print(json.dumps(report, indent=1))


if __name__ == "__main__":
    main()
