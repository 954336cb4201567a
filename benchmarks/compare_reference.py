#!/usr/bin/python3
"""Compares the CPU reference with PyTorch's eager mode, float32, preset v0, on the same machine.

    benchmarks/compare_reference.py build/release --kernelbench DIR [--threads 2] [--rounds 5]

The two run in turn, `rounds` times. A task's time is the median over calls in its best round: the
one that other work on the machine disturbed least, by the same rule for both. Prints a Markdown
table; ratio is PyTorch's time over the reference's, above 1 where the reference is faster. Exits 1
when a task is slower than PyTorch by more than --slack, and 2 when DIR is no checkout of KernelBench
or no task could be compared.
"""

import argparse
import glob
import json
import math
import os
import statistics
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))


def reference_ms(program, threads, seconds):
    command = [program, f"--threads={threads}", "--benchmark_format=json",
               f"--benchmark_min_time={seconds}"]  # fmt: skip
    report = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
    times = {}
    for run in report["benchmarks"]:
        if run.get("error_occurred"):
            sys.exit(f"{run['name']}: {run['error_message']}")
        level, rest = run["name"].split("/")[1:3]
        number, name = rest.split("_", 1)
        times[f"{level}/{number}"] = (name, run["median_ms"])
    return times


def pytorch_ms(options, program):
    command = [options.python, os.path.join(HERE, "pytorch_cpu.py"),
               "--kernelbench", options.kernelbench, "--kbench", program,
               "--threads", str(options.threads), "--seconds", str(options.seconds)]  # fmt: skip
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)


def geometric_mean(values):
    return math.exp(statistics.fmean(math.log(v) for v in values))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("build", help="the build folder")
    parser.add_argument("--kernelbench", required=True, help="a checkout of KernelBench")
    parser.add_argument("--python", default="/usr/bin/python3", help="one that has PyTorch")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=0.2, help="time a task is measured for")
    parser.add_argument("--slack", type=float, default=0.05, help="of a slower task, 0.05: 5%%")
    options = parser.parse_args()
    if not glob.glob(os.path.join(options.kernelbench, "KernelBench", "level1", "1_*.py")):
        parser.error(f"no checkout of KernelBench at '{options.kernelbench}': it has no "
                     "KernelBench/level1/1_*.py")  # fmt: skip

    ours, theirs, names = {}, {}, {}
    for _ in range(options.rounds):
        torch = pytorch_ms(options, os.path.join(options.build, "bin/kbench"))
        for task, ms in torch["ms"].items():
            theirs.setdefault(task, []).append(ms)
        for task, (name, ms) in reference_ms(
            os.path.join(options.build, "benchmarks/reference_benchmark"),
            options.threads,
            options.seconds,
        ).items():
            ours.setdefault(task, []).append(ms)
            names[task] = name

    tasks = [t for t in theirs if t in ours]
    if not tasks:
        reasons = sorted(set(torch["failed"].values()))
        why = "PyTorch ran none: " + "; ".join(reasons[:3]) if reasons else "no task is in both"
        print(f"{parser.prog}: nothing to compare: {why}", file=sys.stderr)
        return 2
    left_out = sorted(set(ours) ^ set(theirs))
    print(f"| task | PyTorch {torch['torch']}, ms | reference, ms | ratio |")
    print("|---|---:|---:|---:|")
    levels, slower = {}, []
    for task in tasks:
        a, b = min(theirs[task]), min(ours[task])
        levels.setdefault(task.split("/")[0], []).append(a / b)
        if b > a * (1 + options.slack):
            slower.append(task)
        print(f"| {task.removeprefix('level')} {names[task]} | {a:.3f} | {b:.3f} | {a / b:.2f} |")
    for level, ratios in levels.items():
        print(f"| **{level}, geometric mean** | | | **{geometric_mean(ratios):.2f}** |")
    if left_out:
        print(f"\nIn one of the two only: {', '.join(left_out)}", file=sys.stderr)
    if slower:
        print(f"\nSlower than PyTorch: {', '.join(slower)}", file=sys.stderr)
    return 1 if slower else 0


if __name__ == "__main__":
    sys.exit(main())
